"""What happened in all runs of one hero, in the order of time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, literal_column, or_, select, text, union_all

from detent.store.rows import RUN_STARTED
from detent.store.sql.schema import journal, run, workflow

_MINE: Final = (
    run.c.tenant == bindparam("tenant"),
    run.c.hero_type == bindparam("hero_type"),
    run.c.hero_id == bindparam("hero_id"),
)
_HAS_BEGUN: Final = and_(
    or_(run.c.status != literal_column("'pending'"), run.c.owner.is_not(None)),
    or_(run.c.ended_at.is_(None), run.c.ended_at >= run.c.started_at),
)
_ENTRIES: Final = (
    select(
        run.c.workflow, journal.c.tenant, journal.c.run, journal.c.seq, journal.c.at, journal.c.kind, journal.c.step,
        journal.c.attempt, journal.c.outcome, journal.c.data,
    )
    .select_from(run.join(journal, journal.c.run == run.c.id))
    .where(*_MINE)
)  # fmt: skip
_STARTS: Final = select(
    run.c.workflow, run.c.tenant, run.c.id.label("run"), literal_column("0").label("seq"), run.c.started_at.label("at"),
    literal_column(f"'{RUN_STARTED}'").label("kind"), literal_column("null").label("step"),
    literal_column("0").label("attempt"), literal_column("null").label("outcome"), literal_column("'{}'").label("data"),
).where(*_MINE, _HAS_BEGUN)  # fmt: skip


@lru_cache(maxsize=2)
def timeline(*, after: bool) -> Select[Any]:
    """Entries with the name of their workflow; `after` a place (at, run, seq), or from the beginning."""
    every = union_all(_ENTRIES, _STARTS).subquery("every")
    columns = [column for column in every.c if column.name != "workflow"]
    query = (
        select(func.coalesce(workflow.c.name, text("''")), *columns)
        .select_from(every.outerjoin(workflow, workflow.c.id == every.c.workflow))
        .order_by(every.c.at, every.c.run, every.c.seq)
        .limit(bindparam("limit"))
    )
    return query.where(_behind(every)) if after else query


def _behind(every: Any) -> ColumnElement[bool]:
    at: ColumnElement[Any] = bindparam("at")
    run_id: ColumnElement[Any] = bindparam("run")
    seq: ColumnElement[Any] = bindparam("seq")
    return or_(
        every.c.at > at,
        and_(every.c.at == at, or_(every.c.run > run_id, and_(every.c.run == run_id, every.c.seq > seq))),
    )
