"""The two routes that are asked most, without the framework: starting a run, and answering a wait.

They read and answer what the routes of the same address in `executions` and `callbacks` do, which stand in the OpenAPI
document and take whatever is not usual (a start with options in its query). Half of what such a request costs would be
the way to its handler and back.
"""

from __future__ import annotations

from typing import Final, cast

import msgspec
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from detent.api.executions import WORKFLOWS
from detent.api.origin import reason_against
from detent.api.problems import answer_of
from detent.api.starts import read_trigger
from detent.api.wire import One, started_document
from detent.engine.commands import INPUT_LIMIT, Commands
from detent.errors import Forbidden, TooLarge

_START: Final = f"{WORKFLOWS}/"
_TRIGGER: Final = "/trigger"
_JSON: Final = (b"content-type", b"application/json")
_encode: Final = msgspec.json.Encoder().encode


class _Gone(Exception):
    """Whoever asked has left before the request was whole."""


class HotDoor:
    """An application before the application: what is not for it goes on."""

    def __init__(self, app: ASGIApp, commands: Commands, hosts: frozenset[str] | None) -> None:
        self._app, self._commands, self._hosts = app, commands, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST":
            path = scope["path"]
            if path.startswith(_START) and path.endswith(_TRIGGER) and not scope["query_string"]:
                workflow = path[len(_START) : -len(_TRIGGER)]
                if workflow and "/" not in workflow:
                    await self._start(cast("HTTPScope", scope), receive, send, workflow)
                    return
        await self._app(scope, receive, send)

    async def _start(self, scope: HTTPScope, receive: Receive, send: Send, workflow: str) -> None:
        try:
            reason = reason_against(scope, self._hosts)
            if reason:
                raise Forbidden(reason)
            body = await _whole_body(receive)
            call = read_trigger(scope["headers"], b"", body, self._commands.now)
            started = await self._commands.start(workflow, call.given, call.options)
        except _Gone:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            await _refuse(scope, send, error)
            return
        document = started_document(started)
        place = f"{_START}{document.workflow_id}/runs/{document.run_id}"
        await _answer(send, 201 if started.is_new else 200, _encode(One(document)), (b"location", place.encode()))


async def _whole_body(receive: Receive) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        part = cast("bytes", message.get("body", b""))
        size += len(part)
        if size > INPUT_LIMIT:
            raise TooLarge("the body is larger than its limit")
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _refuse(scope: HTTPScope, send: Send, error: Exception) -> None:
    refusal = answer_of(error, scope["method"], scope["path"])
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    await _answer(send, refusal.status_code or 500, _encode(refusal.content), *headers)


async def _answer(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    every = [_JSON, (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body, "more_body": False})
