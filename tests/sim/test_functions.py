"""Durable functions in the simulator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heappop
from typing import Any, Final

import pytest
from msgspec import structs

from detent.commands.children import ChildStarts
from detent.engine import functions, inbox, runner
from detent.planner import flow
from detent.python.functions.operations import OperationLog, Pending
from detent.python.functions.runner import OperationRunner
from detent.run.call import Op
from detent.run.plan import Plan
from detent.run.state import Phase
from tests.sim.counters import Counters
from tests.sim.function_world import FunctionWorld, function_campaign
from tests.sim.heir_rules import EarlyKey, KeptKey, LostKey, WastedKey
from tests.sim.mutants import Mutant
from tests.sim.swarm import Swarm

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 60
ENOUGH = 5_000

pytestmark = pytest.mark.slow

_end = functions.EnginePort.end


def _told_at_once(self: Any, checkpoint: Any, ms: float | None = None) -> None:
    _end(self, checkpoint, ms)
    if self._listener is not None and checkpoint.key in self._held.state.history:
        self._listener.ended(self._held.state.history[checkpoint.key])


def _by_order_of_call(self: OperationLog) -> Any:
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


def _asleep_for_good(prepared: Any, state: Any, index: int, until: int | None, seen: int, now: int) -> Any:
    state.running -= 1
    state.begun.pop(index, None)
    state.set_timer(index, Phase.RETRYING, until)
    return Plan(None, [], [], [])


def _forgets(mail: Any, held: Any) -> Any:
    event: Any = _operation_event(mail, held)
    return None if event is not None and held.port is None and event.key.startswith("@signal") else event


_operation_event = inbox.operation_event
_in_place_of = ChildStarts._in_place_of


async def _as_a_rival(self: Any, run: Any, request: Any) -> Any:
    return structs.replace(await _in_place_of(self, run, request), successor_of=None)


def _heroic(swarm: Swarm) -> Swarm:
    """Every run is about one of a few heroes, and the code changes all the time."""
    return replace(swarm, heroes=1.0, edits=60.0, runs=6)


def _patient(self: functions.EnginePort) -> int:
    return self._functions.patience


def _nap_unrecorded(self: OperationRunner, pending: Pending) -> None:
    if pending.op is Op.SLEEP and (pending.seconds or 0) < 10:
        self._settle_time(pending, None)
    else:
        _begin(self, pending)


_begin = OperationRunner._begin


def _napping(swarm: Swarm) -> Swarm:
    """Functions only sleep, and their nodes die again and again."""
    calm = replace(swarm, busy=0.0, late=0.0, slow=0.0, reply_lost=0.0, never_came=0.0, outages=0.0, locks=0.0)
    calm = replace(calm, pauses=0.0, arrests=0.0, jumps=0.0, stops=0.0, controls=0.0, heroes=0.0, edits=0.0)
    return replace(calm, naps=1.0, crashes=20.0, runs=6, chaos=120.0, tuning=replace(swarm.tuning, park_after=10.0))


HEIRS: Final = {
    "an heir begins beside the run that keeps its key": KeptKey,
    "a key is lost on its way to the heir": LostKey,
    "a key is taken for an heir that is refused": WastedKey,
    "a key is free before the heir is there": EarlyKey,
}

MUTANTS: Final = (
    Mutant("a function is told what is not durable", patches=((functions.EnginePort, "end", _told_at_once),)),
    Mutant("a replay goes by the order of calls", patches=((OperationLog, "next_ended", _by_order_of_call),)),
    Mutant(
        "what comes while a function falls asleep is not looked at", patches=((flow, "suspended", _asleep_for_good),)
    ),
    *(Mutant(name, store=store, bend=_heroic) for name, store in HEIRS.items()),
    Mutant(
        "a run goes on as a rival of itself",
        patches=((ChildStarts, "_in_place_of", _as_a_rival),),
        bend=_heroic,
    ),
    Mutant(
        "a function that sleeps is in flight", patches=((functions.EnginePort, "patience", _patient),), bend=_napping
    ),
    Mutant("the end of a short sleep is not on record", patches=((OperationRunner, "_begin", _nap_unrecorded),)),
    Mutant("a parent is not told the end of its child", patches=((runner, "end_messages", lambda state, end: []),)),
)


@pytest.mark.case("F17")
@pytest.mark.timeout(600)
def test_no_rule_of_functions_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until everything has happened that must."""
        for world in range(ENOUGH):
            rare = counters["key was handed over"] and counters["rival was refused"]
            if world >= WORLDS and rare and counters["function completed"] > 20:
                return
            yield first + world

    broken, seed = function_campaign(seeds(), counters=counters)
    assert broken is None, f"{broken} in world {seed}"
    assert counters["function completed"] > 20
    assert counters["key was handed over"] > 0
    assert counters["rival was refused"] > 0


def test_a_function_that_only_sleeps_is_never_blamed_for_its_nodes() -> None:
    counters = Counters()
    broken, seed = function_campaign(range(1, 9), mutant=Mutant("none", bend=_napping), counters=counters)
    assert broken is None, f"{broken} in world {seed}"
    assert counters["function slept"] > 0


def test_a_node_in_doubt_with_nothing_to_write_claims_again() -> None:
    assert FunctionWorld(2_552_507_519, Counters()).run() is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_functions_is_found(mutant: Mutant) -> None:
    broken, _ = function_campaign(mutant.seeds(ENOUGH), mutant=mutant)
    assert broken is not None
