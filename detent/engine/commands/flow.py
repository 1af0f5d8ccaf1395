"""Flow control from outside: leaving out a step, having it tried now or later, and saying that a run is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from detent.engine.commands.control import LOOK_AGAIN, PATIENCE, ControlCommands
from detent.engine.commands.ground import DEFAULT_TENANT, encoder
from detent.errors import Conflict, NotFound
from detent.expressions.nearest import nearest
from detent.planner.flow import can_reattempt, can_skip
from detent.planner.prepared import Prepared
from detent.run.journal import Kind
from detent.run.state import Phase, RunState
from detent.run.status import Status
from detent.store.rows import MessageKind, RunRow

_WORDS = {Phase.PENDING: "its turn has not come", Phase.WAITING: "it waits", Phase.SLEEPING: "it sleeps"}


class FlowCommands(ControlCommands):
    """The step is chosen here and named in the message, so that a run which goes on meanwhile does not lose another."""

    async def skip(self, run: str, step: str | None = None, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Leave out a step, or the one the run is at: what it is doing is stopped, and the run goes on behind it, also
        if it was paused."""
        return await self._steer(run, MessageKind.SKIP, step, can_skip, by, tenant)

    async def reattempt(
        self, run: str, step: str | None = None, *, wait: float = 0.0, by: str, tenant: int = DEFAULT_TENANT
    ) -> dict[str, Any]:
        """Have a step tried (again) after `wait` seconds, or the one the run is at: what it is doing is stopped. A run
        that was paused goes on."""
        return await self._steer(run, MessageKind.REATTEMPT, step, can_reattempt, by, tenant, wait=wait)

    async def finish(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Say that a run is done: it is completed with what its last step gave, and what has not run is skipped."""
        row = await self.run_row(run, tenant=tenant)
        document = await self._document(row)
        if document["status"] == Status.COMPLETED:
            return document
        if document["status"] == Status.PENDING:
            raise Conflict("Cannot finish a pending workflow")
        await self._send(row, MessageKind.FINISH, encoder.encode({"by": by}))
        return await self._watch(run, tenant, MessageKind.FINISH, lambda now: False)

    async def _steer(
        self,
        run: str,
        kind: MessageKind,
        step: str | None,
        choose: Callable[[RunState, int | None], int | None],
        by: str,
        tenant: int,
        **given: Any,
    ) -> dict[str, Any]:
        row = await self.run_row(run, tenant=tenant)
        prepared, state = await self.folded(row)
        name = _chosen(prepared, state, kind, step, choose)
        await self._send(row, kind, encoder.encode({"step": name, "by": by, **given}))
        return await self._see_done(row, state.seq, kind, name or "")

    async def _see_done(self, row: RunRow, seq: int, kind: MessageKind, step: str) -> dict[str, Any]:
        """The run when the journal says that it was done, or that the step has ended some other way."""
        until = self._engine.clock.monotonic() + PATIENCE
        done = False
        while not done and self._engine.clock.monotonic() < until:
            entries = await self._store.journal(row.id, after=seq)
            done = any(entry.kind in (Kind.ENDED, Kind.RETRY) and entry.step == step for entry in entries)
            done = done or any(entry.kind in _OVER for entry in entries)
            if not done:
                await asyncio.sleep(LOOK_AGAIN)
        document = await self._document(await self._store.run(row.tenant, row.id) or row)
        return document | {f"{kind}_requested": not done}


_OVER = (Kind.CANCELLED, Kind.EXPIRED, Kind.FINISHED)


def _chosen(
    prepared: Prepared,
    state: RunState,
    kind: MessageKind,
    step: str | None,
    choose: Callable[[RunState, int | None], int | None],
) -> str | None:
    """The name of the step that is meant; null for a run that is over, which is refused when it is told so."""
    if state.is_over:
        return None
    if state.opens_at is not None:
        raise Conflict(f"Cannot {kind} a pending workflow")
    number = None if step is None else prepared.numbers.get(step)
    if step is not None and number is None:
        meant = nearest(step, prepared.numbers)
        raise NotFound(f"the run has no step {step[:80]!r}" + (f"; did you mean {meant!r}?" if meant else ""))
    index = choose(state, number)
    if index is None:
        raise Conflict(f"Cannot {kind} {_why_not(state, number, step)}")
    return prepared.steps[index].name


def _why_not(state: RunState, number: int | None, step: str | None) -> str:
    if number is None:
        return "this workflow: it is at no step that can be tried now"
    if state.failing and state.ending[number] is None:
        return f"step {step!r}: the run is failing, and begins nothing more"
    ending = state.ending[number]
    return f"step {step!r}: " + (f"it ended {ending}" if ending else _WORDS.get(state.phase[number], "it cannot be"))
