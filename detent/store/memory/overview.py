"""The verbs of overviews on the memory store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from detent.store.memory.tables import MemoryTables
from detent.store.overview_rows import (
    EntryMark,
    FiringMark,
    QueueRow,
    ReceivedRow,
    ReceivedSlice,
    StorageSlice,
    StoredBytes,
    WaitPlace,
    WaitRow,
)
from detent.store.rows import NO_ID, CallbackState


class MemoryOverview(MemoryTables):
    """Reads over all runs."""

    async def active_waits(
        self,
        tenant: int,
        *,
        limit: int,
        after: WaitPlace | None = None,
        workflow: bytes | None = None,
        hero: tuple[str, str] | None = None,
    ) -> list[WaitRow]:
        found = [
            WaitRow(run, step, one.created_at, one.until, one.ask, one.decisions)
            for (run, step), one in self.waits.items()
            if one.tenant == tenant and one.state is CallbackState.ACTIVE and self._is_about(run, workflow, hero)
        ]
        found.sort(key=lambda row: _sort_key(row.place()))
        return [row for row in found if after is None or _sort_key(row.place()) > _sort_key(after)][:limit]

    def _is_about(self, run: bytes, workflow: bytes | None, hero: tuple[str, str] | None) -> bool:
        stored = self.table.get(run)
        if workflow is None and hero is None:
            return True
        if stored is None or workflow not in (None, stored.new.workflow):
            return False
        return hero is None or hero == (stored.new.hero_type, stored.new.hero_id)

    async def count_waits(self, tenant: int, *, limit: int) -> int:
        return min(limit, len(await self.active_waits(tenant, limit=limit)))

    async def deadlines(self, tenant: int, runs: Sequence[bytes]) -> dict[tuple[bytes, str], int | None]:
        rows = await self.active_waits(tenant, limit=len(self.waits))
        return {(row.run, row.step): row.until for row in rows if row.run in runs}

    async def received(
        self,
        tenant: int,
        *,
        limit: int,
        window: int,
        before: bytes | None = None,
        kind: str | None = None,
        state: str | None = None,
    ) -> ReceivedSlice:
        newest = sorted(
            (row for row in self.fired.values() if row.tenant == tenant and (before is None or row.id < before)),
            key=lambda row: row.id,
            reverse=True,
        )
        looked = newest[:window]
        found = [row for row in looked if kind in (None, row.kind) and state in (None, row.state)][:limit]
        rows = [
            ReceivedRow(
                row,
                self.saved[row.workflow].new.name if row.workflow in self.saved else "",
                self.rules[row.trigger].new.name if row.trigger in self.rules else None,
            )
            for row in found
        ]
        if len(rows) == limit:
            return ReceivedSlice(rows, rows[-1].firing.id)
        return ReceivedSlice(rows, looked[-1].id if len(looked) == window else None)

    async def newest_firings(
        self,
        tenant: int,
        *,
        limit: int,
        window: int,
        trigger: bytes | None = None,
        kind: str | None = None,
        state: str | None = None,
    ) -> list[FiringMark]:
        newest = sorted(
            (row for row in self.fired.values() if row.tenant == tenant and trigger in (None, row.trigger)),
            key=lambda row: row.id,
            reverse=True,
        )
        found = (row for row in newest[:window] if kind in (None, row.kind) and state in (None, row.state))
        return [FiringMark(row.id, row.state) for row in found][:limit]

    async def entry_marks(self, tenant: int, runs: Sequence[bytes], *, limit: int) -> list[EntryMark]:
        found = [
            EntryMark(one.run, one.at, one.kind, one.step, one.attempt, one.outcome)
            for run in sorted(runs)
            for one in self.sorted_entries(run)
            if one.step is not None and one.tenant == tenant
        ]
        return found[:limit]

    async def owned_counts(self) -> dict[bytes, int]:
        return dict(Counter(row.owner for row in self.table.values() if row.owner is not None))

    async def owned_queues(self, *, limit: int) -> dict[str, int]:
        return dict(Counter(row.new.queue for row in self.table.values() if row.owner is not None))

    async def queues(self, *, now: int, limit: int) -> list[QueueRow]:
        found: dict[str, list[int | None]] = {}
        for row in self.table.values():
            if row.owner is None and row.is_open():
                found.setdefault(row.new.queue, []).append(row.wake_at)
        rows = []
        for queue, wakes in sorted(found.items()):
            due = [at for at in wakes if at is not None and at <= now]
            sleeping = min(limit, len(wakes) - len(due))
            rows.append(QueueRow(queue, min(limit, len(due)), sleeping, min(due) if due else None))
        return rows

    async def database_bytes(self) -> int | None:
        return None

    async def stored_bytes(self, tenant: int, *, after: bytes | None, limit: int) -> StorageSlice:
        runs = sorted(
            (row for row in self.table.values() if row.new.tenant == tenant and row.new.id > (after or NO_ID)),
            key=lambda row: row.new.id,
        )
        shown = runs[:limit]
        found: dict[bytes, StoredBytes] = {}
        for row in shown:
            before = found.get(row.new.workflow, StoredBytes(row.new.workflow, 0, 0, 0))
            entries = list(self.entries.get(row.new.id, {}).values())
            size = len(row.new.input) + len(row.output or b"") + sum(len(entry.data) for entry in entries)
            found[row.new.workflow] = StoredBytes(
                row.new.workflow, before.runs + 1, before.journal_rows + len(entries), before.bytes + size
            )
        return StorageSlice(list(found.values()), shown[-1].new.id if len(shown) == limit else None)


def _sort_key(place: WaitPlace) -> tuple[bool, int, bytes, str]:
    until, run, step = place
    return until is None, until or 0, run, step
