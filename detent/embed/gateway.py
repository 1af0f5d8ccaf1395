"""The gateway of a process: the transports to the Detent that its settings name.

The gateway is created when it is first needed, and again in a forked process. It prefers an engine in this process,
then the address that the settings name, then the database. A PostgreSQL or MariaDB is opened in a background thread and
stays open until the process ends. A SQLite file belongs to one process at a time, so its owner is looked up for each
request. The owner answers over HTTP. Without an owner, this process opens the file for that one request.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - it must register its exit handler before ours
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

from detent.client.calls import Answer, Request, RetryPolicy, ServerAddress, server_url
from detent.client.drivers import PROCESS, AsyncDriver, Driver
from detent.client.errors import NoConnection
from detent.client.identity.key_file import finder
from detent.client.transports import HttpTransport
from detent.embed.config import configured, server_address, server_key, settings_of
from detent.embed.request import must_be_outside
from detent.local_apps import Resident, resident
from detent.settings import Settings
from detent.steps.user_code import ThreadPool
from detent.store.sql.sqlite.lock import FileLock
from detent.store.url import scheme, sqlite_path

if TYPE_CHECKING:
    from detent.embed.local import InProcessTransport, LocalApp

T = TypeVar("T")

#: Threads of one process that wait for answers on behalf of event loops.
_THREADS: Final = 256


class Threads:
    """Runs blocking calls in threads so that an event loop can await them. An exception of the call is raised."""

    def __init__(self) -> None:
        self._pool = ThreadPool(_THREADS)

    async def call(self, function: Callable[[], T]) -> T:
        result, error = await self._pool.submit(lambda: (function(), None), lambda error: (None, error))
        if error is not None:
            raise error
        assert result is not None
        return result

    def close(self) -> None:
        self._pool.close()


class ProcessTransport(Protocol):
    """A transport that the threads and event loops of a process share."""

    def send(self, request: Request) -> Answer: ...
    async def send_async(self, request: Request) -> Answer: ...


class RemoteTransport:
    """The transport to a Detent at an address, over HTTP. It blocks threads, so that aiohttp is not loaded."""

    def __init__(self, url: str, key: str | None, threads: Threads) -> None:
        self._http = HttpTransport(url, finder(url, key))
        self._threads = threads
        self.send = self._http.send
        self.close = self._http.close

    async def send_async(self, request: Request) -> Answer:
        return await self._threads.call(partial(self._http.send, request))


class DatabaseTransport:
    """The transport to a database that several processes may open. It is opened once, in a thread."""

    def __init__(self, settings: Settings, threads: Threads) -> None:
        self._settings, self._threads = settings, threads
        self._lock = Lock()
        self._opened: LocalApp | None = None

    def send(self, request: Request) -> Answer:
        return self._open().send(request)

    async def send_async(self, request: Request) -> Answer:
        opened = self._opened
        transport = opened.transport if opened is not None else await self._threads.call(self._open)
        return await transport.send_async(request)

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _open(self) -> InProcessTransport:
        # The engine is loaded only by a process that opens a database.
        from detent.embed.local import LocalApp

        with self._lock:
            if self._opened is None:
                self._opened = LocalApp(self._settings, saves_code=True)
            return self._opened.transport


class SqliteTransport:
    """The transport to a SQLite file, which one process at a time may open."""

    def __init__(self, settings: Settings, threads: Threads) -> None:
        self._settings, self._threads = settings, threads
        self._turn = Lock()
        self._remote: HttpTransport | None = None

    def send(self, request: Request) -> Answer:
        remote = self._remote
        if remote is not None:
            try:
                return remote.send(request)
            except NoConnection as error:
                if error.sent:
                    raise
                self.close()  # that process has ended; another may own the file now
        return self._find(request)

    async def send_async(self, request: Request) -> Answer:
        return await self._threads.call(partial(self.send, request))

    def close(self) -> None:
        remote, self._remote = self._remote, None
        if remote is not None:
            remote.close()

    def _find(self, request: Request) -> Answer:
        # The engine is loaded only by a process that opens a database.
        from detent.embed.local import open_here

        with self._turn, open_here(self._settings, saves_code=True) as found:
            if not isinstance(found, ServerAddress):
                return found.send(request if found.can_wait else _without_wait(request))
            self._remote = HttpTransport(found.url, self._find_key)
        return self._remote.send(request)

    def _find_key(self) -> str | None:
        server = FileLock(sqlite_path(self._settings.database_url)).server()
        return None if server is None else server[1]


def _without_wait(request: Request) -> Request:
    """Return the request without `wait`: while this process has the file open, no other can run its runs."""
    path, _, query = request.target.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "wait"]
    return replace(request, target=f"{path}?{urlencode(kept)}" if kept else path)


class Gateway:
    """All transports of one process. Any number of threads may share it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._lock, self._threads = Lock(), Threads()
        self._transports: dict[str, Any] = {}
        self._local: tuple[Resident, InProcessTransport] | None = None

    def transport(self) -> ProcessTransport:
        """Return the transport for the current state. Raise NotInFunction in the code of a durable function."""
        must_be_outside("detent")
        named = configured().get("database_url")
        living = resident(None if named is None else str(named))
        if living is not None and "url" not in configured():
            return self._inside(living)
        address = server_address()
        if address is not None:
            url, key = server_url(address), server_key()
            return self._shared(f"{url} {key}", lambda: RemoteTransport(url, key, self._threads))
        settings = settings_of()
        kind = SqliteTransport if scheme(settings.database_url) == "sqlite" else DatabaseTransport
        return self._shared(settings.database_url, lambda: kind(settings, self._threads))

    def close(self) -> None:
        with self._lock:
            transports, self._transports = list(self._transports.values()), {}
        for transport in transports:
            transport.close()
        self._threads.close()

    def _inside(self, living: Resident) -> InProcessTransport:
        from detent.embed.local import InProcessTransport  # an engine is here, so it is loaded already

        if self._local is None or self._local[0] is not living:
            self._local = living, InProcessTransport(living.app, living.loop, living.thread, saves_code=True)
        return self._local[1]

    def _shared(self, key: str, make: Callable[[], Any]) -> ProcessTransport:
        with self._lock:
            if key not in self._transports:
                self._transports[key] = make()
            transport: ProcessTransport = self._transports[key]
            return transport


class _GatewayOwner:
    """Owns the gateway of this process. A forked process creates its own and never touches its parent's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._gateway: Gateway | None = None
        self._parents: list[
            Gateway
        ] = []  # referenced, because garbage collection would close connections of the parent

    def gateway(self) -> Gateway:
        with self._lock:
            if self._gateway is None:
                self._gateway = Gateway()
            return self._gateway

    def close(self) -> None:
        with self._lock:
            owned, self._gateway = self._gateway, None
        if owned is not None and owned.process == os.getpid():
            owned.close()

    def forked(self) -> None:
        """Reset the owner in a child process. A thread that exists only in the parent may have held the lock."""
        self._lock = Lock()
        if self._gateway is not None:
            self._parents.append(self._gateway)
            self._gateway = None


OWNER: Final = _GatewayOwner()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=OWNER.forked)


def gateway() -> Gateway:
    """Return the gateway of this process."""
    return OWNER.gateway()


class GatewayTransport:
    """The transport of the process's own drivers: each request finds its transport through the gateway."""

    can_wait = True

    def send(self, request: Request) -> Answer:
        return gateway().transport().send(request)

    async def send_async(self, request: Request) -> Answer:
        return await gateway().transport().send_async(request)

    def open_stream(self, request: Request) -> None:
        return None

    async def open_stream_async(self, request: Request) -> None:
        return None

    def close(self) -> None:
        """Do nothing: `close` of this module closes the gateway."""

    async def close_async(self) -> None:
        """Do nothing: `close` of this module closes the gateway."""


DRIVER: Final = Driver(GatewayTransport(), RetryPolicy())
ASYNC_DRIVER: Final = AsyncDriver(GatewayTransport(), RetryPolicy(), lambda: DRIVER)
PROCESS.sync = DRIVER
PROCESS.awaited = ASYNC_DRIVER


def close() -> None:
    """Close the gateway. The next call opens it again; the end of the process closes it too."""
    OWNER.close()


def _close_at_exit() -> None:
    with suppress(Exception):  # the process ends, and other nodes notice that by themselves
        OWNER.close()


# This runs before Python shuts down its thread pool, which closing may need. The name is private and may be removed.
_at_exit: Final[Callable[[Callable[[], None]], object]] = getattr(threading, "_register_atexit", atexit.register)
_at_exit(_close_at_exit)
