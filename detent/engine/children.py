"""Child runs: a parent receives the end of its child, and cancels its children when it does not complete.

Both are messages in the flush that ends the run, so neither can be lost. A child may continue as a new run. The flush
that ends the child starts the new run, forwards its mail there and notifies the parent. A parent may end before it has
read that message. So it looks for successors of its children after its end. The node that wrote the successor checks
whether the parent has ended. Whichever happens second finds the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from detent.engine.write import Successor
from detent.errors import StoreError
from detent.graph.model import Ending
from detent.ids import RUN, NewId, parse, show
from detent.observe import emit
from detent.run.call import Op, name_of, signal_key
from detent.run.outcomes import EMPTY_RESULT, StepError
from detent.run.plan import RunEnd
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, RunFacts, RunState
from detent.run.status import Status
from detent.store.rows import Message, MessageKind

#: Pauses in seconds between the attempts to find the successors of children.
_PAUSES: Final = (0.2, 1.0, 5.0, 20.0)

StartChild = Callable[[RunFacts, bytes, StartRequest, bool], Awaitable[None]]
PrepareSuccessor = Callable[[RunFacts, StartRequest], Awaitable[Successor]]
CancelSuccessors = Callable[[Sequence[Message]], Awaitable[None]]
CancelOrphan = Callable[[int, bytes, bytes], Awaitable[None]]

_ENDINGS: Final = {Status.COMPLETED: Ending.SUCCESS, Status.CANCELLED: Ending.CANCELLED, Status.TIMEOUT: Ending.TIMEOUT}


@dataclass(slots=True)
class Children:
    """The functions that start child runs and cancel their successors. The commands set them.

    `start` receives the parent, the child's id, the request, and whether the child may exist already. `cancel_orphan`
    receives a tenant, a parent, and a run that continues a child of that parent.
    """

    new_id: NewId
    start: StartChild | None = None
    prepare_successor: PrepareSuccessor | None = None
    cancel_successors: CancelSuccessors | None = None
    cancel_orphan: CancelOrphan | None = None
    _following: set[asyncio.Task[None]] = field(default_factory=set)

    def follow_cancels(self, messages: Sequence[Message]) -> None:
        """After the last messages of a run are durable, cancel also the successors of the children it cancels."""
        cancelled = [message for message in messages if message.kind == MessageKind.CANCEL]
        if cancelled and self.cancel_successors is not None:
            self._follow(partial(self.cancel_successors, cancelled))

    def has_continued(self, facts: RunFacts, successor: bytes) -> None:
        """After a child has continued as another run, cancel that run if the parent has failed meanwhile."""
        if facts.parent is not None and self.cancel_orphan is not None:
            self._follow(partial(self.cancel_orphan, facts.tenant, facts.parent, successor))

    def _follow(self, look: Callable[[], Awaitable[None]]) -> None:
        following = asyncio.get_running_loop().create_task(_look_until_seen(look))
        self._following.add(following)
        following.add_done_callback(self._following.discard)

    async def close(self) -> None:
        """Stop the searches that are under way."""
        for following in self._following:
            following.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)


async def _look_until_seen(look: Callable[[], Awaitable[None]]) -> None:
    for pause in (*_PAUSES, None):
        try:
            await look()
        except StoreError as error:
            emit("engine.error", where="family", error=error.message)
        else:
            return
        if pause is not None:
            await asyncio.sleep(pause)


class ChildEnd(msgspec.Struct, omit_defaults=True):
    """The message to a parent: the end of its child, or the run that the child continues as."""

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
    """Decode the message of a child. Return None if it is invalid."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def continue_messages(state: RunState, successor: bytes) -> list[Message]:
    """Build the messages of a run that continues as another one: the successor becomes the child of its parent."""
    facts = state.facts
    if facts.parent is None:
        return []
    said = ChildEnd(show(RUN, facts.id), str(Status.RUNNING), continued_as=show(RUN, successor))
    return [Message(facts.tenant, facts.parent, MessageKind.CHILD, None, _encoder.encode(said), facts.id, state.seq)]


def signals_left(state: RunState, taken: Mapping[str, int]) -> tuple[Checkpoint, ...]:
    """Return the recorded signals that a durable function did not take, in order, numbered from 1 per name."""
    came: dict[str, int] = {}
    left = []
    for key, checkpoint in state.history.items():
        if not key.startswith(Op.SIGNAL):
            continue
        name = name_of(key)
        number = came[name] = came.get(name, 0) + 1
        if number > taken.get(name, 0):
            left.append(checkpoint._replace(key=signal_key(name, number - taken.get(name, 0))))
    return tuple(left)


def end_messages(state: RunState, end: RunEnd) -> list[Message]:
    """Build the messages of a run's end: one to its parent, and a cancel to each child unless the run completed."""
    facts, messages = state.facts, []
    if facts.parent is not None:
        messages.append(to_parent(facts.tenant, facts.parent, facts.id, state.seq, end))
    if end.status is Status.COMPLETED:
        return messages
    data = cancel_data(facts.id, end.status)
    children = [operation.child for operation in state.operations.values() if operation.child is not None]
    # Negative numbers: the entries of the run have positive ones, so they cannot clash.
    for number, child in enumerate(children, 1):
        messages.append(Message(facts.tenant, parse(RUN, child), MessageKind.CANCEL, None, data, facts.id, -number))
    return messages


def cancel_data(parent: bytes, status: str) -> bytes:
    """Encode the cancel that a child receives when its parent ends with `status`."""
    return _encoder.encode({"by": f"{show(RUN, parent)}, which started it and is {status}"})


def to_parent(tenant: int, parent: bytes, run: bytes, seq: int, end: RunEnd) -> Message:
    """Build the message that tells a parent how a run ended."""
    said = ChildEnd(show(RUN, run), str(end.status), msgspec.Raw(end.output or b"null"), end.error)
    return Message(tenant, parent, MessageKind.CHILD, None, _encoder.encode(said), run, seq)
