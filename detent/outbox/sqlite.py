"""The outbox in an application's SQLite file. Each call opens the file: the application may replace it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from detent.errors import StoreError
from detent.outbox.table import CREATE, NAME, OutboxRow, read

T = TypeVar("T")

_BUSY: Final = 5.0


class SqliteOutbox:
    """An outbox in a file. `path` need not exist yet: the application creates it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self, without: Sequence[int] = ()) -> Sequence[OutboxRow]:
        if not self._path.exists():
            return []
        return await self._call(partial(_read, without))

    async def drop(self, rows: Sequence[int]) -> None:
        def delete(connection: sqlite3.Connection) -> None:
            connection.executemany(f"delete from {NAME} where seq = ?", [(row,) for row in rows])

        await self._call(delete)

    async def refuse(self, row: int, error: str) -> None:
        def mark(connection: sqlite3.Connection) -> None:
            connection.execute(f"update {NAME} set error = ? where seq = ?", (error, row))

        await self._call(mark)

    async def close(self) -> None:
        return None

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._work, work)

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with closing(sqlite3.connect(self._path, timeout=_BUSY)) as connection, connection:
                return work(connection)
        except sqlite3.Error as error:
            raise StoreError(f"the outbox in {self._path} cannot be reached: {error}") from error


def _read(without: Sequence[int], connection: sqlite3.Connection) -> list[OutboxRow]:
    found = connection.execute("select 1 from sqlite_master where type = 'table' and name = ?", (NAME,)).fetchone()
    if found is None:
        connection.execute(CREATE["sqlite"])
        return []
    connection.text_factory = lambda text: text.decode(errors="replace")  # a row with invalid text must not stop others
    return [OutboxRow(*row) for row in connection.execute(read(without))]
