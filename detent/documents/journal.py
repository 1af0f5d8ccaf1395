"""Documents of what happened: entries of a journal, a hero's timeline, and attempts that have ended."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json


class StepFailure(msgspec.Struct):
    """Why an attempt or a step failed."""

    code: str
    message: str
    detail: Json


class PageDocument(msgspec.Struct):
    """The end of a page of a map: its run, and how many of its items succeeded and failed."""

    run_id: str
    succeeded: int
    failed: int


class ProbeDocument(msgspec.Struct):
    """How it is known whether an attempt happened whose node died: the action that was asked, and its answer.

    The answer is `happened`, `did_not_happen` or `unknown`."""

    action: str
    answer: str


class EntryDocument(msgspec.Struct, kw_only=True):
    """One entry of a run's journal, in the order of `seq`. `status` is how an attempt ended.

    `skipped`, `failed`, `answers` (of conditions), `sleep_until` and `wait_until` are the steps about which this entry
    decided. `notes` are errors of conditions that counted as false. `run_status` is set if it ended the run.
    `finished`: this step ended its run. `carried` are the steps that had ended when the run was moved to changed code.
    `version` and `was`: the versions of a move from one version to another; its status is `refused`, with the error, if
    the run was not moved. `child_run_id` is the child that begins. Of a map: `item_count` when it begins, the `pages`
    that begin (the ids of their runs), and the `page` that has ended. `probe`: what the probe of the step said after a
    crash. `note`: what happened at a wait that goes on, a reminder, its escalation, or one decision of several."""

    seq: int
    at: datetime
    kind: str
    step: str | None
    attempt: int | None
    status: str | None
    result: Json
    error: StepFailure | None
    duration_ms: float | None
    retry_at: datetime | None
    by: str | None
    finished: bool
    carried: list[str]
    skipped: list[str]
    failed: dict[str, StepFailure]
    answers: dict[str, bool]
    notes: list[str]
    sleep_until: dict[str, datetime]
    wait_until: dict[str, datetime | None]
    run_status: str | None
    version: int | None = None
    was: int | None = None
    child_run_id: str | None = None
    item_count: int | None = None
    pages: list[str] = []
    page: PageDocument | None = None
    probe: ProbeDocument | None = None
    note: Json = None


class LogLine(msgspec.Struct, kw_only=True):
    """A line that an attempt of a step has logged. `number` counts the lines of the attempt from 1.

    `left_out`: so many lines of the attempt before this one are not stored, because it has logged too much. `facts` are
    the named values that an action gave with its line."""

    at: datetime
    step: str
    attempt: int
    number: int
    level: str
    logger: str
    message: str
    facts: dict[str, Json] | None = None
    left_out: int = 0


class StepProgress(msgspec.Struct, kw_only=True):
    """How far an attempt in flight is, as its code has reported: from 0 to 1, with a few words."""

    step: str
    attempt: int
    fraction: float
    text: str
    at: datetime


class LogAnswer(msgspec.Struct, kw_only=True):
    """A page of a log, and how far the attempts in flight are."""

    data: list[LogLine]
    next_cursor: str | None
    progress: list[StepProgress] = []


class TimelineEntry(EntryDocument, kw_only=True):
    """An entry of the journal of one of a hero's runs.

    With `seq` 0 and the kind `run_started` it is the start of the run."""

    run_id: str
    workflow: str


class PastAttemptDocument(msgspec.Struct, kw_only=True):
    """One attempt of a run that has ended.

    `state` is completed, failed, skipped or cancelled, and the instant of the same name is set. `outcome` is success,
    reattempted, skipped, cancelled or failed. `started_at` is null if it never began."""

    step: str
    attempt: int
    state: str
    outcome: str
    scheduled_for: datetime
    started_at: datetime | None
    completed_at: datetime | None
    failed_at: datetime | None
    skipped_at: datetime | None
    cancelled_at: datetime | None
    error_message: str | None
    error_traceback: str | None
