"""Steering runs that are on their way: cancel, pause, resume, and saying whether something happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from detent.engine.commands.ground import DEFAULT_TENANT, INPUT_LIMIT, encoder
from detent.engine.commands.runs import RunCommands
from detent.errors import Conflict, NotFound, TooLarge
from detent.graph.model import StepKind
from detent.ids import RUN, parse
from detent.run.journal import Kind
from detent.run.outcomes import result_of
from detent.run.status import TERMINAL, Status
from detent.store.rows import MessageKind, RunRow

#: How long a command waits for the run's owner to journal it before it answers with the run as it is.
PATIENCE: Final = 2.0
LOOK_AGAIN: Final = 0.02
_FINISHED: Final = {"completed": "finished", "timeout": "timed-out", "cancelled": "canceled"}


class ControlCommands(RunCommands):
    """Each answers with the run as it is; `<wish>_requested` says that its owner has not got to it yet."""

    async def cancel(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Cancel a run."""
        return await self._control(run, MessageKind.CANCEL, Status.CANCELLED, by, tenant)

    async def pause(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Pause a run: attempts in flight finish, nothing new starts."""
        return await self._control(run, MessageKind.PAUSE, Status.PAUSED, by, tenant)

    async def resume(self, run: str, *, by: str, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """Let a paused run go on."""
        return await self._control(run, MessageKind.RESUME, Status.RUNNING, by, tenant)

    async def resolve(
        self, run: str, step: str, *, happened: bool, output: Any, by: str, tenant: int = DEFAULT_TENANT
    ) -> dict[str, Any]:
        """Say whether a step of which nobody knows has happened; the run goes on once that is known of all."""
        row = await self.run_row(run, tenant=tenant)
        document = await self._document(row)
        if step not in document["tasks"]:
            raise NotFound(f"the run has no step {step[:80]!r}")
        if document["tasks"][step].get("reason") != "uncertain":
            raise Conflict(f"it is not uncertain whether {step!r} happened: it is {document['tasks'][step]['status']}")
        said: dict[str, Any] = {"step": step, "happened": happened, "by": by}
        if output is not None:
            prepared = await self.prepared(row)
            said["result"] = msgspec.Raw(told_result(prepared.steps[prepared.numbers[step]].kind, output))
        data = encoder.encode(said)
        if len(data) > INPUT_LIMIT:
            raise TooLarge(f"an output may have {INPUT_LIMIT} bytes")
        await self._send(row, MessageKind.RESOLVE, data)
        return await self._watch(
            run, tenant, MessageKind.RESOLVE, lambda now: now["tasks"][step].get("reason") != "uncertain"
        )

    async def _control(self, run: str, kind: MessageKind, wanted: Status, by: str, tenant: int) -> dict[str, Any]:
        row = await self.run_row(run, tenant=tenant)
        document = await self._document(row)
        if document["status"] == wanted:
            return document
        if document["status"] == Status.PENDING and kind is not MessageKind.CANCEL:
            raise Conflict(f"Cannot {kind} a pending workflow")
        # A run that is paused again at once was resumed all the same: the journal says so.
        after = await self._last_seq(row) if kind is MessageKind.RESUME else None
        await self._send(row, kind, encoder.encode({"by": by}))
        return await self._watch(run, tenant, kind, lambda now: now["status"] == wanted, resumed_after=after)

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
        is_done: Callable[[dict[str, Any]], bool],
        *,
        resumed_after: int | None = None,
    ) -> dict[str, Any]:
        until = self._engine.clock.monotonic() + PATIENCE
        while True:
            # The journal before the document: what is told must not be older than what it is told for.
            resumed = resumed_after is not None and await self._was_resumed(parse(RUN, run), resumed_after)
            document = await self._document(await self.run_row(run, tenant=tenant))
            done = resumed or is_done(document) or document["status"] in TERMINAL
            if done or self._engine.clock.monotonic() >= until:
                return document | {f"{kind}_requested": not done}
            await asyncio.sleep(LOOK_AGAIN)

    async def _was_resumed(self, run: bytes, after: int) -> bool:
        return any(entry.kind == Kind.RESUMED for entry in await self._store.journal(run, after=after))


def told_result(kind: StepKind, output: Any, status_code: int | None = None) -> bytes:
    """The result of a step from what a person says it gave. An answer that somebody vouches for was a good one."""
    default = 200 if kind is StepKind.HTTP else None
    return result_of(kind, encoder.encode(output), default if status_code is None else status_code)
