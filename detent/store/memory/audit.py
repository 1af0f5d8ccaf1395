"""The audit of the memory store."""

from __future__ import annotations

from collections.abc import Sequence

from detent.store.audit import EVERY_AUDIT, AuditCriteria, AuditRow
from detent.store.memory.tables import MemoryTables


class MemoryAudit(MemoryTables):
    """The verbs of the audit. The process that loses a change loses its row too, so no transaction joins them."""

    async def add_audits(self, rows: Sequence[AuditRow]) -> None:
        for row in rows:
            self.audit_rows.setdefault(row.id, row)

    async def finish_audit(self, row: AuditRow) -> None:
        self.audit_rows[row.id] = row

    async def audits(
        self, tenant: int | None, *, limit: int, where: AuditCriteria = EVERY_AUDIT, cursor: bytes | None = None
    ) -> list[AuditRow]:
        rows = sorted(self.audit_rows.values(), reverse=True)
        return [
            row
            for row in rows
            if tenant in (None, row.tenant) and (cursor is None or row.id < cursor) and _is_meant(row, where)
        ][:limit]

    async def prune_audits(self, before: int, *, limit: int) -> int:
        old = sorted(id_ for id_, row in self.audit_rows.items() if row.at < before)[:limit]
        for id_ in old:
            del self.audit_rows[id_]
        return len(old)


def _is_meant(row: AuditRow, where: AuditCriteria) -> bool:
    plain = ("actor", "action", "kind", "object", "outcome")
    wanted = ((name, getattr(where, name)) for name in plain)
    if any(value is not None and getattr(row, name) != value for name, value in wanted):
        return False
    return (where.after is None or row.at >= where.after) and (where.before is None or row.at < where.before)
