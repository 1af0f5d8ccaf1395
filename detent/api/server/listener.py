"""Serve the API of a running app on a socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from litestar.types import ASGIApp

from detent.api.app import api_caller, api_of
from detent.api.server.fast_path import FastPath
from detent.api.server.guards import known_hosts
from detent.api.server.protocol import IDLE_SECONDS, LimitedHttpProtocol
from detent.app import App


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handlers, because the process drains its engine first.

    It owns the event that says whether the server accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def on_tick(self, counter: int) -> bool:
        """Check the deadlines of all connections once a second. Uvicorn calls this ten times a second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, LimitedHttpProtocol):
                    connection.look(now)
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listening(
    app: App, sock: socket.socket, *, front: Callable[[ASGIApp, str], ASGIApp] | None = None
) -> AsyncIterator[None]:
    """Serve the API while the block runs. At the end, answer the requests in flight and stop.

    `front` gets the API and its base URL, and returns what is served instead."""
    hosts = known_hosts(app.base_url, loose=app.settings.allow_loose_auth)
    api = api_of(app)
    served: ASGIApp = FastPath(api, app.commands.for_caller(api_caller()), api.context.guesses, hosts)
    config = uvicorn.Config(
        served if front is None else front(served, app.base_url),
        http=LimitedHttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=IDLE_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        await server.is_up.wait()
        announce = getattr(app.store, "announce", None)
        if announce is not None:
            announce(app.local_url)
        yield
    finally:
        await app.feeds.close()  # streams and long polls end now, so the shutdown does not wait for them
        server.should_exit = True
        await serving
