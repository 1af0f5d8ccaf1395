"""Several engines on one store: they share runs, take over from the dead, and leave without losing anything."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from detent.engine.engine import Engine
from detent.errors import Unavailable
from detent.graph.model import Graph, OnCrash, Step, StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from detent.store.rows import MessageKind
from tests.engine.rig import OWNER, QUICK, Rig, VirtualClock, done, rig, virtual

CHAIN: dict[str, Any] = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}}


def _slow(world: Rig, *steps: str, seconds: float = 0.5) -> Counter[Engine]:
    """Let these steps take a while, and count which engine did them."""
    workers: Counter[Engine] = Counter()

    async def work() -> Outcome:
        owner = OWNER.get()
        assert isinstance(owner, Engine)
        workers[owner] += 1
        await asyncio.sleep(seconds)
        return done()

    for step in steps:
        world.hands.scripts[step] = lambda call: work()
    return workers


@virtual
async def test_two_engines_share_the_runs() -> None:
    async with rig() as world:
        first, second = await world.engine(slots=3), await world.engine(slots=3)
        workers = _slow(world, "a", "b", "c")
        runs = [await world.start(CHAIN, engine=first) for _ in range(20)]
        for run in runs:
            assert await world.ended(run) == "completed"
            assert world.kinds(run) == [("ended", "a"), ("ended", "b"), ("ended", "c")]
        assert len(world.hands.calls) == 60, "nothing was done twice"
        assert workers[first] > 10
        assert workers[second] > 10


@virtual
async def test_an_engine_that_only_takes_starts_leaves_the_work_to_others() -> None:
    async with rig() as world:
        starter = await world.engine(claims=False)
        workers = _slow(world, "a", "b", "c")
        run = await world.start(CHAIN, engine=starter)
        await asyncio.sleep(5)
        assert world.hands.calls == []
        worker = await world.engine()
        assert await world.ended(run) == "completed"
        assert dict(workers) == {worker: 3}


@virtual
async def test_the_runs_of_a_dead_engine_go_on_within_lease_and_two_seconds() -> None:
    async with rig() as world:
        first, second = await world.engine(), await world.engine()
        gate = world.hands.hold("b")
        runs = [await world.start(CHAIN, engine=first) for _ in range(5)]
        await world.until(lambda: world.hands.now == 5)
        world.crash(first)
        await world.until(lambda: world.hands.now == 0)
        took = await world.until(lambda: world.hands.now == 5)
        assert took < QUICK.lease + 2
        gate.set()
        for run in runs:
            assert await world.ended(run) == "completed"
            assert world.kinds(run) == [("ended", "a"), ("adopted", None), ("ended", "b"), ("ended", "c")]
            assert [entry.attempt for entry in world.store.entries[run].values()] == [1, 0, 2, 1]
        assert {call.idempotency_key for call in world.hands.calls if call.step == "b"} == {
            StepCall(run, 1, "b", StepKind.ACTION, 1, None).idempotency_key for run in runs
        }
        assert second.is_ready


@virtual
async def test_a_crash_between_claim_and_effect_is_told_by_the_next_owner() -> None:
    async with rig() as world:
        first = await world.engine()
        run = await world.start({"nap": {"sleep": "5s"}})
        world.crash(first)
        await world.engine()
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("adopted", None), ("ended", "nap")]


@pytest.mark.case("C4", "A20")
@virtual
async def test_a_sleep_that_ended_while_everybody_was_down_ends_when_somebody_returns() -> None:
    async with rig() as world:
        first = await world.engine()
        held, parked = [await world.start({"nap": {"sleep": length}}) for length in ("5s", "20s")]
        world.crash(first)
        await asyncio.sleep(3600)
        await world.engine()
        assert await world.ended(held, 3) == "completed"
        assert await world.ended(parked, 3) == "completed"


@pytest.mark.case("A9")
@virtual
async def test_an_engine_without_its_store_stops_its_attempts_before_others_begin_them() -> None:
    async with rig() as world:
        first, second = await world.engine(), await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}}, engine=first)
        await world.until(lambda: world.hands.now == 1)
        world.lines[first].is_cut = True
        await world.until(lambda: world.hands.attempts("a") == [1, 2])
        assert world.hands.most == 1, "never two at once"
        assert not first.is_ready
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"
        assert second.is_ready


@virtual
async def test_an_engine_that_lost_its_place_begins_anew_under_another_name() -> None:
    async with rig() as world:
        engine = await world.engine()
        node = engine.node.id
        await world.store.retire(node)
        await world.until(lambda: bool(world.told("engine.lost")))
        with pytest.raises(Unavailable):
            _ = engine.node
        await world.until(lambda: engine.is_ready)
        assert engine.node.id != node
        run = await world.start(CHAIN)
        assert await world.ended(run) == "completed"


@virtual
async def test_an_engine_that_stops_while_it_begins_again_leaves_no_node() -> None:
    async with rig() as world:
        engine = await world.engine()
        line = world.lines[engine]
        await world.store.retire(engine.node.id)
        line.hangs.add("retire")
        await world.until(lambda: "retire" in line.sent)
        assert len(world.store.nodes) == 1, "the next one is there"
        line.hangs.clear()
        await engine.stop()
        assert world.store.nodes == {}


@pytest.mark.case("C1")
@virtual
async def test_wrong_clocks_of_nodes_change_nothing() -> None:
    async with rig() as world:
        clocks = [VirtualClock(skew) for skew in (-86_400.0, 86_400.0)]
        engines = [await world.engine(clock=clock) for clock in clocks]
        runs = [await world.start({"nap": {"sleep": 15}, "a": {"needs": ["nap"]}}, engine=e) for e in engines * 5]
        for run in runs:
            assert await world.ended(run) == "completed"
            row = await world.row(run)
            assert row.ended_at is not None
            assert 15 <= (row.ended_at - row.started_at) / 1e6 < 15.3
        assert world.told("engine.lost") == []


@pytest.mark.case("A15")
@virtual
async def test_a_step_that_kills_its_nodes_is_found_and_its_neighbours_go_on() -> None:
    async with rig() as world:

        async def kill() -> Outcome:
            owner = OWNER.get()
            assert isinstance(owner, Engine)
            await asyncio.sleep(0.1)
            world.crash(owner)
            await asyncio.sleep(9)
            return done()

        world.hands.scripts["killer"] = lambda call: kill()
        world.hands.hold("good")
        engine = await world.engine()
        run = await world.start({"good": {}, "killer": {}}, engine=engine)
        for _ in range(40):
            await asyncio.sleep(3)
            world.hands.gates["good"].set()
            if not world.engines:
                await world.engine(poison_delay=2.0)
        assert await world.ended(run, 20) == "failed"
        endings = {entry.step: entry.outcome for entry in world.store.entries[run].values() if entry.kind == "ended"}
        assert endings.get("good") == "success"
        assert "killer" not in endings, "its end stands in the entry of the adoption that found it"
        assert (await world.row(run)).error is not None
        assert b"poison" in b"".join(entry.data for entry in world.store.entries[run].values())


@virtual
@pytest.mark.parametrize(("policy", "status"), [(OnCrash.FAIL, "failed"), (OnCrash.ASK, "paused")])
async def test_a_step_that_must_not_be_repeated_is_not(policy: OnCrash, status: str) -> None:
    async with rig() as world:
        first = await world.engine()
        world.hands.hold("a")
        run = await world.start(Graph((Step("a", StepKind.ACTION, on_crash=policy),)))
        await world.until(lambda: world.hands.now == 1)
        assert world.kinds(run) == [("started", "a")]
        world.crash(first)
        await world.engine()
        await world.until(lambda: world.store.table[run].status == status)
        assert world.hands.attempts("a") == [1]


# -- leaving


@pytest.mark.case("A19")
@virtual
async def test_a_drain_lets_attempts_end_and_leaves_the_rest_to_others() -> None:
    async with rig() as world:
        first = await world.engine()
        _slow(world, "a", "b", "c", seconds=1.0)
        runs = [await world.start(CHAIN, engine=first) for _ in range(3)]
        nap = await world.start({"nap": {"sleep": "8s"}}, engine=first)
        await world.until(lambda: len(world.hands.calls) == 3)
        second = await world.engine()
        world.engines.remove(first)
        begun = world.clock.monotonic()
        await first.stop()
        assert world.clock.monotonic() - begun < 1.2
        for run in runs:
            assert await world.ended(run) == "completed"
            assert world.kinds(run) == [("ended", "a"), ("ended", "b"), ("ended", "c")], "nothing was adopted"
        assert await world.ended(nap) == "completed"
        assert len(world.hands.calls) == 9
        assert len(second.node.runner.owned) == 0


@virtual
async def test_a_drain_does_not_wait_for_ever() -> None:
    async with rig() as world:
        first = await world.engine(drain=2.0)
        world.hands.hold("a")
        run = await world.start({"a": {}}, engine=first)
        await world.until(lambda: world.hands.now == 1)
        world.engines.remove(first)
        begun = world.clock.monotonic()
        await first.stop()
        assert 2.0 <= world.clock.monotonic() - begun < 2.5
        assert world.hands.now == 0
        await world.engine()
        await world.until(lambda: world.hands.attempts("a") == [1, 1], 3)
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"


@virtual
async def test_a_stopping_engine_takes_no_starts() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}})
        stopping = asyncio.ensure_future(engine.stop())
        await asyncio.sleep(0.1)
        with pytest.raises(Unavailable):
            await world.start(CHAIN)
        world.hands.gates["a"].set()
        await stopping
        world.engines.remove(engine)
        assert (await world.row(run)).status == "completed"


@virtual
async def test_attempts_that_wait_for_a_slot_are_left_to_others() -> None:
    async with rig() as world:
        first = await world.engine(slots=1)
        _slow(world, "a", "b", "c", "d", seconds=1.0)
        run = await world.start({"a": {}, "b": {}, "c": {}, "d": {}}, engine=first)
        world.engines.remove(first)
        await first.stop()
        await world.engine()
        assert await world.ended(run) == "completed"
        assert sorted(call.step for call in world.hands.calls) == ["a", "b", "c", "d"]


@virtual
async def test_a_step_on_record_that_never_began_begins_elsewhere() -> None:
    async with rig() as world:
        first = await world.engine(slots=1)
        _slow(world, "a", "b", seconds=1.0)
        steps = tuple(Step(name, StepKind.ACTION, on_crash=OnCrash.FAIL) for name in ("a", "b"))
        run = await world.start(Graph(steps), engine=first)
        await world.until(lambda: world.kinds(run) == [("started", "a"), ("started", "b")])
        world.engines.remove(first)
        await first.stop()
        await world.engine()
        assert await world.ended(run) == "completed"
        assert world.hands.attempts("b") == [1]


@virtual
async def test_a_message_to_a_run_of_a_dead_engine_is_read_by_the_next() -> None:
    async with rig() as world:
        first = await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}})
        world.crash(first)
        await world.send(run, MessageKind.CANCEL)
        await world.engine()
        assert await world.ended(run, 4) == "cancelled"
