"""Routes of entities, and of the types that rules are made of: trigger types and action types."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, delete, get, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import rule_examples as examples
from detent.api.openapi.operations import (
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    answers,
    operation,
    record_schema,
    refusals,
    takes,
)
from detent.api.request import (
    MOST_ROWS,
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    read_fields,
    refuse_if_any,
    tenant_of,
)
from detent.api.routes.rules.rules import REFERENCE
from detent.api.rules import entity_document
from detent.documents.answers import Many, One
from detent.documents.rules import ActionTypeDocument, EntityDocument, TriggerTypeDocument
from detent.forms.rules.action_types import ACTION_TYPES, ActionType
from detent.forms.rules.form import OPERATIONS, RuleTrigger
from detent.values.fields import Fields

BASE: Final = "/api/v1/entities"
_TAGS: Final = ["entities"]
_MESSAGE: Final = "the entity cannot be saved"
_LONGEST_NAME: Final = 200
_OBJECT: Final = Schema(type=OpenAPIType.OBJECT)
_NOW: Final = answers(200, One[EntityDocument], "The entity.", {"data": examples.ENTITY})
#: What people read of a trigger type.
_TRIGGERS: Final = {
    RuleTrigger.ON_CREATE: ("On create", "When a record of the entity was created."),
    RuleTrigger.ON_UPDATE: ("On update", "When a record of the entity was changed."),
    RuleTrigger.ON_DELETE: ("On delete", "When a record of the entity was deleted."),
    RuleTrigger.SCHEDULED: ("Scheduled", "At the times of a cron expression."),
    RuleTrigger.MANUAL: ("Manual", "Only when a caller starts it."),
}
#: Types of actions that decide and wait. All others do something.
_CONTROL: Final = ("condition", "delay", "wait")

EntityAnswer = Response[One[EntityDocument]]


@post(
    BASE,
    tags=_TAGS,
    summary="Add an entity",
    operation_class=operation(
        body=takes(
            record_schema({"name": TEXT, "title": TEXT, "fields": _OBJECT}, required=("name",)),
            examples.NEW_ENTITY,
            required=True,
        )
    ),
    responses={
        **answers(201, One[EntityDocument], "The entity was added.", {"data": examples.ENTITY}),
        **refusals(400, 403, 409),
    },
)
async def create_entity(request: AnyRequest) -> EntityAnswer:
    """Add a kind of records that rules can watch. `fields` is the JSON Schema of a record; with it, a rule that reads
    another field is refused. A name that is taken is a conflict."""
    fields = await read_fields(request, "name", "title", "fields", message=_MESSAGE, required=("name",))
    name = fields.text("name", most=_LONGEST_NAME) or ""
    if name != name.strip():
        fields.problems.add("name", "has blanks at its ends")
    title, schema = _read(fields)
    return _answer(await commands(request).entities.create(name, title, schema), status=201)


@put(
    f"{BASE}/{{entity:str}}",
    tags=_TAGS,
    summary="Change an entity",
    operation_class=operation(
        body=takes(record_schema({"name": TEXT, "title": TEXT, "fields": _OBJECT}), examples.NEW_ENTITY, required=True)
    ),
    responses={**_NOW, **refusals(400, 403, 404)},
)
async def change_entity(request: AnyRequest, entity: FromPath[str]) -> EntityAnswer:
    """Replace the title and the fields of an entity. Its name never changes. Rules are checked against the new fields
    when they are saved again."""
    fields = await read_fields(request, "name", "title", "fields", message=_MESSAGE)
    title, schema = _read(fields, refuse=False)
    part = commands(request).entities
    given = fields.text("name", most=_LONGEST_NAME)
    if given is not None and given != (await part.get(entity)).name:
        fields.problems.add("name", "cannot be changed: rules and events use it")
    refuse_if_any(fields.problems, _MESSAGE)
    return _answer(await part.change(entity, title, schema))


def _read(fields: Fields, *, refuse: bool = True) -> tuple[str | None, dict[str, Any] | None]:
    title, schema = fields.text("title", most=_LONGEST_NAME), fields.mapping("fields")
    if refuse:
        refuse_if_any(fields.problems, _MESSAGE)
    return title, schema


@get(
    BASE,
    tags=_TAGS,
    summary="List entities",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[EntityDocument], "A page of the list.", {"data": [examples.ENTITY], "next_cursor": None}),
        **refusals(400),
    },
)
async def list_entities(request: AnyRequest) -> Many[EntityDocument]:
    """List the entities by name."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope, limit = CursorScope("entities", tenant_of(request)), values.limit()
    after = values.cursor(lambda text: scope.place(text).decode())
    values.refuse("the list cannot be read")
    rows = await commands(request).entities.list_all(limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many([entity_document(row) for row in rows[:limit]], more)


@get(
    f"{BASE}/{{entity:str}}",
    tags=_TAGS,
    summary="Get an entity",
    operation_class=Plain,
    responses={**_NOW, **refusals(404)},
)
async def get_entity(request: AnyRequest, entity: FromPath[str]) -> EntityAnswer:
    """Return an entity by id or by name."""
    return _answer(await commands(request).entities.get(entity))


@delete(
    f"{BASE}/{{entity:str}}",
    tags=_TAGS,
    summary="Delete an entity",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[EntityDocument], "The entity that was deleted.", {"data": examples.ENTITY}),
        **refusals(403, 404, 409),
    },
)
async def delete_entity(request: AnyRequest, entity: FromPath[str]) -> EntityAnswer:
    """Delete an entity. An entity that has rules is a conflict."""
    return _answer(await commands(request).entities.delete(entity))


def _answer(row: Any, status: int = 200) -> EntityAnswer:
    return Response(One(entity_document(row)), status_code=status)


@get(
    f"{REFERENCE}/entities",
    tags=_TAGS,
    summary="List all entities, with a bare answer",
    operation_class=Plain,
    responses={**answers(200, list[EntityDocument], "All entities.", [examples.ENTITY]), **refusals()},
)
async def list_reference_entities(request: AnyRequest) -> Response[list[EntityDocument]]:
    """List all entities by name. The answer is the list itself."""
    part, found = commands(request).entities, []
    after: str | None = None
    while True:
        rows = await part.list_all(limit=MOST_ROWS, after=after)
        found += [entity_document(row) for row in rows]
        if len(rows) < MOST_ROWS:
            return Response(found)
        after = rows[-1].name


# Types.


@get(
    "/api/v1/trigger-types",
    tags=_TAGS,
    summary="List trigger types",
    operation_class=Plain,
    responses={
        **answers(
            200, Many[TriggerTypeDocument], "All trigger types.", {"data": [examples.TRIGGER_TYPE], "next_cursor": None}
        ),
        **refusals(),
    },
)
async def list_trigger_types(request: AnyRequest) -> Response[Many[TriggerTypeDocument]]:
    """List when a rule can run."""
    return Response(Many(_trigger_types()))


@get(
    f"{REFERENCE}/trigger-types",
    tags=_TAGS,
    summary="List trigger types, with a bare answer",
    operation_class=Plain,
    responses={
        **answers(200, list[TriggerTypeDocument], "All trigger types.", [examples.TRIGGER_TYPE]),
        **refusals(),
    },
)
async def list_reference_trigger_types(request: AnyRequest) -> Response[list[TriggerTypeDocument]]:
    """List when a rule can run. The answer is the list itself."""
    return Response(_trigger_types())


@get(
    "/api/v1/action-types",
    tags=_TAGS,
    summary="List action types",
    operation_class=Plain,
    responses={
        **answers(
            200, Many[ActionTypeDocument], "All action types.", {"data": [examples.ACTION_TYPE], "next_cursor": None}
        ),
        **refusals(),
    },
)
async def list_action_types(request: AnyRequest) -> Response[Many[ActionTypeDocument]]:
    """List the types of actions that every rule can use, with the JSON Schemas of their configs. An action of the
    catalog, `GET /api/v1/actions`, can be used as a type too."""
    return Response(Many([_action_type(one) for one in ACTION_TYPES.values()]))


@get(
    f"{REFERENCE}/action-types",
    tags=_TAGS,
    summary="List action types, with a bare answer",
    operation_class=Plain,
    responses={
        **answers(200, list[ActionTypeDocument], "All action types.", [examples.ACTION_TYPE]),
        **refusals(),
    },
)
async def list_reference_action_types(request: AnyRequest) -> Response[list[ActionTypeDocument]]:
    """List the types of actions. The answer is the list itself."""
    return Response([_action_type(one) for one in ACTION_TYPES.values()])


def _trigger_types() -> list[TriggerTypeDocument]:
    return [
        TriggerTypeDocument(str(kind), str(kind), title, description, list(OPERATIONS.get(kind, ())))
        for kind, (title, description) in _TRIGGERS.items()
    ]


def _action_type(one: ActionType) -> ActionTypeDocument:
    return ActionTypeDocument(
        id=one.name,
        name=one.name,
        title=one.title,
        description=one.description,
        category="control" if one.name in _CONTROL else "action",
        config_schema=dict(one.config),
        has_branches=one.is_boolean,
    )


ROUTES = [
    create_entity,
    change_entity,
    list_entities,
    get_entity,
    delete_entity,
    list_reference_entities,
    list_trigger_types,
    list_reference_trigger_types,
    list_action_types,
    list_reference_action_types,
]
