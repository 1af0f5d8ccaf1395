"""Routes that start runs, and how runs look below `/executions`: as ever, with `execution_id` beside `id`."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api import examples
from detent.api.bodies import AnyRequest, commands
from detent.api.operations import ANYTHING, DATA, INTEGER, TEXT, answers, operation, record, refusals, takes
from detent.api.paging import START_PARAMETERS
from detent.api.starts import StartCall, read_execute, read_trigger
from detent.api.wire import ExecutionStarted, One, StartedDocument, started_document
from detent.engine.commands import INPUT_LIMIT, Start
from detent.engine.feeds import Feeds
from detent.ids import RUN, show
from detent.store.rows import RunRow

BASE: Final = "/api/v1/executions"
WORKFLOWS: Final = "/api/v1/workflows"
_ENVELOPE: Final = takes(
    record(
        {
            "requestId": Schema(type=OpenAPIType.STRING, max_length=255, description="Starts one run only, ever."),
            "principal": record({"userId": TEXT, "displayName": TEXT, "email": TEXT}, required=["userId"]),
            "trigger": Schema(description="What becomes `trigger.body`, any JSON value."),
            "spec": ANYTHING,
            "priority": INTEGER,
            "tenantId": Schema(type=OpenAPIType.STRING, enum=["default"]),
            "labels": Schema(type=OpenAPIType.OBJECT, additional_properties=TEXT),
            "hero": record({"type": TEXT, "id": TEXT}, required=["type", "id"]),
            "allowMultiple": Schema(
                type=OpenAPIType.BOOLEAN, description="Beside an active run of that hero, where one only is allowed."
            ),
            "startAt": Schema(type=OpenAPIType.STRING, description="An instant, or a time from now such as `10m`."),
        }
    ),
    {
        "requestId": "ext-event-12345",
        "principal": {"userId": "U123", "displayName": "Doug", "email": "doug@example.com"},
        "trigger": {"source": "channel-x", "userId": "abc"},
        "priority": 5,
        "labels": {"team": "shop"},
        "hero": {"type": "order", "id": "123"},
    },
)


def feeds(request: AnyRequest) -> Feeds:
    """What knows when runs end."""
    found: Feeds = request.app.state["feeds"]
    return found


def is_execution(request: AnyRequest) -> bool:
    """Whether the request speaks of executions."""
    return request.scope["path"].startswith(BASE)


def shown(request: AnyRequest, document: dict[str, Any]) -> Response[Any]:
    """The answer with a document of a run."""
    return Response({"data": named(request, document)})


def named(request: AnyRequest, document: dict[str, Any]) -> dict[str, Any]:
    """The document under the names of where it was asked for."""
    if not is_execution(request):
        return document
    (first, id_), *rest = document.items()
    return {first: id_, "execution_id": id_, **dict(rest)}


@post(
    WORKFLOWS + "/{workflow:str}/trigger",
    tags=["starts"],
    summary="Start a run",
    operation_class=operation(*START_PARAMETERS, body=DATA),
    responses={
        **answers(201, One[StartedDocument], "It was started.", examples.one(examples.STARTED)),
        **answers(200, One[StartedDocument], "The request id is known: this is the run it started."),
        **refusals(400, 403, 404, 409, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def trigger_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[One[StartedDocument]]:
    """The whole body is `trigger.body`. When this answers, the run is durable and will end. What else the query holds
    is `trigger.query`."""
    call = await _read(request, read_trigger)
    started, ended = await _start(request, workflow, call)
    document = started_document(started, ended)
    place = f"{WORKFLOWS}/{document.workflow_id}/runs/{document.run_id}"
    return Response(One(document), status_code=201 if started.is_new else 200, headers={"Location": place})


@post(
    WORKFLOWS + "/{workflow:str}/execute",
    tags=["starts"],
    summary="Start a run with an envelope",
    status_code=202,
    operation_class=operation(*START_PARAMETERS, body=_ENVELOPE),
    responses={
        **answers(202, One[ExecutionStarted], "It was started.", examples.one(examples.EXECUTION)),
        **answers(200, One[ExecutionStarted], "The request id is known: this is the run it started."),
        **refusals(400, 403, 404, 409, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def execute_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[One[ExecutionStarted]]:
    """The envelope's `trigger` is `trigger.body`. Without a `principal` it is the system that starts it. Names may be
    written in snake_case too."""
    call = await _read(request, read_execute)
    started, ended = await _start(request, workflow, call)
    document = _execution(started_document(started, ended))
    place = {"Location": document.status_url}
    return Response(One(document), status_code=202 if started.is_new else 200, headers=place)


def _execution(started: StartedDocument) -> ExecutionStarted:
    return ExecutionStarted(
        execution_id=started.run_id,
        run_id=started.run_id,
        workflow_id=started.workflow_id,
        status=started.status,
        status_url=f"{BASE}/{started.run_id}",
        finished_at=started.finished_at,
        output=started.output,
        error=started.error,
    )


async def _read(request: AnyRequest, read: Any) -> StartCall:
    scope = request.scope
    call: StartCall = read(scope["headers"], scope["query_string"], await request.body(), commands(request).now)
    return call


async def _start(request: AnyRequest, workflow: str, call: StartCall) -> tuple[Start, RunRow | None]:
    """The run; and if its end is waited for, how it is when that has come or time is over."""
    started = await commands(request).start(workflow, call.given, call.options)
    if call.wait is None:
        return started, None
    await feeds(request).ended(started.run, call.wait)
    return started, await commands(request).run_row(show(RUN, started.run))


ROUTES = [trigger_workflow, execute_workflow]
