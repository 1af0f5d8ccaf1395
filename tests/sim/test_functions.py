"""Durable functions in the simulator."""

from __future__ import annotations

import os
from heapq import heapify, heappop
from typing import Any, Final

import pytest

from detent.engine import function_port, operation_mail, runner
from detent.planner import flow
from detent.python.function.book import Book
from detent.run.plan import Plan
from detent.run.state import Phase
from tests.sim.function_world import function_campaign
from tests.sim.mutants import Mutant

SECONDS = float(os.environ.get("DETENT_SIM_SECONDS", "30"))

pytestmark = pytest.mark.slow

_end = function_port.EnginePort.end


def _told_at_once(self: Any, checkpoint: Any, ms: float | None = None) -> None:
    _end(self, checkpoint, ms)
    if self._listener is not None and checkpoint.key in self._held.state.history:
        self._listener.ended(self._held.state.history[checkpoint.key])


def _by_order_of_call(self: Book) -> Any:
    self._due = [(number, place, pending) for place, number, pending in self._due]
    heapify(self._due)
    found = None
    while self._due and found is None:
        _, place, pending = heappop(self._due)
        if self.waiting.get(pending.key) is pending:
            del self.waiting[pending.key]
            found = pending, self.records[place]
    self._due = [(place, number, pending) for number, place, pending in self._due]
    heapify(self._due)
    return found


def _asleep_for_good(state: Any, index: int, until: int | None, seen: int) -> Any:
    state.running -= 1
    state.begun.pop(index, None)
    state.set_timer(index, Phase.RETRYING, until)
    return Plan(None, [], [], [])


def _forgets(mail: Any, held: Any) -> Any:
    event: Any = _operation_event(mail, held)
    return None if event is not None and held.port is None and event.key.startswith("@signal") else event


_operation_event = operation_mail.operation_event

MUTANTS: Final = (
    Mutant("a function is told what is not durable", patches=((function_port.EnginePort, "end", _told_at_once),)),
    Mutant("a replay goes by the order of calls", patches=((Book, "next_ended", _by_order_of_call),)),
    Mutant(
        "what comes while a function falls asleep is not looked at", patches=((flow, "suspended", _asleep_for_good),)
    ),
    Mutant("a parent is not told the end of its child", patches=((runner, "end_messages", lambda state, end: []),)),
)


@pytest.mark.case("F17")
@pytest.mark.timeout(int(SECONDS) * 4 + 60)
def test_no_rule_of_functions_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    broken, seed, counters = function_campaign(first, SECONDS / 2, at_least=20)
    assert broken is None, f"{broken} in world {seed}"
    assert counters["function completed"] > 20


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_functions_is_found(mutant: Mutant) -> None:
    broken, _, _ = function_campaign(1, 60.0, mutant=mutant)
    assert broken is not None
