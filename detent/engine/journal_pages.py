"""Reads the journals of runs in pages that are bounded in entries and in bytes."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from detent.errors import StoreError
from detent.observe import emit
from detent.run.journal import Entry
from detent.store.protocol import DoorStore

PAGE_ENTRIES: Final = 64
PAGE_BYTES: Final = 1024 * 1024
#: Rows that are asked for at once, until their size is known.
_FIRST_PIECE: Final = 8
_LARGEST_PIECE: Final = 32
_AWAY_PAUSE: Final = 0.2
_LONGEST_AWAY_PAUSE: Final = 1.0


class Page(NamedTuple):
    """Entries in order. `is_last`: there were no more behind them when they were read."""

    entries: list[Entry]
    is_last: bool


class JournalPages:
    """The journal of one run. How many rows are asked for at once follows the size of those that came before, and
    `turns` bounds how many such pieces are in memory at all before they are cut to a page."""

    def __init__(self, store: DoorStore, run: bytes, turns: asyncio.Semaphore) -> None:
        self._store, self._run, self._turns = store, run, turns
        self._piece = _FIRST_PIECE

    async def read(self, after: int, *, limit: int = PAGE_ENTRIES, most: int = PAGE_BYTES) -> Page:
        """The entries after that place: at most `limit`, and no more than `most` bytes unless the first alone has."""
        found: list[Entry] = []
        size = 0
        while True:
            asked = min(limit - len(found), self._piece)
            async with self._turns:
                rows = await self._store.journal(self._run, after=after, limit=asked)
            for row in rows:
                size += len(row.data)
                if found and size > most:
                    return Page(found, is_last=False)
                found.append(row)
            if len(rows) < asked:
                return Page(found, is_last=True)
            if len(found) == limit:
                return Page(found, is_last=False)
            self._fit(rows, most)
            after = found[-1].seq

    async def read_patiently(self, after: int, *, limit: int = PAGE_ENTRIES) -> Page:
        """The same, as soon as the store answers."""
        pause = 0.0
        while True:
            try:
                return await self.read(after, limit=limit)
            except StoreError as error:
                if not pause:
                    emit("engine.trouble", where="feeds", error=error.message)
                pause = min(_LONGEST_AWAY_PAUSE, pause + _AWAY_PAUSE)
                await asyncio.sleep(pause)

    def _fit(self, rows: list[Entry], most: int) -> None:
        each = sum(len(row.data) for row in rows) // len(rows) + 1
        self._piece = max(1, min(self._piece * 2, most // each, _LARGEST_PIECE))
