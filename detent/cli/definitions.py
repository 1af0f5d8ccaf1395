"""Workflow files as this machine sees them."""

from __future__ import annotations

from pathlib import Path

from detent.authoring.compiled import Compiled, Limits
from detent.authoring.documents import read_definition
from detent.authoring.steps_form import compile_steps
from detent.cli.options import read_file
from detent.errors import InvalidInput
from detent.settings import Settings
from detent.steps.actions import registry
from detent.steps.core_actions import CORE
from detent.steps.modules import load_modules


def compile_file(path: Path, settings: Settings, *, strict: bool) -> tuple[bytes, Compiled]:
    """The text of a file and the workflow it is, or InvalidDefinition. `strict`: its actions must be known here."""
    load_modules(settings.imports)
    file, _, name = str(path).partition(":")
    if file.endswith(".py"):
        raise InvalidInput(f"{file} is Python{_instead(Path(file), name or 'NAME')}")
    data = read_file(path)
    known = (*CORE.names(), *registry.names()) if strict else None
    limits = Limits(steps=settings.max_steps_per_workflow)
    return data, compile_steps(read_definition(data, filename=path.name), limits=limits, actions=known)


def _instead(file: Path, name: str) -> str:
    parts = file.with_suffix("").parts
    module = ".".join(parts) if all(map(str.isidentifier, parts)) else file.stem
    return (
        f": write {module}:{name}, as in `detent run {module}:{name}` or `detent graph {module}:{name}`; "
        f"`detent serve --import {module}` serves all its workflows"
    )
