"""Runs that start runs: a parent is told the end of its child, and takes its children with it when it fails.

Both are messages that travel in the flush of the end itself, so neither can be lost. A child that continues as a new
run is followed: the parent is told in the flush that starts that run, so always before it can end. A parent that ends
before it has read that looks for the new run afterwards, and whoever starts one looks whether the parent has ended:
whichever comes second finds the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from detent.errors import StoreError
from detent.graph.model import Ending
from detent.ids import RUN, NewId, parse, show
from detent.observe import emit
from detent.run.outcomes import EMPTY_RESULT, StepError
from detent.run.plan import RunEnd
from detent.run.start import StartRequest
from detent.run.state import RunFacts, RunState
from detent.run.status import Status
from detent.store.rows import Message, MessageKind

#: The kind of origin of a run that another one goes on as.
CONTINUED: Final = "continued"

#: After these pauses in seconds it is tried again to find the runs that children continue as.
_PAUSES: Final = (0.2, 1.0, 5.0, 20.0)

StartChild = Callable[[RunFacts, bytes, StartRequest, bool], Awaitable[None]]
CancelHeirs = Callable[[Sequence[Message]], Awaitable[None]]

_ENDINGS: Final = {Status.COMPLETED: Ending.SUCCESS, Status.CANCELLED: Ending.CANCELLED, Status.TIMEOUT: Ending.TIMEOUT}


@dataclass(slots=True)
class Children:
    """How children are started, and how the runs are cancelled that they continue as: both are given by the commands,
    which know how. `start` is told the parent, the child's id, and whether the child may be there already."""

    new_id: NewId
    start: StartChild | None = None
    cancel_heirs: CancelHeirs | None = None
    _following: set[asyncio.Task[None]] = field(default_factory=set)

    def was_told(self, messages: Sequence[Message]) -> None:
        """The last messages of a run are durable: children that it cancels may go on as other runs by now."""
        cancelled = [message for message in messages if message.kind == MessageKind.CANCEL]
        if cancelled and self.cancel_heirs is not None:
            following = asyncio.get_running_loop().create_task(self._follow(self.cancel_heirs, cancelled))
            self._following.add(following)
            following.add_done_callback(self._following.discard)

    async def close(self) -> None:
        """Stop looking."""
        for following in self._following:
            following.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)

    async def _follow(self, cancel_heirs: CancelHeirs, cancelled: Sequence[Message]) -> None:
        for pause in (*_PAUSES, None):
            try:
                await cancel_heirs(cancelled)
            except StoreError as error:
                emit("engine.error", where="family", error=error.message)
            else:
                return
            if pause is not None:
                await asyncio.sleep(pause)


class ChildEnd(msgspec.Struct, omit_defaults=True):
    """What a parent is told: the end of its child, or the run that it goes on as."""

    child: str
    status: str
    output: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    continued_as: str | None = None

    def ending(self) -> Ending:
        return _ENDINGS.get(Status(self.status), Ending.FAILED)

    def result(self) -> bytes:
        return b'{"output":%b}' % bytes(self.output) if self.ending() is Ending.SUCCESS else EMPTY_RESULT

    def failure(self) -> StepError | None:
        if self.ending() is Ending.SUCCESS:
            return None
        why = f": {self.error}" if self.error else ""
        return StepError(
            "child", f"{self.child} ended as {self.status}{why}", {"run": self.child, "status": self.status}
        )


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ChildEnd)


def read_child_end(data: bytes) -> ChildEnd | None:
    """What a message from a child says; null if it says nothing."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def start_messages(facts: RunFacts, origin: bytes | None, origin_kind: str | None) -> list[Message]:
    """Who is to be told that a run starts: the parent of the run that it continues."""
    if facts.parent is None or origin is None or origin_kind != CONTINUED:
        return []
    said = ChildEnd(show(RUN, origin), str(Status.RUNNING), continued_as=show(RUN, facts.id))
    return [Message(facts.tenant, facts.parent, MessageKind.CHILD, None, _encoder.encode(said), facts.id, 0)]


def end_messages(state: RunState, end: RunEnd) -> list[Message]:
    """Who is to be told that a run ends so: its parent, and its children unless it completed."""
    facts, told = state.facts, []
    if facts.parent is not None:
        told.append(to_parent(facts.tenant, facts.parent, facts.id, state.seq, end))
    if end.status is Status.COMPLETED:
        return told
    data = cancel_data(facts.id, end.status)
    children = [operation.child for operation in state.operations.values() if operation.child is not None]
    # Below zero, where no entry of the run stands.
    for number, child in enumerate(children, 1):
        told.append(Message(facts.tenant, parse(RUN, child), MessageKind.CANCEL, None, data, facts.id, -number))
    return told


def cancel_data(parent: bytes, status: str) -> bytes:
    """What a child is told when its parent takes it along."""
    return _encoder.encode({"by": f"{show(RUN, parent)}, which started it and is {status}"})


def to_parent(tenant: int, parent: bytes, run: bytes, seq: int, end: RunEnd) -> Message:
    """The message that a run has ended."""
    said = ChildEnd(show(RUN, run), str(end.status), msgspec.Raw(end.output or b"null"), end.error)
    return Message(tenant, parent, MessageKind.CHILD, None, _encoder.encode(said), run, seq)
