"""Documents of entity events: what became of one, and which rules it matches."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json


class StartedRuleDocument(msgspec.Struct):
    """A run that an event started of a rule."""

    rule_id: str
    rule: str
    run_id: str


class ErroredRuleDocument(msgspec.Struct):
    """A rule that an event should have started, and why it could not."""

    rule_id: str
    rule: str
    code: str | None
    message: str


class EntityEventReceipt(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An event that is stored.

    `status` is `accepted`, or `known` if the event was sent before. A sender that waited gets `processed`, with what
    the event started."""

    id: str
    entity: str
    operation: str
    record_id: str | None
    status: str
    runs: list[StartedRuleDocument] | None = None
    errors: list[ErroredRuleDocument] | None = None


class ConditionDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A condition of a rule, or a group of them, and whether it is true for an event."""

    is_true: bool
    words: str
    field: str | None = None
    operator: str | None = None
    value: Json = None
    before: Json = None
    after: Json = None
    error: str | None = None
    match: str | None = None
    parts: list[ConditionDocument] = []


class RuleMatchDocument(msgspec.Struct, kw_only=True):
    """Whether an event matches a rule. `reason` says why not."""

    rule_id: str
    rule: str
    name: str
    trigger_type: str
    matches: bool
    reason: str | None
    conditions: list[ConditionDocument]


class RecentEventDocument(msgspec.Struct, kw_only=True):
    """One of the last events of an entity, and whether a rule matches it."""

    id: str
    entity: str
    operation: str
    record_id: str | None
    received_at: datetime
    matches: bool
    reason: str | None
    conditions: list[ConditionDocument]


class EntityEventDocument(msgspec.Struct, kw_only=True):
    """One of the last events of an entity, with its records."""

    id: str
    entity: str
    operation: str
    record_id: str | None
    before: dict[str, Json] | None
    after: dict[str, Json] | None
    actor: Json
    received_at: datetime


class RuleFiringDocument(msgspec.Struct, kw_only=True):
    """One time an event fired a rule: a run was `started`, or it `errored`. `id` is that of the run or the firing."""

    id: str
    status: str
    event_id: str | None
    operation: str | None
    record_id: str | None
    at: datetime
    run_id: str | None
    message: str | None
