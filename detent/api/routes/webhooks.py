"""Routes of webhooks and events, with which other systems start runs.

A request is stored as a firing before a run starts. A repeated request gets the first answer again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import msgspec
from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.context import caller_of, context_of, put_caller
from detent.api.errors import ILLEGAL_STATE, INVALID, refuse
from detent.api.large_body import read_body
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    ALLOW_MULTIPLE,
    ANYTHING,
    DATA,
    answers,
    header,
    operation,
    query,
    record_schema,
    refusals,
    takes,
    texts,
)
from detent.api.openapi.operations import TEXT as TEXT_SCHEMA
from detent.api.request import AnyRequest, commands, feeds, read_fields, refuse_if_any, triggers
from detent.api.routes.starts import WEBHOOK_OPTIONS, large_input, read_options
from detent.api.routes.triggers import BASE
from detent.api.server.guards import reason_against
from detent.api.server.policy_guard import admit
from detent.auth.scopes import Scope
from detent.documents.answers import One
from detent.documents.refusals import Refusal
from detent.documents.triggers import EventReceipt, MatchedTrigger, WebhookDocument
from detent.errors import AlreadyActive, Forbidden, LimitExceeded, NotFound, NotStartable, TooLarge, Unauthenticated
from detent.forms.triggers import LONGEST_EVENT_TYPE
from detent.ids import FIRING, RUN, TRIGGER, show
from detent.run.status import TERMINAL, Status
from detent.store.tenants import Owned
from detent.store.trigger_rows import FiringRow, FiringState, TriggerRow
from detent.triggers import record
from detent.triggers.commands import FORGED, Sent
from detent.triggers.processor import CONDITION_ERROR
from detent.triggers.receiver import ReceivedBlob
from detent.triggers.record import FiringPayload, blob_request, webhook_request
from detent.values.answer import RunAnswer
from detent.values.blob import Blob
from detent.values.limits import ID_LIMIT

#: The operation whose line in the policy covers the start of a workflow that has no webhook trigger.
_STARTS: Final = "trigger_workflow"
_MESSAGE: Final = "the event cannot be sent"
_EVENT: Final = takes(
    record_schema(
        {
            "type": Schema(type=OpenAPIType.STRING, max_length=LONGEST_EVENT_TYPE),
            "data": ANYTHING,
            "id": Schema(
                type=OpenAPIType.STRING, max_length=ID_LIMIT, description="A repeated id fires nothing again."
            ),
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
        **answers(202, One[EventReceipt], "The event was stored.", examples.one(examples.EVENT)),
        **refusals(400, 403, 413),
    },
)
async def send_event(request: AnyRequest) -> Response[One[EventReceipt]]:
    """Fire every event trigger that listens to the type of the event: `order.paid`, `order.*` or `*`. `data` is
    `trigger.body`. A repeated `id` returns the firings that it made first."""
    fields = await read_fields(request, "type", "data", "id", message=_MESSAGE, required=("type",))
    type_, id_ = fields.text("type", most=LONGEST_EVENT_TYPE), fields.text("id", most=ID_LIMIT)
    refuse_if_any(fields.problems, _MESSAGE)
    found = await triggers(request).receiver.send_event(type_ or "", fields.values.get("data", {}), id_)
    return Response(One(_receipt(found)), status_code=202)


_RUN_HEADER: Final = "Detent-Run"
#: After how many seconds a caller may ask again for what is not there yet.
_LATER: Final = "5"
#: Webhooks have the origin of the web page: a browser must run no script of an answer, nor guess its type.
_CONFINED: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
_ACCEPTED: Final = "accepted"
_ENDED: Final = (FiringState.IGNORED, FiringState.SKIPPED)
_OPTIONS: Final = (
    header(
        "webhook-id",
        "Or `Idempotency-Key`, or the `dedup_header` of the trigger: a repeated id starts nothing more.",
        "msg_77",
    ),
    query("start_at", TEXT_SCHEMA, "When the run begins: an instant, or a time from now.", "10m"),
    query("label", texts(), "A label of the run, `key:value`.", ["team:shop"]),
    query("hero", TEXT_SCHEMA, "What the run is about, `type:id`.", "order:123"),
    ALLOW_MULTIPLE,
)
_ROUTE: Final[dict[str, Any]] = {
    "tags": ["webhooks"],
    "status_code": 201,
    "operation_class": operation(*_OPTIONS, body=DATA),
    "responses": {
        **answers(201, One[WebhookDocument], "A run was started.", examples.one(examples.WEBHOOK_STARTED)),
        **answers(
            202,
            One[WebhookDocument],
            "Nothing was started, or nothing yet. Or its caller waits for the run (`respond`), and the wait is over.",
            examples.one(examples.WEBHOOK_IGNORED),
        ),
        **answers(200, Any, "With `respond`: the output of the run, or what its step says, with the status of it."),
        **refusals(400, 401, 403, 404, 409, 410, 413, 429, 502, 503),
    },
}

Answer = Response[Any]


@post(BASE + "/{trigger:str}", summary="Call a webhook trigger", **_ROUTE)
async def call_trigger(request: AnyRequest, trigger: FromPath[str]) -> Answer:
    """Call a webhook trigger. The whole body is `trigger.body`: JSON, a form, text or bytes. A request that is answered
    with 2xx is durable."""
    await _work_as_owner(request, Owned.TRIGGER, trigger)
    row = await triggers(request).receiver.webhook(trigger)
    return await _receive(request, row)


@post("/webhook/workflow/trigger/{workflow:str}", summary="Start a workflow by webhook", **_ROUTE)
async def call_workflow(request: AnyRequest, workflow: FromPath[str]) -> Answer:
    """Call the webhook trigger of a workflow. A workflow without one is started as by the API: it needs the same key,
    and an origin that may use the API. A name finds a workflow of the default tenant only; an id finds one of any
    tenant."""
    await _work_as_owner(request, Owned.WORKFLOW, workflow)
    try:
        row = await triggers(request).receiver.webhook_of(workflow)
    except NotFound:
        row = None  # only a caller that is known learns that the workflow does not exist
    if row is None:
        return await _start(request, workflow)
    return await _receive(request, row)


async def _work_as_owner(request: AnyRequest, kind: Owned, text: str) -> None:
    """Go on as the tenant of the object that the address names. If there is none, stay public."""
    context = context_of(request.scope)
    tenant = await context.engine_triggers.owner_of(kind, text)
    if tenant is not None:
        put_caller(request.scope, context.bound(replace(context.public, tenant=tenant)))


def _incoming(request: AnyRequest, body: bytes | Blob) -> FiringPayload:
    """Read a request. Its body may be a blob."""
    headers, query = request.scope["headers"], request.scope["query_string"]
    options = read_options(headers, query, commands(request).now, WEBHOOK_OPTIONS)
    refuse_if_any(options.problems, "the run cannot be started")
    raw = b"" if isinstance(body, Blob) else body
    kept = webhook_request(request.method, options.headers, options.query, raw)
    if isinstance(body, Blob):
        kept = blob_request(kept, body)
    return msgspec.structs.replace(
        kept,
        start_at=options.start_at,
        labels=options.labels,
        hero=options.hero,
        allow_multiple=bool(options.allow_multiple),
    )


async def _receive(request: AnyRequest, trigger: TriggerRow) -> Answer:
    """Receive a request to a webhook trigger. A body that is too large for the journal becomes a blob."""
    streamed: list[ReceivedBlob] = []

    async def begin() -> ReceivedBlob:
        streamed.append(await triggers(request).receiver.begin_blob(trigger, _incoming(request, b"")))
        return streamed[0]

    def count_forged() -> None:
        wait = context_of(request.scope).forgeries.count(request.client.host if request.client else "")
        if wait is not None:
            raise LimitExceeded("too many requests with an invalid signature", wait)

    try:
        incoming = _incoming(request, await read_body(request.receive, begin))
    except Unauthenticated:
        count_forged()
        raise
    blob = streamed[0] if streamed else None
    firing = await triggers(request).receiver.receive_webhook(trigger, incoming, count_forged=count_forged, blob=blob)
    if firing.run is not None and "respond" in json.loads(trigger.config):
        return await _wait(request, trigger, firing, firing.run)
    return await _answer(request, firing)


async def _wait(request: AnyRequest, trigger: TriggerRow, firing: FiringRow, run: bytes) -> Answer:
    """Answer with what the run says to its caller, or with why it says nothing."""
    found = await triggers(request).answers.wait(trigger, run, feeds(request))
    id_ = show(RUN, run)
    if isinstance(found, RunAnswer):
        headers = {**found.headers, **_CONFINED, _RUN_HEADER: id_}
        kind = headers.pop("content-type", "")
        if kind.startswith("text/"):
            kind = kind.partition(";")[0].strip()  # the response says that text is UTF-8
        return Response(found.content, status_code=found.status, headers=headers, media_type=kind)
    match found.status:
        case None:
            return refuse(410, "gone", "gone", "the run has ended, and its answer is not stored any more", run_id=id_)
        case Status.COMPLETED:
            return Response(None, status_code=204, headers={_RUN_HEADER: id_})
        case status if status in TERMINAL:
            message = f"the run has ended as {status} and has no answer"
            return refuse(502, "run_failed", "run_failed", message, run_id=id_, headers={_RUN_HEADER: id_})
        case _:
            document = await _started(request, run, show(FIRING, firing.id))
            document.status_url = f"{triggers(request).base_url.rstrip('/')}/api/v1/runs/{id_}"
            headers = {"Location": document.status_url, _RUN_HEADER: id_, "Retry-After": _LATER}
            return Response(One(document), status_code=202, headers=headers)


async def _start(request: AnyRequest, workflow: str) -> Answer:
    reason = reason_against(request.scope, context_of(request.scope).names)
    if reason:
        raise Forbidden(reason)
    put_caller(request.scope, await admit(context_of(request.scope), request.scope, _STARTS))
    begin = large_input(commands(request), workflow, request.scope, WEBHOOK_OPTIONS)
    incoming = _incoming(request, await read_body(request.receive, begin))
    request_id = incoming.headers.get("idempotency-key")
    start = await commands(request).starts.start(
        incoming.start(workflow, trigger="webhook", request_id=request_id, fired_by=None)
    )
    return Response(One(await _started(request, start.run, None)), status_code=201 if start.is_new else 200)


async def _answer(request: AnyRequest, firing: FiringRow) -> Answer:
    """Render the answer of a firing. A repeated request gets the same answer."""
    why, id_ = record.decode(firing.message), show(FIRING, firing.id)
    if firing.run is not None:
        return Response(One(await _started(request, firing.run, id_)), status_code=201)
    if firing.state in (FiringState.REFUSED, FiringState.ERRORED) and why is not None:
        return _refused(why)
    status = firing.state if firing.state in _ENDED else _ACCEPTED
    message = None if why is None else why.text()
    headers = {"Retry-After": _LATER} if status == _ACCEPTED else {}
    document = WebhookDocument(status=status, firing_id=id_, message=message)
    return Response(One(document), status_code=202, headers=headers)


def _receipt(sent: Sent) -> EventReceipt:
    fired = [
        MatchedTrigger(
            show(TRIGGER, row.trigger), show(FIRING, row.id), row.state, None if row.run is None else show(RUN, row.run)
        )
        for row in sent.firings
    ]
    return EventReceipt(sent.id, sent.type, len(fired), fired)


async def _started(request: AnyRequest, run: bytes, firing: str | None) -> WebhookDocument:
    id_ = show(RUN, run)
    try:
        # The sender has started the run, so it may know where the run waits.
        caller = caller_of(request.scope).caller
        sender = replace(caller, scopes=caller.scopes | {Scope.EXECUTE})
        callbacks = (await context_of(request.scope).bound(sender).commands.runs.get(id_)).callbacks
    except NotFound:
        callbacks = []  # the run has ended and was deleted by retention
    return WebhookDocument(
        status="started",
        firing_id=firing,
        run_id=id_,
        execution_id=id_,
        callbacks=callbacks,
    )


def _refused(why: record.FiringReason) -> Response[Refusal]:
    match why.code:
        case code if code == FORGED:
            return refuse(401, "unauthenticated", FORGED, why.message)
        case code if code == NotStartable.code:
            return refuse(409, "conflict", ILLEGAL_STATE, why.message)
        case code if code == AlreadyActive.code:
            return refuse(409, "conflict", AlreadyActive.code, why.message, run_id=why.run)
        case code if code == NotFound.code:
            return refuse(404, "not_found", NotFound.code, why.message)
        case code if code == TooLarge.code:
            return refuse(413, "too_large", TooLarge.code, why.message)
        case code if code == CONDITION_ERROR:
            return refuse(400, "invalid_argument", CONDITION_ERROR, why.message)
        case _:
            return refuse(400, "invalid_argument", INVALID, why.message, problems=why.found())


ROUTES = [
    send_event,
    call_trigger,
    call_workflow,
]
