"""Documents of rules and what belongs to them: entities, types, alerts and action templates."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import FieldProblem, Json
from detent.documents.workflows import FieldChangeDocument


class RuleActionDocument(msgspec.Struct, kw_only=True):
    """An action of a rule. `step` is its name in runs, which never changes. What is not written is left out."""

    id: str
    name: str
    action_config: dict[str, Json]
    execution_order: int
    action_type: str
    step: str
    description: str | msgspec.UnsetType = msgspec.UNSET
    is_active: bool = True
    queue: Json = msgspec.UNSET
    priority: Json = msgspec.UNSET
    repeat: Json = msgspec.UNSET
    retries: Json = msgspec.UNSET
    retry: Json = msgspec.UNSET
    timeout: Json = msgspec.UNSET
    on_crash: Json = msgspec.UNSET
    rerender_on_retry: Json = msgspec.UNSET
    sensitive: Json = msgspec.UNSET
    for_each: Json = msgspec.UNSET
    max_parallel: Json = msgspec.UNSET
    collect: Json = msgspec.UNSET
    on_item_failure: Json = msgspec.UNSET
    tolerate: Json = msgspec.UNSET
    max_items: Json = msgspec.UNSET


class RuleEdgeDocument(msgspec.Struct, kw_only=True):
    """An edge of a rule. A start edge has no source. Its id follows from its ends and its type."""

    id: str
    source_action_id: str | None
    target_action_id: str
    edge_type: str
    edge_order: int = 0


class RuleDocument(msgspec.Struct, kw_only=True):
    """A rule with all of its actions, edges and layout. The fields of its document that are not written are left out.

    `key` is its name as a workflow, which never changes. `entity_id` and `entity` are null for a rule that is not about
    an entity. `conditions` says in words when it matches. `warnings` are remarks on what was just saved."""

    id: str
    name: str
    description: str | None
    is_active: bool
    entity_id: str | None
    trigger_type_id: str
    trigger_conditions: dict[str, Json]
    actions: list[RuleActionDocument]
    edges: list[RuleEdgeDocument]
    canvas_layout: dict[str, Json]
    created_date: datetime
    updated_date: datetime
    key: str
    version: int
    status: str
    entity: str | None
    trigger_type: str
    conditions: str
    updated_by: str | None
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET
    cron_expression: Json = msgspec.UNSET
    timezone: Json = msgspec.UNSET
    jitter: Json = msgspec.UNSET
    missed: Json = msgspec.UNSET
    missed_window: Json = msgspec.UNSET
    overlap: Json = msgspec.UNSET
    labels: Json = msgspec.UNSET
    queue: Json = msgspec.UNSET
    priority: Json = msgspec.UNSET
    max_duration: Json = msgspec.UNSET
    max_parallel: Json = msgspec.UNSET
    on_unhandled: Json = msgspec.UNSET
    vars: Json = msgspec.UNSET
    output: Json = msgspec.UNSET
    tests: Json = msgspec.UNSET


class RuleSummary(msgspec.Struct, kw_only=True):
    """A rule in a list, without its actions and edges. `conditions` says in words when it matches."""

    id: str
    key: str
    name: str
    description: str | None
    is_active: bool
    status: str
    entity: str | None
    trigger_type_id: str
    conditions: str
    action_count: int
    version: int
    created_date: datetime
    updated_date: datetime
    updated_by: str | None


class DeletedRuleDocument(msgspec.Struct, kw_only=True):
    """A rule that was deleted. Its runs can still be found."""

    id: str
    key: str
    name: str
    deleted_date: datetime


class CheckedRuleDocument(msgspec.Struct, kw_only=True):
    """What `validate_only` answers for a rule that a save would accept. `actions` and `edges` are as a save would store
    them; new actions would have other ids."""

    valid: bool
    key: str
    warnings: list[str]
    actions: list[RuleActionDocument]
    edges: list[RuleEdgeDocument]


class RuleDraftDocument(msgspec.Struct, kw_only=True):
    """A draft of a rule. `problems` keep it from being published."""

    id: str
    key: str
    revision: int
    problems: list[FieldProblem]


class LayoutDocument(msgspec.Struct):
    """The layout of a rule: where its nodes are on a canvas."""

    canvas_layout: dict[str, Json]


class RuleActionDifference(msgspec.Struct):
    """An action that differs."""

    id: str
    name: str
    fields: list[FieldChangeDocument]


class RuleActionDifferences(msgspec.Struct):
    """The actions that one version has and the other has not, and those that differ."""

    added: list[RuleActionDocument]
    removed: list[RuleActionDocument]
    changed: list[RuleActionDifference]


class RuleEdgeDifferences(msgspec.Struct):
    """The edges that one version has and the other has not."""

    added: list[RuleEdgeDocument]
    removed: list[RuleEdgeDocument]


class RuleDifference(msgspec.Struct):
    """What differs between two versions of a rule. `settings` is everything but actions and edges."""

    actions: RuleActionDifferences
    edges: RuleEdgeDifferences
    settings: list[FieldChangeDocument]


class StaleRuleDocument(msgspec.Struct, kw_only=True):
    """The state in place of the one that `If-Match` names: who changed it, when, and what differs from the version that
    the caller has. The difference is null if that version is not known."""

    etag: str
    version: int
    updated_by: str | None
    updated_date: datetime
    difference: RuleDifference | None


class RuleVersionDocument(msgspec.Struct, kw_only=True):
    """A version of a rule. `difference` is from the version before it; lists of versions leave it out."""

    version: int
    current: bool
    name: str
    author: str | None
    checksum: str
    created_date: datetime
    difference: RuleDifference | msgspec.UnsetType = msgspec.UNSET


class EntityDocument(msgspec.Struct, kw_only=True):
    """A kind of records that rules watch. `fields` is the JSON Schema of a record, null if it is not known.

    `revision` rises with every change of a rule of the entity."""

    id: str
    name: str
    title: str
    fields: dict[str, Json] | None
    revision: int
    created_date: datetime
    updated_date: datetime


class TriggerTypeDocument(msgspec.Struct):
    """When a rule runs. Its id and its name are the same."""

    id: str
    name: str
    title: str
    description: str
    operations: list[str]


class ActionTypeDocument(msgspec.Struct, kw_only=True):
    """A type of actions. `config_schema` is the JSON Schema of the config of such an action.

    An action whose `has_branches` is true can have edges of the types `true_branch` and `false_branch`."""

    id: str
    name: str
    title: str
    description: str
    category: str
    config_schema: dict[str, Json]
    has_branches: bool


class AlertDocument(msgspec.Struct, kw_only=True):
    """An alert that a step of a run has raised. `status` is `open`, `acknowledged` or `resolved`."""

    id: str
    alert_type: str
    severity: str
    title: str
    message: str
    context: dict[str, Json] | None
    status: str
    rule_id: str
    rule: str
    rule_name: str | None
    run_id: str
    step: str
    created_date: datetime
    acknowledged_date: datetime | None
    acknowledged_by: str | None
    resolved_date: datetime | None
    resolved_by: str | None


class ActionTemplateDocument(msgspec.Struct, kw_only=True):
    """A configuration of an action that an editor offers for new actions."""

    id: str
    name: str
    description: str
    action_type: str
    default_config: dict[str, Json]
    is_active: bool
    created_by: str
    created_date: datetime
    updated_date: datetime
