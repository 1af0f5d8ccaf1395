"""Starting: once for each request id, always the current version, now or later."""

from __future__ import annotations

import asyncio

import pytest

from detent.errors import InvalidInput, NotFound, NotStartable, RequestIdReused, RequestIdTaken
from detent.ids import WORKFLOW, show
from detent.instant import SECOND
from detent.store.rows import MessageKind, Receipt
from detent.views.runs import run_summary
from tests.callers import commands_of
from tests.engine.commands import run_id, save, start
from tests.engine.rig import NOON, TENANT, Rig, rig, virtual


def _runs(world: Rig) -> int:
    return len(world.store.table)


@virtual
async def test_the_same_request_id_starts_one_run_however_often_and_wherever_it_is_sent() -> None:
    async with rig() as world:
        engines = [await world.engine(), await world.engine()]
        await save(world, "w", {"a": {}})
        starts = await asyncio.gather(*(start(engines[n % 2], "w", {"n": 1}, request_id="r1") for n in range(50)))
        assert len({one.run for one in starts}) == 1
        assert [one.is_new for one in starts].count(True) == 1
        assert _runs(world) == 1


@virtual
async def test_a_request_id_with_another_body_or_another_workflow_is_refused() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        await save(world, "v", {"a": {}})
        await start(engine, "w", {"n": 1}, request_id="r1")
        with pytest.raises(RequestIdReused, match="another body"):
            await start(engine, "w", {"n": 2}, request_id="r1")
        with pytest.raises(RequestIdTaken, match="another workflow"):
            await start(engine, "v", {"n": 1}, request_id="r1")
        assert _runs(world) == 1


@virtual
async def test_a_known_request_is_answered_even_when_its_workflow_is_switched_off_or_gone() -> None:
    async with rig() as world:
        engine = await world.engine()
        saved = await save(world, "w", {"a": {}})
        first = await start(engine, "w", request_id="r1")
        await world.store.enable_workflow(TENANT, saved.id, enabled=False)
        assert (await start(engine, "w", request_id="r1")).run == first.run
        await world.store.delete_workflow(TENANT, saved.id)
        assert (await start(engine, "w", request_id="r1")).run == first.run


@virtual
async def test_a_refused_start_leaves_nothing_in_memory() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"nap": {"sleep": "5s"}})
        one = await start(engine, "w", request_id="r1")
        await start(engine, "w", request_id="r1")
        assert list(engine.node.runner.owned) == [one.run]


@virtual
async def test_a_start_takes_the_version_that_another_process_just_saved() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        await save(world, "w", {"a": {}})
        await start(engine, "w", commands=commands)
        await save(world, "w", {"a": {}, "b": {}})
        run = await start(engine, "w", commands=commands)
        assert (await world.row(run.run)).version == 2
        await world.ended(run.run)
        assert sorted(step or "" for _, step in world.kinds(run.run)) == ["a", "b"]


@virtual
async def test_a_workflow_that_another_process_switched_off_or_deleted_is_not_started() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        saved = await save(world, "w", {"a": {}})
        await start(engine, "w", commands=commands)
        await world.store.enable_workflow(TENANT, saved.id, enabled=False)
        with pytest.raises(NotStartable, match="Workflow is disabled: w"):
            await start(engine, "w", commands=commands)
        await world.store.enable_workflow(TENANT, saved.id, enabled=True)
        await start(engine, "w", commands=commands)
        await world.store.delete_workflow(TENANT, saved.id)
        with pytest.raises(NotFound):
            await start(engine, "w", commands=commands)


@virtual
async def test_a_body_that_does_not_fit_the_schema_starts_nothing() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}}, trigger_schema={"type": "object", "required": ["order_id"]})
        with pytest.raises(InvalidInput) as refused:
            await start(engine, "w", {"order": 1})
        assert [problem.field for problem in refused.value.problems] == ["body.order_id"]
        assert _runs(world) == 0
        await start(engine, "w", {"order_id": 1})


@virtual
async def test_a_delayed_start_is_pending_until_its_time_and_survives_every_node() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        run = await start(engine, "w", start_at=NOON + 60 * SECOND)
        assert run.status == "pending"
        world.crash(engine)
        await asyncio.sleep(30)
        await world.engine()
        document = await commands_of(world.engines[0]).runs.get(run_id(run))
        assert (document.status, document.started_at) == ("pending", None)
        assert document.start_at is not None
        await world.until(lambda: bool(world.hands.calls), within=100)
        assert 60.0 <= world.clock.monotonic() <= 60.5
        assert await world.ended(run.run) == "completed"
        assert world.kinds(run.run) == [("opened", None), ("ended", "a")]


@virtual
async def test_a_pending_run_can_be_cancelled_and_keeps_a_callback_that_comes_early() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"wait": {"wait_for_webhook": {"timeout": "1h"}}})
        gone, kept = [await start(engine, "w", start_at=NOON + 20 * SECOND) for _ in range(2)]
        assert await world.send(gone.run, MessageKind.CANCEL)
        assert await world.ended(gone.run) == "cancelled"
        assert await world.call_back(kept.run, "wait", {"ok": 1}) is Receipt.EARLY
        assert await world.ended(kept.run) == "completed"
        assert world.clock.monotonic() >= 20


@virtual
async def test_a_start_in_the_past_is_a_start_now() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        run = await start(engine, "w", start_at=NOON - 60 * SECOND)
        assert run.status == "running"
        assert await world.ended(run.run) == "completed"


@virtual
async def test_a_schema_that_another_process_changed_counts_at_once() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        strict = {"type": "object", "required": ["new"]}
        saved = await save(world, "w", {"a": {}}, trigger_schema={"type": "object", "required": ["old"]})
        for key in ("w", show(WORKFLOW, saved.id)):
            await start(engine, key, {"old": 1}, commands=commands)
        await save(world, "w", {"a": {}, "b": {}}, trigger_schema=strict)
        for key in ("w", show(WORKFLOW, saved.id)):
            run = await start(engine, key, {"new": 1}, commands=commands)
            assert (await world.row(run.run)).version == 2
            with pytest.raises(InvalidInput):
                await start(engine, key, {"old": 1}, commands=commands)


@virtual
async def test_a_known_request_is_answered_though_its_body_would_not_fit_any_more() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        first = await start(engine, "w", {"n": 1}, request_id="r1")
        await save(world, "w", {"a": {}}, trigger_schema={"type": "object", "required": ["m"]})
        assert (await start(engine, "w", {"n": 1}, request_id="r1")).run == first.run


@virtual
async def test_a_known_request_of_a_workflow_that_was_made_again_is_told_so_by_every_node() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        old = await save(world, "w", {"a": {}})
        await start(engine, "w", commands=commands)
        await world.store.delete_workflow(TENANT, old.id)
        await save(world, "w", {"a": {}})
        fresh = await start(await world.engine(), "w", {"n": 1}, request_id="r1")
        assert (await start(engine, "w", {"n": 1}, commands=commands, request_id="r1")).run == fresh.run


@virtual
async def test_a_delayed_run_reads_running_as_soon_as_it_works_and_never_began_if_it_was_cancelled_before() -> None:
    async with rig() as world:
        engine = await world.engine()
        commands = commands_of(engine)
        await save(world, "w", {"a": {}})
        gate = world.hands.hold("a")
        run = await start(engine, "w", start_at=NOON + 5 * SECOND, request_id="r1")
        gone = await start(engine, "w", start_at=NOON + 500 * SECOND)
        await world.until(lambda: bool(world.hands.calls))
        assert run_summary(await world.row(run.run), 0).status == "running"
        assert (await start(engine, "w", start_at=NOON + 5 * SECOND, request_id="r1")).status == "running"
        await world.send(gone.run, MessageKind.CANCEL)
        assert await world.ended(gone.run) == "cancelled"
        document = await commands.runs.get(run_id(gone))
        assert (document.started_at, run_summary(await world.row(gone.run), 0).started_at) == (None, None)
        gate.set()
        assert await world.ended(run.run) == "completed"
