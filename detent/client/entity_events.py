"""The operations on entity events, and on what they do to rules: each function describes one call."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

from detent.client.calls import JSON, PAGE, Call, Pages, Seconds, duration, given, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.events import EntityEventReceipt, RecentEventDocument, RuleFiringDocument, RuleMatchDocument

_receipt: Final = one(EntityEventReceipt)
_receipts: Final = one(list[EntityEventReceipt])
_matches: Final = one(list[RuleMatchDocument])


def send_change(
    entity: str,
    operation: str,
    id: str | int | None = None,  # noqa: A002
    *,
    before: Mapping[str, Json] | None = None,
    after: Mapping[str, Json] | None = None,
    actor: Json = None,
    event_id: str | None = None,
    wait: Seconds | None = None,
) -> Call[EntityEventReceipt]:
    """Say that a record of an entity was created, updated or deleted. Every active rule that matches is started once.

    A repeated `event_id` starts nothing again. With `wait` the answer says what was started, if that is known by then.
    """
    body = _change(entity, operation, id, before=before, after=after, actor=actor, event_id=event_id)
    return _send(body, _receipt, wait)


def send_changes(changes: Sequence[Mapping[str, Json]], *, wait: Seconds | None = None) -> Call[Any]:
    """Send up to 1,000 changes together; each has the fields of `send_change`. They are stored all or none."""
    named = [{**change, "event_id": change.get("event_id") or secrets.token_hex(16)} for change in changes]
    return _send(named, _receipts, wait)


def match_rules(
    entity: str,
    operation: str,
    id: str | int | None = None,  # noqa: A002
    *,
    before: Mapping[str, Json] | None = None,
    after: Mapping[str, Json] | None = None,
    actor: Json = None,
    rule: str | None = None,
) -> Call[list[RuleMatchDocument]]:
    """Return which active rules a change would start, and which condition of the others is false. Nothing is started.

    With `rule` the answer is about that rule alone, active or not."""
    body = {"entity": entity, "operation": operation, "id": id, "before": before, "after": after, "actor": actor}
    sent = json_body({name: value for name, value in {**body, "rule": rule}.items() if value is not None})
    return Call("POST", url_path("rules", "match"), _matches, body=sent, headers=JSON)


def recent_matches(rule: str) -> Call[list[RecentEventDocument]]:
    """Return the last 50 events of a rule's entity, newest first, and whether the rule matches each."""
    return Call("GET", url_path("rules", rule, "recent-matches"), one(list[RecentEventDocument]))


def rule_firings(rule: str, *, limit: int = PAGE) -> Pages[RuleFiringDocument]:
    """Yield the runs that events started of a rule, and the events that could not start it, newest first."""
    where = url_path("rules", rule, "firings")
    return Pages(Call("GET", where, page(RuleFiringDocument), query=given(limit=limit)))


def _change(
    entity: str, operation: str, id_: str | int | None, *, event_id: str | None, **more: Json
) -> dict[str, Json]:
    body = {"entity": entity, "operation": operation, "id": id_, **more, "event_id": event_id or secrets.token_hex(16)}
    return {name: value for name, value in body.items() if value is not None}


def _send(body: Json, read: Any, wait: Seconds | None) -> Call[Any]:
    query = given(wait=None if wait is None else duration(wait))
    return Call("POST", url_path("events", "entity"), read, body=json_body(body), headers=JSON, query=query)
