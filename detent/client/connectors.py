"""The operations on connectors and actions: each function describes one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from detent.client.calls import JSON, PAGE, Call, Pages, bare, given, json_body, one, page, url_path
from detent.client.workflows import Definition, written_definition
from detent.documents.answers import Json
from detent.documents.connectors import (
    ActionFacetsDocument,
    CatalogActionDocument,
    ConnectorDocument,
    ImportDocument,
    SavedConnectorAnswer,
    UpgradeDocument,
)

_connector: Final = one(ConnectorDocument)
_action: Final = one(CatalogActionDocument)


def list_all(*, limit: int = PAGE) -> Pages[ConnectorDocument]:
    """Yield the connectors by id, `limit` per request."""
    return Pages(Call("GET", url_path("connectors"), page(ConnectorDocument), query=given(limit=limit)))


def get(connector: str) -> Call[ConnectorDocument]:
    """Return a connector by its id."""
    return Call("GET", url_path("connectors", connector), _connector)


def add(manifest: Definition) -> Call[SavedConnectorAnswer]:
    """Add a connector, or a version of one: a manifest as a mapping, as text or as the path of a file. Raise Conflict
    if the version exists with another content."""
    kind, body = written_definition(manifest)
    headers = {"Content-Type": kind}
    return Call("POST", url_path("connectors"), bare(SavedConnectorAnswer), body=body, headers=headers)


def remove(connector: str) -> Call[ConnectorDocument]:
    """Remove a connector. Published workflows go on."""
    return Call("DELETE", url_path("connectors", connector), _connector)


def enable(connector: str) -> Call[ConnectorDocument]:
    """Allow workflows to be published with actions of a connector."""
    return Call("POST", url_path("connectors", connector, "enable"), _connector)


def disable(connector: str) -> Call[ConnectorDocument]:
    """Forbid to publish workflows with actions of a connector."""
    return Call("POST", url_path("connectors", connector, "disable"), _connector)


def upgrade(connector: str, *, to: str | None = None, dry_run: bool = False) -> Call[UpgradeDocument]:
    """Give the active workflows that pin older versions of the actions of a connector a version with newer ones. `to`
    is the version of the actions. With `dry_run` only say what would be done."""
    body: dict[str, Json] = {"dry_run": dry_run} | ({} if to is None else {"to": to})
    where = url_path("connectors", connector, "upgrade")
    return Call("POST", where, one(UpgradeDocument), body=json_body(body), headers=JSON, holds=60.0)


def import_openapi(
    name: str, document: Definition | None = None, *, url: str | None = None, dry_run: bool | None = None
) -> Call[ImportDocument]:
    """Make a connector of an OpenAPI or Swagger document: a mapping, its text or the path of a file. `url` is where the
    document was read from; without a document, the server reads it from there. With `dry_run` only say what the import
    would do."""
    kind, body = ("application/json", b"") if document is None else written_definition(document)
    query = given(name=name, url=url, dryRun=dry_run)
    where = url_path("connectors", "import", "openapi")
    return Call("POST", where, one(ImportDocument), query=query, body=body, headers={"Content-Type": kind}, holds=60.0)


def import_mcp(
    name: str,
    url: str,
    tools: Sequence[Mapping[str, Json]] | None = None,
    *,
    title: str | None = None,
    with_token: bool = False,
    dry_run: bool = False,
) -> Call[ImportDocument]:
    """Make a connector of the tools of an MCP server, as its `tools/list` returns them. Without `tools` Detent asks the
    server for them."""
    body: dict[str, Json] = {"name": name, "url": url, "with_token": with_token, "dry_run": dry_run}
    body |= {} if title is None else {"title": title}
    body |= {} if tools is None else {"tools": [*tools]}
    where = url_path("connectors", "import", "mcp")
    return Call("POST", where, one(ImportDocument), body=json_body(body), headers=JSON, holds=60.0)


def actions(
    *,
    connector: str | None = None,
    category: str | None = None,
    tag: str | None = None,
    search: str | None = None,
    limit: int = PAGE,
) -> Pages[CatalogActionDocument]:
    """Yield the actions by id: of a connector, of a category, with a tag, or those that have a text."""
    query = given(connectorId=connector, category=category, tag=tag, search=search, limit=limit)
    return Pages(Call("GET", url_path("actions"), page(CatalogActionDocument), query=query))


def facets() -> Call[ActionFacetsDocument]:
    """Return how many actions each connector, category and tag has."""
    return Call("GET", url_path("actions", "facets"), one(ActionFacetsDocument))


def get_action(action: str, *, version: str | None = None) -> Call[CatalogActionDocument]:
    """Return an action with its schemas, by default its newest version."""
    return Call("GET", url_path("actions", action), _action, query=given(version=version))


def enable_action(action: str) -> Call[CatalogActionDocument]:
    """Allow workflows to be published with an action."""
    return Call("POST", url_path("actions", action, "enable"), _action)


def disable_action(action: str) -> Call[CatalogActionDocument]:
    """Forbid to publish workflows with an action."""
    return Call("POST", url_path("actions", action, "disable"), _action)
