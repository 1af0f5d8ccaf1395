"""Documents of runs: in lists, complete, as started, and why they are blocked."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from detent.documents.answers import Json
from detent.documents.journal import EntryDocument, ProbeDocument, StepFailure, StepProgress

ENDED: Final = frozenset({"completed", "failed", "cancelled", "timeout"})


class StartedDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A run that was accepted. `start_at` is null once it has begun.

    The last three fields are in the JSON if the start waited for the end of the run. They are null if the run has not
    ended."""

    run_id: str
    workflow_id: str
    status: str
    started_at: datetime | None
    start_at: datetime | None
    finished_at: datetime | None = None
    output: Json = None
    error: str | None = None


class ExecutionStarted(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A run that was accepted, and the address of its document.

    The last three fields are in the JSON if the start waited for the end of the run."""

    execution_id: str
    run_id: str
    workflow_id: str
    status: str
    status_url: str
    finished_at: datetime | None = None
    output: Json = None
    error: str | None = None


class CallbackDocument(msgspec.Struct):
    """The address at which a wait step receives its callback. Status: pending, active, consumed or expired."""

    step: str
    url: str
    status: str
    created_at: datetime
    expires_at: datetime | None


class CallbackReceipt(msgspec.Struct):
    """A callback that was received: `accepted`, or `buffered` if its wait step is not active yet."""

    status: str
    step: str


class SignalReceipt(msgspec.Struct, kw_only=True):
    """A signal that was accepted: it is durable, and the run's function receives it when it asks for it."""

    run_id: str
    signal: str
    accepted: bool


class HeroDocument(msgspec.Struct):
    """The business object that a run is about."""

    type: str
    id: str


class OriginDocument(msgspec.Struct):
    """The run from which a run was made, by `retry`, `rerun` or `fork`."""

    run_id: str
    kind: str


class ParentDocument(msgspec.Struct):
    """The run that started a run, and the step or operation of it that did."""

    run_id: str
    step: str | None


class AttemptDocument(msgspec.Struct, kw_only=True):
    """One attempt of a step that has ended. If its node died, `probe` says how its outcome is known."""

    attempt: int
    status: str | None
    started_at: datetime
    finished_at: datetime
    duration_ms: float | None
    error: StepFailure | None
    retry_at: datetime | None
    probe: ProbeDocument | None = None


class ActionDocument(AttemptDocument, kw_only=True):
    """One attempt of a step that has ended, with the name of the step."""

    step: str
    type: str


class ResourceDocument(msgspec.Struct, kw_only=True):
    """A resource of another system that belongs to a run. `step` has linked it."""

    system: str
    type: str
    id: str
    url: str | None
    run_id: str
    step: str
    linked_at: datetime


class ItemCounts(msgspec.Struct, kw_only=True):
    """How many items a map has, how many of them have succeeded and failed, and in how many pages they are."""

    count: int
    succeeded: int
    failed: int
    pages: int


class ItemDocument(msgspec.Struct, kw_only=True):
    """One item of a map. `run_id` is the page that has it, null if that page has not begun.

    `attempts` counts those that have ended. `result` has what the result of a step of its kind has. `child_run_id` is
    the run that its last attempt started, if the map starts runs."""

    index: int
    status: str
    attempts: int
    error: StepFailure | None
    result: Json
    run_id: str | None
    child_run_id: str | None


class StepDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A step of a run, or an operation of its durable function.

    HTTP and wait steps have `status_code`, `headers` and `body`; approvals and all others have `output`. `state` is
    what a step of a workflow class passed on. `child_run_id` is the child run of the last attempt. While an operation
    of a durable function waits for its child, `run_id` names it too. `items` counts the items of a map. `progress` is
    how far an attempt in flight is, if it has reported that."""

    status: str
    type: str
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: float | None
    attempts: list[AttemptDocument]
    attempt: int | None = None
    next_at: datetime | None = None
    until: datetime | None = None
    reason: str | None = None
    run_id: str | None = None
    child_run_id: str | None = None
    items: ItemCounts | None = None
    status_code: int | None = None
    headers: dict[str, Json] | None = None
    body: Json = None
    is_truncated: bool | None = None
    query: dict[str, Json] | None = None
    encoding: str | None = None
    output: Json = None
    state: Json = None
    progress: StepProgress | None = None
    error: StepFailure | None


class StageDocument(msgspec.Struct):
    """What an open run does or waits for.

    `kind`: `queued` (no node works on it yet), `running`, `waiting` (for a callback or a signal), `person` (for an
    answer), `child`, `sleeping`, `retrying`, `delayed` (it starts later), `paused` or `uncertain`. `step` is the step
    that waits, `until` the time at which the run goes on at the latest. `since` is the time from which on a queued run
    waits for a node, null for the other kinds."""

    kind: str
    step: str | None
    until: datetime | None
    since: datetime | None = None


class ProgressDocument(msgspec.Struct):
    """How many steps of a run have ended, of how many, and how many of these failed.

    While a run is open, skipped steps are not counted. `total` is null for a durable function."""

    done: int
    total: int | None
    failed: int


class RunSummary(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A run in a list. Below `/executions` it also has `execution_id`. Only a child run has a `parent`.

    `stage` is null once the run has ended, `duration_ms` (from start to end) is null until then. `node` is the node
    that works on it. `progress` is in the JSON if `include` names it."""

    id: str
    execution_id: str | None = None
    workflow_id: str
    workflow: str
    version: int
    status: str
    trigger: str
    started_at: datetime | None
    start_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime | None
    error: str | None
    origin: OriginDocument | None
    parent: ParentDocument | None = None
    request_id: str | None
    trigger_id: str | None
    labels: dict[str, str]
    hero: HeroDocument | None
    stage: StageDocument | None
    duration_ms: float | None
    node: str | None
    progress: ProgressDocument | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the run has ended."""
        return self.status in ENDED


class SuspectDocument(msgspec.Struct, kw_only=True):
    """Why a run is suspect: how often it lost its node without progress, and the strikes against its steps.

    `in_flight` are the suspect steps that are running, `waiting` those that wait until `next_at`."""

    adoptions: int
    strikes: dict[str, int]
    in_flight: list[str]
    waiting: list[str]
    next_at: datetime | None


class ContextOutput(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The output of a step as later steps can read it: its size, its type, and its value if the workflow shows it.

    `dropped`: the results of the run became too large together, so no step can read it any more."""

    bytes: int
    type: str
    dropped: bool = False
    value: Json | msgspec.UnsetType = msgspec.UNSET


class ContextDocument(msgspec.Struct, kw_only=True):
    """The outputs of a run by step. `bytes` is the size of the results that steps can still read, `max_bytes` its
    limit."""

    mode: str
    bytes: int
    max_bytes: int | None
    outputs: dict[str, ContextOutput]


class PrincipalDocument(msgspec.Struct):
    """The person or system for which a run was started."""

    user_id: str
    display_name: str | None
    email: str | None


class RunDocument(RunSummary, kw_only=True, omit_defaults=True):
    """A complete run. `tasks` has each step by name: status, attempts, times, and its result or error.

    `queued_ms` is the time from its acceptance to its first attempt, null before that. A field such as
    `cancel_requested` is in the answer to that request. The last lists and the context are in the JSON
    if `include` names them; `more` names the lists that are not complete.

    `via` is the caller that started it for another principal. `correlation_id` is that of its start."""

    input: dict[str, Json]
    output: Json
    principal: PrincipalDocument
    via: str | None
    correlation_id: str | None
    queued_ms: float | None
    paused_by: str | None
    paused_step: str | None
    callbacks: list[CallbackDocument]
    steps: dict[str, StepDocument] = msgspec.field(name="tasks")
    cancel_requested: bool | None = None
    pause_requested: bool | None = None
    resume_requested: bool | None = None
    resolve_requested: bool | None = None
    skip_requested: bool | None = None
    reattempt_requested: bool | None = None
    finish_requested: bool | None = None
    suspect: SuspectDocument | None = None
    actions: list[ActionDocument] | None = None
    resources: list[ResourceDocument] | None = None
    events: list[EntryDocument] | None = None
    children: list[RunSummary] | None = None
    context: ContextDocument | None = None
    more: list[str] | None = None


class VerifyDocument(msgspec.Struct, kw_only=True):
    """Whether an ended run is as it was when it was sealed: `valid`, `not_sealed` or `changed`.

    A change is between the entries `first` and `last` of the journal, null if that is not known."""

    run_id: str
    status: str
    entries: int
    reason: str | None
    first: int | None
    last: int | None


class RunTree(RunSummary, kw_only=True, omit_defaults=True):
    """A run, and the runs that it started. `more`: it has started further runs, which are not shown.

    `maps` has the runs that its maps started. Such a run was started for the item with the index `item`."""

    item: int | None = None
    children: list[RunTree]
    maps: list[MapTree] = []
    more: bool = False


class MapTree(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A map that starts a run for each item of its list. `more`: it has started further runs, which are not shown."""

    step: str
    items: ItemCounts
    children: list[RunTree]
    more: bool = False


class HierarchyDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The whole family of a run, from the run that was started first.

    `complete` is false if members may be missing. A run with `more` has children that are not shown."""

    run_id: str
    execution_id: str | None = None
    complete: bool
    root: RunTree


class ReasonDocument(msgspec.Struct):
    """One reason why a run does not continue."""

    kind: str
    message: str
    step: str | None
    since: datetime | None
    until: datetime | None
    details: dict[str, Json] | None


class WhyDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Why a run does not continue: `summary` in one line, then every reason, blocking ones first."""

    run_id: str
    execution_id: str | None = None
    status: str
    summary: str
    reasons: list[ReasonDocument]


class ExpressionProblem(msgspec.Struct):
    """What is wrong with an expression.

    `kind` is `syntax` (it cannot be parsed), `reference` (it reads what it may not read) or `evaluation` (it does not
    fit the data). `position` counts characters from 0; `at` is the path inside of a template."""

    kind: str
    message: str
    position: int | None
    at: list[str | int]


class EvaluationDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The value of an expression on the data of a run, or its `error`. `language` is the revision that it needs."""

    run_id: str
    execution_id: str | None = None
    step: str | None
    language: int | None
    value: Json
    error: ExpressionProblem | None


class RefusedDocument(msgspec.Struct):
    """A run to which a bulk action could not be applied."""

    run_id: str
    message: str


class MoveReasonDocument(msgspec.Struct):
    """Why a run cannot be moved to another version: the step, null for the whole run, and the words."""

    step: str | None
    message: str


class MoveDocument(msgspec.Struct, kw_only=True):
    """The move of a run from version `was` to another version.

    `begins` has the steps that begin at once because of it. In a dry run `movable` says whether it could be moved, and
    `reasons` why not. `requested` is true if the node of the run has not applied it yet."""

    run_id: str
    was: int
    version: int
    dry_run: bool
    movable: bool
    begins: list[str]
    reasons: list[MoveReasonDocument]
    requested: bool


class MoveGroupDocument(msgspec.Struct, kw_only=True):
    """Runs that can be moved alike, or that cannot be moved for the same reasons.

    `at` has the steps that they are at, and `examples` some of their ids."""

    runs: int
    was: int
    at: list[str]
    movable: bool
    begins: list[str]
    reasons: list[MoveReasonDocument]
    examples: list[str]


class MovesDocument(msgspec.Struct, kw_only=True):
    """Moves of many runs to one version: how many match (counted up to 10,000), how many can be moved, and to how many
    the move was sent. `more` is true if there are more runs beyond the limit."""

    version: int
    dry_run: bool
    matched: int
    movable: int
    sent: int
    groups: list[MoveGroupDocument]
    more: bool


class RetryPreviewDocument(msgspec.Struct):
    """What a retry of a run would do: the version it would start, the steps whose results are kept, and the steps that
    run again or are decided again."""

    run_id: str
    version: int
    kept: list[str]
    again: list[str]


class BulkDocument(msgspec.Struct):
    """The result of a bulk action: how many runs match, to how many it was applied, and which refused it.

    `more` is true if there are more runs beyond its limit. A dry run of a retry has `previews` of the oldest 100
    runs."""

    action: str
    matched: int
    dry_run: bool
    done: int
    refused: list[RefusedDocument]
    more: bool
    previews: list[RetryPreviewDocument] = []


class BlobDocument(msgspec.Struct, kw_only=True):
    """A large payload: its number of bytes, its media type, its SHA-256, where its bytes are, and its address."""

    id: str
    size: int
    type: str
    sha256: str
    place: str
    created_at: datetime
    url: str
