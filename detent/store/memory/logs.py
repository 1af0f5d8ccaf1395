"""The step logs of the memory store."""

from __future__ import annotations

from detent.store.logs.rows import LogKind, LogRow
from detent.store.memory.tables import MemoryTables
from detent.store.rows import Flush


class MemoryLogs(MemoryTables):
    """The verbs of step logs."""

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
        return sorted(
            row
            for row in self.logs.values()
            if (row.tenant, row.run, row.kind) == (tenant, run, kind)
            and (after is None or row.id > after)
            and step in (None, row.step)
            and attempt in (None, row.attempt)
        )[:limit]

    async def prune_logs(self, *, before: bytes, limit: int) -> int:
        old = sorted(id_ for id_ in self.logs if id_ < before)[:limit]
        for id_ in old:
            del self.logs[id_]
        return len(old)

    def change_logs(self, flush: Flush) -> None:
        """Write and drop the rows of a flush."""
        for row in flush.logs:
            self.logs.setdefault(row.id, row)
        for id_ in flush.dropped_logs:
            self.logs.pop(id_, None)
