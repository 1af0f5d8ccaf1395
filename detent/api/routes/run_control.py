"""Routes that control runs: rerun, resolve, skip, reattempt, finish, bulk actions and signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec
from litestar import Response, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.filters import read_filter
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    REQUEST_ID,
    TEXT,
    answers,
    operation,
    query,
    record_schema,
    refusals,
    takes,
)
from detent.api.request import (
    AnyRequest,
    QueryValues,
    aliases,
    commands,
    normalize_names,
    object_body,
    read_fields,
    read_json,
    refuse_if_any,
)
from detent.api.routes.runs import BASES, CONTROLLED, RunAnswer, Workflow, named, places, run_answer, run_row
from detent.api.routes.starts import is_execution, request_id_of
from detent.commands import Commands, StartAnswer
from detent.commands.bulk import MOST, BulkAction, BulkResult
from detent.commands.rerun import RetryPreview, RetryVersion
from detent.documents.answers import One
from detent.documents.runs import BulkDocument, RefusedDocument, RetryPreviewDocument, RunDocument, SignalReceipt
from detent.errors import CommitUnknown, InvalidInput, StoreError
from detent.ids import RUN, show
from detent.store.rows import RunCriteria
from detent.values.durations import SECONDS
from detent.values.fields import Fields, Problems, shown
from detent.values.limits import INPUT_LIMIT

_MESSAGE: Final = "the request is invalid"
_LONGEST_STEP: Final = 200
_STATUS_CODE: Final = Schema(type=OpenAPIType.INTEGER, minimum=100, maximum=599)
_VERSION: Final = Schema(type=OpenAPIType.STRING, enum=[str(word) for word in RetryVersion])
_RETRY: Final = takes(record_schema({"version": _VERSION}), {"version": "current"})
_RERUN: Final = takes(record_schema({"input": ANYTHING}), {"input": {"order_id": 124}})
_FORK: Final = takes(
    record_schema({"step": TEXT, "output": ANYTHING, "status_code": _STATUS_CODE}, required=["step"]),
    {"step": "charge", "output": {"amount": 42.5}},
    required=True,
)
_RESOLVE: Final = takes(
    record_schema({"happened": BOOLEAN, "output": ANYTHING}, required=["happened"]),
    {"happened": True, "output": {"amount": 42.5}},
    required=True,
)
_MADE: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "responses": {
        **answers(201, One[RunDocument], "The new run.", examples.one(examples.AGAIN)),
        **answers(200, One[RunDocument], "The request id is known: this is the run it made."),
        **refusals(400, 403, 404, 409, 413),
    },
    "request_max_body_size": INPUT_LIMIT,
}


@post(places("/{run:str}/retry"), summary="Retry a run", operation_class=operation(REQUEST_ID, body=_RETRY), **_MADE)
async def retry_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Start a new run on the same version with the same input. It begins at the steps that did not succeed. Results of
    steps that succeeded before them are reused; these steps do not run again. The old run does not change. With
    `version: current` the new run has the current version of the workflow, for example one in which a step is
    mended."""
    row = await run_row(commands(request), run, workflow)
    fields = await read_fields(request, "version", message=_MESSAGE)
    version = fields.choice("version", RetryVersion, RetryVersion.SAME)
    refuse_if_any(fields.problems, _MESSAGE)
    made = await commands(request).reruns.retry(row, request_id=_request_id(request), version=version)
    return await _made(request, made)


@get(
    places("/{run:str}/retry"),
    tags=["runs"],
    summary="Preview a retry",
    operation_class=operation(query("version", _VERSION, "The version that the retry would start.", "current")),
    responses={
        **answers(200, One[RetryPreviewDocument], "What a retry would do.", examples.one(examples.RETRY_PREVIEW)),
        **refusals(400, 404, 409),
    },
)
async def preview_run_retry(
    request: AnyRequest, run: FromPath[str], workflow: Workflow = None
) -> Response[One[RetryPreviewDocument]]:
    """Say what a retry would keep, and which steps would run again or be decided again. Nothing is started."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("version"))
    version = values.last("version", _version_word)
    values.refuse(_MESSAGE)
    row = await run_row(commands(request), run, workflow)
    found = await commands(request).reruns.preview_retry(row, version=version or RetryVersion.SAME)
    return Response(One(_preview(found)))


def _version_word(text: str) -> RetryVersion:
    try:
        return RetryVersion(text)
    except ValueError:
        raise InvalidInput(f"{shown(text)} is not one of {', '.join(RetryVersion)}") from None


def _preview(found: RetryPreview) -> RetryPreviewDocument:
    return RetryPreviewDocument(show(RUN, found.run), found.version, found.kept, found.again)


@post(
    places("/{run:str}/rerun", below=False),
    summary="Run the workflow again",
    operation_class=operation(REQUEST_ID, body=_RERUN),
    **_MADE,
)
async def rerun_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Start a new run from the beginning, on the current version of the workflow, with the same input or another."""
    fields = await read_fields(request, "input", message=_MESSAGE)
    body = fields.values.get("input", msgspec.UNSET)
    return await _made(request, await commands(request).reruns.rerun(run, body=body, request_id=_request_id(request)))


@post(
    places("/{run:str}/fork", below=False),
    summary="Start a new run at a step",
    operation_class=operation(REQUEST_ID, body=_FORK),
    **_MADE,
)
async def fork_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Start a new run on the same version, at a step. Results of steps that do not depend on it are reused. With
    `output` the step does not run: `output` becomes its result (of an HTTP step with `status_code`, by default 200).
    In a run of a durable function `step` may be an operation, such as `charge#2` or the name of a wait. The operations
    that ended before it are reused."""
    fields = await read_fields(request, "step", "output", "status_code", message=_MESSAGE, required=("step",))
    step = fields.text("step", most=_LONGEST_STEP)
    status_code = fields.integer("status_code", least=100, most=599)
    if status_code is not None and "output" not in fields.values:
        fields.problems.add("status_code", "is only for a step with an output")
    refuse_if_any(fields.problems, _MESSAGE)
    made = await commands(request).reruns.fork(
        run,
        step or "",
        output=fields.values.get("output", msgspec.UNSET),
        status_code=status_code,
        request_id=_request_id(request),
    )
    return await _made(request, made)


@post(
    places("/{run:str}/steps/{step:str}/resolve", below=False),
    summary="Resolve a step of unknown outcome",
    **{
        **CONTROLLED,
        "operation_class": operation(body=_RESOLVE),
        "responses": {**CONTROLLED["responses"], **refusals(400, 413)},
    },
    request_max_body_size=INPUT_LIMIT,
)
async def resolve_run_step(request: AnyRequest, run: FromPath[str], step: FromPath[str]) -> RunAnswer:
    """Say whether a step with `on_crash: ask` happened whose node died during it. Only a person can find that out. If
    it happened, the step ends `success` with `output`; if not, `failed`. The run goes on when no step is uncertain."""
    fields = await read_fields(request, "happened", "output", message=_MESSAGE, required=("happened",))
    happened = fields.boolean("happened", default=False)
    refuse_if_any(fields.problems, _MESSAGE)
    document = await commands(request).control.resolve(run, step, happened=happened, output=fields.get("output"))
    return run_answer(request, document)


def _request_id(request: AnyRequest) -> str | None:
    return request_id_of(request.scope["headers"])


async def _made(request: AnyRequest, start: StartAnswer) -> RunAnswer:
    id_ = show(RUN, start.run)
    try:
        document = named(request, await commands(request).runs.get(id_))
    except StoreError as error:  # the run is durable, so "try again" would start another one
        raise CommitUnknown(f"the run {id_} was started, and cannot be read: {error.message}") from None
    place = {"Location": f"{BASES[is_execution(request)]}/{id_}"}
    return Response(One(document), status_code=201 if start.is_new else 200, headers=place)


_WAIT: Final = Schema(one_of=[Schema(type=OpenAPIType.NUMBER, minimum=0), TEXT])
_SKIP: Final = takes(record_schema({"step": TEXT}), {"step": "charge"})
_REATTEMPT: Final = takes(record_schema({"step": TEXT, "wait": _WAIT}), {"step": "charge", "wait": "10m"})


def _controlled(body: Any) -> dict[str, Any]:
    return {
        **CONTROLLED,
        "operation_class": operation(body=body),
        "responses": {**CONTROLLED["responses"], **refusals(400)},
    }


@post(places("/{run:str}/skip"), summary="Skip a step of a run", **_controlled(_SKIP))
async def skip_run_step(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Skip a step, or without a name the step that the run is at. The step ends `skipped`, also during an attempt. The
    run goes on with the next steps, also if it was paused. `skip_requested` is true if its node has not applied it
    yet."""
    row = await run_row(commands(request), run, workflow)
    fields = await read_fields(request, "step", message=_MESSAGE)
    step = fields.text("step", most=_LONGEST_STEP)
    refuse_if_any(fields.problems, _MESSAGE)
    return run_answer(request, await commands(request).control.skip(row, step))


@post(places("/{run:str}/reattempt"), summary="Try a step of a run again", **_controlled(_REATTEMPT))
async def reattempt_run_step(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Run a step again in the same run, at once or after `wait` (seconds, or a text such as `10m`). Without a name it
    is the step that the run is at. An attempt in flight is stopped, and its outcome does not count. A paused run goes
    on."""
    row = await run_row(commands(request), run, workflow)
    fields = await read_fields(request, "step", "wait", message=_MESSAGE)
    step, wait = fields.text("step", most=_LONGEST_STEP), fields.duration("wait", unit=SECONDS)
    refuse_if_any(fields.problems, _MESSAGE)
    return run_answer(request, await commands(request).control.reattempt(row, step, wait=wait or 0.0))


@post(places("/{run:str}/finish"), summary="Finish a run", **CONTROLLED)
async def finish_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Complete a run with the output of its last step. Steps that have not ended are skipped; attempts in flight are
    stopped."""
    row = await run_row(commands(request), run, workflow)
    return run_answer(request, await commands(request).control.finish(row))


USUAL: Final = 1_000
BULK_NAMES: Final = aliases("action", "filter", "all", "dry_run", "limit", "version")
_WORDS: Final = Schema(one_of=[TEXT, Schema(type=OpenAPIType.ARRAY, items=TEXT)])
FILTER: Final = record_schema(
    {
        **dict.fromkeys(("status", "stage", "label", "ids"), _WORDS),
        **dict.fromkeys(("workflow", "trigger", "hero", "request_id", "origin", "parent"), TEXT),
        **dict.fromkeys(("started_after", "started_before", "text", "error", "view"), TEXT),
        "version": INTEGER,
    }
)
_BODY: Final = takes(
    record_schema(
        {
            "action": Schema(type=OpenAPIType.STRING, enum=[str(wish) for wish in BulkAction]),
            "filter": FILTER,
            "all": BOOLEAN,
            "dry_run": BOOLEAN,
            "limit": INTEGER,
            "version": _VERSION,
        },
        required=["action", "filter"],
    ),
    {"action": "retry", "filter": {"status": ["failed"], "workflow": "order-processing"}, "dry_run": False},
    required=True,
)


@dataclass(frozen=True, slots=True)
class BulkCall:
    """A bulk action and the runs to change."""

    wish: BulkAction
    where: RunCriteria
    limit: int
    dry_run: bool
    version: RetryVersion


async def read_bulk(bound: Commands, body: bytes) -> BulkCall:
    """Read a bulk action. Raise InvalidInput with every problem. The filter is required; an empty one needs `all`."""
    problems = Problems()
    fields = Fields(normalize_names(object_body(body, _MESSAGE), BULK_NAMES, problems), "", problems)
    if fields.get("action") is None:
        problems.add("action", f"is missing; write one of {', '.join(BulkAction)}")
    wish = fields.choice("action", BulkAction, BulkAction.CANCEL)
    where = await read_filter(bound, bulk_filter(fields), problems)
    limit = fields.integer("limit", least=1, most=MOST)
    dry_run = fields.boolean("dry_run", default=True)
    version = fields.choice("version", RetryVersion, RetryVersion.SAME)
    if fields.get("version") is not None and wish is not BulkAction.RETRY:
        problems.add("version", "is only for the action retry")
    refuse_if_any(problems, _MESSAGE)
    return BulkCall(wish, where, USUAL if limit is None else limit, dry_run, version)


def bulk_filter(fields: Fields) -> dict[str, Any]:
    """Return the filter of a request for many runs. It is required; an empty one needs `all`."""
    everything = fields.boolean("all", default=False)
    found = fields.mapping("filter")
    if fields.get("filter") is None:
        fields.problems.add("filter", 'is missing; write for example {"status": ["failed"]}')
    elif found == {} and not everything:
        fields.problems.add("filter", 'is empty and would mean every run; write "all": true beside it if you mean that')
    elif found and everything:
        fields.problems.add("all", "is only for an empty filter")
    return found or {}


@post(
    [f"{base}/bulk" for base in BASES],
    tags=["runs"],
    summary="Cancel, pause, resume, retry or rerun many runs",
    status_code=200,
    operation_class=operation(body=_BODY),
    responses={
        **answers(200, One[BulkDocument], "The result.", examples.one(examples.BULK)),
        **refusals(400, 403, 413),
    },
)
async def change_many_runs(request: AnyRequest) -> Response[One[BulkDocument]]:
    """Apply an action to the oldest `limit` runs that match `filter`, which has the fields of the list of runs. Unless
    `dry_run` is false, only count the runs that match. A filter without a status matches the runs that allow the
    action. A run is retried or rerun this way only once. `version` is that of a retry: `same` or `current`."""
    bound = commands(request)
    call = await read_bulk(bound, await request.body())
    result = await bound.bulk.apply(call.wish, call.where, limit=call.limit, dry_run=call.dry_run, version=call.version)
    return Response(One(_bulk(result, dry_run=call.dry_run)))


def _bulk(result: BulkResult, *, dry_run: bool) -> BulkDocument:
    refused = [RefusedDocument(show(RUN, run), message) for run, message in result.refused]
    previews = [_preview(found) for found in result.previews]
    return BulkDocument(str(result.wish), result.matched, dry_run, len(result.done), refused, result.more, previews)


_DATA: Final = takes(ANYTHING, {"sum": 120})


@post(
    places("/{run:str}/signals/{name:str}", below=False),
    tags=["runs"],
    summary="Send a signal to a run",
    status_code=202,
    operation_class=operation(body=_DATA),
    responses={
        **answers(
            202,
            One[SignalReceipt],
            "The signal was stored for the run.",
            {"data": {"run_id": "run_01k5c1v6p2f7x8y9z0a1b2c3d4", "signal": "paid", "accepted": True}},
        ),
        **refusals(400, 404, 409, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def signal_run(request: AnyRequest, run: FromPath[str], name: FromPath[str]) -> Response[Any]:
    """Send a signal to a durable function. The body is the data of the signal, any JSON. The run must be one of a
    durable function and must not have ended. The function may wait for the signal before or after it is sent. It
    receives each signal once, in order."""
    row = await commands(request).signals.send(run, name, read_json(await request.body(), empty=None))
    return Response(One(SignalReceipt(run_id=show(RUN, row.id), signal=name, accepted=True)), status_code=202)


ROUTES = [
    retry_run,
    preview_run_retry,
    rerun_run,
    fork_run,
    resolve_run_step,
    skip_run_step,
    reattempt_run_step,
    finish_run,
    change_many_runs,
    signal_run,
]
