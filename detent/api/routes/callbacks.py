"""Routes of callbacks. POST answers a wait step. GET shows a page that asks for confirmation and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from litestar import MediaType, Response, post, route
from litestar.params import FromPath
from litestar.types import HTTPScope

from detent.api.context import context_of
from detent.api.errors import REFUSALS, refuse_callback
from detent.api.openapi.operations import TakesAnything, answers, refusals
from detent.api.request import AnyRequest, commands
from detent.api.routes.pages import PAGE_HEADERS, card
from detent.api.server.guards import Throttle
from detent.commands import Commands
from detent.commands.callbacks import CallbackView, DeliveryResult
from detent.documents.answers import One
from detent.documents.runs import CallbackReceipt
from detent.errors import LimitExceeded
from detent.instant import iso
from detent.store.rows import CallbackState, Receipt
from detent.values.http_body import read_headers, read_message_id, read_payload, read_query
from detent.values.limits import INPUT_LIMIT

_MOST_SHOWN: Final = 20
_LONGEST_SHOWN: Final = 200

#: Title and text of the page after a person has pressed the button.
_RESULTS: Final = {
    Receipt.ACCEPTED: ("Thank you", "Your answer was received and the workflow goes on. You can close this page."),
    Receipt.EARLY: ("Thank you", "Your answer was received and is stored until the workflow needs it."),
    Receipt.USED: ("Already answered", "This was answered before. Nothing was changed."),
    Receipt.EXPIRED: ("Too late", "The time for this answer is over. Nothing was changed."),
    Receipt.NOT_ACTIVE: ("Too early", "The workflow does not take this answer yet. Please try again later."),
    Receipt.NOT_FOUND: ("Not found", "There is nothing to answer at this address. Was it copied as a whole?"),
}
_OVER: Final = {CallbackState.RECEIVED: Receipt.USED, CallbackState.EXPIRED: Receipt.EXPIRED}


def confirm_page(view: CallbackView | None, query: Mapping[str, str], now: int) -> str:
    """Render the page that asks a person to confirm an answer, or says that there is nothing to answer."""
    if view is None:
        return result_page(Receipt.NOT_FOUND)
    is_late = view.until is not None and view.until <= now
    over = _OVER.get(CallbackState(view.state), Receipt.EXPIRED if is_late else None)
    if over is not None:
        return result_page(over, about=_about(view, {}))
    # A form without an action is sent to the address of the page, with its query.
    return card(
        "Please confirm",
        "<p>A workflow is waiting for your answer. Nothing has happened yet: it goes on when you press the button.</p>"
        f'{_about(view, query)}<form method="post"><button>Confirm</button></form>',
    )


def result_page(receipt: Receipt, about: str = "") -> str:
    """Render the page that shows the result of an answer."""
    title, words = _RESULTS[receipt]
    return card(title, f"<p>{words}</p>{about}")


def _about(view: CallbackView, query: Mapping[str, str]) -> str:
    facts = {"Workflow": view.workflow, "Step": view.step}
    if view.until is not None:
        facts["Until"] = iso(view.until)[:16].replace("T", " ") + " UTC"
    facts |= {f"Sends {name}": value for name, value in list(query.items())[:_MOST_SHOWN]}
    lines = (f"<dt>{escape(_cut(name))}<dd>{escape(_cut(value))}" for name, value in facts.items())
    return f"<dl>{''.join(lines)}</dl>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


PATHS: Final = ["/wh/{token:str}", "/webhook/workflow/resume/{token:str}"]
TAKEN: Final = {Receipt.ACCEPTED: "accepted", Receipt.EARLY: "buffered"}
STATUS: Final = {
    Receipt.ACCEPTED: 200,
    Receipt.EARLY: 202,
    **{receipt: facts[0] for receipt, facts in REFUSALS.items()},
}


async def deliver(commands: Commands, guesses: Throttle, scope: HTTPScope, token: str, body: bytes) -> DeliveryResult:
    """Deliver the callback in a request. Raise LimitExceeded if its source has sent too many unknown tokens."""
    headers = read_headers(scope["headers"])
    payload = read_payload(headers, body)
    delivered = await commands.callbacks.deliver(
        token,
        body=payload.body,
        encoding=payload.encoding,
        headers=headers,
        query=read_query(scope["query_string"]),
        message_id=read_message_id(headers),
    )
    if not delivered.step:
        _count_guess(guesses, scope)
    return delivered


@post(
    PATHS,
    tags=["callbacks"],
    summary="Answer a wait step",
    status_code=200,
    operation_class=TakesAnything,
    responses={
        **answers(200, One[CallbackReceipt], "The step has received its callback."),
        **answers(202, One[CallbackReceipt], "The step is not active yet; the callback is stored for it."),
        **refusals(400, 404, 409, 410, 413, 429),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def receive_callback(request: AnyRequest, token: FromPath[str]) -> Response[Any]:
    """Answer a wait step. The body becomes the step's `body`: JSON, a form, text, or bytes as base64. A callback that
    is answered with 2xx is durable and counts exactly once. A repeated `webhook-id` or `Idempotency-Key` gets the first
    answer again."""
    receipt, _, step = await deliver(commands(request), _guesses(request), request.scope, token, await request.body())
    if request.headers.get("accept", "").startswith("text/html"):  # a person pressed the button
        return _page(result_page(receipt), STATUS[receipt])
    if receipt not in TAKEN:
        return refuse_callback(receipt)
    return Response(One(CallbackReceipt(TAKEN[receipt], step)), status_code=STATUS[receipt])


@route(PATHS, http_method=["GET", "HEAD"], include_in_schema=False, media_type=MediaType.HTML)
async def show_callback(request: AnyRequest, token: FromPath[str]) -> Response[Any]:
    """Show a page with a button. Link checkers and mail scanners fetch addresses, so a GET must not answer the wait."""
    view = await commands(request).callbacks.view(token)
    if view is None:
        _count_guess(_guesses(request), request.scope)
    query = read_query(request.scope["query_string"])
    return _page(confirm_page(view, query, commands(request).now()), 404 if view is None else 200)


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
