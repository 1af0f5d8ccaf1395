"""A store that is busy, refuses, or loses its answer; and runs that cannot be read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.engine.engine import Engine
from detent.errors import StoreError
from detent.ids import RUN, show
from detent.run.journal import Entry, Kind
from detent.run.outcomes import Done
from detent.store.rows import Flush, MessageKind, Receipt
from tests.callers import commands_of
from tests.engine.rig import Fault, Line, Rig, done, rig, virtual

CHAIN: dict[str, Any] = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}}
ENTRIES = [("ended", "a"), ("ended", "b"), ("ended", "c")]


async def _with(world: Rig, **tuning: Any) -> tuple[Engine, Line]:
    engine = await world.engine(**tuning)
    return engine, world.lines[engine]


@pytest.mark.case("B2", "B3", "B4")
@virtual
@pytest.mark.parametrize("fault", ["busy", "lost", "applied"])
@pytest.mark.parametrize("skip", [0, 1, 2, 3])
async def test_a_flush_in_trouble_is_written_once(fault: Fault, skip: int) -> None:
    async with rig() as world:
        _, line = await _with(world)
        gate = world.hands.hold("a")
        if skip == 0:
            line.break_next("flush", fault, fault)
        run = await world.start(CHAIN)
        if skip:
            line.break_next("flush", *([fault] * skip))
        gate.set()
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == ENTRIES
        assert [call.step for call in world.hands.calls] == ["a", "b", "c"]


@virtual
@pytest.mark.parametrize("fault", ["lost", "applied"])
async def test_a_flush_of_unknown_fate_is_sent_again_under_a_new_epoch(fault: Fault) -> None:
    async with rig() as world:
        engine, line = await _with(world)
        epoch = engine.node.committer.epoch
        line.break_next("flush", fault)
        run = await world.start(CHAIN)
        assert engine.node.committer.epoch == epoch + 1
        assert len(world.told("flush.repeated")) == 1
        assert await world.ended(run) == "completed"


@virtual
async def test_a_new_epoch_of_unknown_fate_is_raised_again() -> None:
    async with rig() as world:
        _, line = await _with(world)
        line.break_next("flush", "applied")
        line.break_next("raise_epoch", "lost", "busy", "applied")
        run = await world.start(CHAIN)
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == ENTRIES


@virtual
async def test_a_flush_that_was_applied_and_then_refused_fails_nobody() -> None:
    async with rig() as world:
        _, line = await _with(world)
        gate = world.hands.hold("a")
        runs = [await world.start(CHAIN) for _ in range(4)]
        line.break_next("flush", "applied", "error")
        gate.set()
        for run in runs:
            assert await world.ended(run) == "completed"
            assert world.kinds(run) == ENTRIES


@virtual
async def test_a_run_that_cannot_be_written_fails_alone() -> None:
    async with rig() as world:
        _, line = await _with(world)
        gate = world.hands.hold("a")
        runs = [await world.start(CHAIN) for _ in range(7)]
        bad = runs[3]

        def refuses(verb: str, arguments: tuple[Any, ...]) -> bool:
            return verb == "flush" and any(entry.run == bad for entry in _flush(arguments).entries)

        line.refuses = refuses
        gate.set()
        for run in runs:
            assert await world.ended(run, 5) == ("failed" if run == bad else "completed")
        assert (await world.row(bad)).error == "internal error: flush was refused"
        assert world.told("run.refused")[0]["run"] == bad
        _, status, (reason,) = await commands_of(world.engines[0]).runs.why(show(RUN, bad))
        assert (status, reason.kind) == ("failed", "ended")
        assert "it ended failed at " in reason.message
        assert reason.message.endswith(" internal error: flush was refused.")


def _flush(arguments: tuple[Any, ...]) -> Flush:
    flush = arguments[2]
    assert isinstance(flush, Flush)
    return flush


@virtual
async def test_a_run_whose_end_cannot_be_written_fails() -> None:
    async with rig() as world:
        _, line = await _with(world)
        world.hands.scripts["a"] = lambda call: done("bad")
        line.refuses = lambda verb, arguments: (
            verb == "flush" and any(end.output == b'"bad"' for end in _flush(arguments).ends)
        )
        run = await world.start({"a": {}})
        assert await world.ended(run, 5) == "failed"
        assert len(world.hands.calls) == 1, "the step is not done again and again"


@virtual
async def test_a_start_that_cannot_be_written_is_told_to_its_sender_alone() -> None:
    async with rig() as world:
        _, line = await _with(world)
        line.refuses = lambda verb, arguments: (
            verb == "flush" and any(b"bad" in start.input for start in _flush(arguments).starts)
        )
        starts = [world.start(CHAIN, body) for body in ("good", "bad", "good")]
        good, bad, other = await asyncio.gather(*starts, return_exceptions=True)
        assert isinstance(bad, StoreError)
        assert isinstance(good, bytes)
        assert isinstance(other, bytes)
        assert len(world.store.table) == 2
        assert await world.ended(good) == await world.ended(other) == "completed"


@virtual
@pytest.mark.parametrize("verb", ["claim", "mail", "journals", "graphs", "owned", "overdue", "beat"])
async def test_trouble_in_a_background_chore_is_told_and_tried_again(verb: str) -> None:
    async with rig() as world:
        _, line = await _with(world)
        run = await world.start(
            {"nap": {"sleep": "15s"}, "w": {"wait_for_webhook": True}, "b": {"needs": ["nap", "w"]}}
        )
        line.break_next(verb, "busy", "error", "lost")
        await world.call_back(run, "w")
        assert await world.ended(run, 40) == "completed"


@virtual
async def test_a_claim_whose_answer_was_lost_is_given_back() -> None:
    async with rig() as world:
        _, line = await _with(world)
        run = await world.start({"nap": {"sleep": "15s"}})
        lost: list[Fault] = ["applied"] * 400
        line.break_next("claim", *lost)
        await asyncio.sleep(16)
        line.faults.clear()
        assert await world.ended(run, 5) == "completed"
        assert world.kinds(run) == [("adopted", None), ("ended", "nap")], "it may have been an adoption that was lost"


# -- runs that cannot be read


WAITS: dict[str, Any] = {
    "a": {},
    "w": {"needs": ["a"], "wait_for_webhook": {"timeout": "1h"}},
    "b": {"needs": ["w"]},
}


async def _broken(world: Rig, engine: Engine) -> tuple[bytes, Entry]:
    """A parked run whose first entry cannot be read, and that entry as it was."""
    run = await world.start(WAITS, engine=engine)
    await world.until(lambda: world.store.table[run].owner is None)
    entry = world.store.entries[run][1]
    world.store.entries[run][1] = entry._replace(data=b"{")
    return run, entry


@pytest.mark.case("A17")
@virtual
async def test_a_run_that_cannot_be_read_is_paused_with_the_reason_and_holds_up_nobody() -> None:
    async with rig() as world:
        engine = await world.engine()
        run, _ = await _broken(world, engine)
        assert await world.call_back(run, "w") is Receipt.ACCEPTED
        await world.until(lambda: world.store.table[run].status == "paused")
        other = await world.start(CHAIN)
        assert await world.ended(other, 1) == "completed"
        assert len(world.told("run.quarantined")) >= 1
        assert world.told("engine.lost") == []


@virtual
async def test_a_run_that_cannot_be_read_is_not_tried_in_a_circle() -> None:
    async with rig() as world:
        engine = await world.engine()
        run, _ = await _broken(world, engine)
        await world.call_back(run, "w")
        await asyncio.sleep(60)
        assert len(world.store.entries[run]) < 4
        assert len(world.told("run.quarantined")) < 70
        assert len(world.store.inbox) == 1, "the payload is kept"


@virtual
async def test_a_run_that_can_be_read_again_goes_on_when_it_is_resumed() -> None:
    async with rig() as world:
        engine = await world.engine()
        run, entry = await _broken(world, engine)
        await world.call_back(run, "w", {"paid": True})
        await world.until(lambda: world.store.table[run].status == "paused")
        await asyncio.sleep(5)
        world.store.entries[run][1] = entry
        await asyncio.sleep(5)
        assert world.hands.attempts("b") == []
        await world.send(run, MessageKind.RESUME)
        assert await world.ended(run, 5) == "completed"
        assert world.kinds(run)[-2:] == [("resumed", None), ("ended", "b")]
        assert ("ended", "w") in world.kinds(run)


@virtual
async def test_a_run_that_cannot_be_read_can_be_cancelled() -> None:
    async with rig() as world:
        engine = await world.engine()
        run, _ = await _broken(world, engine)
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 5) == "cancelled"


@virtual
async def test_a_run_of_a_newer_release_is_left_to_a_node_that_can_read_it() -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start({"nap": {"sleep": "15s"}}, engine=engine)
        entry = (await _entry(world, engine))._replace(run=run, seq=1, kind="signalled", step=None)
        world.store.entries[run] = {1: entry}
        await asyncio.sleep(20)
        row = await world.row(run)
        assert (row.status, row.owner) == ("running", None)
        assert len(world.store.entries[run]) == 1
        world.store.entries[run] = {}
        assert await world.ended(run, 70) == "completed"


async def _entry(world: Rig, engine: Engine) -> Entry:
    run = await world.start({"a": {}}, engine=engine)
    await world.ended(run)
    return world.store.entries[run][1]


@virtual
async def test_runs_of_a_graph_that_cannot_be_read_are_left_to_nodes_that_can_read_it() -> None:
    async with rig() as world:
        engine = await world.engine()
        run, other = [await world.start({"nap": {"sleep": length}}, engine=engine) for length in ("15s", "16s")]
        saved = world.store.saved[(await world.row(run)).workflow]
        first, at = saved.versions[1]
        saved.versions[1] = (first._replace(graph=b'{"v":1,"steps":[],"of_the_future":1}'), at)
        world.crash(engine)
        await world.engine()
        assert await world.ended(other, 20) == "completed"
        assert world.store.table[run].status == "running"
        saved.versions[1] = (first, at)  # as if its node were replaced by one that can read it
        assert await world.ended(run, 120) == "completed"
        assert world.told("engine.lost") == []
        assert not [facts for facts in world.told("engine.error") if facts["where"] == "node"]


@virtual
async def test_a_result_that_breaks_the_planner_pauses_only_its_run() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = lambda call: Done(b"no json")
        run = await world.start({"a": {}})
        other = await world.start({"c": {}})
        assert await world.ended(other, 1) == "completed"
        await world.until(lambda: world.store.table[run].status == "paused", 5)
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 5) == "cancelled"


@virtual
async def test_a_payload_that_breaks_the_planner_is_kept_and_not_tried_in_a_circle() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"w": {"wait_for_webhook": True}})
        await world.store.deliver(run, "w", data=b'["no object"]', message_id=None)
        await world.until(lambda: world.store.table[run].status == "paused", 5)
        await asyncio.sleep(60)
        assert world.kinds(run) == [("paused", None)]
        assert len(world.store.inbox) == 1
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 5) == "cancelled"


@virtual
async def test_a_message_that_cannot_be_read_hurts_nobody() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}})
        await world.store.send(1, run, MessageKind.PAUSE, b"no json")
        await world.store.send(1, run, "later", b"{}")  # type: ignore[arg-type]
        await world.until(lambda: not world.store.inbox, 5)
        assert [kind for kind, _ in world.kinds(run)] == [Kind.PAUSED]
        assert world.told("engine.error") == []
