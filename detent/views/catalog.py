"""What users see of connectors and actions."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from detent.catalog.action import ActionSource, Effect
from detent.catalog.connections import EnvironmentConnections, connection_of
from detent.catalog.connector import Auth, Connector
from detent.documents.connectors import CatalogActionDocument, ConnectorDocument, EffectDocument
from detent.instant import as_datetime
from detent.steps.connectors.library import missing_package
from detent.store.catalog_rows import ActionMark, ActionRow, ConnectorRow
from detent.store.protocol import Store
from detent.store.rows import Finding
from detent.version import install_hint

_PAGE: Final = 200


def stored_connector(row: ConnectorRow) -> Connector | None:
    """Return a stored connector without its actions; `None` for one that groups code."""
    manifest = json.loads(row.manifest)
    return msgspec.convert(manifest, Connector, strict=False) if manifest else None


def connector_document(
    row: ConnectorRow, connections: EnvironmentConnections, *, whole: bool = False, is_stored: bool = False
) -> ConnectorDocument:
    """Build the document of a connector. `is_stored`: a credential of its name is stored."""
    connector = stored_connector(row)
    missing: tuple[str, ...] = ()
    if connector is not None:
        auth = Auth() if is_stored else connector.auth
        missing = connections.missing(connector.id, connector.base_url, auth)
    document = ConnectorDocument(
        id=row.id,
        display_name=row.title,
        description=row.description,
        version=row.version,
        icon_url=row.icon_url,
        documentation_url=row.documentation_url,
        enabled=row.enabled,
        requires_auth=row.requires_auth,
        auth_type=row.auth_type,
        config_schema=None if row.config_schema is None else json.loads(row.config_schema),
        capabilities=json.loads(row.capabilities),
        source=row.source,
        base_url=None if connector is None else connector.base_url,
        missing=list(missing),
        inserted_at=as_datetime(row.created_at),
    )
    if whole and connector is not None:
        document.auth = msgspec.to_builtins(connector.auth)
        document.probe = None if connector.probe is None else msgspec.to_builtins(connector.probe)
    return document


def action_document(row: ActionMark | ActionRow) -> CatalogActionDocument:
    """Build the document of an action. A row of a list has no schemas."""
    effect = msgspec.json.decode(row.effect, type=Effect)
    document = CatalogActionDocument(
        id=row.id,
        connector_id=row.connector,
        display_name=row.title,
        description=row.description,
        category=row.category,
        version=row.version,
        enabled=row.enabled,
        deprecation_notice=row.deprecation,
        tags=json.loads(row.tags),
        effect=EffectDocument(kind=effect.kind.value, key=effect.key, probe=effect.probe),
        source=row.source,
        inserted_at=as_datetime(row.created_at),
    )
    if isinstance(row, ActionRow):
        parameters: dict[str, Any] = json.loads(row.parameters)
        document.parameter_schema = parameters
        document.output_schema = json.loads(row.output)
    return document


async def missing_credentials(store: Store, tenant: int, connections: EnvironmentConnections) -> list[Finding]:
    """Return a finding for each connector that an active workflow uses and this environment is not set up for."""
    users: dict[tuple[str, str], list[str]] = {}
    after: str | None = None
    while rows := await store.workflows(tenant, limit=_PAGE, after=after, status="active"):
        for row in rows:
            for step in json.loads(row.graph).get("steps", ()) if row.graph else ():
                config = step.get("config", {})
                if "credential" in config:
                    continue  # a publish warns of one that is not stored, and its steps name it
                if step.get("kind") == "action" and (name := str(config.get("action", "")).partition(".")[0]):
                    used = name if "version" in config else connection_of(name, config.get("with"))
                    if used is not None:
                        users.setdefault((name, used), []).append(row.name)
        after = rows[-1].name
    found = []
    held = await store.credential_states(tenant, {used for _, used in users})
    for (name, used), workflows in sorted(users.items()):
        stored = await store.connector(tenant, name)
        connector = None if stored is None else stored_connector(stored)
        missing: tuple[str, ...] = ()
        if connector is not None:
            is_held = used in held and connector.source is not ActionSource.PYTHON
            missing = connections.missing(used, connector.base_url, Auth() if is_held else connector.auth)
        whose = ", ".join(sorted(set(workflows))[:3])
        if missing:
            message = f"{used!r} is not set up here: set {' and '.join(missing)}; {whose} needs it"
            found.append(Finding("warning", "connector", message))
        if connector is not None and connector.source is ActionSource.PYTHON and (package := missing_package(name)):
            message = f"{name!r} lacks the package {package!r} here: {install_hint(name)}; {whose} needs it"
            found.append(Finding("warning", "connector", message))
    return found
