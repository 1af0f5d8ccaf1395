"""Rehearsals: what runs in flight and finished runs would do in a draft, before it is published.

The pure planner runs the draft over their recorded answers. No effect is made and nothing is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.moves import MOST, MoveCommands, MoveSurvey, MoveTarget, Report, no_report
from detent.commands.workflows import WorkflowCommands, new_version
from detent.errors import Conflict, InvalidDefinition, NotFound, Problem
from detent.forms.compile import is_code
from detent.forms.compiled import Compiled
from detent.instant import micros
from detent.planner.moves.code import graph_of
from detent.planner.moves.rehearsal import Rehearsal, rehearse
from detent.planner.moves.version import versions_in
from detent.planner.prepared import Prepared, prepare
from detent.run.journal import MAP
from detent.run.status import OPEN, TERMINAL
from detent.store.rows import RunCriteria, RunRow, WorkflowRow
from detent.views.runs import fold_row

#: So many finished runs, and so many runs in flight, are rehearsed: the newest ones.
SAMPLE: Final = 1_000
MOST_DAYS: Final = 366
USUAL_DAYS: Final = 7
_PAGE: Final = 100
#: So many steps and entries of runs are looked at before other work has a turn.
_SLICE: Final = 150
_DAY: Final = 86_400.0


class RehearsalStage(StrEnum):
    """The parts of a rehearsal, in order."""

    MOVES = "moves"
    IN_FLIGHT = "in_flight"
    FINISHED = "finished"


class RehearsalProgress(NamedTuple):
    """How far a rehearsal is: the runs of its stage that were looked at, and all of them."""

    stage: RehearsalStage
    done: int
    total: int


Progress = Callable[[RehearsalProgress], object]


@dataclass(frozen=True, slots=True)
class RehearsalRequest:
    """How to rehearse: over finished runs of so many days. With `strict` a publish is refused if a run would fail or
    could not be moved. `progress` hears how far it is."""

    days: int = USUAL_DAYS
    strict: bool = False
    progress: Progress | None = None


@dataclass(slots=True)
class RehearsalGroup:
    """Runs that would do the same. `found` is that of the first one; `is_open` says that they are in flight."""

    is_open: bool
    found: Rehearsal
    runs: list[bytes] = field(default_factory=list)

    def is_same(self) -> bool:
        """Return whether these runs take the same path."""
        return not self.found.detours and not self.found.failures


@dataclass(slots=True)
class RehearsalResult:
    """What the draft would do. `finished` and `in_flight` count the rehearsed runs, `moves` says which could move."""

    workflow: WorkflowRow
    version: int
    days: int
    finished: int = 0
    in_flight: int = 0
    groups: list[RehearsalGroup] = field(default_factory=list)
    moves: MoveSurvey | None = None

    def failing(self) -> int:
        """Return how many of the rehearsed runs would fail."""
        return sum(len(group.runs) for group in self.groups if group.found.failures)

    def problem(self) -> str | None:
        """Return why a strict publish is refused, or `None` if nothing speaks against it."""
        words = []
        if failing := self.failing():
            words.append(f"{failing:,} of {self.finished + self.in_flight:,} rehearsed runs would fail")
        if self.moves is not None and (blocked := self.moves.blocked()):
            words.append(f"{blocked:,} of {self.moves.matched:,} runs in flight could not be moved to it")
        return "; ".join(words) or None


class RehearsalCommands(CommandPart):
    """Rehearsals of drafts."""

    def __init__(
        self,
        context: CommandContext,
        caller: Caller,
        workflows: WorkflowCommands,
        moves: MoveCommands,
    ) -> None:
        super().__init__(context, caller)
        self._workflows = workflows
        self._moves = moves

    async def rehearse(
        self,
        workflow: str,
        asked: RehearsalRequest,
        *,
        definition: bytes | None = None,
        filename: str | None = None,
        version: int | None = None,
    ) -> RehearsalResult:
        """Rehearse a definition, a stored version, or else the draft of a workflow. Raise InvalidDefinition, NotFound,
        or Conflict if the workflow is Python code."""
        row = await self._workflows.get(workflow)
        if is_code(row.form):
            raise Conflict(f"the workflow {row.name!r} is Python code: test it with `detent.testing`")
        if version is not None:
            prepared, _ = await self._context.workflows.version(row, version)
            return await self._rehearse(row, prepared, version, asked)
        source: bytes | str | None = definition
        if source is None:
            draft = await self._store.draft(self._tenant, row.id)
            if draft is None:
                raise NotFound(f"the workflow {row.name!r} has no draft; send a definition, or name a version")
            source = draft.source
        compiled = await self._workflows.compile(source, filename=filename)
        return await self.rehearse_draft(row, compiled, source, asked)

    async def rehearse_draft(
        self, row: WorkflowRow, compiled: Compiled, source: bytes | str, asked: RehearsalRequest
    ) -> RehearsalResult:
        """Rehearse a compiled definition. Its version is the one that a publish would make or find."""
        if compiled.name != row.name:
            message = f"is {compiled.name!r}, and the workflow is {row.name!r}"
            raise InvalidDefinition(problems=[Problem("name", message)])
        checksum = (await asyncio.to_thread(new_version, self._tenant, row.id, compiled, source)).checksum
        versions = await self._store.versions(row.tenant, row.id)
        known = next((one.version for one in versions if one.checksum == checksum), None)
        number = known or max((one.version for one in versions), default=0) + 1
        return await self._rehearse(row, await asyncio.to_thread(prepare, compiled.graph), number, asked)

    async def _rehearse(
        self, row: WorkflowRow, prepared: Prepared, number: int, asked: RehearsalRequest
    ) -> RehearsalResult:
        result = RehearsalResult(row, number, asked.days)
        target = MoveTarget(row.id, number, prepared, (), {})
        report = _reporter(asked, RehearsalStage.MOVES)
        result.moves = await self._moves.survey(
            RunCriteria(without=MAP), target, limit=MOST, dry_run=True, report=report
        )
        groups: dict[tuple[object, ...], RehearsalGroup] = {}
        in_flight = RunCriteria(workflow=row.id, statuses=tuple(sorted(OPEN)), without=MAP)
        result.in_flight = await self._look_at(in_flight, prepared, groups, asked, RehearsalStage.IN_FLIGHT)
        since = self._context.now() - micros(asked.days * _DAY)
        finished = RunCriteria(workflow=row.id, statuses=tuple(sorted(TERMINAL)), started_after=since, without=MAP)
        result.finished = await self._look_at(finished, prepared, groups, asked, RehearsalStage.FINISHED)
        result.groups = sorted(groups.values(), key=lambda group: -len(group.runs))
        return result

    async def _look_at(
        self,
        where: RunCriteria,
        new: Prepared,
        groups: dict[tuple[object, ...], RehearsalGroup],
        asked: RehearsalRequest,
        stage: RehearsalStage,
    ) -> int:
        """Rehearse the newest runs that match, and sort them into groups. Return how many they are."""
        cursor, count, work, is_open = None, 0, 0, stage is RehearsalStage.IN_FLIGHT
        report = _reporter(asked, stage)
        total = await self._store.count_runs(self._tenant, where=where, limit=SAMPLE)
        report(0, total)
        while count < SAMPLE:
            rows = await self._store.runs(self._tenant, limit=_PAGE, where=where, cursor=cursor)
            journals = await self._store.journals_of(self._tenant, [row.id for row in rows])
            numbers = {row.id: versions_in(journals.get(row.id, ())) or [row.version] for row in rows}
            graphs = await self._graphs(rows, numbers)
            for row in rows:
                wanted = numbers[row.id]
                if any(number not in graphs for number in wanted):
                    continue
                base, entries = graphs[wanted[0]], journals.get(row.id, [])
                state = fold_row(row, base, entries, str, graphs)
                found = rehearse(graph_of(base, state), state, new, {}, entries)
                group = groups.setdefault((is_open, *found.shape()), RehearsalGroup(is_open, found))
                group.runs.append(row.id)
                count += 1
                work += len(entries) + len(new.steps)
                if work >= _SLICE:
                    work = 0
                    report(count, total)
                    await asyncio.sleep(0)
            if len(rows) < _PAGE:
                break
            cursor = rows[-1].id
        return count

    async def _graphs(self, rows: Sequence[RunRow], numbers: Mapping[bytes, list[int]]) -> dict[int, Prepared]:
        wanted = [(row.workflow, number) for row in rows for number in numbers[row.id]]
        found = await self._engine.graphs.get(wanted)
        return {number: prepared for (_, number), (_, prepared) in found.items()}


def _reporter(asked: RehearsalRequest, stage: RehearsalStage) -> Report:
    progress = asked.progress
    if progress is None:
        return no_report
    return lambda done, total: progress(RehearsalProgress(stage, done, total))
