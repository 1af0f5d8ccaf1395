"""The fast path: the two busiest routes without the web framework, which would be half of their cost.

A start (`POST /trigger`) and a callback (`POST /wh/...`) call the same functions as their routes in `routes/starts` and
`routes/callbacks`. Those routes are in the OpenAPI document and answer the rare cases: a start that waits for the end
of its run, a dry run, and a callback from a browser, which gets a page.
"""

from __future__ import annotations

from typing import Final, cast

import msgspec
from litestar import Response
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from detent.api.context import ApiContext
from detent.api.errors import answer_of, refuse_callback
from detent.api.large_body import ClientGone, read_body
from detent.api.routes.callbacks import STATUS, TAKEN, deliver
from detent.api.routes.starts import WORKFLOWS, large_input, location_of, read_trigger, start, started_document
from detent.api.server.guards import reason_against
from detent.api.server.policy_guard import admit, known_caller
from detent.documents.answers import One
from detent.documents.refusals import Refusal
from detent.documents.runs import CallbackReceipt
from detent.errors import Forbidden, Unauthenticated

_START: Final = f"{WORKFLOWS}/"
_TRIGGER: Final = "/trigger"
_CALLBACK: Final = "/wh/"
#: The operation of the policy.
_STARTS: Final = "trigger_workflow"
#: In the query of a start that waits for the end of its run. The route answers it, not the fast path.
_WAIT: Final = b"wait="
#: In the query of a dry run, which starts nothing.
_DRY: Final = b"dry"
_JSON: Final = (b"content-type", b"application/json")
_encode: Final = msgspec.json.Encoder().encode


class FastPath:
    """An ASGI application that answers starts and callbacks, and passes other requests on."""

    def __init__(self, app: ASGIApp, context: ApiContext) -> None:
        self._app = app
        self._context = context
        self._public = context.bound(context.public).commands

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST":
            path = scope["path"]
            if path.startswith(_CALLBACK):
                token = path[len(_CALLBACK) :]
                if token and "/" not in token and not _is_a_person(cast("HTTPScope", scope)):
                    await self._callback(cast("HTTPScope", scope), receive, send, token)
                    return
            if path.startswith(_START) and path.endswith(_TRIGGER) and not _is_rare(scope["query_string"]):
                workflow = path[len(_START) : -len(_TRIGGER)]
                if workflow and "/" not in workflow:
                    await self._start(cast("HTTPScope", scope), receive, send, workflow)
                    return
        await self._app(scope, receive, send)

    async def _callback(self, scope: HTTPScope, receive: Receive, send: Send, token: str) -> None:
        try:
            receipt, _, step = await deliver(self._public, self._context.guesses, scope, token, receive)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            await respond(send, answer_of(error, scope["method"], scope["path"]))
            return
        if receipt in TAKEN:
            await _answer(send, STATUS[receipt], _encode(One(CallbackReceipt(TAKEN[receipt], step))))
        else:
            await respond(send, refuse_callback(receipt))

    async def _start(self, scope: HTTPScope, receive: Receive, send: Send, workflow: str) -> None:
        try:
            reason = reason_against(scope, self._context.names)
            if reason:
                raise Forbidden(reason)
            bound = await admit(self._context, scope, _STARTS)
            body = await read_body(receive, large_input(bound.commands, workflow, scope))
            started, _ = await start(bound.commands, read_trigger, workflow, scope, body)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered
            if isinstance(error, Unauthenticated | Forbidden):
                self._context.auditor.refuse(scope, _STARTS, known_caller(self._context, scope), error)
            await respond(send, answer_of(error, scope["method"], scope["path"]))
            return
        document = started_document(started)
        location = (scope.get("root_path", "") + location_of(document)).encode()
        await _answer(send, 201 if started.is_new else 200, _encode(One(document)), (b"location", location))


def _is_rare(query: bytes) -> bool:
    """Return whether the route answers this start: one that waits, or a dry run."""
    return bool(query) and (_WAIT in query or _DRY in query)


def _is_a_person(scope: HTTPScope) -> bool:
    """Return whether the client is a browser, so that the answer is a page."""
    return any(name == b"accept" and value.startswith(b"text/html") for name, value in scope["headers"])


async def respond(send: Send, refusal: Response[Refusal]) -> None:
    """Send the answer of a request that was refused."""
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    await _answer(send, refusal.status_code or 500, _encode(refusal.content), *headers)


async def _answer(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    every = [_JSON, (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body, "more_body": False})
