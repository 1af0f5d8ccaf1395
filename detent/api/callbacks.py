"""Where the outside world answers a wait step. Only POST answers; whoever merely looks changes nothing."""

from __future__ import annotations

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.params import FromPath

from detent.api.bodies import AnyRequest, callback_body, commands, headers_of, message_id
from detent.api.operations import TakesAnything, answers, refusals
from detent.api.pages import PAGE_HEADERS, confirm_page
from detent.api.problems import refuse_callback, refuse_guesses
from detent.api.wire import One, Received
from detent.engine.commands import INPUT_LIMIT
from detent.store.rows import Receipt

PATHS: Final = ["/wh/{token:str}", "/webhook/workflow/resume/{token:str}"]
_TAKEN: Final = {Receipt.ACCEPTED: (200, "accepted"), Receipt.EARLY: (202, "buffered")}


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
    """The body becomes the step's `body`. What is answered with 2xx is durable and counts exactly once; the same
    `webhook-id` or `Idempotency-Key` again gets the first answer again."""
    body, headers = await callback_body(request), headers_of(request)
    receipt, _ = await commands(request).deliver(
        token, body=body, headers=headers, query=dict(request.query_params), message_id=message_id(headers)
    )
    if receipt is Receipt.NOT_FOUND:
        wait = request.app.state["guesses"].count(request.client.host if request.client else "")
        return refuse_callback(receipt) if wait is None else refuse_guesses(wait)
    if receipt not in _TAKEN:
        return refuse_callback(receipt)
    status, word = _TAKEN[receipt]
    place = commands(request).callback_place(token)
    return Response(One(Received(word, place[1] if place else "")), status_code=status)


@get(PATHS, include_in_schema=False, media_type=MediaType.HTML)
async def show_callback(token: FromPath[str]) -> Response[str]:
    """A page with a button: link checkers and mail scanners fetch addresses, and must not answer for a person."""
    return Response(confirm_page(token), media_type=MediaType.HTML, headers=PAGE_HEADERS)


ROUTES = [receive_callback, show_callback]
