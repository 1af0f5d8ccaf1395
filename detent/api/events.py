"""The route by which others tell that something happened."""

from __future__ import annotations

from typing import Final

from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType

from detent.api import examples
from detent.api.bodies import AnyRequest
from detent.api.operations import ANYTHING, answers, operation, record, refusals, takes
from detent.api.spelling import object_body, our_names, refuse_if_any, spellings
from detent.api.trigger_documents import EVENT_EXAMPLE, EventDocument, event_shown
from detent.api.triggers import triggers
from detent.api.wire import One
from detent.authoring.event_types import LONGEST_EVENT_TYPE
from detent.authoring.fields import Fields, Problems

_MESSAGE: Final = "the event cannot be sent"
_LONGEST_ID: Final = 255
_EVENT: Final = takes(
    record(
        {
            "type": Schema(type=OpenAPIType.STRING, max_length=LONGEST_EVENT_TYPE),
            "data": ANYTHING,
            "id": Schema(type=OpenAPIType.STRING, max_length=_LONGEST_ID, description="The same again fires nothing."),
        },
        required=["type"],
    ),
    {"type": "order.paid", "data": {"order_id": 123}, "id": "payment-77"},
    required=True,
)


@post(
    "/api/v1/events",
    tags=["events"],
    summary="Send an event",
    status_code=202,
    operation_class=operation(body=_EVENT),
    responses={
        **answers(202, One[EventDocument], "It was taken.", examples.one(EVENT_EXAMPLE)),
        **refusals(400, 403, 413),
    },
)
async def send_event(request: AnyRequest) -> Response[One[EventDocument]]:
    """Fires every event trigger that listens to its type: `order.paid`, `order.*` or `*`. `data` is `trigger.body`. The
    same `id` again answers with the firings it made first."""
    problems = Problems()
    sent = our_names(object_body(await request.body(), _MESSAGE), spellings("type", "data", "id"), problems)
    fields = Fields(sent, "", problems)
    if fields.get("type") is None:
        problems.add("type", "is missing")
    type_, id_ = fields.text("type", most=LONGEST_EVENT_TYPE), fields.text("id", most=_LONGEST_ID)
    refuse_if_any(problems, _MESSAGE)
    found = await triggers(request).send_event(type_ or "", fields.values.get("data", {}), id_)
    return Response(One(event_shown(found)), status_code=202)


ROUTES = [send_event]
