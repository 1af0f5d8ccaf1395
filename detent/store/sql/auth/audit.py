"""The audit: the verbs are the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, select, update

from detent.store.audit import EVERY_AUDIT, AuditCriteria, AuditRow, AuditStore
from detent.store.sql.access import ADD_AUDIT, Script, SqlAccess
from detent.store.sql.auth.schema import audit
from detent.store.sql.compiler import InList

_COLUMNS: Final = tuple(audit.c[name] for name in AuditRow._fields)
_PLAIN: Final = ("actor", "action", "kind", "object", "outcome")
#: What a command knows only at its end.
_LATE: Final = ("object", "outcome", "reason", "detail")
_FINISH: Final = (
    update(audit)
    .where(audit.c.id == bindparam("known"))
    .values({audit.c[name]: bindparam(f"new_{name}") for name in _LATE})
)
_OLD: Final = select(audit.c.id).where(audit.c.at < bindparam("before")).order_by(audit.c.at).limit(bindparam("limit"))
_DROP: Final = delete(audit).where(InList(audit.c.id, "ids", ids=True)).returning(audit.c.id)


@lru_cache(maxsize=256)
def _listing(names: tuple[str, ...]) -> Select[Any]:
    conditions = {
        **{name: audit.c[name] == bindparam(name) for name in ("tenant", *_PLAIN)},
        "after": audit.c.at >= bindparam("after"),
        "before": audit.c.at < bindparam("before"),
        "cursor": audit.c.id < bindparam("cursor"),
    }
    found = select(*_COLUMNS).where(*(conditions[name] for name in names))
    return found.order_by(audit.c.id.desc()).limit(bindparam("limit"))


class AuditVerbs(AuditStore):
    """The verbs of the audit."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def add_audits(self, rows: Sequence[AuditRow]) -> None:
        def add() -> Script[None]:
            for row in rows:
                yield ADD_AUDIT, row._asdict()

        await self._access.run_script(add)

    async def finish_audit(self, row: AuditRow) -> None:
        def finish() -> Script[None]:
            yield ADD_AUDIT, row._asdict()
            yield _FINISH, {"known": row.id, **{f"new_{name}": getattr(row, name) for name in _LATE}}

        await self._access.run_script(finish)

    async def audits(
        self, tenant: int | None, *, limit: int, where: AuditCriteria = EVERY_AUDIT, cursor: bytes | None = None
    ) -> list[AuditRow]:
        given = {"tenant": tenant, **where._asdict(), "cursor": cursor}
        values = {name: value for name, value in given.items() if value is not None}
        rows = await self._access.search(_listing(tuple(values)), {**values, "limit": limit})
        return [AuditRow(*row) for row in rows]

    async def prune_audits(self, before: int, *, limit: int) -> int:
        rows = await self._access.query(_OLD, {"before": before, "limit": limit})
        if not rows:
            return 0
        return len(await self._access.execute(_DROP, {"ids": [row[0] for row in rows]}))
