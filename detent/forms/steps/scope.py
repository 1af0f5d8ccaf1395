"""The names an expression of the steps form may use, and which steps it may read.

    trigger.body  trigger.headers  trigger.query  trigger.scheduled_at  $input (= trigger.body)
    run.id  workflow.name
    tasks.NAME.status  .status_code  .headers  .body  .output  .error   (steps.NAME is the same)
    tasks.NAME.query  .encoding                                         (of a callback)
    wait.NAME.url  $execution.NAME.resume_url  $execution.resume_url    (the callback of a wait step)

A result may be read only after the step that returns it; the address of a callback is known from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detent.expressions import Reference
from detent.forms.templates import Read
from detent.graph.check import Upstream
from detent.graph.model import StepKind
from detent.values.fields import Problems, shown

RESULTS: Final = ("status", "status_code", "headers", "query", "body", "encoding", "output", "error")
_ROOTS: Final = ("trigger", "tasks", "steps", "wait", "run", "workflow", "$input", "$execution")
_PARTS: Final = {
    "trigger": ("body", "headers", "query", "scheduled_at", "event"),
    "run": ("id",),
    "workflow": ("name",),
}


class StepsScope:
    """Checks reads against the existing steps. A kind of `None` is a step whose own problem is already reported."""

    def __init__(self, kinds: Mapping[str, StepKind | None], upstream: Upstream, problems: Problems) -> None:
        self._kinds = kinds
        self._upstream = upstream
        self._problems = problems
        self._waits = [name for name, kind in kinds.items() if kind is StepKind.WAIT]

    def check(self, read: Read, reader: str | None) -> None:
        """Report what is wrong with one read of the step `reader` (`None`: the workflow's output)."""
        if message := self._problem(read.reference, reader):
            at = f" (at character {read.reference.position + 1})"
            self._problems.add(read.field, f"{shown(read.reference.text)}: {message}{at}")

    def _problem(self, reference: Reference, reader: str | None) -> str | None:
        match reference.path:
            case ("$input", *_):
                return None
            case ("trigger" | "run" | "workflow" as root, *rest):
                return self._part(root, rest, _PARTS[root])
            case ("tasks" | "steps" as root, str(name), *rest):
                return self._result(root, name, rest, reader)
            case ("$execution", "resume_url"):
                return self._only_callback()
            case ("wait", str(name), "url") | ("$execution", str(name), "resume_url"):
                return self._callback(name)
            case _:
                return self._unknown(str(reference.path[0]))

    def _part(self, whole: str, rest: list[str | int], parts: tuple[str, ...]) -> str | None:
        if rest and rest[0] in parts:
            return None
        choices = ", ".join(f"{whole}.{part}" for part in parts)
        if not rest:
            return f"name a part: {choices}"
        hint = self._problems.did_you_mean(str(rest[0]), parts) or f"; there is {choices}"
        return f"{whole} has no {rest[0]!r}{hint}"

    def _result(self, root: str, name: str, rest: list[str | int], reader: str | None) -> str | None:
        if name not in self._kinds:
            return f"no step {shown(name)}{self._problems.did_you_mean(name, self._kinds)}"
        if name == reader:
            return "a step cannot read its own result"
        if reader is not None and reader in self._upstream and not self._upstream.includes(reader, name):
            return f"{reader!r} does not need {name!r}, directly or through others; add it to its needs"
        return self._part(f"{root}.{name}", rest, RESULTS)

    def _callback(self, name: str) -> str | None:
        if name not in self._kinds:
            return f"no step {shown(name)}{self._problems.did_you_mean(name, self._waits or self._kinds)}"
        if self._kinds[name] not in {StepKind.WAIT, None}:
            return f"{name!r} is not a wait step, so it has no callback URL"
        return None

    def _only_callback(self) -> str | None:
        if len(self._waits) == 1 or None in self._kinds.values():
            return None
        if not self._waits:
            return "there is no wait step"
        return f"there are {len(self._waits)} wait steps; write $execution.{self._waits[0]}.resume_url"

    def _unknown(self, root: str) -> str:
        match root:
            case "tasks" | "steps":
                return f"name a step and a part of its result: {root}.NAME.body"
            case "wait":
                return "write wait.NAME.url with the name of a wait step"
            case "$execution":
                return "write $execution.NAME.resume_url with the name of a wait step"
        if root in self._kinds:
            return f"write tasks.{root} to read the result of that step"
        hint = self._problems.did_you_mean(root, _ROOTS) or f"; there is {', '.join(_ROOTS)}"
        return f"unknown name {shown(root)}{hint}"
