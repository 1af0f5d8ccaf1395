"""The targets of commands: workflow files, and workflows in Python modules of this machine."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from rich.markup import escape

from detent.catalog.parameters import check_actions
from detent.catalog.shipped import shipped_actions
from detent.cli.options import read_file
from detent.cli.output.terminal import err
from detent.errors import InvalidInput
from detent.forms.compile import compile_document
from detent.forms.compiled import Compiled, limits_of
from detent.forms.definition import read_definition
from detent.python.registry import Registered, registry
from detent.settings import Settings
from detent.steps import actions
from detent.steps.actions import CORE, load_modules
from detent.steps.actions import registry as user_actions
from detent.steps.connectors.shipped import offer_shipped

_OF_PYTHON: Final = "<frozen importlib"


def load_or_show(names: Iterable[str]) -> None:
    """Import the user's modules. Print the traceback of an exception in a module before raising InvalidInput."""
    try:
        actions.load_modules(names)
    except InvalidInput as error:
        show_cause(error)
        raise


def show_cause(error: InvalidInput) -> None:
    """Print the traceback of the exception in a module that could not be imported."""
    if error.__cause__ is not None:
        err.print(escape(_trace(error.__cause__)), end="")


def _trace(error: BaseException) -> str:
    """Format the traceback without the frames of Detent and of Python's import system."""
    trace = traceback.TracebackException.from_exception(error)
    own = (_OF_PYTHON, actions.__file__, str(Path(traceback.__file__).parent / "importlib"))
    trace.stack = traceback.StackSummary.from_list(
        [frame for frame in trace.stack if not frame.filename.startswith(own)]
    )
    return "".join(trace.format())


# Workflows in Python are named `module:Name`, or `module` if the module has only one.


_FILES: Final = (".yaml", ".yml", ".json", ".py")


def python_workflow(text: str) -> Registered | None:
    """Return the workflow `module:Name`, or the only one of `module`. `Name` is that of the class, the function or the
    workflow. Return `None` if the text is the path of a file."""
    module, colon, name = text.partition(":")
    is_module = all(map(str.isidentifier, module.split("."))) and not module.endswith(_FILES)
    if not is_module or Path(text).is_file():
        return None
    _load(text, module)
    known = _workflows_of(module)
    return _named(module, name, known) if colon else _only(module, known)


def _load(text: str, module: str) -> None:
    """Import the module. Raise InvalidInput if there is none. Print the traceback of an exception inside the module."""
    try:
        load_modules([module])
    except InvalidInput as error:
        cause = error.__cause__
        if not isinstance(cause, ModuleNotFoundError) or not f"{module}.".startswith(f"{cause.name}."):
            show_cause(error)
            raise
        raise InvalidInput(_no_module(text, cause.name or module)) from None


def _no_module(text: str, missing: str) -> str:
    parent, _, last = missing.rpartition(".")
    if parent in sys.modules and hasattr(sys.modules[parent], last):
        return f"{parent!r} is a module; write {parent}:{last}"
    if text.isidentifier():
        near = [f"{text}{suffix}" for suffix in _FILES if Path(f"{text}{suffix}").is_file()]
        hint = f"did you mean {near[0]}?" if near else "write FILE.yaml, or MODULE:NAME of a workflow in Python"
        return f"there is no file and no module {text!r} in {Path.cwd()}; {hint}"
    return f"there is no module {missing!r} in {Path.cwd()}; write MODULE:NAME in the folder it is imported from"


def _workflows_of(module: str) -> list[Registered]:
    """Return the workflows that the module defines, else those that it imports from other modules."""
    every = sorted(registry.all(), key=_spelled)
    own = [one for one in every if one.place.partition(":")[0] == module]
    return own or [one for one in every if any(value is one.target for value in _names(module).values())]


def _named(module: str, name: str, known: list[Registered]) -> Registered:
    value = _names(module).get(name)
    for one in registry.all():
        if value is not None and one.target is value:
            return one
    for one in known:
        if name in (one.name, _spelled(one)):
            return one
    there = ", ".join(map(_spelled, known)) or "none at all"
    if value is not None:
        raise InvalidInput(f"{module}:{name} is not a workflow; the module has {there}")
    raise InvalidInput(f"the module {module} has no workflow {name!r}; it has {there}")


def _only(module: str, known: list[Registered]) -> Registered:
    if not known:
        raise InvalidInput(
            f"the module {module} has no workflow; one is a class of detent.Workflow or a function with @workflow"
        )
    if len(known) > 1:
        names = ", ".join(f"{module}:{_spelled(one)}" for one in known)
        raise InvalidInput(f"the module {module} has several workflows; name one of them: {names}")
    return known[0]


def _spelled(one: Registered) -> str:
    """Return the name of the class or function in its module."""
    return one.place.partition(":")[2]


def _names(module: str) -> dict[str, Any]:
    return vars(sys.modules[module])


def compile_file(path: Path, settings: Settings, *, strict: bool, effects: bool = True) -> tuple[bytes, Compiled]:
    """Return the text of a file and its compiled workflow. Raise InvalidDefinition if it is not valid. With `strict`,
    its actions must be registered in this process. The parameters of actions that are registered are
    checked. With `effects`, it has warnings about actions that do not declare theirs."""
    load_modules(settings.imports)
    offer_shipped()
    file, _, name = str(path).partition(":")
    if file.endswith(".py"):
        raise InvalidInput(f"{file} is Python{_instead(Path(file), name or 'NAME')}")
    data = read_file(path)
    known = (*CORE.names(), *user_actions.names(), *shipped_actions(data)) if strict else None
    return data, _compiled(data, path.name, settings, known, effects=effects)


def compile_text(text: str, filename: str, settings: Settings) -> Compiled:
    """Compile the text of a workflow file. Raise InvalidDefinition if it is not valid. Names of actions that are not
    registered in this process are not checked."""
    load_modules(settings.imports)
    offer_shipped()
    return _compiled(text, filename, settings, None, effects=True)


def _compiled(
    data: bytes | str, filename: str, settings: Settings, known: Collection[str] | None, *, effects: bool
) -> Compiled:
    definition = read_definition(data, filename=filename)
    compiled = compile_document(definition, limits=limits_of(settings), actions=known)
    return check_actions(compiled, lambda name: CORE.find(name) or user_actions.find(name), effects=effects)


def _instead(file: Path, name: str) -> str:
    parts = file.with_suffix("").parts
    module = ".".join(parts) if all(map(str.isidentifier, parts)) else file.stem
    return (
        f": write {module}:{name}, as in `detent run {module}:{name}` or `detent graph {module}:{name}`; "
        f"`detent serve --import {module}` serves all its workflows"
    )
