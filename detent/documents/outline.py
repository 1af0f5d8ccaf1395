"""Documents of one run in parts: its outline without bodies, its graph, and everything about one step."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json
from detent.documents.journal import EntryDocument
from detent.documents.runs import (
    AttemptDocument,
    ItemCounts,
    PrincipalDocument,
    ReasonDocument,
    RunDocument,
    RunSummary,
    SuspectDocument,
)


class RunHead(RunSummary, kw_only=True, omit_defaults=True):
    """A run without its steps, callbacks, input and output. `principal` is left out for the system."""

    paused_by: str | None = None
    paused_step: str | None = None
    suspect: SuspectDocument | None = None
    principal: PrincipalDocument | None = None
    via: str | None = None
    correlation_id: str | None = None


class TryDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One attempt that has ended, in an outline. `status` is `look` for a success of a repeated step that was not as
    wanted. Only the beginning of the message of its error is here."""

    attempt: int
    started_at: datetime
    finished_at: datetime
    status: str | None = None
    retry_at: datetime | None = None
    error: str | None = None


class StepOutline(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A step of a run without its bodies, or an operation of a durable function. Fields that are null are left out.

    `ready_at` is when nothing before it was left to wait for; it is left out if the step started at once. `tries` is
    empty if the step had one attempt only, which ended with it: its times are those of the step. `more_tries` counts
    older ones that are left out. `guard` is whether its `if` was true; null if it has none or is not decided."""

    name: str
    kind: str
    title: str | None = None
    status: str
    ready_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    duration_ms: float | None = None
    tries: list[TryDocument] = []
    more_tries: int = 0
    attempt: int | None = None
    next_at: datetime | None = None
    until: datetime | None = None
    reason: str | None = None
    child_run_id: str | None = None
    items: ItemCounts | None = None
    error: str | None = None
    guard: bool | None = None


class OutlineDocument(msgspec.Struct, kw_only=True):
    """A run at a glance, as its journal had it after the entry `seq`: why it does not go on, and its steps in the order
    of the definition. `left_out` counts older operations of a long durable function that are not shown."""

    run: RunHead
    why: str
    reasons: list[ReasonDocument]
    seq: int
    begun_at: datetime | None
    now: datetime
    steps: list[StepOutline]
    left_out: int = 0


class GraphStep(msgspec.Struct, kw_only=True):
    """A step of a graph. `label` says shortly what it does. `needs` is how many edges lead to it."""

    name: str
    title: str | None
    kind: str
    label: str
    guard: str | None = msgspec.field(name="if")
    join: str
    needs: int
    for_each: str | None


class GraphEdge(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An edge of a graph. `when` is the ending that satisfies it: `success`, `failure`, `always` (it ran),
    `any`, or several endings with commas; `then` between operations of a durable function.

    In a run `state` is `taken`, `dead` or `open` (not decided), `value` the answer of its condition, and `note` why
    the condition could not be evaluated."""

    source: str
    target: str
    when: str
    condition: str | None
    otherwise: bool
    state: str | None = None
    value: bool | None = None
    note: str | None = None


class GraphDocument(msgspec.Struct, kw_only=True):
    """The steps and edges of a version, in one shape for every form, or those of a run. `version` is `draft` for a
    draft."""

    workflow: str
    version: int | str
    form: str
    steps: list[GraphStep]
    edges: list[GraphEdge]


class CutValue(msgspec.Struct, kw_only=True):
    """What stands for a value that is large: how many bytes its JSON has, and the beginning of that JSON."""

    truncated: bool
    bytes: int
    part: str


class ExpressionValue(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An expression of a step, where it is in its definition, and its value or its error. `value` may be cut."""

    at: str
    source: str
    value: Json | msgspec.UnsetType = msgspec.UNSET
    error: str | None = None


class FrameDocument(msgspec.Struct):
    """A line of a traceback. `user`: the code is neither Python's, nor Detent's, nor that of a package."""

    file: str
    line: int
    name: str
    source: str | None
    user: bool


class StepErrorDocument(msgspec.Struct, kw_only=True):
    """Why a step failed. `frames` is the traceback of an exception, the failing line last."""

    code: str
    message: str
    detail: Json
    frames: list[FrameDocument]


class WaitDocument(msgspec.Struct, kw_only=True):
    """The callback of a wait step. `asked` is when the wait became active. `url` is null once it is closed."""

    url: str | None
    status: str
    until: datetime | None
    asked: datetime | None


class StepDetail(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Everything about one step of a run, after the entry `seq`.

    `template` is its definition, `rendered` the same with every expression resolved, as it was sent (headers with
    credentials and the tokens of callbacks are `***`); it is left out if it could not be rendered. A value whose JSON
    is large is replaced by its size and its beginning, and its field is named in `cut`. `is_truncated`: the response
    was larger than the limit, so only its beginning was stored."""

    run_id: str
    step: str
    title: str | None = None
    kind: str
    status: str
    seq: int
    template: Json = None
    rendered: Json | msgspec.UnsetType = msgspec.UNSET
    expressions: list[ExpressionValue] = []
    output: Json | msgspec.UnsetType = msgspec.UNSET
    cut: list[str] = []
    status_code: int | None = None
    headers: dict[str, Json] | None = None
    query: dict[str, Json] | None = None
    is_truncated: bool = False
    error: StepErrorDocument | None = None
    attempts: list[AttemptDocument] = []
    items: ItemCounts | None = None
    curl: str | None = None
    children: list[str] = []
    wait: WaitDocument | None = None


class ExportDocument(msgspec.Struct, kw_only=True):
    """A whole run: its document, the definition of its version without secrets, and its journal."""

    run: RunDocument
    definition: dict[str, Json]
    journal: list[EntryDocument]


class GridRun(msgspec.Struct, kw_only=True):
    """A run in a grid."""

    id: str
    status: str
    accepted_at: datetime
    version: int


class GridCell(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a step of a run ended: `s` is the first letter of its status (Success, Failed, Timeout, sKipped, Cancelled,
    tEmplate_error), or `r` if it has not ended. `ms` is how long its last attempt took."""

    s: str
    ms: float | None = None
    attempts: int = 1


class GridDocument(msgspec.Struct, kw_only=True):
    """The latest runs of a workflow, newest first, and how each of its steps ended in them.

    `cells` has a row for each step, and in it a cell for each run; null if the journal of the run has no end of it."""

    runs: list[GridRun]
    steps: list[str]
    cells: list[list[GridCell | None]]
