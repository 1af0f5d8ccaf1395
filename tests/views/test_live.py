"""One stream for many topics: shared readers, cursors that go on, bounded memory, a clean end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Self, cast

import msgspec
import pytest

from detent.clock import SystemClock
from detent.errors import StoreError
from detent.ids import FIRING, RUN, new_id, show
from detent.observe import emit, heard
from detent.run.journal import Entry, Kind
from detent.store.protocol import Store
from detent.store.rows import RunRow
from detent.views.feeds import Feeds
from detent.views.live import (
    MOST_ENTRIES,
    FiringsTopic,
    LiveEvent,
    LiveHub,
    RunsTopic,
    RunTopic,
    Topic,
    ValueTopic,
    read_cursors,
)
from detent.views.readers import LiveRow
from tests.store.make import NOON

PERIOD = 0.01


class Row(msgspec.Struct):
    id: str
    status: str


class Inbox(msgspec.Struct):
    count: int


class World:
    """A store of one run and some lists. It counts what is read of it."""

    def __init__(self) -> None:
        self.run_id = new_id()
        self.written = 0
        self.is_over = False
        self.size = 10
        self.journal_reads = 0
        self.reads: dict[str, int] = dict.fromkeys(
            ("counts", "inbox", "alerts", "newest", "firings", "rows", "status"), 0
        )
        self.most_ids = 0
        self.inbox_count = 1
        self.alert_count = 1
        self.listed: list[bytes] = []
        self.fired: dict[bytes, str] = {}
        self.statuses: dict[bytes, str] = {}
        self.is_away = False

    def for_tenant(self, tenant: int) -> Self:
        return self

    # the journal, as Feeds reads it

    async def journal(self, tenant: int, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        self.journal_reads += 1
        return [self._entry(seq) for seq in range(after + 1, min(self.written, after + limit) + 1)]

    async def ended(self, tenant: int, runs: Sequence[bytes]) -> set[bytes]:
        return {run for run in runs if run != self.run_id or self.is_over}

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        nothing: list[Any] = [None] * len(RunRow._fields)
        status = "completed" if self.is_over else "running"
        return RunRow(*nothing)._replace(id=run, status=status) if run == self.run_id else None

    def _entry(self, seq: int) -> Entry:
        data = b'{"result":{"output":"%b"}}' % (b"x" * self.size)
        return Entry(1, self.run_id, seq, NOON + seq, Kind.ENDED, f"s{seq}", 1, "success", data)

    def write(self, count: int = 1) -> None:
        self.written += count
        emit("entry.written", run=self.run_id, entry=self._entry(self.written))

    def end(self) -> None:
        self.is_over = True
        emit("run.ended", run=self.run_id, status="completed")

    # the sources of the hub

    async def counts(self) -> msgspec.Struct:
        self._count("counts")
        return Inbox(7)

    async def inbox(self) -> msgspec.Struct:
        self._count("inbox")
        return Inbox(self.inbox_count)

    async def alerts(self) -> msgspec.Struct:
        self._count("alerts")
        return Inbox(self.alert_count)

    async def newest(self, query: str, *, limit: int) -> list[bytes]:
        self._count("newest")
        return sorted(self.listed, reverse=True)[:limit]

    async def firings(self, query: str, *, limit: int) -> list[tuple[bytes, str]]:
        self._count("firings")
        return sorted(self.fired.items(), reverse=True)[:limit]

    async def rows(self, ids: Sequence[bytes]) -> dict[bytes, LiveRow]:
        self._count("rows")
        self.most_ids = max(self.most_ids, len(ids))
        return {
            run: LiveRow(self.statuses[run], self.statuses[run] == "completed", Row(show(RUN, run), self.statuses[run]))
            for run in ids
            if run in self.statuses
        }

    async def status(self, run: bytes) -> str | None:
        self._count("status")
        row = await self.run(1, run)
        return None if row is None else row.status

    def _count(self, name: str) -> None:
        self.reads[name] += 1
        if self.is_away:
            raise StoreError("the database is away")


class Stage:
    """A hub over a world."""

    def __init__(self) -> None:
        self.world = World()
        self.feeds = Feeds(cast(Store, self.world), SystemClock())
        self.hub = LiveHub(self.world, self.feeds, 1, period=PERIOD)

    def follow(self, *topics: Topic, last: str = "") -> AsyncGenerator[LiveEvent | None, None]:
        return self.hub.follow(topics, read_cursors(last, len(topics)), heartbeat=30.0)

    def run_topic(self, after: int = 0) -> RunTopic:
        return RunTopic(f"run:x@{after}", self.world.run_id, after)


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def event_of(stream: AsyncGenerator[LiveEvent | None, None]) -> tuple[str, Any, str]:
    async with asyncio.timeout(300):
        event = await anext(stream)
    assert event is not None
    return event.name, msgspec.json.decode(event.data), event.cursors


async def entries_until(stream: AsyncGenerator[LiveEvent | None, None], last: int) -> tuple[list[int], str]:
    """The numbers of the entries up to one, and the cursors after it."""
    seen: list[int] = []
    while True:
        name, data, cursors = await event_of(stream)
        assert name == "entries"
        seen += [entry["seq"] for entry in data["entries"]]
        if seen and seen[-1] >= last:
            return seen, cursors


async def test_many_listeners_of_one_run_share_the_reads_of_its_journal(stage: Stage) -> None:
    world, listeners = stage.world, 100
    world.write(3)

    async def listen() -> list[int]:
        async with aclosing(stage.follow(stage.run_topic())) as stream:
            seen, _ = await entries_until(stream, 20)
            return seen

    tasks = [asyncio.create_task(listen()) for _ in range(listeners)]
    for number in range(4, 21):
        await asyncio.sleep(PERIOD)
        world.written = number - 1
        world.write()
    async with asyncio.timeout(300):
        found = await asyncio.gather(*tasks)
    assert found == [list(range(1, 21))] * listeners
    # Every entry may cost a read or two of the one feed; each listener costs none.
    assert world.journal_reads < 20 * 4 < listeners
    assert world.reads["status"] < 10
    assert not heard()


async def test_a_stream_goes_on_after_its_last_event_without_losing_or_repeating_an_entry(stage: Stage) -> None:
    world = stage.world
    world.write(5)
    async with aclosing(stage.follow(ValueTopic("inbox", "inbox"), stage.run_topic(2))) as stream:
        seen: list[int] = []
        cursors = ""
        while 5 not in seen or "-" in cursors:
            name, data, cursors = await event_of(stream)
            seen += [entry["seq"] for entry in data["entries"]] if name == "entries" else []
    assert seen == [3, 4, 5]
    world.write(4)
    other = Stage()  # the server was started again
    other.world = world
    other.feeds = Feeds(cast(Store, world), SystemClock())
    other.hub = LiveHub(world, other.feeds, 1, period=PERIOD)
    async with aclosing(other.follow(ValueTopic("inbox", "inbox"), other.run_topic(2), last=cursors)) as stream:
        again, _ = await entries_until(stream, 9)  # no event of the inbox comes before: it has not changed
    assert again == [6, 7, 8, 9]


async def test_the_last_event_of_a_run_has_its_final_status_and_nothing_follows(stage: Stage) -> None:
    stage.world.write(2)
    async with aclosing(stage.follow(stage.run_topic(), ValueTopic("counts", "counts"))) as stream:
        events = [await event_of(stream), await event_of(stream)]
        stage.world.end()
        _, data, cursors = await event_of(stream)
        assert sorted(name for name, _, _ in events) == ["counts", "entries"]
        assert (data["entries"], data["status"], data["seq"], data["run_id"]) == (
            [], "completed", 2, show(RUN, stage.world.run_id)
        )  # fmt: skip
        assert cursors.split(",")[0] == "2"
        await stage.feeds.close()
        with pytest.raises(StopAsyncIteration):
            async with asyncio.timeout(300):
                await anext(stream)


async def test_a_run_that_does_not_exist_has_no_status(stage: Stage) -> None:
    async with aclosing(stage.follow(RunTopic("run:y", new_id(), 0))) as stream:
        name, data, _ = await event_of(stream)
    assert (name, data["status"], data["entries"]) == ("entries", None, [])


async def test_a_listener_that_does_not_read_holds_one_batch_and_others_go_on(stage: Stage) -> None:
    world = stage.world
    world.size = 3_000
    world.write(1)
    async with aclosing(stage.follow(stage.run_topic())) as slow, aclosing(stage.follow(stage.run_topic())) as quick:
        assert (await entries_until(slow, 1))[0] == [1]
        for number in range(2, 400):
            world.written = number - 1
            world.write()
            if number % 20 == 0:
                await asyncio.sleep(PERIOD)
        seen, _ = await entries_until(quick, 399)
        assert seen == list(range(1, 400))
        name, data, _ = await event_of(slow)
        assert (name, data["entries"][0]["seq"]) == ("entries", 2)
        assert len(data["entries"]) <= MOST_ENTRIES
        rest, _ = await entries_until(slow, 399)
        assert [entry["seq"] for entry in data["entries"]] + rest == list(range(2, 400))


async def test_a_large_result_is_sent_as_its_size(stage: Stage) -> None:
    stage.world.size = 200_000
    stage.world.write(1)
    async with aclosing(stage.follow(stage.run_topic())) as stream:
        _, data, _ = await event_of(stream)
    [entry] = data["entries"]
    assert entry["result"]["truncated"] is True
    assert entry["result"]["bytes"] > 200_000
    assert len(msgspec.json.encode(data)) < 10_000


async def test_a_list_says_which_rows_changed_how_many_are_new_and_which_are_gone(stage: Stage) -> None:
    world = stage.world
    one, two = new_id(), new_id()
    world.listed, world.statuses = [one, two], {one: "running", two: "running"}
    async with aclosing(stage.follow(RunsTopic("runs:;ids=..", "", (one, two)))) as stream:
        name, data, _ = await event_of(stream)
        assert (name, data["topic"], data["new"], data["gone"]) == ("runs", "runs:;ids=..", 0, [])
        assert [row["id"] for row in data["changed"]] == [show(RUN, one), show(RUN, two)]
        world.statuses[two] = "completed"
        _, data, _ = await event_of(stream)
        assert data["changed"] == [{"id": show(RUN, two), "status": "completed"}]
        world.listed += [new_id(), new_id()]
        _, data, cursors = await event_of(stream)
        assert (data["new"], data["changed"]) == (2, [])
        del world.statuses[one]
        _, data, _ = await event_of(stream)
        assert data["gone"] == [show(RUN, one)]
    world.listed.append(new_id())
    async with aclosing(stage.follow(RunsTopic("runs:", "", ()), last=cursors)) as stream:
        _, data, _ = await event_of(stream)
        assert data["new"] == 1


async def test_an_empty_list_counts_its_first_run(stage: Stage) -> None:
    async with aclosing(stage.follow(RunsTopic("runs:", "", ()), ValueTopic("inbox", "inbox"))) as stream:
        await event_of(stream)  # of the inbox: the list was read as well, or is read soon
        async with asyncio.timeout(300):
            while not stage.world.reads["newest"]:  # noqa: ASYNC110 - a reader tells nobody that nothing changed
                await asyncio.sleep(PERIOD)
        await asyncio.sleep(10 * PERIOD)
        stage.world.listed.append(new_id())
        name, data, _ = await event_of(stream)
        assert (name, data["new"]) == ("runs", 1)


async def test_firings_are_counted_if_they_are_new_and_named_if_their_state_changes(stage: Stage) -> None:
    world = stage.world
    one = new_id()
    world.fired = {one: "due"}
    topics = (FiringsTopic("firings:type=webhook", "type=webhook"), ValueTopic("inbox", "inbox"))
    async with aclosing(stage.follow(*topics)) as stream:
        await event_of(stream)  # of the inbox
        async with asyncio.timeout(300):
            while not world.reads["firings"]:  # noqa: ASYNC110 - a reader tells nobody that nothing changed
                await asyncio.sleep(PERIOD)
        await asyncio.sleep(10 * PERIOD)
        world.fired[one] = "started"
        name, data, _ = await event_of(stream)
        assert (name, data) == ("firings", {"topic": topics[0].text, "new": 0, "changed": [show(FIRING, one)]})
        world.fired |= {new_id(): "refused", new_id(): "started"}
        _, data, cursors = await event_of(stream)
        assert (data["new"], data["changed"]) == (2, [])
    world.fired[new_id()] = "started"
    async with aclosing(stage.follow(*topics, last=cursors)) as stream:
        name, data, _ = await event_of(stream)
        assert (name, data["new"]) == ("firings", 1)


async def test_equal_topics_and_equal_rows_are_read_once_for_all_listeners(stage: Stage) -> None:
    world = stage.world
    ids = tuple(new_id() for _ in range(20))
    world.statuses = dict.fromkeys(ids, "running")
    world.listed = list(ids)
    world.fired = {new_id(): "due"}
    values = [ValueTopic(name, name) for name in ("counts", "inbox", "alerts")]
    topics: list[Topic] = [RunsTopic("runs:a", "a", ids), *values]
    quiet = FiringsTopic("firings:", "")
    hub = LiveHub(world, stage.feeds, 1, period=3600.0)  # so that everything is read once only
    streams = [hub.follow((*topics, quiet), {}, heartbeat=30.0) for _ in range(50)]
    for stream in streams:
        assert {(await event_of(stream))[0] for _ in topics} == {"runs", "counts", "inbox", "alerts"}
    assert world.reads == {"counts": 1, "inbox": 1, "alerts": 1, "newest": 1, "firings": 1, "rows": 1, "status": 0}
    assert world.most_ids == 20
    for stream in streams:
        await stream.aclose()


async def test_nothing_is_read_without_listeners(stage: Stage) -> None:
    world, run = stage.world, new_id()
    world.statuses = {run: "running"}
    topics = (RunsTopic("runs:a", "a", (run,)), ValueTopic("counts", "counts"), stage.run_topic())
    world.write()
    async with aclosing(stage.follow(*topics)) as stream:
        for _ in topics:
            await event_of(stream)
    reads, journal_reads = dict(world.reads), world.journal_reads
    await asyncio.sleep(10 * PERIOD)
    assert (world.reads, world.journal_reads) == (reads, journal_reads)
    assert not heard()


async def test_a_stream_waits_while_the_database_is_away(stage: Stage) -> None:
    stage.world.is_away = True
    async with aclosing(stage.follow(ValueTopic("inbox", "inbox"), stage.run_topic())) as stream:
        waiting = asyncio.create_task(anext(stream))
        while stage.world.reads["inbox"] < 3:  # noqa: ASYNC110 - a reader that fails tells nobody
            await asyncio.sleep(PERIOD)
        assert not waiting.done()
        stage.world.is_away = False
        async with asyncio.timeout(300):
            event = await waiting
        assert event is not None
        assert event.name == "inbox"


async def test_a_silent_stream_shows_that_it_is_alive(stage: Stage) -> None:
    async with aclosing(stage.hub.follow([stage.run_topic()], {}, heartbeat=PERIOD)) as stream:
        assert await anext(stream) is None


def test_cursors_that_do_not_fit_are_ignored() -> None:
    assert read_cursors("12,-,ab", 3) == {0: "12", 2: "ab"}
    assert read_cursors("12", 3) == {}
    assert read_cursors("é,'; drop,9" + "9" * 40, 3) == {}
