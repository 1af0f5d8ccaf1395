"""Following runs live. Everything comes from the store, so what is shown is durable, and any node's runs are seen.

A run that is followed is polled once however many readers it has, at once when this process has written something of
it, and not at all without readers. While the store is away, readers wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from detent.clock import Clock
from detent.engine.endings import Endings
from detent.engine.feed import Feed, Reader
from detent.engine.journal_pages import JournalPages
from detent.observe import listen
from detent.run.journal import Entry
from detent.store.protocol import DoorStore

MOST_ENTRIES: Final = 200
MOST_BYTES: Final = 4 * 1024 * 1024
_READS_AT_ONCE: Final = 4


class Events(NamedTuple):
    """Entries of a run in order. `is_all`: the run has ended, and no more will follow."""

    entries: list[Entry]
    is_all: bool


class Feeds:
    """All that is followed in this process. `close` lets everybody go."""

    def __init__(self, store: DoorStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._endings = Endings(store, clock)
        self._turns = asyncio.Semaphore(_READS_AT_ONCE)
        self._feeds: dict[bytes, Feed] = {}
        self._listeners = 0
        self._stop_listening: Callable[[], None] | None = None
        self._is_closed = False

    async def status(self, tenant: int, run: bytes) -> str | None:
        """The status of a run as its row says it; null if there is none."""
        row = await self._store.run(tenant, run)
        return None if row is None else row.status

    async def follow(self, run: bytes, *, after: int = 0) -> AsyncGenerator[Entry, None]:
        """Every entry after that place as it becomes durable, until the run has ended. To leave before, close it."""
        with self.reader(run, after=after) as reader:
            while (entry := await reader.next()) is not None:
                yield entry

    @contextmanager
    def reader(self, run: bytes, *, after: int = 0) -> Iterator[Reader]:
        """A place in a run's journal, to read on from."""
        with self._listening(), self._endings.watch(run) as over:
            feed = self._feeds.get(run)
            if feed is None:
                feed = self._feeds[run] = Feed(self._pages(run), after, over, self._clock)
                if self._is_closed:
                    feed.close()
            feed.readers += 1
            try:
                yield Reader(feed, self._pages(run), after)
            finally:
                feed.readers -= 1
                if not feed.readers:
                    del self._feeds[run]
                    feed.close()

    async def wait_entries(self, run: bytes, after: int, timeout: float = 0.0, *, limit: int = MOST_ENTRIES) -> Events:
        """What follows that place, or, if there is nothing yet, what comes first within `timeout` seconds. Fewer than
        `limit` are given where they are large."""
        found = await self._events(run, after, limit)
        if found.entries or found.is_all or timeout <= 0:
            return found
        with self.reader(run, after=after) as reader:
            await reader.next(timeout)
        return await self._events(run, after, limit)

    async def ended(self, run: bytes, timeout: float | None = None) -> bool:
        """Whether the run has ended (or is not there), as soon as it has or when that many seconds are over."""
        with self._listening(), self._endings.watch(run) as over:
            if not self._is_closed:
                await asyncio.wait([over], timeout=timeout)
            return over.done() and not over.cancelled()

    async def close(self) -> None:
        """Let everybody go who follows or waits, now and from now on."""
        self._is_closed = True
        ending = [feed.close() for feed in self._feeds.values()]
        await self._endings.close()
        await asyncio.gather(*ending, return_exceptions=True)

    async def _events(self, run: bytes, after: int, limit: int) -> Events:
        ended = run in await self._store.ended([run])
        page = await self._pages(run).read(after, limit=limit, most=MOST_BYTES)
        return Events(page.entries, ended and page.is_last)

    def _pages(self, run: bytes) -> JournalPages:
        return JournalPages(self._store, run, self._turns)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Hear what this process writes, while somebody wants to know."""
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
            feed = self._feeds.get(facts["run"])
            if feed is not None:
                feed.nudge()
        elif name == "run.ended":
            self._endings.nudge(facts["run"])
