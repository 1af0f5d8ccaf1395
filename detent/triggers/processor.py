"""The processor of firings: ask the store for a turn, evaluate the condition, start the run, store how it ended.

A process may die at every line. Until a firing has ended it is open, and a worker claims it again when the lease of the
previous process has expired. The start has the firing's own request id, so it happens once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from detent.auth.caller import Caller
from detent.commands import Commands, EngineCommands
from detent.errors import AlreadyActive, BlobMissing, Conflict, DetentError, InvalidInput, NotFound, NotStartable
from detent.expressions import ExpressionError
from detent.ids import RUN, TRIGGER, WORKFLOW, show
from detent.observe.failpoints import reach
from detent.planner.scope import StoredJson
from detent.run.start import StartRequest
from detent.store.letters import LetterKind, NewLetter
from detent.store.protocol import TriggerStore
from detent.store.trigger_rows import FiringRow, FiringState, OverlapRule, TriggerRow, Turn, Verdict
from detent.triggers import record
from detent.triggers.record import FiringPayload, FiringReason, evaluate, reason, reason_of
from detent.values.blob import read_blob, unreadable

#: After this many seconds another process may claim a firing.
LEASE: Final = 10.0
MOST_QUEUED: Final = 100
_CANCELLED_AT_ONCE: Final = 16
CONDITION_ERROR: Final = "condition_error"
#: How a firing ends that leaves a dead letter, and the reasons for which it leaves none: a run of its hero is active,
#: and the trigger was deleted.
_DEAD: Final = (FiringState.REFUSED, FiringState.ERRORED)
_ALIVE: Final = (AlreadyActive.code, NotFound.code)

Ending = tuple[FiringState, FiringReason | None, bytes | None]  # with the run


class Processor:
    """Processes firings. Any number of processors may use the same store."""

    def __init__(self, commands: EngineCommands, store: TriggerStore) -> None:
        self._commands = commands
        self._store = store

    def _as(self, firing: FiringRow) -> Commands:
        """Return the commands as the trigger of a firing."""
        return self._commands.for_caller(Caller(firing.tenant, f"trigger {show(TRIGGER, firing.trigger)}"))

    async def process(self, firing: FiringRow) -> Turn:
        """Process a firing if it is its turn. After GO, OVER or SKIPPED the firing has ended.

        Raise Unavailable or StoreError; the firing is then processed again later."""
        trigger = await self._store.trigger(firing.tenant, firing.trigger)
        if trigger is None:
            await self._end(firing, FiringState.REFUSED, reason(NotFound.code, "the trigger was deleted"))
            return Turn(Verdict.OVER)
        overlap = OverlapRule(json.loads(trigger.config).get("overlap", OverlapRule.ALLOW))
        turn = await self._store.begin_firing(
            firing.tenant, firing.id, overlap=overlap, lease=LEASE, most_queued=MOST_QUEUED
        )
        if turn.verdict is not Verdict.GO:
            return turn
        reach("after_turn")
        if await self._was_started(firing, overlap):
            return turn
        previous = turn.open_runs if overlap is OverlapRule.CANCEL_PREVIOUS else ()
        state, why, run = await self._decide(firing, trigger, previous)
        await self._end(firing, state, why, run)
        return turn

    async def _was_started(self, firing: FiringRow, overlap: OverlapRule) -> bool:
        """End a firing whose run was already started by another process. Return whether it was.

        Starting it again would not be enough: the condition may have changed since, and a run must not be cancelled by
        its own firing."""
        if firing.state != FiringState.STARTING and overlap is not OverlapRule.CANCEL_PREVIOUS:
            return False
        run = await self._as(firing).starts.run_by_request(request_id(firing))
        if run is not None:
            await self._end(firing, FiringState.STARTED, None, run.id)
        return run is not None

    async def _decide(self, firing: FiringRow, trigger: TriggerRow, previous: Sequence[bytes]) -> Ending:
        payload = record.request_of(firing)
        try:
            request = _start_request(firing, trigger, payload)
            body = request.body if trigger.condition is None else await self._readable(firing, request.body)
            if not evaluate(trigger.condition, payload.facts(body, firing.at, firing.id)):
                return FiringState.IGNORED, FiringReason(None, "the condition is false"), None
            await self._cancel(previous, firing)
            start = await self._as(firing).starts.start(request)
        except ExpressionError as error:
            return FiringState.ERRORED, reason(CONDITION_ERROR, f"condition: {error}"), None
        except BlobMissing as error:  # a retry would not find the bytes either
            return FiringState.ERRORED, reason_of(error), None
        except (InvalidInput, NotStartable, AlreadyActive, NotFound) as error:
            return FiringState.REFUSED, reason_of(error), None
        reach("after_fired_start")
        return FiringState.STARTED, None, start.run

    async def _readable(self, firing: FiringRow, body: Any) -> Any:
        """Return what a condition reads of a body: of a blob, the JSON inside."""
        blob = read_blob(body)
        if blob is None:
            return body
        if unreadable(blob) is not None:
            return StoredJson(body, None)
        library = self._commands.blobs
        row = await library.row(firing.tenant, blob.id)
        if row.size != blob.size:  # the sender wrote it, so that it looks small enough
            return StoredJson(body, None)
        return StoredJson(body, {blob.id: await library.whole(row)})

    async def _cancel(self, runs: Sequence[bytes], firing: FiringRow) -> None:
        room = asyncio.Semaphore(_CANCELLED_AT_ONCE)
        control = self._as(firing).control

        async def cancel(run: bytes) -> None:
            async with room:
                try:
                    await control.cancel(show(RUN, run))
                except (Conflict, NotFound):
                    return  # it ended meanwhile

        await asyncio.gather(*(cancel(run) for run in runs))

    async def fail(self, firing: FiringRow, error: Exception) -> None:
        """End a firing that failed because of a bug of ours. A retry would meet the bug again."""
        message = (
            error.message if isinstance(error, DetentError) else "something went wrong inside Detent; its log says more"
        )
        await self._end(firing, FiringState.ERRORED, reason("internal", message))

    async def _end(
        self, firing: FiringRow, state: FiringState, why: FiringReason | None, run: bytes | None = None
    ) -> None:
        message = None if why is None else why.message if why.code is None else record.encode_reason(why)
        letter = _dead_letter(firing, why) if state in _DEAD and why is not None and why.code not in _ALIVE else None
        await self._store.end_firing(firing.tenant, firing.id, state=state, run=run, message=message, letter=letter)


def _start_request(firing: FiringRow, trigger: TriggerRow, payload: FiringPayload) -> StartRequest:
    workflow = show(WORKFLOW, trigger.workflow)
    return payload.start(workflow, trigger=firing.kind, request_id=request_id(firing), fired_by=firing.trigger)


def _dead_letter(firing: FiringRow, why: FiringReason) -> NewLetter:
    """Return the dead letter of a firing that can never start a run. It has the id of the firing."""
    kind = LetterKind.EVENT if firing.kind == "event" else LetterKind.FIRING
    return NewLetter(
        id=firing.id,
        tenant=firing.tenant,
        kind=str(kind),
        workflow=firing.workflow,
        run=None,
        step=None,
        source=firing.id,
        trigger=firing.trigger,
        reason=why.code or "refused",
        message=why.text(),
        payload=record.encode_request(record.request_of(firing)),
        attempts=1,
        last_error=why.message,
    )


def request_id(firing: FiringRow) -> str:
    """Return the request id that makes the start of a firing happen once."""
    return f"firing:{firing.id.hex()}"
