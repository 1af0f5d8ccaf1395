"""What Detent answers with, as typed objects. Fields that a newer Detent adds are not in the way.

Instants are `datetime` with a time zone. `Json` is any JSON value.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import msgspec

Json = Any

ENDED: Final = frozenset({"completed", "failed", "cancelled", "timeout"})


class Workflow(msgspec.Struct, kw_only=True):
    """A workflow and its current version. Lists leave out the definition. `etag` names this state of it."""

    id: str
    name: str
    form: str = "steps"
    description: str | None = None
    status: str = "active"
    enabled: bool = True
    current_version: int = 1
    trigger: str = "api"
    step_count: int = msgspec.field(name="task_count", default=0)
    labels: dict[str, str] = {}
    definition: dict[str, Json] | None = None
    inserted_at: datetime | None = None
    updated_at: datetime | None = None
    deleted_at: datetime | None = None
    etag: str | None = None


class SavedWorkflow(msgspec.Struct, kw_only=True):
    """A workflow as it was saved. `changed` is false if exactly that definition was there already."""

    workflow: Workflow
    created: bool
    changed: bool


class Started(msgspec.Struct, kw_only=True):
    """A run that was accepted; if the start waited for it, with its end."""

    run_id: str
    workflow_id: str
    status: str
    started_at: datetime | None = None
    start_at: datetime | None = None
    finished_at: datetime | None = None
    output: Json = None
    error: str | None = None


class Origin(msgspec.Struct, kw_only=True):
    """The run that a run was made from: by `retry`, `rerun` or `fork`."""

    run_id: str
    kind: str
    step: str | None = None


class Hero(msgspec.Struct):
    """What a run is about."""

    type: str
    id: str


class StepError(msgspec.Struct):
    """Why an attempt or a step failed."""

    code: str
    message: str
    detail: Json = None


class Attempt(msgspec.Struct, kw_only=True):
    """One attempt of a step that has ended."""

    attempt: int
    status: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    duration_ms: float | None = None
    error: StepError | None = None
    retry_at: datetime | None = None


class StepDocument(msgspec.Struct, kw_only=True):
    """A step of a run. HTTP and wait steps have `status_code`, `headers` and `body`, others `output`; `state` is what a
    step of a workflow class handed on."""

    status: str
    type: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    duration_ms: float | None = None
    attempts: list[Attempt] = []
    attempt: int | None = None
    next_at: datetime | None = None
    until: datetime | None = None
    reason: str | None = None
    status_code: int | None = None
    headers: dict[str, Json] | None = None
    body: Json = None
    is_truncated: bool = False
    output: Json = None
    state: Json = None
    error: StepError | None = None


class Callback(msgspec.Struct, kw_only=True):
    """Where a wait step receives its callback. Status: pending, active, consumed or expired."""

    step: str
    url: str
    status: str
    created_at: datetime | None = None
    expires_at: datetime | None = None


class RunSummary(msgspec.Struct, kw_only=True):
    """A run in a list."""

    id: str
    workflow_id: str
    workflow: str
    version: int
    status: str
    trigger: str = "api"
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    error: str | None = None
    labels: dict[str, str] = {}
    hero: Hero | None = None
    origin: Origin | None = None
    request_id: str | None = None
    trigger_id: str | None = None
    start_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ENDED


class RunDocument(RunSummary, kw_only=True):
    """A whole run, with its steps by name."""

    input: dict[str, Json] = {}
    output: Json = None
    paused_by: str | None = None
    paused_step: str | None = None
    callbacks: list[Callback] = []
    steps: dict[str, StepDocument] = msgspec.field(name="tasks", default_factory=dict)
    suspect: dict[str, Json] | None = None
    cancel_requested: bool = False
    pause_requested: bool = False
    resume_requested: bool = False
    skip_requested: bool = False
    reattempt_requested: bool = False
    finish_requested: bool = False


class Received(msgspec.Struct):
    """A callback that was taken: `accepted`, or `buffered` if its wait step is not active yet."""

    status: str
    step: str = ""


class SentSignal(msgspec.Struct):
    """A signal that was taken."""

    run_id: str
    signal: str
    accepted: bool = True


class Health(msgspec.Struct):
    """`ok`."""

    status: str


class Entry(msgspec.Struct, kw_only=True):
    """One entry of a run's journal: what happened, in the order of `seq`.

    `status` is how an attempt ended, `run_status` how the run did, if this entry ended it. `skipped`, `failed`,
    `sleep_until` and `wait_until` name the steps of which that was decided because of this entry."""

    seq: int
    kind: str
    at: datetime | None = None
    step: str | None = None
    attempt: int | None = None
    status: str | None = None
    result: Json = None
    error: StepError | None = None
    duration_ms: float | None = None
    retry_at: datetime | None = None
    by: str | None = None
    finished: bool = False
    carried: list[str] = []
    skipped: list[str] = []
    failed: dict[str, StepError | None] = {}
    sleep_until: dict[str, datetime | None] = {}
    wait_until: dict[str, datetime | None] = {}
    run_status: str | None = None


class Happening(Entry, kw_only=True):
    """An entry of the journal of one of a hero's runs; or with `seq` 0 and the kind `run_started`, that it began."""

    run_id: str
    workflow: str = ""


class PastAttempt(msgspec.Struct, kw_only=True):
    """One attempt of a run that is over. `state` is completed, failed, skipped or cancelled, and the instant of the
    same name is there; `outcome` is success, reattempted, skipped, cancelled or failed."""

    step: str
    attempt: int
    state: str
    outcome: str
    scheduled_for: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    failed_at: datetime | None = None
    skipped_at: datetime | None = None
    cancelled_at: datetime | None = None
    error_message: str | None = None
    error_traceback: str | None = None


class Reason(msgspec.Struct, kw_only=True):
    """One thing that keeps a run from going on."""

    kind: str
    message: str
    step: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    details: dict[str, Json] | None = None


class Why(msgspec.Struct, kw_only=True):
    """Why a run does not go on: `summary` in one line, then every reason, what blocks first."""

    run_id: str
    status: str
    summary: str = ""
    reasons: list[Reason] = []


class Refused(msgspec.Struct):
    """A run that a bulk action could not do anything to."""

    run_id: str
    message: str


class Bulk(msgspec.Struct, kw_only=True):
    """What a bulk action did. `more` is true if there are runs beyond its limit."""

    action: str
    matched: int
    dry_run: bool
    done: int = 0
    refused: list[Refused] = []
    more: bool = False


class Trigger(msgspec.Struct, kw_only=True):
    """What starts runs of a workflow. Secrets in `config` read `***`."""

    id: str
    workflow_id: str
    workflow: str
    type: str
    name: str | None = None
    enabled: bool = True
    owned_by: str = "api"
    config: dict[str, Json] = {}
    condition: str | None = None
    note: str | None = None
    url: str | None = None
    next_at: datetime | None = None
    last_fired_at: datetime | None = None
    inserted_at: datetime | None = None
    updated_at: datetime | None = None


class FiringRequest(msgspec.Struct, kw_only=True):
    """The request that a webhook trigger received."""

    method: str | None = None
    query: dict[str, Json] = {}
    headers: dict[str, Json] = {}
    body: Json = None


class Firing(msgspec.Struct, kw_only=True):
    """One time a trigger fired, and what became of it."""

    id: str
    trigger_id: str
    type: str
    status: str
    scheduled_at: datetime | None = None
    received_at: datetime | None = None
    run_id: str | None = None
    message: str | None = None
    replay_of: str | None = None
    request: FiringRequest | None = None


class Matched(msgspec.Struct, kw_only=True):
    """A trigger that an event fired."""

    trigger_id: str
    firing_id: str
    status: str
    run_id: str | None = None


class SentEvent(msgspec.Struct, kw_only=True):
    """An event that was taken, and the triggers that it fired."""

    id: str
    type: str
    matched: int = 0
    firings: list[Matched] = []


class FilledSlot(msgspec.Struct):
    """A slot and the firing that was made for it."""

    slot: datetime
    firing_id: str
    status: str


class Backfill(msgspec.Struct, kw_only=True):
    """The slots of a range that had no firing, and the firings made for them (none in a dry run)."""

    matched: int = 0
    dry_run: bool = True
    slots: list[datetime] = []
    firings: list[FilledSlot] = []
