"""The verbs of lists, the same on every SQL database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

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
from detent.store.protocol import EVERY_RUN, ListStore
from detent.store.rows import NO_ID, RunCriteria
from detent.store.sql import run_statements, statements
from detent.store.sql.access import SqlAccess
from detent.store.sql.run_statements import Lane
from detent.store.sql.verbs import trigger_row
from detent.store.trigger_rows import TriggerRow

#: At most this many runs are in one statement that counts steps.
_MOST_RUNS: Final = 200
_LOWEST: Final = -(2**31)

Row = Sequence[Any]


class ListVerbs(ListStore):
    """Lists, counts and searches. Each statement walks along one index, and not further than asked for."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

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
        rows, end = await self._look("listed", tenant, where, limit, most, cursor, oldest_first)
        return RunSlice([_listed(row) for row in rows], end)

    async def mark_runs(
        self, tenant: int, *, limit: int, most: int, where: RunCriteria = EVERY_RUN, cursor: bytes | None = None
    ) -> MarkSlice:
        rows, end = await self._look("mark", tenant, where, limit, most, cursor, False)
        return MarkSlice([RunMark(*row) for row in rows], end)

    async def group_runs(
        self, tenant: int, *, limit: int, most: int, where: RunCriteria, cursor: bytes | None = None
    ) -> RunGroups:
        lanes = run_statements.lanes_of(where)
        end = await self._end(tenant, where, lanes, most, cursor, False)
        found = RunGroups(Counter(), Counter(), end)
        values = run_statements.values_of(where, lanes, tenant, limit=limit, cursor=cursor, end=end)
        clause = run_statements.group_runs(where, lanes, cursor=cursor is not None, end=end is not None)
        oldest: list[bytes] = []
        for workflow, version, status, trigger, labels, count, last in await self._access.search(clause, values):
            if last is None:
                found.labels[labels] += int(count)
            else:
                found.counts[RunGroup(bytes(workflow), version, status, trigger)] += int(count)
                oldest.append(bytes(last))
        return found._replace(end=min(oldest)) if found.counts.total() == limit else found

    async def count_open(self, tenant: int, *, limit: int) -> Counter[tuple[bytes, int]]:
        rows = await self._access.search(run_statements.COUNT_OPEN, {"tenant": tenant, "limit": limit})
        return Counter({(bytes(workflow), version): int(count) for workflow, version, count in rows})

    async def workflow_names(self, tenant: int, workflows: Sequence[bytes]) -> dict[bytes, str]:
        if not workflows:
            return {}
        values = {"tenant": tenant, "ids": list(workflows)}
        rows = await self._access.search(run_statements.WORKFLOW_NAMES, values)
        return {bytes(id_): name for id_, name in rows}

    async def _look(
        self,
        what: str,
        tenant: int,
        where: RunCriteria,
        limit: int,
        most: int,
        cursor: bytes | None,
        oldest_first: bool,
    ) -> tuple[list[Row], bytes | None]:
        lanes = run_statements.lanes_of(where)
        end = await self._end(tenant, where, lanes, most, cursor, oldest_first)
        clause = run_statements.runs(
            where, lanes, cursor=cursor is not None, oldest_first=oldest_first, end=end is not None, what=what
        )
        values = run_statements.values_of(where, lanes, tenant, limit=limit, cursor=cursor, end=end)
        found: list[Row] = list(await self._access.search(clause, values))
        if len(found) == limit:
            end = bytes(found[-1][0])
        return found, end

    async def _end(
        self,
        tenant: int,
        where: RunCriteria,
        lanes: Sequence[Lane],
        most: int,
        cursor: bytes | None,
        oldest_first: bool,
    ) -> bytes | None:
        """Return the run up to which `most` runs of no lane are left out, or `None` if that is the whole list."""
        long = [lane for lane in lanes if not run_statements.is_exact(lane, where)]
        if not long:
            return None
        clause = run_statements.lane_ends(where, long, cursor=cursor is not None, oldest_first=oldest_first)
        values = run_statements.values_of(where, long, tenant, cursor=cursor, skipped=most - 1)
        ends = [bytes(row[0]) for row in await self._access.search(clause, values)]
        if not ends:
            return None
        return min(ends) if oldest_first else max(ends)

    async def count_steps(self, tenant: int, runs: Sequence[bytes]) -> dict[bytes, StepCounts]:
        found: dict[bytes, StepCounts] = {}
        for first in range(0, len(runs), _MOST_RUNS):
            asked = {"tenant": tenant, "runs": list(runs[first : first + _MOST_RUNS])}
            rows = await self._access.search(run_statements.PROGRESS, asked)
            found |= {bytes(run): StepCounts(int(ended), int(failed)) for run, ended, failed in rows}
        return found

    async def count_in_ranges(self, tenant: int, what: Range, bounds: Sequence[bytes]) -> list[int]:
        ranges = len(bounds) - 1
        clause = run_statements.count_in_ranges(what)
        values = {
            "tenant": tenant, "workflow": what.workflow, "status": what.status, "stage": what.stage,
            "lows": list(bounds[:-1]), "highs": list(bounds[1:]),
        }  # fmt: skip
        rows = await self._access.search(clause, values)
        counts = {int(place): int(count) for place, count in rows}
        return [counts.get(place, 0) for place in range(1, ranges + 1)]

    async def count_failed(self, tenant: int, *, since: int, limit: int) -> int:
        count = 0
        for status in (Status.FAILED, Status.TIMEOUT):
            values = {"tenant": tenant, "status": str(status), "since": since, "limit": limit - count}
            [row] = await self._access.search(run_statements.FAILED_SINCE, values)
            count += int(row[0])
        return count

    async def stuck(self, tenant: int, *, before: int, limit: int) -> list[bytes]:
        found: list[bytes] = []
        asked: dict[str, Any] = {"tenant": tenant, "before": before, "limit": limit, "queue": "", "priority": _LOWEST}
        while lane := await self._access.search(run_statements.NEXT_DUE_LANE, asked):
            asked["queue"], asked["priority"] = lane[0]
            found += [bytes(row[0]) for row in await self._access.search(run_statements.LATE, asked)]
        nodes = {bytes(row[0]) for row in await self._access.search(statements.OFFERS, {})}
        asked["owner"] = NO_ID
        owners = [NO_ID]
        while owner := await self._access.search(run_statements.NEXT_OWNER, asked):
            asked["owner"] = bytes(owner[0][0])
            owners.append(asked["owner"])
        for gone in [owner for owner in owners if owner not in nodes]:
            found += [
                bytes(row[0]) for row in await self._access.search(run_statements.OWNED_BY, {**asked, "owner": gone})
            ]
        return sorted(found)[:limit]

    async def hero_types(self, tenant: int, *, limit: int) -> list[str]:
        found: list[str] = []
        asked: dict[str, Any] = {"tenant": tenant, "type": ""}
        while len(found) < limit and (rows := await self._access.search(run_statements.NEXT_HERO_TYPE, asked)):
            asked["type"] = rows[0][0]
            found.append(asked["type"])
        return found

    async def heroes(
        self, tenant: int, type_: str, *, prefix: str = "", after: str | None = None, limit: int
    ) -> list[HeroRow]:
        values = {"tenant": tenant, "type": type_, "prefix": prefix, "after": after, "limit": limit}
        rows = await self._access.search(run_statements.heroes(prefix=bool(prefix), after=after is not None), values)
        return [HeroRow(type_, id_, int(runs), bytes(last)) for id_, runs, last in rows if id_.startswith(prefix)]

    async def find_workflows(
        self, tenant: int, *, limit: int, text: str | None = None, after: str | None = None
    ) -> list[FoundWorkflowRow]:
        values = {"tenant": tenant, "text": text, "after": after or "", "limit": limit}
        rows = await self._access.search(run_statements.find_workflows(text=text is not None), values)
        return [FoundWorkflowRow(*row) for row in rows]

    async def find_triggers(self, tenant: int, *, text: str, limit: int) -> list[TriggerRow]:
        rows = await self._access.search(statements.FIND_TRIGGERS, {"tenant": tenant, "text": text, "limit": limit})
        return [trigger_row(row) for row in rows]


class RangeByRange(ListVerbs):
    """Lists on servers that cannot look up a range of an index for each row of a list of ranges."""

    async def count_in_ranges(self, tenant: int, what: Range, bounds: Sequence[bytes]) -> list[int]:
        values = {"tenant": tenant, "workflow": what.workflow, "status": what.status, "stage": what.stage}
        clause = run_statements.count_in_range(what)
        is_rare = what.status is not None or what.is_open or what.pages
        if is_rare and len(bounds) > 2:  # one look at all ranges is less than one at each
            [row] = await self._access.search(clause, {**values, "low": bounds[0], "high": bounds[-1]})
            if not row[0]:
                return [0] * (len(bounds) - 1)
        counts = []
        for low, high in pairwise(bounds):
            [row] = await self._access.search(clause, {**values, "low": low, "high": high})
            counts.append(int(row[0]))
        return counts


def _listed(row: Row) -> ListedRun:
    made = ListedRun(*row)
    return made if made.family is None else made._replace(family=row[-1].encode())
