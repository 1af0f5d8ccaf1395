"""Searches by a text, heroes, and statistics of workflows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.lists import DAY, ListCommands
from detent.documents.lists import (
    FoundHero,
    FoundTrigger,
    FoundWorkflow,
    HeroSummary,
    RecentRun,
    SearchDocument,
    WorkflowStats,
)
from detent.ids import RUN, TRIGGER, WORKFLOW, InvalidId, first_id, made_at, parse, show
from detent.instant import Instant, as_datetime
from detent.run.journal import MAP
from detent.run.status import TERMINAL, Status
from detent.store.list_rows import HeroRow, Range, RunMark
from detent.store.rows import RunCriteria

_MOST_TYPES: Final = 20
_MOST_OPEN: Final = 10_000
_RECENT: Final = 30
_LAST_RUNS: Final = 200
_END: Final = b"\xff" * 16


class HeroPart(NamedTuple):
    """A page of heroes. `next`: the type and id after which the next page begins."""

    heroes: list[HeroSummary]
    next: tuple[str, str] | None


class _StatsContext(NamedTuple):
    """What the statistics of all workflows share.

    `since`: the first id of the runs to count. `in_flight`: open runs by workflow and version, of the newest 10,000.
    `coming`: the next slot of each workflow. `has_pages`: there are pages of maps, which are not counted."""

    since: bytes
    in_flight: Counter[tuple[bytes, int]]
    coming: dict[bytes, Instant]
    has_pages: bool


class SearchCommands(CommandPart):
    """What people look for by a few letters. Each look-up is exact or a prefix, so that it is fast."""

    def __init__(self, context: CommandContext, caller: Caller, lists: ListCommands) -> None:
        super().__init__(context, caller)
        self._lists = lists

    async def search(self, text: str, *, limit: int) -> SearchDocument:
        """Return what a text names: workflows and triggers by a part of the name, runs by id, request id or hero, and
        heroes by the beginning of the id, or by `type:id`."""
        workflows = await self._store.find_workflows(self._tenant, text=text, limit=limit)
        triggers = await self._store.find_triggers(self._tenant, text=text, limit=limit)
        heroes = await self._heroes(text, limit)
        return SearchDocument(
            workflows=[FoundWorkflow(show(WORKFLOW, one.id), one.name, one.title) for one in workflows],
            runs=await self._lists.summaries(await self._lists.by_ids(await self._runs(text, heroes, limit))),
            heroes=[FoundHero(one.type, one.id, one.runs) for one in heroes],
            triggers=[FoundTrigger(show(TRIGGER, one.id), one.name, one.workflow_name, one.kind) for one in triggers],
        )

    async def _runs(self, text: str, heroes: Sequence[HeroRow], limit: int) -> list[bytes]:
        """Return the run with that id or request id, and the newest runs of heroes with exactly that id."""
        found = await self._store.runs(self._tenant, limit=1, where=RunCriteria(request_id=text))
        ids = [row.id for row in found]
        with suppress(InvalidId):
            ids.append(parse(RUN, text))
        ids += [one.last_run for one in heroes if text in (one.id, f"{one.type}:{one.id}")]
        return ids[:limit]

    async def _heroes(self, text: str, limit: int) -> list[HeroRow]:
        type_, colon, id_ = text.partition(":")
        found: list[HeroRow] = []
        if colon:
            found = await self._store.heroes(self._tenant, type_, prefix=id_, limit=limit)
        for kind in await self._store.hero_types(self._tenant, limit=_MOST_TYPES):
            if len(found) < limit:
                found += await self._store.heroes(self._tenant, kind, prefix=text, limit=limit - len(found))
        return found

    async def heroes(
        self, type_: str | None, *, prefix: str = "", after: tuple[str, str] | None = None, limit: int
    ) -> HeroPart:
        """List heroes by type and id."""
        types = [type_] if type_ is not None else await self._store.hero_types(self._tenant, limit=1_000)
        rows: list[HeroRow] = []
        for kind in types:
            if (after is None or kind >= after[0]) and len(rows) <= limit:
                behind = after[1] if after is not None and kind == after[0] else None
                rows += await self._store.heroes(
                    self._tenant, kind, prefix=prefix, after=behind, limit=limit + 1 - len(rows)
                )
        shown = rows[:limit]
        runs = await self._lists.summaries(await self._lists.by_ids([row.last_run for row in shown]))
        by_id = {run.id: run for run in runs}
        heroes = [HeroSummary(row.type, row.id, row.runs, by_id.get(show(RUN, row.last_run))) for row in shown]
        return HeroPart(heroes, (shown[-1].type, shown[-1].id) if len(rows) > limit else None)

    # -- statistics

    async def stats(self, *, days: int, limit: int, after: str | None = None) -> tuple[list[WorkflowStats], str | None]:
        """Return the statistics of workflows by name, and the name after which the next page begins."""
        rows = await self._store.find_workflows(self._tenant, after=after, limit=limit + 1)
        context = await self._stats_context(days)
        found = [await self._stats(row.id, row.name, context) for row in rows[:limit]]
        return found, rows[limit - 1].name if len(rows) > limit else None

    async def stats_of_names(self, names: Sequence[str], *, days: int) -> list[WorkflowStats]:
        """Return the statistics of workflows by their names. Names of no workflow are left out."""
        context = await self._stats_context(days)
        found = []
        for name in names:
            row = await self._store.workflow(self._tenant, name)
            if row is not None:
                found.append(await self._stats(row.id, row.name, context))
        return found

    async def stats_of(self, workflow: bytes, name: str, *, days: int) -> WorkflowStats:
        """Return the statistics of one workflow."""
        return await self._stats(workflow, name, await self._stats_context(days, workflow))

    async def _stats_context(self, days: int, workflow: bytes | None = None) -> _StatsContext:
        return _StatsContext(
            first_id(self._context.now() - days * DAY),
            await self._store.count_open(self._tenant, limit=_MOST_OPEN),
            await self._coming(workflow),
            await self._lists.has_pages(),
        )

    async def _coming(self, workflow: bytes | None) -> dict[bytes, Instant]:
        found: dict[bytes, Instant] = {}
        for row in await self._lists.schedules(workflow):
            if row.next_at is not None:
                found[row.workflow] = min(row.next_at, found.get(row.workflow, row.next_at))
        return found

    async def _stats(self, workflow: bytes, name: str, context: _StatsContext) -> WorkflowStats:
        where = RunCriteria(workflow=workflow, without=MAP if context.has_pages else None)
        rows, _ = await self._lists.marks(where, limit=_LAST_RUNS)
        bounds = [context.since, _END]
        [runs] = await self._store.count_in_ranges(self._tenant, Range(workflow), bounds)
        if context.has_pages:
            [pages] = await self._store.count_in_ranges(self._tenant, Range(workflow, pages=True), bounds)
            runs -= pages
        in_flight, coming = context.in_flight, context.coming
        ended = Counter(row.status for row in rows if row.status in TERMINAL and row.status != Status.CANCELLED)
        spans = sorted(span for row in rows if (span := _span(row)) is not None)
        return WorkflowStats(
            workflow_id=show(WORKFLOW, workflow),
            workflow=name,
            recent=[
                RecentRun(show(RUN, row.id), row.status, _span(row), as_datetime(made_at(row.id)))
                for row in reversed(rows[:_RECENT])
            ],
            runs=runs,
            success_rate=ended[Status.COMPLETED] / ended.total() if ended else None,
            p50_ms=_percentile(spans, 0.5),
            p95_ms=_percentile(spans, 0.95),
            in_flight={str(version): count for (id_, version), count in sorted(in_flight.items()) if id_ == workflow},
            last_at=as_datetime(made_at(rows[0].id)) if rows else None,
            next_at=as_datetime(coming[workflow]) if workflow in coming else None,
        )


def _span(row: RunMark) -> float | None:
    """Return how long an ended run took, in milliseconds."""
    return None if row.ended_at is None else max(0, row.ended_at - row.started_at) / 1000


def _percentile(spans: Sequence[float], part: float) -> float | None:
    """Return the shortest time that this part of the runs did not exceed."""
    return spans[min(len(spans) - 1, int(len(spans) * part))] if spans else None
