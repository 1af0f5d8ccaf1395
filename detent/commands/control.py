"""Steering runs that are on their way: cancel, pause, resume, and saying whether something happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from detent.commands.context import encoder
from detent.commands.runs import RunCommands
from detent.documents.runs import RunDocument
from detent.errors import Conflict, NotFound, TooLarge
from detent.graph.model import StepKind
from detent.ids import RUN, parse
from detent.planner.flow import can_reattempt, can_skip
from detent.planner.prepared import Prepared
from detent.run.journal import Kind
from detent.run.outcomes import result_of
from detent.run.state import Phase, RunState
from detent.run.status import TERMINAL, Status
from detent.settings import DEFAULT_TENANT
from detent.store.rows import MessageKind, RunRow
from detent.values.limits import INPUT_LIMIT
from detent.values.nearest import nearest

#: How long a command waits for the run's owner to journal it before it answers with the run as it is.
PATIENCE: Final = 2.0
LOOK_AGAIN: Final = 0.02
_FINISHED: Final = {"completed": "finished", "timeout": "timed-out", "cancelled": "canceled"}


class ControlCommands(RunCommands):
    """Each answers with the run as it is; `<wish>_requested` says that its owner has not applied it yet."""

    async def cancel(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> RunDocument:
        """Cancel a run."""
        return await self._control(run, MessageKind.CANCEL, Status.CANCELLED, by, tenant)

    async def pause(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> RunDocument:
        """Pause a run: attempts in flight finish, nothing new starts."""
        return await self._control(run, MessageKind.PAUSE, Status.PAUSED, by, tenant)

    async def resume(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> RunDocument:
        """Let a paused run go on."""
        return await self._control(run, MessageKind.RESUME, Status.RUNNING, by, tenant)

    async def resolve(
        self, run: str, step: str, *, happened: bool, output: Any, by: str, tenant: int = DEFAULT_TENANT
    ) -> RunDocument:
        """Say whether a step of which nobody knows has happened; the run goes on once that is known of all."""
        row = await self.run_row(run, tenant=tenant)
        document = await self._document(row)
        if step not in document.steps:
            raise NotFound(f"the run has no step {step[:80]!r}")
        if document.steps[step].reason != "uncertain":
            raise Conflict(f"it is not uncertain whether {step!r} happened: it is {document.steps[step].status}")
        said: dict[str, Any] = {"step": step, "happened": happened, "by": by}
        if output is not None:
            prepared = await self.prepared(row)
            said["result"] = msgspec.Raw(told_result(prepared.steps[prepared.numbers[step]].kind, output))
        data = encoder.encode(said)
        if len(data) > INPUT_LIMIT:
            raise TooLarge(f"an output may have {INPUT_LIMIT} bytes")
        await self._send(row, MessageKind.RESOLVE, data)
        return await self._watch(run, tenant, MessageKind.RESOLVE, lambda now: now.steps[step].reason != "uncertain")

    async def _control(self, run: str, kind: MessageKind, wanted: Status, by: str, tenant: int) -> RunDocument:
        row = await self.run_row(run, tenant=tenant)
        document = await self._document(row)
        if document.status == wanted:
            return document
        if document.status == Status.PENDING and kind is not MessageKind.CANCEL:
            raise Conflict(f"Cannot {kind} a pending workflow")
        # A run that is paused again at once was resumed all the same: the journal says so.
        after = await self._last_seq(row) if kind is MessageKind.RESUME else None
        await self._send(row, kind, encoder.encode({"by": by}))
        return await self._watch(run, tenant, kind, lambda now: now.status == wanted, resumed_after=after)

    async def _last_seq(self, row: RunRow) -> int:
        return max((entry.seq for entry in await self._store.journal(row.id)), default=0)

    async def _send(self, row: RunRow, kind: MessageKind, data: bytes) -> None:
        if row.status in TERMINAL or not await self._store.send(row.tenant, row.id, kind, data):
            now = await self._store.run(row.tenant, row.id) or row  # it may have ended since it was read
            raise Conflict(f"Cannot {kind} a {_FINISHED.get(now.status, now.status)} workflow")
        self.nudge()

    async def _watch(
        self,
        run: str,
        tenant: int,
        kind: MessageKind,
        is_done: Callable[[RunDocument], bool],
        *,
        resumed_after: int | None = None,
    ) -> RunDocument:
        until = self._engine.clock.monotonic() + PATIENCE
        while True:
            # The journal before the document: what is told must not be older than what it is told for.
            resumed = resumed_after is not None and await self._was_resumed(parse(RUN, run), resumed_after)
            document = await self._document(await self.run_row(run, tenant=tenant))
            done = resumed or is_done(document) or document.status in TERMINAL
            if done or self._engine.clock.monotonic() >= until:
                setattr(document, f"{kind}_requested", not done)
                return document
            await asyncio.sleep(LOOK_AGAIN)

    async def _was_resumed(self, run: bytes, after: int) -> bool:
        return any(entry.kind == Kind.RESUMED for entry in await self._store.journal(run, after=after))


def told_result(kind: StepKind, output: Any, status_code: int | None = None) -> bytes:
    """The result of a step from what a person says it gave. An answer that somebody vouches for was a good one."""
    default = 200 if kind is StepKind.HTTP else None
    return result_of(kind, encoder.encode(output), default if status_code is None else status_code)


# Flow control from outside: leaving out a step, having it tried now or later, and saying that a run is done.


_WORDS = {Phase.PENDING: "its turn has not come", Phase.WAITING: "it waits", Phase.SLEEPING: "it sleeps"}


class FlowCommands(ControlCommands):
    """The step is chosen here and named in the message, so that a run which goes on meanwhile does not lose another."""

    async def skip(self, run: str, step: str | None = None, *, by: str, tenant: int = DEFAULT_TENANT) -> RunDocument:
        """Leave out a step, or the one the run is at: what it is doing is stopped, and the run goes on behind it, also
        if it was paused."""
        return await self._steer(run, MessageKind.SKIP, step, can_skip, by, tenant)

    async def reattempt(
        self, run: str, step: str | None = None, *, wait: float = 0.0, by: str, tenant: int = DEFAULT_TENANT
    ) -> RunDocument:
        """Have a step tried (again) after `wait` seconds, or the one the run is at: what it is doing is stopped. A run
        that was paused goes on."""
        return await self._steer(run, MessageKind.REATTEMPT, step, can_reattempt, by, tenant, wait=wait)

    async def finish(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> RunDocument:
        """Say that a run is done: it is completed with what its last step gave, and what has not run is skipped."""
        row = await self.run_row(run, tenant=tenant)
        document = await self._document(row)
        if document.status == Status.COMPLETED:
            return document
        if document.status == Status.PENDING:
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
    ) -> RunDocument:
        row = await self.run_row(run, tenant=tenant)
        prepared, state = await self.folded(row)
        name = _chosen(prepared, state, kind, step, choose)
        await self._send(row, kind, encoder.encode({"step": name, "by": by, **given}))
        return await self._see_done(row, state.seq, kind, name or "")

    async def _see_done(self, row: RunRow, seq: int, kind: MessageKind, step: str) -> RunDocument:
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
        setattr(document, f"{kind}_requested", not done)
        return document


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
