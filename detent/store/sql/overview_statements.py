"""The statements of overviews: each is bounded, however many runs there are."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Select,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from detent.store.sql.compiler import InList, NameOrEmpty, Unindexed
from detent.store.sql.schema import callback, firing, journal, run, trigger, workflow

# Waits. Databases sort `null` differently, so waits without a time limit are a list of their own.

_ACTIVE: Final = callback.c.state == literal_column("'active'")


@lru_cache(maxsize=16)
def waits(*, timed: bool, after: bool, workflow: bool, hero: bool) -> Select[Any]:
    """Return the active waits of a tenant with a deadline, or those without one; the nearest deadline first."""
    columns = ("run", "step", "created_at", "until", "ask", "decisions")
    query = select(*(callback.c[name] for name in columns)).where(callback.c.tenant == bindparam("tenant"), _ACTIVE)
    query = query.where(callback.c.until.is_not(None) if timed else callback.c.until.is_(None))
    if after:
        place = _behind()
        if timed:
            query = query.where(callback.c.until >= bindparam("until"))
            place = or_(callback.c.until > bindparam("until"), place)
        query = query.where(place)
    if workflow or hero:
        query = query.join_from(callback, run, run.c.id == callback.c.run)
    if workflow:
        query = query.where(run.c.workflow == bindparam("workflow"))
    if hero:
        query = query.where(run.c.hero_type == bindparam("hero_type"), run.c.hero_id == bindparam("hero_id"))
    order = (callback.c.until, callback.c.run, callback.c.step) if timed else (callback.c.run, callback.c.step)
    return query.order_by(*order).limit(bindparam("limit"))


def _behind() -> ColumnElement[bool]:
    behind = and_(callback.c.run == bindparam("run"), callback.c.step > bindparam("step"))
    return or_(callback.c.run > bindparam("run"), behind)


COUNT_WAITS: Final = select(func.count()).select_from(
    select(callback.c.run).where(callback.c.tenant == bindparam("tenant"), _ACTIVE).limit(bindparam("limit")).subquery()
)

DEADLINES: Final = select(callback.c.run, callback.c.step, callback.c.until).where(
    Unindexed(callback.c.tenant) == bindparam("tenant"), InList(callback.c.run, "runs", ids=True), _ACTIVE
)

# Firings of all triggers. A filter looks at a bounded number of rows.

_FIRINGS: Final = (
    firing.c.id, firing.c.tenant, firing.c.trigger, firing.c.workflow, firing.c.kind, firing.c.state, firing.c.due_at,
    firing.c.slot, firing.c.dedup, firing.c.request, firing.c.replay_of, firing.c.message, firing.c.at, firing.c.until,
    firing.c.run,
)  # fmt: skip


@lru_cache(maxsize=16)
def received(*, before: bool, kind: bool, state: bool, trigger: bool = False) -> Select[Any]:
    """Return the ids and states of the newest firings of a tenant, or of one trigger. With a kind or a state, return
    those that match among the newest `window` ones."""
    newest = select(firing.c.id, firing.c.kind, firing.c.state).where(firing.c.tenant == bindparam("tenant"))
    if before:
        newest = newest.where(firing.c.id < bindparam("before"))
    if trigger:
        newest = newest.where(firing.c.trigger == bindparam("trigger"))
    size: ColumnElement[int] = bindparam("window") if kind or state else bindparam("limit")
    window = newest.order_by(firing.c.id.desc()).limit(size).subquery("newest")
    query = select(window.c.id, window.c.state)
    if kind:
        query = query.where(window.c.kind == bindparam("kind"))
    if state:
        query = query.where(window.c.state == bindparam("state"))
    return query.order_by(window.c.id.desc()).limit(bindparam("limit"))


#: In any order. Joined with the statement above, PostgreSQL would read the whole table.
FIRINGS: Final = (
    select(*_FIRINGS, NameOrEmpty(workflow.c.name), trigger.c.name)
    .select_from(
        firing.outerjoin(workflow, workflow.c.id == firing.c.workflow).outerjoin(
            trigger, trigger.c.id == firing.c.trigger
        )
    )
    .where(Unindexed(firing.c.tenant) == bindparam("tenant"), InList(firing.c.id, "ids", ids=True))
)


@lru_cache(maxsize=2)
def end_of_window(*, before: bool) -> Select[Any]:
    """Return the id of the last firing of a window, if it has `window` of them."""
    query = select(firing.c.id).where(firing.c.tenant == bindparam("tenant"))
    if before:
        query = query.where(firing.c.id < bindparam("before"))
    return query.order_by(firing.c.id.desc()).limit(literal_column("1")).offset(bindparam("skipped"))


MARKS: Final = (
    select(journal.c.run, journal.c.at, journal.c.kind, journal.c.step, journal.c.attempt, journal.c.outcome)
    .where(
        Unindexed(journal.c.tenant) == bindparam("tenant"),
        InList(journal.c.run, "runs", ids=True),
        journal.c.step.is_not(None),
    )
    .order_by(journal.c.run, journal.c.seq)
    .limit(bindparam("limit"))
)

# Nodes and queues. The queues are found one after the other in the index `run_due`.

_UNOWNED: Final = and_(run.c.owner.is_(None), run.c.ended_at.is_(None))
OWNED_COUNTS: Final = select(run.c.owner, func.count()).where(run.c.owner.is_not(None)).group_by(run.c.owner)
_OWNED: Final = select(run.c.queue).where(run.c.owner.is_not(None)).limit(bindparam("limit")).subquery("owned")
OWNED_QUEUES: Final = select(_OWNED.c.queue, func.count()).group_by(_OWNED.c.queue)
NEXT_QUEUE: Final = (
    select(run.c.queue, run.c.priority)
    .where(
        _UNOWNED,
        run.c.queue >= bindparam("queue"),
        or_(run.c.queue > bindparam("queue"), run.c.priority > bindparam("priority")),
    )
    .order_by(run.c.queue, run.c.priority)
    .limit(literal_column("1"))
)


def _count(*more: ColumnElement[bool]) -> Any:
    lane = (_UNOWNED, run.c.queue == bindparam("queue"), run.c.priority == bindparam("priority"))
    found = select(run.c.id).where(*lane, *more).limit(bindparam("limit")).subquery()
    return select(func.count()).select_from(found).scalar_subquery()


_OLDEST: Final = (
    select(func.min(run.c.wake_at))
    .where(_UNOWNED, run.c.queue == bindparam("queue"), run.c.priority == bindparam("priority"))
    .scalar_subquery()
)
LANE: Final = select(
    _count(run.c.wake_at <= bindparam("now")),
    _count(run.c.wake_at > bindparam("now")),
    _count(run.c.wake_at.is_(None)),
    _OLDEST,
)

# Storage, measured in slices of runs.


class _DatabaseBytes(ClauseElement):
    """How many bytes the database has."""

    inherit_cache = False


@compiles(_DatabaseBytes, "sqlite")
def _bytes_sqlite(element: _DatabaseBytes, compiler: SQLCompiler, **given: Any) -> str:
    return "select page_count * page_size from pragma_page_count(), pragma_page_size()"


@compiles(_DatabaseBytes, "postgresql")
def _bytes_postgres(element: _DatabaseBytes, compiler: SQLCompiler, **given: Any) -> str:
    return "select pg_database_size(current_database())"


@compiles(_DatabaseBytes, "mysql")
def _bytes_mysql(element: _DatabaseBytes, compiler: SQLCompiler, **given: Any) -> str:
    return "select sum(data_length + index_length) from information_schema.tables where table_schema = database()"


DATABASE_BYTES: Final = _DatabaseBytes()

_SLICE: Final = (
    select(
        run.c.id, run.c.workflow, (func.length(run.c.input) + func.coalesce(func.length(run.c.output), 0)).label("size")
    )
    .where(run.c.tenant == bindparam("tenant"), run.c.id > bindparam("after"))
    .order_by(run.c.id)
    .limit(bindparam("limit"))
    .subquery("slice")
)
RUN_BYTES: Final = select(_SLICE.c.workflow, func.count(), func.sum(_SLICE.c.size)).group_by(_SLICE.c.workflow)
JOURNAL_BYTES: Final = (
    select(_SLICE.c.workflow, func.count(), func.sum(func.length(journal.c.data)))
    .select_from(_SLICE.join(journal, journal.c.run == _SLICE.c.id))
    .group_by(_SLICE.c.workflow)
)
END_OF_SLICE: Final = (
    select(run.c.id)
    .where(run.c.tenant == bindparam("tenant"), run.c.id > bindparam("after"))
    .order_by(run.c.id)
    .limit(literal_column("1"))
    .offset(bindparam("skipped"))
)
