"""Routes of workflows. Definitions are read in a thread: a large one takes a while, and the engine shares this loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from litestar import Response, get, post, put
from litestar.params import FromPath

from detent.api.bodies import AnyRequest, commands, cursor_of, filename_of, headers_of, json_body, page_of
from detent.api.operations import TakesAnything, TakesDefinition, answers, refusals
from detent.api.wire import (
    Many,
    One,
    SavedWorkflow,
    StartedDocument,
    WorkflowDocument,
    started_document,
    workflow_document,
)
from detent.authoring.documents import LARGEST_DEFINITION
from detent.engine.commands import INPUT_LIMIT, Given
from detent.errors import InvalidDefinition, InvalidInput, NotFound, Problem
from detent.ids import WORKFLOW
from detent.store.rows import WorkflowRow

BASE = "/api/v1/workflows"


@post(
    BASE,
    tags=["workflows"],
    summary="Create a workflow",
    operation_class=TakesDefinition,
    responses=refusals(400, 403, 409, 413),
    request_max_body_size=LARGEST_DEFINITION,
)
async def create_workflow(request: AnyRequest) -> One[WorkflowDocument]:
    """Takes a definition in JSON or YAML. A name that is taken is a conflict; PUT gives it a new version."""
    row, _, _ = await commands(request).save_workflow(await request.body(), filename=filename_of(request))
    return One(await asyncio.to_thread(workflow_document, row))


@put(
    BASE + "/{workflow:str}",
    tags=["workflows"],
    summary="Create a workflow or give it a new version",
    operation_class=TakesDefinition,
    responses={
        **refusals(400, 403, 404, 413),
        **answers(201, SavedWorkflow, "The workflow is new."),
    },
    request_max_body_size=LARGEST_DEFINITION,
)
async def save_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[SavedWorkflow]:
    """A version is made only if the definition differs from the current one. Runs in flight keep theirs."""
    data, filename = await request.body(), filename_of(request)
    name = await _name(request, workflow)
    compiled = await asyncio.to_thread(commands(request).compile, data, filename=filename)
    if compiled.name != name:
        raise InvalidDefinition(
            problems=[Problem("name", f"is {compiled.name!r}, but the address is that of {name!r}; a name stays")]
        )
    row, saved, _ = await commands(request).save_workflow(data, filename=filename, replace=True)
    document = await asyncio.to_thread(workflow_document, row)
    body = SavedWorkflow(document, saved.created or saved.changed)
    return Response(body, status_code=201 if saved.created else 200)


async def _name(request: AnyRequest, key: str) -> str:
    """The name of the workflow at an address; a name that nobody has yet is itself."""
    try:
        return (await commands(request).workflow(key)).name
    except NotFound:
        if key.startswith(f"{WORKFLOW}_"):
            raise
        return key


@get(BASE, tags=["workflows"], summary="List workflows", responses=refusals(400))
async def list_workflows(request: AnyRequest) -> Many[WorkflowDocument]:
    """By name, `limit` at a time; `cursor` is the `next_cursor` of the page before."""
    limit, cursor = page_of(request)
    try:
        after = None if cursor is None else cursor.decode()
    except UnicodeDecodeError:
        raise InvalidInput("the list cannot be read", [Problem("cursor", "is none that this list gave")]) from None
    if after is not None and "\x00" in after:
        raise InvalidInput("the list cannot be read", [Problem("cursor", "is none that this list gave")])
    rows = await commands(request).workflows(limit=limit + 1, after=after)
    more = cursor_of(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many(await asyncio.to_thread(_list, rows[:limit]), more)


def _list(rows: Sequence[WorkflowRow]) -> list[WorkflowDocument]:
    return [workflow_document(row, whole=False) for row in rows]


@get(BASE + "/{workflow:str}", tags=["workflows"], summary="Get a workflow", responses=refusals(404))
async def get_workflow(request: AnyRequest, workflow: FromPath[str]) -> One[WorkflowDocument]:
    """By id or by name, with its definition as it was written."""
    row = await commands(request).workflow(workflow)
    return One(await asyncio.to_thread(workflow_document, row))


@post(
    BASE + "/{workflow:str}/trigger",
    tags=["runs"],
    summary="Start a run",
    operation_class=TakesAnything,
    responses=refusals(400, 403, 404, 409, 413),
    request_max_body_size=INPUT_LIMIT,
)
async def trigger_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[One[StartedDocument]]:
    """The whole body is `trigger.body`. When this answers, the run is durable and will end."""
    body: Any = await json_body(request, empty={})
    given = Given(body, headers_of(request), dict(request.query_params))
    started = await commands(request).start(workflow, given)
    document = started_document(started)
    place = f"{BASE}/{document.workflow_id}/runs/{document.run_id}"
    return Response(One(document), status_code=201 if started.is_new else 200, headers={"Location": place})


ROUTES = [create_workflow, save_workflow, list_workflows, get_workflow, trigger_workflow]
