"""Routes of workflow templates, and how templates of both kinds are read."""

from __future__ import annotations

import re
from typing import Any, Final

from litestar import Response, delete, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import template_examples as examples
from detent.api.openapi.operations import (
    BOOLEAN,
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    answers,
    operation,
    query,
    record_schema,
    refusals,
    takes,
    texts,
)
from detent.api.request import (
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    flag_of,
    normalize_names,
    object_body,
    refuse_if_any,
    tenant_of,
    word_of,
)
from detent.catalog.workflow_template import WorkflowTemplate
from detent.commands.drafts import DraftAnswer
from detent.commands.templates.workflows import TemplateFilter
from detent.documents.answers import FieldProblem, Many, One
from detent.documents.templates import (
    InstantiatedDocument,
    WorkflowTemplateDocument,
)
from detent.ids import WORKFLOW, show
from detent.instant import as_datetime
from detent.values.fields import Fields, Problems, shown
from detent.values.limits import DEFINITION_LIMIT

WORKFLOWS: Final = "/api/v1/templates/workflows"
TAGS: Final = ["templates"]
LIST_MESSAGE: Final = "the list cannot be read"
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
LONGEST_TITLE: Final = 200
_LONGEST_TEXT: Final = 10_000
_MOSTTAGS: Final = 32
#: Ids that are words of the routes.
_TAKEN: Final = frozenset({"workflows"})
OBJECT: Final = Schema(type=OpenAPIType.OBJECT)


# Reading requests.


async def read_template(request: AnyRequest, message: str, *known: str, **others: str) -> Fields:
    """Read the fields of a body. `others` are other spellings. The handler adds further problems and refuses them."""
    problems = Problems()
    body = object_body(await request.body(), message, limit=DEFINITION_LIMIT)
    return Fields(normalize_names(body, aliases(*known, **others), problems), "", problems)


def read_text(fields: Fields, name: str, most: int, *, lines: bool = False) -> str:
    """Read a text that must be given."""
    if fields.get(name) is None:
        fields.problems.add(fields.at(name), "is missing")
    return fields.text(name, most=most, lines=lines) or ""


def read_id(fields: Fields, name: str) -> str:
    """Read an id that must be given."""
    found = read_text(fields, name, 100)
    if found:
        check_id(found, fields.at(name), fields.problems)
    return found


def check_id(text: str, field: str, problems: Problems) -> None:
    """Check the id of a template or a set."""
    if not _ID.fullmatch(text) or text in _TAKEN:
        rule = "letters, digits, -, _ and ., at most 100, the first a letter or digit"
        problems.add(field, f"{shown(text)} cannot be an id: {rule}")


def read_mapping(fields: Fields, name: str, *, required: bool = False) -> dict[str, Any]:
    """Read a mapping, empty if it is not given."""
    if required and fields.get(name) is None:
        fields.problems.add(fields.at(name), "is missing")
    return fields.mapping(name) or {}


def _tags(fields: Fields) -> tuple[str, ...]:
    found = fields.get("tags")
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, str) and 0 < len(one) <= 64 for one in found):
        fields.problems.add("tags", "must be a list of texts of 1 to 64 characters")
        return ()
    if len(found) > _MOSTTAGS:
        fields.problems.add("tags", f"has {len(found)} tags; at most {_MOSTTAGS} are allowed")
    return tuple(found)


# Workflow templates.


@get(
    WORKFLOWS,
    tags=TAGS,
    summary="List workflow templates",
    operation_class=operation(
        query("category", TEXT, "Only those of this category.", "people"),
        query("isOfficial", BOOLEAN, "Only those that are part of Detent, or only your own.", True),
        query("search", TEXT, "Only those with this text in id, title, description, category or tags.", "slack"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(
            200, Many[WorkflowTemplateDocument], "A page of the list.", examples.many(examples.WORKFLOW_TEMPLATE)
        ),
        **refusals(400),
    },
)
async def list_workflow_templates(request: AnyRequest) -> Many[WorkflowTemplateDocument]:
    """List the workflow templates by id, those of Detent and your own, without their definitions."""
    known = aliases("category", "is_official", "search", "limit", "cursor", official="is_official")
    values = QueryValues.of_query(request.scope["query_string"], known)
    where = TemplateFilter(
        values.one("category", word_of), values.one("is_official", flag_of), values.one("search", word_of)
    )
    scope, limit = CursorScope("workflow templates", tenant_of(request), where), values.limit()
    after = values.cursor(lambda text: scope.place(text).decode())
    values.refuse(LIST_MESSAGE)
    found = await commands(request).workflow_templates.list_all(limit=limit + 1, after=after, where=where)
    more = scope.cursor(found[limit - 1].id.encode()) if len(found) > limit else None
    return Many([_workflow_template(one, whole=False) for one in found[:limit]], more)


@get(
    WORKFLOWS + "/{template:str}",
    tags=TAGS,
    summary="Get a workflow template",
    operation_class=Plain,
    responses={
        **answers(200, One[WorkflowTemplateDocument], "The template.", examples.one(examples.WHOLE_TEMPLATE)),
        **refusals(404),
    },
)
async def get_workflow_template(
    request: AnyRequest, template: FromPath[str]
) -> Response[One[WorkflowTemplateDocument]]:
    """Return a workflow template with its definition and the JSON Schema of its config."""
    return Response(One(_workflow_template(await commands(request).workflow_templates.get(template))))


@post(
    WORKFLOWS,
    tags=TAGS,
    summary="Create a workflow template",
    operation_class=operation(
        body=takes(
            record_schema(
                {
                    "id": TEXT,
                    "title": TEXT,
                    "description": TEXT,
                    "category": TEXT,
                    "definition": OBJECT,
                    "config_schema": OBJECT,
                    "tags": texts(),
                    "author": TEXT,
                    "thumbnail_url": TEXT,
                },
                required=("id", "title", "definition"),
            ),
            examples.NEW_TEMPLATE,
            required=True,
        )
    ),
    responses={
        **answers(
            201, One[WorkflowTemplateDocument], "The template was created.", examples.one(examples.WHOLE_TEMPLATE)
        ),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def create_workflow_template(request: AnyRequest) -> Response[One[WorkflowTemplateDocument]]:
    """Create a workflow template. Texts of its definition have places for values, `${config.NAME}`, and every NAME is a
    property of the `config_schema`. An id that is taken is a conflict."""
    message = "the workflow template cannot be saved"
    names = ("id", "title", "description", "category", "definition", "config_schema", "tags", "author", "thumbnail_url")
    fields = await read_template(request, message, *names, display_name="title")
    new = WorkflowTemplate(
        id=read_id(fields, "id"),
        title=read_text(fields, "title", LONGEST_TITLE),
        description=fields.text("description", most=_LONGEST_TEXT, lines=True) or "",
        category=fields.text("category", most=100) or "other",
        definition=read_mapping(fields, "definition", required=True),
        config_schema=read_mapping(fields, "config_schema") or {"type": "object", "additionalProperties": False},
        tags=_tags(fields),
        author=fields.text("author", most=LONGEST_TITLE) or "",
        thumbnail_url=fields.text("thumbnail_url", most=2_000),
        created_at=0,
    )
    refuse_if_any(fields.problems, message)
    made = await commands(request).workflow_templates.create(new)
    return Response(One(_workflow_template(made)), status_code=201)


@delete(
    WORKFLOWS + "/{template:str}",
    tags=TAGS,
    summary="Delete a workflow template",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[WorkflowTemplateDocument], "The template that was deleted."),
        **refusals(403, 404),
    },
)
async def delete_workflow_template(
    request: AnyRequest, template: FromPath[str]
) -> Response[One[WorkflowTemplateDocument]]:
    """Delete a workflow template of your own. Workflows made of it stay. Those of Detent cannot be deleted."""
    return Response(One(_workflow_template(await commands(request).workflow_templates.delete(template))))


@post(
    WORKFLOWS + "/{template:str}/instantiate",
    tags=TAGS,
    summary="Make a workflow of a template",
    operation_class=operation(
        body=takes(
            record_schema({"display_name": TEXT, "name": TEXT, "config": OBJECT}), examples.INSTANTIATE, required=True
        )
    ),
    responses={
        **answers(201, One[InstantiatedDocument], "The draft of the workflow.", examples.one(examples.INSTANTIATED)),
        **refusals(400, 403, 404, 409),
    },
)
async def instantiate_workflow_template(
    request: AnyRequest, template: FromPath[str]
) -> Response[One[InstantiatedDocument]]:
    """Make the draft of a new workflow. `config` must match the schema of the template. `name` is the name of the
    workflow; without it, it is that of `display_name`, in small letters. A name that is taken is a conflict. The draft
    can be edited, and is published like any other."""
    message = "the template cannot be used"
    fields = await read_template(request, message, "display_name", "name", "config", title="display_name")
    name, title = fields.text("name", most=LONGEST_TITLE), fields.text("display_name", most=LONGEST_TITLE)
    config = read_mapping(fields, "config")
    refuse_if_any(fields.problems, message)
    made = commands(request).workflow_templates
    found = await made.get(template)
    done = await made.instantiate(template, title=title or name or found.title, name=name, config=config)
    return Response(One(_instantiated(done)), status_code=201)


def _instantiated(done: DraftAnswer) -> InstantiatedDocument:
    problems = [FieldProblem(one.field, one.message) for one in done.problems]
    row = done.workflow
    return InstantiatedDocument(show(WORKFLOW, row.id), row.name, row.status, done.revision, problems)


def _workflow_template(one: WorkflowTemplate, *, whole: bool = True) -> WorkflowTemplateDocument:
    return WorkflowTemplateDocument(
        id=one.id,
        title=one.title,
        description=one.description,
        category=one.category,
        tags=list(one.tags),
        author=one.author,
        is_official=one.is_official,
        thumbnail_url=one.thumbnail_url,
        inserted_at=None if one.created_at is None else as_datetime(one.created_at),
        config_schema=dict(one.config_schema) if whole else None,
        definition=dict(one.definition) if whole else None,
    )


ROUTES = [
    list_workflow_templates,
    get_workflow_template,
    create_workflow_template,
    delete_workflow_template,
    instantiate_workflow_template,
]
