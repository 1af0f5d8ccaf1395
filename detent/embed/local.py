"""The API without a socket: requests are handed to the application in this process, on the loop it lives on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from threading import Thread, get_ident
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from detent.api.app import api_of
from detent.app import App, build_app
from detent.auth.caller import local_caller
from detent.client.calls import Answer, Request
from detent.client.documents import Started
from detent.commands import StartAnswer
from detent.embed.request import running_loop
from detent.errors import NotFound, StoreInUse
from detent.ids import RUN, WORKFLOW, show
from detent.instant import as_datetime
from detent.python.registry import registry
from detent.run.start import StartRequest
from detent.settings import Settings
from detent.store.url import scheme

T = TypeVar("T")

_HOST: Final = (b"host", b"localhost")


class InProcessTransport:
    """To an application that lives on a loop of this process, and in that thread if it is known."""

    def __init__(self, app: App, loop: asyncio.AbstractEventLoop, thread: int | None = None) -> None:
        self.database: str = scheme(app.settings.database_url)
        self._app, self._loop, self._thread = app, loop, thread
        self._api: Any = None

    def send(self, request: Request) -> Answer:
        """The whole answer."""
        return self._wait(self._answered(request))

    async def deliver(self, request: Request) -> Answer:
        """The whole answer, from any loop."""
        return await self._join(self._answered(request))

    def start(self, order: StartRequest) -> Started:
        return self._wait(self._started(order))

    async def begin(self, order: StartRequest) -> Started:
        """Start it, from any loop."""
        return await self._join(self._started(order))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if running_loop() is self._loop or get_ident() == self._thread:
            work.close()
            raise RuntimeError(
                "detent.sync was called on the event loop that Detent itself runs on, which would wait for itself; "
                "await detent.start(...) instead, or call it from a thread"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _join(self, work: Coroutine[Any, Any, T]) -> T:
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _started(self, order: StartRequest) -> Started:
        commands = self._app.commands.for_caller(local_caller("python"))
        try:
            start = await commands.starts.start(order)
        except NotFound:
            known = registry.find(order.workflow)
            if known is None:
                raise
            # Nobody ran this code on this database before.
            await commands.workflows.save_python(known.compiled, known.source)
            start = await commands.starts.start(order)
        return _document(start)

    async def _answered(self, request: Request) -> Answer:
        if self._api is None:
            self._api = api_of(self._app)
        status, headers, body = 500, dict[str, str](), bytearray()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": request.body or b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers.update((name.decode().lower(), value.decode("latin-1")) for name, value in message["headers"])
            else:
                body.extend(message.get("body", b""))

        await self._api(_scope(request), receive, send)
        return Answer(status, headers, bytes(body))


def _document(start: StartAnswer) -> Started:
    begins = as_datetime(start.started_at)
    return Started(
        run_id=show(RUN, start.run),
        workflow_id=show(WORKFLOW, start.workflow),
        status=start.status,
        started_at=begins,
        start_at=begins if start.status == "pending" else None,
    )


def _scope(request: Request) -> dict[str, Any]:
    path, _, query = request.target.partition("?")
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.items()]
    length = str(len(request.body or b"")).encode()
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [_HOST, (b"content-length", length), *headers],
        "client": None,
        "server": ("localhost", 80),
    }


# An event loop in a thread of its own, for programs that have none or another one.


#: Seconds a thread gets to end by itself; it is a daemon, so a process never hangs on it.
_JOIN_PATIENCE: Final = 5.0


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name="detent", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Do it there, and wait for what comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_JOIN_PATIENCE)
        if not self._thread.is_alive():
            self.loop.close()


# The database, opened in this process: an engine that starts runs and leaves them to others, in a thread of its own.
#
# So the caller is plain code that asks and gets an answer, and the node behind it lives on between two questions.


#: A process that has just taken the file says a moment later where it answers; one that wants no more is gone by then.
_BUSY_PATIENCE: Final = 3.0
_LOOK_AGAIN: Final = 0.1
#: Seconds that leaving may take. A process that ends does not wait for a database that does not answer.
_LEAVING: Final = 5.0


class LocalApp:
    """An application without claims, in a thread of its own, until it is closed."""

    def __init__(self, settings: Settings) -> None:
        self._thread, self._stack = LoopThread(), AsyncExitStack()
        try:
            self.way = InProcessTransport(self._open(settings), self._thread.loop)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with suppress(TimeoutError):
            self._thread.call(self._stack.aclose(), _LEAVING)
        self._thread.close()

    def _open(self, settings: Settings) -> App:
        until = time.monotonic() + _BUSY_PATIENCE
        while True:
            try:
                return self._thread.call(self._stack.enter_async_context(build_app(settings)))
            except StoreInUse as error:
                if error.url is not None or time.monotonic() > until:
                    raise
            self._thread.call(asyncio.sleep(_LOOK_AGAIN))


@contextmanager
def open_here(settings: Settings) -> Iterator[InProcessTransport | str]:
    """The API before the database; or, if another process has it, the address where that one answers."""
    try:
        opened = LocalApp(settings)
    except StoreInUse as error:
        if error.url is None:
            message = f"{error.message}. It does not answer others: use `detent serve`, or PostgreSQL or MariaDB"
            raise StoreInUse(message, pid=error.pid, url=None) from None
        yield error.url
        return
    try:
        yield opened.way
    finally:
        opened.close()
