"""What asks and races of waits add, with one bug each, as patches; and the workflows in which they show."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from detent.graph.model import Edge, Ending, Graph, Join, Step, StepKind
from detent.instant import Instant
from detent.planner.apply import Change
from detent.planner.prepared import Prepared
from detent.run.plan import Plan
from detent.run.state import RunState

planning = import_module("detent.planner.advance")
applying = import_module("detent.planner.apply")
closing = import_module("detent.engine.callbacks")

Patches = tuple[tuple[Any, Any, Any], ...]

_ASK: Final = {"is_approval": False, "title": "{{ 1 + 1 }}", "every": 2.0, "most": 4, "after": 5.0, "to": ["b"]}
_FIRST: Final = frozenset({Ending.SUCCESS, Ending.TIMEOUT})


def _wait(name: str, timeout: float) -> Step:
    return Step(name, StepKind.WAIT, {"timeout": timeout, "early": "buffer", "ask": _ASK})


def _race(first: str, *members: str) -> tuple[Step, tuple[Edge, ...]]:
    step = Step(first, StepKind.CONDITION, {"expression": "true", "first_of": list(members)}, join=Join.ANY)
    return step, tuple(Edge(member, first, _FIRST) for member in members)


def _races() -> Graph:
    """Three races one beside the other: two waits and a sleep that ends while they are answered."""
    steps: list[Step] = []
    edges: list[Edge] = []
    for letter in "abc":
        members = (f"{letter} paid", f"{letter} refused", f"{letter} late")
        steps += [_wait(members[0], 15.0), _wait(members[1], 9.0), Step(members[2], StepKind.SLEEP, {"seconds": 6.0})]
        first, into = _race(f"{letter} first", *members)
        steps.append(first)
        edges += into
    return Graph(tuple(steps), tuple(edges))


RACES: Final = _races()
#: Waits of which none decides the end of another.
ASKS: Final = Graph(tuple(_wait(name, 20.0) for name in "abc"), ())


def _nobody_loses(run: object, event: object) -> list[int | str]:
    """A sleep that is first does not close the callbacks of the others before it counts."""
    return []


def _remind_and_end(prepared: Prepared, state: RunState, index: int, now: Instant) -> Plan:
    return Plan(None, [], [], [index])


_note_wait = applying.note_wait


def _leave_one_out(prepared: Prepared, state: RunState, change: Change) -> None:
    """A reminder counts twice."""
    _note_wait(prepared, state, change)
    _note_wait(prepared, state, change)


OF_RACES: Final[dict[str, Patches]] = {
    "a sleep that is first takes an accepted payload with it": ((closing, "_losers", _nobody_loses),),
}
OF_REMINDERS: Final[dict[str, Patches]] = {
    "a reminder ends its wait": ((planning, "_note_due", _remind_and_end),),
    "a reminder is left out": ((applying, "note_wait", _leave_one_out),),
}
