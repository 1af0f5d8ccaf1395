"""Build the documents of rules from what the commands return."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from detent.api.etags import etag_of
from detent.commands.rules.changes import RuleDiff
from detent.commands.rules.save import RuleCheck, RuleView
from detent.documents.rules import (
    ActionTemplateDocument,
    AlertDocument,
    CheckedRuleDocument,
    EntityDocument,
    RuleActionDifference,
    RuleActionDifferences,
    RuleActionDocument,
    RuleDifference,
    RuleDocument,
    RuleEdgeDifferences,
    RuleEdgeDocument,
    RuleSummary,
    RuleVersionDocument,
    StaleRuleDocument,
)
from detent.documents.workflows import FieldChangeDocument
from detent.forms.rules.conditions import conditions_of
from detent.graph import codec
from detent.graph.diff import ABSENT, FieldChange
from detent.ids import ACTION_TEMPLATE, ALERT, ENTITY, RUN, WORKFLOW, show
from detent.instant import Instant, as_datetime
from detent.store.rows import VersionRow, WorkflowRow
from detent.store.rule_rows import ActionTemplateRow, AlertRow, EntityRow

#: The fields of a document that an answer has under the same name, if they are written.
_OPTIONS: Final = frozenset(
    field.name for field in msgspec.structs.fields(RuleDocument) if field.default is msgspec.UNSET
) - {"warnings"}


def rule_document(rule: RuleView) -> RuleDocument:
    """Build the document of a rule."""
    row, document = rule.row, rule.document
    conditions = document.get("trigger_conditions") or {}
    options = {name: value for name, value in document.items() if name in _OPTIONS}
    return RuleDocument(
        id=show(WORKFLOW, row.id),
        name=row.title or row.name,
        description=row.description,
        is_active=row.enabled,
        entity_id=None if rule.entity is None else show(ENTITY, rule.entity.id),
        trigger_type_id=document["trigger_type"],
        trigger_conditions=conditions,
        actions=action_documents(document),
        edges=edge_documents(document),
        canvas_layout=dict(rule.layout),
        created_date=as_datetime(row.created_at),
        updated_date=as_datetime(row.updated_at),
        key=row.name,
        version=row.version,
        status=row.status,
        entity=row.entity,
        trigger_type=document["trigger_type"],
        conditions=conditions_of(conditions).words(),
        updated_by=row.updated_by,
        warnings=list(rule.warnings) if rule.warnings else msgspec.UNSET,
        **options,
    )


def action_documents(document: Mapping[str, Any]) -> list[RuleActionDocument]:
    """Build the documents of the actions of a rule, in their order."""
    return [action_document(one) for one in document["actions"]]


def action_document(action: Mapping[str, Any]) -> RuleActionDocument:
    """Build the document of an action."""
    return msgspec.convert({"execution_order": 1, "action_type": "", **action}, RuleActionDocument)


def edge_documents(document: Mapping[str, Any]) -> list[RuleEdgeDocument]:
    """Build the documents of the edges of a rule, in their order."""
    return [edge_document(one) for one in document.get("edges") or []]


def edge_document(edge: Mapping[str, Any]) -> RuleEdgeDocument:
    """Build the document of an edge."""
    return msgspec.convert(dict(edge), RuleEdgeDocument)


def rule_summary(row: WorkflowRow) -> RuleSummary:
    """Build the document of a rule in a list."""
    facts = json.loads(row.trigger).get("rule", {})
    return RuleSummary(
        id=show(WORKFLOW, row.id),
        key=row.name,
        name=row.title or row.name,
        description=row.description,
        is_active=row.enabled,
        status=row.status,
        entity=row.entity,
        trigger_type_id=facts.get("trigger_type", ""),
        conditions=conditions_of(facts.get("conditions")).words(),
        action_count=codec.count_steps(row.graph) if row.graph else 0,
        version=row.version,
        created_date=as_datetime(row.created_at),
        updated_date=as_datetime(row.updated_at),
        updated_by=row.updated_by,
    )


def checked_document(checked: RuleCheck) -> CheckedRuleDocument:
    """Build the answer for a rule that a save would accept."""
    document = checked.document
    return CheckedRuleDocument(
        valid=True,
        key=str(document["key"]),
        warnings=list(checked.warnings),
        actions=action_documents(document),
        edges=edge_documents(document),
    )


def difference_document(changes: RuleDiff) -> RuleDifference:
    """Build the document of what differs between two versions."""
    return RuleDifference(
        RuleActionDifferences(
            [action_document(one) for one in changes.added_actions],
            [action_document(one) for one in changes.removed_actions],
            [RuleActionDifference(one.id, one.name, _fields(one.fields)) for one in changes.changed_actions],
        ),
        RuleEdgeDifferences(
            [edge_document(one) for one in changes.added_edges],
            [edge_document(one) for one in changes.removed_edges],
        ),
        _fields(changes.settings),
    )


def _fields(changes: tuple[FieldChange, ...]) -> list[FieldChangeDocument]:
    return [
        FieldChangeDocument(one.field, *(msgspec.UNSET if value is ABSENT else value for value in (one.old, one.new)))
        for one in changes
    ]


def stale_document(row: WorkflowRow, changes: RuleDiff | None) -> StaleRuleDocument:
    """Build what a caller gets that named another state of a rule than the current one."""
    return StaleRuleDocument(
        etag=etag_of(row),
        version=row.version,
        updated_by=row.updated_by,
        updated_date=as_datetime(row.updated_at),
        difference=None if changes is None else difference_document(changes),
    )


def version_document(row: VersionRow, current: int, changes: RuleDiff | None = None) -> RuleVersionDocument:
    """Build the document of a version of a rule."""
    facts = row.facts
    return RuleVersionDocument(
        version=row.version,
        current=row.version == current,
        name=(facts.title if facts is not None else None) or "",
        author=row.author,
        checksum=row.checksum,
        created_date=as_datetime(row.created_at),
        difference=msgspec.UNSET if changes is None else difference_document(changes),
    )


def entity_document(row: EntityRow) -> EntityDocument:
    """Build the document of an entity."""
    return EntityDocument(
        id=show(ENTITY, row.id),
        name=row.name,
        title=row.title,
        fields=None if row.fields is None else json.loads(row.fields),
        revision=row.revision,
        created_date=as_datetime(row.created_at),
        updated_date=as_datetime(row.updated_at),
    )


def alert_document(row: AlertRow) -> AlertDocument:
    """Build the document of an alert."""

    def at(instant: Instant | None) -> Any:
        return None if instant is None else as_datetime(instant)

    return AlertDocument(
        id=show(ALERT, row.id),
        alert_type=row.alert_type,
        severity=row.severity,
        title=row.title,
        message=row.message,
        context=None if row.context is None else json.loads(row.context),
        status=row.state,
        rule_id=show(WORKFLOW, row.workflow),
        rule=row.workflow_name,
        rule_name=row.workflow_title,
        run_id=show(RUN, row.run),
        step=row.step,
        created_date=as_datetime(row.at),
        acknowledged_date=at(row.acknowledged_at),
        acknowledged_by=row.acknowledged_by,
        resolved_date=at(row.resolved_at),
        resolved_by=row.resolved_by,
    )


def action_template_document(row: ActionTemplateRow) -> ActionTemplateDocument:
    """Build the document of an action template."""
    return ActionTemplateDocument(
        id=show(ACTION_TEMPLATE, row.id),
        name=row.name,
        description=row.description,
        action_type=row.action_type,
        default_config=json.loads(row.default_config),
        is_active=row.is_active,
        created_by=row.author,
        created_date=as_datetime(row.created_at),
        updated_date=as_datetime(row.updated_at),
    )
