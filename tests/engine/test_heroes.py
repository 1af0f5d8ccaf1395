"""One active run of a workflow per hero, where the workflow says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.commands.bulk import BulkAction
from detent.engine.start import LONGEST_KEY, active_key
from detent.errors import AlreadyActive, Unavailable
from detent.ids import RUN, show
from detent.store.rows import RunCriteria
from tests.callers import commands_of
from tests.engine.commands import run_id, save, start
from tests.engine.rig import Rig, failed, rig, virtual

ANN, BOB = ("User", "ann"), ("User", "bob")
WAITS: dict[str, Any] = {"w": {"wait_for_webhook": {}}}
CHAIN: dict[str, Any] = {"a": {}, "b": {"needs": ["a"], "retries": 0}, "c": {"needs": ["b"]}}


async def _world(world: Rig, steps: dict[str, Any] = WAITS, **given: Any) -> Any:
    engine = await world.engine()
    await save(world, "Signup", steps, **{"one_per_hero": True, **given})
    return engine


@virtual
async def test_a_second_start_for_a_hero_is_refused_with_the_id_of_the_active_run() -> None:
    async with rig() as world:
        engine = await _world(world)
        first = await start(engine, "Signup", hero=ANN)
        with pytest.raises(AlreadyActive) as refused:
            await start(engine, "Signup", hero=ANN)
        assert refused.value.run == run_id(first)
        assert refused.value.message == f"there is an active run of 'Signup' for User ann: {run_id(first)}"
        await start(engine, "Signup", hero=BOB)
        await start(engine, "Signup")
        await start(engine, "Signup")
        await save(world, "Other", WAITS, one_per_hero=True)
        await start(engine, "Other", hero=ANN)
        assert len(world.store.table) == 5


@virtual
async def test_a_workflow_that_does_not_ask_for_it_and_a_start_that_allows_it_are_not_held_back() -> None:
    async with rig() as world:
        engine = await _world(world, one_per_hero=False)
        for _ in range(3):
            await start(engine, "Signup", hero=ANN)
        await save(world, "Single", WAITS, one_per_hero=True)
        for _ in range(3):
            await start(engine, "Single", hero=ANN, allow_multiple=True)
        await start(engine, "Single", hero=ANN)
        with pytest.raises(AlreadyActive):
            await start(engine, "Single", hero=ANN)
        assert len(world.store.table) == 7


@virtual
async def test_a_hero_is_free_again_when_its_run_has_ended() -> None:
    async with rig() as world:
        engine = await _world(world, {"a": {}})
        for _ in range(3):
            run = await start(engine, "Signup", hero=ANN)
            await world.ended(run.run)
        assert len(world.store.table) == 3


@virtual
async def test_a_request_id_gives_its_run_although_the_hero_is_taken() -> None:
    async with rig() as world:
        engine = await _world(world)
        first = await start(engine, "Signup", hero=ANN, request_id="r")
        again = await start(engine, "Signup", hero=ANN, request_id="r")
        assert (again.run, again.is_new) == (first.run, False)
        with pytest.raises(AlreadyActive):
            await start(engine, "Signup", hero=ANN, request_id="other")


@virtual
async def test_of_many_starts_at_the_same_time_on_two_nodes_one_is_made() -> None:
    async with rig() as world:
        engines = [await _world(world), await world.engine()]
        starts = [start(engines[number % 2], "Signup", hero=ANN) for number in range(200)]
        results = await asyncio.gather(*starts, return_exceptions=True)
        made = [one for one in results if not isinstance(one, BaseException)]
        refused = [one for one in results if isinstance(one, AlreadyActive)]
        assert (len(made), len(refused)) == (1, 199)
        assert {error.run for error in refused} == {run_id(made[0])}


@virtual
async def test_a_start_whose_obstacle_has_ended_meanwhile_is_made() -> None:
    async with rig() as world:
        engine = await _world(world)
        first = await start(engine, "Signup", hero=ANN)
        line, asked = world.lines[engine], 0
        real = world.store.active_run

        async def late(tenant: int, key: str) -> bytes | None:
            nonlocal asked
            asked += 1
            if asked == 1:
                await commands_of(engine, "ann").control.cancel(run_id(first))
                await world.ended(first.run)
            return await real(tenant, key)

        world.store.active_run = late  # type: ignore[method-assign]
        second = await start(engine, "Signup", hero=ANN)
        assert second.run != first.run
        assert (asked, line.sent.count("active_run")) == (1, 1)


@virtual
async def test_a_start_that_finds_an_obstacle_and_nobody_in_its_place_gives_up_after_some_tries() -> None:
    async with rig() as world:
        engine = await _world(world)
        await start(engine, "Signup", hero=ANN)

        async def nobody(tenant: int, key: str) -> bytes | None:
            return None

        world.store.active_run = nobody  # type: ignore[method-assign]
        with pytest.raises(Unavailable):
            await start(engine, "Signup", hero=ANN)


@virtual
async def test_retry_fork_and_rerun_need_the_hero_too() -> None:
    async with rig() as world:
        engine = await _world(world, CHAIN)
        world.hands.scripts["b"] = lambda call: failed(retry=False)
        first = await start(engine, "Signup", hero=ANN)
        assert await world.ended(first.run) == "failed"
        gate = world.hands.hold("b")
        second = await start(engine, "Signup", hero=ANN)
        commands = commands_of(engine, "ann")
        for again in (
            commands.reruns.retry(run_id(first)),
            commands.reruns.rerun(run_id(first)),
            commands.reruns.fork(run_id(first), "b"),
        ):
            with pytest.raises(AlreadyActive) as refused:
                await again
            assert refused.value.run == run_id(second)
        done = await commands.bulk.apply(BulkAction.RETRY, RunCriteria(statuses=("failed",)), limit=9, dry_run=False)
        assert run_id(second) in done.refused[0][1]
        gate.set()
        await world.ended(second.run)
        third = await commands.reruns.retry(run_id(first))
        row = await world.row(third.run)
        assert row.active_key == active_key("Signup", ANN)
        assert await world.ended(third.run) == "completed"


@virtual
async def test_what_was_one_of_several_may_be_done_again_beside_others() -> None:
    async with rig() as world:
        engine = await _world(world, {"a": {}})
        several = await start(engine, "Signup", hero=ANN, allow_multiple=True)
        await world.ended(several.run)
        world.hands.hold("a")
        await start(engine, "Signup", hero=ANN)
        again = await commands_of(engine, "ann").reruns.rerun(run_id(several))
        assert (await world.row(again.run)).active_key is None


@virtual
async def test_a_run_knows_its_hero_where_it_is_started_claimed_and_looked_at() -> None:
    async with rig() as world:
        engine = await _world(world, {**WAITS, "b": {"needs": ["w"]}})
        gate = world.hands.hold("b")
        run = await start(engine, "Signup", hero=ANN)
        _, state = await commands_of(engine, "ann").runs.folded(await world.row(run.run))
        assert state.facts.hero == ANN
        await world.until(lambda: world.store.table[run.run].owner is None)
        other = await world.engine()
        await engine.stop()
        world.engines.remove(engine)
        await world.call_back(run.run, "w")
        await world.until(lambda: world.held_by(other, run.run))
        assert other.node.runner.owned[run.run].state.facts.hero == ANN
        gate.set()
        assert await world.ended(run.run) == "completed"


def test_a_key_has_no_two_readings_and_fits_an_index_of_every_database() -> None:
    assert active_key("Signup", ("User", "42")) == '["Signup","User","42"]'
    assert active_key('a","b', ("c", "d")) != active_key("a", ('b","c', "d"))
    assert active_key("é", ("User", "ü")) == '["é","User","ü"]'
    long = [active_key("w", ("User", "x" * 2_000 + end)) for end in "ab"]
    assert long[0] != long[1]
    assert all(len(key.encode()) <= LONGEST_KEY for key in long)


def test_an_id_is_shown_as_everywhere() -> None:
    assert AlreadyActive(run=show(RUN, bytes(16))).run.startswith("run_")
