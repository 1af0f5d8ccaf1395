"""Retry, rerun and fork: new runs that name the run they come from. A run that has ended never changes."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.control import build_result
from detent.commands.runs import RunCommands
from detent.commands.start import ATTEMPTS, StartAnswer, StartCommands
from detent.engine.cache import Startable
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import StartRefused, key_of, refuse_if_active, start_run
from detent.errors import Conflict, NotFound, TooLarge, Unavailable
from detent.ids import RUN, WORKFLOW, show
from detent.planner.functions import kind_of_operation
from detent.planner.prepared import Prepared
from detent.planner.reuse import Reuse, fork_plan, operation_fork_plan, retry_plan
from detent.run.call import Op, op_of
from detent.run.journal import MAP, placed_in
from detent.run.start import StartRequest
from detent.run.state import RunState
from detent.run.status import TERMINAL, Status
from detent.store.rows import RunRow, hero_of
from detent.values.limits import INPUT_LIMIT
from detent.values.nearest import nearest

RETRY: Final = "retry"
RERUN: Final = "rerun"
FORK: Final = "fork"
#: Reused results are written in the flush that starts the run, and every other run of the node waits for that flush.
MOST_REUSED: Final = 8_000_000
MOST_OPERATIONS: Final = 5_000
#: How many versions are searched for the code that a run was moved to.
_NEWEST: Final = 20
_PARTS: Final = ("body", "headers", "query")


class RetryVersion(StrEnum):
    """The version that a retry starts: that of the old run, or the current one of the workflow."""

    SAME = "same"
    CURRENT = "current"


class RetryPreview(NamedTuple):
    """What a retry of a run would keep, and the steps that would run again or be decided again."""

    run: bytes
    version: int
    kept: list[str]
    again: list[str]


def _refuse_page(row: RunRow) -> RunRow:
    """Return the row. Raise Conflict if it is a page of a map, which cannot run without its map."""
    if row.trigger == MAP and row.parent is not None:
        parent = show(RUN, row.parent)
        raise Conflict(f"{show(RUN, row.id)} is a page of a map and cannot run alone; retry the run {parent}")
    return row


class RerunCommands(CommandPart):
    """New runs of old ones. A second command with the same `request_id` returns the first new run."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands, starts: StartCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs
        self._starts = starts

    async def retry(
        self, run: str | RunRow, *, request_id: str | None = None, version: RetryVersion = RetryVersion.SAME
    ) -> StartAnswer:
        """Start a run that repeats the failed steps of one that did not complete, and reuses what succeeded.

        With the current version, results are reused by the names of the steps that this version has too."""
        row = _refuse_page(await self._runs.row(run))
        await self._starts.require_start(show(WORKFLOW, row.workflow))
        prepared, reuse = await self._retryable(row)
        if version is RetryVersion.CURRENT:
            target = await self._context.workflows.current(self._tenant, show(WORKFLOW, row.workflow))
            return await self._continue(row, prepared, reuse, (RETRY, b"current"), request_id, target=target)
        return await self._continue(row, prepared, reuse, (RETRY, b""), request_id)

    async def preview_retry(self, run: str | RunRow, *, version: RetryVersion = RetryVersion.SAME) -> RetryPreview:
        """Return what a retry would keep and what would run again. Nothing is started."""
        row = _refuse_page(await self._runs.row(run))
        prepared, reuse = await self._retryable(row)
        if version is RetryVersion.CURRENT:
            target = await self._context.workflows.current(self._tenant, show(WORKFLOW, row.workflow))
            number, graph = target.version, target.prepared
        else:
            number, graph = await self._version_of(row, prepared)
        reuse = reuse.over(prepared, graph)
        _refuse_too_much(reuse)
        kept = [graph.steps[index].name for index in graph.order if index in reuse.results or index in reuse.skipped]
        kept += [one.key for one in reuse.operations]
        again = [step.name for step in graph.steps if step.name not in kept]
        return RetryPreview(row.id, number, kept, again)

    async def _retryable(self, row: RunRow) -> tuple[Prepared, Reuse]:
        """Return the graph of a run that can be retried, and what the retry reuses."""
        if row.status not in TERMINAL or row.status == Status.COMPLETED:
            word = "finished" if row.status == Status.COMPLETED else row.status
            raise Conflict(f"Cannot retry a {word} workflow")
        prepared, state = await self._runs.folded(row)
        return prepared, retry_plan(prepared, state)

    async def rerun(
        self, run: str | RunRow, *, body: Any = msgspec.UNSET, request_id: str | None = None
    ) -> StartAnswer:
        """Start the whole workflow again, in its current version, with the same input or another body."""
        row = _refuse_page(await self._runs.row(run))
        given, placed = msgspec.json.decode(row.input), placed_in(row.opening)
        request = StartRequest(
            workflow=show(WORKFLOW, row.workflow),
            body=given.get("body") if body is msgspec.UNSET else body,
            headers=given.get("headers") or {},
            query=given.get("query") or {},
            extra={name: value for name, value in given.items() if name not in _PARTS},
            request_id=request_id,
            labels=json.loads(row.labels) if row.labels else {},
            hero=hero_of(row),
            priority=placed.priority if placed.asked else None,
            trigger=row.trigger,
            origin=row.id,
            origin_kind=RERUN,
            initiator=self._starts.repeated(row),
            allow_multiple=await self._runs.was_one_of_several(row),
        )
        return await self._starts.start(request)

    async def fork(
        self,
        run: str | RunRow,
        step: str,
        *,
        output: Any = msgspec.UNSET,
        status_code: int | None = None,
        request_id: str | None = None,
    ) -> StartAnswer:
        """Start a run that begins at a step and reuses everything that does not depend on it. The step runs again, or
        has the result `output`."""
        row = _refuse_page(await self._runs.row(run))
        await self._starts.require_start(show(WORKFLOW, row.workflow))
        prepared, state = await self._runs.folded(row)
        index = prepared.numbers.get(step)
        key = None if index is not None else _operation(state, step)
        if index is None and key is None:
            meant_step = nearest(step, state.history)
            hint = f"; did you mean {meant_step!r}?" if meant_step else ""
            raise NotFound(f"the run has no step {step[:80]!r}{hint}")
        edited = None
        if output is not msgspec.UNSET:
            kind = kind_of_operation(key or "") if index is None else prepared.steps[index].kind
            edited = build_result(kind, output, status_code)
            if len(edited) > INPUT_LIMIT:
                raise TooLarge(f"an output may have {INPUT_LIMIT} bytes")
        meant = step.encode() + b"\x00" + (edited or b"")
        if index is not None:
            reuse = fork_plan(prepared, state, index, edited)
            return await self._continue(row, prepared, reuse, (FORK, meant), request_id, begin=step)
        reuse = operation_fork_plan(state, key or "", edited)
        return await self._continue(row, prepared, reuse, (FORK, meant), request_id)

    async def _continue(
        self,
        row: RunRow,
        prepared: Prepared,
        reuse: Reuse,
        what: tuple[str, bytes],
        request_id: str | None,
        begin: str | None = None,
        target: Startable | None = None,
    ) -> StartAnswer:
        """Start the new run. `prepared` is the graph at the end of the old one; `what` is the kind of rerun and the
        bytes that distinguish one request from another. `target` is the version to start, by default the old one."""
        kind, meant = what
        if target is None:
            version, graph = await self._version_of(row, prepared)
            code = tuple(json.loads(row.code)) if row.code else ()
        else:
            version, graph, code = target.version, target.prepared, target.code
        if begin not in (None, *graph.numbers):
            raise Conflict(f"{begin!r} is not in the version that the new run would have; rerun the whole workflow")
        reuse = reuse.over(prepared, graph)
        _refuse_too_much(reuse)
        placed = placed_in(row.opening)
        digest = hashlib.sha256(b"\x00".join((kind.encode(), row.id, meant))).digest()
        request = PreparedStart(
            tenant=row.tenant,
            workflow=row.workflow,
            version=version,
            name=row.workflow_name,
            prepared=graph,
            input=row.input,
            trigger=row.trigger,
            queue=placed.queue,
            priority=placed.priority,
            asked=placed.asked,
            code=code,
            labels=row.labels,
            hero=hero_of(row),
            active_key=key_of(row),
            request_id=request_id,
            request_hash=None if request_id is None else digest,
            origin=row.id,
            origin_kind=kind,
            reuse=reuse,
            initiator=self._starts.repeated(row),
        )
        return await self._begin(request, digest)

    async def _version_of(self, row: RunRow, prepared: Prepared) -> tuple[int, Prepared]:
        """Return the version to start with, and its graph. This is the version of the old run, with one exception. If
        the old run was moved to changed code, return the version that was saved of that code. If there is none, the
        new run will be moved again."""
        own = await self._runs.prepared(row)
        if own.graph == prepared.graph:
            return row.version, own
        newest = (await self._store.versions(row.tenant, row.workflow))[:_NEWEST]
        keys = [(row.workflow, one.version) for one in newest if one.version > row.version]
        for (_, version), (_, graph) in (await self._engine.graphs.get(keys)).items():
            if graph.graph == prepared.graph:
                return version, graph
        return row.version, own

    async def _begin(self, request: PreparedStart, digest: bytes) -> StartAnswer:
        for _ in range(ATTEMPTS):
            try:
                started = await start_run(self._engine, request)
            except StartRefused:
                known = await self._starts.known(request.request_id, digest, request.workflow)
                if known is not None:
                    return known
                await refuse_if_active(self._store, request)
                continue  # the run that had the request id was deleted meanwhile, or the one that had the key has ended
            return StartAnswer(started.id, request.workflow, started.status, started.started_at, True)
        raise Unavailable(f"runs of {request.name[:200]!r} begin and end too quickly; try again")


def _operation(state: RunState, name: str) -> str | None:
    """Return the key of an ended operation of a durable function, by its key or by its name. None if there is none.

    A name that is not a key is that of a wait, a sleep, a signal or a child: `approval` is `@wait:approval`.
    """
    if name in state.history:
        return name
    found = [key for key in state.history if op_of(key) is not Op.STEP and key.partition(":")[2] == name]
    return found[0] if len(found) == 1 else None


def _refuse_too_much(reuse: Reuse) -> None:
    size = sum(map(len, reuse.results.values())) + sum(len(one.result) for one in reuse.operations)
    if len(reuse.operations) > MOST_OPERATIONS:
        raise TooLarge(
            f"the function has {len(reuse.operations)} operations in its journal, and a run can begin with "
            f"{MOST_OPERATIONS} at most; run the whole workflow again"
        )
    if size > MOST_REUSED:
        raise TooLarge(
            f"the results to take over have {size} bytes, and a run can begin with {MOST_REUSED} at most; "
            "run the whole workflow again"
        )
