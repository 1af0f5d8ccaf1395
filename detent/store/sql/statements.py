"""The statements about runs, their journals and callbacks, settings and nodes that are not hot."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, func, literal_column, select, text

from detent.store.rows import RunFilter
from detent.store.sql.compiling import Among, HasLabel, UnlessThere, Values
from detent.store.sql.schema import callback, journal, kept, lease, node, run, seen, setting, workflow

#: Most runs are in one of these; the others have an index of their own.
USUAL_STATUSES: Final = frozenset({"running", "completed"})

_RUN_COLUMNS: Final = (
    run.c.id, run.c.tenant, run.c.workflow, func.coalesce(workflow.c.name, text("''")), run.c.version, run.c.status,
    run.c.trigger, run.c.input, run.c.opening, run.c.owner, run.c.epoch, run.c.wake_at, run.c.expires_at, run.c.queue,
    run.c.priority, run.c.code, run.c.request_id, run.c.hero_type, run.c.hero_id, run.c.labels, run.c.origin,
    run.c.parent, run.c.started_at, run.c.ended_at, run.c.output, run.c.error, run.c.request_hash, run.c.origin_kind,
    run.c.fired_by, run.c.active_key,
)  # fmt: skip
_RUNS: Final = (
    select(*_RUN_COLUMNS)
    .select_from(run.outerjoin(workflow, workflow.c.id == run.c.workflow))
    .where(run.c.tenant == bindparam("tenant"))
)
RUN: Final = _RUNS.where(run.c.id == bindparam("run"))
OPEN_RUNS_AMONG: Final = select(run.c.id).where(Among(run.c.id, "runs", ids=True), run.c.ended_at.is_(None))
ACTIVE_RUN: Final = select(run.c.id).where(
    run.c.tenant == bindparam("tenant"), run.c.active_key == bindparam("key"), run.c.ended_at.is_(None)
)
KEPT: Final = select(kept.c.step, kept.c.result).where(kept.c.run == bindparam("run"))

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
STORE_SETTING: Final = UnlessThere(text("insert into setting (name, value) values (:name, :value)"), gives="name")

OFFERS: Final = select(node.c.id, node.c.offers, lease.c.until).join_from(node, lease, lease.c.node == node.c.id)
SAW: Final = text(
    """insert into seen (kind, name, at) values (:kind, :name, :now)
       on conflict (kind, name) do update set at = excluded.at"""
)
LAST_SEEN: Final = select(seen.c.at).where(seen.c.kind == bindparam("kind"), seen.c.name == bindparam("name"))

_EQUAL: Final = ("workflow", "trigger", "fired_by", "hero_type", "hero_id", "request_id", "origin", "parent")


def runs(where: RunFilter, *, cursor: bool, oldest_first: bool) -> Select[Any]:
    """Runs of a tenant in the order of their ids, narrowed by what is given."""
    return _runs(_shape(where), cursor, oldest_first)


def count_runs(where: RunFilter) -> Select[Any]:
    """How many there are, up to a limit."""
    return _count_runs(_shape(where))


def filter_values(where: RunFilter) -> Values:
    """The arguments of a filter."""
    values = where.given()
    values.pop("statuses", None)
    values.pop("labels", None)
    values.pop("owned", None)
    values |= {f"status_{place}": str(status) for place, status in enumerate(where.statuses)}
    for place, (key, value) in enumerate(where.labels):
        values |= {f"label_{place}": key, f"label_value_{place}": value}
    return values


class _Shape(NamedTuple):
    """All of a filter that its statement depends on."""

    names: tuple[str, ...]
    statuses: int
    is_troubled: bool
    labels: int
    owned: bool | None


def _shape(where: RunFilter) -> _Shape:
    is_troubled = bool(where.statuses) and USUAL_STATUSES.isdisjoint(where.statuses)
    return _Shape(tuple(where.given()), len(where.statuses), is_troubled, len(where.labels), where.owned)


@lru_cache(maxsize=256)
def _runs(shape: _Shape, cursor: bool, oldest_first: bool) -> Select[Any]:
    query = _RUNS.where(*_conditions(shape))
    if cursor:
        query = query.where(run.c.id > bindparam("cursor") if oldest_first else run.c.id < bindparam("cursor"))
    return query.order_by(run.c.id if oldest_first else run.c.id.desc()).limit(bindparam("limit"))


@lru_cache(maxsize=256)
def _count_runs(shape: _Shape) -> Select[Any]:
    found = select(run.c.id).where(run.c.tenant == bindparam("tenant"), *_conditions(shape))
    return select(func.count()).select_from(found.limit(bindparam("limit")).subquery())


def _conditions(shape: _Shape) -> list[ColumnElement[bool]]:
    names, statuses, is_troubled, labels, owned = shape
    conditions = [run.c[name] == bindparam(name) for name in _EQUAL if name in names]
    if statuses:
        conditions.append(run.c.status.in_([bindparam(f"status_{place}") for place in range(statuses)]))
    if is_troubled:  # said in the words of the index, or it is not used
        conditions.append(run.c.status.not_in([literal_column("'running'"), literal_column("'completed'")]))
    if owned is not None:
        conditions.append(run.c.owner.is_not(None) if owned else run.c.owner.is_(None))
    if "started_after" in names:
        conditions.append(run.c.started_at >= bindparam("started_after"))
    if "started_before" in names:
        conditions.append(run.c.started_at < bindparam("started_before"))
    conditions += [HasLabel(run.c.labels, f"label_{place}", f"label_value_{place}") for place in range(labels)]
    return conditions
