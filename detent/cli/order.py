"""What `detent run` is to run, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from detent.authoring.compiled import Compiled
from detent.cli.definitions import compile_file
from detent.cli.options import decode_value
from detent.cli.python_targets import python_workflow
from detent.engine.commands import StartOptions
from detent.errors import InvalidInput, Problem
from detent.graph.model import StepKind
from detent.settings import Settings

#: What waits for callbacks. A durable function asks for them by names that only its code knows.
_WAITING: Final = (StepKind.WAIT, StepKind.FUNCTION)


@dataclass(frozen=True, slots=True)
class Target:
    """A workflow. `source` is the text and name of its file; null if it is in Python, where `module` has it, and any
    engine with its code saves it by itself."""

    compiled: Compiled
    source: tuple[bytes, str] | None = None
    module: str | None = None

    @property
    def waits(self) -> bool:
        return any(step.kind in _WAITING for step in self.compiled.graph.steps)

    @property
    def is_function(self) -> bool:
        return any(step.kind is StepKind.FUNCTION for step in self.compiled.graph.steps)


@dataclass(frozen=True, slots=True)
class Order:
    """A run that somebody wants to see; `answers` are for what it will wait for."""

    target: Target
    input: Any
    options: StartOptions
    answers: dict[str, Any]
    fast: bool
    settings: Settings


def find_target(file: Path, settings: Settings) -> Target:
    """The workflow of a file, or the one in Python that is named like that."""
    written = python_workflow(str(file))
    if written is not None:
        return Target(written.compiled, module=written.place.partition(":")[0])
    data, compiled = compile_file(file, settings, strict=True)
    return Target(compiled, source=(data, file.name))


def read_answers(given: Iterable[str], target: Target) -> dict[str, Any]:
    """Answers written `step=JSON`, by step."""
    waits = {step.name for step in target.compiled.graph.steps if step.kind is StepKind.WAIT}
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or (name not in waits and not target.is_function):
            known = f"; wait steps are {', '.join(sorted(waits))}" if waits else "; this workflow waits for nothing"
            raise InvalidInput("an option cannot be read", [Problem("--answer", f"no wait step {name!r}{known}")])
        found[name] = decode_value(value.encode(), f"--answer {name}")
    return found
