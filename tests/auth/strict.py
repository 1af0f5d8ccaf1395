"""A Detent in memory that checks its callers, asked without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec

from detent.api.app import Api, context_for
from detent.api.server.fast_path import FastPath
from detent.auth.authenticator import IdentityWatch, RequestAuthenticator
from detent.auth.caller import Caller, local_caller
from detent.commands.identity.keys import KeyRequest
from detent.process import App, run_app
from detent.settings import Settings


class Answer(NamedTuple):
    """The status of an answer and its document."""

    status: int
    json: Any

    @property
    def message(self) -> str:
        return str(self.json["message"])


class StrictApi:
    """Sends requests to an app, with keys or without."""

    def __init__(self, app: App, loose: Caller | None = None) -> None:
        self.app = app
        self.ahead = 0  # how much later it is for the authenticator
        now = app.engine.time.now
        self.authenticator = RequestAuthenticator(app.store, app.clock, lambda: now() + self.ahead, loose=loose)
        self.watch = IdentityWatch(app.store, self.authenticator)
        context = context_for(app, self.authenticator, hosts=None)
        self._asgi = FastPath(Api(context), context)
        self.commands = app.commands.for_caller(local_caller("tests"))

    async def key(self, name: str, role: str | None = None, **asked: Any) -> str:
        """Create a key and return it."""
        return (await self.commands.keys.create(KeyRequest(name, role, **asked))).key

    async def ask(
        self, method: str, target: str, key: str | None = None, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request and return the answer. Of a stream only the status is read."""
        path, _, query = target.partition("?")
        sent = [(b"host", b"localhost")] if key is None else [(b"authorization", f"Bearer {key}".encode())]
        sent += [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        data = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        status, received, is_done = 0, bytearray(), asyncio.Event()

        async def receive() -> Any:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if any(value.startswith(b"text/event-stream") for _, value in message["headers"]):
                    is_done.set()
            else:
                received.extend(message.get("body", b""))

        scope: Any = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
            "method": method, "scheme": "http", "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": query.encode(), "headers": sent, "client": None, "server": ("localhost", 80),
        }  # fmt: skip
        asked = asyncio.create_task(self._asgi(scope, receive, send))
        streams = asyncio.create_task(is_done.wait())
        await asyncio.wait([asked, streams], return_when=asyncio.FIRST_COMPLETED)
        for task in (asked, streams):
            task.cancel()
        await asyncio.gather(asked, streams, return_exceptions=True)
        is_json = bytes(received[:1]) in (b"{", b"[") and b"\n" not in received  # else it is JSON lines
        return Answer(status, msgspec.json.decode(bytes(received)) if is_json else None)


@asynccontextmanager
async def strict_api(*, loose: bool = False, **settings: Any) -> AsyncIterator[StrictApi]:
    """A Detent in memory. With `loose`, requests without a key may do everything."""
    async with run_app(Settings(database_url="memory://", **settings)) as app:
        caller = Caller(1, "api", via="loose") if loose else None
        yield StrictApi(app, caller)
