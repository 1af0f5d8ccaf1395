"""The names an expression of a rule may use, and which actions it may read.

    status  customer_email  ...     the fields of the record as it is now: of `after`, on delete of `before`
    before.FIELD  after.FIELD       the record before and after its change
    changed                         the names of the fields that differ: contains(changed, 'status')
    entity  actor                   the name of the entity, and who changed the record
    event.id  .operation  .record_id  .at
    steps.STEP.output  .status  .status_code  .headers  .body  .error
    wait.STEP.url                   the callback of a `wait`
    vars.NAME  run.id  workflow.name
    attempt.number  attempt.at                  (in the config of an action that is tried)

A field that has one of these names is read as `after.NAME`. A config reads actions before its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from detent.expressions import SECRETS, Reference
from detent.forms.scope import ITEM_NAMES, ScopeCheck
from detent.forms.templates import Read
from detent.graph.check import Upstream
from detent.graph.model import StepKind
from detent.values.fields import Problems

_WHOLE: Final = ("changed", "actor", "entity")
ROOTS: Final = (
    *("before", "after", *_WHOLE, "event", "steps", "wait", "vars", "run", "workflow", "attempt"),
    *ITEM_NAMES,
    "result",
    SECRETS,
)
_PARTS: Final = {
    "run": ("id",),
    "workflow": ("name",),
    "attempt": ("number", "at"),
    "event": ("id", "operation", "record_id", "at"),
}
#: The names of other forms, and what a rule has instead.
_ELSEWHERE: Final = {
    "trigger": "write the field itself, or after.FIELD",
    "$input": "write the field itself, or after.FIELD",
    "tasks": "write steps.STEP.output",
    "context": "write steps.STEP.output",
    "$execution": "write wait.STEP.url",
}


class RuleScope(ScopeCheck):
    """Checks reads against the names of a rule. `fields` has the fields of the entity that were read, with their
    places."""

    noun: ClassVar = "action"
    a_noun: ClassVar = "an action"

    def __init__(
        self, kinds: Mapping[str, StepKind | None], upstream: Upstream, variables: Collection[str], problems: Problems
    ) -> None:
        super().__init__(kinds, upstream, variables, problems)
        self.fields: list[tuple[str, str]] = []

    def check(self, read: Read, reader: str | None, also: tuple[str, ...] = ()) -> None:
        """Report what is wrong with one read of the step `reader`, or note the field that it reads."""
        super().check(read, reader, also)
        self._note(read, also)

    def check_planned(self, read: Read, reader: str, also: tuple[str, ...] = ()) -> None:
        """Report what is wrong with one read of an expression that is evaluated before `reader` has an attempt."""
        is_attempt = read.reference.path[0] == "attempt"
        message = "only the config of an action that is tried knows the attempt" if is_attempt else None
        self._report(read, message or self._problem(read.reference, reader))
        self._note(read, ())

    def _note(self, read: Read, also: tuple[str, ...]) -> None:
        match read.reference.path:
            case ("before" | "after", str(name), *_):
                self.fields.append((read.field, name))
            case (str(name), *_) if name not in ROOTS and name not in also and name not in _ELSEWHERE:
                self.fields.append((read.field, name))
            case _:
                pass

    def _problem(self, reference: Reference, reader: str | None) -> str | None:
        match reference.path:
            case ("before" | "after", *_):
                return None
            case (root, *_) if root in _WHOLE:
                return None
            case ("run" | "workflow" | "event" as root, *rest):
                return self._part(root, rest, _PARTS[root])
            case ("attempt", *rest):
                if reader is None:
                    return "only the config of an action that is tried knows the attempt"
                return self._part("attempt", rest, _PARTS["attempt"])
            case ("steps", str(name), *rest):
                return self._unread(name, reader) or self._part(f"steps.{name}", rest, self._parts_of(name))
            case ("wait", str(name), "url"):
                return self._callback(name)
            case ("vars", str(name), *_):
                return self._variable(name)
            case ("vars",):
                return None
            case _:
                return self._other(reference)

    def _other(self, reference: Reference) -> str | None:
        """Return what is wrong with a name that is not a root: it is a field, unless it looks like something else."""
        root, *rest = reference.path
        match root:
            case "steps":
                return "name an action and a part of its result: steps.STEP.output"
            case "wait":
                return "write wait.STEP.url with the step of an action that waits"
            case str() if root in _ELSEWHERE:
                return f"a rule has no {root!r}; {_ELSEWHERE[root]}. A field with this name is after.{root}"
            case str() if root in (*ITEM_NAMES, "result"):
                return f"{self._unknown_name(root, ROOTS)}; a field with this name is after.{root}"
            case str() if root in self._kinds and rest and rest[0] in self._parts_of(root):
                return f"write steps.{root} to read the result of that action"
        return None
