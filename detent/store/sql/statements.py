"""The statements that are not hot, written once with SQLAlchemy Core and compiled once per dialect to plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import ClauseElement, Dialect, Select, bindparam, func, insert, select, text, update
from sqlalchemy.sql.compiler import SQLCompiler

from detent.store.sql.schema import callback, journal, run, setting, workflow, workflow_version

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Statement:
    """Text for one dialect, and the names of its arguments in their order."""

    text: str
    names: tuple[str, ...]
    fixed: Values

    def arguments(self, values: Values) -> list[Any]:
        return [values[name] if name in values else self.fixed[name] for name in self.names]


@cache
def compiled(clause: ClauseElement, dialect: Dialect) -> Statement:
    """The statement as text of that dialect. `clause` must be one that lives as long as the program."""
    made = clause.compile(dialect=dialect)
    assert isinstance(made, SQLCompiler)
    return Statement(str(made), tuple(made.positiontup or ()), dict(made.params))


_RUN_COLUMNS: Final = (
    run.c.id, run.c.tenant, run.c.workflow, func.coalesce(workflow.c.name, text("''")), run.c.version, run.c.status,
    run.c.trigger, run.c.input, run.c.opening, run.c.owner, run.c.epoch, run.c.wake_at, run.c.expires_at, run.c.queue,
    run.c.priority, run.c.code, run.c.request_id, run.c.hero_type, run.c.hero_id, run.c.labels, run.c.origin,
    run.c.parent, run.c.started_at, run.c.ended_at, run.c.output, run.c.error,
)  # fmt: skip
_RUNS: Final = (
    select(*_RUN_COLUMNS)
    .select_from(run.outerjoin(workflow, workflow.c.id == run.c.workflow))
    .where(run.c.tenant == bindparam("tenant"))
)
RUN: Final = _RUNS.where(run.c.id == bindparam("run"))

_WORKFLOWS: Final = (
    select(
        workflow.c.id, workflow.c.tenant, workflow.c.name, workflow.c.form, workflow.c.description, workflow.c.status,
        workflow.c.enabled, workflow.c.version, workflow.c.trigger, workflow.c.labels, workflow.c.created_at,
        workflow.c.updated_at, workflow_version.c.source, workflow_version.c.graph,
    )
    .join_from(
        workflow,
        workflow_version,
        (workflow_version.c.workflow == workflow.c.id) & (workflow_version.c.version == workflow.c.version),
    )
    .where(workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None))
)  # fmt: skip
WORKFLOW_BY_ID: Final = _WORKFLOWS.where(workflow.c.id == bindparam("key"))
WORKFLOW_BY_NAME: Final = _WORKFLOWS.where(workflow.c.name == bindparam("key"))
WORKFLOWS: Final = (
    _WORKFLOWS.where(workflow.c.name > bindparam("after")).order_by(workflow.c.name).limit(bindparam("limit"))
)

ENTRIES: Final = (
    journal.c.tenant, journal.c.run, journal.c.seq, journal.c.at, journal.c.kind, journal.c.step, journal.c.attempt,
    journal.c.outcome, journal.c.data,
)  # fmt: skip
JOURNAL: Final = (
    select(*ENTRIES)
    .where(journal.c.run == bindparam("run"), journal.c.seq > bindparam("after"))
    .order_by(journal.c.seq)
    .limit(bindparam("limit"))
)
CALLBACKS: Final = (
    select(callback.c.step, callback.c.state, callback.c.created_at, callback.c.until)
    .where(callback.c.run == bindparam("run"))
    .order_by(callback.c.created_at, callback.c.step)
)
CALLBACK: Final = select(
    callback.c.state, callback.c.early, callback.c.until, callback.c.message_id, callback.c.answer
).where(callback.c.run == bindparam("run"), callback.c.step == bindparam("step"))

OWNED: Final = select(run.c.id, run.c.epoch).where(run.c.owner == bindparam("node"), run.c.ended_at.is_(None))

SETTING: Final = select(setting.c.value).where(setting.c.name == bindparam("name"))
STORE_SETTING: Final = text("insert into setting (name, value) values (:name, :value) on conflict do nothing")

CURRENT_VERSION: Final = select(workflow.c.id, workflow.c.version, workflow_version.c.checksum).join_from(
    workflow,
    workflow_version,
    (workflow_version.c.workflow == workflow.c.id) & (workflow_version.c.version == workflow.c.version),
).where(
    workflow.c.tenant == bindparam("tenant"), workflow.c.name == bindparam("name"), workflow.c.deleted_at.is_(None)
)  # fmt: skip
# Whoever saves the same name at the same time is found by its unique index: then nothing is returned.
NEW_WORKFLOW: Final = text(
    """insert into workflow (id, tenant, name, form, description, status, enabled, version, "trigger", labels,
                             created_at, updated_at)
       values (:id, :tenant, :name, :form, :description, 'active', :enabled, 1, :trigger, :labels, :now, :now)
       on conflict do nothing returning id"""
)
CHANGED_WORKFLOW: Final = (
    update(workflow)
    .where(workflow.c.id == bindparam("id"), workflow.c.version == bindparam("seen"), workflow.c.deleted_at.is_(None))
    .values(
        {
            workflow.c.version: bindparam("next"),
            workflow.c.form: bindparam("form"),
            workflow.c.description: bindparam("description"),
            workflow.c.enabled: bindparam("enabled"),
            workflow.c.trigger: bindparam("trigger"),
            workflow.c.labels: bindparam("labels"),
            workflow.c.updated_at: bindparam("now"),
        }
    )
    .returning(workflow.c.id)
)
NEW_VERSION: Final = insert(workflow_version).values(
    {
        workflow_version.c.workflow: bindparam("id"),
        workflow_version.c.version: bindparam("next"),
        workflow_version.c.tenant: bindparam("tenant"),
        workflow_version.c.source: bindparam("source"),
        workflow_version.c.graph: bindparam("graph"),
        workflow_version.c.checksum: bindparam("checksum"),
        workflow_version.c.language: bindparam("language"),
        workflow_version.c.created_at: bindparam("now"),
    }
)


@cache
def runs(*, workflow: bool, status: bool, before: bool) -> Select[Any]:
    """The newest runs of a tenant, narrowed by what is given."""
    query = _RUNS
    if workflow:
        query = query.where(run.c.workflow == bindparam("workflow"))
    if status:
        query = query.where(run.c.status == bindparam("status"))
    if before:
        query = query.where(run.c.id < bindparam("before"))
    return query.order_by(run.c.id.desc()).limit(bindparam("limit"))
