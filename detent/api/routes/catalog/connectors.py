"""Routes of the catalog: connectors, and the actions that steps can call."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from litestar import Response, delete, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.filters import LIST_MESSAGE
from detent.api.openapi import catalog_examples as examples
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
    filename_of,
    read_fields,
    refuse_if_any,
    tenant_of,
    word_of,
)
from detent.catalog.manifest import read_manifest
from detent.commands.catalog.upgrades import WorkflowUpgrade
from detent.documents.answers import Many, One
from detent.documents.connectors import (
    ActionFacetsDocument,
    CatalogActionDocument,
    ConnectorDocument,
    SavedConnectorAnswer,
    StepUpgradeDocument,
    UpgradeDocument,
    WorkflowUpgradeDocument,
)
from detent.store.catalog_rows import ActionRow, ConnectorRow
from detent.values.limits import DEFINITION_LIMIT
from detent.views.catalog import action_document, connector_document

CONNECTORS: Final = "/api/v1/connectors"
ACTIONS: Final = "/api/v1/actions"
_TAGS: Final = ["catalog"]
_PAGE: Final = aliases("limit", "cursor")
_ACTIONS: Final = {**_PAGE, **aliases("connector_id", "category", "tag", "search", connector="connector_id")}
_MESSAGE: Final = "the request cannot be read"
_MANIFEST: Final = takes(
    Schema(type=OpenAPIType.OBJECT, description="A manifest in JSON or YAML, at most 1 MB."),
    examples.MANIFEST,
    required=True,
)
_CONNECTOR: Final = answers(
    200, One[ConnectorDocument], "The connector as it is now.", examples.one(examples.CONNECTOR)
)
_ACTION: Final = answers(200, One[CatalogActionDocument], "The action as it is now.", examples.one(examples.ACTION))
_SHOWN_CONNECTOR: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 200,
    "operation_class": Plain,
    "responses": {**_CONNECTOR, **refusals(403, 404, 409)},
}
_SHOWN_ACTION: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 200,
    "operation_class": Plain,
    "responses": {**_ACTION, **refusals(403, 404)},
}

ConnectorAnswer = Response[One[ConnectorDocument]]
ActionAnswer = Response[One[CatalogActionDocument]]


@get(
    CONNECTORS,
    tags=_TAGS,
    summary="List connectors",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[ConnectorDocument], "A page of the list.", examples.many(examples.LISTED_CONNECTOR)),
        **refusals(400),
    },
)
async def list_connectors(request: AnyRequest) -> Many[ConnectorDocument]:
    """List the connectors by id, each in its newest version."""
    read = QueryValues.of_query(request.scope["query_string"], _PAGE)
    scope = CursorScope("connectors", tenant_of(request))
    limit, after = read.limit(), read.cursor(scope.place)
    read.refuse(LIST_MESSAGE)
    bound = commands(request)
    rows = await bound.catalog.connectors(
        limit=limit + 1, after=None if after is None else after.decode("utf-8", "replace")
    )
    more = scope.cursor(rows[limit - 1].id.encode()) if len(rows) > limit else None
    stored = await bound.catalog.stored_credentials([row.id for row in rows])
    connections = bound.catalog.connections
    shown = [connector_document(row, connections, is_stored=row.id in stored) for row in rows[:limit]]
    return Many(shown, more)


@post(
    CONNECTORS,
    tags=_TAGS,
    summary="Add a connector",
    operation_class=operation(body=_MANIFEST),
    responses={
        **answers(
            201, SavedConnectorAnswer, "The version was added.", {**examples.one(examples.CONNECTOR), "changed": True}
        ),
        **answers(200, SavedConnectorAnswer, "Exactly this version was stored already."),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def add_connector(request: AnyRequest) -> Response[SavedConnectorAnswer]:
    """Add a connector, or a new version of one, from a manifest in JSON or YAML. A version never changes: other content
    needs another version."""
    data, filename = await request.body(), filename_of(request)
    connector = await asyncio.to_thread(read_manifest, data, filename=filename)
    row, saved = await commands(request).catalog.add(connector)
    document = await _document(request, row)
    return Response(SavedConnectorAnswer(document, saved.changed), status_code=201 if saved.changed else 200)


@get(CONNECTORS + "/{connector:str}", summary="Get a connector", **_SHOWN_CONNECTOR)
async def get_connector(request: AnyRequest, connector: FromPath[str]) -> ConnectorAnswer:
    """Return a connector in its newest version. `missing` names the environment variables that it needs and this
    process does not have."""
    return await _shown(request, await commands(request).catalog.connector(connector))


@delete(CONNECTORS + "/{connector:str}", summary="Remove a connector", **_SHOWN_CONNECTOR)
async def remove_connector(request: AnyRequest, connector: FromPath[str]) -> ConnectorAnswer:
    """Remove a connector and return it as it was. Workflows that were published with its actions go on, and no further
    one can be. A connector that Detent ships can only be disabled."""
    return await _shown(request, await commands(request).catalog.remove(connector))


@post(CONNECTORS + "/{connector:str}/enable", summary="Enable a connector", **_SHOWN_CONNECTOR)
async def enable_connector(request: AnyRequest, connector: FromPath[str]) -> ConnectorAnswer:
    """Allow workflows to be published with actions of a connector."""
    return await _shown(request, await commands(request).catalog.enable_connector(connector, enabled=True))


@post(CONNECTORS + "/{connector:str}/disable", summary="Disable a connector", **_SHOWN_CONNECTOR)
async def disable_connector(request: AnyRequest, connector: FromPath[str]) -> ConnectorAnswer:
    """Forbid to publish workflows with actions of a connector. Published ones go on."""
    return await _shown(request, await commands(request).catalog.enable_connector(connector, enabled=False))


@post(
    CONNECTORS + "/{connector:str}/upgrade",
    tags=_TAGS,
    summary="Upgrade the workflows of a connector",
    status_code=200,
    operation_class=operation(
        body=takes(record_schema({"to": TEXT, "dry_run": BOOLEAN}), {"to": "1.1.0", "dry_run": True})
    ),
    responses={
        **answers(200, One[UpgradeDocument], "What the upgrade did.", examples.one(examples.UPGRADE)),
        **refusals(400, 403, 404),
    },
)
async def upgrade_connector(request: AnyRequest, connector: FromPath[str]) -> Response[One[UpgradeDocument]]:
    """Give each active workflow that pins older versions of the actions of a connector a new version, which pins newer
    ones. Without `to` that is the newest version of each action, unless its first number is another one. A workflow
    that the newer actions would break stays as it is, and is named with its problems. With `dry_run` nothing is
    written."""
    fields = await read_fields(request, "to", "dry_run", message=_MESSAGE)
    to, dry_run = fields.text("to", most=20), fields.boolean("dry_run", False)
    refuse_if_any(fields.problems, _MESSAGE)
    found = await commands(request).upgrades.upgrade(connector, to=to, dry_run=dry_run)
    shown = [_upgrade_document(one) for one in found]
    return Response(One(UpgradeDocument(connector=connector, dry_run=dry_run, workflows=shown)))


@get(
    CONNECTORS + "/{connector:str}/actions",
    tags=_TAGS,
    summary="List the actions of a connector",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[CatalogActionDocument], "A page of the list.", examples.many(examples.LISTED_ACTION)),
        **refusals(400, 404),
    },
)
async def list_connector_actions(request: AnyRequest, connector: FromPath[str]) -> Many[CatalogActionDocument]:
    """List the actions of a connector by id, without their schemas."""
    await commands(request).catalog.connector(connector)
    return await _actions(request, QueryValues.of_query(request.scope["query_string"], _PAGE), connector)


@get(
    ACTIONS,
    tags=_TAGS,
    summary="List actions",
    operation_class=operation(
        query("connectorId", TEXT, "Only those of this connector.", "slack"),
        query("category", TEXT, "Only those of this category.", "Communication"),
        query("tag", TEXT, "Only those with this tag.", "chat"),
        query("search", TEXT, "Only those whose id, title, description or tags have this text.", "message"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[CatalogActionDocument], "A page of the list.", examples.many(examples.LISTED_ACTION)),
        **refusals(400),
    },
)
async def list_actions(request: AnyRequest) -> Many[CatalogActionDocument]:
    """List the actions by id, each in its newest version and without its schemas."""
    read = QueryValues.of_query(request.scope["query_string"], _ACTIONS)
    return await _actions(request, read, read.one("connector_id", word_of))


@get(
    ACTIONS + "/facets",
    tags=_TAGS,
    summary="Count actions",
    operation_class=Plain,
    responses={**answers(200, One[ActionFacetsDocument], "The counts.", examples.one(examples.FACETS)), **refusals()},
)
async def count_actions(request: AnyRequest) -> One[ActionFacetsDocument]:
    """Count the actions by connector, category and tag: the values by which their list can be narrowed."""
    return One(await commands(request).catalog.count_actions())


@get(
    ACTIONS + "/{action:str}",
    tags=_TAGS,
    summary="Get an action",
    operation_class=operation(query("version", TEXT, "A version; the newest by default.", "1.0.0")),
    responses={**_ACTION, **refusals(400, 404)},
)
async def get_action(request: AnyRequest, action: FromPath[str]) -> ActionAnswer:
    """Return an action with the JSON Schemas of its parameters and its output."""
    read = QueryValues.of_query(request.scope["query_string"], aliases("version"))
    version = read.one("version", word_of)
    read.refuse(_MESSAGE)
    return _shown_action(await commands(request).catalog.action(action, version))


@post(ACTIONS + "/{action:str}/enable", summary="Enable an action", **_SHOWN_ACTION)
async def enable_action(request: AnyRequest, action: FromPath[str]) -> ActionAnswer:
    """Allow workflows to be published with an action."""
    return _shown_action(await commands(request).catalog.enable_action(action, enabled=True))


@post(ACTIONS + "/{action:str}/disable", summary="Disable an action", **_SHOWN_ACTION)
async def disable_action(request: AnyRequest, action: FromPath[str]) -> ActionAnswer:
    """Forbid to publish workflows with an action. Published ones go on."""
    return _shown_action(await commands(request).catalog.enable_action(action, enabled=False))


async def _actions(request: AnyRequest, read: QueryValues, connector: str | None) -> Many[CatalogActionDocument]:
    category, tag, text = (read.one(name, word_of) for name in ("category", "tag", "search"))
    scope = CursorScope("actions", tenant_of(request), connector, category, tag, text)
    limit, after = read.limit(), read.cursor(scope.place)
    read.refuse(LIST_MESSAGE)
    rows = await commands(request).catalog.actions(
        limit=limit + 1,
        after=None if after is None else after.decode("utf-8", "replace"),
        connector=connector,
        category=category,
        tag=tag,
        text=text,
    )
    more = scope.cursor(rows[limit - 1].id.encode()) if len(rows) > limit else None
    return Many([action_document(row) for row in rows[:limit]], more)


async def _shown(request: AnyRequest, row: ConnectorRow) -> ConnectorAnswer:
    return Response(One(await _document(request, row)))


async def _document(request: AnyRequest, row: ConnectorRow) -> ConnectorDocument:
    catalog = commands(request).catalog
    is_stored = row.id in await catalog.stored_credentials([row.id])
    return connector_document(row, catalog.connections, whole=True, is_stored=is_stored)


def _upgrade_document(found: WorkflowUpgrade) -> WorkflowUpgradeDocument:
    return WorkflowUpgradeDocument(
        workflow=found.workflow,
        version=found.version,
        new_version=found.made,
        blocked=found.is_blocked,
        steps=[StepUpgradeDocument(one.step, one.action, one.old, one.new, list(one.problems)) for one in found.steps],
        problems=found.problems,
    )


def _shown_action(row: ActionRow) -> ActionAnswer:
    return Response(One(action_document(row)))


ROUTES = [
    list_connectors,
    add_connector,
    get_connector,
    remove_connector,
    enable_connector,
    disable_connector,
    upgrade_connector,
    list_connector_actions,
    list_actions,
    count_actions,
    get_action,
    enable_action,
    disable_action,
]
