"""Group commit: everything pending as one flush, fair between runs, and nobody waits for what is never written."""

from __future__ import annotations

import asyncio
import dataclasses
from random import Random
from typing import Any

import pytest

from detent.engine.committer import WriteQueue
from detent.errors import CommitUnknown, StartBlocked, StoreBusy, StoreError, Unavailable
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.ids import new_id
from detent.instant import SECOND
from detent.store.rows import Flush, NewVersion
from tests.callers import commands_of
from tests.engine.commands import start
from tests.engine.rig import TENANT, Fault, Line, Rig, done, rig, virtual


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


class Counted:
    """A write that counts how often it is looked at."""

    looked_at = 0

    def __init__(self, tenant: int, run: int, number: int, size: int = 1) -> None:
        self.name = (tenant, run, number)
        self.size = size

    @property
    def run(self) -> bytes:
        Counted.looked_at += 1
        return self.name[1].to_bytes(16, "big")

    def of_tenant(self) -> int:
        return self.name[0]

    def rows(self) -> int:
        return 1


def taken(queue: WriteQueue, rows: int, size: int = 1_000_000) -> list[tuple[int, int, int]]:
    writes: list[Any] = list(queue.take(rows, size))
    return [write.name for write in writes]


def queued(*writes: Any) -> WriteQueue:
    queue = WriteQueue()
    for write in writes:
        queue.add(write)
    return queue


def test_tenants_take_turns_and_so_do_the_runs_of_each() -> None:
    flood = [Counted(1, run, number) for number in range(3) for run in range(10)]
    queue = queued(*flood, Counted(2, 100, 0), Counted(2, 100, 1), Counted(3, 200, 0))
    assert taken(queue, 6) == [(1, 0, 0), (2, 100, 0), (3, 200, 0), (1, 1, 0), (2, 100, 1), (1, 2, 0)]
    assert taken(queue, 9) == [*((1, run, 0) for run in range(3, 10)), (1, 0, 1), (1, 1, 1)]


def test_one_large_run_does_not_delay_the_others_by_its_bytes() -> None:
    queue = queued(*(Counted(1, 1, number, 400) for number in range(10)), Counted(1, 2, 0))
    assert taken(queue, 2000, size=1000) == [(1, 1, 0), (1, 2, 0), (1, 1, 1), (1, 1, 2)]


def test_the_writes_of_one_run_keep_their_order_whatever_comes_between() -> None:
    chance = Random(7)
    queue, written, numbers = WriteQueue(), list[tuple[int, int, int]](), dict[int, int]()
    for _ in range(300):
        for _ in range(chance.randrange(12)):
            run = chance.randrange(20)
            numbers[run] = numbers.get(run, 0) + 1
            queue.add(Counted(run % 3, run, numbers[run]))  # type: ignore[arg-type]
        written += taken(queue, chance.choice((1, 5, 50)))
    writes: list[Any] = queue.take_all()
    written += [write.name for write in writes]
    assert len(queue) == 0
    for run, last in numbers.items():
        assert [number for _, one, number in written if one == run] == list(range(1, last + 1))


def test_what_a_flush_takes_out_of_the_queue_does_not_cost_what_stays_in_it() -> None:
    queue = queued(*(Counted(tenant, tenant * 1000 + run, 0) for tenant in range(4) for run in range(5_000)))
    Counted.looked_at = 0
    first = taken(queue, 100)
    placed = Counted.looked_at
    assert placed <= 2 * 20_000, "each is put into its place once"
    for _ in range(50):
        assert len(taken(queue, 100)) == len(first)
    assert Counted.looked_at == placed, "and not looked at again while it waits"


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
async def test_while_nothing_can_be_written_starts_are_refused_and_nothing_of_them_appears() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        gate = world.hands.hold("a")
        under_way = await world.start({"a": {}})
        await world.until(lambda: len(world.hands.calls) == 1)
        line = world.lines[engine]
        line.always["flush"] = "busy"
        gate.set()
        begun = world.clock.monotonic()
        starts = [asyncio.create_task(world.start({"a": {}})) for _ in range(3)]
        await asyncio.sleep(5)
        starts += [asyncio.create_task(world.start({"a": {}})) for _ in range(3)]
        for refused in await asyncio.gather(*starts, return_exceptions=True):
            assert isinstance(refused, Unavailable), refused
        assert world.clock.monotonic() - begun < 15
        assert engine.outage() == StoreBusy.outage
        with pytest.raises(Unavailable):
            await world.start({"a": {}})
        assert world.clock.monotonic() - begun < 15, "it is known by then, and need not be tried"
        line.always.clear()
        assert await world.ended(under_way) == "completed"
        assert engine.outage() is None
        later = await world.start({"a": {}})
        assert await world.ended(later) == "completed"
        found = await world.store.runs(TENANT, limit=100)
        assert {row.id for row in found} == {under_way, later}
        assert not engine.node.runner.owned


@virtual
@pytest.mark.parametrize("fault", ["lost", "hangs"])
async def test_a_start_whose_flush_is_of_unknown_fate_is_answered_so_in_time(fault: str) -> None:
    async with rig() as world:
        engine = await world.engine(lease=60.0)
        line = world.lines[engine]
        if fault == "lost":
            line.always["flush"] = "lost"
        else:
            line.hangs.add("flush")
        begun = world.clock.monotonic()
        with pytest.raises(CommitUnknown, match="unknown"):
            await world.start({"a": {}})
        assert world.clock.monotonic() - begun < 15
        assert engine.outage() is not None
        if fault == "lost":
            line.always.clear()
            await world.until(lambda: len(world.hands.calls) == 1)  # it was written in the end, as may be


@virtual
async def test_a_start_on_its_way_when_the_node_is_lost_is_of_unknown_fate() -> None:
    async with rig() as world:
        engine = await world.engine(lease=3.0)
        world.lines[engine].hangs.add("flush")
        world.lines[engine].always["beat"] = "busy"
        with pytest.raises(CommitUnknown, match="unknown"):
            await world.start({"a": {}})


@virtual
async def test_a_start_that_can_no_longer_be_written_is_told_so() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.lines[engine].is_cut = True
        begun = world.clock.monotonic()
        with pytest.raises((Unavailable, CommitUnknown)):
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
        assert [type(answer) for answer in answers] == [CommitUnknown, *[Unavailable] * 4]


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
        where = [facts["where"] for facts in world.told("engine.error")]
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
        await world.until(lambda: bool(world.told("engine.error")))
        world.lines[engine].refuses = lambda verb, arguments: False
        assert "ZeroDivisionError" in world.told("engine.error")[0]["error"]
        await world.until(lambda: engine.is_ready)
        assert engine.node.id != first
        world.hands.gates["a"].set()
        assert await world.ended(run) == "completed"


# -- somebody else's open transaction


def _hold(world: Rig, hero: str) -> Line:
    """Somebody's transaction has a start for that hero, and stays open."""
    [line] = world.lines.values()
    line.holds_up = lambda flush: any(one.hero_id == hero for one in flush.starts)
    return line


def _let_go(line: Line) -> None:
    line.holds_up = lambda flush: False


async def _one_per_hero(world: Rig) -> None:
    graph = compile_steps({"name": "w", "tasks": {"a": {"action": "core.echo"}}}).graph
    encoded = codec.encode(dataclasses.replace(graph, one_per_hero=True))
    version = NewVersion(TENANT, new_id(), "w", "steps", None, True, '{"code": []}', None, "", encoded, "c", 1)
    await world.store.save_workflow(version, replace=True)


@virtual
async def test_a_start_that_waits_for_another_transaction_holds_up_no_others_and_is_put_off() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        await _one_per_hero(world)
        commands = commands_of(engine)
        other = _hold(world, "held")
        begun = world.clock.monotonic()
        held_up = asyncio.ensure_future(start(engine, "w", commands=commands, hero=("User", "held")))
        free = [asyncio.ensure_future(start(engine, "w", commands=commands, hero=("User", str(n)))) for n in range(20)]
        plain = asyncio.ensure_future(world.start({"b": {}}))
        with pytest.raises(Unavailable, match="another open transaction starts the same run"):
            await held_up
        for one in free:
            assert await world.ended((await one).run) == "completed"
        assert await world.ended(await plain) == "completed"
        assert world.clock.monotonic() - begun < 2 + 1
        assert len(world.store.table) == 21
        assert not engine.node.runner.owned
        _let_go(other)
        run = await start(engine, "w", commands=commands, hero=("User", "held"))
        assert await world.ended(run.run) == "completed"


@virtual
async def test_the_next_start_of_the_same_hero_does_not_make_the_lane_wait_again() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        await _one_per_hero(world)
        other = _hold(world, "held")
        with pytest.raises(Unavailable):
            await start(engine, "w", hero=("User", "held"))
        assert other.waits[0] is None
        begun = world.clock.monotonic()
        again = [asyncio.ensure_future(start(engine, "w", hero=("User", "held"))) for _ in range(50)]
        run = await world.start({"b": {}})
        assert await world.ended(run) == "completed"
        answers = await asyncio.gather(*again, return_exceptions=True)
        assert {type(answer) for answer in answers} == {StartBlocked}
        assert world.clock.monotonic() - begun < 0.3, "all of one hero are answered together"
        assert None not in other.waits[1:]
        _let_go(other)
        assert (await start(engine, "w", hero=("User", "held"))).is_new


@pytest.mark.parametrize("fault", ["applied", "lost"])
@virtual
async def test_a_start_of_unknown_fate_that_is_then_held_up_is_made_once_or_not_at_all(fault: Fault) -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        await _one_per_hero(world)
        world.lines[engine].break_next("flush", fault)
        first = asyncio.ensure_future(start(engine, "w", hero=("User", "held")))
        await world.until(lambda: engine.node.committer.is_unsure)
        other = _hold(world, "held")
        with pytest.raises(CommitUnknown):
            await first
        _let_go(other)
        assert len(world.store.table) == (fault == "applied")
        for run in world.store.table:
            assert await world.ended(run) == "completed"


@virtual
async def test_a_lock_that_keeps_the_epoch_from_being_raised_is_no_rival_of_a_start() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        await _one_per_hero(world)
        world.lines[engine].break_next("flush", "lost")
        world.lines[engine].break_next("raise_epoch", "locked", "locked", "locked")
        run = await start(engine, "w", hero=("User", "7"))
        assert await world.ended(run.run) == "completed"
        assert not engine.node.committer.is_unsure


@virtual
async def test_a_doubt_ends_when_what_it_was_about_is_given_up_and_nothing_else_is_to_be_written() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        await _one_per_hero(world)

        def burst(verb: str, arguments: tuple[Any, ...]) -> bool:
            if verb == "flush":
                "\udcff".encode()
            return False

        world.lines[engine].refuses = burst
        world.lines[engine].break_next("raise_epoch", "busy", "lost")
        with pytest.raises(StoreError):
            await start(engine, "w", start_at=world.clock.wall() + 3600 * SECOND)
        world.lines[engine].refuses = lambda verb, arguments: False
        await world.until(lambda: not engine.node.committer.is_unsure)


@virtual
async def test_a_value_that_cannot_be_sent_hurts_its_own_run_only() -> None:
    async with rig() as world:
        engine = await world.engine(lease=10.0)
        first = engine.node.id

        def burst(verb: str, arguments: tuple[Any, ...]) -> bool:
            if verb == "flush":
                ("\udcff" if any(b"bad" in one.input for one in arguments[2].starts) else "").encode()
            return False

        world.lines[engine].delay = 0.05
        world.lines[engine].refuses = burst
        starts = [asyncio.ensure_future(world.start({"a": {}}, "bad" if n == 7 else n)) for n in range(20)]
        answers = await asyncio.gather(*starts, return_exceptions=True)
        assert [n for n, answer in enumerate(answers) if isinstance(answer, StoreError)] == [7]
        for answer in answers:
            if isinstance(answer, bytes):
                assert await world.ended(answer) == "completed"
        assert engine.node.id == first
        assert len(world.store.table) == 19
