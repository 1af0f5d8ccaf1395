"""Routes of runs: by their own id, and below the workflow they belong to."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get, post
from litestar.params import FromPath

from detent.api.bodies import AnyRequest, commands, cursor_of, page_of
from detent.api.operations import answers, refusals
from detent.api.wire import Many, One, RunDocument, RunSummary, run_summary
from detent.errors import InvalidInput, NotFound, Problem
from detent.ids import WORKFLOW, show
from detent.run.status import Status
from detent.store.rows import RunFilter

BASE: Final = "/api/v1/runs"
BELOW: Final = "/api/v1/workflows/{workflow:str}/runs"
_BY: Final = "api"
_ID_BYTES: Final = 16
_SEEN: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "responses": {**answers(200, One[RunDocument], "The run as it is now."), **refusals(404)},
}
_CONTROLLED: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "status_code": 200,
    "responses": {**answers(200, One[RunDocument], "The run as it is now."), **refusals(403, 404, 409)},
}

RunAnswer = Response[dict[str, Any]]


@get(BASE, tags=["runs"], summary="List the runs of all workflows", responses=refusals(400))
async def list_runs(request: AnyRequest) -> Many[RunSummary]:
    """Newest first, `limit` at a time, of one `status` if it is given."""
    return await _page(request, None)


@get(BASE + "/{run:str}", summary="Get a run", **_SEEN)
async def get_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """With the state, attempts and result of each step."""
    return _answer(await commands(request).run(run))


@post(BASE + "/{run:str}/cancel", summary="Cancel a run", **_CONTROLLED)
async def cancel_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Answers with the run; `cancel_requested` is true if its node has not got to it within two seconds."""
    return _answer(await commands(request).cancel(run, by=_BY))


@post(BASE + "/{run:str}/pause", summary="Pause a run", **_CONTROLLED)
async def pause_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Attempts in flight finish, nothing new starts. `pause_requested` is true if its node has not got to it yet."""
    return _answer(await commands(request).pause(run, by=_BY))


@post(BASE + "/{run:str}/resume", summary="Resume a run", **_CONTROLLED)
async def resume_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """A paused run goes on. `resume_requested` is true if its node has not got to it yet."""
    return _answer(await commands(request).resume(run, by=_BY))


@get(BELOW, tags=["runs"], summary="List the runs of a workflow", responses=refusals(400, 404))
async def list_runs_of_workflow(request: AnyRequest, workflow: FromPath[str]) -> Many[RunSummary]:
    """Newest first, `limit` at a time, of one `status` if it is given."""
    return await _page(request, workflow)


@get(BELOW + "/{run:str}", summary="Get a run of a workflow", **_SEEN)
async def get_run_of_workflow(request: AnyRequest, workflow: FromPath[str], run: FromPath[str]) -> RunAnswer:
    """With the state, attempts and result of each step."""
    return _answer(await _of_workflow(request, workflow, run))


@post(BELOW + "/{run:str}/cancel", summary="Cancel a run of a workflow", **_CONTROLLED)
async def cancel_run_of_workflow(request: AnyRequest, workflow: FromPath[str], run: FromPath[str]) -> RunAnswer:
    """Answers with the run; `cancel_requested` is true if its node has not got to it within two seconds."""
    await _of_workflow(request, workflow, run)
    return _answer(await commands(request).cancel(run, by=_BY))


async def _page(request: AnyRequest, workflow: str | None) -> Many[RunSummary]:
    limit, cursor = page_of(request)
    status = request.query_params.get("status")
    if status is not None and status not in list(Status):
        known = ", ".join(Status)
        raise InvalidInput("the list cannot be read", [Problem("status", f"must be one of {known}")])
    if cursor is not None and len(cursor) != _ID_BYTES:
        raise InvalidInput("the list cannot be read", [Problem("cursor", "is none that this list gave")])
    of = None if workflow is None else (await commands(request).workflow(workflow)).id
    rows = await commands(request).runs(
        limit=limit + 1, where=RunFilter(workflow=of, statuses=(status,) if status else ()), cursor=cursor
    )
    more = cursor_of(rows[limit - 1].id) if len(rows) > limit else None
    return Many([run_summary(run) for run in rows[:limit]], more)


async def _of_workflow(request: AnyRequest, workflow: str, run: str) -> dict[str, Any]:
    """A run is found only under its own workflow."""
    document = await commands(request).run(run)
    row = await commands(request).workflow(workflow)
    if show(WORKFLOW, row.id) != document["workflow_id"]:
        raise NotFound(f"workflow {row.name!r} has no run {document['id']!r}")
    return document


def _answer(document: dict[str, Any]) -> RunAnswer:
    return Response({"data": document})


ROUTES = [
    list_runs,
    get_run,
    cancel_run,
    pause_run,
    resume_run,
    list_runs_of_workflow,
    get_run_of_workflow,
    cancel_run_of_workflow,
]
