"""Nodes that stop or die again and again: what counts against a step, and how a step that kills is found."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from detent.auth.caller import local_caller
from detent.commands import Commands, EngineCommands
from detent.engine.engine import Engine
from detent.engine.owned_run import OwnedRun
from detent.engine.suspect_lane import SuspectLane
from detent.graph.model import Graph, OnCrash, Step, StepKind
from detent.ids import RUN, show
from detent.planner import prepare
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from detent.run.plan import StartAttempt
from detent.run.state import RunFacts
from detent.store.rows import MessageKind
from tests.engine.rig import OWNER, Rig, done, rig, virtual


async def _stop(world: Rig) -> None:
    """Stop the only engine gracefully."""
    [engine] = world.engines
    world.engines.remove(engine)
    await engine.stop()


async def _crash_in_flight(world: Rig, step: str, times: int = 1, **tuning: Any) -> None:
    """Kill the only engine while that step is in flight, so often, and start another one each time."""
    for _ in range(times):
        await world.until(lambda: world.hands.now == 1, 400)
        world.crash(world.engines[0])
        await world.until(lambda: world.hands.now == 0)
        await world.engine(**tuning)


# -- graceful stops


@pytest.mark.case("A19")
@virtual
async def test_a_run_released_by_graceful_stops_is_not_adopted_however_often() -> None:
    async with rig() as world:
        gate = world.hands.hold("a")
        await world.engine(drain=0.2)
        run = await world.start({"a": {}})
        for _ in range(8):
            await world.until(lambda: world.hands.now == 1)
            await _stop(world)
            assert world.hands.now == 0
            assert world.store.table[run].owner is None, "it was released"
            await world.engine(drain=0.2)
        await world.until(lambda: world.hands.now == 1)
        gate.set()
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("ended", "a")]
        assert set(world.hands.attempts("a")) == {1}


@pytest.mark.parametrize(("policy", "status"), [(OnCrash.FAIL, "failed"), (OnCrash.ASK, "paused")])
@virtual
async def test_a_stop_in_the_middle_of_a_step_that_must_not_be_repeated_does_not_repeat_it(
    policy: OnCrash, status: str
) -> None:
    async with rig() as world:
        await world.engine(drain=0.2)
        world.hands.hold("a")
        run = await world.start(Graph((Step("a", StepKind.ACTION, on_crash=policy),)))
        await world.until(lambda: world.hands.now == 1)
        await _stop(world)
        await world.engine()
        await world.until(lambda: world.store.table[run].status == status)
        assert world.hands.attempts("a") == [1]


# -- suspects


def _count(world: Rig, names: list[str], seconds: float = 1.0) -> list[str]:
    """Let these steps take a while; gives each as it begins and the most that were in flight at once."""
    order: list[str] = []

    async def work(call: StepCall) -> Outcome:
        order.append(call.step)
        world.hands.now += 1
        world.hands.most = max(world.hands.most, world.hands.now)
        try:
            await asyncio.sleep(seconds)
            return done()
        finally:
            world.hands.now -= 1

    for name in names:
        world.hands.scripts[name] = work
    return order


@virtual
async def test_a_node_makes_the_attempts_of_suspect_runs_one_at_a_time() -> None:
    async with rig() as world:
        names = [f"s{number}" for number in range(6)]
        order = _count(world, names, seconds=3.0)
        engine = await world.engine()
        runs = [await world.start({name: {}}) for name in names]
        for _ in range(2):
            await world.until(lambda: world.hands.now == 6)
            world.crash(engine)
            await world.until(lambda: world.hands.now == 0)
            engine = await world.engine()
        world.hands.most = 0
        free = await world.start({"free": {}})
        assert await world.ended(free, 1) == "completed", "a run that is not suspect does not wait for those"
        for run in runs:
            assert await world.ended(run) == "completed"
            assert world.kinds(run) == [("adopted", None), ("adopted", None), ("started", world.kinds(run)[-1][1]),
                                        ("ended", world.kinds(run)[-1][1])]  # fmt: skip
        assert world.hands.most == 1
        assert len(order) == 18


@pytest.mark.case("A15")
@virtual
async def test_only_the_attempt_in_flight_alone_is_struck_and_its_neighbours_complete() -> None:
    async with rig() as world:
        order = _count(world, ["good", "better"], seconds=0.5)

        async def kill() -> Outcome:
            owner = OWNER.get()
            assert isinstance(owner, Engine)
            world.crash(owner)
            await asyncio.sleep(9)
            return done()

        world.hands.scripts["killer"] = lambda call: kill()
        await world.engine(poison_delay=3.0)
        others = [await world.start({name: {}}) for name in ("good", "better")]
        run = await world.start({"killer": {}})
        deaths = 0
        while world.store.table[run].status == "running":
            await asyncio.sleep(0.1)
            if not world.engines:
                deaths += 1
                await world.engine(poison_delay=3.0)
        assert deaths == 2 + 5
        assert world.store.table[run].status == "failed"
        for other in others:
            assert await world.ended(other) == "completed"
        assert Counter(order).total() <= 2 * 3, "each was tried at most until the run of the killer was suspect"


@pytest.mark.case("A15")
@virtual
async def test_crashes_that_no_step_causes_are_spread_over_the_suspects() -> None:
    async with rig() as world:
        names = [f"s{number}" for number in range(6)]
        order = _count(world, names, seconds=1e6)
        tuning: dict[str, Any] = {"poison_after": 3, "poison_delay": 6.0}  # too short for a suspect to leave memory
        engine = await world.engine(**tuning)
        runs = [await world.start(Graph((Step(name, StepKind.ACTION, timeout=1e7),))) for name in names]
        for _ in range(2 + 12):
            await world.until(lambda: world.hands.now > 0)
            await asyncio.sleep(10)
            world.crash(engine)
            await world.until(lambda: world.hands.now == 0)
            engine = await world.engine(**tuning)
        await world.until(lambda: world.hands.now == 1)
        assert {world.store.table[run].status for run in runs} == {"running"}
        assert set(Counter(order[2 * len(names) : -1]).values()) == {2}, "each was in flight at two crashes"


@virtual
async def test_a_suspect_waits_longer_after_each_strike_and_leaves_memory_meanwhile() -> None:
    async with rig() as world:
        world.hands.hold("a")
        await world.engine()
        run = await world.start({"a": {}})
        await _crash_in_flight(world, "a", 2)
        begun = []
        for _ in range(3):
            await world.until(lambda: world.hands.now == 1, 400)
            begun.append(world.clock.monotonic())
            await _crash_in_flight(world, "a")
            adopted = world.clock.monotonic()
            await world.until(lambda: world.kinds(run)[-1][0] == "adopted")
            assert world.clock.monotonic() - adopted < 3
        await world.until(lambda: world.store.table[run].owner is None)
        await world.until(lambda: world.hands.now == 1, 400)
        begun.append(world.clock.monotonic())
        gaps = [round(after - before) for before, after in pairwise(begun)]
        assert all(gap >= least for gap, least in zip(gaps, (4, 16, 64), strict=True))
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"


@virtual
async def test_a_suspect_attempt_stopped_gracefully_is_not_struck_by_a_later_crash() -> None:
    async with rig() as world:
        world.hands.hold("a")
        await world.engine(drain=0.2)
        run = await world.start({"a": {}})
        await _crash_in_flight(world, "a", 2, drain=0.2, poison_after=1)
        for _ in range(6):
            await world.until(lambda: world.hands.now == 1)
            await _stop(world)
            assert world.store.table[run].owner is None
            await world.engine(drain=0.2, poison_after=1)
        await world.until(lambda: world.hands.now == 1)
        await _stop(world)
        await world.store.send(1, run, MessageKind.PAUSE, b'{"by":"ann"}')
        engine = await world.engine(poison_after=1)
        await world.until(lambda: world.store.table[run].status == "paused")
        world.crash(engine)
        await world.engine(poison_after=1)
        await world.send(run, MessageKind.RESUME)
        await world.until(lambda: world.hands.now == 1)
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"


@virtual
async def test_a_run_paused_while_the_start_of_its_suspect_is_written_is_not_struck() -> None:
    async with rig() as world:
        world.hands.hold("a")
        await world.engine()
        run = await world.start({"a": {}})
        await _crash_in_flight(world, "a", 2, poison_after=1)
        [engine] = world.engines
        line = world.lines[engine]
        line.holds_up = lambda flush: any(entry.kind == "started" for entry in flush.entries)
        await world.until(lambda: bool(line.waits))
        await world.send(run, MessageKind.PAUSE)
        await world.until(lambda: engine.node.runner.owned[run].state.paused_by is not None)
        line.holds_up = lambda flush: False
        await world.until(lambda: world.store.table[run].status == "paused")
        assert world.kinds(run)[-3:] == [("started", "a"), ("paused", None), ("retry", "a")]
        assert world.hands.attempts("a") == [1, 2], "it was not begun"
        world.crash(engine)
        await world.engine(poison_after=1)
        await asyncio.sleep(5)
        await world.send(run, MessageKind.RESUME)
        await world.until(lambda: world.hands.now == 1)
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"


def _commands(engine: Engine) -> Commands:
    return EngineCommands(engine).for_caller(local_caller("test"))


@virtual
async def test_the_document_and_why_say_that_a_run_is_suspect_and_what_it_waits_for() -> None:
    async with rig() as world:
        world.hands.hold("a")
        engine = await world.engine()
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        name = show(RUN, run)
        assert (await _commands(engine).runs.get(name)).suspect is None
        await _crash_in_flight(world, "a", 2)
        await world.until(lambda: world.kinds(run) == [("adopted", None)] * 2)
        commands = _commands(world.engines[0])
        document = await commands.runs.get(name)
        assert document.suspect is not None
        assert document.suspect.adoptions == 2
        assert (document.suspect.waiting, document.suspect.in_flight) == (["a"], [])
        assert document.suspect.next_at == document.steps["a"].next_at
        assert (document.steps["a"].status, document.steps["a"].reason) == ("scheduled", "suspect")
        _, _, reasons = await commands.runs.why(name)
        assert [reason.kind for reason in reasons] == ["suspect", "needs"]
        await _crash_in_flight(world, "a")
        await world.until(lambda: world.kinds(run)[-1] == ("adopted", None))
        document = await _commands(world.engines[0]).runs.get(name)
        assert document.suspect is not None
        assert document.suspect.strikes == {"a": 1}
        await world.until(lambda: world.hands.now == 1)
        document = await _commands(world.engines[0]).runs.get(name)
        assert document.suspect is not None
        assert (document.suspect.in_flight, document.suspect.next_at) == (["a"], None)
        assert document.steps["a"].status == "running"
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"
        assert (await _commands(world.engines[0]).runs.get(name)).suspect is None


def _waiting(tenant: int, name: str) -> OwnedRun:
    """A suspect run of that tenant, in the lane's eyes."""
    prepared = prepare(Graph((Step(name, StepKind.ACTION),)))
    facts = RunFacts(name.encode().ljust(16), tenant, name, b"{}", 0, None, str)
    run = OwnedRun(facts.id, 1, prepared, prepared.new_state(facts))
    run.state.stalled = 2
    return run


def test_suspects_have_their_turns_by_tenant() -> None:
    turns: list[OwnedRun] = []

    def begin(run: OwnedRun, start: StartAttempt) -> bool:
        turns.append(run)
        return not run.id.startswith(b"unwanted")

    lane = SuspectLane(begin)
    names = ["1a", "1b", "1c", "unwanted", "2a", "2b", "3a"]
    runs = {name: _waiting(int(name[0]) if name[0].isdigit() else 1, name) for name in names}
    for run in runs.values():
        lane.add(run, StartAttempt(0, 1, True, True))
    assert turns == [runs["1a"]], "one at a time"
    lane.leave(runs["2b"])
    lane.look_at(runs["1a"])
    assert turns == [runs["1a"]], "neither is a reason to go on"
    for _ in range(6):
        lane.leave(turns[-1])
    assert [run.state.facts.workflow for run in turns] == ["1a", "1b", "2a", "3a", "1c", "2b", "unwanted"]
    assert len(lane) == 0


def test_a_run_that_is_not_suspect_any_more_makes_room_and_one_that_left_has_no_turn() -> None:
    turns: list[OwnedRun] = []

    def begin(run: OwnedRun, start: StartAttempt) -> bool:
        turns.append(run)
        return True

    lane = SuspectLane(begin)
    first, left, last = (_waiting(1, name) for name in ("first", "left", "last"))
    for run in (first, left, last):
        lane.add(run, StartAttempt(0, 1, True, True))
    left.gone = True
    first.state.stalled = 0
    lane.look_at(first)
    assert turns == [first, last]
    lane.leave(first)
    assert len(lane) == 1
    assert last.is_in_lane


def test_the_end_of_an_attempt_does_not_take_the_turn_of_another_one_of_its_run() -> None:
    turns: list[int] = []

    def begin(run: OwnedRun, start: StartAttempt) -> bool:
        turns.append(start.step)
        return True

    lane = SuspectLane(begin)
    run, other = _waiting(1, "run"), _waiting(1, "other")
    first, second = StartAttempt(0, 1, True, True), StartAttempt(1, 1, True, True)
    lane.add(run, first)
    lane.add(run, second)
    lane.add(other, StartAttempt(2, 1, True, True))
    run.state.stalled = 0
    run.state.strikes[1] = 1
    lane.look_at(run)
    assert turns == [0, 1], "the first is not suspect any more"
    lane.leave(run, first)
    assert turns == [0, 1], "the second is still in flight"
    lane.leave(run, second)
    assert turns == [0, 1, 2]
