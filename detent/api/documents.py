"""The documents of the API: their shape for OpenAPI, and the functions that make them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from detent.commands import StartAnswer
from detent.commands.bulk import BulkResult
from detent.commands.runs import Obstacle
from detent.forms.definition import read_definition
from detent.forms.triggers import HIDDEN
from detent.graph import codec
from detent.ids import FIRING, RUN, TRIGGER, WORKFLOW, show
from detent.instant import Instant, iso
from detent.run.status import Status
from detent.store.rows import RunRow, VersionRow, WorkflowRow
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers.commands import Backfilled, Sent
from detent.triggers.view import firing_document, trigger_document
from detent.views.runs import is_yet_to_begin, shown_status

T = TypeVar("T")


class One(msgspec.Struct, Generic[T]):
    """One document."""

    data: T


class Many(msgspec.Struct, Generic[T]):
    """A page of a list; `next_cursor` is null on the last."""

    data: list[T]
    next_cursor: str | None = None


class WorkflowDocument(msgspec.Struct, kw_only=True):
    """A workflow and its current version. Lists leave out the definition."""

    id: str
    name: str
    form: str
    description: str | None
    status: str
    enabled: bool
    current_version: int
    trigger: str
    task_count: int
    labels: dict[str, str]
    inserted_at: str
    updated_at: str
    deleted_at: str | msgspec.UnsetType = msgspec.UNSET
    definition: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class VersionDocument(msgspec.Struct):
    """One version of a workflow, with its definition as it was written."""

    version: int
    current: bool
    checksum: str
    inserted_at: str
    definition: dict[str, Any]


class SavedWorkflow(msgspec.Struct):
    """A workflow as it was saved. `changed` is false if the definition was there already."""

    data: WorkflowDocument
    changed: bool


class StartedDocument(msgspec.Struct, kw_only=True):
    """A run that was accepted. `start_at` is there while it is yet to begin; the last three if its end was waited for,
    and they are null if it has not come."""

    run_id: str
    workflow_id: str
    status: str
    started_at: str | None
    start_at: str | None = None
    finished_at: str | msgspec.UnsetType | None = msgspec.UNSET
    output: Any = msgspec.UNSET
    error: str | msgspec.UnsetType | None = msgspec.UNSET


class ExecutionStarted(msgspec.Struct, kw_only=True):
    """A run that was accepted, and where to look at it. The last three are there if its end was waited for."""

    execution_id: str
    run_id: str
    workflow_id: str
    status: str
    status_url: str
    finished_at: str | msgspec.UnsetType | None = msgspec.UNSET
    output: Any = msgspec.UNSET
    error: str | msgspec.UnsetType | None = msgspec.UNSET


class CallbackDocument(msgspec.Struct):
    """Where a wait step receives its callback. Status: pending, active, consumed or expired."""

    step: str
    url: str
    status: str
    created_at: str
    expires_at: str | None


class HeroDocument(msgspec.Struct):
    """What a run is about."""

    type: str
    id: str


class OriginDocument(msgspec.Struct):
    """The run that a run was made from, by `retry`, `rerun` or `fork`."""

    run_id: str
    kind: str


class RunSummary(msgspec.Struct, kw_only=True):
    """A run in a list. Below `/executions` it has `execution_id` too."""

    id: str
    execution_id: str | msgspec.UnsetType = msgspec.UNSET
    workflow_id: str
    workflow: str
    version: int
    status: str
    trigger: str
    started_at: str | None
    start_at: str | None
    finished_at: str | None
    expires_at: str | None
    error: str | None
    origin: OriginDocument | None
    request_id: str | None
    trigger_id: str | None
    labels: dict[str, str]
    hero: HeroDocument | None


class ActionDocument(msgspec.Struct):
    """One attempt of a step that has ended."""

    step: str
    type: str
    attempt: int
    status: str
    started_at: str
    finished_at: str
    duration_ms: float | None
    error: dict[str, Any] | None
    retry_at: str | None


class RunDocument(RunSummary, kw_only=True):
    """A whole run. `tasks` holds each step by name: status, attempts, times, and its result or error. What follows is
    there if it was asked for with `include`; `more` names the lists that go on."""

    input: dict[str, Any]
    output: Any
    paused_by: str | None
    paused_step: str | None
    callbacks: list[CallbackDocument]
    tasks: dict[str, dict[str, Any]]
    suspect: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    cancel_requested: bool | msgspec.UnsetType = msgspec.UNSET
    pause_requested: bool | msgspec.UnsetType = msgspec.UNSET
    resume_requested: bool | msgspec.UnsetType = msgspec.UNSET
    resolve_requested: bool | msgspec.UnsetType = msgspec.UNSET
    skip_requested: bool | msgspec.UnsetType = msgspec.UNSET
    reattempt_requested: bool | msgspec.UnsetType = msgspec.UNSET
    finish_requested: bool | msgspec.UnsetType = msgspec.UNSET
    actions: list[ActionDocument] | msgspec.UnsetType = msgspec.UNSET
    resources: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    events: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    children: list[RunSummary] | msgspec.UnsetType = msgspec.UNSET
    more: list[str] | msgspec.UnsetType = msgspec.UNSET


class RunTree(RunSummary, kw_only=True):
    """A run, and the runs that it has started."""

    children: list[RunTree]


class HierarchyDocument(msgspec.Struct, kw_only=True):
    """The whole family of a run, from the run that was started first. `complete` is false if it has more members than
    are shown."""

    run_id: str
    execution_id: str | msgspec.UnsetType = msgspec.UNSET
    complete: bool
    root: RunTree


class ReasonDocument(msgspec.Struct):
    """One thing that keeps a run from going on."""

    kind: str
    message: str
    step: str | None
    since: str | None
    until: str | None
    details: dict[str, Any] | None


class WhyDocument(msgspec.Struct, kw_only=True):
    """Why a run does not go on: `summary` in one line, then every reason, what blocks first."""

    run_id: str
    execution_id: str | msgspec.UnsetType = msgspec.UNSET
    status: str
    summary: str
    reasons: list[ReasonDocument]


class RefusedDocument(msgspec.Struct):
    """A run to which it could not be done."""

    run_id: str
    message: str


class BulkDocument(msgspec.Struct):
    """What came of a wish for many runs: how many match, to how many it was done, to which it could not be done, and
    whether there are more."""

    action: str
    matched: int
    dry_run: bool
    done: int
    refused: list[RefusedDocument]
    more: bool


class Received(msgspec.Struct):
    """A callback that was taken: `accepted`, or `buffered` if its wait step is not active yet."""

    status: str
    step: str


class Health(msgspec.Struct):
    """`ok`."""

    status: str


def without_secrets(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition as it may be shown: the secrets that its trigger checks signatures with are not."""
    trigger = definition.get("trigger")
    if not isinstance(trigger, dict):
        return definition
    signature = trigger.get("signature")
    if not isinstance(signature, dict) or "secrets" not in signature:
        return definition
    secrets = signature["secrets"] if isinstance(signature["secrets"], list) else [signature["secrets"]]
    hidden = [HIDDEN if isinstance(secret, str) else secret for secret in secrets]
    return {**definition, "trigger": {**trigger, "signature": {**signature, "secrets": hidden}}}


def workflow_document(row: WorkflowRow, *, whole: bool = True, deleted_at: Instant | None = None) -> WorkflowDocument:
    """The document of a workflow; in lists without its definition."""
    return WorkflowDocument(
        id=show(WORKFLOW, row.id),
        name=row.name,
        form=row.form,
        description=row.description,
        status=row.status,
        enabled=row.enabled,
        current_version=row.version,
        trigger=json.loads(row.trigger).get("type", "api"),
        task_count=len(codec.decode(row.graph).steps),
        labels=json.loads(row.labels) if row.labels else {},
        inserted_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        deleted_at=msgspec.UNSET if deleted_at is None else iso(deleted_at),
        definition=without_secrets(read_definition(row.source)) if whole else msgspec.UNSET,
    )


def version_document(row: VersionRow, current: int) -> VersionDocument:
    return VersionDocument(
        row.version,
        row.version == current,
        row.checksum,
        iso(row.created_at),
        without_secrets(read_definition(row.source)),
    )


def started_document(started: StartAnswer, ended: RunRow | None = None) -> StartedDocument:
    """A run that was accepted; `ended` is the run as it is after its end was waited for."""
    status = started.status if ended is None else ended.status
    is_pending = status == Status.PENDING
    document = StartedDocument(
        run_id=show(RUN, started.run),
        workflow_id=show(WORKFLOW, started.workflow),
        status=status,
        started_at=None if is_pending else iso(started.started_at),
        start_at=iso(started.started_at) if is_pending else None,
    )
    if ended is not None:
        document.finished_at = None if ended.ended_at is None else iso(ended.ended_at)
        document.output = None if ended.output is None else msgspec.Raw(ended.output)
        document.error = ended.error
    return document


def run_summary(row: RunRow) -> RunSummary:
    status, is_pending = shown_status(row), is_yet_to_begin(row)
    return RunSummary(
        id=show(RUN, row.id),
        workflow_id=show(WORKFLOW, row.workflow),
        workflow=row.workflow_name,
        version=row.version,
        status=status,
        trigger=row.trigger,
        started_at=None if is_pending else iso(row.started_at),
        start_at=iso(row.started_at) if is_pending else None,
        finished_at=None if row.ended_at is None else iso(row.ended_at),
        expires_at=None if row.expires_at is None else iso(row.expires_at),
        error=row.error,
        origin=None if row.origin is None else OriginDocument(show(RUN, row.origin), row.origin_kind or ""),
        request_id=row.request_id,
        trigger_id=None if row.fired_by is None else show(TRIGGER, row.fired_by),
        labels=json.loads(row.labels) if row.labels else {},
        hero=None if row.hero_type is None else HeroDocument(row.hero_type, row.hero_id or ""),
    )


def why_document(row: RunRow, status: str, reasons: Sequence[Obstacle]) -> WhyDocument:
    return WhyDocument(
        run_id=show(RUN, row.id),
        status=status,
        summary=reasons[0].message if reasons else f"The run is {status}.",
        reasons=[
            ReasonDocument(
                kind=one.kind,
                message=one.message,
                step=one.step,
                since=None if one.since is None else iso(one.since),
                until=None if one.until is None else iso(one.until),
                details=one.details or None,
            )
            for one in reasons
        ],
    )


def bulk_document(result: BulkResult, *, dry_run: bool) -> BulkDocument:
    refused = [RefusedDocument(show(RUN, run), message) for run, message in result.refused]
    return BulkDocument(str(result.wish), result.matched, dry_run, len(result.done), refused, result.more)


# The documents of triggers, firings and events: their shape for OpenAPI, examples, and what makes them.


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
