"""Rehearsals: what runs in flight and finished runs would do in a draft, before it is published.

The pure planner runs the draft over their recorded answers. No effect is made and nothing is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.moves import MOST, MoveCommands, MoveSurvey, MoveTarget
from detent.commands.runs import RunCommands
from detent.commands.workflows import WorkflowCommands
from detent.errors import Conflict, InvalidDefinition, NotFound, Problem
from detent.forms.compile import is_code
from detent.graph.model import Graph
from detent.instant import micros
from detent.observe import emit
from detent.planner.moves.code import graph_of
from detent.planner.moves.rehearsal import Rehearsal, rehearse
from detent.planner.moves.version import versions_in
from detent.planner.prepared import Prepared, prepare
from detent.run.status import OPEN, TERMINAL
from detent.store.rows import RunCriteria, RunRow, WorkflowRow
from detent.views.runs import fold_row

#: So many finished runs, and so many runs in flight, are rehearsed: the newest ones.
SAMPLE: Final = 1_000
MOST_DAYS: Final = 366
_PAGE: Final = 100
#: So many runs are rehearsed before other work has a turn.
_SLICE: Final = 25
_DAY: Final = 86_400.0


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
    finished: int = 0
    in_flight: int = 0
    groups: list[RehearsalGroup] = field(default_factory=list)
    moves: MoveSurvey | None = None


class RehearsalCommands(CommandPart):
    """Rehearsals of drafts."""

    def __init__(
        self,
        context: CommandContext,
        caller: Caller,
        runs: RunCommands,
        workflows: WorkflowCommands,
        moves: MoveCommands,
    ) -> None:
        super().__init__(context, caller)
        self._runs, self._workflows, self._moves = runs, workflows, moves

    async def rehearse(
        self,
        workflow: str,
        *,
        definition: bytes | None = None,
        filename: str | None = None,
        version: int | None = None,
        days: int = 7,
    ) -> RehearsalResult:
        """Rehearse a definition, a stored version, or else the draft of a workflow. Raise InvalidDefinition, NotFound,
        or Conflict if the workflow is Python code."""
        row = await self._workflows.get(workflow)
        if is_code(row.form):
            raise Conflict(f"the workflow {row.name!r} is Python code: test it with `detent.testing`")
        graph = await self._graph(row, definition, filename, version)
        prepared = await asyncio.to_thread(prepare, graph)
        versions = await self._store.versions(row.tenant, row.id)
        number = version or max((one.version for one in versions), default=0) + 1
        result = RehearsalResult(row, number)
        target = MoveTarget(row.id, number, prepared, (), {})
        result.moves = await self._moves.survey(RunCriteria(), target, limit=MOST, dry_run=True)
        emit("rehearsal.progress", workflow=row.name, stage="moves", done=result.moves.matched)
        groups: dict[tuple[object, ...], RehearsalGroup] = {}
        in_flight = RunCriteria(workflow=row.id, statuses=tuple(sorted(OPEN)))
        result.in_flight = await self._look_at(in_flight, prepared, groups, is_open=True)
        since = self._context.now() - micros(days * _DAY)
        finished = RunCriteria(workflow=row.id, statuses=tuple(sorted(TERMINAL)), started_after=since)
        result.finished = await self._look_at(finished, prepared, groups, is_open=False)
        result.groups = sorted(groups.values(), key=lambda group: -len(group.runs))
        return result

    async def _graph(
        self, row: WorkflowRow, definition: bytes | None, filename: str | None, version: int | None
    ) -> Graph:
        if version is not None:
            prepared, _ = await self._context.workflows.version(row, version)
            return prepared.graph
        source: bytes | str | None = definition
        if source is None:
            draft = await self._store.draft(self._tenant, row.id)
            if draft is None:
                raise NotFound(f"the workflow {row.name!r} has no draft; send a definition, or name a version")
            source = draft.source
        compiled = await asyncio.to_thread(self._workflows.compile, source, filename=filename)
        if compiled.name != row.name:
            message = f"is {compiled.name!r}, and the workflow is {row.name!r}"
            raise InvalidDefinition(problems=[Problem("name", message)])
        return compiled.graph

    async def _look_at(
        self, where: RunCriteria, new: Prepared, groups: dict[tuple[object, ...], RehearsalGroup], *, is_open: bool
    ) -> int:
        """Rehearse the newest runs that match, and sort them into groups. Return how many they are."""
        cursor, count = None, 0
        while count < SAMPLE:
            rows = await self._store.runs(self._tenant, limit=_PAGE, where=where, cursor=cursor)
            journals = await self._engine.store.journals([row.id for row in rows])
            numbers = {row.id: versions_in(journals.get(row.id, ())) or [row.version] for row in rows}
            graphs = await self._graphs(rows, numbers)
            for row in rows:
                wanted = numbers[row.id]
                if any(number not in graphs for number in wanted):
                    continue
                base = graphs[wanted[0]]
                state = fold_row(row, base, journals.get(row.id, []), str, graphs)
                found = rehearse(graph_of(base, state), state, new, {})
                group = groups.setdefault((is_open, *found.shape()), RehearsalGroup(is_open, found))
                group.runs.append(row.id)
                count += 1
                if count % _SLICE == 0:
                    emit("rehearsal.progress", workflow=row.workflow_name, stage="runs", done=count)
                    await asyncio.sleep(0)
            if len(rows) < _PAGE:
                break
            cursor = rows[-1].id
        return count

    async def _graphs(self, rows: Sequence[RunRow], numbers: Mapping[bytes, list[int]]) -> dict[int, Prepared]:
        wanted = [(row.workflow, number) for row in rows for number in numbers[row.id]]
        found = await self._engine.graphs.get(wanted)
        return {number: prepared for (_, number), (_, prepared) in found.items()}
