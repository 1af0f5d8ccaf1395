"""The API without a socket: requests are handed to the application in this process, on the loop it lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import get_ident
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from detent.access.orders import Order
from detent.access.outside import running_loop
from detent.api.served import api_of
from detent.assembly import App
from detent.client.calls import Answer, Request
from detent.client.documents import Started
from detent.engine.commands import Given, Start, StartOptions
from detent.errors import NotFound
from detent.ids import RUN, WORKFLOW, show
from detent.instant import as_datetime
from detent.store.addresses import scheme

T = TypeVar("T")

_HOST: Final = (b"host", b"localhost")


class NearWay:
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

    def start(self, order: Order) -> Started:
        return self._wait(self._started(order))

    async def begin(self, order: Order) -> Started:
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

    async def _started(self, order: Order) -> Started:
        commands = self._app.commands
        options = StartOptions(
            request_id=order.request_id,
            start_at=order.begins(commands.now()),
            labels=order.labels,
            hero=order.hero,
            priority=order.priority,
            allow_multiple=order.allow_multiple,
        )
        given = Given(order.body)
        try:
            start = await commands.start(order.workflow, given, options)
        except NotFound:
            if order.registered is None:
                raise
            # Nobody ran this code on this database before.
            await commands.save_python(order.registered.compiled, order.registered.source)
            start = await commands.start(order.workflow, given, options)
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


def _document(start: Start) -> Started:
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
