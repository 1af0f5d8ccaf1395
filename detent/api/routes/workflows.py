"""Routes of workflows. Definitions are read in a thread: a large one takes long, and the engine shares this loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from litestar import Response, delete, get, post, put
from litestar.params import FromPath

from detent.api.filters import WorkflowPage, read_version_page, read_workflow_page
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    BOOLEAN,
    DEFINITION,
    PAGE_PARAMETERS,
    Plain,
    TakesDefinition,
    answers,
    header,
    operation,
    query,
    refusals,
    texts,
)
from detent.api.request import MOST_ROWS, AnyRequest, commands, filename_of, tenant_of
from detent.documents.answers import Many, One
from detent.documents.workflows import SavedWorkflowAnswer, VersionDocument, WorkflowDocument
from detent.errors import InvalidDefinition, NotFound, PreconditionFailed, Problem
from detent.forms.compile import schema_of
from detent.forms.definition import read_definition
from detent.forms.triggers import HIDDEN
from detent.graph import codec
from detent.ids import WORKFLOW, show
from detent.instant import Instant, as_datetime
from detent.store.rows import VersionRow, WorkflowRow
from detent.values.limits import DEFINITION_LIMIT


def etag_of(row: WorkflowRow) -> str:
    """Return the entity tag of a workflow. Every change of the workflow changes it."""
    return f'"v{row.version}.{row.updated_at}"'


def expected_state(if_match: str | None, row: WorkflowRow | None) -> tuple[int, Instant] | None:
    """Return the (version, updated_at) that the workflow must still have when it is changed; `None` allows any. Raise
    PreconditionFailed if `If-Match` does not name the current state."""
    if if_match is None:
        return None
    if row is None:
        raise PreconditionFailed("there is no such workflow, and If-Match requires one; leave it out to create one")
    tags = {tag.strip() for tag in if_match.split(",")}
    if "*" in tags:
        return None
    if etag_of(row) not in tags:
        raise PreconditionFailed(f"the workflow {row.name!r} has changed since it was read; read it again")
    return row.version, row.updated_at


BASE: Final = "/api/v1/workflows"
_TAGS: Final = ["workflows"]
_IF_MATCH: Final = header(
    "If-Match", "The `ETag` of the state that may be replaced; 412 if it has changed.", '"v1.1771754700000000"'
)
_NOW: Final = answers(200, One[WorkflowDocument], "The workflow as it is now.", examples.one(examples.WHOLE_WORKFLOW))
_SHOWN: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 200,
    "operation_class": Plain,
    "responses": {**_NOW, **refusals(403, 404)},
}

WorkflowAnswer = Response[One[WorkflowDocument]]


@post(
    BASE,
    tags=_TAGS,
    summary="Create a workflow",
    operation_class=TakesDefinition,
    responses={
        **answers(201, One[WorkflowDocument], "The workflow was created.", examples.one(examples.WHOLE_WORKFLOW)),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def create_workflow(request: AnyRequest) -> WorkflowAnswer:
    """Create a workflow from a definition in JSON or YAML. A name that is taken is a conflict; PUT saves a new
    version."""
    row, _, _ = await commands(request).workflows.save(await request.body(), filename=filename_of(request))
    return await _shown(row, status=201)


@put(
    BASE + "/{workflow:str}",
    tags=_TAGS,
    summary="Create a workflow or give it a new version",
    operation_class=operation(_IF_MATCH, body=DEFINITION),
    responses={
        **answers(
            200,
            SavedWorkflowAnswer,
            "The workflow existed already.",
            {**examples.one(examples.WHOLE_WORKFLOW), "changed": True},
        ),
        **answers(201, SavedWorkflowAnswer, "The workflow is new."),
        **refusals(400, 403, 404, 412, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def save_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[SavedWorkflowAnswer]:
    """Save a definition. It becomes a new version only if it differs from the current one. Runs in flight stay on
    their version."""
    data, filename = await request.body(), filename_of(request)
    old = await _old(request, workflow)
    await asyncio.to_thread(_check_name, request, data, filename, workflow if old is None else old.name)
    expected = expected_state(request.headers.get("if-match"), old)
    row, saved, _ = await commands(request).workflows.save(data, filename=filename, replace=True, expected=expected)
    document = await asyncio.to_thread(workflow_document, row)
    body = SavedWorkflowAnswer(document, saved.created or saved.changed)
    return Response(body, status_code=201 if saved.created else 200, headers={"ETag": etag_of(row)})


@get(
    BASE,
    tags=_TAGS,
    summary="List workflows",
    operation_class=operation(
        query("enabled", BOOLEAN, "Only those that may be started, or only those that may not.", True),
        query("label", texts(), "Only those with this label, `key:value`; several mean all of them.", ["team:shop"]),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[WorkflowDocument], "A page of the list.", examples.many(examples.WORKFLOW)),
        **refusals(400),
    },
)
async def list_workflows(request: AnyRequest) -> Many[WorkflowDocument]:
    """List the workflows by name, without their definitions."""
    page = read_workflow_page(request.scope["query_string"], tenant_of(request))
    rows = await _rows(request, page)
    more = page.scope.cursor(rows[page.limit - 1].name.encode()) if len(rows) > page.limit else None
    return Many(await asyncio.to_thread(_list, rows[: page.limit]), more)


@get(
    BASE + "/{workflow:str}",
    summary="Get a workflow",
    **{**_SHOWN, "responses": {**_NOW, **refusals(404)}},
)
async def get_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Return a workflow by id or by name, with its definition as it was written. Its `ETag` is for `If-Match`."""
    return await _shown(await commands(request).workflows.get(workflow))


@delete(
    BASE + "/{workflow:str}",
    tags=_TAGS,
    summary="Delete a workflow",
    status_code=200,
    operation_class=operation(_IF_MATCH),
    responses={
        **answers(200, One[WorkflowDocument], "The workflow was deleted at `deleted_at`."),
        **refusals(403, 404, 412),
    },
)
async def delete_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Delete a workflow. Its name is free again, and it cannot be started any more. Runs in flight go on to their end.
    All its runs can still be found by their ids."""
    if_match = request.headers.get("if-match")
    if if_match is not None:
        expected_state(if_match, await commands(request).workflows.get(workflow))
    row, at = await commands(request).workflows.delete(workflow)
    document = await asyncio.to_thread(workflow_document, row, deleted_at=at)
    return Response(One(document))


@post(BASE + "/{workflow:str}/enable", summary="Enable a workflow", **_SHOWN)
async def enable_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Allow runs of the workflow to be started again. Enabling an enabled workflow changes nothing."""
    return await _shown(await commands(request).workflows.enable(workflow, enabled=True))


@post(BASE + "/{workflow:str}/disable", summary="Disable a workflow", **_SHOWN)
async def disable_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Allow no start of the workflow until it is enabled again. Runs in flight go on."""
    return await _shown(await commands(request).workflows.enable(workflow, enabled=False))


@get(
    BASE + "/{workflow:str}/versions",
    tags=_TAGS,
    summary="List the versions of a workflow",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[VersionDocument], "A page of the list.", examples.many(examples.VERSION)),
        **refusals(400, 404),
    },
)
async def list_workflow_versions(request: AnyRequest, workflow: FromPath[str]) -> Many[VersionDocument]:
    """List the versions, newest first, each with its definition as it was written."""
    row = await commands(request).workflows.get(workflow)
    page = read_version_page(request.scope["query_string"], tenant_of(request), row.id)
    rows = [
        one
        for one in await commands(request).workflows.versions(row)
        if page.before is None or one.version < page.before
    ]
    shown = rows[: page.limit]
    documents = await asyncio.to_thread(lambda: [version_document(one, row.version) for one in shown])
    more = page.scope.cursor(str(shown[-1].version).encode()) if len(rows) > len(shown) else None
    return Many(documents, more)


def without_secrets(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without the secrets that its trigger checks signatures with."""
    trigger = definition.get("trigger")
    if not isinstance(trigger, dict):
        return definition
    signature = trigger.get("signature")
    if not isinstance(signature, dict) or "secrets" not in signature:
        return definition
    secrets = signature["secrets"] if isinstance(signature["secrets"], list) else [signature["secrets"]]
    hidden = [HIDDEN if isinstance(secret, str) else secret for secret in secrets]
    return {**definition, "trigger": {**trigger, "signature": {**signature, "secrets": hidden}}}


def workflow_document(row: WorkflowRow, *, whole: bool = True, deleted_at: Instant | None = None) -> WorkflowDocument:
    """Build the document of a workflow; in lists without its definition."""
    return WorkflowDocument(
        id=show(WORKFLOW, row.id),
        name=row.name,
        form=row.form,
        description=row.description,
        status=row.status,
        enabled=row.enabled,
        current_version=row.version,
        trigger=json.loads(row.trigger).get("type", "api"),
        step_count=len(codec.decode(row.graph).steps),
        labels=json.loads(row.labels) if row.labels else {},
        inserted_at=as_datetime(row.created_at),
        updated_at=as_datetime(row.updated_at),
        deleted_at=None if deleted_at is None else as_datetime(deleted_at),
        definition=without_secrets(read_definition(row.source)) if whole else None,
    )


def version_document(row: VersionRow, current: int) -> VersionDocument:
    """Build the document of a version of a workflow."""
    return VersionDocument(
        row.version,
        row.version == current,
        row.checksum,
        as_datetime(row.created_at),
        without_secrets(read_definition(row.source)),
    )


async def _shown(row: WorkflowRow, status: int = 200) -> WorkflowAnswer:
    document = await asyncio.to_thread(workflow_document, row)
    return Response(One(document), status_code=status, headers={"ETag": etag_of(row)})


async def _old(request: AnyRequest, key: str) -> WorkflowRow | None:
    """Return the workflow at an address, or `None` for a name that is free. Raise NotFound for an unknown id."""
    try:
        return await commands(request).workflows.get(key)
    except NotFound:
        if key.startswith(f"{WORKFLOW}_"):
            raise
        return None


def _check_name(request: AnyRequest, data: bytes, filename: str | None, name: str) -> None:
    written = commands(request).workflows.compile(data, filename=filename).name
    if written != name:
        message = f"is {written!r}, but the path names the workflow {name!r}; a workflow cannot be renamed"
        raise InvalidDefinition(problems=[Problem("name", message)])


async def _rows(request: AnyRequest, page: WorkflowPage) -> list[WorkflowRow]:
    """Return the rows of a page, and the next one if there is one."""
    size = page.limit + 1 if not page.labels else MOST_ROWS
    found: list[WorkflowRow] = []
    after = page.after
    while len(found) <= page.limit:
        rows = await commands(request).workflows.find(limit=size, after=after, enabled=page.enabled)
        found += [row for row in rows if page.means(json.loads(row.labels) if row.labels else {})]
        if len(rows) < size:
            break
        after = rows[-1].name
    return found[: page.limit + 1]


def _list(rows: Sequence[WorkflowRow]) -> list[WorkflowDocument]:
    return [workflow_document(row, whole=False) for row in rows]


@get(
    "/api/v1/schemas/{form:str}",
    tags=_TAGS,
    summary="Read the JSON Schema of a form",
    operation_class=Plain,
    responses={**answers(200, dict[str, Any], "The schema, draft 2020-12."), **refusals(403, 404)},
)
async def read_schema(request: AnyRequest, form: FromPath[str]) -> Response[dict[str, Any]]:
    """Return the JSON Schema of definitions of a form: `graph`. A definition that the schema accepts can still be
    refused: a schema cannot see what refers to what."""
    return Response(dict(schema_of(form)), media_type="application/schema+json")


ROUTES = [
    create_workflow,
    save_workflow,
    list_workflows,
    get_workflow,
    delete_workflow,
    enable_workflow,
    disable_workflow,
    list_workflow_versions,
    read_schema,
]
