"""Feeds: follow runs live. Everything comes from the store, so a reader sees only durable entries, of any node.

A followed run has one poll, however many readers it has. It is polled at once after this process has written an entry
of it, and never without readers. While the store is unavailable, readers wait.
"""

from __future__ import annotations

import asyncio
import traceback
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from detent.clock import Clock
from detent.errors import StoreError
from detent.observe import emit, listen
from detent.run.journal import Entry
from detent.store.protocol import CommandStore, Store
from detent.views.end_watcher import EndWatcher
from detent.views.pace import Pace

# Pages of journals, bounded in entries and in bytes.


PAGE_ENTRIES: Final = 64
PAGE_BYTES: Final = 1024 * 1024
#: How many rows the first query asks for, while their size is unknown.
_FIRST_PIECE: Final = 8
_LARGEST_PIECE: Final = 32
_AWAY_PAUSE: Final = 0.2
_LONGEST_AWAY_PAUSE: Final = 1.0


class JournalPage(NamedTuple):
    """Entries in order. `is_last`: there were no more after them when they were read."""

    entries: list[Entry]
    is_last: bool


class JournalPages:
    """The pages of one run's journal. A query asks for more or fewer rows depending on the size of the rows before.

    `turns` limits how many queries are under way at once, and so how many rows are in memory beside the pages.
    """

    def __init__(self, store: CommandStore, tenant: int, run: bytes, turns: asyncio.Semaphore) -> None:
        self._store, self._tenant, self._run, self._turns = store, tenant, run, turns
        self._piece = _FIRST_PIECE

    async def read(self, after: int, *, limit: int = PAGE_ENTRIES, most: int = PAGE_BYTES) -> JournalPage:
        """Return the entries after number `after`: at most `limit` and `most` bytes, but always the first one."""
        found: list[Entry] = []
        size = 0
        while True:
            asked = min(limit - len(found), self._piece)
            async with self._turns:
                rows = await self._store.journal(self._tenant, self._run, after=after, limit=asked)
            for row in rows:
                size += len(row.data)
                if found and size > most:
                    return JournalPage(found, is_last=False)
                found.append(row)
            if len(rows) < asked:
                return JournalPage(found, is_last=True)
            if len(found) == limit:
                return JournalPage(found, is_last=False)
            self._fit(rows, most)
            after = found[-1].seq

    async def read_patiently(self, after: int, *, limit: int = PAGE_ENTRIES) -> JournalPage:
        """Do the same as `read`, but retry until the store answers."""
        pause = 0.0
        while True:
            try:
                return await self.read(after, limit=limit)
            except StoreError as error:
                if not pause:
                    emit("engine.error", where="feeds", error=error.message)
                pause = min(_LONGEST_AWAY_PAUSE, pause + _AWAY_PAUSE)
                await asyncio.sleep(pause)

    def _fit(self, rows: list[Entry], most: int) -> None:
        each = sum(len(row.data) for row in rows) // len(rows) + 1
        self._piece = max(1, min(self._piece * 2, most // each, _LARGEST_PIECE))


# One run's journal for all of its readers in this process: read once from the store, into a small ring.
#
# The ring moves on only when a reader has consumed all of it. So a run whose readers are all stalled is not polled. A
# reader has a cursor and no queue. A reader that is behind the ring reads its own pages.


class Feed:
    """The feed of one run. It owns the ring, which has every entry after `low` up to `high`.

    `over` is done when the run has ended.
    """

    def __init__(self, pages: JournalPages, start: int, over: asyncio.Future[Entry | None], clock: Clock) -> None:
        self._pages, self._over = pages, over
        self._pace = Pace(clock)
        self._wanted = asyncio.Event()
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ring: list[Entry] = []
        self._bytes = 0
        self.low = self.high = 0
        self.readers = 0
        self.is_over = False  # the run has ended and `high` is its last entry
        self.is_closed = False
        over.add_done_callback(self._hear_end)
        self._reading = asyncio.create_task(self._read_on(start))

    def nudge(self) -> None:
        """Poll the journal now, because it may have a new entry."""
        self._pace.nudge()

    def after(self, seq: int) -> Entry | None:
        """Return the next entry after `seq`, or None if the ring does not have it."""
        if not self.low <= seq < self.high:
            return None
        return self._ring[bisect_right(self._ring, seq, key=_seq)]

    async def changed(self) -> None:
        """Wait until the ring has more entries, or the feed is over or closed."""
        self._wanted.set()
        await asyncio.wait([self._changed])

    def close(self) -> asyncio.Task[None]:
        """Stop reading and release the readers. Return the task that ends."""
        self.is_closed = True
        self._over.remove_done_callback(self._hear_end)
        self._reading.cancel()
        self._notify()
        return self._reading

    def _hear_end(self, over: asyncio.Future[Entry | None]) -> None:
        self._pace.nudge()

    async def _read_on(self, start: int) -> None:
        try:
            await self._begin(start)
            while not self.is_over:
                await self._wanted.wait()
                await self._read()
        except Exception as error:  # noqa: BLE001 - readers must not wait for a dead feed
            emit("engine.error", where="feed", error="".join(traceback.format_exception(error))[-4000:])
            self.is_closed = True
            self._notify()

    async def _begin(self, start: int) -> None:
        """Begin at the cursor of the first reader, if the journal has an entry with that number."""
        if start:
            page = await self._pages.read_patiently(start - 1, limit=1)
            if page.entries:
                self.low = self.high = start
                self._notify()

    async def _read(self) -> None:
        self._pace.look()
        # Check this before the journal is read: the last entry was written together with the end of the run.
        ended = _is_result(self._over)
        page = await self._pages.read_patiently(self.high)
        if page.entries:
            self._put(page.entries)
        if page.is_last and ended:
            self.is_over = True
        if page.entries or self.is_over:
            self._wanted.clear()
            self._notify()
        if page.is_last and not self.is_over:
            await self._pace.rest(found=bool(page.entries))

    def _put(self, entries: list[Entry]) -> None:
        ring = self._ring
        ring += entries
        self._bytes += sum(len(entry.data) for entry in entries)
        self.high = ring[-1].seq
        gone = 0
        while len(ring) - gone > PAGE_ENTRIES or (self._bytes > PAGE_BYTES and len(ring) - gone > 1):
            self._bytes -= len(ring[gone].data)
            self.low = ring[gone].seq
            gone += 1
        del ring[:gone]

    def _notify(self) -> None:
        if not self._changed.done():
            self._changed.set_result(None)
        self._changed = asyncio.get_running_loop().create_future()


class FeedReader:
    """One reader of a feed. It owns a cursor, and at most one page."""

    def __init__(self, feed: Feed, pages: JournalPages, cursor: int) -> None:
        self._feed, self._pages = feed, pages
        self._page: deque[Entry] = deque()
        self.cursor = cursor

    @property
    def has_ended(self) -> bool:
        """Return whether the run has ended and the reader has consumed all of its entries."""
        return self._feed.is_over and self.cursor >= self._feed.high

    @property
    def is_done(self) -> bool:
        """Return whether no more entries will come, because the run has ended or this process stops."""
        return self.has_ended or self._feed.is_closed

    def ready(self) -> Entry | None:
        """Return the next entry if it is in memory already."""
        entry = self._page.popleft() if self._page else self._feed.after(self.cursor)
        if entry is not None:
            self.cursor = entry.seq
        return entry

    async def next(self, timeout: float | None = None) -> Entry | None:
        """Return the next entry. Return None if `is_done`, or after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                return await self._next()
        except TimeoutError:
            return None

    async def _next(self) -> Entry | None:
        feed = self._feed
        while not self.is_done:
            entry = self.ready()
            if entry is not None:
                return entry
            if self.cursor >= feed.low:
                await feed.changed()
                continue
            page = await self._pages.read_patiently(self.cursor)
            self._page.extend(page.entries)
            if not page.entries:
                self.cursor = feed.low  # the entries up to there were deleted
        return None


def _seq(entry: Entry) -> int:
    return entry.seq


def _is_result(future: asyncio.Future[Entry | None]) -> bool:
    return future.done() and not future.cancelled()


MOST_ENTRIES: Final = 200
MOST_BYTES: Final = 4 * 1024 * 1024
_READS_AT_ONCE: Final = 4


class Events(NamedTuple):
    """Entries of a run in order. `is_all`: the run has ended, and no more will follow."""

    entries: list[Entry]
    is_all: bool


class RunNews(NamedTuple):
    """What is known of an awaited run: the entry of the step that was waited for, or that the run is over without it.
    `is_closed`: the process stops, and nothing is known."""

    entry: Entry | None
    is_over: bool
    is_closed: bool = False


class Feeds:
    """The feeds of this process, by run. `close` releases all readers and waiters."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._endings = EndWatcher(store, clock)
        self._turns = asyncio.Semaphore(_READS_AT_ONCE)
        self._feeds: dict[tuple[int, bytes], Feed] = {}
        self._awaited: Counter[bytes] = Counter()  # how many callers wait for a step of each run
        self.waiting_callers = 0  # that wait for the answer of a run
        self._listeners = 0
        self._stop_listening: Callable[[], None] | None = None
        self._is_closed = False
        self._closers: list[Callable[[], None]] = []

    def when_closed(self, close: Callable[[], None]) -> None:
        """Call `close` when the feeds are closed: other streams of this process end at the same time."""
        self._closers.append(close)

    async def status(self, tenant: int, run: bytes) -> str | None:
        """Return the status in a run's row, or None if the run does not exist."""
        row = await self._store.for_tenant(tenant).run(tenant, run)
        return None if row is None else row.status

    async def follow(self, tenant: int, run: bytes, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """Yield every entry after `after` as it becomes durable, until the run has ended. Close it to leave earlier."""
        with self.reader(tenant, run, after=after) as reader:
            while (entry := await reader.next()) is not None:
                yield entry

    @contextmanager
    def reader(self, tenant: int, run: bytes, *, after: int = 0) -> Iterator[FeedReader]:
        """Return a reader of a run's journal that begins after `after`."""
        key = (tenant, run)
        with self._listening(), self._endings.watch(tenant, run) as over:
            feed = self._feeds.get(key)
            if feed is None:
                feed = self._feeds[key] = Feed(self._pages(tenant, run), after, over, self._clock)
                if self._is_closed:
                    feed.close()
            feed.readers += 1
            try:
                yield FeedReader(feed, self._pages(tenant, run), after)
            finally:
                feed.readers -= 1
                if not feed.readers:
                    del self._feeds[key]
                    feed.close()

    async def wait_entries(
        self, tenant: int, run: bytes, after: int, timeout: float = 0.0, *, limit: int = MOST_ENTRIES
    ) -> Events:
        """Return the entries after `after`. If there are none yet, wait up to `timeout` seconds for the first ones.

        Return fewer than `limit` if they are large.
        """
        found = await self._events(tenant, run, after, limit)
        if found.entries or found.is_all or timeout <= 0:
            return found
        with self.reader(tenant, run, after=after) as reader:
            await reader.next(timeout)
        return await self._events(tenant, run, after, limit)

    async def ended(self, tenant: int, run: bytes, timeout: float | None = None) -> bool:
        """Wait until the run has ended or does not exist, for at most `timeout` seconds. Return whether it has."""
        with self._listening(), self._endings.watch(tenant, run) as over:
            if not self._is_closed:
                await asyncio.wait([over], timeout=timeout)
            return over.done() and not over.cancelled()

    async def answered(self, tenant: int, run: bytes, steps: frozenset[str], timeout: float) -> RunNews:
        """Wait until one of the steps has succeeded or the run has ended, for at most `timeout` seconds. A caller costs
        one entry in memory; all of them are one poll."""
        with self._listening(), self._endings.watch(tenant, run, steps) as over:
            self.waiting_callers += 1
            self._awaited[run] += bool(steps)
            try:
                if not self._is_closed:
                    await asyncio.wait([over], timeout=timeout)
            finally:
                self.waiting_callers -= 1
                self._awaited[run] -= bool(steps)
                if not self._awaited[run]:
                    del self._awaited[run]
            if self._is_closed and not _is_result(over):
                return RunNews(None, is_over=False, is_closed=True)
            return RunNews(over.result(), is_over=True) if over.done() else RunNews(None, is_over=False)

    async def close(self) -> None:
        """Release all readers and waiters, also those that come later."""
        self._is_closed = True
        for close in self._closers:
            close()
        ending = [feed.close() for feed in self._feeds.values()]
        await self._endings.close()
        await asyncio.gather(*ending, return_exceptions=True)

    async def _events(self, tenant: int, run: bytes, after: int, limit: int) -> Events:
        ended = run in await self._store.for_tenant(tenant).ended(tenant, [run])
        page = await self._pages(tenant, run).read(after, limit=limit, most=MOST_BYTES)
        return Events(page.entries, ended and page.is_last)

    def _pages(self, tenant: int, run: bytes) -> JournalPages:
        return JournalPages(self._store.for_tenant(tenant), tenant, run, self._turns)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Listen to the events of this process, so that its own writes are seen at once."""
        self._listeners += 1
        if self._stop_listening is None:
            self._stop_listening = listen(self._hear)
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._stop_listening()
                self._stop_listening = None

    def _hear(self, name: str, facts: dict[str, Any]) -> None:
        if name == "entry.written":
            feed = self._feeds.get((facts["entry"].tenant, facts["run"]))
            if feed is not None:
                feed.nudge()
            if self._awaited.get(facts["run"]):
                self._endings.nudge(facts["run"])
        elif name == "run.ended":
            self._endings.nudge(facts["run"])
