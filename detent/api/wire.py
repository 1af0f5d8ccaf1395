"""The documents of the API: their shape for OpenAPI, and the functions that make them."""

from __future__ import annotations

import json
from typing import Any, Generic, TypeVar

import msgspec

from detent.authoring.documents import read_definition
from detent.engine.commands import Start
from detent.graph import codec
from detent.ids import RUN, WORKFLOW, show
from detent.instant import iso
from detent.run.status import Status
from detent.store.rows import RunRow, WorkflowRow

T = TypeVar("T")


class One(msgspec.Struct, Generic[T]):
    """One document."""

    data: T


class Many(msgspec.Struct, Generic[T]):
    """A page of a list; `next_cursor` is null on the last."""

    data: list[T]
    next_cursor: str | None = None


class WorkflowDocument(msgspec.Struct):
    """A workflow and its current version."""

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
    definition: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class SavedWorkflow(msgspec.Struct):
    """A workflow as it was saved. `changed` is false if the definition was there already."""

    data: WorkflowDocument
    changed: bool


class StartedDocument(msgspec.Struct):
    """A run that was accepted."""

    run_id: str
    workflow_id: str
    status: str
    started_at: str | None
    start_at: str | None = None


class CallbackDocument(msgspec.Struct):
    """Where a wait step receives its callback. Status: pending, active, consumed or expired."""

    step: str
    url: str
    status: str
    created_at: str
    expires_at: str | None


class RunSummary(msgspec.Struct):
    """A run in a list."""

    id: str
    workflow_id: str
    workflow: str
    version: int
    status: str
    trigger: str
    started_at: str | None
    finished_at: str | None
    expires_at: str | None
    error: str | None
    labels: dict[str, str]


class RunDocument(RunSummary):
    """A whole run. `tasks` holds each step by name: status, attempts, times, and its result or error."""

    input: dict[str, Any]
    output: Any
    paused_by: str | None
    origin: dict[str, Any] | None
    request_id: str | None
    trigger_id: str | None
    start_at: str | None
    hero: dict[str, Any] | None
    callbacks: list[CallbackDocument]
    tasks: dict[str, dict[str, Any]]
    cancel_requested: bool | msgspec.UnsetType = msgspec.UNSET
    pause_requested: bool | msgspec.UnsetType = msgspec.UNSET
    resume_requested: bool | msgspec.UnsetType = msgspec.UNSET


class Received(msgspec.Struct):
    """A callback that was taken: `accepted`, or `buffered` if its wait step is not active yet."""

    status: str
    step: str


class Health(msgspec.Struct):
    """`ok`."""

    status: str


def workflow_document(row: WorkflowRow, *, whole: bool = True) -> WorkflowDocument:
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
        definition=read_definition(row.source) if whole else msgspec.UNSET,
    )


def started_document(started: Start) -> StartedDocument:
    is_pending = started.status == Status.PENDING
    return StartedDocument(
        run_id=show(RUN, started.run),
        workflow_id=show(WORKFLOW, started.workflow),
        status=started.status,
        started_at=None if is_pending else iso(started.started_at),
        start_at=iso(started.started_at) if is_pending else None,
    )


def run_summary(row: RunRow) -> RunSummary:
    return RunSummary(
        id=show(RUN, row.id),
        workflow_id=show(WORKFLOW, row.workflow),
        workflow=row.workflow_name,
        version=row.version,
        status=row.status,
        trigger=row.trigger,
        started_at=iso(row.started_at),
        finished_at=None if row.ended_at is None else iso(row.ended_at),
        expires_at=None if row.expires_at is None else iso(row.expires_at),
        error=row.error,
        labels=json.loads(row.labels) if row.labels else {},
    )
