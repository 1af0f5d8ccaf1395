"""Routes of plans and locks of workflows that files manage."""

from __future__ import annotations

from typing import Any, Final

from litestar import post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import examples
from detent.api.openapi.operations import TEXT, Plain, answers, operation, record_schema, refusals, takes
from detent.api.request import AnyRequest, commands, object_body
from detent.api.routes.workflows import BASE, WorkflowAnswer, show_workflow
from detent.commands.files.plan import MOST_DEFINITIONS, PlannedChange
from detent.documents.answers import FieldProblem, Many, One
from detent.documents.workflows import PlannedChangeDocument, WorkflowDocument
from detent.errors import InvalidInput
from detent.values.fields import Fields, Problems, described
from detent.values.folders import check_folder_id
from detent.values.limits import DEFINITION_LIMIT

_TAGS: Final = ["workflows"]
_MESSAGE: Final = "the plan cannot be made"
_LIMIT: Final = 8 * DEFINITION_LIMIT
_LONGEST_FILE: Final = 1_000
_EXAMPLE: Final[dict[str, Any]] = {
    "folder": "shop",
    "definitions": [{"file": "orders.yaml", "text": "name: orders\ntasks: {pay: {action: core.echo}}"}],
}
_DEFINITION: Final = record_schema({"text": TEXT, "file": TEXT}, required=["text"])
_PLAN: Final = record_schema(
    {"folder": TEXT, "definitions": Schema(type=OpenAPIType.ARRAY, items=_DEFINITION, max_items=MOST_DEFINITIONS)},
    required=["definitions"],
)


@post(
    BASE + "/plan",
    tags=_TAGS,
    summary="Say what saving definitions would change",
    status_code=200,
    operation_class=operation(body=takes(_PLAN, _EXAMPLE, required=True)),
    responses={
        **answers(200, Many[PlannedChangeDocument], "What each save would do.", examples.many(examples.PLANNED)),
        **refusals(400, 403, 413),
    },
    request_max_body_size=_LIMIT,
)
async def plan_workflows(request: AnyRequest) -> Many[PlannedChangeDocument]:
    """Compare definitions with what is stored. Nothing is written. A definition that is not valid, or that another
    folder of files manages, is `invalid`, with its problems."""
    problems = Problems()
    fields = Fields(object_body(await request.body(), _MESSAGE, limit=_LIMIT), "", problems)
    fields.refuse_unknown(("folder", "definitions"))
    folder = fields.text("folder", most=100)
    definitions = _read_definitions(fields)
    if problems.found:
        raise InvalidInput(_MESSAGE, problems.found)
    checked = None if folder is None else check_folder_id(folder, "folder")
    found = await commands(request).plans.plan(definitions, folder=checked)
    return Many([_document(one) for one in found], None)


def _read_definitions(fields: Fields) -> list[tuple[str, str]]:
    given = fields.get("definitions")
    if not isinstance(given, list):
        fields.wrong("definitions", "a list of definitions")
        return []
    if len(given) > MOST_DEFINITIONS:
        message = f"has {len(given)} definitions; at most {MOST_DEFINITIONS} are allowed in one request"
        fields.problems.add("definitions", message)
        return []
    found: list[tuple[str, str]] = []
    for number, one in enumerate(given):
        path = f"definitions[{number}]"
        if not isinstance(one, dict):
            fields.problems.add(path, f"must be a mapping with a text, not {described(one)}")
            continue
        inner = Fields(one, path, fields.problems)
        inner.refuse_unknown(("text", "file"))
        file = inner.text("file", most=_LONGEST_FILE) or ""
        if isinstance(one.get("text"), str):
            found.append((file, one["text"]))
        else:
            inner.wrong("text", "the text of a definition")
    return found


def _document(found: PlannedChange) -> PlannedChangeDocument:
    return PlannedChangeDocument(
        file=found.file,
        name=found.name,
        form=found.form,
        change=found.change.value,
        current_version=found.version,
        changes=list(found.words),
        problems=[FieldProblem(one.field, one.message) for one in found.problems],
        warnings=list(found.warnings),
        archived=found.is_archived,
    )


@post(
    BASE + "/{workflow:str}/unlock",
    tags=_TAGS,
    summary="Unlock a workflow that files manage",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[WorkflowDocument], "The workflow as it is now.", examples.one(examples.WHOLE_WORKFLOW)),
        **refusals(403, 404, 409, 412),
    },
)
async def unlock_workflow(request: AnyRequest, workflow: FromPath[str]) -> WorkflowAnswer:
    """Let the workflow be edited elsewhere than in the folder of files that manages it. It gets a version without the
    label `managed-by`. Applying the folder locks it again. A workflow that no files manage stays as it is."""
    return await show_workflow(request, await commands(request).workflows.unlock(workflow))


ROUTES = [plan_workflows, unlock_workflow]
