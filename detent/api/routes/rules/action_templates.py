"""Routes of action templates: configurations that an editor offers for new actions."""

from __future__ import annotations

from typing import Final

from litestar import Response, delete, get, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import rule_examples as examples
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
)
from detent.api.request import (
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    flag_of,
    read_fields,
    refuse_if_any,
    tenant_of,
    word_of,
)
from detent.api.rules import action_template_document
from detent.commands.rules.action_templates import ActionTemplate
from detent.documents.answers import Many, One
from detent.documents.rules import ActionTemplateDocument
from detent.store.rule_rows import ActionTemplateRow

BASE: Final = "/api/v1/action-templates"
_TAGS: Final = ["rules"]
_MESSAGE: Final = "the action template cannot be saved"
_NAMES: Final = ("name", "description", "action_type", "default_config", "is_active")
_BODY: Final = takes(
    record_schema(
        {
            "name": TEXT,
            "description": TEXT,
            "action_type": TEXT,
            "default_config": Schema(type=OpenAPIType.OBJECT),
            "is_active": BOOLEAN,
        },
        required=("name", "action_type"),
    ),
    examples.NEW_ACTION_TEMPLATE,
    required=True,
)
_NOW: Final = answers(200, One[ActionTemplateDocument], "The action template.", {"data": examples.ACTION_TEMPLATE})

TemplateAnswer = Response[One[ActionTemplateDocument]]


@post(
    BASE,
    tags=_TAGS,
    summary="Create an action template",
    operation_class=operation(body=_BODY),
    responses={
        **answers(201, One[ActionTemplateDocument], "It was created.", {"data": examples.ACTION_TEMPLATE}),
        **refusals(400, 403, 409),
    },
)
async def create_action_template(request: AnyRequest) -> TemplateAnswer:
    """Store a configuration that new actions can begin with. A name that is taken is a conflict."""
    new = await _read(request)
    return _answer(await commands(request).action_templates.create(new), status=201)


@put(
    f"{BASE}/{{template:str}}",
    tags=_TAGS,
    summary="Replace an action template",
    operation_class=operation(body=_BODY),
    responses={**_NOW, **refusals(400, 403, 404, 409)},
)
async def replace_action_template(request: AnyRequest, template: FromPath[str]) -> TemplateAnswer:
    """Replace an action template. Rules that were made of it stay as they are."""
    new = await _read(request)
    return _answer(await commands(request).action_templates.change(template, new))


async def _read(request: AnyRequest) -> ActionTemplate:
    fields = await read_fields(request, *_NAMES, message=_MESSAGE, required=("name", "action_type"))
    new = ActionTemplate(
        name=fields.text("name", most=200) or "",
        description=""
        if fields.get("description") == ""
        else fields.text("description", most=10_000, lines=True) or "",
        action_type=fields.text("action_type", most=128) or "",
        default_config=fields.mapping("default_config") or {},
        is_active=fields.boolean("is_active", True),
    )
    refuse_if_any(fields.problems, _MESSAGE)
    return new


@get(
    BASE,
    tags=_TAGS,
    summary="List action templates",
    operation_class=operation(
        query("action_type", TEXT, "Only those of this type of actions.", "send_email"),
        query("is_active", BOOLEAN, "Only those that are offered, or only the others.", True),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(
            200,
            Many[ActionTemplateDocument],
            "A page of the list.",
            {"data": [examples.ACTION_TEMPLATE], "next_cursor": None},
        ),
        **refusals(400),
    },
)
async def list_action_templates(request: AnyRequest) -> Many[ActionTemplateDocument]:
    """List the action templates by name."""
    known = aliases("action_type", "is_active", "limit", "cursor")
    values = QueryValues.of_query(request.scope["query_string"], known)
    kind, active = values.one("action_type", word_of), values.one("is_active", flag_of)
    scope, limit = CursorScope("action templates", tenant_of(request), kind, active), values.limit()
    after = values.cursor(lambda text: scope.place(text).decode())
    values.refuse("the list cannot be read")
    part = commands(request).action_templates
    rows = await part.find(limit=limit + 1, after=after, action_type=kind, is_active=active)
    more = scope.cursor(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many([action_template_document(row) for row in rows[:limit]], more)


@get(
    f"{BASE}/{{template:str}}",
    tags=_TAGS,
    summary="Get an action template",
    operation_class=Plain,
    responses={**_NOW, **refusals(404)},
)
async def get_action_template(request: AnyRequest, template: FromPath[str]) -> TemplateAnswer:
    """Return an action template."""
    return _answer(await commands(request).action_templates.get(template))


@delete(
    f"{BASE}/{{template:str}}",
    tags=_TAGS,
    summary="Delete an action template",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[ActionTemplateDocument], "What was deleted.", {"data": examples.ACTION_TEMPLATE}),
        **refusals(403, 404),
    },
)
async def delete_action_template(request: AnyRequest, template: FromPath[str]) -> TemplateAnswer:
    """Delete an action template. Rules that were made of it stay as they are."""
    return _answer(await commands(request).action_templates.delete(template))


def _answer(row: ActionTemplateRow, status: int = 200) -> TemplateAnswer:
    return Response(One(action_template_document(row)), status_code=status)


ROUTES = [
    create_action_template,
    replace_action_template,
    list_action_templates,
    get_action_template,
    delete_action_template,
]
