"""Retry, rerun, fork, resolve, bulk and why: what people do with runs that went wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.commands.bulk import BulkAction
from detent.documents.answers import as_json
from detent.engine.background import Presence
from detent.errors import Conflict, TooLarge
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.instant import SECOND
from detent.run.outcomes import Cancel, Move
from detent.store.rows import RunCriteria
from tests.callers import commands_of
from tests.engine.commands import run_id, save, start
from tests.engine.rig import NOON, Rig, done, failed, rig, virtual

CHAIN: dict[str, Any] = {"a": {}, "b": {"needs": ["a"], "retries": 0}, "c": {"needs": ["b"]}}


async def _failed_run(world: Rig, **options: Any) -> Any:
    world.hands.scripts["b"] = lambda call: failed(retry=False)
    run = await start(world.engines[0], "w", {"order": 1}, **options)
    assert await world.ended(run.run) == "failed"
    world.hands.scripts.pop("b")
    return run


@virtual
async def test_a_retry_is_a_new_run_that_keeps_what_succeeded() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", CHAIN)
        first = await _failed_run(world)
        again = await commands_of(engine, "ann").reruns.retry(run_id(first))
        assert await world.ended(again.run) == "completed"
        assert [call.step for call in world.hands.calls] == ["a", "b", "b", "c"]
        assert world.kinds(again.run) == [("reused", "a"), ("opened", None), ("ended", "b"), ("ended", "c")]
        assert (await world.row(first.run)).status == "failed"
        document = as_json(await commands_of(engine, "ann").runs.get(run_id(again)))
        assert document["origin"] == {"run_id": run_id(first), "kind": "retry"}
        assert document["tasks"]["a"]["status"] == "success"
        assert document["input"]["body"] == {"order": 1}


@virtual
async def test_a_retry_with_a_request_id_is_made_once() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", CHAIN)
        first = await _failed_run(world)
        again = [await commands_of(engine, "ann").reruns.retry(run_id(first), request_id="once") for _ in range(3)]
        assert len({one.run for one in again}) == 1


@virtual
async def test_only_a_run_that_ended_badly_is_retried() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"nap": {"sleep": "20s"}})
        run = await start(engine, "w")
        with pytest.raises(Conflict, match="Cannot retry a running workflow"):
            await commands_of(engine, "ann").reruns.retry(run_id(run))
        await world.ended(run.run)
        with pytest.raises(Conflict, match="Cannot retry a finished workflow"):
            await commands_of(engine, "ann").reruns.retry(run_id(run))


@virtual
async def test_a_rerun_takes_the_current_version_and_another_body() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", CHAIN)
        first = await _failed_run(world)
        await save(world, "w", {"z": {}})
        again = await commands_of(engine, "ann").reruns.rerun(run_id(first), body={"order": 2})
        assert await world.ended(again.run) == "completed"
        row = await world.row(again.run)
        assert (row.version, row.origin, row.origin_kind) == (2, first.run, "rerun")
        assert as_json(await commands_of(engine, "ann").runs.get(run_id(again)))["input"]["body"] == {"order": 2}


@virtual
async def test_a_fork_goes_on_from_an_edited_output() -> None:
    async with rig() as world:
        engine = await world.engine()
        steps = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"], "if": "tasks.b.output == 'yes'"}, "d": {}}
        await save(world, "w", steps)
        world.hands.scripts["b"] = lambda call: done("no")
        first = await start(engine, "w")
        await world.ended(first.run)
        fork = await commands_of(engine, "ann").reruns.fork(run_id(first), "b", output="yes")
        assert await world.ended(fork.run) == "completed"
        assert [call.step for call in world.hands.calls if call.run_id == fork.run] == ["c"]
        tasks = as_json(await commands_of(engine, "ann").runs.get(run_id(fork)))["tasks"]
        assert (tasks["b"]["output"], tasks["c"]["status"]) == ("yes", "success")


@virtual
async def test_a_person_says_whether_an_uncertain_step_happened() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"pay": {"on_crash": "ask"}, "next": {"needs": ["pay"]}})
        world.hands.hold("pay")
        run = await start(engine, "w")
        await world.until(lambda: bool(world.hands.calls))
        world.crash(engine)
        other = await world.engine()
        await world.until(lambda: world.store.table[run.run].status == "paused")
        commands = commands_of(other, "ann")
        _, _, reasons = await commands.runs.why(run_id(run))
        assert any(reason.kind == "uncertain" and reason.step == "pay" for reason in reasons)
        document = as_json(await commands.control.resolve(run_id(run), "pay", happened=True, output={"id": 7}))
        assert document["tasks"]["pay"]["output"] == {"id": 7}
        assert await world.ended(run.run) == "completed"
        assert len(world.hands.attempts("pay")) == 1
        with pytest.raises(Conflict, match="not uncertain"):
            await commands.control.resolve(run_id(run), "pay", happened=True, output=None)


@virtual
async def test_a_bulk_retry_is_counted_first_and_takes_each_run_once() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", CHAIN)
        for _ in range(5):
            await _failed_run(world)
        commands = commands_of(engine, "ann")
        dry = await commands.bulk.apply(BulkAction.RETRY, RunCriteria(), limit=100, dry_run=True)
        assert (dry.matched, dry.done, len(world.store.table)) == (5, [], 5)
        result = await commands.bulk.apply(BulkAction.RETRY, RunCriteria(), limit=3, dry_run=False)
        assert (len(result.done), result.more) == (3, True)
        result = await commands.bulk.apply(BulkAction.RETRY, RunCriteria(), limit=100, dry_run=False)
        assert (len(result.done), len(result.refused), result.more) == (2, 3, False)
        assert "already" in result.refused[0][1]
        assert len(world.store.table) == 10


@virtual
async def test_a_bulk_cancel_ends_the_open_runs_only() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"nap": {"sleep": "1h"}})
        await save(world, "v", {"a": {}})
        runs = [await start(engine, "w") for _ in range(4)]
        over = await start(engine, "v")
        await world.ended(over.run)
        result = await commands_of(engine, "ann").bulk.apply(BulkAction.CANCEL, RunCriteria(), limit=100, dry_run=False)
        assert len(result.done) == 4
        for run in runs:
            assert await world.ended(run.run) == "cancelled"


@virtual
async def test_many_runs_are_moved_and_cancelled_by_one_insert_and_a_locked_run_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"nap": {"sleep": "1h"}})
        runs = [await start(engine, "w") for _ in range(5)]
        await world.until(lambda: all(row.owner is None for row in world.store.table.values()))
        await save(world, "w", {"nap": {"sleep": "1h"}, "more": {"needs": ["nap"]}})
        locked, sent = runs[2].run, list[tuple[str, int]]()
        send, send_many = world.store.send, world.store.send_many

        async def one(*given: Any) -> bool:
            sent.append(("one", 1))
            return await send(*given)

        async def many(tenant: int, among: Any, *given: Any) -> set[bytes]:
            sent.append(("many", len(among)))
            return await send_many(tenant, [run for run in among if run != locked], *given)

        commands = commands_of(engine, "ann")
        monkeypatch.setattr(world.store, "send", one)
        monkeypatch.setattr(world.store, "send_many", many)
        target = await commands.moves.target("w", None, {})
        survey = await commands.moves.survey(RunCriteria(), target, limit=100, dry_run=False)
        assert (survey.sent, sent) == (5, [("many", 5), ("one", 1)])
        await world.until(lambda: all(row.new.version == 2 for row in world.store.table.values()))
        result = await commands.bulk.apply(BulkAction.CANCEL, RunCriteria(), limit=4, dry_run=False)
        assert (len(result.done), result.more, sent[2:]) == (4, True, [("many", 4), ("one", 1)])


@virtual
async def test_why_names_what_a_run_waits_for_and_until_when() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"ask": {"wait_for_webhook": {"timeout": "1h"}}, "then": {"needs": ["ask"]}})
        run = await start(engine, "w")
        await asyncio.sleep(1)
        _, status, reasons = await commands_of(engine, "ann").runs.why(run_id(run))
        assert status == "running"
        assert (reasons[0].kind, reasons[0].step) == ("callback", "ask")
        assert reasons[0].until is not None
        assert any(reason.kind == "needs" and reason.step == "then" for reason in reasons)


@virtual
async def test_why_tells_that_nobody_serves_the_queue_and_when_somebody_did() -> None:
    async with rig() as world:
        engine = await world.engine(queues=("default",))
        await Presence(world.store, queues=("gpu",), actions=()).poll()
        await save(world, "w", {"a": {}}, queue="gpu")
        run = await start(engine, "w", start_at=NOON + 2 * SECOND)
        await asyncio.sleep(10)
        _, _, reasons = await commands_of(engine, "ann").runs.why(run_id(run))
        assert reasons[0].kind == "queue"
        assert "gpu" in reasons[0].message
        assert "last seen" in reasons[0].message


@virtual
async def test_why_tells_that_no_node_is_at_work() -> None:
    async with rig() as world:
        engine = await world.engine(claims=False)
        await save(world, "w", {"a": {}})
        run = await start(engine, "w")
        _, _, reasons = await commands_of(engine, "ann").runs.why(run_id(run))
        assert reasons[0].kind == "no_node", "a node that only starts runs does not work on them"
        await engine.stop()
        world.engines.remove(engine)
        _, _, reasons = await commands_of(engine, "ann").runs.why(run_id(run))
        assert reasons[0].kind == "no_node"


@virtual
async def test_a_bulk_retry_of_a_few_at_a_time_reaches_them_all() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", CHAIN)
        for _ in range(5):
            await _failed_run(world)
        commands = commands_of(engine, "ann")
        told = [await commands.bulk.apply(BulkAction.RETRY, RunCriteria(), limit=2, dry_run=False) for _ in range(3)]
        assert [(len(one.done), one.more) for one in told] == [(2, True), (2, True), (1, False)]
        for fork in (True, False):
            assert (await commands.bulk.apply(BulkAction.RETRY, RunCriteria(), limit=9, dry_run=fork)).more is False


@virtual
async def test_a_retry_that_would_take_over_too_much_is_refused() -> None:
    async with rig() as world:
        engine = await world.engine()
        wide: dict[str, Any] = {f"p{n}": {} for n in range(45)}
        await save(world, "w", {**wide, "b": {"needs": list(wide), "retries": 0}})
        for name in wide:
            world.hands.scripts[name] = lambda call: done("x" * 200_000)
        first = await _failed_run(world)
        with pytest.raises(TooLarge, match="run the whole workflow again"):
            await commands_of(engine, "ann").reruns.retry(run_id(first))


async def _moved_and_cancelled(world: Rig) -> tuple[Any, bytes]:
    """A run of a, b that was moved to a, b, c, d and cancelled at d; and the graph of that."""
    await save(world, "w", {"a": {}, "b": {"needs": ["a"]}})
    steps: dict[str, Any] = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}, "d": {"needs": ["c"]}}
    whole = {name: {"action": "core.echo", **step} for name, step in steps.items()}
    graph = codec.encode(compile_steps({"name": "w", "tasks": whole}).graph)
    outcomes = iter((Move(graph), done()))
    world.hands.scripts["b"] = lambda call: next(outcomes)
    world.hands.scripts["d"] = lambda call: Cancel("enough")
    run = await start(world.engines[0], "w")
    assert await world.ended(run.run) == "cancelled"
    world.hands.scripts.clear()
    world.hands.calls.clear()
    return run, graph


@virtual
async def test_a_moved_run_is_retried_with_the_version_it_was_moved_to_if_that_was_saved() -> None:
    async with rig() as world:
        engine = await world.engine()
        first, _ = await _moved_and_cancelled(world)
        await save(world, "w", {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}, "d": {"needs": ["c"]}})
        again = await commands_of(engine, "ann").reruns.retry(run_id(first))
        assert await world.ended(again.run) == "completed"
        assert [call.step for call in world.hands.calls] == ["d"]
        assert (await commands_of(engine, "ann").runs.get(run_id(again))).version == 2


@virtual
async def test_a_moved_run_is_retried_with_its_own_version_where_the_other_is_not_known() -> None:
    async with rig() as world:
        engine = await world.engine()
        first, _ = await _moved_and_cancelled(world)
        assert (await commands_of(engine, "ann").runs.get(run_id(first))).steps.keys() == {"a", "b", "c", "d"}
        again = await commands_of(engine, "ann").reruns.retry(run_id(first))
        assert await world.ended(again.run) == "completed"
        assert world.hands.calls == []
        assert world.kinds(again.run) == [("reused", "a"), ("reused", "b"), ("opened", None)]
        forked = await commands_of(engine, "ann").reruns.fork(run_id(first), "b")
        assert await world.ended(forked.run) == "completed"
        assert [call.step for call in world.hands.calls] == ["b"]
        with pytest.raises(Conflict, match="'c' is not in the version"):
            await commands_of(engine, "ann").reruns.fork(run_id(first), "c")


NO_CODE = "No node of its queue 'default' has the code it needs: the workflow 'Signup' with exactly the code abc; "


@virtual
async def test_why_names_the_code_that_no_node_has_also_when_the_node_of_the_run_is_gone() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        world.hands.hold("a")
        run = await start(engine, "w")
        await world.until(lambda: bool(world.hands.calls))
        stored = world.store.table[run.run]
        stored.new = stored.new._replace(code='["workflow:Signup@abc"]')
        world.crash(engine)
        other = await world.engine()
        await asyncio.sleep(30)
        _, _, reasons = await commands_of(other, "ann").runs.why(run_id(run))
        assert reasons[0].kind == "code"
        assert reasons[0].message.startswith(NO_CODE)
        assert not [reason for reason in reasons if reason.kind == "node_lost"]


@virtual
async def test_why_names_the_code_that_no_node_has_when_a_sleep_is_over() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"nap": {"sleep": "60s"}})
        run = await start(engine, "w")
        stored = world.store.table[run.run]
        await world.until(lambda: stored.owner is None, 2)
        stored.new = stored.new._replace(code='["workflow:Signup@abc"]')
        _, _, early = await commands_of(engine, "ann").runs.why(run_id(run))
        assert [reason.kind for reason in early] == ["sleep"]
        await asyncio.sleep(90)
        _, _, reasons = await commands_of(engine, "ann").runs.why(run_id(run))
        assert reasons[0].message.startswith(NO_CODE)


@virtual
async def test_why_of_a_cancelled_run_tells_who_or_what_cancelled_it() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        world.hands.scripts["a"] = lambda call: Cancel("nobody wants it")
        run = await start(engine, "w")
        assert await world.ended(run.run) == "cancelled"
        _, _, (reason,) = await commands_of(engine, "ann").runs.why(run_id(run))
        assert reason.message.endswith(" Step 'a' cancelled it: nobody wants it.")
        world.hands.scripts.pop("a")
        world.hands.hold("a")
        other = await start(engine, "w")
        await commands_of(engine, "ann").control.cancel(run_id(other))
        assert await world.ended(other.run) == "cancelled"
        _, _, (reason,) = await commands_of(engine, "ann").runs.why(run_id(other))
        assert reason.message.endswith(" It was cancelled by ann.")
