"""The table and the verbs of step logs, the same on every SQL database. Each dialect's flush writes the rows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Column, Index, Integer, Select, Table, bindparam, delete, select

from detent.store.logs.rows import LogKind, LogRow, LogStore
from detent.store.sql.access import SqlAccess
from detent.store.sql.compiler import InList
from detent.store.sql.schema import ID, LONG, NAME, WORD, metadata

step_log = Table(
    "step_log",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("run", ID, nullable=False),
    Column("kind", WORD, nullable=False),  # `lines` or `progress`
    Column("step", NAME, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("first", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("data", LONG, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
Index("step_log_run", step_log.c.run, step_log.c.kind, step_log.c.id)

_COLUMNS: Final = tuple(step_log.c[name] for name in LogRow._fields)
_OLD: Final = (
    select(step_log.c.id).where(step_log.c.id < bindparam("before")).order_by(step_log.c.id).limit(bindparam("limit"))
)
_DROP: Final = delete(step_log).where(InList(step_log.c.id, "ids", ids=True)).returning(step_log.c.id)


@lru_cache(maxsize=32)
def _listing(names: tuple[str, ...]) -> Select[Any]:
    conditions = {
        **{name: step_log.c[name] == bindparam(name) for name in ("tenant", "run", "kind", "step", "attempt")},
        "after": step_log.c.id > bindparam("after"),
    }
    found = select(*_COLUMNS).where(*(conditions[name] for name in names))
    return found.order_by(step_log.c.id).limit(bindparam("limit"))


class LogVerbs(LogStore):
    """The verbs of step logs."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def log_rows(
        self,
        tenant: int,
        run: bytes,
        *,
        limit: int,
        kind: LogKind = LogKind.LINES,
        after: bytes | None = None,
        step: str | None = None,
        attempt: int | None = None,
    ) -> list[LogRow]:
        given = {"tenant": tenant, "run": run, "kind": kind.value, "step": step, "attempt": attempt, "after": after}
        values = {name: value for name, value in given.items() if value is not None}
        rows = await self._access.search(_listing(tuple(values)), {**values, "limit": limit})
        return [LogRow._make((*row[:-1], row[-1].encode())) for row in rows]

    async def prune_logs(self, *, before: bytes, limit: int) -> int:
        rows = await self._access.query(_OLD, {"before": before, "limit": limit})
        if not rows:
            return 0
        return len(await self._access.execute(_DROP, {"ids": [row[0] for row in rows]}))
