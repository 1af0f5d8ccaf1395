"""Lists of runs: pages of bounded searches, saved views, counts, histograms and facets."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from detent.commands.context import CommandPart
from detent.documents.lists import (
    CountsDocument,
    FacetsDocument,
    FacetValue,
    HistogramBucket,
    HistogramDocument,
    LabelFacet,
    RunCounts,
    ViewCounts,
    WorkflowFacet,
)
from detent.documents.runs import ProgressDocument, RunSummary
from detent.errors import DetentError
from detent.forms.compiled import TriggerDefinition, TriggerType
from detent.forms.schedule import slots_between
from detent.ids import WORKFLOW, first_id, made_at, show
from detent.instant import SECOND, Instant, as_datetime
from detent.planner.functions import function_of
from detent.run.journal import MAP
from detent.run.stage import PARKED, StageKind
from detent.run.status import OPEN, TERMINAL, Status
from detent.store.list_rows import ListedRun, Range, RunGroups, RunMark
from detent.store.rows import NO_ID, RunCriteria
from detent.store.trigger_rows import TriggerRow
from detent.views.runs import run_summary
from detent.views.stuck import LATE

#: A search looks at so many runs at most, and for about so many seconds.
MOST_LOOKED_AT: Final = 50_000
MOST_SECONDS: Final = 0.15
_FIRST_LOOK: Final = 1_000
_GROWTH: Final = 4
#: Facets count so many runs at most, and counts of views go so far.
MOST_COUNTED: Final = 10_000
_TOP: Final = 20
DAY: Final = 86_400 * SECOND
_MOST_SCHEDULES: Final = 500
_LAST: Final = b"\xff" * 16

#: The saved views of lists, and the filter of each. `failing` and `stuck` depend on the time.
VIEWS: Final = ("running", "waiting", "person", "failed", "failing", "stuck", "paused")
_FAILED: Final = (str(Status.FAILED), str(Status.TIMEOUT))
_WAITING: Final = (str(StageKind.WAITING), str(StageKind.PERSON))


class RunPart(NamedTuple):
    """A page of runs. `next`: where the next page begins. `searched_until`: the search stopped there, unfinished."""

    rows: list[ListedRun]
    next: bytes | None
    searched_until: Instant | None


class MarkPart(NamedTuple):
    """Marks of the newest runs. `end`: where the search stopped, `None` if these are all."""

    rows: list[RunMark]
    end: bytes | None


class _Budget:
    """How much a search may still look at, by rows and by time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._looked_at = 0
        self.next = _FIRST_LOOK

    def spend(self) -> bool:
        """Count the last look. Set the size of the next one, or return False if the search must stop."""
        self._looked_at += self.next
        spent = self._loop.time() - self._begun
        if self._looked_at >= MOST_LOOKED_AT or spent >= MOST_SECONDS:
            return False
        # Half of what would fit: the next runs may take longer than those before.
        in_time = int(self._looked_at / max(spent, 1e-6) * (MOST_SECONDS - spent) / 2)
        self.next = min(self.next * _GROWTH, MOST_LOOKED_AT - self._looked_at, max(_FIRST_LOOK, in_time))
        return True


class ListCommands(CommandPart):
    """Reads of many runs at once. The work of each is bounded, however many runs there are."""

    async def find(
        self, *, limit: int, where: RunCriteria, cursor: bytes | None = None, oldest_first: bool = False
    ) -> RunPart:
        """Return the next runs that match. The search stops after so many runs and about so much time."""
        rows: list[ListedRun] = []
        budget = _Budget()
        while True:
            part = await self._store.look_at_runs(
                self._tenant,
                limit=limit + 1 - len(rows),
                most=budget.next,
                where=where,
                cursor=cursor,
                oldest_first=oldest_first,
            )
            rows += part.rows
            if len(rows) > limit:
                return RunPart(rows[:limit], rows[limit - 1].id, None)
            if part.end is None:
                return RunPart(rows, None, None)
            cursor = part.end
            if not budget.spend():
                return RunPart(rows, cursor, made_at(cursor))

    async def summaries(self, rows: Sequence[ListedRun], *, progress: bool = False) -> list[RunSummary]:
        """Return the documents of listed runs."""
        now = self._context.now()
        asking = [row.id for row in rows if row.stage == StageKind.PERSON]
        deadlines = await self._store.deadlines(self._tenant, asking)
        found = [run_summary(row, now, deadlines) for row in rows]
        if progress:
            counts = await self._store.count_steps(self._tenant, [row.id for row in rows])
            for row, document in zip(rows, found, strict=True):
                ended, failed = counts.get(row.id, (0, 0))
                total = await self._steps(row)
                is_complete = total is not None and row.status == Status.COMPLETED
                document.progress = ProgressDocument(total if is_complete and total else ended, total, failed)
        return found

    async def _steps(self, row: ListedRun) -> int | None:
        """Return how many steps a run has. A durable function, or a graph that this code cannot read, has none."""
        try:
            prepared = await self._engine.graphs.one((row.workflow, row.version))
        except DetentError:
            return None
        return None if function_of(prepared) is not None else len(prepared.steps)

    async def by_ids(self, ids: Sequence[bytes]) -> list[ListedRun]:
        """Return these runs, the newest first. Those that do not exist are left out."""
        if not ids:
            return []
        where = RunCriteria(ids=tuple(ids))
        return (await self._store.look_at_runs(self._tenant, limit=len(ids) + 1, most=MOST_COUNTED, where=where)).rows

    async def view(self, name: str) -> RunCriteria:
        """Return the filter of a saved view, as it is now."""
        now = self._context.now()
        match name:
            case "failed":
                return RunCriteria(statuses=_FAILED)
            case "failing":
                return RunCriteria(statuses=_FAILED, ended_after=now - DAY)
            case "paused":
                return RunCriteria(statuses=(str(Status.PAUSED),))
            case "stuck":
                return RunCriteria(ids=tuple(await self._stuck()) or (NO_ID,))
            case "waiting":
                return RunCriteria(stages=_WAITING, now=now)
            case _:
                return RunCriteria(stages=(name,), now=now)

    async def _stuck(self) -> list[bytes]:
        before = await self._store.now() - LATE
        return await self._context.store.stuck(self._tenant, before=before, limit=MOST_COUNTED)

    async def counts(self) -> CountsDocument:
        """Return how many runs each saved view has, up to 10,000."""
        since = self._context.now() - DAY
        counted = {
            name: await self._store.count_runs(self._tenant, where=await self.view(name), limit=MOST_COUNTED)
            for name in ("running", "waiting", "person", "paused")
        }
        views = ViewCounts(
            all=await self._count_all(),
            failing=await self._store.count_failed(self._tenant, since=since, limit=MOST_COUNTED),
            stuck=len(await self._stuck()),
            **counted,
        )
        return CountsDocument(views=views, capped_at=MOST_COUNTED)

    async def _count_all(self) -> int:
        """Count every run but pages of maps, by indexes alone if there are no pages."""
        where = RunCriteria(without=MAP if await self.has_pages() else None)
        return await self._store.count_runs(self._tenant, where=where, limit=MOST_COUNTED)

    async def has_pages(self) -> bool:
        """Return whether there are pages of maps."""
        [pages] = await self._store.count_in_ranges(self._tenant, Range(pages=True), [NO_ID, _LAST])
        return pages > 0

    async def marks(self, where: RunCriteria, *, limit: int) -> MarkPart:
        """Return the marks of the newest runs that match, of a search that is bounded like `find`."""
        rows: list[RunMark] = []
        cursor, budget = None, _Budget()
        while True:
            part = await self._store.mark_runs(
                self._tenant, limit=limit - len(rows), most=budget.next, where=where, cursor=cursor
            )
            rows += part.rows
            cursor = part.end
            if cursor is None or len(rows) >= limit or not budget.spend():
                return MarkPart(rows, cursor)

    # -- facets

    async def facets(self, where: RunCriteria) -> FacetsDocument:
        """Return the values by which these runs can be narrowed, of the newest 10,000 of them."""
        found = await self._groups(where)
        workflows: Counter[bytes] = Counter()
        others: dict[str, Counter[str]] = {name: Counter() for name in ("trigger", "status", "version")}
        for group, count in found.counts.items():
            workflows[group.workflow] += count
            for name, counter in others.items():
                counter[str(getattr(group, name))] += count
        labels: Counter[tuple[str, str]] = Counter()
        for text, count in found.labels.items():
            for key, value in json.loads(text).items():
                labels[key, str(value)] += count
        names = await self._store.workflow_names(
            self._tenant, [workflow for workflow, _ in workflows.most_common(_TOP)]
        )
        return FacetsDocument(
            workflows=[
                WorkflowFacet(value=names.get(id_, ""), id=show(WORKFLOW, id_), count=count)
                for id_, count in workflows.most_common(_TOP)
            ],
            triggers=_facet(others["trigger"]),
            statuses=_facet(others["status"]),
            versions=_facet(others["version"]) if where.workflow is not None else [],
            labels=[LabelFacet(key=key, value=value, count=count) for (key, value), count in labels.most_common(_TOP)],
            runs=found.counts.total(),
            sampled=found.end is not None,
            searched_until=None if found.end is None else as_datetime(made_at(found.end)),
        )

    async def _groups(self, where: RunCriteria) -> RunGroups:
        """Count the newest 10,000 runs that match, of a search that is bounded like `find`."""
        found = RunGroups(Counter(), Counter(), None)
        budget = _Budget()
        while True:
            left = MOST_COUNTED - found.counts.total()
            part = await self._store.group_runs(
                self._tenant, limit=left, most=budget.next, where=where, cursor=found.end
            )
            found = RunGroups(found.counts + part.counts, found.labels + part.labels, part.end)
            if part.end is None or found.counts.total() >= MOST_COUNTED or not budget.spend():
                return found

    # -- histogram

    async def histogram(self, where: RunCriteria, begin: Instant, end: Instant, buckets: int) -> HistogramDocument:
        """Return how many of these runs were accepted when, by what has become of them."""
        width = max(1_000, -(-(end - begin) // buckets))
        count = max(1, min(buckets, -(-(end - begin) // width)))
        places = [begin + place * width for place in range(count)]
        counted = [HistogramBucket(at=as_datetime(place)) for place in places]
        searched_until = None
        if {"workflow", "without"}.issuperset(where.given()):
            await self._subtract(counted, where, [*map(first_id, places), first_id(end)])
        else:
            first, last = first_id(begin), first_id(end)
            first = first if where.first is None else max(first, where.first)
            last = last if where.last is None else min(last, where.last)
            rows, stopped = await self.marks(replace(where, first=first, last=last), limit=MOST_LOOKED_AT)
            marked = Counter((max(0, made_at(row.id) - begin) // width, row.status, row.stage) for row in rows)
            for (place, status, stage), number in marked.items():
                _add(counted[min(count - 1, place)], _state(status, stage), number)
            searched_until = None if stopped is None else as_datetime(made_at(stopped))
        if not where.given().keys() - {"workflow", "without"}:
            for slot in await self._slots(where.workflow, begin, end):
                _add(counted[min(count - 1, (slot - begin) // width)], "scheduled")
        totals = RunCounts()
        for bucket in counted:
            for name in _STATES:
                _add(totals, name, getattr(bucket, name))
        return HistogramDocument(
            begin=as_datetime(begin),
            end=as_datetime(end),
            bucket_ms=width / 1000,
            buckets=counted,
            totals=totals,
            searched_until=searched_until,
        )

    async def _subtract(self, counted: list[HistogramBucket], where: RunCriteria, bounds: list[bytes]) -> None:
        """Count the runs of each bucket by indexes alone. What neither ended in trouble nor is open has completed."""
        workflow = where.workflow
        rest = await self._in_ranges(Range(workflow), bounds)
        for status in (Status.FAILED, Status.TIMEOUT, Status.CANCELLED):
            numbers = await self._in_ranges(Range(workflow, status=str(status)), bounds)
            _spread(counted, rest, _state(str(status), None), numbers)
        for stage in (None, *PARKED, StageKind.QUEUED, StageKind.PAUSED, StageKind.UNCERTAIN):
            numbers = await self._in_ranges(Range(workflow, is_open=True, stage=stage), bounds)
            _spread(counted, rest, _state(str(Status.RUNNING), stage), numbers)
        later = await self._in_ranges(Range(workflow, status=str(Status.PENDING)), bounds)
        for bucket, number in zip(counted, later, strict=True):  # their rows have no stage
            bucket.running -= number
            bucket.waiting += number
        if where.without == MAP:
            await self._leave_out_pages(counted, rest, workflow, bounds)
        for bucket, number in zip(counted, rest, strict=True):
            bucket.completed = max(0, number)
            bucket.running = max(0, bucket.running)

    async def _leave_out_pages(
        self, counted: list[HistogramBucket], rest: list[int], workflow: bytes | None, bounds: list[bytes]
    ) -> None:
        pages = await self._in_ranges(Range(workflow, pages=True), bounds)
        if not any(pages):
            return
        others = RunCriteria(
            workflow=workflow, trigger=MAP, first=bounds[0], last=bounds[-1], statuses=tuple(_UNCOMPLETED)
        )
        lows = bounds[:-1]
        for row in [*await self._pages(others), *await self._pages(replace(others, statuses=tuple(sorted(OPEN))))]:
            place = sum(low <= row.id for low in lows) - 1
            _add(counted[place], _state(row.status, row.stage), -1)
            rest[place] += 1
        for place, number in enumerate(pages):
            rest[place] -= number

    async def _pages(self, where: RunCriteria) -> list[RunMark]:
        return (await self.marks(where, limit=MOST_LOOKED_AT)).rows

    async def _in_ranges(self, what: Range, bounds: list[bytes]) -> list[int]:
        return await self._store.count_in_ranges(self._tenant, what, bounds)

    async def _slots(self, workflow: bytes | None, begin: Instant, end: Instant) -> list[Instant]:
        """Return the coming slots of schedules in the range: of each schedule up to 1,000."""
        now = self._context.now()
        if end <= now:
            return []
        found: list[Instant] = []
        for row in await self.schedules(workflow):
            trigger = TriggerDefinition(TriggerType(row.kind), msgspec.json.decode(row.config), row.condition)
            if trigger.cron is not None and row.next_at is not None:
                after = max(now, begin - 1)
                found += slots_between(trigger.cron, trigger.timezone, after, end - 1).slots
        return found

    async def schedules(self, workflow: bytes | None = None) -> list[TriggerRow]:
        """Return the enabled schedules, of every workflow or of one."""
        rows = await self._store.triggers(
            self._tenant, limit=_MOST_SCHEDULES, workflow=workflow, kind=TriggerType.CRON.value, enabled=True
        )
        return [row for row in rows if row.workflow_enabled]


_STATES: Final = tuple(RunCounts.__struct_fields__)
_UNCOMPLETED: Final = sorted(map(str, TERMINAL - {Status.COMPLETED}))
_BY_STAGE: Final[dict[str | None, str]] = {
    None: "running",
    StageKind.QUEUED: "running",
    StageKind.RETRYING: "attention",
    StageKind.PAUSED: "attention",
    StageKind.UNCERTAIN: "attention",
}
_BY_STATUS: Final = {
    Status.COMPLETED: "completed",
    Status.FAILED: "failed",
    Status.TIMEOUT: "failed",
    Status.CANCELLED: "cancelled",
    Status.PAUSED: "attention",
    Status.PENDING: "waiting",
}


def _state(status: str, stage: str | None) -> str:
    """Return the field of `RunCounts` that a run counts for."""
    return _BY_STATUS.get(Status(status)) or _BY_STAGE.get(stage, "waiting")


def _add(counts: RunCounts, name: str, number: int = 1) -> None:
    setattr(counts, name, getattr(counts, name) + number)


def _spread(counted: list[HistogramBucket], rest: list[int], name: str, numbers: Sequence[int]) -> None:
    for place, number in enumerate(numbers):
        if number:
            _add(counted[place], name, number)
            rest[place] -= number


def _facet(counted: Counter[str]) -> list[FacetValue]:
    return [FacetValue(value, count) for value, count in counted.most_common(_TOP)]
