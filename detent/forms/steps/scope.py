"""The names an expression of the steps form may use, and which steps it may read.

    trigger.body  trigger.headers  trigger.query  trigger.scheduled_at  $input (= trigger.body)
    run.id  workflow.name
    tasks.NAME.status  .status_code  .headers  .body  .output  .error   (steps.NAME is the same)
    tasks.NAME.query  .encoding                                         (of a callback)
    wait.NAME.url  $execution.NAME.resume_url  $execution.resume_url    (the callback of a wait step)

A result may be read only after the step that returns it; the address of a callback is known from the start.
"""

from __future__ import annotations

from typing import ClassVar, Final

from detent.expressions import Reference
from detent.forms.scope import ScopeCheck

_ROOTS: Final = ("trigger", "tasks", "steps", "wait", "run", "workflow", "$input", "$execution")
_PARTS: Final = {
    "trigger": ("body", "headers", "query", "scheduled_at", "event"),
    "run": ("id",),
    "workflow": ("name",),
}


class StepsScope(ScopeCheck):
    """Checks reads against the names of the steps form."""

    views: ClassVar = ("tasks", "steps")

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

    def _result(self, root: str, name: str, rest: list[str | int], reader: str | None) -> str | None:
        return self._unread(name, reader) or self._part(f"{root}.{name}", rest, self._parts_of(name))

    def _unneeded(self, name: str, reader: str) -> str:
        return f"{reader!r} does not need {name!r}, directly or through others; add it to its needs"

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
        return self._unknown_name(root, _ROOTS)
