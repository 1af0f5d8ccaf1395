"""The relay of an outbox: it starts the runs whose rows an application has written into its own database, and passes
on the changes of records.

A run is started with the row's id as its request id, and then the row is deleted. If the process dies in between, the
row is read again and its start is known. A row that cannot be started gets its error, and the others continue. They
also continue while another transaction blocks one of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from detent.commands import Commands
from detent.errors import (
    CommitUnknown,
    DetentError,
    InvalidInput,
    NotFound,
    SchemaMismatch,
    StartBlocked,
    StoreBusy,
    Unavailable,
)
from detent.instant import Instant, micros
from detent.observe import emit
from detent.outbox.table import BATCH, EVENT, OutboxRow
from detent.python.registry import registry
from detent.run.start import StartRequest
from detent.store.events import NewEvent

#: At most this many rows wait here: every query for the next rows excludes them by number.
MOST: Final = 1_000
#: At most this many are tried again at a time, since each blocked attempt takes a moment.
AT_ONCE: Final = 5
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 10.0


class _Front(NamedTuple):
    """A blocked row: when it is tried again, and the pause before that in seconds."""

    until: Instant
    pause: float


class ContendedRows:
    """Rows that another transaction blocks, by their number. Each is tried again after a pause.

    Rows with the same subject stay in order: those behind a blocked row wait for it."""

    def __init__(self) -> None:
        self._fronts: dict[int, _Front] = {}
        self._behind: dict[int, int] = {}  # the front that a row waits for
        self._about: dict[Hashable, int] = {}  # the front that has this subject
        self._due: Sequence[int] = ()

    def not_now(self, now: Instant) -> Sequence[int]:
        """Return the rows that must not be read yet."""
        self._due = sorted(seq for seq, front in self._fronts.items() if front.until <= now)[:AT_ONCE]
        return [*(seq for seq in self._fronts if seq not in self._due), *self._behind]

    def were_read(self, rows: Sequence[OutboxRow]) -> None:
        """Record which rows exist: a row that should be among them and is not has been deleted."""
        found = {row.seq for row in rows}
        is_all = len(rows) < BATCH
        for seq in self._due:
            if seq not in found and (is_all or seq < rows[-1].seq):
                self.forget(seq)

    def is_behind(self, seq: int, about: Set[Hashable]) -> bool:
        """Return whether another blocked row has the same subject."""
        return self._front(seq, about) != seq

    def add(self, seq: int, about: Set[Hashable], now: Instant) -> bool:
        """Add a row that is blocked, perhaps again, or that follows a blocked row. Return False if there is no room."""
        known = self._fronts.get(seq)
        if known is None and len(self._fronts) + len(self._behind) >= MOST:
            return False
        front = self._front(seq, about)
        if front != seq:
            self._behind[seq] = front
            return True
        pause = FIRST_PAUSE if known is None else min(LONGEST_PAUSE, known.pause * 2)
        self._fronts[seq] = _Front(now + micros(pause), pause)
        self._about.update(dict.fromkeys(about, seq))
        return True

    def _front(self, seq: int, about: Set[Hashable]) -> int:
        return next((self._about[what] for what in about if what in self._about), seq)

    def forget(self, seq: int) -> None:
        """Remove a row, and free those behind it."""
        if self._fronts.pop(seq, None) is not None:
            self._about = {what: front for what, front in self._about.items() if front != seq}
            self._behind = {row: front for row, front in self._behind.items() if front != seq}


T = TypeVar("T")

INTERVAL: Final = 0.2
AFTER_TROUBLE: Final = 1.0
_LONGEST_ERROR: Final = 2000
#: Temporary errors: the row is tried again. Every other error would occur again, however often the row is tried.
_PASSES: Final = (Unavailable, StoreBusy, CommitUnknown, SchemaMismatch)


class _Options(msgspec.Struct):
    """The options of a row besides workflow and body."""

    request_id: str | None = None
    start_at: Instant | None = None
    labels: dict[str, str] | None = None
    hero: tuple[str, str] | None = None
    priority: int | None = None
    allow_multiple: bool | None = None


class Outbox(Protocol):
    """The table in one database. Its errors are StoreError."""

    async def read(self, without: Sequence[int] = ()) -> Sequence[OutboxRow]:
        """Return the next rows, oldest first, except `without`."""

    async def drop(self, rows: Sequence[int]) -> None:
        """Delete rows that were started."""

    async def refuse(self, row: int, error: str) -> None:
        """Store the error of a row that cannot be started."""

    async def close(self) -> None: ...


class EventSink(Protocol):
    """Stores changes of records that an outbox has. Storing the same one twice is harmless."""

    async def read_relayed(self, id_: bytes, body: Any) -> NewEvent:
        """Return the event of a row. Raise InvalidInput if it is not one, or if there is no such entity."""

    async def store_relayed(self, events: Sequence[NewEvent]) -> None:
        """Store events, in order. When this returns they are durable."""


class Relay:
    """The relay of one outbox, a background task of a node. Without `events` it leaves changes of records alone."""

    name = "outbox"

    def __init__(self, outbox: Outbox, commands: Commands, events: EventSink | None = None) -> None:
        self._outbox, self._commands, self._events = outbox, commands, events
        self._contended = ContendedRows()

    async def poll(self) -> float:
        rows = await self._outbox.read(self._contended.not_now(self._commands.now()))
        self._contended.were_read(rows)
        started: list[int] = []
        try:
            if not await self._pass_on([row for row in rows if row.workflow == EVENT], started):
                return AFTER_TROUBLE
            for row in rows:
                if row.workflow == EVENT:
                    continue
                try:
                    if await self._start(row):
                        started.append(row.seq)
                except _PASSES:
                    return AFTER_TROUBLE
                except Exception as error:  # noqa: BLE001 - one unreadable row must not block the others
                    await self._refuse(row, error)
        finally:
            if started:
                await self._outbox.drop(started)
        return 0.0 if len(rows) == BATCH else INTERVAL

    async def close(self) -> None:
        await self._outbox.close()

    async def _pass_on(self, rows: Sequence[OutboxRow], done: list[int]) -> bool:
        """Store the changes of records among the rows, all at once and in order. Return False if that must wait."""
        events: dict[int, NewEvent] = {}
        try:
            for row in rows:
                try:
                    if self._events is None:
                        raise InvalidInput("this node does not receive changes of records")
                    events[row.seq] = await self._events.read_relayed(_id(row.id), _read(row.body, Any))
                except _PASSES:
                    raise
                except Exception as error:  # noqa: BLE001 - one unreadable row must not block the others
                    await self._refuse(row, error)
            if events and self._events is not None:
                await self._events.store_relayed(list(events.values()))
        except _PASSES:
            return False
        done += events
        return True

    async def _start(self, row: OutboxRow) -> bool:
        """Start a row. Return False if another transaction blocks it."""
        request = _start_request(row)
        about = _about(request)
        if not self._contended.is_behind(row.seq, about):
            with suppress(StartBlocked):
                await self._begin(request)
                self._contended.forget(row.seq)
                return True
        if not self._contended.add(row.seq, about, self._commands.now()):
            raise StartBlocked
        return False

    async def _begin(self, request: StartRequest) -> None:
        try:
            await self._commands.starts.start(request)
        except NotFound:
            known = registry.find(request.workflow)
            if known is None:
                raise
            await self._commands.workflows.save_python(known.compiled, known.source)
            await self._commands.starts.start(request)

    async def _refuse(self, row: OutboxRow, error: Exception) -> None:
        code = error.code if isinstance(error, DetentError) else type(error).__name__
        reason = _that_can_be_kept(f"{code}: {error}")
        self._contended.forget(row.seq)
        emit("outbox.refused", outbox_id=row.id, workflow=row.workflow, error=reason)
        await self._outbox.refuse(row.seq, reason)


def _that_can_be_kept(error: str) -> str:
    """Make the text storable: the error may quote what is wrong with the row."""
    return error[:_LONGEST_ERROR].replace("\0", "\ufffd").encode(errors="replace").decode()


def _read(text: str, what: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=what)
    except RecursionError:
        raise InvalidInput("it is nested too deep to be read") from None


def _start_request(row: OutboxRow) -> StartRequest:
    given = _read(row.options, _Options)
    return StartRequest(
        row.workflow,
        _read(row.body, Any),
        request_id=given.request_id or f"outbox:{row.id}",
        start_at=given.start_at,
        labels=given.labels or {},
        hero=given.hero,
        priority=given.priority,
        allow_multiple=bool(given.allow_multiple),
        id=_id(row.id),
    )


def _about(request: StartRequest) -> frozenset[tuple[object, ...]]:
    """Return the keys that no other run may share with this one."""
    about: set[tuple[object, ...]] = {("request_id", request.request_id)}
    if request.hero is not None and not request.allow_multiple:
        about.add(("hero", request.workflow, request.hero))
    return frozenset(about)


def _id(text: str) -> bytes:
    try:
        id_ = bytes.fromhex(text)
    except ValueError:
        id_ = b""
    if len(id_) != 16:
        raise InvalidInput(f"the id {text[:80]!r} is not 16 bytes in hexadecimal digits")
    return id_
