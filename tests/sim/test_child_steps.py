"""Steps that are child runs, in the simulator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

import pytest
from msgspec.structs import replace as changed

from detent.commands.children import ChildStarts
from detent.engine import background, runner
from detent.engine.children import family
from detent.engine.children.family import starting_event
from detent.graph.model import Step, StepKind
from detent.ids import RUN, show
from detent.planner.settle import Settling, forget_child
from detent.run import events
from detent.run.journal import EntryData, Kind
from detent.run.state import Phase
from tests.sim.campaign import check_found
from tests.sim.child_world import ChildWorld, child_campaign
from tests.sim.counters import Counters
from tests.sim.engine_bugs import applying, planning
from tests.sim.mutants import ONE_STEP, Mutant, make_chain, make_graph
from tests.sim.swarm import Swarm

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 40
ENOUGH = 3_000
#: What must happen in fresh worlds.
SEEN: Final = (
    "child started",
    "child completed",
    "child failed",
    "child cancelled",
    "child cancelled with its parent",
    "child continued as another run",
    "child did not end in time",
    "child started again",
    "detached child started",
    "run moved to another version",
    "memory compared after an event",
)

pytestmark = pytest.mark.slow

_noted = applying._noted
_prepare_successor = ChildStarts.prepare_successor


def _another_child(event: Any, prepared: Any, state: Any, now: int) -> Any:
    number = state.attempt_number(event.step)
    if state.phase[event.step] is not Phase.RUNNING or state.begun.get(event.step) == number:
        return None
    data = None if event.child is None else EntryData(child=event.child)
    return applying.Change(Kind.STARTED, event.step, number, None, data)


def _id_of_the_attempt(run: Any, index: int, new_id: Any) -> Any:
    event = starting_event(run, index, new_id)
    if event.child is None:
        return event
    place = f"{run.id.hex()} {index} {run.state.attempt_number(index)}"
    return changed(event, child=show(RUN, blake2b(place.encode(), digest_size=16).digest()))


def _count_no_crash(state: Any, index: int, now: int) -> None:
    phase, until = state.phase[index], state.until.get(index)
    if phase in (Phase.CHILD, Phase.READY) or (phase is Phase.RETRYING and until is not None and until <= now):
        state.adoptions_before[index] += 1


def _ask_only(state: Any, index: int, now: int) -> None:
    if state.phase[index] is Phase.CHILD:
        applying._ask_for_child(state, index)


def _stand_in_begun(prepared: Any, state: Any, change: Any, now: int) -> None:
    _noted(prepared, state, change, now)
    if change.kind is Kind.STARTED and change.data is not None and change.data.child is not None:
        state.begun[change.step] = change.attempt


_unpause = applying._unpause


def _resume_only(prepared: Any, state: Any) -> None:
    _unpause(replace(prepared, child_steps=()), state)


def _leave_any_child(self: Any, index: int) -> None:
    child = forget_child(self._state, index)
    if child is not None:
        self._state.cancelled += 1
        self.cancelled.append((child.id, self._state.cancelled))


def _leave_no_child(self: Any, index: int) -> None:
    forget_child(self._state, index)


async def _believes(children: Any, run: Any, names: Any) -> Any:
    return set(names)


async def _forgets_to_ask(children: Any, run: Any, names: Any) -> Any:
    return set()


async def _without_family(self: Any, run: Any, request: Any) -> Any:
    return await _prepare_successor(self, replace(run, family=None), request)


def _leave_as_it_is(self: Any, run: Any) -> None:
    if not run.attempts and not run.pending:
        unstarted = run.state.running or run.state.ready
        self._park(run, self._time.now() if unstarted else run.state.next_wake())


def _release_nothing(event: Any, prepared: Any, state: Any, now: int) -> None:
    return None


def _dying(swarm: Swarm) -> Swarm:
    """Nodes die again and again, and every statement takes a while."""
    return replace(swarm, nodes=2, crashes=12.0, slow=0.6, runs=6, jumps=0.0, outages=0.0, deadly=0.0, forms=0.0)


def _steered(swarm: Swarm) -> Swarm:
    """People pause, resume, cancel, skip and reattempt all the time, and every statement takes a while."""
    calm = replace(swarm, crashes=0.0, pauses=0.0, outages=0.0, jumps=0.0, deadly=0.0, late=0.0, reply_lost=0.0)
    return replace(calm, controls=1.0, flows=0.3, runs=6, slow=0.5, forms=0.0)


def _interrupted(swarm: Swarm) -> Swarm:
    """People pause and resume all the time, every statement takes a while, and nothing else happens."""
    calm = replace(_steered(swarm), busy=0.0, never_came=0.0, arrests=0.0, locks=0.0, stops=0.0, flows=0.0, moves=0.0)
    return replace(calm, failing=0.0, hanging=0.0, delays=0.0, agains=0.0, edits=0.0)


def _stopping(swarm: Swarm) -> Swarm:
    """Nodes stop gracefully again and again, and every statement takes a while."""
    calm = replace(_steered(swarm), controls=0.0, flows=0.0, stops=15.0, nodes=2)
    return replace(calm, tuning=replace(swarm.tuning, drain=1.0, park_after=2.0, slots=1))


def _occupied(swarm: Swarm) -> Swarm:
    """Attempts take the only slot for long, and their nodes stop gracefully again and again."""
    calm = replace(_interrupted(swarm), controls=0.0, slow=0.0, hanging=0.8, runs=12, nodes=2, stops=15.0)
    return replace(calm, tuning=replace(swarm.tuning, drain=1.0, park_after=2.0, slots=1))


def _child(name: str) -> Step:
    return Step(name, StepKind.SUBWORKFLOW, {"workflow": "workflow 0", "input": {}})


#: A plain workflow, and two that start runs of it: one after the other, and at once.
IN_TURN_AND_AT_ONCE: Final = (ONE_STEP, make_chain(*map(_child, "abcdef")), make_graph(*map(_child, "abcd")))
MUTANTS: Final = (
    Mutant(
        "a repeated attempt makes another child",
        patches=((planning._CHANGES, events.AttemptStarting, _another_child),),
        bend=_dying,
    ),
    Mutant(
        "the id of a child is made of the number of its attempt",
        patches=(
            (runner, "starting_event", _id_of_the_attempt),
            (planning._CHANGES, events.AttemptStarting, _another_child),
            (applying, "_adopt_child", _ask_only),
        ),
        bend=_dying,
    ),
    Mutant(
        "children of steps are not asked for after an adoption",
        patches=((applying, "_adopt_child", _count_no_crash),),
        bend=_dying,
    ),
    Mutant(
        "an adoption counts as an attempt of a child step",
        patches=((applying, "_adopt_child", _ask_only),),
        bend=_dying,
    ),
    Mutant("a child step is blamed", patches=((applying, "_noted", _stand_in_begun),), bend=_dying),
    Mutant(
        "an adopted step believes that its child is there",
        patches=((family, "existing_children", _believes),),
        bend=_dying,
    ),
    Mutant(
        "an adopted step starts its child without asking",
        patches=((family, "existing_children", _forgets_to_ask),),
        bend=_dying,
    ),
    Mutant(
        "a resume does not ask for children",
        patches=((applying, "_unpause", _resume_only),),
        bend=_interrupted,
        graphs=IN_TURN_AND_AT_ONCE,
    ),
    Mutant("a left child is not cancelled", patches=((Settling, "leave_child", _leave_no_child),), bend=_steered),
    Mutant(
        "the cancels of children are not sent",
        patches=((runner, "cancel_messages", lambda facts, cancelled, end: []),),
        bend=_steered,
    ),
    Mutant(
        "a detached child is cancelled with its parent",
        patches=((Settling, "leave_child", _leave_any_child),),
        bend=_steered,
    ),
    Mutant(
        "a detached child is an orphan",
        patches=((background, "is_detached", lambda family: False),),
        bend=_steered,
    ),
    Mutant(
        "the successor of a child loses its place",
        patches=((ChildStarts, "prepare_successor", _without_family),),
        bend=_steered,
    ),
    Mutant(
        "a stopping node leaves a child that has no slot as if it was started",
        patches=((runner.Runner, "_leave", _leave_as_it_is),),
        bend=_occupied,
        graphs=IN_TURN_AND_AT_ONCE,
    ),
    Mutant(
        "a child that was about to start is not released",
        patches=((planning._CHANGES, events.Released, _release_nothing),),
        bend=_stopping,
    ),
)


def test_no_rule_of_child_steps_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until everything has happened that must."""
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    broken, seed = child_campaign(seeds(), counters=counters)
    assert broken is None, f"{broken} in world {seed}"
    assert [name for name in SEEN if not counters[name]] == []


@pytest.mark.parametrize("bend", [_dying, _steered, _stopping], ids=lambda bend: bend.__name__)
def test_no_rule_of_child_steps_is_broken_where_its_bugs_are_found(bend: Any) -> None:
    broken, seed = child_campaign(range(1, 21), mutant=Mutant("none", bend=bend))
    assert broken is None, f"{broken} in world {seed}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_child_steps_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, ChildWorld)
