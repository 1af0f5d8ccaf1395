"""The two routes that are asked most, without the framework: starting a run, and answering a wait.

They read and answer what the routes of the same address in `executions` and `callbacks` do, which stand in the OpenAPI
document and take what is not usual: a start that waits for the end of its run, the answer of a person, an unknown
token. Routing and the framework would double the cost of such a request.
"""

from __future__ import annotations

from typing import Final, cast

import msgspec
from litestar import Response
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from detent.api.errors import answer_of, refuse_callback
from detent.api.routes.callbacks import STATUS, TAKEN
from detent.api.routes.starts import WORKFLOWS, read_trigger, started_document
from detent.api.server.guards import reason_against
from detent.commands import Commands
from detent.documents.answers import One, Refusal
from detent.documents.runs import CallbackReceipt
from detent.errors import Forbidden, TooLarge
from detent.values.http_body import read_headers, read_message_id, read_payload, read_query
from detent.values.limits import INPUT_LIMIT

_START: Final = f"{WORKFLOWS}/"
_TRIGGER: Final = "/trigger"
_CALLBACK: Final = "/wh/"
#: A start that waits for the end of its run is not for the fast path.
_WAIT: Final = b"wait="
_JSON: Final = (b"content-type", b"application/json")
_encode: Final = msgspec.json.Encoder().encode


class _Gone(Exception):
    """Whoever asked has left before the request was whole."""


class FastPath:
    """An application before the application: what is not for it goes on."""

    def __init__(self, app: ASGIApp, commands: Commands, hosts: frozenset[str] | None) -> None:
        self._app, self._commands, self._hosts = app, commands, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST":
            path = scope["path"]
            if path.startswith(_CALLBACK):
                place = self._commands.callback_place(path[len(_CALLBACK) :])
                if place is not None and not _is_a_person(cast("HTTPScope", scope)):
                    await self._callback(cast("HTTPScope", scope), receive, send, place)
                    return
            if path.startswith(_START) and path.endswith(_TRIGGER) and _WAIT not in scope["query_string"]:
                workflow = path[len(_START) : -len(_TRIGGER)]
                if workflow and "/" not in workflow:
                    await self._start(cast("HTTPScope", scope), receive, send, workflow)
                    return
        await self._app(scope, receive, send)

    async def _callback(self, scope: HTTPScope, receive: Receive, send: Send, place: tuple[bytes, str]) -> None:
        try:
            headers = read_headers(scope["headers"])
            payload = read_payload(headers, await _whole_body(receive))
            receipt, _ = await self._commands.deliver(
                scope["path"][len(_CALLBACK) :],
                body=payload.body,
                encoding=payload.encoding,
                headers=headers,
                query=read_query(scope["query_string"]),
                message_id=read_message_id(headers),
            )
        except _Gone:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            await _respond(send, answer_of(error, scope["method"], scope["path"]))
            return
        if receipt in TAKEN:
            await _answer(send, STATUS[receipt], _encode(One(CallbackReceipt(TAKEN[receipt], place[1]))))
        else:
            await _respond(send, refuse_callback(receipt))

    async def _start(self, scope: HTTPScope, receive: Receive, send: Send, workflow: str) -> None:
        try:
            reason = reason_against(scope, self._hosts)
            if reason:
                raise Forbidden(reason)
            body = await _whole_body(receive)
            call = read_trigger(scope["headers"], scope["query_string"], body, self._commands.now)
            started = await self._commands.start(workflow, call.given, call.options)
        except _Gone:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            await _respond(send, answer_of(error, scope["method"], scope["path"]))
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


def _is_a_person(scope: HTTPScope) -> bool:
    """Whether the answer is to be a page."""
    return any(name == b"accept" and value.startswith(b"text/html") for name, value in scope["headers"])


async def _respond(send: Send, refusal: Response[Refusal]) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    await _answer(send, refusal.status_code or 500, _encode(refusal.content), *headers)


async def _answer(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    every = [_JSON, (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body, "more_body": False})
