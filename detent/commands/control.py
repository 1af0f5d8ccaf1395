"""Control of open runs: cancel, pause, resume, resolve, skip, reattempt and finish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.commands.runs import RunCommands
from detent.documents.runs import RunDocument
from detent.errors import CommitUnknown, Conflict, NotFound, StoreError, TooLarge
from detent.graph.model import StepKind
from detent.ids import RUN, show
from detent.planner.flow import can_reattempt, can_skip
from detent.planner.prepared import Prepared
from detent.run.journal import Kind
from detent.run.outcomes import stated_result
from detent.run.state import Phase, RunState
from detent.run.status import TERMINAL, Status
from detent.store.rows import MessageKind, RunRow
from detent.values.limits import INPUT_LIMIT
from detent.values.nearest import nearest

#: How long a command waits until the owner of the run has journaled it. Then it answers with the run as it is.
PATIENCE: Final = 2.0
LOOK_AGAIN: Final = 0.02
_FINISHED: Final = {"completed": "finished", "timeout": "timed-out", "cancelled": "canceled"}
_WORDS: Final = {Phase.PENDING: "its turn has not come", Phase.WAITING: "it waits", Phase.SLEEPING: "it sleeps"}
_OVER: Final = (Kind.CANCELLED, Kind.EXPIRED, Kind.FINISHED)


class ControlCommands(CommandPart):
    """Control of one open run. Each command returns the current document of the run. `<command>_requested` is true
    while the owner of the run has not applied the command."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs

    async def cancel(self, run: str | RunRow) -> RunDocument:
        """Cancel a run."""
        return await self._control(run, MessageKind.CANCEL, Status.CANCELLED)

    async def pause(self, run: str | RunRow) -> RunDocument:
        """Pause a run: attempts in flight finish, nothing new starts."""
        return await self._control(run, MessageKind.PAUSE, Status.PAUSED)

    async def resume(self, run: str | RunRow) -> RunDocument:
        """Resume a paused run."""
        return await self._control(run, MessageKind.RESUME, Status.RUNNING)

    async def resolve(self, run: str | RunRow, step: str, *, happened: bool, output: Any) -> RunDocument:
        """Record whether an uncertain step happened. The run continues when none of its steps is uncertain."""
        row = await self._runs.row(run)
        document = await self._runs.document(row)
        if step not in document.steps:
            raise NotFound(f"the run has no step {step[:80]!r}")
        if document.steps[step].reason != "uncertain":
            raise Conflict(f"it is not uncertain whether {step!r} happened: it is {document.steps[step].status}")
        said: dict[str, Any] = {"step": step, "happened": happened, "by": self._caller.name}
        if output is not None:
            prepared = await self._runs.prepared(row)
            said["result"] = msgspec.Raw(build_result(prepared.steps[prepared.numbers[step]].kind, output))
        data = encoder.encode(said)
        if len(data) > INPUT_LIMIT:
            raise TooLarge(f"an output may have {INPUT_LIMIT} bytes")
        await self._send(row, MessageKind.RESOLVE, data)
        return await self._watch(row, MessageKind.RESOLVE, lambda now: now.steps[step].reason != "uncertain")

    async def skip(self, run: str | RunRow, step: str | None = None) -> RunDocument:
        """Skip a step, or the current one. Its attempt is stopped and the run continues after it, even if it was
        paused."""
        return await self._steer(run, MessageKind.SKIP, step, can_skip)

    async def reattempt(self, run: str | RunRow, step: str | None = None, *, wait: float = 0.0) -> RunDocument:
        """Start a new attempt of a step, or of the current one, after `wait` seconds. Its attempt in flight is stopped.
        A paused run continues."""
        return await self._steer(run, MessageKind.REATTEMPT, step, can_reattempt, wait=wait)

    async def finish(self, run: str | RunRow) -> RunDocument:
        """Complete a run with the output of its last step. Steps that have not run are skipped."""
        row = await self._runs.row(run)
        document = await self._runs.document(row)
        if document.status == Status.COMPLETED:
            return document
        if document.status == Status.PENDING:
            raise Conflict("Cannot finish a pending workflow")
        await self._send(row, MessageKind.FINISH, self._by())
        return await self._watch(row, MessageKind.FINISH, lambda now: False)

    async def _control(self, run: str | RunRow, kind: MessageKind, wanted: Status) -> RunDocument:
        row = await self._runs.row(run)
        document = await self._runs.document(row)
        if document.status == wanted:
            return document
        if document.status == Status.PENDING and kind is not MessageKind.CANCEL:
            raise Conflict(f"Cannot {kind} a pending workflow")
        # A resumed run may pause again at once. Only the journal shows that it was resumed.
        after = await self._last_seq(row) if kind is MessageKind.RESUME else None
        await self._send(row, kind, self._by())
        return await self._watch(row, kind, lambda now: now.status == wanted, resumed_after=after)

    def _by(self) -> bytes:
        return encoder.encode({"by": self._caller.name})

    async def _last_seq(self, row: RunRow) -> int:
        return max((entry.seq for entry in await self._store.journal(self._tenant, row.id)), default=0)

    async def _send(self, row: RunRow, kind: MessageKind, data: bytes) -> None:
        if row.status in TERMINAL or not await self._store.send(self._tenant, row.id, kind, data):
            now = await self._store.run(self._tenant, row.id) or row  # it may have ended since it was read
            raise Conflict(f"Cannot {kind} a {_FINISHED.get(now.status, now.status)} workflow")
        self._context.nudge()

    async def _watch(
        self,
        row: RunRow,
        kind: MessageKind,
        is_done: Callable[[RunDocument], bool],
        *,
        resumed_after: int | None = None,
    ) -> RunDocument:
        """Wait until the run has applied the message, and return its document."""
        until = self._engine.clock.monotonic() + PATIENCE
        while True:
            with _after_sending():
                # Read the journal first, so that the document is at least as new as the entry we waited for.
                resumed = resumed_after is not None and await self._was_resumed(row.id, resumed_after)
                document = await self._runs.document(await self._runs.row(show(RUN, row.id)))
            done = resumed or is_done(document) or document.status in TERMINAL
            if done or self._engine.clock.monotonic() >= until:
                setattr(document, f"{kind}_requested", not done)
                return document
            await asyncio.sleep(LOOK_AGAIN)

    async def _was_resumed(self, run: bytes, after: int) -> bool:
        return any(entry.kind == Kind.RESUMED for entry in await self._store.journal(self._tenant, run, after=after))

    async def _steer(
        self,
        run: str | RunRow,
        kind: MessageKind,
        step: str | None,
        choose: Callable[[RunState, int | None], int | None],
        **given: Any,
    ) -> RunDocument:
        """Send a message about one step. The step is chosen here. So if the run continues meanwhile, the message does
        not apply to a later step."""
        row = await self._runs.row(run)
        prepared, state = await self._runs.folded(row)
        name = _chosen(prepared, state, kind, step, choose)
        await self._send(row, kind, encoder.encode({"step": name, "by": self._caller.name, **given}))
        return await self._see_done(row, state.seq, kind, name or "")

    async def _see_done(self, row: RunRow, seq: int, kind: MessageKind, step: str) -> RunDocument:
        """Wait until the journal has the entry of the step, or the run is over, and return the document of the run."""
        until = self._engine.clock.monotonic() + PATIENCE
        done = False
        while not done and self._engine.clock.monotonic() < until:
            with _after_sending():
                entries = await self._store.journal(self._tenant, row.id, after=seq)
            done = any(entry.kind in (Kind.ENDED, Kind.RETRY) and entry.step == step for entry in entries)
            done = done or any(entry.kind in _OVER for entry in entries)
            if not done:
                await asyncio.sleep(LOOK_AGAIN)
        document = await self._runs.document(await self._store.run(self._tenant, row.id) or row)
        setattr(document, f"{kind}_requested", not done)
        return document


@contextmanager
def _after_sending() -> Iterator[None]:
    """Raise CommitUnknown if the run cannot be read after its message was stored. Any other error would wrongly mean
    that nothing was done."""
    try:
        yield
    except StoreError as error:
        raise CommitUnknown(f"the message was sent, but its effect cannot be read: {error.message}") from error


def build_result(kind: StepKind, output: Any, status_code: int | None = None) -> bytes:
    """Build the result of a step from the output that a user states."""
    return stated_result(kind, encoder.encode(output), status_code)


def _chosen(
    prepared: Prepared,
    state: RunState,
    kind: MessageKind,
    step: str | None,
    choose: Callable[[RunState, int | None], int | None],
) -> str | None:
    """Return the name of the step; `None` for a run that is over, which refuses the message."""
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
        return "this workflow: it has no current step that can be tried"
    if state.failing and state.ending[number] is None:
        return f"step {step!r}: the run is failing and starts nothing new"
    ending = state.ending[number]
    return f"step {step!r}: " + (f"it ended {ending}" if ending else _WORDS.get(state.phase[number], "it cannot be"))
