"""The outbox in an application's PostgreSQL database."""

from __future__ import annotations

from collections.abc import Sequence

from detent.outbox.table import CREATE, NAME, OutboxRow, read
from detent.store.sql.postgres.connection import Address, PostgresConnection


class PostgresOutbox:
    """An outbox with one connection, opened on first use."""

    def __init__(self, url: str) -> None:
        self._connection = PostgresConnection(Address.parse(url))
        self._is_made = False

    async def read(self, without: Sequence[int] = ()) -> Sequence[OutboxRow]:
        if not self._is_made:
            # Look first: a user that may read rows does not need the right to create a table.
            there = await self._connection.fetch("select to_regclass($1) is not null", NAME, writing=False)
            if not there[0][0]:
                await self._connection.fetch(CREATE["postgresql"])
            self._is_made = True
        return [OutboxRow(*row) for row in await self._connection.fetch(read(without), writing=False)]

    async def drop(self, rows: Sequence[int]) -> None:
        await self._connection.fetch(f"delete from {NAME} where seq = any($1::bigint[])", list(rows))

    async def refuse(self, row: int, error: str) -> None:
        await self._connection.fetch(f"update {NAME} set error = $2 where seq = $1", row, error)

    async def close(self) -> None:
        await self._connection.close()
