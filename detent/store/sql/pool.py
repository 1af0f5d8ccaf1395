"""A few connections that callers take in turn, whatever the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

from detent.errors import StoreBusy


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
