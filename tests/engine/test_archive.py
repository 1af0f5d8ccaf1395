"""Archived workflows: what is in flight goes on, and what has not begun never does."""

from __future__ import annotations

import asyncio
import json

from detent.instant import SECOND
from tests.callers import commands_of
from tests.engine.commands import run_id, save, start
from tests.engine.rig import NOON, TENANT, Rig, rig, virtual


@virtual
async def test_a_run_that_has_not_begun_is_cancelled_when_its_time_comes() -> None:
    async with rig() as world:
        engine = await world.engine()
        saved = await save(world, "w", {"a": {}})
        await save(world, "other", {"a": {}})
        run = await start(engine, "w", start_at=NOON + 60 * SECOND)
        other = await start(engine, "other", start_at=NOON + 60 * SECOND)
        assert await world.store.change_status(TENANT, saved.id, "archived") == "active"
        await asyncio.sleep(30)
        assert world.store.table[run.run].status == "pending", "its time has not come"
        assert await world.ended(run.run, within=100) == "cancelled"
        assert await world.ended(other.run) == "completed"
        assert world.clock.monotonic() >= 59.0
        assert world.kinds(run.run) == [("cancelled", None)]
        [entry] = world.store.entries[run.run].values()
        assert json.loads(entry.data)["by"] == "the archive of workflow 'w'"
        assert len(world.hands.calls) == 1, "only the other one did anything"


async def claimed(world: Rig, run: bytes) -> None:
    while world.store.table[run].owner is None:  # noqa: ASYNC110 - time is virtual
        await asyncio.sleep(0.01)


@virtual
async def test_an_archive_just_before_its_time_stops_a_run_that_was_claimed_already() -> None:
    async with rig() as world:
        engine = await world.engine()
        saved = await save(world, "w", {"a": {}})
        run = await start(engine, "w", start_at=NOON + 60 * SECOND)
        await claimed(world, run.run)
        assert world.clock.wall() < NOON + 60 * SECOND, "runs are claimed a little ahead"
        await world.store.change_status(TENANT, saved.id, "archived")
        assert await world.ended(run.run) == "cancelled"
        assert world.clock.wall() >= NOON + 60 * SECOND
        assert world.hands.calls == []


@virtual
async def test_a_postponed_run_begins_when_the_database_can_be_asked_again() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        run = await start(engine, "w", start_at=NOON + 60 * SECOND)
        await claimed(world, run.run)
        world.lines[engine].break_next("archived", "error", "lost")
        assert await world.ended(run.run) == "completed"


@virtual
async def test_a_workflow_that_is_reactivated_in_time_runs_what_was_postponed() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        await save(world, "w", {"a": {}})
        run = await start(engine, "w", start_at=NOON + 60 * SECOND)
        await commands.workflows.archive("w")
        await asyncio.sleep(30)
        await commands.workflows.reactivate("w")
        assert await world.ended(run.run, within=100) == "completed"


@virtual
async def test_a_run_in_flight_goes_on_even_on_another_node() -> None:
    async with rig() as world:
        engine = await world.engine()
        saved = await save(world, "w", {"nap": {"sleep": "60s"}, "a": {"needs": ["nap"]}})
        run = await start(engine, "w")
        await asyncio.sleep(1)
        await world.store.change_status(TENANT, saved.id, "archived")
        world.crash(engine)
        await world.engine()
        assert await world.ended(run.run, within=200) == "completed"


@virtual
async def test_a_message_does_not_cancel_a_postponed_run_before_its_time() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        await save(world, "w", {"wait": {"wait_for_webhook": {"timeout": "1h"}}})
        run = await start(engine, "w", start_at=NOON + 90 * SECOND)
        await commands.workflows.archive("w")
        await world.call_back(run.run, "wait", {"ok": 1})
        await asyncio.sleep(60)
        assert (await commands.runs.get(run_id(run))).status == "pending"
        await commands.workflows.reactivate("w")
        assert await world.ended(run.run, within=150) == "completed"
