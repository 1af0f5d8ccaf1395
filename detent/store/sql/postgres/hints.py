"""Hints between the nodes of a PostgreSQL database, as notifications of the server."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, Final

from detent.store.protocol import Hints
from detent.store.sql.postgres.connection import PostgresAccess, connect, translated

CHANNEL: Final = "detent"
#: In a transaction of its own, which writes nothing. A notification in a flush would make the flushes of all nodes wait
#: for each other: the server lets only one transaction with a notification commit at a time.
NOTIFY: Final = f"select pg_notify('{CHANNEL}', $1)"


class PostgresHints(Hints):
    """Sends hints on the pool of the commands, and listens on a connection of its own."""

    def __init__(self, access: PostgresAccess) -> None:
        self._access = access
        self._name = secrets.token_hex(8)  # so that a process does not hear itself

    async def send(self) -> None:
        await self._access.pool.fetch(NOTIFY, self._name, writing=False)

    async def listen(self, heard: Callable[[], None]) -> None:
        connection = await connect(self._access.address)
        lost = asyncio.Event()

        def hear(_: Any, pid: int, channel: str, name: object) -> None:
            if name != self._name:
                heard()

        try:
            with translated(writing=False, where=self._access.address.where):
                connection.add_termination_listener(lambda _: lost.set())
                await connection.add_listener(CHANNEL, hear)
                heard()  # hints may have been missed until now
                await lost.wait()
        finally:
            connection.terminate()
