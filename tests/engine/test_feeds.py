"""Following runs live: every entry once and in order, from the store alone, at a bounded cost."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import pytest

from detent.documents.answers import as_json
from detent.ids import new_id
from detent.observe import heard
from detent.run.journal import Decided, Entry, EntryData, Kind, encode_data
from detent.run.outcomes import StepError
from detent.run.status import TERMINAL
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.views.entries import entry_document, entry_json
from detent.views.feeds import PAGE_BYTES, PAGE_ENTRIES, Feed, Feeds, JournalPages
from tests.engine.rig import Line, VirtualClock, rig, virtual
from tests.store.make import NOON, Node, end, entry

BIG = b'{"result":{"output":"' + b"x" * 100_000 + b'"}}'


@dataclass
class World:
    """A store with one node that writes, and the feeds that read it over a line of their own."""

    store: MemoryStore
    line: Line
    feeds: Feeds
    node: Node
    clock: VirtualClock

    async def write(self, run: bytes, *seqs: int, data: bytes = b'{"result":1}') -> None:
        assert await self.node.flush(entries=[entry(run, seq, data=data) for seq in seqs])

    async def end(self, run: bytes) -> None:
        assert await self.node.flush(ends=[end(run)])

    async def seqs(self, run: bytes, *, after: int = 0) -> list[int]:
        return [found.seq async for found in self.feeds.follow(1, run, after=after)]

    def asked(self, verb: str) -> int:
        return self.line.sent.count(verb)


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """In the end nothing is left behind: neither a piece of work nor a listener."""
    clock = VirtualClock()
    store = MemoryStore(clock)
    line = Line(store, clock)
    node = await Node.register(store, ttl=1e6)
    before = asyncio.all_tasks()
    yield World(store, line, Feeds(cast(Store, line), clock), node, clock)
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    assert not heard()


def begun(work: Any) -> asyncio.Task[Any]:
    return asyncio.get_running_loop().create_task(work)


@virtual
async def test_a_follower_of_an_engine_gets_every_entry_at_once_and_then_the_end() -> None:
    async with rig() as scene:
        engine = await scene.engine()
        gate, last = scene.hands.hold("b"), scene.hands.hold("c")
        run = await scene.start({"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}})
        feeds = Feeds(scene.store, scene.clock)
        seen: list[str | None] = []

        async def follow() -> None:
            async for found in feeds.follow(1, run):
                assert found.run == run
                seen.append(found.step)

        following = begun(follow())
        await asyncio.sleep(10.0)
        assert seen == ["a"]
        gate.set()
        await asyncio.sleep(0.1)  # not a poll later: this process wrote it itself
        assert seen == ["a", "b"]
        await asyncio.sleep(10.0)
        last.set()
        opened = scene.clock.monotonic()
        await following
        assert seen == ["a", "b", "c"]
        assert scene.clock.monotonic() - opened < 0.1
        assert scene.store.table[run].status in TERMINAL
        assert engine.is_ready


@virtual
async def test_entries_of_another_node_are_seen_within_a_second() -> None:
    async with world() as scene:
        run = await scene.node.started()
        following = begun(scene.seqs(run))
        await asyncio.sleep(30.0)
        await scene.write(run, 1)
        await scene.end(run)
        written = scene.clock.monotonic()
        assert await following == [1]
        assert scene.clock.monotonic() - written <= 2.1


@virtual
async def test_a_hundred_readers_of_a_run_cost_one_poll_and_no_reader_costs_none() -> None:
    async with world() as scene:
        run = await scene.node.started()
        followers = [begun(scene.seqs(run)) for _ in range(100)]
        await asyncio.sleep(60.0)
        assert 55 <= scene.asked("journal") <= 70
        assert 55 <= scene.asked("ended") <= 70
        for follower in followers:
            follower.cancel()
        await asyncio.gather(*followers, return_exceptions=True)
        asked = len(scene.line.sent)
        await asyncio.sleep(60.0)
        assert len(scene.line.sent) == asked


@virtual
async def test_a_reader_that_stands_still_gets_everything_later_and_holds_up_nobody() -> None:
    async with world() as scene:
        run = await scene.node.started()
        with scene.feeds.reader(1, run) as slow:
            following = begun(scene.seqs(run))
            for seq in range(1, 201):
                await scene.write(run, seq, data=BIG)
                await asyncio.sleep(0.5)
            await scene.end(run)
            assert await following == list(range(1, 201))
            late = [found.seq for found in [await slow.next() for _ in range(200)] if found]
            assert late == list(range(1, 201))
            assert await slow.next() is None
            assert slow.has_ended


@virtual
async def test_nothing_is_read_for_readers_that_all_stand_still() -> None:
    async with world() as scene:
        run = await scene.node.started()
        with scene.feeds.reader(1, run) as reader:
            await scene.write(run, *range(1, 300))
            assert await reader.next() is not None
            await asyncio.sleep(5.0)
            asked = scene.asked("journal")
            await asyncio.sleep(60.0)
            assert scene.asked("journal") == asked < 10


@virtual
async def test_the_ring_is_bounded_in_entries_and_in_bytes() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.write(run, *range(1, 201))
        await scene.write(run, *range(201, 261), data=BIG)
        pages = JournalPages(scene.store, 1, run, asyncio.Semaphore(1))
        feed = Feed(pages, 0, asyncio.get_running_loop().create_future(), scene.clock)
        widths = []
        while feed.high < 260:
            await feed.changed()
            widths.append((feed.high, feed.high - feed.low))
        assert all(width <= PAGE_ENTRIES for _, width in widths)
        assert widths[-1] == (260, PAGE_BYTES // len(BIG))
        await asyncio.gather(feed.close(), return_exceptions=True)


@virtual
async def test_a_page_has_no_more_bytes_than_allowed_unless_one_entry_alone_has() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.write(run, *range(1, 40), data=BIG)
        pages = JournalPages(scene.store, 1, run, asyncio.Semaphore(1))
        page = await pages.read(0, most=350_000)
        assert ([found.seq for found in page.entries], page.is_last) == ([1, 2, 3], False)
        page = await pages.read(3, most=10)
        assert ([found.seq for found in page.entries], page.is_last) == ([4], False)
        page = await pages.read(36)
        assert ([found.seq for found in page.entries], page.is_last) == ([37, 38, 39], True)


@virtual
async def test_readers_wait_while_the_store_is_away_and_miss_nothing() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.write(run, 1)
        scene.line.refuses = lambda verb, arguments: True
        followers = [begun(scene.seqs(run)), begun(scene.seqs(run, after=1)), begun(scene.feeds.ended(1, run))]
        await asyncio.sleep(20.0)
        await scene.write(run, 2, 3)
        await scene.end(run)
        assert not any(follower.done() for follower in followers)
        scene.line.refuses = lambda verb, arguments: False
        assert await asyncio.gather(*followers) == [[1, 2, 3], [2, 3], True]


@virtual
async def test_a_reader_that_leaves_and_comes_back_at_any_place_misses_nothing_and_gets_nothing_twice() -> None:
    for seed in range(40):
        async with world() as scene:
            await _come_and_go(scene, random.Random(seed))


async def _come_and_go(scene: World, chance: random.Random) -> None:
    run = await scene.node.started()
    last = chance.randint(1, 300)

    async def write() -> None:
        seq = 1
        while seq <= last:
            until = min(last, seq + chance.choice([0, 1, 5, 80]))
            await scene.write(run, *range(seq, until + 1), data=chance.choice([b"{}", BIG]))
            seq = until + 1
            await asyncio.sleep(chance.choice([0.0, 0.1, 1.0]))
        await scene.end(run)

    async def read() -> list[int]:
        seen: list[int] = []
        while not seen or seen[-1] < last:
            stay = chance.randint(0, 70)
            async with aclosing(scene.feeds.follow(1, run, after=seen[-1] if seen else 0)) as following:
                async for found in following:
                    seen.append(found.seq)
                    stay -= 1
                    if stay < 0:
                        break
                    await asyncio.sleep(chance.choice([0.0, 0.0, 0.3]))
        return seen

    writing = begun(write())
    for seen in await asyncio.gather(*(read() for _ in range(4))):
        assert seen == list(range(1, last + 1))
    await writing


@virtual
async def test_a_place_that_the_journal_does_not_have_is_the_end_of_it_and_harms_no_other_reader() -> None:
    async with world() as scene:
        run = await scene.node.started()
        ahead = begun(scene.seqs(run, after=1_000_000))
        await asyncio.sleep(1.0)
        other = begun(scene.seqs(run))
        await asyncio.sleep(1.0)
        await scene.write(run, 1, 2)
        await asyncio.sleep(5.0)
        await scene.end(run)
        assert await ahead == []
        assert await other == [1, 2]


@virtual
async def test_readers_of_a_run_that_is_deleted_are_let_go() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.write(run, *range(1, 200))
        with scene.feeds.reader(1, run) as slow:
            following = begun(scene.seqs(run))
            await asyncio.sleep(1.0)
            assert await slow.next() is not None
            del scene.store.table[run], scene.store.entries[run]
            assert await following == list(range(1, 200))
            async with asyncio.timeout(300):
                while await slow.next() is not None:
                    pass
            assert slow.has_ended


@virtual
async def test_a_run_without_entries_is_over_when_its_row_says_so() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.end(run)
        assert await scene.seqs(run) == []


class SlowAnswers(MemoryStore):
    """What it says of a journal is some seconds old when it arrives."""

    async def journal(self, tenant: int, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        found = await super().journal(tenant, run, after=after, limit=limit)
        await asyncio.sleep(3.0)
        return found


@virtual
async def test_an_end_that_is_heard_of_while_the_journal_is_read_does_not_hide_the_last_entry() -> None:
    clock = VirtualClock()
    store = SlowAnswers(clock)
    node = await Node.register(store, ttl=1e6)
    run = await node.started()
    feeds = Feeds(store, clock)

    async def follow() -> list[int]:
        return [found.seq async for found in feeds.follow(1, run)]

    following = begun(follow())
    await asyncio.sleep(1.0)
    assert await node.flush(entries=[entry(run, 1)], ends=[end(run)])
    assert await following == [1]


@virtual
async def test_many_who_wait_for_ends_ask_one_question() -> None:
    async with world() as scene:
        runs = [await scene.node.started() for _ in range(50)]
        waiting = [begun(scene.feeds.ended(1, run, 30.0)) for run in runs for _ in range(2)]
        await asyncio.sleep(10.0)
        assert scene.asked("ended") <= 20
        await scene.end(runs[0])
        ended = scene.clock.monotonic()
        assert await waiting[0] is True
        assert scene.clock.monotonic() - ended <= 1.0
        answers = await asyncio.gather(*waiting)
        assert answers == [True, True, *[False] * 98]
        assert await scene.feeds.ended(1, new_id()) is True


@virtual
async def test_who_waits_for_a_run_of_this_process_hears_its_end_at_once() -> None:
    async with rig() as scene:
        await scene.engine()
        gate = scene.hands.hold("a")
        run = await scene.start({"a": {}})
        waiting = begun(Feeds(scene.store, scene.clock).ended(1, run, 600.0))
        await asyncio.sleep(300.0)
        gate.set()
        opened = scene.clock.monotonic()
        assert await waiting is True
        assert scene.clock.monotonic() - opened < 0.1


@virtual
async def test_waiting_for_entries_answers_with_the_first_that_comes_or_when_the_time_is_over() -> None:
    async with world() as scene:
        run = await scene.node.started()
        began = scene.clock.monotonic()
        assert await scene.feeds.wait_entries(1, run, 0, 5.0) == ([], False)
        assert scene.clock.monotonic() - began == pytest.approx(5.0, abs=0.1)
        waiting = begun(scene.feeds.wait_entries(1, run, 0, 60.0))
        await asyncio.sleep(1.0)
        await scene.write(run, 1, 2, 3)
        found = await waiting
        assert ([each.seq for each in found.entries], found.is_all) == ([1, 2, 3], False)
        assert len((await scene.feeds.wait_entries(1, run, 0, limit=2)).entries) == 2
        waiting = begun(scene.feeds.wait_entries(1, run, 3, 60.0))
        await asyncio.sleep(1.0)
        await scene.end(run)
        assert await waiting == ([], True)
        assert scene.clock.monotonic() - began < 10.0
        found = await scene.feeds.wait_entries(1, run, 1)
        assert ([each.seq for each in found.entries], found.is_all) == ([2, 3], True)


@virtual
async def test_closing_lets_everybody_go_at_once_and_nobody_in() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.write(run, 1)
        waits = [scene.seqs(run), scene.feeds.wait_entries(1, run, 1, 60.0), scene.feeds.ended(1, run, 60.0)]
        waiting = [begun(wait) for wait in waits]
        await asyncio.sleep(1.0)
        began = scene.clock.monotonic()
        await scene.feeds.close()
        assert await asyncio.gather(*waiting) == [[1], ([], False), False]
        assert await scene.seqs(run) == []
        assert await scene.feeds.ended(1, run, 60.0) is False
        assert scene.clock.monotonic() - began < 0.1


@virtual
async def test_a_reader_that_is_cancelled_leaves_nothing_behind_whatever_it_waits_for() -> None:
    async with world() as scene:
        run = await scene.node.started()
        await scene.write(run, 1)
        for moment in (0.0, 0.001, 0.1, 0.3, 5.0):
            for delay in (0.0, 0.2):
                scene.line.delay = delay
                waits = [scene.seqs(run), scene.feeds.ended(1, run), scene.feeds.wait_entries(1, run, 1, 60.0)]
                waiting = [begun(wait) for wait in waits]
                await asyncio.sleep(moment)
                for each in waiting:
                    each.cancel()
                answers = await asyncio.gather(*waiting, return_exceptions=True)
                assert all(isinstance(answer, asyncio.CancelledError) for answer in answers)


def test_the_document_of_an_entry_says_what_happened_and_what_follows() -> None:
    error = StepError("http_status", "it said 500", {"status": 500})
    decided = Decided(
        skipped=["x"], given_up=["y"], errors={"z": error}, sleep={"nap": NOON}, wait={"w": None}, run="failed"
    )
    data = EntryData(result=_raw({"output": "a\nb"}), error=error, ms=12.5, by="ann", decided=decided)
    found = Entry(1, new_id(), 7, NOON, Kind.ENDED, "charge", 2, "failed", encode_data(data))
    document = as_json(entry_document(found))
    told = {"code": "http_status", "message": "it said 500", "detail": {"status": 500}}
    assert document == {
        "seq": 7,
        "at": "2026-09-21T14:13:20Z",
        "kind": "ended",
        "step": "charge",
        "attempt": 2,
        "status": "failed",
        "result": {"output": "a\nb"},
        "error": told,
        "duration_ms": 12.5,
        "retry_at": None,
        "by": "ann",
        "finished": False,
        "carried": [],
        "skipped": ["x", "y"],
        "failed": {"z": told},
        "answers": {},
        "notes": [],
        "sleep_until": {"nap": "2026-09-21T14:13:20Z"},
        "wait_until": {"w": None},
        "run_status": "failed",
        "version": None,
        "was": None,
        "child_run_id": None,
        "item_count": None,
        "pages": [],
        "page": None,
        "probe": None,
        "note": None,
    }
    assert json.loads(entry_json(found)) == document


def test_the_json_of_an_entry_is_one_line_however_its_result_was_written() -> None:
    found = entry(new_id(), data=b'{\n"result": {\r\n  "output": "a\\nb"}\n}')
    text = entry_json(found)
    assert b"\n" not in text
    assert b"\r" not in text
    assert json.loads(text)["result"] == {"output": "a\nb"}


def _raw(value: Any) -> Any:
    return msgspec.Raw(json.dumps(value).encode())
