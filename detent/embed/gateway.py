"""The door of a process: one, found when it is first needed, and found anew in a process that was forked.

An engine that runs in this process comes first. Else an address, if one was told. Else the database: a PostgreSQL or
MariaDB is opened in a background thread and stays open until the process ends; a SQLite file belongs to one process
at a time, so it is asked for each time: whoever has it answers over HTTP, and if nobody has it, it is opened for that
one call.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - it must have registered its own end before we do ours
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

from detent.client.calls import Answer, Request, server_url
from detent.client.documents import Started
from detent.client.errors import NoConnection
from detent.embed.config import configured, server_address, settings_of
from detent.embed.remote import HttpTransport, Threads
from detent.embed.request import must_be_outside
from detent.local_apps import Resident, resident
from detent.run.start import StartRequest
from detent.settings import Settings
from detent.store.url import scheme

if TYPE_CHECKING:
    from detent.embed.local import InProcessTransport, LocalApp

T = TypeVar("T")


class Transport(Protocol):
    """A way to a Detent: blocking and awaited."""

    def send(self, request: Request) -> Answer: ...
    async def deliver(self, request: Request) -> Answer: ...
    def start(self, order: StartRequest) -> Started: ...
    async def begin(self, order: StartRequest) -> Started: ...


class DatabaseTransport:
    """To a database that many processes may have open: opened once, in a thread."""

    def __init__(self, settings: Settings, threads: Threads) -> None:
        self._settings, self._threads = settings, threads
        self._lock = Lock()
        self._opened: LocalApp | None = None

    def send(self, request: Request) -> Answer:
        return self._way().send(request)

    async def deliver(self, request: Request) -> Answer:
        return await (await self._awaited()).deliver(request)

    def start(self, order: StartRequest) -> Started:
        return self._way().start(order)

    async def begin(self, order: StartRequest) -> Started:
        return await (await self._awaited()).begin(order)

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    async def _awaited(self) -> InProcessTransport:
        return self._opened.way if self._opened is not None else await self._threads.call(self._way)

    def _way(self) -> InProcessTransport:
        # The engine is loaded by who opens a database, and by nobody else.
        from detent.embed.local import LocalApp

        with self._lock:
            if self._opened is None:
                self._opened = LocalApp(self._settings)
            return self._opened.way


class SqliteTransport:
    """To a SQLite file, which one process at a time may have."""

    def __init__(self, settings: Settings, threads: Threads) -> None:
        self._settings, self._threads = settings, threads
        self._turn = Lock()
        self._far: HttpTransport | None = None

    def send(self, request: Request) -> Answer:
        # While this process has the file nobody can work on it: an answer is not waited for with the file in hand.
        return self._reached(lambda way: way.send(request if isinstance(way, HttpTransport) else _at_once(request)))

    async def deliver(self, request: Request) -> Answer:
        return await self._threads.call(partial(self.send, request))

    def start(self, order: StartRequest) -> Started:
        return self._reached(lambda way: way.start(order))

    async def begin(self, order: StartRequest) -> Started:
        return await self._threads.call(partial(self.start, order))

    def close(self) -> None:
        far, self._far = self._far, None
        if far is not None:
            far.close()

    def _reached(self, ask: Callable[[Transport], T]) -> T:
        far = self._far
        if far is not None:
            try:
                return ask(far)
            except NoConnection as error:
                if error.sent:
                    raise
                self.close()  # it has gone; whoever has the file now is another
        return self._found(ask)

    def _found(self, ask: Callable[[Transport], T]) -> T:
        # The engine is loaded by who opens a database, and by nobody else.
        from detent.embed.local import open_here

        with self._turn, open_here(self._settings) as found:
            if not isinstance(found, str):
                return ask(found)
            self._far = HttpTransport(found, self._threads)
        return ask(self._far)


def _at_once(request: Request) -> Request:
    path, _, query = request.target.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "wait"]
    target = f"{path}?{urlencode(kept)}" if kept else path
    return Request(request.method, target, request.headers, request.body, request.timeout)


class Gateway:
    """All ways of one process. Any number of threads may share it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._lock, self._threads = Lock(), Threads()
        self._ways: dict[str, Any] = {}
        self._near: tuple[Resident, InProcessTransport] | None = None

    def way(self) -> Transport:
        """The way to Detent, as things are now. NotInFunction for the code of a durable function itself."""
        must_be_outside("detent")
        named = configured().get("database_url")
        living = resident(None if named is None else str(named))
        if living is not None and "url" not in configured():
            return self._inside(living)
        address = server_address()
        if address is not None:
            return self._kept(address, lambda: HttpTransport(server_url(address), self._threads))
        settings = settings_of()
        kind = SqliteTransport if scheme(settings.database_url) == "sqlite" else DatabaseTransport
        return self._kept(settings.database_url, lambda: kind(settings, self._threads))

    def close(self) -> None:
        with self._lock:
            ways, self._ways = list(self._ways.values()), {}
        for way in ways:
            way.close()
        self._threads.close()

    def _inside(self, living: Resident) -> Transport:
        from detent.embed.local import InProcessTransport  # an engine is here, so it is loaded already

        if self._near is None or self._near[0] is not living:
            self._near = living, InProcessTransport(living.app, living.loop, living.thread)
        return self._near[1]

    def _kept(self, key: str, make: Callable[[], Any]) -> Transport:
        with self._lock:
            if key not in self._ways:
                self._ways[key] = make()
            way: Transport = self._ways[key]
            return way


class _Doorkeeper:
    """Holds the door of this process; in a forked one it makes another and never touches the parent's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._door: Gateway | None = None
        self._parents: list[Gateway] = []  # kept, because to let go of them would close connections of the parent

    def door(self) -> Gateway:
        with self._lock:
            if self._door is None:
                self._door = Gateway()
            return self._door

    def close(self) -> None:
        with self._lock:
            door, self._door = self._door, None
        if door is not None and door.process == os.getpid():
            door.close()

    def forked(self) -> None:
        """In the child. The lock may have been held by a thread that is not here."""
        self._lock = Lock()
        if self._door is not None:
            self._parents.append(self._door)
            self._door = None


KEEPER: Final = _Doorkeeper()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=KEEPER.forked)


def door() -> Gateway:
    """The door of this process."""
    return KEEPER.door()


def close() -> None:
    """Close what is open to Detent. The next call opens it anew; at the end of the process this happens by itself."""
    KEEPER.close()


def _close_at_exit() -> None:
    with suppress(Exception):  # nobody is left to hear of it, and what is lost is only that others learn of it later
        KEEPER.close()


# Before Python shuts its pool of threads: closing what is open may need it. The name is private, and may go one day.
_at_exit: Final[Callable[[Callable[[], None]], object]] = getattr(threading, "_register_atexit", atexit.register)
_at_exit(_close_at_exit)
