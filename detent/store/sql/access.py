"""How verbs use a SQL database: the contract of a dialect's connections, and a pool of them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ClauseElement

from detent.errors import StoreBusy
from detent.store.sql.compiler import Values

# The pool: a few connections that callers share, for every database.


class Closable(Protocol):
    """Any object that owns a dialect's connection."""

    async def close(self) -> None: ...


L = TypeVar("L", bound=Closable)


class ConnectionPool(Generic[L]):
    """A fixed set of connections. A caller that waits longer than `patience` seconds for one gets StoreBusy."""

    def __init__(self, connections: Iterable[L], patience: float) -> None:
        self._free = list(connections)
        self._all = tuple(self._free)
        self._room = asyncio.Semaphore(len(self._free))
        self._patience = patience

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[L]:
        try:
            async with asyncio.timeout(self._patience):  # `wait_for` of Python 3.11 can lose a cancellation
                await self._room.acquire()
        except TimeoutError:
            raise StoreBusy("every connection to the database is in use") from None
        connection = self._free.pop()
        try:
            yield connection
        finally:
            self._free.append(connection)
            self._room.release()

    async def close(self) -> None:
        for connection in self._all:
            await connection.close()


T = TypeVar("T")
Rows = Sequence[Sequence[Any]]
Step = tuple[ClauseElement, Values]
#: A transaction as a generator: it yields one statement after another and receives the rows of each.
Script = Generator[Step, Rows, T]


class SqlAccess(ABC):
    """Owns every connection of a store. Verbs that are the same on every SQL database use only these methods."""

    @abstractmethod
    async def now(self) -> int:
        """Return the database's time."""

    @abstractmethod
    async def query(self, clause: ClauseElement, values: Values) -> Rows:
        """Return the rows of one statement that changes nothing."""

    @abstractmethod
    async def run_script(self, begin: Callable[[], Script[T]]) -> T:
        """Run the statements of a script as one transaction, commit it and return what the script returns.

        Every statement sees what was committed before it."""

    async def execute(self, clause: ClauseElement, values: Values) -> Rows:
        """Run one statement as its own transaction."""

        def only() -> Script[Rows]:
            return (yield clause, values)

        return await self.run_script(only)

    @abstractmethod
    async def close(self) -> None: ...
