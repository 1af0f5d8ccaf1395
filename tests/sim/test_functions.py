"""Durable functions in the simulator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heappop
from typing import Any, Final

import pytest

from detent.commands.children import ChildStarts
from detent.engine import background, functions, inbox, release, runner
from detent.engine import start as engine_start
from detent.engine.children.family import end_messages, signals_left
from detent.planner import flow
from detent.python.functions.operations import OperationLog, Pending
from detent.python.functions.runner import OperationRunner
from detent.run import events
from detent.run.call import Op
from detent.run.plan import Plan
from detent.run.state import Phase
from detent.store.rows import MessageKind
from tests.sim.campaign import check_found
from tests.sim.collecting_world import CollectingWorld
from tests.sim.counters import Counters
from tests.sim.function_world import FunctionWorld, function_campaign
from tests.sim.heir_rules import KeptKey, LostKey
from tests.sim.mutants import Mutant
from tests.sim.store import ModelStore
from tests.sim.swarm import Swarm

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 60
ENOUGH = 5_000

pytestmark = pytest.mark.slow

_end = functions.EnginePort.end


def _told_at_once(self: Any, checkpoint: Any, ms: float | None = None) -> None:
    _end(self, checkpoint, ms)
    if self._listener is not None and checkpoint.key in self._run.state.history:
        self._listener.ended(self._run.state.history[checkpoint.key])


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


def _forgets(mail: Any, run: Any, new_id: Any) -> Any:
    event: Any = _child_event(mail, run, new_id)
    return None if event is not None and run.port is None and event.key.startswith("@signal") else event


_child_event = inbox.child_event
_prepare_successor = ChildStarts.prepare_successor
_attempt_ended = runner.Runner._attempt_ended
_read = inbox.Mailbox._read


async def _as_a_rival(self: Any, run: Any, child: Any) -> Any:
    prepared = await _prepare_successor(self, run, child)
    return replace(prepared, request=replace(prepared.request, successor_of=None))


def _continue_while_paused(self: Any, run: Any, index: int, number: int, outcome: Any, ms: float) -> None:
    self.handle(run, events.AttemptEnded(index, number, outcome, ms))


def _read_after_the_end(self: Any, mail: Any) -> bool:
    run = self._runner.owned.get(mail.run)
    if run is not None and run.state.is_over and run.generation == mail.generation and mail.id not in run.read:
        run.read.add(mail.id)
        self._runner.drop_message(run, mail.id)
        return True
    return _read(self, mail)


def _behind_the_others(state: Any, taken: Any) -> tuple[Any, ...]:
    left = [*signals_left(state, taken)]
    return tuple(one._replace(result=other.result) for one, other in zip(left, reversed(left), strict=True))


class DroppedMail(ModelStore):
    """The end of a run deletes its mail, whoever takes over."""

    def _forward_or_drop(self, run: bytes, successor: bytes | None) -> None:
        super()._forward_or_drop(run, None)


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
        patches=((ChildStarts, "prepare_successor", _as_a_rival),),
        bend=_heroic,
    ),
    Mutant(
        "a function that sleeps is in flight", patches=((functions.EnginePort, "patience", _patient),), bend=_napping
    ),
    Mutant("the end of a short sleep is not on record", patches=((OperationRunner, "_begin", _nap_unrecorded),)),
    Mutant("a parent is not told the end of its child", patches=((runner, "end_messages", lambda state, end: []),)),
)


def _no_cancels(state: Any, end: Any) -> list[Any]:
    return [message for message in end_messages(state, end) if message.kind != MessageKind.CANCEL]


async def _no_look(self: Any, since: int) -> int:
    return 0


async def _believes(self: Any, name: str) -> bool:
    return True


async def _forgets_to_ask(self: Any, name: str) -> bool:
    return False


def _cancelled(swarm: Swarm) -> Swarm:
    """People cancel all the time."""
    return replace(swarm, controls=1.0, runs=8, jumps=0.0)


def _dying(swarm: Swarm) -> Swarm:
    """Nodes die again and again, and every statement takes a while."""
    return replace(swarm, nodes=2, crashes=12.0, slow=0.6, runs=8, jumps=0.0, outages=0.0)


#: The messages of a parent's end do not reach its children.
_LOST_CANCELS: Final = tuple((module, "end_messages", _no_cancels) for module in (runner, release, engine_start))
FAMILY: Final = (
    Mutant(
        "children of a failed parent are left alone",
        patches=(*_LOST_CANCELS, (background.Orphans, "_cancel", _no_look)),
        bend=_cancelled,
    ),
    Mutant(
        "an adopted parent believes that its children are there",
        patches=((functions.EnginePort, "_exists", _believes),),
        bend=_dying,
    ),
    Mutant(
        "an adopted parent starts its children without asking",
        patches=((functions.EnginePort, "_exists", _forgets_to_ask),),
        bend=_dying,
    ),
)


def _interrupted(swarm: Swarm) -> Swarm:
    """People pause and resume all the time, and every statement takes a while."""
    tuning = replace(swarm.tuning, mail_poll=0.05, slots=1000, flush_rows=2000)
    return replace(swarm, controls=5.0, runs=8, slow=0.8, crashes=0.0, pauses=0.0, outages=0.0, tuning=tuning)


CONTINUING: Final = (
    Mutant("the end of a run that goes on deletes its mail", store=DroppedMail),
    Mutant("mail is read after the end was planned", patches=((inbox.Mailbox, "_read", _read_after_the_end),)),
    Mutant("signals that were not taken die with the record", patches=((runner, "signals_left", lambda *_: ()),)),
    Mutant("signals that were not taken lose their order", patches=((runner, "signals_left", _behind_the_others),)),
    Mutant(
        "a paused run goes on as another one",
        patches=((runner.Runner, "_attempt_ended", _continue_while_paused),),
        bend=_interrupted,
    ),
)


@pytest.mark.case("F17")
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


@pytest.mark.parametrize("mutant", FAMILY, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_children_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, FunctionWorld)


def test_children_are_cancelled_although_every_cancel_of_their_parents_is_lost() -> None:
    counters = Counters()
    lossy = Mutant("none", patches=_LOST_CANCELS, bend=_cancelled)

    def seeds() -> Iterator[int]:
        """So many worlds, and more until a child outlived its parent."""
        for world in range(1, ENOUGH):
            if world > 20 and counters["child outlived its parent"]:
                return
            yield world

    broken, seed = function_campaign(seeds(), mutant=lossy, counters=counters)
    assert broken is None, f"{broken} in world {seed}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_functions_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, FunctionWorld)


def test_no_signal_is_lost_by_functions_that_go_on_as_new_runs() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until runs went on often enough."""
        for world in range(ENOUGH):
            if world >= 10 and counters["run went on as another one"] > 20:
                return
            yield first + world

    broken, seed = function_campaign(seeds(), counters=counters, world=CollectingWorld)
    assert broken is None, f"{broken} in world {seed}"
    assert counters["run went on as another one"] > 20


@pytest.mark.parametrize("mutant", CONTINUING, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_continuing_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, CollectingWorld)
