"""Documents of triggers, their firings, and what events and webhooks start."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json
from detent.documents.runs import CallbackDocument


class TriggerDocument(msgspec.Struct, kw_only=True):
    """A trigger, which starts runs of a workflow.

    Secrets in `config` are shown as `***`; sent back so, they do not change."""

    id: str
    workflow_id: str
    workflow: str
    type: str
    name: str | None
    enabled: bool
    owned_by: str
    config: dict[str, Json]
    condition: str | None
    note: str | None
    url: str | None
    next_at: datetime | None
    last_fired_at: datetime | None
    inserted_at: datetime
    updated_at: datetime


class AppliedTrigger(msgspec.Struct):
    """A trigger that was applied by its name, and whether it was `created`, `changed` or `unchanged`."""

    change: str
    trigger: TriggerDocument


class FiringRequest(msgspec.Struct, kw_only=True):
    """The request of a firing, with its decoded `body`."""

    method: str | None
    query: dict[str, str]
    headers: dict[str, str]
    body: Json


class FiringDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One time a trigger fired, and its result. Lists leave out the request."""

    id: str
    trigger_id: str
    type: str
    status: str
    scheduled_at: datetime | None
    received_at: datetime
    run_id: str | None
    message: str | None
    replay_of: str | None
    request: FiringRequest | None = None


class BackfilledSlot(msgspec.Struct):
    """A slot and the firing that was created for it."""

    slot: datetime
    firing_id: str
    status: str


class BackfillDocument(msgspec.Struct):
    """The slots of a range that had no firing, and the firings created for them. A dry run creates none."""

    matched: int
    dry_run: bool
    slots: list[datetime]
    firings: list[BackfilledSlot]


class MatchedTrigger(msgspec.Struct):
    """A trigger that an event fired."""

    trigger_id: str
    firing_id: str
    status: str
    run_id: str | None


class EventReceipt(msgspec.Struct):
    """An event that was received, and what it fired."""

    id: str
    type: str
    matched: int
    firings: list[MatchedTrigger]


class WebhookDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The result of a request to a webhook.

    `started` with its run; `ignored`, because its condition is false; or `accepted`: it is stored and will be
    processed. `status_url` is where to look for a run whose caller has waited for an answer, and got none in time."""

    status: str
    firing_id: str | None = None
    run_id: str | None = None
    execution_id: str | None = None
    callbacks: list[CallbackDocument] | None = None
    message: str | None = None
    status_url: str | None = None
