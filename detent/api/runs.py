"""Routes of runs."""

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

BASE: Final = "/api/v1/workflows/{workflow:str}/runs"
_ID_BYTES: Final = 16
_RUN: Final = answers(200, One[RunDocument], "The run as it is now.")


@get(BASE, tags=["runs"], summary="List the runs of a workflow", responses=refusals(400, 404))
async def list_runs(request: AnyRequest, workflow: FromPath[str]) -> Many[RunSummary]:
    """Newest first, `limit` at a time, of one `status` if it is given."""
    limit, cursor = page_of(request)
    status = request.query_params.get("status")
    if status is not None and status not in list(Status):
        known = ", ".join(Status)
        raise InvalidInput("the list cannot be read", [Problem("status", f"must be one of {known}")])
    if cursor is not None and len(cursor) != _ID_BYTES:
        raise InvalidInput("the list cannot be read", [Problem("cursor", "is none that this list gave")])
    row = await commands(request).workflow(workflow)
    rows = await commands(request).runs(limit=limit + 1, workflow=row.id, status=status, before=cursor)
    more = cursor_of(rows[limit - 1].id) if len(rows) > limit else None
    return Many([run_summary(run) for run in rows[:limit]], more)


@get(BASE + "/{run:str}", tags=["runs"], summary="Get a run", responses={**_RUN, **refusals(404)})
async def get_run(request: AnyRequest, workflow: FromPath[str], run: FromPath[str]) -> Response[dict[str, Any]]:
    """With the state, attempts and result of each step."""
    document = await commands(request).run(run)
    await _check_workflow(request, workflow, document)
    return Response({"data": document})


@post(
    BASE + "/{run:str}/cancel",
    tags=["runs"],
    summary="Cancel a run",
    status_code=200,
    responses={**_RUN, **refusals(403, 404, 409)},
)
async def cancel_run(request: AnyRequest, workflow: FromPath[str], run: FromPath[str]) -> Response[dict[str, Any]]:
    """Answers with the run; `cancel_requested` is true if its node has not got to it within two seconds."""
    await _check_workflow(request, workflow, await commands(request).run(run))
    return Response({"data": await commands(request).cancel(run, by="api")})


async def _check_workflow(request: AnyRequest, workflow: str, document: dict[str, Any]) -> None:
    """A run is found only under its own workflow."""
    row = await commands(request).workflow(workflow)
    if show(WORKFLOW, row.id) != document["workflow_id"]:
        raise NotFound(f"workflow {row.name!r} has no run {document['id']!r}")


ROUTES = [list_runs, get_run, cancel_run]
