"""Routes of the life of a workflow: its draft, its versions, publishing, archiving."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec
from litestar import Response, delete, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.etags import expected_revision, revision_tag
from detent.api.filters import read_version_page
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    BOOLEAN,
    INTEGER,
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    answers,
    header,
    operation,
    query,
    refusals,
)
from detent.api.rehearsal import rehearsal_document
from detent.api.request import AnyRequest, QueryValues, aliases, commands, flag_of, tenant_of, version_of
from detent.api.routes.rehearsals import days_of, progress_of
from detent.api.routes.streams import Report, answer_with_progress
from detent.api.routes.workflows import (
    BASE,
    WorkflowAnswer,
    problem_documents,
    show_workflow,
)
from detent.commands.drafts import PublishAnswer
from detent.commands.rehearsal import USUAL_DAYS, RehearsalRequest
from detent.commands.versions import VersionDiff
from detent.documents.answers import Many, One
from detent.documents.workflows import (
    DiffDocument,
    DraftDocument,
    EdgeDifference,
    EdgeDifferences,
    FieldChangeDocument,
    PublishedDocument,
    StepDifference,
    StepDifferences,
    VersionDocument,
    WorkflowDocument,
)
from detent.forms.definition import read_definition
from detent.forms.triggers import without_secrets
from detent.graph.diff import ABSENT, FieldChange, as_plain
from detent.graph.model import Edge, Step
from detent.ids import WORKFLOW, show
from detent.instant import as_datetime
from detent.store.rows import DraftRow, VersionRow, WorkflowRow

_TAGS: Final = ["workflows"]
_MESSAGE: Final = "the request cannot be read"
_REPORT: Final = "report"
_STRICT: Final = "strict"
_REHEARSE: Final = Schema(type=OpenAPIType.STRING, enum=[_REPORT, _STRICT])
_PUBLISH_NAMES: Final = aliases("auto_activate", "validate_parameters", "rehearse", "days")
_IF_MATCH: Final = header("If-Match", "The `ETag` of the draft; 412 if it was saved again since.", '"d3"')
_NOW: Final = answers(200, One[WorkflowDocument], "The workflow as it is now.", examples.one(examples.WHOLE_WORKFLOW))
_SHOWN: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 200,
    "operation_class": Plain,
    "responses": {**_NOW, **refusals(403, 404, 409)},
}
#: Defaults are left out of the steps and edges of a difference, as they are left out of definitions.
_USUAL_STEP: Final = as_plain(Step("", "http"))  # type: ignore[arg-type]
_USUAL_EDGE: Final = as_plain(Edge("", ""))


@post(
    BASE + "/{workflow:str}/publish",
    tags=_TAGS,
    summary="Publish the draft of a workflow",
    status_code=200,
    operation_class=operation(
        query("autoActivate", BOOLEAN, "Make the version current and the workflow active; true by default.", True),
        query("validateParameters", BOOLEAN, "Also refuse templates that no input can render.", False),
        query(
            "rehearse", _REHEARSE, "`report`: rehearse the draft first. `strict`: and refuse it if need be.", "strict"
        ),
        query("days", INTEGER, "With `rehearse`: finished runs of so many days, by default 7.", 7),
        _IF_MATCH,
    ),
    responses={
        **answers(200, One[PublishedDocument], "The version of the draft.", examples.one(examples.PUBLISHED)),
        **refusals(400, 403, 404, 409, 412),
    },
)
async def publish_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[Any]:
    """Make an immutable version of the draft, after checking it completely. The text of an older version makes that
    version current. A workflow without a draft is published already, and nothing changes.

    With `rehearse` the draft is run over recorded runs first, as `/rehearse` does, and the answer has the `rehearsal`.
    `strict` refuses to publish (409, `rehearsal_failed`) if a run would fail or a run in flight could not be moved. The
    `details` then have the rehearsal. With `Accept: text/event-stream` the progress is streamed, as of `/rehearse`."""
    values = QueryValues.of_query(request.scope["query_string"], _PUBLISH_NAMES)
    activate, checks = (values.one(name, flag_of) for name in ("auto_activate", "validate_parameters"))
    mode, days = values.one("rehearse", _rehearse_of), values.one("days", days_of)
    if days is not None and not mode:
        values.add_problem("days", "is for a rehearsal; add rehearse=report or rehearse=strict")
    values.refuse(_MESSAGE)
    bound = commands(request)
    expected = expected_revision(request.headers.get("if-match"), await bound.workflows.get(workflow))

    async def work(report: Report | None) -> PublishedDocument:
        asked = RehearsalRequest(
            USUAL_DAYS if days is None else days, strict=mode == _STRICT, progress=progress_of(report)
        )
        done = await bound.drafts.publish(
            workflow,
            activate=activate is not False,
            expected=expected,
            check_parameters=bool(checks),
            rehearsal=asked if mode else None,
        )
        return _published(done)

    return await answer_with_progress(request, work)


def _rehearse_of(text: str) -> str:
    """Read how to rehearse: empty for not at all."""
    known = {_REPORT: _REPORT, _STRICT: _STRICT, "true": _REPORT, "false": ""}
    try:
        return known[text.lower()]
    except KeyError:
        raise ValueError(f"must be {_REPORT} or {_STRICT}") from None


def _published(done: PublishAnswer) -> PublishedDocument:
    return PublishedDocument(
        workflow_id=show(WORKFLOW, done.workflow.id),
        workflow=done.workflow.name,
        version=done.version,
        status=done.workflow.status,
        current_version=done.workflow.version,
        changed=done.changed,
        warnings=list(done.warnings),
        rehearsal=None if done.rehearsal is None else rehearsal_document(done.rehearsal),
    )


@post(BASE + "/{workflow:str}/archive", summary="Archive a workflow", **_SHOWN)
async def archive_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Let nothing start runs of the workflow. Runs in flight go on; runs that have not begun are cancelled when their
    time comes. Its triggers stay as they are and do not fire."""
    return await show_workflow(request, await commands(request).workflows.archive(workflow))


@post(BASE + "/{workflow:str}/reactivate", summary="Reactivate an archived workflow", **_SHOWN)
async def reactivate_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Let runs of an archived workflow be started again. Its schedules continue with their next slot."""
    return await show_workflow(request, await commands(request).workflows.reactivate(workflow))


@get(
    BASE + "/{workflow:str}/versions",
    tags=_TAGS,
    summary="List the versions of a workflow",
    operation_class=operation(
        query("drafts", BOOLEAN, "List the drafts that were run instead; their numbers are below zero.", False),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[VersionDocument], "A page of the list.", examples.many(examples.VERSION)),
        **refusals(400, 404),
    },
)
async def list_workflow_versions(request: AnyRequest, workflow: FromPath[str]) -> Many[VersionDocument]:
    """List the versions, newest first, each with its definition as it was written."""
    row = await commands(request).workflows.get(workflow)
    page = read_version_page(request.scope["query_string"], tenant_of(request), row.id)
    found = await commands(request).versions.list_all(row, drafts=page.drafts)
    rows = [one for one in found if page.holds(one.version)]
    shown = rows[: page.limit]
    documents = await asyncio.to_thread(lambda: [version_document(one, row.version) for one in shown])
    more = page.scope.cursor(str(shown[-1].version).encode()) if len(rows) > len(shown) else None
    return Many(documents, more)


@get(
    BASE + "/{workflow:str}/versions/{number:int}",
    tags=_TAGS,
    summary="Get a version of a workflow",
    operation_class=Plain,
    responses={
        **answers(200, One[VersionDocument], "The version.", examples.one(examples.VERSION)),
        **refusals(404),
    },
)
async def get_workflow_version(
    request: AnyRequest, workflow: FromPath[str], number: FromPath[int]
) -> Response[One[VersionDocument]]:
    """Return one version, with its definition as it was written. A version never changes."""
    row = await commands(request).workflows.get(workflow)
    _, version = await commands(request).versions.get(row, number)
    return Response(One(await asyncio.to_thread(version_document, version, row.version)))


@post(BASE + "/{workflow:str}/versions/{number:int}/activate", summary="Make a version the current one", **_SHOWN)
async def activate_workflow_version(
    request: AnyRequest, workflow: FromPath[str], number: FromPath[int]
) -> WorkflowAnswer:
    """Make an older or a newer version the current one. Runs in flight stay on their version."""
    return await show_workflow(request, await commands(request).workflows.activate(workflow, number))


@get(
    BASE + "/{workflow:str}/diff",
    tags=_TAGS,
    summary="Compare two versions of a workflow",
    operation_class=operation(
        query("from", TEXT, "A number or `draft`; the current version by default.", "1"),
        query("to", TEXT, "A number or `draft`; by default the draft, or else the newest version.", "draft"),
    ),
    responses={
        **answers(200, One[DiffDocument], "What differs.", examples.one(examples.DIFF)),
        **refusals(400, 404),
    },
)
async def compare_workflow_versions(request: AnyRequest, workflow: FromPath[str]) -> Response[One[DiffDocument]]:
    """Return the steps, edges and settings that differ, each field with its values before and after."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("from", "to"))
    old, new = values.one("from", version_of), values.one("to", version_of)
    values.refuse(_MESSAGE)
    found = await commands(request).versions.diff(workflow, old, new)
    return Response(One(diff_document(found)))


@get(
    BASE + "/{workflow:str}/draft",
    tags=_TAGS,
    summary="Get the draft of a workflow",
    operation_class=Plain,
    responses={**answers(200, One[DraftDocument], "The draft.", examples.one(examples.DRAFT)), **refusals(404)},
)
async def get_workflow_draft(request: AnyRequest, workflow: FromPath[str]) -> Response[One[DraftDocument]]:
    """Return the draft, with its definition as it was written and its problems. Its `ETag` is for `If-Match`."""
    row = await commands(request).workflows.get(workflow)
    return await _shown_draft(row, await commands(request).drafts.get(row))


@delete(
    BASE + "/{workflow:str}/draft",
    tags=_TAGS,
    summary="Discard the draft of a workflow",
    status_code=200,
    operation_class=operation(_IF_MATCH),
    responses={
        **answers(200, One[DraftDocument], "The draft that was discarded.", examples.one(examples.DRAFT)),
        **refusals(403, 404, 409, 412),
    },
)
async def discard_workflow_draft(request: AnyRequest, workflow: FromPath[str]) -> Response[One[DraftDocument]]:
    """Delete the draft. The versions stay as they are. A workflow that was never published is deleted instead."""
    row = await commands(request).workflows.get(workflow)
    expected = expected_revision(request.headers.get("if-match"), row)
    return await _shown_draft(row, await commands(request).drafts.discard(workflow, expected=expected))


def version_document(row: VersionRow, current: int) -> VersionDocument:
    """Build the document of a version of a workflow."""
    return VersionDocument(
        row.version,
        row.version == current,
        row.checksum,
        as_datetime(row.created_at),
        without_secrets(read_definition(row.source)),
    )


def diff_document(found: VersionDiff) -> DiffDocument:
    """Build the document of the difference of two versions."""
    graph = found.graph
    return DiffDocument(
        workflow_id=show(WORKFLOW, found.workflow.id),
        workflow=found.workflow.name,
        old=found.old,
        new=found.new,
        same=not graph and not found.settings,
        steps=StepDifferences(
            [_part(step, _USUAL_STEP) for step in graph.added_steps],
            [_part(step, _USUAL_STEP) for step in graph.removed_steps],
            [StepDifference(one.name, [_change(field) for field in one.fields]) for one in graph.changed_steps],
        ),
        edges=EdgeDifferences(
            [_part(edge, _USUAL_EDGE) for edge in graph.added_edges],
            [_part(edge, _USUAL_EDGE) for edge in graph.removed_edges],
            [
                EdgeDifference(one.source, one.target, [_change(field) for field in one.fields])
                for one in graph.changed_edges
            ],
        ),
        settings=[_change(field) for field in found.settings],
    )


def _part(part: Step | Edge, usual: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in as_plain(part).items() if value != usual[name] or name == "kind"}


def _change(change: FieldChange) -> FieldChangeDocument:
    old, new = (msgspec.UNSET if value is ABSENT else value for value in (change.old, change.new))
    return FieldChangeDocument(change.field, old, new)


async def _shown_draft(row: WorkflowRow, draft: DraftRow) -> Response[One[DraftDocument]]:
    document = DraftDocument(
        workflow_id=show(WORKFLOW, row.id),
        workflow=row.name,
        form=draft.form,
        revision=draft.revision,
        problems=problem_documents(draft),
        saved_by=draft.author,
        updated_at=as_datetime(draft.updated_at),
        definition=without_secrets(await asyncio.to_thread(read_definition, draft.source)),
    )
    return Response(One(document), headers={"ETag": revision_tag(draft.revision)})


ROUTES = [
    publish_workflow,
    archive_workflow,
    reactivate_workflow,
    list_workflow_versions,
    get_workflow_version,
    activate_workflow_version,
    compare_workflow_versions,
    get_workflow_draft,
    discard_workflow_draft,
]
