"""The rows of the catalog: connectors and their actions, each in immutable versions."""

from __future__ import annotations

from typing import NamedTuple

#: The tenant of what every tenant has: the shipped connectors, and the actions of the nodes' own code.
EVERY_TENANT = 0


class NewConnector(NamedTuple):
    """A version of a connector. `ranking` orders its versions. Lists and schemas are JSON."""

    tenant: int
    id: str
    version: str
    ranking: int
    title: str
    description: str
    icon_url: str | None
    documentation_url: str | None
    requires_auth: bool
    auth_type: str | None
    config_schema: str | None
    capabilities: str
    source: str
    manifest: str
    checksum: str


class ConnectorRow(NamedTuple):
    """The newest version of a connector, as it is stored."""

    tenant: int
    id: str
    version: str
    ranking: int
    title: str
    description: str
    icon_url: str | None
    documentation_url: str | None
    requires_auth: bool
    auth_type: str | None
    config_schema: str | None
    capabilities: str
    source: str
    manifest: str
    checksum: str
    enabled: bool
    created_at: int


class NewAction(NamedTuple):
    """A version of an action. `definition` has what its requests need, as JSON; code has none."""

    tenant: int
    id: str
    version: str
    ranking: int
    connector: str
    title: str
    description: str
    category: str
    tags: str
    parameters: str
    output: str
    effect: str
    deprecation: str | None
    source: str
    definition: str | None
    checksum: str


class ActionMark(NamedTuple):
    """What a list shows of the newest version of an action. `enabled`: its connector is enabled too."""

    tenant: int
    id: str
    version: str
    connector: str
    title: str
    description: str
    category: str
    tags: str
    effect: str
    deprecation: str | None
    source: str
    enabled: bool
    created_at: int


class ActionRow(NamedTuple):
    """A version of an action, as it is stored. `is_listed`: it is not removed, and `enabled` with its connector."""

    tenant: int
    id: str
    version: str
    ranking: int
    connector: str
    title: str
    description: str
    category: str
    tags: str
    parameters: str
    output: str
    effect: str
    deprecation: str | None
    source: str
    definition: str | None
    checksum: str
    enabled: bool
    created_at: int
    is_listed: bool


class SavedConnector(NamedTuple):
    """The result of a save. `changed` is false if exactly this version was stored already."""

    created: bool
    changed: bool
