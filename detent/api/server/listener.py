"""Serve the API of a running app on a socket."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from ipaddress import ip_address
from typing import Final

import uvicorn

from detent.api.server.protocol import IDLE_SECONDS, LimitedHttpProtocol, limited_protocol
from detent.api.server.served_api import Front, ServedApi, open_api
from detent.app import App

#: Set in the task of a server of ours. A host application may serve itself with uvicorn and print its messages.
_IS_OURS: Final[ContextVar[bool]] = ContextVar("is_ours", default=False)


def _is_printed(record: logging.LogRecord) -> bool:
    """Return whether a message of uvicorn is a trouble, or one of a server that is not ours."""
    return record.levelno >= logging.WARNING or not _IS_OURS.get()


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


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def listening(
    app: App, sock: socket.socket, *, loose: bool = False, front: Front | None = None
) -> AsyncIterator[None]:
    """Serve the API while the block runs. At the end, answer the requests in flight and stop.

    With `loose`, requests without credentials may do everything; the settings may say the same. `front` gets the API
    and its base URL, and returns what is served instead."""
    async with open_api(app, loose=loose, front=front) as served, listening_for(served, app, sock):
        yield


@asynccontextmanager
async def listening_for(served: ServedApi, app: App, sock: socket.socket) -> AsyncIterator[None]:
    """Answer requests on a socket while the block runs, and announce its address beside the database file."""
    config = uvicorn.Config(
        served.application,
        http=limited_protocol(app.settings.max_blob),
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        # Uvicorn would believe X-Forwarded-For of every peer on this machine. `trusted_proxies` says whom we believe.
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=IDLE_SECONDS,
    )
    server = _Server(config)
    logging.getLogger("uvicorn.error").addFilter(_is_printed)  # adding it again changes nothing
    context = copy_context()
    context.run(_IS_OURS.set, True)
    serving = asyncio.create_task(server.serve(sockets=[sock]), context=context)
    try:
        await server.is_up.wait()
        announce = getattr(app.store, "announce", None)
        if announce is not None:
            announce(app.local_url, served.local_key, app.base_url)
        yield
    finally:
        await served.feeds.close()  # streams and long polls end now, so the shutdown does not wait for them
        server.should_exit = True
        await serving
