"""A change of a record: how it is read, stored and given to the runs that it starts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from detent.errors import InvalidInput, TooLarge
from detent.ids import EVENT, NewId, show
from detent.instant import Instant, iso
from detent.store.events import EventRow, NewEvent
from detent.values.fields import Fields, Problems, described
from detent.values.limits import ID_LIMIT, INPUT_LIMIT

#: An event's id and the id of a rule are parts of the request id of a run.
LONGEST_ID: Final = 200
FIELDS: Final = ("entity", "operation", "id", "before", "after", "actor", "event_id", "at")
_INTEGER: Final = 2**63

#: A decimal number of a database becomes a number of JSON, so that conditions can compare it.
_encoder: Final = msgspec.json.Encoder(decimal_format="number")


class RecordOperation(StrEnum):
    """What was done to a record."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"

    @property
    def trigger_type(self) -> str:
        """Return the trigger type of the rules that it starts."""
        return f"on_{self.value}"


class RecordChange(NamedTuple):
    """A change of a record, as its sender describes it. `event_id` makes it known when it is sent again."""

    entity: str
    operation: RecordOperation
    record: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    actor: Any = None
    event_id: str | None = None
    at: str | None = None

    def event(self, tenant: int, new_id: NewId, now: Instant) -> NewEvent:
        """Return the row of the event. Raise InvalidInput if it is not JSON, and TooLarge."""
        id_ = new_id()
        body = {
            "id": self.event_id or show(EVENT, id_),
            "entity": self.entity,
            "operation": self.operation.value,
            "record_id": self.record,
            "before": self.before,
            "after": self.after,
            "actor": self.actor,
            "at": self.at or iso(now),
        }
        try:
            data = _encoder.encode(body)
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise InvalidInput(f"the change of {self.entity} {self.record} is not JSON: {error}") from None
        if len(data) > INPUT_LIMIT:
            raise TooLarge(f"an event has {len(data)} bytes; at most {INPUT_LIMIT} are allowed")
        return NewEvent(id_, tenant, self.entity, self.operation.value, self.record, data, self.event_id)


def event_id(event: NewEvent | EventRow) -> str:
    """Return the id of an event as its sender knows it."""
    return event.dedup or show(EVENT, event.id)


def read_change(values: Mapping[str, Any], path: str, problems: Problems) -> RecordChange | None:
    """Read a change. Every error becomes a problem with its path; then the result is `None`."""
    fields, known = Fields(values, path, problems), len(problems.found)
    fields.refuse_unknown(FIELDS)
    for name in ("entity", "operation"):
        if fields.get(name) is None:
            problems.add(fields.at(name), "is missing")
    entity = fields.text("entity", most=ID_LIMIT)
    operation = fields.choice("operation", RecordOperation, RecordOperation.UPDATE)
    before, after = fields.mapping("before"), fields.mapping("after")
    if len(problems.found) == known:
        _check_records(fields, operation)
    change = RecordChange(
        entity or "",
        operation,
        _record_id(fields, before, after),
        before,
        after,
        fields.get("actor"),
        fields.text("event_id", most=LONGEST_ID),
        fields.text("at", most=64),
    )
    return change if len(problems.found) == known else None


def _check_records(fields: Fields, operation: RecordOperation) -> None:
    needed, other = ("before", "after") if operation is RecordOperation.DELETE else ("after", "before")
    if fields.get(needed) is None:
        fields.problems.add(fields.at(needed), f"is missing: a {operation.value} has the record {needed} the change")
    if operation is not RecordOperation.UPDATE and fields.get(other) is not None:
        fields.problems.add(fields.at(other), f"must be null: a {operation.value} has no record {other} the change")


def _record_id(fields: Fields, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str | None:
    """Return the id of the record. If it is not given, it is the field `id` of the record."""
    value = fields.get("id")
    if value is None:
        found = (after or before or {}).get("id")
        return record_text(found)
    text = record_text(value)
    if text is None:
        fields.problems.add(fields.at("id"), f"must be text of 1 to {ID_LIMIT} characters, not {described(value)}")
    return text


def record_text(value: Any) -> str | None:
    """Return the id of a record as text; `None` if it cannot be one."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _INTEGER:
        return str(value)
    if isinstance(value, str) and 0 < len(value) <= ID_LIMIT and value.isprintable():
        return value
    return None
