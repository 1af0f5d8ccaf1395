"""The command that plays a run of a saved workflow, and the sync and async drivers of a dry run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from detent.auth.caller import Caller
from detent.clock import SystemClock
from detent.commands.children import DEEPEST
from detent.commands.context import CommandContext, CommandPart
from detent.commands.drafts import DRAFT
from detent.commands.dry_run.effects import EffectAnswers, RecordedStep
from detent.commands.dry_run.simulation import (
    MOST_SECONDS,
    ChildFound,
    ChildRequest,
    DryRun,
    DryRunResult,
    DryWorkflow,
    Play,
)
from detent.commands.runs import RunCommands
from detent.commands.start import StartCommands, check_payload, encode_input
from detent.commands.workflows import WorkflowCommands, new_version
from detent.engine.cache import Startable, startable
from detent.errors import Conflict, DetentError, InvalidInput, NotFound, Recursion, TooDeep
from detent.forms.compile import is_code
from detent.forms.stated_answers import read_stated_answers
from detent.graph.model import Graph
from detent.ids import WORKFLOW, show
from detent.planner.moves.code import graph_of
from detent.planner.prepared import prepare
from detent.run.outcomes import EMPTY_RESULT
from detent.run.start import StartRequest
from detent.steps.child_step import refused_start
from detent.store.rows import WorkflowRow
from detent.values.fields import Problems
from detent.views.runs import fold_row


@dataclass(frozen=True, slots=True)
class DryRunRequest:
    """The answers of a dry run: those of `answers`, by step, then those of the run `from_run`, then examples."""

    answers: Any = None
    from_run: str | None = None


class DryRunCommands(CommandPart):
    """Dry runs of saved workflows. Nothing here writes anything."""

    def __init__(self, context: CommandContext, caller: Caller, workflows: WorkflowCommands, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._workflows = workflows
        self._runs = runs

    async def run(self, request: StartRequest, asked: DryRunRequest) -> tuple[DryRunResult, int | None]:
        """Play a run of a workflow's current version, or of the version or draft that the request names. Return what it
        would do, and the number of the version. Raise the errors of a start, and Conflict for Python code."""
        request.check()
        await StartCommands(self._context, self._caller).require_start(request.workflow)
        content = encode_input(request)
        row = await self._workflows.get(request.workflow)
        if is_code(row.form):
            raise Conflict(f"the workflow {row.name!r} is Python code: test it with `detent.testing`")
        ready = await self._ready(row, request)
        check_payload(ready, request.body)
        effects = read_effects(asked.answers, ready.prepared.graph)
        if asked.from_run is not None:
            effects.recorded = await self._recorded(asked.from_run)
        begins = request.begins(self._context.now()) or self._context.now()
        play = DryRun(effects, tenant=self._tenant, is_late=time_limit()).play(
            DryWorkflow(ready.name, ready.prepared, ready.id), content.data, at=begins, hero=request.hero
        )
        async with self._context.dry_runs:
            found: ChildFound = None
            while isinstance(wanted := await asyncio.to_thread(advance_play, play, found), ChildRequest):
                found = await self._child(wanted)
        add_unused(wanted, effects)
        return wanted, ready.version if ready.version > 0 else None

    async def _ready(self, row: WorkflowRow, request: StartRequest) -> Startable:
        """Return the version to play. A draft is compiled and not stored."""
        is_only_draft = request.version is None and row.status == "draft"
        if request.version == DRAFT or is_only_draft:
            draft = await self._store.draft(self._tenant, row.id)
            if draft is None:
                raise NotFound(f"the workflow {row.name!r} has no draft")
            compiled = await self._workflows.compile(draft.source)
            facts = new_version(self._tenant, row.id, compiled, draft.source).facts()
            prepared = await asyncio.to_thread(prepare, compiled.graph)
            return startable(row._replace(version=0, **facts._asdict()), prepared)
        if request.version is None:
            return await self._context.workflows.startable(self._tenant, request.workflow)
        return await self._context.workflows.pinned(self._tenant, request.workflow, request.version)

    async def _recorded(self, run: str) -> dict[str, RecordedStep]:
        """Return how the steps of a past run ended."""
        row = await self._runs.row(run)
        entries = await self._runs.entries(row.id)
        began, versions = await self._runs.graphs(row, entries)

        def fold() -> dict[str, RecordedStep]:
            state = fold_row(row, began, entries, str, versions)
            found: dict[str, RecordedStep] = {}
            for step in graph_of(began, state).steps:
                ending = state.ending[step.index]
                if ending is not None:
                    result = state.results.get(step.index, EMPTY_RESULT)
                    found[step.name] = RecordedStep(ending, result, state.errors.get(step.index))
            return found

        return await asyncio.to_thread(fold)

    async def _child(self, wanted: ChildRequest) -> ChildFound:
        """Find the workflow of a child run, as a start would. A workflow in Python can only be answered."""
        workflows, family = self._context.workflows, wanted.family
        try:
            if family.depth > (DEEPEST if wanted.recursion else self._context.limits.nesting):
                raise TooDeep(f"it would be {family.depth} levels below the first run")
            row = await workflows.row(self._tenant, wanted.workflow)
            if wanted.version is None:
                ready = await workflows.startable(self._tenant, wanted.workflow)
            else:
                ready = await workflows.pinned(self._tenant, wanted.workflow, wanted.version)
            if not wanted.recursion and show(WORKFLOW, ready.id) in family.path:
                raise Recursion(f"{wanted.workflow!r} is a parent of this run already")
            check_payload(ready, wanted.body)
        except DetentError as error:
            return refused_start(error)
        return None if is_code(row.form) else DryWorkflow(ready.name, ready.prepared, ready.id)


def read_effects(given: Any, graph: Graph) -> EffectAnswers:
    """Read pinned answers. Raise InvalidInput with every problem."""
    problems = Problems()
    pinned = read_stated_answers(given, "answers", problems, graph)
    if problems.found:
        raise InvalidInput("the answers cannot be used", problems.found)
    return EffectAnswers(pinned)


def time_limit() -> Callable[[], bool]:
    """Return a function that says whether the time of a dry run is over."""
    clock = SystemClock()
    until = clock.monotonic() + MOST_SECONDS
    return lambda: clock.monotonic() > until


def advance_play(play: Play, found: ChildFound) -> ChildRequest | DryRunResult:
    """Play on until a child is wanted or the dry run has ended."""
    try:
        return play.send(found)
    except StopIteration as end:
        result: DryRunResult = end.value
        return result


def add_unused(result: DryRunResult, effects: EffectAnswers) -> None:
    """Add a problem for each pinned answer of a child that no run asked for."""
    result.problems += [f"answers.{name}: no child run asked for it" for name in effects.unused()]
