"""A document of the identity provider that is read from its address, and remembered.

It is used for 10 minutes. After that it is read again in the background; while that fails, the old one is used for 24
hours at most. A document that lacks what a request needs is read again at once, but not more than once in 30 seconds:
strangers cannot make the node send requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from detent.auth.fetcher import Fetcher, FetchFailed
from detent.clock import Clock
from detent.errors import InvalidInput
from detent.observe import emit

LARGEST: Final = 64 * 1024
#: Seconds after which a document is read again, after which an old one is not used, and between two fetches.
FRESH: Final = 600.0
USABLE: Final = 86_400.0
PAUSE: Final = 30.0

T = TypeVar("T")


class RemoteDocument(Generic[T]):
    """A document at an address. It owns the last one that was read, and the open fetch.

    `read` makes a value of its bytes and raises InvalidInput if it cannot."""

    def __init__(self, url: str, fetcher: Fetcher, clock: Clock, read: Callable[[bytes], T]) -> None:
        self._url = url
        self._fetcher = fetcher
        self._clock = clock
        self._read = read
        self._value: T | None = None
        self._read_at: float = 0
        self._tried_at: float | None = None
        self._fetch: asyncio.Task[None] | None = None

    async def get(self, suits: Callable[[T], bool] = lambda value: True) -> T | None:
        """Return the document, or `None` if it cannot be read. One that does not suit is read again if that is
        allowed, and may still not suit."""
        found = self._usable()
        is_enough = found is not None and suits(found)
        if is_enough and self._clock.monotonic() - self._read_at <= FRESH:
            return found
        fetch = self._begin_fetch()
        if is_enough or fetch is None:
            return found
        await asyncio.shield(fetch)  # many requests wait for one fetch; none of them ends it for the others
        return self._usable()

    def _usable(self) -> T | None:
        return self._value if self._clock.monotonic() - self._read_at <= USABLE else None

    def _begin_fetch(self) -> asyncio.Task[None] | None:
        """Return the open fetch, or begin one. Return `None` if the last one was less than 30 s ago."""
        now = self._clock.monotonic()
        if self._fetch is None and (self._tried_at is None or now - self._tried_at >= PAUSE):
            self._tried_at = now
            self._fetch = asyncio.create_task(self._load())
        return self._fetch

    async def _load(self) -> None:
        try:
            answer = await self._fetcher.fetch(self._url, limit=LARGEST)
            if answer.status != 200:
                raise FetchFailed(f"{self._url} answered {answer.status}")
            self._value = self._read(answer.body)
            self._read_at = self._clock.monotonic()
        except (FetchFailed, InvalidInput) as error:
            emit("auth.provider_failed", url=self._url, error=str(error))
        finally:
            self._fetch = None

    async def close(self) -> None:
        """End an open fetch."""
        fetch = self._fetch
        if fetch is not None:
            fetch.cancel()
            await asyncio.gather(fetch, return_exceptions=True)
