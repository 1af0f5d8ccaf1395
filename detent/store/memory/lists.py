"""The verbs of lists in the memory store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from detent.run.journal import MAP, Kind
from detent.run.status import Status
from detent.store.list_rows import (
    FoundWorkflowRow,
    HeroRow,
    ListedRun,
    MarkSlice,
    Range,
    RunGroup,
    RunGroups,
    RunMark,
    RunSlice,
    StepCounts,
)
from detent.store.memory.commands import MemoryCommandStore
from detent.store.memory.tables import StoredRun
from detent.store.memory.triggers import MemoryTriggers
from detent.store.protocol import EVERY_RUN
from detent.store.rows import RunCriteria
from detent.store.trigger_rows import TriggerRow

_FAILED = ("failed", "timeout", "template_error")


class MemoryLists(MemoryCommandStore, MemoryTriggers):
    """Lists, counts and searches."""

    async def look_at_runs(
        self,
        tenant: int,
        *,
        limit: int,
        most: int,
        where: RunCriteria = EVERY_RUN,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> RunSlice:
        ids, end = self._walk(tenant, limit, most, where, cursor, oldest_first)
        return RunSlice([self._listed(self.table[id_]) for id_ in ids], end)

    async def mark_runs(
        self, tenant: int, *, limit: int, most: int, where: RunCriteria = EVERY_RUN, cursor: bytes | None = None
    ) -> MarkSlice:
        ids, end = self._walk(tenant, limit, most, where, cursor, oldest_first=False)
        return MarkSlice([_mark(self.table[id_]) for id_ in ids], end)

    async def group_runs(
        self, tenant: int, *, limit: int, most: int, where: RunCriteria, cursor: bytes | None = None
    ) -> RunGroups:
        ids, end = self._walk(tenant, limit, most, where, cursor, oldest_first=False)
        rows = [self._listed(self.table[id_]) for id_ in ids]
        groups = Counter(RunGroup(one.workflow, one.version, one.status, one.trigger) for one in rows)
        return RunGroups(groups, Counter(one.labels for one in rows if one.labels), end)

    async def count_open(self, tenant: int, *, limit: int) -> Counter[tuple[bytes, int]]:
        every = [row for row in self.table.values() if row.new.tenant == tenant and row.is_open()]
        every.sort(key=lambda row: row.new.id, reverse=True)
        counted = (self._listed(row) for row in every[:limit] if row.new.trigger != MAP)
        return Counter((one.workflow, one.version) for one in counted)

    async def workflow_names(self, tenant: int, workflows: Sequence[bytes]) -> dict[bytes, str]:
        known = {id_: self.saved[id_].new for id_ in workflows if id_ in self.saved}
        return {id_: new.name for id_, new in known.items() if new.tenant == tenant}

    def _walk(
        self, tenant: int, limit: int, most: int, where: RunCriteria, cursor: bytes | None, oldest_first: bool
    ) -> tuple[list[bytes], bytes | None]:
        """Return the first runs that match among `most` runs, and the last run that was looked at."""
        every = (row.new.id for row in self.table.values() if row.new.tenant == tenant)
        behind = [id_ for id_ in every if cursor is None or (id_ > cursor if oldest_first else id_ < cursor)]
        behind.sort(reverse=not oldest_first)
        matching = {row.new.id for row in self._filtered(tenant, where)}
        found = [id_ for id_ in behind[:most] if id_ in matching][:limit]
        if len(found) == limit:
            return found, found[-1]
        return found, behind[most - 1] if len(behind) >= most else None

    def _listed(self, row: StoredRun) -> ListedRun:
        values = self._run_row(row)._asdict()
        family = values["opening"] if values["parent"] is not None else None
        return ListedRun(**{name: values[name] for name in ListedRun._fields if name != "family"}, family=family)

    async def count_steps(self, tenant: int, runs: Sequence[bytes]) -> dict[bytes, StepCounts]:
        found = {}
        for run in runs:
            entries = [entry for entry in self.entries.get(run, {}).values() if entry.tenant == tenant]
            ends = [entry for entry in entries if entry.kind in (Kind.ENDED, Kind.CHECKPOINT) and entry.outcome]
            failed = {entry.step for entry in ends if entry.outcome in _FAILED}
            if ends:
                found[run] = StepCounts(len({entry.step for entry in ends}), len(failed))
        return found

    async def count_in_ranges(self, tenant: int, what: Range, bounds: Sequence[bytes]) -> list[int]:
        ids = [row.new.id for row in self.table.values() if row.new.tenant == tenant and _counts(row, what)]
        return [sum(low <= id_ < high for id_ in ids) for low, high in pairwise(bounds)]

    async def count_failed(self, tenant: int, *, since: int, limit: int) -> int:
        where = RunCriteria(statuses=(Status.FAILED, Status.TIMEOUT), ended_after=since)
        return await self.count_runs(tenant, where=where, limit=limit)

    async def stuck(self, tenant: int, *, before: int, limit: int) -> list[bytes]:
        def is_stuck(row: StoredRun) -> bool:
            if row.owner is None:
                return row.wake_at is not None and row.wake_at <= before
            return row.owner not in self.nodes

        every = (row for row in self.table.values() if row.new.tenant == tenant and row.is_open())
        return sorted(row.new.id for row in every if is_stuck(row))[:limit]

    async def hero_types(self, tenant: int, *, limit: int) -> list[str]:
        every = (row.new.hero_type for row in self.table.values() if row.new.tenant == tenant)
        return sorted({type_ for type_ in every if type_ is not None})[:limit]

    async def heroes(
        self, tenant: int, type_: str, *, prefix: str = "", after: str | None = None, limit: int
    ) -> list[HeroRow]:
        found: dict[str, list[bytes]] = {}
        for row in self.table.values():
            if row.new.tenant == tenant and row.new.hero_type == type_ and row.new.hero_id is not None:
                found.setdefault(row.new.hero_id, []).append(row.new.id)
        ids = sorted(id_ for id_ in found if id_.startswith(prefix) and (after is None or id_ > after))
        return [HeroRow(type_, id_, len(found[id_]), max(found[id_])) for id_ in ids[:limit]]

    async def find_workflows(
        self, tenant: int, *, limit: int, text: str | None = None, after: str | None = None
    ) -> list[FoundWorkflowRow]:
        wanted = (text or "").lower()
        every = ((id_, one.new) for id_, one in self.saved.items() if one.deleted_at is None)
        found = [
            FoundWorkflowRow(id_, new.name, new.title)
            for id_, new in every
            if new.tenant == tenant
            and new.name > (after or "")
            and (wanted in new.name.lower() or wanted in (new.title or "").lower())
        ]
        return sorted(found, key=lambda row: row.name)[:limit]

    async def find_triggers(self, tenant: int, *, text: str, limit: int) -> list[TriggerRow]:
        rows = await self.triggers(tenant, limit=len(self.rules))
        return [row for row in rows if row.name and text.lower() in row.name.lower()][:limit]


def _mark(row: StoredRun) -> RunMark:
    return RunMark(row.new.id, row.status, row.new.stage, row.new.started_at, row.ended_at)


def _counts(row: StoredRun, what: Range) -> bool:
    return (
        (what.workflow is None or row.new.workflow == what.workflow)
        and (what.status is None or row.status == what.status)
        and (not what.pages or row.new.trigger == MAP)
        and (not what.is_open or (row.ended_at is None and row.new.stage == what.stage))
    )
