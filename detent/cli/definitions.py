"""Workflow files as this machine sees them."""

from __future__ import annotations

from pathlib import Path

from detent.authoring.compiled import Compiled, Limits
from detent.authoring.documents import read_definition
from detent.authoring.steps_form import compile_steps
from detent.cli.loading import load_or_show
from detent.cli.options import read_file
from detent.errors import InvalidInput
from detent.python.registry import Registered
from detent.python.registry import registry as python_registry
from detent.settings import Settings
from detent.steps.actions import registry
from detent.steps.core_actions import CORE
from detent.steps.modules import load_modules


def compile_file(path: Path, settings: Settings, *, strict: bool) -> tuple[bytes, Compiled]:
    """The text of a file and the workflow it is, or InvalidDefinition. `strict`: its actions must be known here."""
    load_modules(settings.imports)
    if path.suffix == ".py":
        raise InvalidInput(f"{path} is Python, not a workflow file{_instead(path.stem)}")
    data = read_file(path)
    known = (*CORE.names(), *registry.names()) if strict else None
    limits = Limits(steps=settings.max_steps_per_workflow)
    return data, compile_steps(read_definition(data, filename=path.name), limits=limits, actions=known)


def python_workflow(text: str) -> Registered | None:
    """The workflow that `module:Name` means, by the name of the class or function or of the workflow; null if the text
    is the path of a file."""
    module, colon, name = text.partition(":")
    if not colon or Path(text).exists() or not all(part.isidentifier() for part in module.split(".")):
        return None
    load_or_show([module])
    known = [one for one in python_registry.all() if one.place.partition(":")[0] == module]
    for one in known:
        if name in (one.name, one.place.partition(":")[2]):
            return one
    there = ", ".join(one.name for one in known) or "no workflow at all"
    raise InvalidInput(f"the module {module} has no workflow {name!r}; it has {there}")


def _instead(module: str) -> str:
    return (
        f": `detent graph {module}:NAME` draws a workflow of it, `detent serve --import {module}` runs them, and "
        "`detent trigger NAME --wait` then starts one. `detent.testing.speedrun` tries one in a test"
    )
