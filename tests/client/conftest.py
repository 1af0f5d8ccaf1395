"""A server that plays, a real Detent beside the test, and a client of either face for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from detent import AsyncClient, Client
from tests.api.server import serving
from tests.client.playing import Player, playing
from tests.client.through import Through

Connect = Callable[..., Any]


@pytest.fixture
def player() -> Iterator[Player]:
    with playing() as opened:
        yield opened


@pytest.fixture(params=["blocking", "awaiting"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes clients of one face; they block, whichever it is."""
    with asyncio.Runner() as runner:
        opened: list[Any] = []

        def make(url: str, **options: Any) -> Any:
            face = Client(url, **options) if request.param == "blocking" else AsyncClient(url, **options)
            opened.append(face if isinstance(face, Client) else Through(face, runner))
            return opened[-1]

        yield make
        for client in opened:
            client.close()


@pytest.fixture
def detent_url() -> Iterator[str]:
    """A real Detent in memory, on a loop and thread of its own."""
    with _detent() as url:
        yield url


class _detent:  # noqa: N801
    """Serves until it is left."""

    def __init__(self) -> None:
        self._ready, self._url = threading.Event(), ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._done: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        async with serving("memory://") as opened:
            self._url = opened.app.local_url
            self._ready.set()
            await self._done.wait()

    def __enter__(self) -> str:
        self._thread.start()
        assert self._ready.wait(300)
        return self._url

    def __exit__(self, *problem: object) -> None:
        assert self._loop is not None
        assert self._done is not None
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(300)
        assert not self._thread.is_alive()
