"""Routes of workflows. Definitions are read in a thread: a large one takes long, and the engine shares this loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from litestar import Response, delete, get, post, put
from litestar.params import FromPath

from detent.api.edits import EDIT_NAMES, FOLDER, UNLOCK, read_edit
from detent.api.etags import etag_of, expected_revision, expected_state, revision_tag
from detent.api.filters import WorkflowPage, read_workflow_page
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    BOOLEAN,
    DEFINITION,
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    answers,
    header,
    operation,
    query,
    refusals,
    texts,
)
from detent.api.request import (
    MOST_ROWS,
    AnyRequest,
    QueryValues,
    aliases,
    commands,
    filename_of,
    flag_of,
    tenant_of,
    version_of,
    word_of,
)
from detent.catalog.manifest_schema import published_schema
from detent.commands.drafts import DRAFT, VersionKey, problems_of
from detent.commands.files.lock import Edit, folder_of
from detent.documents.answers import FieldProblem, Many, One
from detent.documents.workflows import DraftSummary, SavedWorkflowAnswer, WorkflowDocument
from detent.errors import InvalidDefinition, NotConvertible, NotFound, Problem
from detent.forms.compile import Form, form_of, is_code, name_in
from detent.forms.conversion.convert import Converted
from detent.forms.definition import read_definition
from detent.forms.triggers import text_without_secrets, without_secrets
from detent.graph import codec
from detent.ids import WORKFLOW, show
from detent.instant import Instant, as_datetime
from detent.store.rows import DraftRow, VersionRow, WorkflowRow
from detent.values.limits import DEFINITION_LIMIT
from detent.values.yaml import dump_yaml

BASE: Final = "/api/v1/workflows"
_TAGS: Final = ["workflows"]
_TEXT: Final = "text"
_JSON: Final = "json"
_IF_MATCH: Final = header(
    "If-Match", "The `ETag` of the state that may be replaced; 412 if it has changed.", '"v1.1771754700000000"'
)
_DRAFT: Final = query("draft", BOOLEAN, "Save a draft: anything that can be read, with its problems.", False)
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
    operation_class=operation(_DRAFT, body=DEFINITION),
    responses={
        **answers(201, One[WorkflowDocument], "The workflow was created.", examples.one(examples.WHOLE_WORKFLOW)),
        **answers(200, One[WorkflowDocument], "The draft of the workflow was replaced."),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def create_workflow(request: AnyRequest) -> WorkflowAnswer:
    """Create a workflow from a definition in JSON or YAML. A name that is taken is a conflict; PUT saves a new
    version. A form that has to be published is saved as a draft, which a second POST replaces."""
    data, filename = await request.body(), filename_of(request)
    wants_draft, _ = _read_save(request, "draft")
    form = await asyncio.to_thread(_form, data, filename)
    if form.is_live_at_save and not wants_draft:
        row, _, compiled = await commands(request).workflows.save(data, filename=filename)
        return await show_workflow(request, row, status=201, warnings=compiled.warnings)
    saved = await commands(request).drafts.save(
        data, filename=filename, valid=not wants_draft, unpublished=not wants_draft
    )
    return await show_workflow(request, saved.workflow, status=201 if saved.created else 200, tag=saved.revision)


@put(
    BASE + "/{workflow:str}",
    tags=_TAGS,
    summary="Create a workflow or give it a new version",
    operation_class=operation(_DRAFT, FOLDER, UNLOCK, _IF_MATCH, body=DEFINITION),
    responses={
        **answers(
            200,
            SavedWorkflowAnswer,
            "The workflow existed already.",
            {**examples.one(examples.WHOLE_WORKFLOW), "changed": True},
        ),
        **answers(201, SavedWorkflowAnswer, "The workflow is new."),
        **refusals(400, 403, 404, 409, 412, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def save_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[SavedWorkflowAnswer]:
    """Save a definition. It becomes a new version only if no version has its text; otherwise that version becomes the
    current one. Runs in flight stay on their version. A form that has to be published is saved as a draft, and so is
    every form with `draft`: the current version stays as it is.

    A workflow that a folder of files manages is refused (409, `managed_by_files`), unless `folder` names that folder or
    `unlock` is true. A save with `folder` sets the label `managed-by`."""
    data, filename = await request.body(), filename_of(request)
    wants_draft, edit = _read_save(request, "draft", *EDIT_NAMES)
    old = await _old(request, workflow)
    form = await asyncio.to_thread(_checked_form, data, filename, workflow if old is None else old.name)
    if_match = request.headers.get("if-match")
    if wants_draft or not form.is_live_at_save:
        expected = expected_revision(if_match, old)
        draft = await commands(request).drafts.save(
            data, filename=filename, expected=expected, valid=not wants_draft, edit=edit
        )
        answer = await show_workflow(request, draft.workflow, tag=draft.revision)
        return _saved(answer, created=draft.created, changed=True)
    state = expected_state(if_match, old)
    row, saved, compiled = await commands(request).workflows.save(
        data, filename=filename, replace=True, expected=state, edit=edit
    )
    answer = await show_workflow(request, row, warnings=compiled.warnings)
    return _saved(answer, created=saved.created, changed=saved.created or saved.changed)


@get(
    BASE,
    tags=_TAGS,
    summary="List workflows",
    operation_class=operation(
        query("status", TEXT, "Only those that are `draft`, `active` or `archived`.", "active"),
        query("search", TEXT, "Only those with this text in their name or title.", "order"),
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
    **{
        **_SHOWN,
        "operation_class": operation(
            query("version", TEXT, "A number or `draft`; the current version by default.", "1"),
            query(
                "form", TEXT, "The form of the definition: `steps`, `graph` or `rule`; as stored by default.", "graph"
            ),
            query(
                "as", TEXT, "`json`, or `text`: only the definition, with its comments if the form is its own.", "text"
            ),
            texts=("application/yaml", "text/plain"),
        ),
        "responses": {**_NOW, **refusals(400, 404)},
    },
)
async def get_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[Any]:
    """Return a workflow by id or by name, with its definition as it was written. Its `ETag` is for `If-Match`.

    With `form` the definition is converted, and `fingerprint` is that of its graph. A form that cannot hold the
    workflow is refused (400, `not_convertible`) with every step and edge that it cannot hold."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("version", "form", "as"))
    number, form, kind = values.one("version", version_of), values.one("form", word_of), values.one("as", _text_or_json)
    values.refuse("the workflow cannot be read")
    row = await commands(request).workflows.get(workflow)
    found: Converted | None = None
    if kind == _TEXT or form is not None:
        source = await _source(request, row, number)
        found = None if form is None else await commands(request).workflows.convert(source, form)
        if kind == _TEXT:
            return await asyncio.to_thread(_text_answer, source, found)
    if number is None:
        answer = await show_workflow(request, row)
    elif number == DRAFT:
        draft = await commands(request).drafts.get(row)
        at, tag = row._replace(source=draft.source, form=draft.form), revision_tag(draft.revision)
        document = await asyncio.to_thread(workflow_document, at, draft=draft)
        answer = Response(One(document), headers={"ETag": tag})
    else:
        graph, version = await commands(request).versions.get(row, number)
        document = await asyncio.to_thread(workflow_document, row_at(row, version), step_count=len(graph.steps))
        document.current_version, document.version = row.version, number
        answer = Response(One(document), headers={"ETag": etag_of(row)})
    if form is not None and found is not None:
        document = answer.content.data
        document.form, document.fingerprint = form, found.fingerprint
        document.definition = without_secrets(found.document)
    return answer


async def _source(request: AnyRequest, row: WorkflowRow, number: VersionKey | None) -> str:
    """Return the text of a version; by default of the current one, or of the draft if there is no version."""
    if is_code(row.form):
        raise NotConvertible(f"the workflow {row.name!r} is Python code, and has no form")
    if number is None and row.version:
        return row.source
    if number is None or number == DRAFT:
        return (await commands(request).drafts.get(row)).source
    return (await commands(request).versions.get(row, number))[1].source


def _text_answer(source: str, found: Converted | None) -> Response[str]:
    if found is None or found.is_same:
        text, kind = text_without_secrets(source)
        kind = "text/plain" if kind == "application/json" else kind  # JSON of this route is a document
    else:
        text, kind = dump_yaml(without_secrets(found.document)), "application/yaml"
    return Response(text, media_type=kind)


def _text_or_json(text: str) -> str:
    if text not in (_TEXT, _JSON):
        raise ValueError(f"must be {_JSON} or {_TEXT}")
    return text


@delete(
    BASE + "/{workflow:str}",
    tags=_TAGS,
    summary="Delete a workflow",
    status_code=200,
    operation_class=operation(FOLDER, UNLOCK, _IF_MATCH),
    responses={
        **answers(200, One[WorkflowDocument], "The workflow was deleted at `deleted_at`."),
        **refusals(400, 403, 404, 409, 412),
    },
)
async def delete_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Delete a workflow. Its name is free again, and it cannot be started any more. Runs in flight go on to their end.
    All its runs can still be found by their ids. An active workflow of a form that is published is archived first."""
    values = QueryValues.of_query(request.scope["query_string"], aliases(*EDIT_NAMES))
    edit = read_edit(values)
    values.refuse("the workflow cannot be deleted")
    if_match = request.headers.get("if-match")
    if if_match is not None:
        expected_state(if_match, await commands(request).workflows.get(workflow))
    row, at = await commands(request).workflows.delete(workflow, edit=edit)
    document = await asyncio.to_thread(workflow_document, row, deleted_at=at)
    return Response(One(document))


@post(BASE + "/{workflow:str}/enable", summary="Enable a workflow", **_SHOWN)
async def enable_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Allow runs of the workflow to be started again. Enabling an enabled workflow changes nothing."""
    return await show_workflow(request, await commands(request).workflows.enable(workflow, enabled=True))


@post(BASE + "/{workflow:str}/disable", summary="Disable a workflow", **_SHOWN)
async def disable_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Allow no start of the workflow until it is enabled again. Runs in flight go on."""
    return await show_workflow(request, await commands(request).workflows.enable(workflow, enabled=False))


def problem_documents(draft: DraftRow) -> list[FieldProblem]:
    """Return what keeps a draft from being published."""
    return [FieldProblem(**one) for one in problems_of(draft)]


def workflow_document(
    row: WorkflowRow,
    *,
    whole: bool = True,
    deleted_at: Instant | None = None,
    draft: DraftRow | None = None,
    step_count: int | None = None,
) -> WorkflowDocument:
    """Build the document of a workflow; in lists without its definition. `draft` is its draft, if it was read."""
    source = row.source or (draft.source if draft else "")
    summary = None if row.draft is None else DraftSummary(row.draft)
    if draft is not None:
        summary = DraftSummary(draft.revision, problem_documents(draft), draft.author, as_datetime(draft.updated_at))
    if step_count is None:
        step_count = codec.count_steps(row.graph) if row.graph else 0
    facts = json.loads(row.trigger)
    return WorkflowDocument(
        id=show(WORKFLOW, row.id),
        name=row.name,
        title=row.title,
        form=row.form,
        description=row.description,
        status=row.status,
        enabled=row.enabled,
        current_version=row.version,
        trigger=facts["rule"]["trigger_type"] if "rule" in facts else facts.get("type", "api"),
        step_count=step_count,
        labels=json.loads(row.labels) if row.labels else {},
        inserted_at=as_datetime(row.created_at),
        updated_at=as_datetime(row.updated_at),
        deleted_at=None if deleted_at is None else as_datetime(deleted_at),
        draft=summary,
        definition=without_secrets(read_definition(source)) if whole and source else None,
        managed_by=folder_of(row),
    )


async def show_workflow(
    request: AnyRequest,
    row: WorkflowRow,
    *,
    status: int = 200,
    tag: int | None = None,
    warnings: Sequence[str] = (),
) -> WorkflowAnswer:
    """Build the answer that shows a workflow. `tag` is the revision of the draft that the request saved, and `warnings`
    are those of the definition that it saved."""
    draft = None
    if row.draft is not None:
        with suppress(NotFound):  # it was published since the row was read
            draft = await commands(request).drafts.get(row)
    document = await asyncio.to_thread(workflow_document, row, draft=draft)
    document.warnings = list(warnings)
    etag = etag_of(row) if tag is None else revision_tag(tag)
    return Response(One(document), status_code=status, headers={"ETag": etag})


def row_at(row: WorkflowRow, version: VersionRow) -> WorkflowRow:
    """Return a workflow's row with the text and the facts of one of its versions."""
    facts = version.facts or row.facts()
    return row._replace(source=version.source, version=version.version, **facts._asdict())


def _saved(answer: WorkflowAnswer, *, created: bool, changed: bool) -> Response[SavedWorkflowAnswer]:
    body = SavedWorkflowAnswer(answer.content.data, changed)
    return Response(body, status_code=201 if created else 200, headers=answer.headers)


def _read_save(request: AnyRequest, *names: str) -> tuple[bool, Edit]:
    """Return whether a draft is saved, and where the edit comes from."""
    values = QueryValues.of_query(request.scope["query_string"], aliases(*names))
    wanted, edit = values.one("draft", flag_of), read_edit(values)
    values.refuse("the workflow cannot be saved")
    return bool(wanted), edit


def _form(data: bytes, filename: str | None) -> Form:
    return form_of(read_definition(data, filename=filename))


async def _old(request: AnyRequest, key: str) -> WorkflowRow | None:
    """Return the workflow at an address, or `None` for a name that is free. Raise NotFound for an unknown id."""
    try:
        return await commands(request).workflows.get(key)
    except NotFound:
        if key.startswith(f"{WORKFLOW}_"):
            raise
        return None


def _checked_form(data: bytes, filename: str | None, name: str) -> Form:
    """Return the form of a definition. Raise InvalidDefinition if it is of a workflow with another name."""
    document = read_definition(data, filename=filename)
    form = form_of(document)
    try:
        written = name_in(document)
    except InvalidDefinition:
        return form  # the save refuses it, with all its problems
    if written != name:
        message = f"is {written!r}, but the path names the workflow {name!r}; a workflow cannot be renamed"
        raise InvalidDefinition(problems=[Problem(form.name_keys[0], message)])
    return form


async def _rows(request: AnyRequest, page: WorkflowPage) -> list[WorkflowRow]:
    """Return the rows of a page, and the next one if there is one."""
    size = MOST_ROWS if page.is_narrow() else page.limit + 1
    found: list[WorkflowRow] = []
    after = page.after
    while len(found) <= page.limit:
        workflows = commands(request).workflows
        rows = await workflows.find(limit=size, after=after, enabled=page.enabled, status=page.status)
        found += filter(page.means, rows)
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
    """Return the JSON Schema of definitions of a form, `graph` or `rule`, or of manifests, `connector`. What the schema
    accepts can still be refused: a schema cannot see what refers to what."""
    return Response(dict(published_schema(form)), headers={"Cache-Control": "max-age=300"})


ROUTES = [
    read_schema,
    create_workflow,
    save_workflow,
    list_workflows,
    get_workflow,
    delete_workflow,
    enable_workflow,
    disable_workflow,
]
