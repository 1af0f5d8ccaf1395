"""Fetches starts out of the database of an application, one row after the other.

A run is started with the row's id as its request id, and the row is deleted then: whoever dies in between leaves a row
whose start is known already. A row that cannot be started says why, and the others go on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Protocol

import msgspec

from detent.engine.commands import Commands, Given, StartOptions
from detent.errors import Conflict, DetentError, EngineError, InvalidInput, NotFound, Unavailable
from detent.observe import emit
from detent.outbox.table import BATCH, Waiting
from detent.python.registry import registry

INTERVAL: Final = 0.2
AFTER_TROUBLE: Final = 1.0
_LONGEST_ERROR: Final = 2000
#: What would go wrong again however often it is tried. Trouble of Detent's own database is not among it.
_HOPELESS: Final = (InvalidInput, NotFound, Conflict, ValueError, TypeError, KeyError)


class Outbox(Protocol):
    """The table in one database. Its troubles are StoreError."""

    async def read(self) -> Sequence[Waiting]:
        """The rows that come next, oldest first."""

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

    async def poll(self) -> float:
        rows = await self._outbox.read()
        started: list[int] = []
        try:
            for row in rows:
                try:
                    await self._start(row)
                except _HOPELESS as error:
                    await self._refuse(row, error)
                else:
                    started.append(row.seq)
        except (Unavailable, EngineError):
            return AFTER_TROUBLE
        finally:
            if started:
                await self._outbox.drop(started)
        return 0.0 if len(rows) == BATCH else INTERVAL

    async def close(self) -> None:
        await self._outbox.close()

    async def _start(self, row: Waiting) -> None:
        given = Given(msgspec.json.decode(row.body))
        options = _options(row, json.loads(row.options))
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
        emit("outbox.refused", outbox_id=row.id, workflow=row.workflow, error=str(error)[:_LONGEST_ERROR])
        await self._outbox.refuse(row.seq, f"{code}: {error}"[:_LONGEST_ERROR])


def _options(row: Waiting, given: dict[str, Any]) -> StartOptions:
    hero = given.get("hero")
    return StartOptions(
        request_id=given.get("request_id") or f"outbox:{row.id}",
        start_at=given.get("start_at"),
        labels=dict(given.get("labels") or {}),
        hero=None if hero is None else (str(hero[0]), str(hero[1])),
        priority=given.get("priority"),
        allow_multiple=bool(given.get("allow_multiple")),
        id=bytes.fromhex(row.id),
    )
