"""One run's journal for all who follow it in this process: read once from the store, kept in a small ring.

The ring moves on only when a reader has had all that is in it, so a run whose readers all stand still is not read at
all. A reader has a cursor and no queue; one that fell behind the ring reads pages of its own.
"""

from __future__ import annotations

import asyncio
import traceback
from bisect import bisect_right
from collections import deque

from detent.clock import Clock
from detent.engine.journal_pages import PAGE_BYTES, PAGE_ENTRIES, JournalPages
from detent.engine.pace import Pace
from detent.observe import emit
from detent.run.journal import Entry


class Feed:
    """`over` is done when the run has ended. The ring holds every entry after `low` up to `high`."""

    def __init__(self, pages: JournalPages, start: int, over: asyncio.Future[None], clock: Clock) -> None:
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
        """Something may have been written just now."""
        self._pace.nudge()

    def after(self, seq: int) -> Entry | None:
        """The next entry after that one, if the ring has it."""
        if not self.low <= seq < self.high:
            return None
        return self._ring[bisect_right(self._ring, seq, key=_seq)]

    async def changed(self) -> None:
        """Wait until there is more in the ring, or there will never be."""
        self._wanted.set()
        await asyncio.wait([self._changed])

    def close(self) -> asyncio.Task[None]:
        """Stop reading and let the readers go."""
        self.is_closed = True
        self._over.remove_done_callback(self._hear_end)
        self._reading.cancel()
        self._tell()
        return self._reading

    def _hear_end(self, over: asyncio.Future[None]) -> None:
        self._pace.nudge()

    async def _read_on(self, start: int) -> None:
        try:
            await self._begin(start)
            while not self.is_over:
                await self._wanted.wait()
                await self._read()
        except Exception as error:  # noqa: BLE001 - readers must not wait for a feed that is dead
            emit("engine.trouble", where="feed", error="".join(traceback.format_exception(error))[-4000:])
            self.is_closed = True
            self._tell()

    async def _begin(self, start: int) -> None:
        """Begin where the first reader stands, if the journal has such a place at all."""
        if start:
            page = await self._pages.read_patiently(start - 1, limit=1)
            if page.entries:
                self.low = self.high = start
                self._tell()

    async def _read(self) -> None:
        self._pace.look()
        ended = _is_result(self._over)  # asked before the journal is read: what ended the run was written with its end
        page = await self._pages.read_patiently(self.high)
        if page.entries:
            self._put(page.entries)
        if page.is_last and ended:
            self.is_over = True
        if page.entries or self.is_over:
            self._wanted.clear()
            self._tell()
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

    def _tell(self) -> None:
        if not self._changed.done():
            self._changed.set_result(None)
        self._changed = asyncio.get_running_loop().create_future()


class Reader:
    """One reader's place in a journal: a cursor, and at most one page."""

    def __init__(self, feed: Feed, pages: JournalPages, cursor: int) -> None:
        self._feed, self._pages = feed, pages
        self._page: deque[Entry] = deque()
        self.cursor = cursor

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended and everything of it was given."""
        return self._feed.is_over and self.cursor >= self._feed.high

    @property
    def is_done(self) -> bool:
        """Whether nothing more will be given, because the run has ended or this process stops."""
        return self.has_ended or self._feed.is_closed

    async def next(self, timeout: float | None = None) -> Entry | None:
        """The next entry; null if `is_done`, or when that many seconds are over."""
        try:
            async with asyncio.timeout(timeout):
                return await self._next()
        except TimeoutError:
            return None

    async def _next(self) -> Entry | None:
        feed = self._feed
        while not self.is_done:
            entry = self._page.popleft() if self._page else feed.after(self.cursor)
            if entry is not None:
                self.cursor = entry.seq
                return entry
            if self.cursor >= feed.low:
                await feed.changed()
                continue
            page = await self._pages.read_patiently(self.cursor)
            self._page.extend(page.entries)
            if not page.entries:
                self.cursor = feed.low  # the journal was deleted up to there
        return None


def _seq(entry: Entry) -> int:
    return entry.seq


def _is_result(future: asyncio.Future[None]) -> bool:
    return future.done() and not future.cancelled()
