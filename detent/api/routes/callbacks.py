"""Routes of callbacks. POST answers a wait step. GET shows a page with what is asked, and changes nothing."""

from __future__ import annotations

from typing import Any, Final

from litestar import MediaType, Response, post, route
from litestar.params import FromPath
from litestar.types import HTTPScope, Receive

from detent.api.context import context_of
from detent.api.errors import REFUSALS, answer_of, refuse, refuse_callback
from detent.api.large_body import read_body
from detent.api.openapi.operations import TakesAnything, answers, refusals
from detent.api.request import AnyRequest, commands
from detent.api.routes.pages import PAGE_HEADERS
from detent.api.routes.waits.page import callback_page, result_page
from detent.api.server.guards import Throttle
from detent.blobs.library import BlobUpload
from detent.commands import Commands
from detent.commands.callbacks import DeliveryResult
from detent.documents.answers import One
from detent.documents.runs import CallbackReceipt
from detent.errors import Conflict, Forbidden, InvalidInput, LimitExceeded
from detent.store.rows import Receipt
from detent.values.blob import Blob
from detent.values.http_body import Payload, read_headers, read_message_id, read_payload, read_query, refuse_coding

PATHS: Final = ["/wh/{token:str}", "/webhook/workflow/resume/{token:str}"]
TAKEN: Final = {Receipt.ACCEPTED: "accepted", Receipt.EARLY: "buffered", Receipt.COUNTED: "counted"}
STATUS: Final = {
    Receipt.ACCEPTED: 200,
    Receipt.EARLY: 202,
    Receipt.COUNTED: 202,
    **{receipt: facts[0] for receipt, facts in REFUSALS.items()},
}


class _Refused(Exception):
    """A callback with a large body cannot be accepted. Nothing more of it is read."""

    def __init__(self, result: DeliveryResult) -> None:
        super().__init__(str(result.receipt))
        self.result = result


async def deliver(
    commands: Commands, guesses: Throttle, scope: HTTPScope, token: str, receive: Receive
) -> DeliveryResult:
    """Deliver the callback in a request. A body that is too large for the journal becomes a blob.

    Raise LimitExceeded if its source has sent too many unknown tokens."""
    try:
        body = await read_body(receive, lambda: _begin_blob(commands, scope, token))
        headers = read_headers(scope["headers"])
        payload = Payload(body.document()) if isinstance(body, Blob) else read_payload(headers, body)
        delivered = await commands.callbacks.deliver(
            token,
            body=payload.body,
            encoding=payload.encoding,
            headers=headers,
            query=read_query(scope["query_string"]),
            message_id=read_message_id(headers),
        )
    except _Refused as refusal:
        delivered = refusal.result
    if not delivered.step:
        _count_guess(guesses, scope)
    return delivered


async def _begin_blob(commands: Commands, scope: HTTPScope, token: str) -> BlobUpload:
    headers = read_headers(scope["headers"])
    refuse_coding(headers)
    begun = await commands.callbacks.begin_blob(token, headers.get("content-type"), read_message_id(headers))
    if isinstance(begun, DeliveryResult):
        raise _Refused(begun)
    return begun


@post(
    PATHS,
    tags=["callbacks"],
    summary="Answer a wait step",
    status_code=200,
    operation_class=TakesAnything,
    responses={
        **answers(200, One[CallbackReceipt], "The step has received its callback."),
        **answers(
            202,
            One[CallbackReceipt],
            "Stored until the step is active, or one decision of several.",
        ),
        **refusals(400, 403, 404, 409, 410, 413, 429),
    },
)
async def receive_callback(request: AnyRequest, token: FromPath[str]) -> Response[Any]:
    """Answer a wait step. The body becomes the step's `body`: JSON, a form, text, or bytes as base64. Over 256 KB it
    becomes a blob, which `body` names; a wait that checks its answer refuses it. A callback that is answered with 2xx
    is durable and counts exactly once. A repeated `webhook-id` or `Idempotency-Key` gets the first answer again."""
    is_person = request.headers.get("accept", "").startswith("text/html")  # it pressed the button
    try:
        receipt, _, step = await deliver(commands(request), _guesses(request), request.scope, token, request.receive)
    except (InvalidInput, Forbidden, Conflict) as error:
        if not is_person:
            raise
        status = answer_of(error, request.method, request.url.path).status_code or 400
        return await _show(request, token, status, error.message)
    if is_person:
        return _page(result_page(receipt), STATUS[receipt])
    if receipt not in TAKEN:
        return refuse_callback(receipt)
    return Response(One(CallbackReceipt(TAKEN[receipt], step)), status_code=STATUS[receipt])


@route(PATHS, http_method=["GET", "HEAD"], include_in_schema=False, media_type=MediaType.HTML)
async def show_callback(request: AnyRequest, token: FromPath[str]) -> Response[Any]:
    """Show what is asked, with its buttons or its form. Link checkers and mail scanners fetch addresses, so a GET must
    not answer the wait."""
    return await _show(request, token, 200)


async def _show(request: AnyRequest, token: str, status: int, problem: str | None = None) -> Response[Any]:
    view = await commands(request).callbacks.view(token)
    if view is None:
        _count_guess(_guesses(request), request.scope)
    elif view.ask is not None and not view.ask.page:
        return refuse(404, "not_found", "no_page", "this address takes a POST and has no page")
    query = read_query(request.scope["query_string"])
    return _page(callback_page(view, query, commands(request).now(), problem), 404 if view is None else status)


def _page(html: str, status: int) -> Response[Any]:
    return Response(html, status_code=status, media_type=MediaType.HTML, headers=PAGE_HEADERS)


def _guesses(request: AnyRequest) -> Throttle:
    return context_of(request.scope).guesses


def _count_guess(guesses: Throttle, scope: HTTPScope) -> None:
    """Count an unknown token. Raise LimitExceeded if its source has sent too many."""
    source = scope["client"]
    wait = guesses.count(source[0] if source else "")
    if wait is not None:
        raise LimitExceeded("too many unknown callback addresses", wait)


ROUTES = [receive_callback, show_callback]
