"""Documents of the catalog: connectors and their actions."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json
from detent.documents.lists import FacetValue


class ConnectorDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A service that steps can call. Lists leave out `auth` and `probe`.

    `missing` are the environment variables that the connector needs and the answering process does not have."""

    id: str
    display_name: str
    description: str
    version: str
    icon_url: str | None
    documentation_url: str | None
    enabled: bool
    requires_auth: bool
    auth_type: str | None
    config_schema: Json
    capabilities: list[str]
    source: str
    base_url: str | None
    missing: list[str]
    inserted_at: datetime
    auth: dict[str, Json] | None = None
    probe: dict[str, Json] | None = None


class EffectDocument(msgspec.Struct, kw_only=True):
    """What a repeated attempt does. `key` is the header or field of the idempotency key, `probe` an action that says
    whether the effect happened."""

    kind: str
    key: str | None
    probe: str | None


class CatalogActionDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a step can call. Lists leave out the schemas."""

    id: str
    connector_id: str
    display_name: str
    description: str
    category: str
    version: str
    enabled: bool
    deprecation_notice: str | None
    tags: list[str]
    effect: EffectDocument
    source: str
    inserted_at: datetime
    parameter_schema: dict[str, Json] | None = None
    output_schema: dict[str, Json] | None = None


class ActionFacetsDocument(msgspec.Struct, kw_only=True):
    """How many actions each connector, category and tag has, the most frequent first; at most 200 of each."""

    connectors: list[FacetValue]
    categories: list[FacetValue]
    tags: list[FacetValue]


class SavedConnectorAnswer(msgspec.Struct):
    """A connector as saved. `changed` is false if exactly this version was stored already."""

    data: ConnectorDocument
    changed: bool


class SkippedDocument(msgspec.Struct):
    """An operation of a document that did not become an action, and why."""

    operation: str
    reason: str


class ActionChangeDocument(msgspec.Struct):
    """An action that an import changes or removes. `breaks` says what steps may have to change."""

    action: str
    breaks: list[str]


class BrokenStepDocument(msgspec.Struct):
    """A step that cannot be published again as it is. Its published version goes on with the action that it pins."""

    workflow: str
    step: str
    action: str
    problems: list[str]


class StepUpgradeDocument(msgspec.Struct):
    """A step that pins an older version of an action. `problems` say why it cannot pin the new one."""

    step: str
    action: str
    old_version: str
    new_version: str
    problems: list[str]


class WorkflowUpgradeDocument(msgspec.Struct, kw_only=True):
    """A workflow that pins older versions of actions. With `blocked` it stays as it is: a step of it has problems, or
    `problems` concern all of it. `new_version` is null then, and in a dry run."""

    workflow: str
    version: int
    new_version: int | None
    blocked: bool
    steps: list[StepUpgradeDocument]
    problems: list[str]


class UpgradeDocument(msgspec.Struct, kw_only=True):
    """What an upgrade to newer versions of the actions of a connector did, or with `dry_run` would do."""

    connector: str
    dry_run: bool
    workflows: list[WorkflowUpgradeDocument]


class ImportDocument(msgspec.Struct, kw_only=True):
    """What an import did, or with `dry_run` would do. `connector` is null if it does not exist yet."""

    dry_run: bool
    changed: bool
    version: str
    operations: int
    actions: int
    skipped: list[SkippedDocument]
    added: list[str]
    changes: list[ActionChangeDocument]
    removed: list[str]
    broken_steps: list[BrokenStepDocument]
    connector: ConnectorDocument | None
