"""The documents of triggers, firings and events: their shape for OpenAPI, examples, and what makes them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from detent.api.wire import CallbackDocument
from detent.ids import FIRING, RUN, TRIGGER, show
from detent.instant import iso
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers.commands import Backfilled, Sent
from detent.triggers.view import firing_document, trigger_document


class TriggerDocument(msgspec.Struct, kw_only=True):
    """What starts runs of a workflow. Secrets in `config` read `***`; sent back so, they stay as they are."""

    id: str
    workflow_id: str
    workflow: str
    type: str
    name: str | None
    enabled: bool
    owned_by: str
    config: dict[str, Any]
    condition: str | None
    note: str | None
    url: str | None
    next_at: str | None
    last_fired_at: str | None
    inserted_at: str
    updated_at: str


class FiringRequest(msgspec.Struct, kw_only=True):
    """What was received; `body` as it was read."""

    method: str | None
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class FiringDocument(msgspec.Struct, kw_only=True):
    """One time a trigger fired, and what became of it. Lists leave out the request."""

    id: str
    trigger_id: str
    type: str
    status: str
    scheduled_at: str | None
    received_at: str
    run_id: str | None
    message: str | None
    replay_of: str | None
    request: FiringRequest | msgspec.UnsetType = msgspec.UNSET


class BackfilledSlot(msgspec.Struct):
    """A slot and the firing that was made for it."""

    slot: str
    firing_id: str
    status: str


class BackfillDocument(msgspec.Struct):
    """The slots of a range that had no firing. In a dry run none is made."""

    matched: int
    dry_run: bool
    slots: list[str]
    firings: list[BackfilledSlot]


class MatchedTrigger(msgspec.Struct):
    """A trigger that an event fired."""

    trigger_id: str
    firing_id: str
    status: str
    run_id: str | None


class EventDocument(msgspec.Struct):
    """An event that was taken, and what it fired."""

    id: str
    type: str
    matched: int
    firings: list[MatchedTrigger]


class WebhookDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What became of a request to a webhook: `started` with its run; `ignored`, for its condition is false; or
    `accepted`: it is kept and will be dealt with."""

    status: str
    firing_id: str | None = None
    run_id: str | None = None
    execution_id: str | None = None
    callbacks: list[CallbackDocument] | msgspec.UnsetType = msgspec.UNSET
    message: str | None = None


def trigger_shown(row: TriggerRow, base_url: str) -> TriggerDocument:
    return msgspec.convert(trigger_document(row, base_url), TriggerDocument)


def firing_shown(row: FiringRow, *, whole: bool = False) -> FiringDocument:
    return msgspec.convert(firing_document(row, whole=whole), FiringDocument)


def backfill_shown(found: Backfilled, *, dry_run: bool) -> BackfillDocument:
    made = [BackfilledSlot(iso(row.slot or 0), show(FIRING, row.id), row.state) for row in found.firings]
    return BackfillDocument(len(found.slots), dry_run, [iso(slot) for slot in found.slots], made)


def event_shown(sent: Sent) -> EventDocument:
    fired = [
        MatchedTrigger(
            show(TRIGGER, row.trigger), show(FIRING, row.id), row.state, None if row.run is None else show(RUN, row.run)
        )
        for row in sent.firings
    ]
    return EventDocument(sent.id, sent.type, len(fired), fired)


_TRIGGER_ID: Final = "trg_01k5c1v6p2f7x8y9z0a1b2c3d4"
_FIRING_ID: Final = "fir_01k5c1x9r4h7x8y9z0a1b2c3d4"
_RUN_ID: Final = "run_01k5c1v6p2f7x8y9z0a1b2c3d4"
TRIGGER_EXAMPLE: Final[dict[str, Any]] = {
    "id": _TRIGGER_ID,
    "workflow_id": "wf_01k5c1s2m4d7x8y9z0a1b2c3d4",
    "workflow": "order-processing",
    "type": "cron",
    "name": "every weekday",
    "enabled": True,
    "owned_by": "api",
    "config": {
        "cron_expression": "0 9 * * 1-5",
        "timezone": "Europe/Zurich",
        "jitter": 0,
        "missed": "last",
        "missed_window": 86400,
        "overlap": "skip",
    },
    "condition": None,
    "note": None,
    "url": None,
    "next_at": "2026-02-23T08:00:00Z",
    "last_fired_at": None,
    "inserted_at": "2026-02-22T10:00:00Z",
    "updated_at": "2026-02-22T10:00:00Z",
}
FIRING_EXAMPLE: Final[dict[str, Any]] = {
    "id": _FIRING_ID,
    "trigger_id": _TRIGGER_ID,
    "type": "webhook",
    "status": "started",
    "scheduled_at": None,
    "received_at": "2026-02-22T10:05:00Z",
    "run_id": _RUN_ID,
    "message": None,
    "replay_of": None,
}
WHOLE_FIRING_EXAMPLE: Final[dict[str, Any]] = {
    **FIRING_EXAMPLE,
    "request": {"method": "POST", "query": {}, "headers": {"content-type": "application/json"}, "body": {"id": 7}},
}
BACKFILL_EXAMPLE: Final[dict[str, Any]] = {
    "matched": 1,
    "dry_run": False,
    "slots": ["2026-02-20T08:00:00Z"],
    "firings": [{"slot": "2026-02-20T08:00:00Z", "firing_id": _FIRING_ID, "status": "due"}],
}
EVENT_EXAMPLE: Final[dict[str, Any]] = {
    "id": "evt_01k5c1x9r4h7x8y9z0a1b2c3d4",
    "type": "order.paid",
    "matched": 1,
    "firings": [{"trigger_id": _TRIGGER_ID, "firing_id": _FIRING_ID, "status": "started", "run_id": _RUN_ID}],
}
STARTED_EXAMPLE: Final[dict[str, Any]] = {
    "status": "started",
    "firing_id": _FIRING_ID,
    "run_id": _RUN_ID,
    "execution_id": _RUN_ID,
    "callbacks": [],
}
IGNORED_EXAMPLE: Final[dict[str, Any]] = {
    "status": "ignored",
    "firing_id": _FIRING_ID,
    "message": "the condition is false",
}
