"""Where the outside world answers a wait step. Only POST answers; whoever merely looks changes nothing."""

from __future__ import annotations

from typing import Any, Final

from litestar import MediaType, Response, post, route
from litestar.params import FromPath

from detent.api.bodies import AnyRequest, commands, headers_of
from detent.api.confirm import confirm_page, result_page
from detent.api.guessing import Guesses
from detent.api.operations import TakesAnything, answers, refusals
from detent.api.pages import PAGE_HEADERS
from detent.api.problems import REFUSALS, refuse_callback, refuse_guesses
from detent.api.wire import One, Received
from detent.engine.commands import INPUT_LIMIT
from detent.engine.payloads import read_message_id, read_payload, read_query
from detent.store.rows import Receipt

PATHS: Final = ["/wh/{token:str}", "/webhook/workflow/resume/{token:str}"]
TAKEN: Final = {Receipt.ACCEPTED: "accepted", Receipt.EARLY: "buffered"}
STATUS: Final = {
    Receipt.ACCEPTED: 200,
    Receipt.EARLY: 202,
    **{receipt: facts[0] for receipt, facts in REFUSALS.items()},
}


@post(
    PATHS,
    tags=["callbacks"],
    summary="Answer a wait step",
    status_code=200,
    operation_class=TakesAnything,
    responses={
        **answers(200, One[Received], "The step has its callback."),
        **answers(202, One[Received], "The step is not active yet; the callback is kept for it."),
        **refusals(400, 404, 409, 410, 413, 429),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def receive_callback(request: AnyRequest, token: FromPath[str]) -> Response[Any]:
    """The body becomes the step's `body`: JSON, a form, text, or bytes as base64. What is answered with 2xx is durable
    and counts exactly once; the same `webhook-id` or `Idempotency-Key` again gets the first answer again."""
    headers = headers_of(request)
    payload = read_payload(headers, await request.body())
    receipt, _ = await commands(request).deliver(
        token,
        body=payload.body,
        encoding=payload.encoding,
        headers=headers,
        query=read_query(request.scope["query_string"]),
        message_id=read_message_id(headers),
    )
    if receipt is Receipt.NOT_FOUND and (wait := _count_guess(request)) is not None:
        return refuse_guesses(wait)
    if headers.get("accept", "").startswith("text/html"):  # a person pressed the button
        return _page(result_page(receipt), STATUS[receipt])
    if receipt not in TAKEN:
        return refuse_callback(receipt)
    place = commands(request).callback_place(token)
    return Response(One(Received(TAKEN[receipt], place[1] if place else "")), status_code=STATUS[receipt])


@route(PATHS, http_method=["GET", "HEAD"], include_in_schema=False, media_type=MediaType.HTML)
async def show_callback(request: AnyRequest, token: FromPath[str]) -> Response[Any]:
    """A page with a button: link checkers and mail scanners fetch addresses, and must not answer for a person."""
    view = await commands(request).callback_state(token)
    if view is None and (wait := _count_guess(request)) is not None:
        return refuse_guesses(wait)
    query = read_query(request.scope["query_string"])
    return _page(confirm_page(view, query, commands(request).now()), 404 if view is None else 200)


def _page(html: str, status: int) -> Response[Any]:
    return Response(html, status_code=status, media_type=MediaType.HTML, headers=PAGE_HEADERS)


def _count_guess(request: AnyRequest) -> float | None:
    """Note a token that nobody made. Gives the seconds to wait if there were too many from there."""
    guesses: Guesses = request.app.state["guesses"]
    return guesses.count(request.client.host if request.client else "")


ROUTES = [receive_callback, show_callback]
