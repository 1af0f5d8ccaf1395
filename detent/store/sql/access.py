"""How verbs reach a SQL database: the contract of a dialect's connections, and a pool of them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ClauseElement

from detent.errors import StoreBusy
from detent.store.sql.compiler import Values

# A few connections that callers take in turn, whatever the database.


class Closable(Protocol):
    """Whatever a dialect keeps its connection in."""

    async def close(self) -> None: ...


L = TypeVar("L", bound=Closable)


class LinkPool(Generic[L]):
    """Nobody waits longer than `patience` seconds for a link."""

    def __init__(self, links: Iterable[L], patience: float) -> None:
        self._free = list(links)
        self._all = tuple(self._free)
        self._room = asyncio.Semaphore(len(self._free))
        self._patience = patience

    @asynccontextmanager
    async def link(self) -> AsyncIterator[L]:
        try:
            async with asyncio.timeout(self._patience):  # `wait_for` of Python 3.11 can lose a cancellation
                await self._room.acquire()
        except TimeoutError:
            raise StoreBusy("every connection to the database is in use") from None
        link = self._free.pop()
        try:
            yield link
        finally:
            self._free.append(link)
            self._room.release()

    async def close(self) -> None:
        for link in self._all:
            await link.close()


T = TypeVar("T")
Rows = Sequence[Sequence[Any]]
Step = tuple[ClauseElement, Values]
#: A transaction as a dialogue: it asks for one statement after the other and is given the rows of each.
Script = Generator[Step, Rows, T]


class SqlAccess(ABC):
    """Every connection of a store. The verbs that are the same on every SQL database use these methods alone."""

    @abstractmethod
    async def now(self) -> int:
        """Return the database's time."""

    @abstractmethod
    async def query(self, clause: ClauseElement, values: Values) -> Rows:
        """Return the rows of one statement that changes nothing."""

    @abstractmethod
    async def run_script(self, begin: Callable[[], Script[T]]) -> T:
        """Run the statements of a script as one transaction, and commit it with what the script returns. Every
        statement sees what was committed before it."""

    async def execute(self, clause: ClauseElement, values: Values) -> Rows:
        """Run one statement as a transaction of its own."""

        def only() -> Script[Rows]:
            return (yield clause, values)

        return await self.run_script(only)

    @abstractmethod
    async def close(self) -> None: ...
