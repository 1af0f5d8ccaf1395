"""Documents over all runs: waits, received requests, nodes, queues, storage, and who asks."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json
from detent.documents.runs import PrincipalDocument, RunSummary
from detent.documents.triggers import FiringDocument


class ButtonDocument(msgspec.Struct, kw_only=True):
    """A button of a wait: pressing it sends `body`."""

    label: str
    body: Json


class DecisionDocument(msgspec.Struct, kw_only=True):
    """The decision of one person about an approval."""

    by: str
    name: str | None
    at: str
    approved: bool
    comment: str | None
    answer: Json


class AskDocument(msgspec.Struct, kw_only=True):
    """What a wait asks, as it was when the wait became active.

    `kind` is `approval` or `webhook`. `form` is the JSON Schema of what people fill in, `schema` that of a body which
    programs send. `digest` is the SHA-256 of what is shown, which the ending of an approval has too. `quorum` different
    people have to approve; `decisions` are those so far. `may_decide`: the caller is among those who may. After
    `escalates_at` those in `escalates_to` may decide too."""

    kind: str
    text: str | None
    data: Json
    form: Json
    schema: Json
    buttons: list[ButtonDocument]
    assignees: list[str]
    quorum: int
    decisions: list[DecisionDocument]
    may_decide: bool
    not_by: str | None
    on_timeout: str
    opened_at: datetime
    reminders: int
    next_reminder_at: datetime | None
    escalates_at: datetime | None
    escalates_to: list[str]
    digest: str


class WaitItem(msgspec.Struct, kw_only=True):
    """An active wait. `until` is its deadline, null if it has none. `question` is what is asked, if the step says so,
    and `ask` has the whole of it; null for a wait that accepts any body.

    `input` is what led to it: the body that the run was started with, or its size and beginning if it is large."""

    run: RunSummary
    step: str
    title: str | None
    question: str | None
    created_at: datetime
    until: datetime | None
    url: str | None
    input: Json
    ask: AskDocument | None = None


class InboxDocument(msgspec.Struct):
    """How many waits are active, counted up to 10,000, and the nearest deadline."""

    count: int
    soonest: datetime | None


class AlertsDocument(msgspec.Struct):
    """How many alerts are open, how many are acknowledged, both counted up to 1,000, and the newest alert."""

    open: int
    acknowledged: int
    newest: str | None


class ReceivedDocument(FiringDocument, kw_only=True, omit_defaults=True):
    """One time that any trigger fired, with the names of its workflow and of the trigger."""

    workflow_id: str
    workflow: str
    trigger_name: str | None = None


class ReceivedPage(msgspec.Struct, kw_only=True):
    """A page of received requests. With a filter, a page may be short or empty although there are more: then
    `searched_until` is how far back it looked, and `next_cursor` goes on from there."""

    data: list[ReceivedDocument]
    next_cursor: str | None = None
    searched_until: datetime | None = None


class NodeDocument(msgspec.Struct, kw_only=True):
    """A registered node. `queues` is null if it serves all. `slots` and `busy` are those of the node that answers,
    null for others: how many attempts it runs at once at most, and now."""

    id: str
    address: str | None
    version: str | None
    started_at: datetime
    lease_until: datetime
    alive: bool
    queues: list[str] | None
    actions: list[str]
    owned: int
    slots: int | None
    busy: int | None


class QueueDocument(msgspec.Struct, kw_only=True):
    """A queue: runs that are due and have no node, since when the oldest of them is due, runs that a node owns, and
    runs that wait. Each number is at most `capped_at`."""

    queue: str
    ready: int
    oldest_at: datetime | None
    owned: int
    sleeping: int
    served: bool
    capped_at: int


class WorkflowStorage(msgspec.Struct, kw_only=True):
    """What the runs of a workflow take: their inputs, outputs and journals, without indexes."""

    workflow_id: str
    workflow: str
    runs: int
    journal_rows: int
    bytes: int


class StorageDocument(msgspec.Struct, kw_only=True):
    """What the database stores, largest workflow first. It is measured at most once an hour, at `measured_at`."""

    database_bytes: int | None
    workflows: list[WorkflowStorage]
    measured_at: datetime


class CallerDocument(msgspec.Struct, kw_only=True):
    """Who asks. `display_name` and `email` are those of a person."""

    name: str
    tenant: str
    display_name: str | None = None
    email: str | None = None


class LimitsDocument(msgspec.Struct, kw_only=True):
    """Limits of requests and answers."""

    input_bytes: int
    definition_bytes: int
    list_limit: int
    topics: int


class MeDocument(msgspec.Struct, kw_only=True):
    """Who asks, what it may do, and what this server is.

    `role` is null for a caller whose scopes are those of no role. `workflows` are the only ones that it may start;
    null means all. `via` says how it was identified: key, token, session, local (a process of this machine) or loose
    (this server checks no callers). `principal` is on whose behalf its runs are started; null is the system.
    `expires_at` is when its key, token or session ends, if it does. `authenticated` is false for loose."""

    caller: CallerDocument
    role: str | None
    scopes: list[str]
    workflows: list[str] | None
    via: str
    principal: PrincipalDocument | None
    expires_at: datetime | None
    authenticated: bool
    server_time: datetime
    version: str
    base_path: str
    limits: LimitsDocument
    features: list[str]
