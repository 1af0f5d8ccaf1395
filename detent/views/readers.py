"""The readers that listeners of the stream share: a value, or the rows of runs, read again and again while watched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from detent.errors import DetentError
from detent.observe import emit

#: How often a shared reader reads, and how often a list is sent at most, in seconds.
PERIOD: Final = 1.0
#: The shortest time between two rounds of one listener: what comes within it is sent together.
GAP: Final = 0.05
#: A reader is idle at least so many times longer than its last read took.
IDLE: Final = 5
#: Rows of runs that have ended are read again only so often: they do not change, but are deleted some day.
_LOOK_AT_ENDED: Final = 60

T = TypeVar("T")


class LiveRow(NamedTuple):
    """A run of a list: what decides whether it has changed, whether it has ended, and its document."""

    facts: Hashable
    is_over: bool
    document: msgspec.Struct


class LiveSources(Protocol):
    """What the readers read."""

    async def counts(self) -> msgspec.Struct: ...

    async def inbox(self) -> msgspec.Struct: ...

    async def alerts(self) -> msgspec.Struct: ...

    async def newest(self, query: str, *, limit: int) -> list[bytes]:
        """Return the ids of the newest runs that match the filter in a query, newest first."""

    async def firings(self, query: str, *, limit: int) -> list[tuple[bytes, str]]:
        """Return the ids and states of the newest firings that match the filter in a query, newest first."""

    async def rows(self, ids: Sequence[bytes]) -> dict[bytes, LiveRow]:
        """Return these runs. Those that do not exist are left out."""

    async def status(self, run: bytes) -> str | None:
        """Return the status of a run, `None` if it does not exist."""


class SharedReader(Generic[T]):
    """A value that is read again and again while it is watched. `version` changes with the value; 0: not read yet."""

    def __init__(self, read: Callable[[], Awaitable[T]], period: float) -> None:
        self._read, self._period = read, period
        self._watchers: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()
        self.value: T | None = None
        self.version = 0

    def watch(self, news: asyncio.Event) -> None:
        """Set `news` whenever the value has changed, until `leave`."""
        self._watchers.add(news)
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        elif self.version:
            news.set()

    def leave(self, news: asyncio.Event) -> bool:
        """Stop watching. Return whether there is no watcher left."""
        self._watchers.discard(news)
        if not self._watchers and self._task is not None:
            self._task.cancel()
            self._task = None
        return not self._watchers

    def ask(self) -> None:
        """Read now, not at the end of the period."""
        self._asked.set()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        is_away = False
        while True:
            self._asked.clear()
            begun = loop.time()
            try:
                self._take(await self._read())
                is_away = False
            except DetentError as error:
                if not is_away:
                    emit("engine.error", where="live", error=error.message)
                is_away = True
            pause = max(self._period, IDLE * (loop.time() - begun))
            try:
                async with asyncio.timeout(pause):
                    await self._asked.wait()
                await asyncio.sleep(min(GAP, self._period))  # listeners that come together are read for together
            except TimeoutError:
                continue

    def _take(self, value: T) -> None:
        if self.version and value == self.value:
            return
        self.value = value
        self.version += 1
        for news in self._watchers:
            news.set()


class RowReader:
    """The rows of all runs that are on a screen: one read for all listeners."""

    def __init__(self, sources: LiveSources, period: float) -> None:
        self._sources = sources
        self._wanted: dict[bytes, int] = {}
        self._rows: dict[bytes, LiveRow | None] = {}
        self._rounds = 0
        self._reader = SharedReader(self._read, period)

    def watch(self, ids: Sequence[bytes], news: asyncio.Event) -> None:
        """Read these rows until `leave`, and set `news` when one has changed."""
        for run in ids:
            self._wanted[run] = self._wanted.get(run, 0) + 1
        if ids:
            self._reader.watch(news)
            if not all(run in self._rows for run in ids):
                self._reader.ask()

    def leave(self, ids: Sequence[bytes], news: asyncio.Event) -> None:
        """Stop reading these rows, unless others watch them."""
        for run in ids:
            self._wanted[run] -= 1
            if not self._wanted[run]:
                del self._wanted[run]
                self._rows.pop(run, None)
        self._reader.leave(news)

    def has(self, run: bytes) -> bool:
        """Return whether the row was read."""
        return run in self._rows

    def get(self, run: bytes) -> LiveRow | None:
        """Return a row that was read, `None` if there is no such run."""
        return self._rows.get(run)

    async def _read(self) -> dict[bytes, Hashable]:
        self._rounds += 1
        looks_at_all = self._rounds % _LOOK_AT_ENDED == 0
        ids = [run for run in self._wanted if looks_at_all or not self._is_final(run)]
        if ids:
            found = await self._sources.rows(ids)
            self._rows.update({run: found.get(run) for run in ids if run in self._wanted})
        return {run: None if row is None else row.facts for run, row in self._rows.items()}

    def _is_final(self, run: bytes) -> bool:
        if run not in self._rows:
            return False
        row = self._rows[run]
        return row is None or row.is_over
