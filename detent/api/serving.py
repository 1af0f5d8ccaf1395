"""Puts the API on a socket, before an engine that runs already."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

import uvicorn
from litestar import Litestar

from detent.api.application import build_api
from detent.api.border import GuardedConnection
from detent.api.hot import HotDoor
from detent.api.origin import known_hosts
from detent.engine.commands import Commands
from detent.engine.engine import Engine
from detent.engine.feeds import Feeds
from detent.settings import Settings
from detent.store.protocol import Store
from detent.triggers.commands import TriggerCommands


class Served(Protocol):
    """What stands behind the API."""

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def commands(self) -> Commands: ...
    @property
    def triggers(self) -> TriggerCommands: ...
    @property
    def feeds(self) -> Feeds: ...
    @property
    def base_url(self) -> str: ...
    @property
    def local_url(self) -> str: ...


class _Server(uvicorn.Server):
    """Uvicorn without its own ideas about signals: the process drains its engine first."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, GuardedConnection):
                    connection.look(now)
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def api_of(app: Served) -> Litestar:
    """The API before a running engine."""
    return build_api(
        app.commands,
        app.triggers,
        app.feeds,
        is_ready=lambda: app.engine.is_ready,
        check=app.store.now,
        base_url=app.base_url,
        loose=app.settings.allow_loose_auth,
    )


@asynccontextmanager
async def listening(app: Served, sock: socket.socket) -> AsyncIterator[None]:
    """The API before a running engine. Ends with the requests that are being answered."""
    hosts = known_hosts(app.base_url, loose=app.settings.allow_loose_auth)
    config = uvicorn.Config(
        HotDoor(api_of(app), app.commands, hosts),
        http=GuardedConnection,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=5,
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
        await app.feeds.close()  # streams and long polls end now; nobody waits for them
        server.should_exit = True
        await serving
