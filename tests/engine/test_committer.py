"""Group commit: everything pending as one flush, fair between runs, and nobody waits for what is never written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.errors import StoreError, Unavailable
from detent.store.rows import Flush
from tests.engine.rig import Rig, done, rig, virtual


def _flushes(world: Rig) -> list[Flush]:
    """Keep every flush that is sent."""
    sent: list[Flush] = []

    def keep(verb: str, arguments: tuple[Any, ...]) -> bool:
        if verb == "flush":
            sent.append(arguments[2])
        return False

    for line in world.lines.values():
        line.refuses = keep
    return sent


@virtual
async def test_what_comes_while_a_flush_is_underway_goes_together_into_the_next() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        world.lines[engine].delay = 0.1
        sent = _flushes(world)
        await asyncio.gather(*(world.start({"a": {}}) for _ in range(50)))
        assert sum(len(flush.starts) for flush in sent) == 50
        assert len(sent) <= 3


@virtual
async def test_a_flush_has_no_more_rows_than_it_may() -> None:
    async with rig() as world:
        await world.engine(flush_rows=10)
        sent = _flushes(world)
        gate = world.hands.hold("a")
        runs = [await world.start({"a": {}}) for _ in range(35)]
        gate.set()
        for run in runs:
            assert await world.ended(run) == "completed"
        assert max(len(flush.entries) for flush in sent) == 10


@virtual
async def test_a_flush_has_no_more_bytes_than_it_may_by_one_row() -> None:
    async with rig() as world:
        await world.engine(flush_bytes=10_000)
        sent = _flushes(world)
        steps: dict[str, Any] = {f"s{number}": {} for number in range(20)}
        for step in steps:
            world.hands.scripts[step] = lambda call: done("x" * 4_000)
        run = await world.start(steps)
        assert await world.ended(run) == "completed"
        assert max(len(flush.entries) for flush in sent) == 3


@virtual
async def test_a_wide_run_does_not_hold_up_what_others_have_to_write() -> None:
    async with rig() as world:
        engine = await world.engine(flush_rows=10, lease=10.0)
        steps: dict[str, Any] = {f"s{number}": {} for number in range(200)}
        gate = world.hands.hold("gate")
        wide = await world.start({"gate": {}, **{step: {"needs": ["gate"]} for step in steps}})
        world.lines[engine].delay = 0.1
        gate.set()
        await world.until(lambda: len(world.hands.calls) > 100)
        begun = world.clock.monotonic()
        other = await world.start({"other": {}})
        assert await world.ended(other) == "completed"
        assert world.clock.monotonic() - begun < 0.6, "it did not wait for the twenty flushes of the wide run"
        assert (await world.row(wide)).status == "running"
        assert await world.ended(wide) == "completed"


@virtual
async def test_the_entries_of_a_run_are_written_in_order() -> None:
    async with rig() as world:
        await world.engine(flush_rows=3)
        sent = _flushes(world)
        gate = world.hands.hold("a")
        steps: dict[str, Any] = {"a": {}, **{f"s{number}": {"needs": ["a"]} for number in range(20)}}
        runs = [await world.start(steps) for _ in range(3)]
        gate.set()
        for run in runs:
            await world.ended(run)
        for run in runs:
            seqs = [entry.seq for flush in sent for entry in flush.entries if entry.run == run]
            assert seqs == list(range(1, 22))


@virtual
async def test_a_start_that_can_no_longer_be_written_is_told_so() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.lines[engine].is_cut = True
        begun = world.clock.monotonic()
        with pytest.raises(Unavailable):
            await world.start({"a": {}})
        assert world.clock.monotonic() - begun < 2
        world.lines[engine].is_cut = False
        await world.until(lambda: engine.is_ready)
        run = await world.start({"a": {}})
        assert await world.ended(run) == "completed"


@virtual
async def test_starts_that_wait_behind_a_lost_flush_are_told_too() -> None:
    async with rig() as world:
        engine = await world.engine(flush_rows=1)
        world.lines[engine].is_cut = True
        starts = [asyncio.ensure_future(world.start({"a": {}})) for _ in range(5)]
        answers = await asyncio.gather(*starts, return_exceptions=True)
        assert [type(answer) for answer in answers] == [Unavailable] * 5


# -- the engine around it


@virtual
async def test_an_engine_without_a_store_does_not_start() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.lines[engine].break_next("register", "error")
        with pytest.raises(StoreError):
            await engine.start()


@virtual
async def test_an_engine_that_lost_its_place_tries_until_the_store_takes_it_back() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.lines[engine].break_next("register", "error", "busy", "lost")
        world.lines[engine].break_next("retire", "error")
        await world.store.retire(engine.node.id)
        await world.until(lambda: bool(world.told("engine.lost")))
        await world.until(lambda: engine.is_ready)
        where = [facts["where"] for facts in world.told("engine.trouble")]
        assert where.count("register") == 3
        assert where.count("retire") == 1


@virtual
async def test_an_engine_that_loses_its_place_while_it_stops_does_not_begin_anew() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.hold("a")
        await world.start({"a": {}})
        stopping = asyncio.ensure_future(engine.stop())
        await asyncio.sleep(0.1)
        await world.store.retire(next(iter(world.store.nodes)))
        begun = world.clock.monotonic()
        await stopping
        world.engines.remove(engine)
        assert world.clock.monotonic() - begun < 1
        assert world.store.nodes == {}


@virtual
async def test_a_bug_in_a_background_loop_begins_a_new_node_and_loses_nothing() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}})
        first = engine.node.id

        def burst(verb: str, arguments: tuple[Any, ...]) -> bool:
            if verb == "owned":
                raise ZeroDivisionError
            return False

        world.lines[engine].refuses = burst
        await world.until(lambda: bool(world.told("engine.trouble")))
        world.lines[engine].refuses = lambda verb, arguments: False
        assert "ZeroDivisionError" in world.told("engine.trouble")[0]["error"]
        await world.until(lambda: engine.is_ready)
        assert engine.node.id != first
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"
