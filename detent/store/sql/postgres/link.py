"""Connections that heal: opened when they are needed, thrown away after a failure, opened again by the next call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import asyncpg

from detent.store.sql.pool import LinkPool
from detent.store.sql.postgres.wire import COMMAND_TIMEOUT, Address, Connection, connect, leaves_doubt, translated

T = TypeVar("T")
Work = Callable[[Connection], Coroutine[Any, Any, T]]
Records = Sequence[asyncpg.Record]


class Link:
    """One connection, one statement or transaction at a time."""

    def __init__(self, address: Address, *, limit: float = COMMAND_TIMEOUT) -> None:
        """`limit`: how many seconds a call may take before its connection is cut."""
        self._address, self._limit = address, limit
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()

    async def fetch(self, sql: str, *arguments: Any, writing: bool = True) -> Records:
        """Run one statement as its own transaction."""

        async def one(connection: Connection) -> Records:
            return await connection.fetch(sql, *arguments)

        return await self.call(one, writing=writing)

    async def call(self, work: Work[T], *, writing: bool = True) -> T:
        """Run `work` on the connection. Through a pooler it is always inside a transaction, because only that keeps
        one server session for the driver's several messages."""
        async with self._turn:
            connection = await self._open()
            # Cutting the wire ends every wait at once; asking a server that does not answer to cancel would not.
            limit = asyncio.get_running_loop().call_later(self._limit, connection.terminate)
            try:
                with translated(writing=writing):
                    return await (_in_transaction(connection, work) if self._address.pooled else work(connection))
            except BaseException as error:
                if leaves_doubt(error.__cause__ or error):
                    self._drop()
                raise
            finally:
                limit.cancel()

    async def transaction(self, work: Work[T]) -> T:
        """Run `work` as one transaction of several statements."""

        async def whole(connection: Connection) -> T:
            return await _in_transaction(connection, work)

        return await self.call(work if self._address.pooled else whole)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection and not connection.is_closed():
            try:
                await connection.close(timeout=1.0)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()

    async def _open(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = None
            self._connection = await connect(self._address)
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.terminate()


async def _in_transaction(connection: Connection, work: Work[T]) -> T:
    async with connection.transaction():
        return await work(connection)


class Pool(LinkPool[Link]):
    """A few links for the doors."""

    def __init__(self, address: Address, size: int, patience: float = 5.0) -> None:
        super().__init__((Link(address) for _ in range(size)), patience)

    async def fetch(self, sql: str, *arguments: Any, writing: bool = True) -> Records:
        async with self.link() as link:
            return await link.fetch(sql, *arguments, writing=writing)

    async def transaction(self, work: Work[T]) -> T:
        async with self.link() as link:
            return await link.transaction(work)
