"""Routes of runs: by their own id, as executions, and below the workflow they belong to."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath

from detent.api import examples
from detent.api.bodies import AnyRequest, commands
from detent.api.executions import feeds, is_execution, shown
from detent.api.filters import read_run_page
from detent.api.included import family, included, read_look
from detent.api.operations import Plain, answers, operation, refusals
from detent.api.paging import LOOK_PARAMETERS, RUN_PARAMETERS
from detent.api.wire import (
    HierarchyDocument,
    Many,
    One,
    RunDocument,
    RunSummary,
    WhyDocument,
    run_summary,
    why_document,
)
from detent.engine.commands import Commands
from detent.errors import NotFound
from detent.ids import RUN, WORKFLOW, InvalidId, parse, show
from detent.run.status import TERMINAL
from detent.store.rows import RunFilter, RunRow

BASES: Final = ("/api/v1/runs", "/api/v1/executions")
BELOW: Final = "/api/v1/workflows/{workflow:str}/runs"
BY: Final = "api"
_NOW: Final = answers(200, One[RunDocument], "The run as it is now.", examples.one(examples.RUN))
CONTROLLED: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "status_code": 200,
    "operation_class": Plain,
    "responses": {**_NOW, **refusals(403, 404, 409)},
}

RunAnswer = Response[Any]
Workflow = FromPath[str | None]


def places(rest: str = "", *, below: bool = True) -> list[str]:
    """The paths of a route of runs; with `below` also that below a workflow."""
    return [f"{base}{rest}" for base in (*BASES, *((BELOW,) if below else ()))]


@get(
    places(),
    tags=["runs"],
    summary="List runs",
    operation_class=operation(*RUN_PARAMETERS),
    responses={
        **answers(200, Many[RunSummary], "A page of the list.", examples.many(examples.SUMMARY)),
        **refusals(400, 404),
    },
)
async def list_runs(request: AnyRequest, workflow: Workflow = None) -> Response[Many[RunSummary]]:
    """Newest first. Every filter narrows the list; a filter that is not known is refused. Names in camelCase, and
    statuses such as `Succeeded`, are understood too."""
    doors = commands(request)
    below = None if workflow is None else await _workflow_id(doors, workflow)
    page = await read_run_page(doors, request.scope["query_string"], below=below)
    rows = await doors.runs(limit=page.limit + 1, where=page.where, cursor=page.cursor, oldest_first=page.oldest_first)
    found = [_summary(request, row) for row in rows[: page.limit]]
    return Response(Many(found, page.scope.cursor(rows[page.limit - 1].id) if len(rows) > page.limit else None))


@get(
    places("/{run:str}"),
    tags=["runs"],
    summary="Get a run",
    operation_class=operation(*LOOK_PARAMETERS),
    responses={**_NOW, **refusals(400, 404)},
)
async def get_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """With the state, attempts and result of each step. With `wait` it answers as soon as the run has ended, or with
    the run as it is when the time is over."""
    doors, look = commands(request), read_look(request.scope["query_string"])
    row = await run_row(doors, run, workflow)
    if look.wait and row.status not in TERMINAL:
        await feeds(request).ended(row.id, look.wait)
    document = await doors.run(run)
    if look.include:
        document |= await included(doors, feeds(request), row.id, document, look)
    return shown(request, document)


@post(places("/{run:str}/cancel"), summary="Cancel a run", **CONTROLLED)
async def cancel_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Answers with the run; `cancel_requested` is true if its node has not got to it within two seconds."""
    await run_row(commands(request), run, workflow)
    return shown(request, await commands(request).cancel(run, by=BY))


@post(places("/{run:str}/pause"), summary="Pause a run", **CONTROLLED)
async def pause_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Attempts in flight finish, nothing new starts. `pause_requested` is true if its node has not got to it yet."""
    await run_row(commands(request), run, workflow)
    return shown(request, await commands(request).pause(run, by=BY))


@post(places("/{run:str}/resume"), summary="Resume a run", **CONTROLLED)
async def resume_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """A paused run goes on. `resume_requested` is true if its node has not got to it yet."""
    await run_row(commands(request), run, workflow)
    return shown(request, await commands(request).resume(run, by=BY))


@get(
    places("/{run:str}/why", below=False),
    tags=["runs"],
    summary="Say why a run does not go on",
    operation_class=Plain,
    responses={**answers(200, One[WhyDocument], "What holds it up.", examples.one(examples.WHY)), **refusals(404)},
)
async def explain_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """What blocks the run first, then the steps that wait for that: a callback, a sleep, a retry to come, a node that
    is missing. Of a run that has ended, how it ended."""
    row, status, reasons = await commands(request).why(run)
    return shown(request, msgspec.to_builtins(why_document(row, status, reasons)))


@get(
    places("/{run:str}/hierarchy", below=False),
    tags=["runs"],
    summary="Get the family of a run",
    operation_class=Plain,
    responses={
        **answers(200, One[HierarchyDocument], "The tree.", examples.one(examples.HIERARCHY)),
        **refusals(404),
    },
)
async def get_run_hierarchy(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """The whole tree of parents and children that the run belongs to, from the run that was started first."""
    row = await commands(request).run_row(run)
    root, is_complete = await family(commands(request), row)
    document = HierarchyDocument(run_id=show(RUN, row.id), complete=is_complete, root=root)
    return shown(request, msgspec.to_builtins(document))


async def run_row(doors: Commands, run: str, workflow: str | None) -> RunRow:
    """The run, which is found only under its own workflow."""
    row = await doors.run_row(run)
    if workflow is not None and await _workflow_id(doors, workflow) != row.workflow:
        raise NotFound(f"workflow {workflow[:200]!r} has no run {show(RUN, row.id)!r}")
    return row


async def _workflow_id(doors: Commands, key: str) -> bytes:
    """The id of a workflow. One that was deleted is found by its id while it has runs."""
    try:
        return (await doors.workflow(key)).id
    except NotFound:
        try:
            id_ = parse(WORKFLOW, key)
        except InvalidId:
            id_ = b""
        if not id_ or not await doors.runs(limit=1, where=RunFilter(workflow=id_)):
            raise
        return id_


def _summary(request: AnyRequest, row: RunRow) -> RunSummary:
    summary = run_summary(row)
    if is_execution(request):
        summary.execution_id = summary.id
    return summary


ROUTES = [list_runs, get_run, cancel_run, pause_run, resume_run, explain_run, get_run_hierarchy]
