"""The API without a socket: requests are handed to it in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote

from detent.api.serving import api_of
from detent.app import App
from detent.client.calls import Answer, Request
from detent.store.opening import scheme

_HOST: Final = (b"host", b"localhost")


class Inside:
    """The API before a database that is open here."""

    def __init__(self, app: App, call: Callable[..., Answer]) -> None:
        self.database: str = scheme(app.settings.database_url)
        self._api: Any = api_of(app)
        self._call = call

    def send(self, request: Request) -> Answer:
        """The whole answer."""
        return self._call(self._answered(request))

    async def _answered(self, request: Request) -> Answer:
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
