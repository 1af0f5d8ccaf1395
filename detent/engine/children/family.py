"""Child runs: a parent receives the end of its child, and cancels its children when it does not complete.

Both are messages in the flush that ends the run. The cancels are only the fast path, because the parent may not know
all its children. A child may continue as a new run, and the parent may end before it has read that message. A parent
that cannot be read knows none of them. So `Orphans` cancels what the rows show: open runs whose parent has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec.structs import replace

from detent.engine.owned_run import OwnedRun
from detent.engine.prepared_start import PreparedStart
from detent.engine.write import Successor
from detent.errors import Unavailable
from detent.graph.model import Ending
from detent.ids import RUN, WORKFLOW, NewId, parse, show
from detent.planner.maps import page_counts, pages_open
from detent.run import events
from detent.run.call import Op, name_of, signal_key
from detent.run.journal import Entry, Family, Kind, decode_data
from detent.run.outcomes import EMPTY_RESULT, StepError
from detent.run.plan import RunEnd
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, RunFacts, RunState
from detent.run.status import Status
from detent.store.rows import Message, MessageKind, RunRow

StartChild = Callable[[RunFacts, bytes, StartRequest, bool], Awaitable[None]]
FindExisting = Callable[[Sequence[bytes]], Awaitable[Collection[bytes]]]
PrepareSuccessor = Callable[[RunFacts, StartRequest], Awaitable[Successor]]

_PAGED: Final = Kind.PAGED  # loaded for every entry, and a member of an enum class is slow to load
_ENDINGS: Final = {Status.COMPLETED: Ending.SUCCESS, Status.CANCELLED: Ending.CANCELLED, Status.TIMEOUT: Ending.TIMEOUT}


@dataclass(slots=True)
class Children:
    """The functions that start child runs and look for them. The commands set those that start runs.

    `existing` returns which of these runs exist. `start` receives the parent, the child's id, the
    request, and whether the child may be a run of a workflow that is among its parents.
    """

    new_id: NewId
    existing: FindExisting
    row_of: Callable[[int, bytes], Awaitable[RunRow | None]]
    journals: Callable[[Sequence[bytes]], Awaitable[Mapping[bytes, list[Entry]]]]
    start_page: Callable[[PreparedStart], Awaitable[None]] | None = None
    start: StartChild | None = None
    prepare_successor: PrepareSuccessor | None = None


class ChildEnd(msgspec.Struct, omit_defaults=True):
    """The message to a parent: the end of its child, or the run that the child continues as."""

    child: str
    status: str
    output: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    continued_as: str | None = None
    counts: tuple[int, int] | None = None

    def ending(self) -> Ending:
        return _ENDINGS.get(Status(self.status), Ending.FAILED)

    def result(self) -> bytes:
        return b'{"output":%b}' % bytes(self.output) if self.ending() is Ending.SUCCESS else EMPTY_RESULT

    def step_result(self) -> bytes:
        """Return what expressions read of a step whose child this is: its output, and its id also if it failed."""
        return b'{"output":%b,"run_id":"%b"}' % (bytes(self.output), self.child.encode())

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
    if facts.parent is None or is_detached(facts.family):
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
    if facts.parent is not None and not is_detached(facts.family):
        is_page = facts.family is not None and facts.family.page is not None
        messages.append(
            _page_to_parent(state, facts.parent, end)
            if is_page
            else to_parent(facts.tenant, facts.parent, facts.id, state.seq, end)
        )
    if end.status is Status.COMPLETED:
        return messages
    data = cancel_data(facts.id, end.status)
    # Negative numbers: the entries of the run have positive ones, so they cannot clash.
    for number, child in enumerate(state.children, state.cancelled + 1):
        messages.append(Message(facts.tenant, parse(RUN, child), MessageKind.CANCEL, None, data, facts.id, -number))
    return messages


def cancel_messages(facts: RunFacts, cancelled: Sequence[tuple[str, int]], end: RunEnd | None) -> list[Message]:
    """Build the cancels of child runs that no step waits for any more. The run itself may go on."""
    data = _encoder.encode({"by": f"{show(RUN, facts.id)}, which started it and does not wait for it any more"})
    if end is not None and end.status is not Status.COMPLETED:
        data = cancel_data(facts.id, end.status)
    return [
        Message(facts.tenant, parse(RUN, child), MessageKind.CANCEL, None, data, facts.id, -number)
        for child, number in cancelled
    ]


def family_of(parent: RunFacts, step: str, *, detached: bool = False) -> Family:
    """Return where a child run of this step or operation stands. A page of a map is at the level of its children."""
    above = parent.family or Family("", 0)
    if above.page is not None:
        return Family(step, above.depth, above.path, detached)
    return Family(step, above.depth + 1, (*above.path, show(WORKFLOW, parent.workflow_id)), detached)


def is_detached(family: Family | None) -> bool:
    """Return whether the parent of a run does not wait for it."""
    return family is not None and family.detached


def cancel_data(parent: bytes, status: str) -> bytes:
    """Encode the cancel that a child receives when its parent ends with `status`."""
    return _encoder.encode({"by": f"{show(RUN, parent)}, which started it and is {status}"})


def to_parent(tenant: int, parent: bytes, run: bytes, seq: int, end: RunEnd) -> Message:
    """Build the message that tells a parent how a run ended."""
    said = ChildEnd(show(RUN, run), str(end.status), msgspec.Raw(end.output or b"null"), end.error)
    return Message(tenant, parent, MessageKind.CHILD, None, _encoder.encode(said), run, seq)


def _page_to_parent(state: RunState, parent: bytes, end: RunEnd) -> Message:
    """Build the message of a page of a map: only counts. The parent reads the output where the page stored it."""
    facts = state.facts
    said = ChildEnd(show(RUN, facts.id), str(end.status), error=end.error, counts=page_counts(state))
    return Message(facts.tenant, parent, MessageKind.CHILD, None, _encoder.encode(said), facts.id, state.seq)


@dataclass(slots=True)
class KnownChildren:
    """What one ownership of a run knows of the children of its steps. A child in no set may exist or not.

    `starting`: its start has begun and not ended. `unwritten`: pages of maps whose entry is not durable yet. `look` is
    held by the attempt that asks the store."""

    present: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    starting: set[str] = field(default_factory=set)
    unwritten: set[str] = field(default_factory=set)
    look: asyncio.Lock = field(default_factory=asyncio.Lock)


def known_children(run: OwnedRun) -> KnownChildren:
    """Return what is known of the children of the steps of a run."""
    if run.children is None:
        run.children = KnownChildren()
    known: KnownChildren = run.children
    return known


def pages_written(run: OwnedRun, entry: Entry) -> None:
    """Record that the pages in an entry are in the journal, because the entry is durable now."""
    if entry.kind == _PAGED:
        known_children(run).unwritten.difference_update(decode_data(entry.data).pages)


class StepChild:
    """The child run of one attempt of a step.

    Whether the child exists is known if this ownership of the run has written its id or has started it. Otherwise the
    store is asked, once for all such children of the run.
    """

    def __init__(self, children: Children, run: OwnedRun, index: int) -> None:
        self._children, self._run = children, run
        self._step = run.prepared.steps[index].name
        self.run_id = run.state.child_of[index].id

    async def start(self, request: StartRequest, *, detached: bool, recursion: bool) -> None:
        """Start the child unless it exists. Raise the errors of a start."""
        facts, start = self._run.state.facts, self._children.start
        if start is None:
            raise Unavailable("this engine cannot start runs")
        if self.run_id in await existing_children(self._children, self._run, [self.run_id]):
            return
        request = replace(request, family=family_of(facts, self._step, detached=detached))
        async with starting(self._run, self.run_id):
            await start(facts, parse(RUN, self.run_id), request, recursion)


def starting_event(run: OwnedRun, index: int, new_id: NewId) -> events.AttemptStarting:
    """Build the event of an attempt whose start is journalled, with ids for the runs that it may start."""
    each, step = run.prepared.graph.steps[index].each, run.prepared.steps[index]
    if each is not None:
        return events.AttemptStarting(index, pages=tuple(show(RUN, new_id()) for _ in range(pages_open(each))))
    return events.AttemptStarting(index, show(RUN, new_id()) if step.is_child else None)


async def existing_children(children: Children, run: OwnedRun, names: Collection[str]) -> set[str]:
    """Return which of these children of steps exist. The store is asked only if this ownership cannot know it.

    One question is for all children of the run that may exist, unless another attempt has just asked.
    """
    known = known_children(run)
    if not (known.present | known.absent).issuperset(names):
        async with known.look:
            # Not for those that are being started: they may be written after the answer, which would then be wrong.
            others = {child.id for child in run.state.child_of.values()} - known.starting
            unknown = others.union(names) - known.present - known.absent
            asked = {parse(RUN, name): name for name in unknown}
            there = {asked[id_] for id_ in await children.existing(tuple(asked))} if asked else set()
            known.present |= there
            known.absent |= unknown - there
    return known.present.intersection(names)


@asynccontextmanager
async def starting(run: OwnedRun, child: str) -> AsyncIterator[None]:
    """Start a child of a step inside. If that is interrupted, it is unknown whether the child exists."""
    known = known_children(run)
    known.absent.discard(child)
    known.starting.add(child)
    try:
        yield
    finally:
        known.starting.discard(child)
    known.present.add(child)
