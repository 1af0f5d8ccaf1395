"""Fetches starts out of the database of an application, one row after the other.

A run is started with the row's id as its request id, and the row is deleted then: whoever dies in between leaves a row
whose start is known already. A row that cannot be started says why, and the others go on; so they do while somebody
else's open transaction is in the way of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

import msgspec

from detent.engine.commands import Commands, Given, StartOptions
from detent.errors import (
    CommitUnknown,
    DetentError,
    HeldUp,
    InvalidInput,
    NotFound,
    SchemaMismatch,
    StoreBusy,
    Unavailable,
)
from detent.instant import Instant
from detent.observe import emit
from detent.outbox.held_up import HeldUpRows
from detent.outbox.table import BATCH, Waiting
from detent.python.registry import registry

T = TypeVar("T")

INTERVAL: Final = 0.2
AFTER_TROUBLE: Final = 1.0
_LONGEST_ERROR: Final = 2000
#: Trouble of this moment. Whatever else comes of a row would come of it however often it is tried.
_PASSES: Final = (Unavailable, StoreBusy, CommitUnknown, SchemaMismatch)


class _Options(msgspec.Struct):
    """What stands in a row beside workflow and body."""

    request_id: str | None = None
    start_at: Instant | None = None
    labels: dict[str, str] | None = None
    hero: tuple[str, str] | None = None
    priority: int | None = None
    allow_multiple: bool | None = None


class Outbox(Protocol):
    """The table in one database. Its troubles are StoreError."""

    async def read(self, without: Sequence[int] = ()) -> Sequence[Waiting]:
        """The rows that come next, oldest first, but for those."""

    async def drop(self, rows: Sequence[int]) -> None:
        """These were started."""

    async def refuse(self, row: int, error: str) -> None:
        """This one cannot be."""

    async def close(self) -> None: ...


class Relay:
    """One outbox, as a chore of a node."""

    name = "outbox"

    def __init__(self, outbox: Outbox, commands: Commands) -> None:
        self._outbox, self._commands = outbox, commands
        self._held_up = HeldUpRows()

    async def poll(self) -> float:
        rows = await self._outbox.read(self._held_up.not_now(self._commands.now()))
        self._held_up.were_read(rows)
        started: list[int] = []
        try:
            for row in rows:
                try:
                    if await self._start(row):
                        started.append(row.seq)
                except _PASSES:
                    return AFTER_TROUBLE
                except Exception as error:  # noqa: BLE001 - one row that nobody can read must not hold up the others
                    await self._refuse(row, error)
        finally:
            if started:
                await self._outbox.drop(started)
        return 0.0 if len(rows) == BATCH else INTERVAL

    async def close(self) -> None:
        await self._outbox.close()

    async def _start(self, row: Waiting) -> bool:
        """Whether it is started; if not, it waits for somebody else's transaction."""
        given, options = Given(_read(row.body, Any)), _options(row, _read(row.options, _Options))
        about = _about(row.workflow, options)
        if not self._held_up.is_behind(row.seq, about):
            with suppress(HeldUp):
                await self._begin(row, given, options)
                self._held_up.forget(row.seq)
                return True
        if not self._held_up.add(row.seq, about, self._commands.now()):
            raise HeldUp
        return False

    async def _begin(self, row: Waiting, given: Given, options: StartOptions) -> None:
        try:
            await self._commands.start(row.workflow, given, options)
        except NotFound:
            known = registry.find(row.workflow)
            if known is None:
                raise
            await self._commands.save_python(known.compiled, known.source)
            await self._commands.start(row.workflow, given, options)

    async def _refuse(self, row: Waiting, error: Exception) -> None:
        code = error.code if isinstance(error, DetentError) else type(error).__name__
        told = _that_can_be_kept(f"{code}: {error}")
        self._held_up.forget(row.seq)
        emit("outbox.refused", outbox_id=row.id, workflow=row.workflow, error=told)
        await self._outbox.refuse(row.seq, told)


def _that_can_be_kept(error: str) -> str:
    """What is wrong with a row may stand in its error too."""
    return error[:_LONGEST_ERROR].replace("\0", "\ufffd").encode(errors="replace").decode()


def _read(text: str, what: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=what)
    except RecursionError:
        raise InvalidInput("it is nested too deep to be read") from None


def _options(row: Waiting, given: _Options) -> StartOptions:
    return StartOptions(
        request_id=given.request_id or f"outbox:{row.id}",
        start_at=given.start_at,
        labels=given.labels or {},
        hero=given.hero,
        priority=given.priority,
        allow_multiple=bool(given.allow_multiple),
        id=_id(row.id),
    )


def _about(workflow: str, options: StartOptions) -> frozenset[tuple[object, ...]]:
    """What no other run may have beside this one."""
    about: set[tuple[object, ...]] = {("request_id", options.request_id)}
    if options.hero is not None and not options.allow_multiple:
        about.add(("hero", workflow, options.hero))
    return frozenset(about)


def _id(text: str) -> bytes:
    try:
        id_ = bytes.fromhex(text)
    except ValueError:
        id_ = b""
    if len(id_) != 16:
        raise InvalidInput(f"the id {text[:80]!r} is not 16 bytes in hexadecimal digits")
    return id_
