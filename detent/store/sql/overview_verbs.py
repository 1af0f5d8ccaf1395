"""The verbs of overviews, the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from detent.store.overview_rows import (
    EntryMark,
    FiringMark,
    OverviewStore,
    QueueRow,
    ReceivedRow,
    ReceivedSlice,
    StorageSlice,
    StoredBytes,
    WaitPlace,
    WaitRow,
)
from detent.store.rows import NO_ID
from detent.store.sql import overview_statements as statements
from detent.store.sql.access import SqlAccess
from detent.store.sql.verbs import firing_row

#: At most so many queues with so many priorities are counted.
_MOST_LANES: Final = 100


class OverviewVerbs(OverviewStore):
    """Reads over all runs. Each statement looks at a bounded number of rows."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def active_waits(
        self,
        tenant: int,
        *,
        limit: int,
        after: WaitPlace | None = None,
        workflow: bytes | None = None,
        hero: tuple[str, str] | None = None,
    ) -> list[WaitRow]:
        values: dict[str, Any] = {"tenant": tenant, "limit": limit, "workflow": workflow}
        if hero is not None:
            values |= {"hero_type": hero[0], "hero_id": hero[1]}
        narrowed = {"workflow": workflow is not None, "hero": hero is not None}
        found: list[WaitRow] = []
        if after is None or after[0] is not None:
            place = {} if after is None else dict(zip(("until", "run", "step"), after, strict=True))
            clause = statements.waits(timed=True, after=after is not None, **narrowed)
            found = [WaitRow(*row) for row in await self._access.search(clause, values | place)]
            after = None
        if len(found) < limit:
            place = {} if after is None else {"run": after[1], "step": after[2]}
            clause = statements.waits(timed=False, after=after is not None, **narrowed)
            rows = await self._access.search(clause, {**values, **place, "limit": limit - len(found)})
            found += [WaitRow(*row) for row in rows]
        return found

    async def count_waits(self, tenant: int, *, limit: int) -> int:
        [row] = await self._access.search(statements.COUNT_WAITS, {"tenant": tenant, "limit": limit})
        return int(row[0])

    async def deadlines(self, tenant: int, runs: Sequence[bytes]) -> dict[tuple[bytes, str], int | None]:
        if not runs:
            return {}
        rows = await self._access.query(statements.DEADLINES, {"tenant": tenant, "runs": list(runs)})
        return {(run, step): until for run, step, until in rows}

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
        values = {"tenant": tenant, "limit": limit, "window": window, "before": before, "kind": kind, "state": state}
        clause = statements.received(before=before is not None, kind=kind is not None, state=state is not None)
        ids = [row[0] for row in await self._access.search(clause, values)]
        found = await self._access.query(statements.FIRINGS, {"tenant": tenant, "ids": ids}) if ids else ()
        rows = [ReceivedRow(firing_row(row[:15]), row[15], row[16]) for row in found]
        rows.sort(key=lambda row: row.firing.id, reverse=True)
        if len(ids) == limit:
            return ReceivedSlice(rows, ids[-1])
        if kind is None and state is None:
            return ReceivedSlice(rows, None)
        ends = await self._access.search(
            statements.end_of_window(before=before is not None), {**values, "skipped": window - 1}
        )
        return ReceivedSlice(rows, ends[0][0] if ends else None)

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
        values = {"tenant": tenant, "limit": limit, "window": window, "trigger": trigger, "kind": kind, "state": state}
        clause = statements.received(
            before=False, kind=kind is not None, state=state is not None, trigger=trigger is not None
        )
        return [FiringMark(*row) for row in await self._access.search(clause, values)]

    async def entry_marks(self, tenant: int, runs: Sequence[bytes], *, limit: int) -> list[EntryMark]:
        if not runs:
            return []
        rows = await self._access.query(statements.MARKS, {"tenant": tenant, "runs": list(runs), "limit": limit})
        return [EntryMark(*row) for row in rows]

    async def owned_counts(self) -> dict[bytes, int]:
        return {row[0]: int(row[1]) for row in await self._access.query(statements.OWNED_COUNTS, {})}

    async def owned_queues(self, *, limit: int) -> dict[str, int]:
        rows = await self._access.query(statements.OWNED_QUEUES, {"limit": limit})
        return {row[0]: int(row[1]) for row in rows}

    async def queues(self, *, now: int, limit: int) -> list[QueueRow]:
        found: dict[str, QueueRow] = {}
        place = {"queue": "", "priority": -(2**31)}
        for _ in range(_MOST_LANES):
            lanes = await self._access.query(statements.NEXT_QUEUE, place)
            if not lanes:
                break
            place = {"queue": lanes[0][0], "priority": lanes[0][1]}
            [(ready, later, never, oldest)] = await self._access.query(
                statements.LANE, {**place, "now": now, "limit": limit}
            )
            name = lanes[0][0]
            before = found.get(name, QueueRow(name, 0, 0, None))
            due = [at for at in (before.oldest_at, oldest) if at is not None and at <= now]
            found[name] = QueueRow(
                name,
                min(limit, before.ready + ready),
                min(limit, before.sleeping + later + never),
                min(due) if due else None,
            )
        return list(found.values())

    async def database_bytes(self) -> int | None:
        [row] = await self._access.query(statements.DATABASE_BYTES, {})
        return None if row[0] is None else int(row[0])

    async def stored_bytes(self, tenant: int, *, after: bytes | None, limit: int) -> StorageSlice:
        values = {"tenant": tenant, "after": after or NO_ID, "limit": limit, "skipped": limit - 1}
        ends = await self._access.search(statements.END_OF_SLICE, values)
        runs = {row[0]: row for row in await self._access.search(statements.RUN_BYTES, values)}
        journals = {row[0]: row for row in await self._access.search(statements.JOURNAL_BYTES, values)}
        found = [
            StoredBytes(
                workflow,
                int(row[1]),
                int(journals[workflow][1]) if workflow in journals else 0,
                int(row[2] or 0) + (int(journals[workflow][2] or 0) if workflow in journals else 0),
            )
            for workflow, row in runs.items()
        ]
        return StorageSlice(found, ends[0][0] if ends else None)
