"""Routes that make a new run of an old one, and the one that says what an uncertain step did."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api import examples
from detent.api.bodies import AnyRequest, commands
from detent.api.executions import is_execution, named, shown
from detent.api.operations import ANYTHING, BOOLEAN, TEXT, answers, operation, record, refusals, takes
from detent.api.paging import REQUEST_ID
from detent.api.runs import BASES, BY, CONTROLLED, RunAnswer, Workflow, places, run_row
from detent.api.spelling import object_body, our_names, refuse_if_any, spellings
from detent.api.starts import request_id_of
from detent.api.wire import One, RunDocument
from detent.authoring.fields import Fields, Problems
from detent.engine.commands import INPUT_LIMIT, Start
from detent.ids import RUN, show

_LONGEST_STEP: Final = 200
_STATUS_CODE: Final = Schema(type=OpenAPIType.INTEGER, minimum=100, maximum=599)
_RERUN: Final = takes(record({"input": ANYTHING}), {"input": {"order_id": 124}})
_FORK: Final = takes(
    record({"step": TEXT, "output": ANYTHING, "status_code": _STATUS_CODE}, required=["step"]),
    {"step": "charge", "output": {"amount": 42.5}},
    required=True,
)
_RESOLVE: Final = takes(
    record({"happened": BOOLEAN, "output": ANYTHING}, required=["happened"]),
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


@post(places("/{run:str}/retry"), summary="Retry a run", operation_class=operation(REQUEST_ID), **_MADE)
async def retry_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """A new run, on the same version and with the same input, that begins at the steps that did not succeed: what
    succeeded before them is taken over and not called again. The old run stays as it is."""
    await run_row(commands(request), run, workflow)
    await read_fields(request)
    return await _made(request, await commands(request).retry(run, request_id=_request_id(request)))


@post(
    places("/{run:str}/rerun", below=False),
    summary="Run the workflow again",
    operation_class=operation(REQUEST_ID, body=_RERUN),
    **_MADE,
)
async def rerun_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """A new run from the beginning, of the workflow's current version, with the same input or with another body."""
    fields = await read_fields(request, "input")
    body = fields.values.get("input", msgspec.UNSET)
    return await _made(request, await commands(request).rerun(run, body=body, request_id=_request_id(request)))


@post(
    places("/{run:str}/fork", below=False),
    summary="Begin again at a step",
    operation_class=operation(REQUEST_ID, body=_FORK),
    **_MADE,
)
async def fork_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """A new run on the same version that begins at a step: what does not depend on it is taken over. With `output` the
    step is not run, but taken to have given that (an HTTP step with `status_code`, 200 if nothing is said)."""
    fields = await read_fields(request, "step", "output", "status_code", required=("step",))
    step = fields.text("step", most=_LONGEST_STEP)
    status_code = fields.integer("status_code", least=100, most=599)
    if status_code is not None and "output" not in fields.values:
        fields.problems.add("status_code", "is only for a step with an output")
    refuse_if_any(fields.problems, _MESSAGE)
    made = await commands(request).fork(
        run,
        step or "",
        output=fields.values.get("output", msgspec.UNSET),
        status_code=status_code,
        request_id=_request_id(request),
    )
    return await _made(request, made)


@post(
    places("/{run:str}/steps/{step:str}/resolve", below=False),
    summary="Say whether a step happened",
    **{
        **CONTROLLED,
        "operation_class": operation(body=_RESOLVE),
        "responses": {**CONTROLLED["responses"], **refusals(400, 413)},
    },
    request_max_body_size=INPUT_LIMIT,
)
async def resolve_run_step(request: AnyRequest, run: FromPath[str], step: FromPath[str]) -> RunAnswer:
    """For a step with `on_crash: ask` whose node died during it: nobody but a person can know whether it happened. If
    it did, it ends `success` with `output`; if not, `failed`. The run goes on when no step is uncertain any more."""
    fields = await read_fields(request, "happened", "output", required=("happened",))
    happened = fields.boolean("happened", default=False)
    refuse_if_any(fields.problems, _MESSAGE)
    document = await commands(request).resolve(run, step, happened=happened, output=fields.get("output"), by=BY)
    return shown(request, document)


_MESSAGE: Final = "the request is not right"


async def read_fields(request: AnyRequest, *known: str, required: tuple[str, ...] = ()) -> Fields:
    """The fields of the body; those that are not known or missing are refused."""
    problems = Problems()
    found = our_names(object_body(await request.body(), _MESSAGE), spellings(*known), problems)
    for name in required:
        if found.get(name) is None:
            problems.add(name, "is missing")
    refuse_if_any(problems, _MESSAGE)
    return Fields(found, "", problems)


def _request_id(request: AnyRequest) -> str | None:
    return request_id_of(request.scope["headers"])


async def _made(request: AnyRequest, start: Start) -> RunAnswer:
    id_ = show(RUN, start.run)
    document = named(request, await commands(request).run(id_))
    place = {"Location": f"{BASES[is_execution(request)]}/{id_}"}
    return Response({"data": document}, status_code=201 if start.is_new else 200, headers=place)


ROUTES = [retry_run, rerun_run, fork_run, resolve_run_step]
