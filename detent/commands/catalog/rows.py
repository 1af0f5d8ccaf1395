"""Connectors and actions as rows of the store, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import msgspec

from detent.catalog.action import ActionFacts, ActionSource, Effect
from detent.catalog.connector import AuthType, Connector, DataDefinition, rank_of
from detent.store.catalog_rows import ActionRow, ConnectorRow, NewAction, NewConnector

_CODE_VERSION = "1.0.0"


def connector_row(tenant: int, connector: Connector) -> NewConnector:
    """Build the row of a version of a connector. Its checksum covers its actions too."""
    plain = msgspec.to_builtins(connector)
    whole = {name: value for name, value in plain.items() if name != "actions"}
    return NewConnector(
        tenant=tenant,
        id=connector.id,
        version=connector.version,
        ranking=rank_of(connector.version),
        title=connector.title,
        description=connector.description,
        icon_url=connector.icon_url,
        documentation_url=connector.documentation_url,
        requires_auth=connector.auth.type is not AuthType.NONE,
        auth_type=None if connector.auth.type is AuthType.NONE else connector.auth.type.value,
        config_schema=None,
        capabilities=json.dumps(["actions", *(["probe"] if connector.probe else [])]),
        source=connector.source.value,
        manifest=_written(whole),
        checksum=_checksum(plain),
    )


def action_rows(tenant: int, connector: Connector) -> list[NewAction]:
    """Build the rows of the actions of a connector."""
    return [action_row(tenant, connector.facts(action), connector.definition(action)) for action in connector.actions]


def action_row(tenant: int, facts: ActionFacts, definition: DataDefinition | None) -> NewAction:
    """Build the row of a version of an action. Code has no definition."""
    plain = None if definition is None else msgspec.to_builtins(definition)
    return NewAction(
        tenant=tenant,
        id=facts.id,
        version=facts.version,
        ranking=rank_of(facts.version),
        connector=facts.connector,
        title=facts.title or facts.id,
        description=facts.description,
        category=facts.category,
        tags=_written(facts.tags),
        parameters=_written(facts.parameters),
        output=_written(facts.output),
        effect=_written(msgspec.to_builtins(facts.effect)),
        deprecation=facts.deprecation,
        source=facts.source.value,
        definition=None if plain is None else _written(plain),
        checksum=_checksum([msgspec.to_builtins(facts), plain]),
    )


def code_connector(tenant: int, connector: str) -> NewConnector:
    """Build the row of the connector that groups actions of the nodes' own code."""
    return NewConnector(
        tenant=tenant,
        id=connector,
        version=_CODE_VERSION,
        ranking=rank_of(_CODE_VERSION),
        title=connector,
        description="Actions of this installation's own code.",
        icon_url=None,
        documentation_url=None,
        requires_auth=False,
        auth_type=None,
        config_schema=None,
        capabilities=json.dumps(["actions"]),
        source=ActionSource.PYTHON.value,
        manifest="{}",
        checksum=_checksum(["code", connector]),
    )


def as_new(row: ConnectorRow) -> NewConnector:
    """Return the version of a stored connector, to add actions to it."""
    return NewConnector._make(row[: len(NewConnector._fields)])


def definition_of(row: ActionRow) -> DataDefinition | None:
    """Return what the requests of an action need; `None` for code."""
    return None if row.definition is None else msgspec.json.decode(row.definition, type=DataDefinition)


def effect_of(text: str) -> Effect:
    """Return the effect of an action."""
    return msgspec.json.decode(text, type=Effect)


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _checksum(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def by_connector(facts: Iterable[ActionFacts]) -> dict[str, list[ActionFacts]]:
    """Group actions by their connectors."""
    found: dict[str, list[ActionFacts]] = {}
    for one in facts:
        found.setdefault(one.connector, []).append(one)
    return found
