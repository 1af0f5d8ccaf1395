"""Build the documents of entity events, and of the rules that they match."""

from __future__ import annotations

from typing import Any

import msgspec

from detent.documents.events import (
    ConditionDocument,
    EntityEventDocument,
    EntityEventReceipt,
    ErroredRuleDocument,
    RecentEventDocument,
    RuleFiringDocument,
    RuleMatchDocument,
    StartedRuleDocument,
)
from detent.forms.rules.conditions import ConditionPart
from detent.ids import FIRING, RUN, show
from detent.instant import as_datetime
from detent.store.events import EventRow, NewEvent
from detent.store.rows import RunRow
from detent.store.trigger_rows import FiringRow, FiringState
from detent.triggers import record
from detent.triggers.entities.event import RecordOperation, event_id
from detent.triggers.entities.matcher import EventRule, Record
from detent.triggers.entities.processor import Processed


def receipt_document(event: NewEvent, status: str, done: Processed | None) -> EntityEventReceipt:
    """Build the receipt of an event; `done` is what it started, if that is known."""
    return EntityEventReceipt(
        id=event_id(event),
        entity=event.entity,
        operation=event.operation,
        record_id=event.record,
        status=status,
        runs=None if done is None else [_started(one.rule, one.run) for one in done.started],
        errors=None if done is None else [_errored(one.rule, one.reason) for one in done.errored],
    )


def _started(rule: EventRule, run: bytes) -> StartedRuleDocument:
    return StartedRuleDocument(rule.workflow, rule.name, show(RUN, run))


def _errored(rule: EventRule, why: record.FiringReason) -> ErroredRuleDocument:
    return ErroredRuleDocument(rule.workflow, rule.name, why.code, why.text())


def judge(
    rule: EventRule, operation: str, before: Record, after: Record
) -> tuple[bool, str | None, list[ConditionDocument]]:
    """Return whether a change matches a rule, why not, and each of its conditions."""
    parts = rule.conditions.explain(before, after)
    conditions = [condition_document(part) for part in parts]
    if rule.error is not None:
        return False, rule.error, []
    if rule.operation != operation:
        meant = RecordOperation(rule.operation).trigger_type
        return False, f"it is for {meant}, not for {operation}", conditions
    try:
        matches = rule.conditions.test(before, after)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return False, f"its conditions cannot be evaluated: {error}", conditions
    if matches:
        return True, None, conditions
    return False, _why_not(parts), conditions


def _why_not(parts: list[ConditionPart]) -> str:
    """Say in words which part is false."""
    false = [part.words for part in parts if not part.is_true]
    return f"not true: {'; '.join(false)}"


def condition_document(part: ConditionPart) -> ConditionDocument:
    """Build the document of a condition or a group."""
    return ConditionDocument(
        is_true=part.is_true,
        words=part.words,
        field=part.field,
        operator=part.operator,
        value=part.value,
        before=part.before,
        after=part.after,
        error=part.error,
        match=part.match,
        parts=[condition_document(one) for one in part.parts],
    )


def match_document(rule: EventRule, operation: str, before: Record, after: Record) -> RuleMatchDocument:
    """Build the document of a rule and a change."""
    matches, reason, conditions = judge(rule, operation, before, after)
    return RuleMatchDocument(
        rule_id=rule.workflow,
        rule=rule.name,
        name=rule.title or rule.name,
        trigger_type=RecordOperation(rule.operation).trigger_type,
        matches=matches,
        reason=reason,
        conditions=conditions,
    )


def recent_document(rule: EventRule, row: EventRow) -> RecentEventDocument:
    """Build the document of a past event and whether a rule matches it."""
    body = msgspec.json.decode(row.data)
    matches, reason, conditions = judge(rule, row.operation, body["before"], body["after"])
    return RecentEventDocument(
        id=event_id(row),
        entity=row.entity,
        operation=row.operation,
        record_id=row.record,
        received_at=as_datetime(row.at),
        matches=matches,
        reason=reason,
        conditions=conditions,
    )


def event_document(row: EventRow) -> EntityEventDocument:
    """Build the document of a past event with its records."""
    body = msgspec.json.decode(row.data)
    return EntityEventDocument(
        id=event_id(row),
        entity=row.entity,
        operation=row.operation,
        record_id=row.record,
        before=body["before"],
        after=body["after"],
        actor=body.get("actor"),
        received_at=as_datetime(row.at),
    )


def started_document(row: RunRow) -> RuleFiringDocument:
    """Build the document of a run that an event started."""
    run = show(RUN, row.id)
    return _fired(_body_of(row.input), id=run, status="started", at=row.started_at, run_id=run, message=None)


def errored_document(row: FiringRow) -> RuleFiringDocument:
    """Build the document of a firing of a rule that errored."""
    why = record.decode(row.message)
    return _fired(
        record.request_of(row).body,
        id=show(FIRING, row.id),
        status=str(FiringState.ERRORED),
        at=row.at,
        run_id=None,
        message=None if why is None else why.text(),
    )


def _fired(body: Any, *, at: int, **fields: Any) -> RuleFiringDocument:
    event = body if isinstance(body, dict) else {}
    return RuleFiringDocument(
        event_id=event.get("id"),
        operation=event.get("operation"),
        record_id=event.get("record_id"),
        at=as_datetime(at),
        **fields,
    )


def _body_of(data: bytes) -> Any:
    return msgspec.json.decode(data).get("body")
