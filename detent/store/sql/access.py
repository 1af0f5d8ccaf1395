"""How the verbs that are the same on every SQL database reach it: a dialect gives them three ways."""

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
    """What a dialect must be able to do."""

    @abstractmethod
    async def now(self) -> int:
        """The database's time."""

    @abstractmethod
    async def _read(self, clause: ClauseElement, values: Values) -> Rows:
        """The rows of one statement that changes nothing."""

    @abstractmethod
    async def _talk(self, begin: Callable[[], Script[T]]) -> T:
        """Run what a dialogue asks for as one transaction, in which every statement sees what was committed before it;
        with what the dialogue returns it is committed."""

    async def _write(self, clause: ClauseElement, values: Values) -> Rows:
        """Run one statement as a transaction of its own."""

        def only() -> Script[Rows]:
            return (yield clause, values)

        return await self._talk(only)
