"""Moves of runs in flight to another version of their workflow: one run, or many that a filter chooses.

A command checks first, and refuses with the reasons. The owner of the run checks again, because the run may have gone
on, and journals the move or its refusal.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.commands.control import LOOK_AGAIN, PATIENCE
from detent.commands.runs import RunCommands
from detent.engine.inbox import MoveData
from detent.errors import Conflict, InvalidInput, NotFound, Problem
from detent.graph.codec import FEATURES
from detent.ids import WORKFLOW, show
from detent.planner.moves.code import graph_of
from detent.planner.moves.shape import Shape, shape_of
from detent.planner.moves.version import Movable, MoveReason, MoveWish, Refused, check_move, versions_in
from detent.planner.prepared import Prepared
from detent.run.journal import MAP, REFUSED, Entry, Kind, decode_data
from detent.run.state import Phase, RunState
from detent.run.status import OPEN, TERMINAL
from detent.store.audit import note_audit, shown_filter
from detent.store.rows import MessageKind, RunCriteria, RunRow
from detent.views.runs import fold_row

MOST: Final = 10_000
#: A move renames at most so many steps.
MOST_NAMES: Final = 1_000
_PAGE: Final = 200
#: So many steps and entries of runs are looked at before other work has a turn.
_SLICE: Final = 500
_PAGE_STAYS: Final = MoveReason(None, "it is a page of a map and stays on the version of its map")


#: Hears how much was done, and of how much.
Report = Callable[[int, int], object]


def no_report(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class MoveTarget:
    """The version that runs are moved to. `code` is what a node must have to run it."""

    workflow: bytes
    version: int
    prepared: Prepared
    code: tuple[str, ...]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MoveCheck:
    """Whether one run can be moved. `requested`: the move was sent and its owner has not applied it yet."""

    run: bytes
    was: int
    version: int
    begins: tuple[str, ...] = ()
    reasons: tuple[MoveReason, ...] = ()
    requested: bool = False


@dataclass(slots=True)
class MoveGroup:
    """Runs that can be moved alike, or cannot be moved for the same reasons. `at` has the steps they are at."""

    was: int
    at: tuple[str, ...]
    begins: tuple[str, ...]
    reasons: tuple[MoveReason, ...]
    runs: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class MoveSurvey:
    """The runs that a filter matches, in groups. `more`: other runs match too. `sent`: the moves that were sent."""

    version: int
    matched: int = 0
    more: bool = False
    groups: list[MoveGroup] = field(default_factory=list)
    sent: int = 0

    def movable(self) -> int:
        """Return how many runs can be moved."""
        return sum(len(group.runs) for group in self.groups if not group.reasons)

    def blocked(self) -> int:
        """Return how many runs cannot be moved. Runs that have this version already are not counted."""
        return sum(len(group.runs) for group in self.groups if group.reasons and group.was != self.version)


class MoveCommands(CommandPart):
    """Moves of open runs."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs

    async def target(self, workflow: str, version: int | None, names: Mapping[str, str]) -> MoveTarget:
        """Return a version to move runs to, by default the current one. Raise NotFound if there is none."""
        if len(names) > MOST_NAMES:
            raise InvalidInput("the request is invalid", [Problem("names", f"may have {MOST_NAMES} entries at most")])
        row = await self._context.workflows.row(self._tenant, workflow)
        number = row.version if version is None else version
        if number < 1:
            raise NotFound(f"the workflow {row.name!r} has no version {number} that runs can be moved to")
        prepared, found = await self._context.workflows.version(row, number)
        facts = row.facts() if found.facts is None else found.facts
        code = tuple(sorted({*FEATURES, *json.loads(facts.trigger).get("code", ())}))
        return MoveTarget(row.id, number, prepared, code, names)

    async def check(self, run: str | RunRow, version: int | None, names: Mapping[str, str]) -> MoveCheck:
        """Return whether a run could be moved now. Nothing is changed."""
        row = await self._runs.row(run)
        target = await self.target(show(WORKFLOW, row.workflow), version, names)
        return (await self._checked(row, target))[0]

    async def move(self, run: str | RunRow, version: int | None, names: Mapping[str, str]) -> MoveCheck:
        """Move a run. Raise Conflict with the reasons if that cannot hold."""
        row = await self._runs.row(run)
        target = await self.target(show(WORKFLOW, row.workflow), version, names)
        found, seq = await self._checked(row, target)
        if found.reasons:
            raise _refusal(target.version, "; ".join(reason.message for reason in found.reasons))
        if not await self._store.send(row.tenant, row.id, MessageKind.MOVE, self._message(target)):
            raise _refusal(target.version, "the run has ended meanwhile")
        self._context.nudge()
        return await self._watch(row, found, seq)

    async def survey(
        self,
        where: RunCriteria,
        target: MoveTarget,
        *,
        limit: int,
        dry_run: bool,
        report: Report = no_report,
    ) -> MoveSurvey:
        """Check the oldest `limit` open runs of the workflow that match, in groups. Unless it is a dry run, send the
        move to those that can be moved. `report` hears how many were checked, and of how many."""
        where = replace(where, workflow=target.workflow, statuses=where.statuses or tuple(sorted(OPEN)))
        survey = MoveSurvey(target.version)
        note_audit(filter=shown_filter(where.given()), version=target.version, dry_run=dry_run)
        survey.matched = await self._store.count_runs(self._tenant, where=where, limit=MOST)
        groups = _Groups(target, survey, self._context.now())
        count, total = 0, min(limit, survey.matched)
        report(0, total)
        async for page in self._pages(where, limit):
            await self._look_at(page, groups)
            count += len(page)
            report(count, total)
        survey.more = survey.matched > count
        survey.groups.sort(key=lambda group: -len(group.runs))
        if not dry_run:
            movable = sorted(run for group in survey.groups if not group.reasons for run in group.runs)
            note_audit(count=len(movable))
            survey.sent = len(await self._send_many(movable, MessageKind.MOVE, self._message(target)))
            self._context.nudge()
        return survey

    async def _pages(self, where: RunCriteria, limit: int) -> AsyncIterator[list[RunRow]]:
        cursor, left = None, limit
        while left > 0:
            size = min(_PAGE, left)
            rows = await self._store.runs(self._tenant, limit=size, where=where, cursor=cursor, oldest_first=True)
            if rows:
                yield rows
            if len(rows) < size:
                return
            cursor, left = rows[-1].id, left - len(rows)

    async def _look_at(self, rows: Sequence[RunRow], groups: _Groups) -> None:
        journals = await self._store.journals_of(self._tenant, [row.id for row in rows])
        numbers = {row.id: versions_in(journals.get(row.id, ())) or [row.version] for row in rows}
        wanted = [(row.workflow, number) for row in rows for number in numbers[row.id]]
        found = await self._engine.graphs.get(wanted)
        graphs = {number: prepared for (_, number), (_, prepared) in found.items()}
        work = 0
        for row in rows:
            work += groups.add(row, journals.get(row.id, []), numbers[row.id], graphs)
            if work >= _SLICE:
                work = 0
                await asyncio.sleep(0)

    async def _checked(self, row: RunRow, target: MoveTarget) -> tuple[MoveCheck, int]:
        if row.status in TERMINAL:
            reason = f"the run has ended ({row.status}); retry it on version {target.version} instead"
            return MoveCheck(row.id, row.version, target.version, reasons=(MoveReason(None, reason),)), 0
        if row.trigger == MAP:
            return MoveCheck(row.id, row.version, target.version, reasons=(_PAGE_STAYS,)), 0
        prepared, state = await self._runs.folded(row)
        wish = MoveWish(target.version, state.moved_version or row.version, target.names)
        found = check_move(prepared, state, target.prepared, wish, self._context.now())
        begins = found.begins if isinstance(found, Movable) else ()
        reasons = found.reasons if isinstance(found, Refused) else ()
        return MoveCheck(row.id, wish.was, target.version, begins, reasons), state.seq

    def _message(self, target: MoveTarget) -> bytes:
        data = MoveData(target.workflow.hex(), target.version, list(target.code), dict(target.names), self._caller.name)
        return encoder.encode(data)

    async def _watch(self, row: RunRow, found: MoveCheck, seq: int) -> MoveCheck:
        """Wait until the owner of the run has journalled the move or its refusal."""
        until = self._engine.clock.monotonic() + PATIENCE
        while self._engine.clock.monotonic() < until:
            for entry in await self._store.journal(self._tenant, row.id, after=seq):
                data = decode_data(entry.data)
                if entry.kind != Kind.MOVED or data.version != found.version:
                    continue
                if entry.outcome == REFUSED:
                    raise _refusal(found.version, "" if data.error is None else data.error.message)
                return found
            await asyncio.sleep(LOOK_AGAIN)
        return replace(found, requested=True)


class _Groups:
    """Sorts runs into groups. Runs of one shape are checked once, unless the check reads values."""

    def __init__(self, target: MoveTarget, survey: MoveSurvey, now: int) -> None:
        self._target, self._survey, self._now = target, survey, now
        self._shapes: dict[Shape, MoveGroup | None] = {}
        self._found: dict[tuple[object, ...], MoveGroup] = {}

    def add(self, row: RunRow, entries: list[Entry], numbers: list[int], graphs: Mapping[int, Prepared]) -> int:
        """Sort a run into its group. Return how many steps and entries were looked at."""
        work = len(entries) + 1
        shape = shape_of(numbers[0], row.opening, entries)
        group = self._shapes.get(shape)
        if group is None:
            group, read_values = self._check(row, entries, numbers, graphs)
            work += len(entries) + len(self._target.prepared.steps)
            if not read_values:
                self._shapes[shape] = group
        group.runs.append(row.id)
        return work

    def _check(
        self, row: RunRow, entries: list[Entry], numbers: list[int], graphs: Mapping[int, Prepared]
    ) -> tuple[MoveGroup, bool]:
        target = self._target
        if row.trigger == MAP:
            return self._group(numbers[-1], (), (), (_PAGE_STAYS,)), True
        if any(number not in graphs for number in numbers):
            return self._group(numbers[-1], (), (), (MoveReason(None, "its own version cannot be read"),)), True
        base = graphs[numbers[0]]
        state = fold_row(row, base, entries, str, graphs)
        prepared = graph_of(base, state)
        wish = MoveWish(target.version, numbers[-1], target.names)
        found = check_move(prepared, state, target.prepared, wish, self._now)
        at = _active(prepared, state)
        if isinstance(found, Refused):
            return self._group(wish.was, at, (), found.reasons), found.read_values
        return self._group(wish.was, at, found.begins, ()), found.read_values

    def _group(
        self, was: int, at: tuple[str, ...], begins: tuple[str, ...], reasons: tuple[MoveReason, ...]
    ) -> MoveGroup:
        key = (was, at, begins, reasons)
        if key not in self._found:
            self._found[key] = MoveGroup(was, at, begins, reasons)
            self._survey.groups.append(self._found[key])
        return self._found[key]


def _active(prepared: Prepared, state: RunState) -> tuple[str, ...]:
    idle = (Phase.PENDING, Phase.ENDED)
    return tuple(step.name for step in prepared.steps if state.phase[step.index] not in idle)


def _refusal(version: int, words: str) -> Conflict:
    return Conflict(f"Cannot move this run to version {version}: {words}")
