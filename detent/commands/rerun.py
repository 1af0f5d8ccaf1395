"""Retry, rerun and fork: new runs that name the run they come from. A run that has ended never changes."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import msgspec

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.control import build_result
from detent.commands.runs import RunCommands
from detent.commands.start import ATTEMPTS, StartAnswer, StartCommands
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import StartRefused, key_of, refuse_if_active, start_run
from detent.errors import Conflict, NotFound, TooLarge, Unavailable
from detent.ids import RUN, WORKFLOW, show
from detent.planner.prepared import Prepared
from detent.planner.reuse import Reuse, fork_plan, retry_plan
from detent.run.journal import MAP, placed_in
from detent.run.start import StartRequest
from detent.run.status import TERMINAL, Status
from detent.store.rows import RunRow, hero_of
from detent.values.limits import INPUT_LIMIT

RETRY: Final = "retry"
RERUN: Final = "rerun"
FORK: Final = "fork"
#: Reused results are written in the flush that starts the run, and every other run of the node waits for that flush.
MOST_REUSED: Final = 8_000_000
MOST_OPERATIONS: Final = 5_000
#: How many versions are searched for the code that a run was moved to.
_NEWEST: Final = 20
_PARTS: Final = ("body", "headers", "query")


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

    async def retry(self, run: str | RunRow, *, request_id: str | None = None) -> StartAnswer:
        """Start a run that repeats the failed steps of one that did not complete, and reuses what succeeded."""
        row = _refuse_page(await self._runs.row(run))
        if row.status not in TERMINAL or row.status == Status.COMPLETED:
            word = "finished" if row.status == Status.COMPLETED else row.status
            raise Conflict(f"Cannot retry a {word} workflow")
        prepared, state = await self._runs.folded(row)
        return await self._continue(row, prepared, retry_plan(prepared, state), (RETRY, b""), request_id)

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
        prepared, state = await self._runs.folded(row)
        index = prepared.numbers.get(step)
        if index is None:
            raise NotFound(f"the run has no step {step[:80]!r}")
        edited = None
        if output is not msgspec.UNSET:
            edited = build_result(prepared.steps[index].kind, output, status_code)
            if len(edited) > INPUT_LIMIT:
                raise TooLarge(f"an output may have {INPUT_LIMIT} bytes")
        meant = step.encode() + b"\x00" + (edited or b"")
        reuse = fork_plan(prepared, state, index, edited)
        return await self._continue(row, prepared, reuse, (FORK, meant), request_id, begin=step)

    async def _continue(
        self,
        row: RunRow,
        prepared: Prepared,
        reuse: Reuse,
        what: tuple[str, bytes],
        request_id: str | None,
        begin: str | None = None,
    ) -> StartAnswer:
        """Start the new run. `prepared` is the graph at the end of the old one; `what` is the kind of rerun and the
        bytes that distinguish one request from another."""
        kind, meant = what
        version, graph = await self._version_of(row, prepared)
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
            code=tuple(json.loads(row.code)) if row.code else (),
            labels=row.labels,
            hero=hero_of(row),
            active_key=key_of(row),
            request_id=request_id,
            request_hash=None if request_id is None else digest,
            origin=row.id,
            origin_kind=kind,
            reuse=reuse,
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
