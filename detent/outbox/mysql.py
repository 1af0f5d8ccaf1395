"""The outbox in an application's MariaDB or MySQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.outbox.table import CREATE, NAME, OutboxRow, read
from detent.store.sql.mysql.connection import Address, MysqlConnection
from detent.store.sql.mysql.flush import quote

_THERE: Final = f"select 1 from information_schema.tables where table_schema = database() and table_name = '{NAME}'"


class MysqlOutbox:
    """An outbox with one connection, opened on first use."""

    def __init__(self, url: str) -> None:
        self._connection = MysqlConnection(Address.parse(url))
        self._is_made = False

    async def read(self, without: Sequence[int] = ()) -> Sequence[OutboxRow]:
        if not self._is_made:
            [there] = await self._connection.send(_THERE, writing=False)
            if not there.rows:
                await self._connection.send(CREATE["mysql"])
            self._is_made = True
        [found] = await self._connection.send(read(without), writing=False)
        return [OutboxRow(*row) for row in found.rows]

    async def drop(self, rows: Sequence[int]) -> None:
        listed = ", ".join(str(int(row)) for row in rows)
        await self._connection.send(f"delete from {NAME} where seq in ({listed})")

    async def refuse(self, row: int, error: str) -> None:
        await self._connection.send(f"update {NAME} set error = {quote(error)} where seq = {int(row)}")

    async def close(self) -> None:
        await self._connection.close()
