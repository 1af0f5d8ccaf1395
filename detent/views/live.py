"""One stream for everything that a page watches: counts, inbox, alerts, lists of runs and firings, journals of runs.

Equal topics share one reader in this process. It reads the store at most once in a period, and only while there are
listeners. A listener has no queue: it has a cursor for each topic, and compares what it sent last with what the reader
has now. So a listener that does not read costs one batch of entries, and the last rows that it was sent.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from detent.documents.journal import EntryDocument
from detent.errors import StoreError
from detent.ids import FIRING, RUN, show
from detent.run.journal import Entry, Kind
from detent.run.status import TERMINAL, Status
from detent.store.rows import NO_ID
from detent.views.entries import entry_document
from detent.views.feeds import FeedReader, Feeds
from detent.views.readers import GAP, PERIOD, LiveSources, RowReader, SharedReader
from detent.views.step import cut

HEARTBEAT: Final = 15.0
#: How many new runs or firings of a list are counted.
MOST_NEW: Final = 100
MOST_ENTRIES: Final = 64
MOST_BYTES: Final = 250_000
#: A larger result of an entry is cut.
LARGEST_RESULT: Final = 4 * 1024

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class ValueTopic:
    """The counts of views, the inbox, or the alerts. `name` is also that of its event."""

    text: str
    name: str


@dataclass(frozen=True, slots=True)
class RunsTopic:
    """A list of runs by the query of its filter, and the runs of it that are on screen."""

    text: str
    query: str
    ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class RunTopic:
    """The journal of a run after an entry."""

    text: str
    run: bytes
    after: int


@dataclass(frozen=True, slots=True)
class FiringsTopic:
    """What triggers received, by the query of its filter."""

    text: str
    query: str


Topic = ValueTopic | RunsTopic | RunTopic | FiringsTopic


class LiveEvent(NamedTuple):
    """One event. `cursors` says where each topic goes on after it."""

    name: str
    data: bytes
    cursors: str


class RunsChanged(msgspec.Struct):
    """What changed in a list: rows on screen that differ, how many runs are new, and rows that were deleted."""

    topic: str
    changed: list[Any]
    new: int
    gone: list[str]


class FiringsChanged(msgspec.Struct):
    """What changed in a list of firings: how many are new, and the ids of known ones that have another status."""

    topic: str
    new: int
    changed: list[str]


class EntriesWritten(msgspec.Struct):
    """New entries of a journal, and the status of the run after them; null if it does not exist."""

    topic: str
    run_id: str
    entries: list[msgspec.Raw]
    seq: int
    status: str | None


# The parts of one listener, one for each topic.


class _Part(Protocol):
    task: asyncio.Task[None] | None

    def open(self, stack: ExitStack) -> None: ...

    def take(self) -> tuple[str, bytes] | None:
        """Return the next event and its data, or `None` if there is none now."""

    def cursor(self) -> str: ...


class _ValuePart:
    """A value that is sent when it has changed."""

    task: asyncio.Task[None] | None = None

    def __init__(self, hub: LiveHub, topic: ValueTopic, cursor: str | None, news: asyncio.Event) -> None:
        self._hub, self._topic, self._news = hub, topic, news
        self._seen = 0
        self._digest = cursor or "-"

    def open(self, stack: ExitStack) -> None:
        self._reader = self._hub.value_reader(self._topic.name)
        self._reader.watch(self._news)
        stack.callback(self._hub.leave, self._topic.name, self._reader, self._news)

    def take(self) -> tuple[str, bytes] | None:
        if self._reader.version == self._seen:
            return None
        self._seen = self._reader.version
        data = _encode(self._reader.value)
        digest = hashlib.sha256(data).hexdigest()[:12]
        if digest == self._digest:
            return None
        self._digest = digest
        return self._topic.name, data

    def cursor(self) -> str:
        return self._digest


class _RunsPart:
    """A list of runs. It owns what it has sent of each row, and the newest run that it has counted."""

    task: asyncio.Task[None] | None = None

    def __init__(self, hub: LiveHub, topic: RunsTopic, cursor: str | None, news: asyncio.Event) -> None:
        self._hub, self._topic, self._news = hub, topic, news
        self._newest = bytes.fromhex(cursor) if cursor and len(cursor) == 32 else None
        self._sent: dict[bytes, Hashable] = {}
        self._gone: set[bytes] = set()
        self._not_before = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def open(self, stack: ExitStack) -> None:
        self._reader = self._hub.list_reader(self._topic.query)
        self._reader.watch(self._news)
        stack.callback(self._hub.leave, ("runs", self._topic.query), self._reader, self._news)
        self._hub.rows.watch(self._topic.ids, self._news)
        stack.callback(self._hub.rows.leave, self._topic.ids, self._news)
        stack.callback(self._stop)

    def take(self) -> tuple[str, bytes] | None:
        loop = asyncio.get_running_loop()
        if loop.time() < self._not_before:
            if self._timer is None:
                self._timer = loop.call_at(self._not_before, self._wake)
            return None
        changed, gone = self._differences()
        new = self._count()
        if not (changed or gone or new):
            return None
        self._not_before = loop.time() + self._hub.period
        return "runs", _encode(RunsChanged(self._topic.text, changed, new, gone))

    def cursor(self) -> str:
        return "-" if self._newest is None else self._newest.hex()

    def _differences(self) -> tuple[list[Any], list[str]]:
        changed, gone = [], []
        for run in self._topic.ids:
            if run in self._gone or not self._hub.rows.has(run):
                continue
            row = self._hub.rows.get(run)
            if row is None:
                self._gone.add(run)
                gone.append(show(RUN, run))
            elif run not in self._sent or self._sent[run] != row.facts:
                self._sent[run] = row.facts
                changed.append(row.document)
        return changed, gone

    def _count(self) -> int:
        """Count the runs that are newer than the last one that was counted."""
        if not self._reader.version:
            return 0
        new, self._newest = _count_newer(self._reader.value or (), self._newest)
        return new

    def _wake(self) -> None:
        self._timer = None
        self._news.set()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _count_newer(ids: Sequence[bytes], before: bytes | None) -> tuple[int, bytes]:
    """Return how many ids are newer than the one counted last, and the newest. Nothing is new at first."""
    newest = max(before or NO_ID, ids[0] if ids else NO_ID)
    return 0 if before is None else sum(one > before for one in ids), newest


class _FiringsPart:
    """A list of firings. It owns the newest firing that it has counted, and the states that it has seen last."""

    task: asyncio.Task[None] | None = None

    def __init__(self, hub: LiveHub, topic: FiringsTopic, cursor: str | None, news: asyncio.Event) -> None:
        self._hub, self._topic, self._news = hub, topic, news
        self._newest = bytes.fromhex(cursor) if cursor and len(cursor) == 32 else None
        self._states: dict[bytes, str] = {}
        self._seen = 0

    def open(self, stack: ExitStack) -> None:
        self._reader = self._hub.firings_reader(self._topic.query)
        self._reader.watch(self._news)
        stack.callback(self._hub.leave, ("firings", self._topic.query), self._reader, self._news)

    def take(self) -> tuple[str, bytes] | None:
        if self._reader.version == self._seen:
            return None
        self._seen = self._reader.version
        states = dict(self._reader.value or ())
        new, self._newest = _count_newer(list(states), self._newest)
        changed = [show(FIRING, one) for one, state in states.items() if self._states.get(one, state) != state]
        self._states = states
        if not (new or changed):
            return None
        return "firings", _encode(FiringsChanged(self._topic.text, new, changed))

    def cursor(self) -> str:
        return "-" if self._newest is None else self._newest.hex()


class _RunPart:
    """The journal of one run. It owns at most one batch of entries, and takes the next one after that was sent."""

    def __init__(self, hub: LiveHub, topic: RunTopic, cursor: str | None, news: asyncio.Event) -> None:
        self._hub, self._topic, self._news = hub, topic, news
        self._after = int(cursor) if cursor and cursor.isdigit() else topic.after
        self._reader: FeedReader | None = None
        self._batch: list[Entry] = []
        self._taken = asyncio.Event()
        self._status: str | None = None
        self._is_over = False
        self._has_said = False
        self.task: asyncio.Task[None] | None = None

    def open(self, stack: ExitStack) -> None:
        self.task = asyncio.create_task(self._follow())
        stack.callback(self.task.cancel)

    async def _follow(self) -> None:
        self._status = await self._hub.status(self._topic.run)
        if self._status is not None:
            with self._hub.feeds.reader(self._hub.tenant, self._topic.run, after=self._after) as reader:
                self._reader = reader
                while (entry := await reader.next()) is not None:
                    self._batch.append(entry)
                    self._taken.clear()
                    self._news.set()
                    await self._taken.wait()
                has_ended = reader.has_ended
            if not has_ended:
                return  # this process stops
            self._status = await self._hub.status(self._topic.run)
        self._is_over = True
        self._news.set()

    def take(self) -> tuple[str, bytes] | None:
        if not self._batch and (not self._is_over or self._has_said):
            return None
        batch, self._batch = self._batch, []
        size = sum(len(entry.data) for entry in batch)
        while self._reader is not None and batch and len(batch) < MOST_ENTRIES and size < MOST_BYTES:
            entry = self._reader.ready()
            if entry is None:
                break
            batch.append(entry)
            size += len(entry.data)
        if batch:
            self._after = batch[-1].seq
            self._status = _status_after(batch, self._status)
        self._has_said = self._is_over
        self._taken.set()
        run = show(RUN, self._topic.run)
        entries = [msgspec.Raw(_entry(entry)) for entry in batch]
        return "entries", _encode(EntriesWritten(self._topic.text, run, entries, self._after, self._status))

    def cursor(self) -> str:
        return str(self._after)


def _status_after(batch: Sequence[Entry], status: str | None) -> str | None:
    """Return the status of a run after these entries, as far as they say it."""
    for entry in batch:
        document = _document(entry)
        if document.run_status is not None:
            status = document.run_status
        elif entry.kind == Kind.PAUSED and status not in TERMINAL:
            status = str(Status.PAUSED)
        elif entry.kind in (Kind.RESUMED, Kind.OPENED) and status not in TERMINAL:
            status = str(Status.RUNNING)
    return status


@lru_cache(maxsize=64)
def _document(entry: Entry) -> EntryDocument:
    document = entry_document(entry)
    raw = bytes(document.result or b"")
    if len(raw) > LARGEST_RESULT:
        document.result = cut(raw)
    return document


@lru_cache(maxsize=64)
def _entry(entry: Entry) -> bytes:
    """Encode an entry. Listeners of a run are sent the same entries at about the same time."""
    return _encode(_document(entry)).replace(b"\r", b" ").replace(b"\n", b" ")


class LiveHub:
    """The readers of a tenant in this process, by what they read. `close` ends all streams, also later ones."""

    def __init__(self, sources: LiveSources, feeds: Feeds, tenant: int, *, period: float = PERIOD) -> None:
        self._sources, self.feeds, self.tenant, self.period = sources, feeds, tenant, period
        self.rows = RowReader(sources, period)
        self._readers: dict[Hashable, SharedReader[Any]] = {}
        self._statuses: dict[bytes, asyncio.Task[str | None]] = {}
        self._news: set[asyncio.Event] = set()
        self._is_closed = False
        feeds.when_closed(self.close)

    def value_reader(self, name: str) -> SharedReader[Any]:
        """Return the reader of the counts, of the inbox or of the alerts."""
        sources = self._sources
        read = {"counts": sources.counts, "inbox": sources.inbox, "alerts": sources.alerts}[name]
        return self._reader(name, read)

    def list_reader(self, query: str) -> SharedReader[tuple[bytes, ...]]:
        """Return the reader of the newest runs of a filter."""

        async def read() -> tuple[bytes, ...]:
            return tuple(await self._sources.newest(query, limit=MOST_NEW))

        return self._reader(("runs", query), read)

    def firings_reader(self, query: str) -> SharedReader[tuple[tuple[bytes, str], ...]]:
        """Return the reader of the newest firings of a filter."""

        async def read() -> tuple[tuple[bytes, str], ...]:
            return tuple(await self._sources.firings(query, limit=MOST_NEW))

        return self._reader(("firings", query), read)

    def leave(self, key: Hashable, reader: SharedReader[Any], news: asyncio.Event) -> None:
        """Stop watching a reader. It is dropped after its last listener."""
        if reader.leave(news) and self._readers.get(key) is reader:
            del self._readers[key]

    async def status(self, run: bytes) -> str | None:
        """Return the status of a run. Listeners that ask at the same time share one read."""
        task = self._statuses.get(run)
        if task is None:
            task = self._statuses[run] = asyncio.create_task(self._read_status(run))
            task.add_done_callback(lambda _: self._statuses.pop(run, None))
        return await asyncio.shield(task)

    async def _read_status(self, run: bytes) -> str | None:
        while True:
            try:
                return await self._sources.status(run)
            except StoreError:
                await asyncio.sleep(self.period)

    async def follow(
        self, topics: Sequence[Topic], cursors: Mapping[int, str], *, heartbeat: float = HEARTBEAT
    ) -> AsyncGenerator[LiveEvent | None, None]:
        """Yield the events of these topics, and None if there was none for a while. `cursors` are those of topics that
        were followed before, by their place."""
        news = asyncio.Event()
        parts = [self._part(topic, cursors.get(place), news) for place, topic in enumerate(topics)]
        try:
            with ExitStack() as stack:
                self._news.add(news)
                stack.callback(self._news.discard, news)
                for part in parts:
                    part.open(stack)
                while not self._is_closed:
                    try:
                        async with asyncio.timeout(heartbeat):
                            await news.wait()
                    except TimeoutError:
                        yield None
                        continue
                    news.clear()
                    for part in parts:
                        event = part.take()
                        if event is not None:
                            yield LiveEvent(*event, ",".join(one.cursor() for one in parts))
                    await asyncio.sleep(min(GAP, self.period))
        finally:
            await asyncio.gather(*(part.task for part in parts if part.task is not None), return_exceptions=True)

    def close(self) -> None:
        """End all streams."""
        self._is_closed = True
        for news in self._news:
            news.set()

    def _reader(self, key: Hashable, read: Callable[[], Awaitable[Any]]) -> SharedReader[Any]:
        found = self._readers.get(key)
        if found is None:
            found = self._readers[key] = SharedReader(read, self.period)
        return found

    def _part(self, topic: Topic, cursor: str | None, news: asyncio.Event) -> _Part:
        match topic:
            case ValueTopic():
                return _ValuePart(self, topic, cursor, news)
            case RunsTopic():
                return _RunsPart(self, topic, cursor, news)
            case RunTopic():
                return _RunPart(self, topic, cursor, news)
            case FiringsTopic():
                return _FiringsPart(self, topic, cursor, news)


def read_cursors(text: str, topics: int) -> dict[int, str]:
    """Return the cursors of an event by the place of their topic. A text that does not fit the topics has none."""
    parts = text.split(",")
    if len(parts) != topics:
        return {}
    return {place: part for place, part in enumerate(parts) if part.isascii() and part.isalnum() and len(part) <= 32}
