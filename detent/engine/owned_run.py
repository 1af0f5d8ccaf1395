"""A run that this node owns and has in memory, and what decides when and where its steps may run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from detent.graph.model import Step
from detent.planner.advance import may_start
from detent.planner.moves.version import MoveWish
from detent.planner.prepared import Prepared, reads_inside
from detent.planner.suspects import may_repeat
from detent.run import events
from detent.run.call import RunView
from detent.run.events import Event
from detent.run.journal import USUAL, Entry, Placed
from detent.run.outcomes import Outcome
from detent.run.state import Phase, RunState
from detent.run.status import Status


class Port(Protocol):
    """The part of a running durable function that the runner notifies."""

    def carried(self, entry: Entry) -> None:
        """Receive an entry of an operation that has become durable."""

    def look(self) -> None:
        """Check whether the function must stop."""

    def close(self) -> None:
        """Notify the function of nothing any more."""


@dataclass(slots=True)
class Stopping:
    """The deferred events of a run that would end waits without their callbacks, each with its message.

    `closing` has the waits whose callbacks the store was asked to close. `closed` has those that it closed.
    """

    events: list[tuple[Event, int | None]] = field(default_factory=list)
    closing: set[int | str] = field(default_factory=set)
    closed: set[int | str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Moving:
    """A move to another version that waits until nothing of the run is in flight.

    `prepared` is the graph of that version, and `code` what a node must have to run it. `message` is its mail.
    """

    wish: MoveWish
    prepared: Prepared
    code: tuple[str, ...]
    message: int


class OwnedRun(msgspec.Struct, eq=False):
    """One owned run: its state, its attempts in flight, and what waits for them.

    `pending` counts the writes that are not durable yet. `gone` means that this object no longer represents the run,
    because it was parked, has ended or was lost.
    """

    id: bytes
    generation: int
    prepared: Prepared
    state: RunState
    row_status: str = str(Status.RUNNING)  # the status in the run's row
    placed: Placed = USUAL  # the queue and priority it was started with
    version: int = 0  # of its workflow
    pending: int = 0
    attempts: dict[int, asyncio.Task[Outcome]] = {}
    read: set[int] = set()  # ids of the messages read from the inbox
    has_unread: bool = False  # a message names a blob that cannot be read now
    timer: int | None = None  # when the node's timer calls back for it
    resting: bool = False  # in memory only for its timer
    gone: bool = False
    known: int = 0  # checkpoints of a durable function that are durable
    port: Port | None = None  # of a durable function that runs
    view: RunView | None = None  # what its steps may know of it, built when a step first needs it
    signals: dict[str, int] = {}  # how many of each name were received, at least
    is_in_lane: bool = False  # an attempt of it waits for its turn in the suspect lane, or has it
    locks: int = 0  # attempts that hold a lock on the run's row
    deferred: list[tuple[Event, int | None]] = []  # events that wait for `locks` to be 0
    farewell: Callable[[], None] | None = None  # queues the last write of this ownership, when `locks` is 0
    stopping: Stopping | None = None  # events that wait until callbacks are closed
    unsure: set[str] = set()  # children that may not exist: their start is under way or was stopped
    moving: Moving | None = None  # nothing new starts while it is set
    unsettled: list[tuple[Event, int | None]] | None = None  # events while its move is written
    moved_as: tuple[OwnedRun, dict[int, int]] | None = None  # what replaces it after a move, and the numbers of steps
    children: Any = None  # what is known of the children of its steps, a `children.KnownChildren`
    linking: tuple[int, ...] = ()  # steps that succeeded, and whose links are being claimed
    opening: bytes | None = None  # of its row, for its seal
    successor: Any = None  # the run that a durable function is about to continue as, a `write.Successor`

    def wait_name(self, wait: int | str) -> str:
        """Return the name that the callback of a wait has in the store."""
        return wait if isinstance(wait, str) else self.prepared.steps[wait].name

    def reader(self) -> Prepared:
        """Return the graph whose expressions say which blobs of the run are read inside: after a move, another one."""
        if self.moving is None or reads_inside(self.prepared):
            return self.prepared
        return self.moving.prepared

    def has_unrecorded_doubt(self) -> bool:
        """Return whether a child may not exist although its journal has no reason for the doubt."""
        return any(child in self.state.children for child in self.unsure - self.state.unsure)

    def current(self, step: int) -> tuple[OwnedRun, int]:
        """Return the object that represents the run now, and the number that the step has in it."""
        run = self
        while run.moved_as is not None:
            later, numbers = run.moved_as
            run, step = later, numbers[step]
        return run, step

    def is_held(self) -> bool:
        """Return whether nothing new may start: the run is paused, or is about to be moved."""
        return self.state.paused_by is not None or self.moving is not None

    def has_unrepeatable_attempt(self) -> bool:
        """Return whether an attempt is in flight, or has an outcome that is not in the journal, and must not be
        repeated."""
        flying = (*self.attempts, *self.linking)
        return any(not may_repeat(self.prepared, self.state, index) for index in flying)

    def has_work(self) -> bool:
        """Return whether work of the run is under way or about to begin. Such a run stays in memory."""
        state = self.state
        return bool(state.running or self.pending or (state.ready and state.paused_by is None))


# Attempts that hold a lock on their run's row: events that would stop them are deferred until the lock is released.
#
# A step may work in a transaction of the user that locks the row of the run. A flush that changes that row would wait
# for the user's transaction, and all other writes of the node would wait with it.


#: Events that end an attempt in flight.
STOPPING: Final = (events.Cancelled, events.Expired, events.Finished, events.Skipped, events.Reattempted)


class HandleEvent(Protocol):
    def __call__(self, run: OwnedRun, event: events.Event, *, message: int | None = None) -> None: ...


class Locks:
    """Defers events of runs whose row is locked by an attempt. `OwnedRun.locks` counts these attempts."""

    def __init__(self, handle: HandleEvent) -> None:
        self._handle = handle

    def defer(self, run: OwnedRun, event: events.Event, message: int | None) -> bool:
        """Defer the event if it would stop a locking attempt of the run. Return whether it was deferred."""
        if not isinstance(event, STOPPING):
            return False
        run.deferred.append((event, message))
        return True

    def move_deferred(self, old: OwnedRun, new: OwnedRun) -> None:
        """Handle the deferred events of `old` with `new`, the object that replaces it. Nothing of it is in flight.

        They are handled in the next turn of the loop, after the write of the replacement is queued.
        """
        deferred, old.deferred = old.deferred, []
        for event, message in deferred:
            asyncio.get_running_loop().call_soon(partial(self._handle, new, event, message=message))

    def give_back(self, run: OwnedRun) -> None:
        """Record that an attempt released its lock. After the last one, handle the deferred events."""
        run.locks -= 1
        if run.locks:
            return
        deferred, run.deferred = run.deferred, []
        for event, message in deferred:
            self._handle(run, event, message=message)
        farewell, run.farewell = run.farewell, None
        if farewell is not None:
            farewell()


def when_unlocked(run: OwnedRun, farewell: Callable[[], None]) -> None:
    """Call `farewell` as soon as no attempt holds a lock on the run. It is the last action for a released run."""
    if run.locks:
        run.farewell = farewell
    else:
        farewell()


# Where a step runs: a step with its own queue runs only on nodes that serve that queue.


class Placement:
    """The queues that this node serves. `None` means every queue."""

    def __init__(self, queues: Sequence[str] | None) -> None:
        self._queues = None if queues is None else frozenset(queues)

    def is_here(self, run: OwnedRun, index: int) -> bool:
        """Return whether this node may run the step."""
        queue = run.prepared.graph.steps[index].queue
        return self._queues is None or queue is None or queue in self._queues

    def is_for_others(self, run: OwnedRun) -> bool:
        """Return whether all startable steps of a run belong to other nodes, and nothing of it is under way."""
        if self._queues is None or run.state.running or run.pending:
            return False
        startable = may_start(run.state)
        return bool(startable) and not any(self.is_here(run, index) for index in startable)


def queue_and_priority(run: OwnedRun) -> tuple[str | None, int | None]:
    """Return the queue and priority with which a run is parked: those of the step it waits for.

    `None` leaves the value in the run's row unchanged. A run that was moved to another graph gets the values it was
    started with instead. Those in its row belong to steps that may not exist any more.
    """
    step = _next_step(run)
    queue, priority = (step.queue, step.priority) if step else (None, None)
    if run.state.moved_graph is not None or run.state.moved_version is not None:
        queue = run.placed.queue if queue is None else queue
        priority = run.placed.priority if priority is None else priority
    return queue, priority


def _next_step(run: OwnedRun) -> Step | None:
    """Return the step that a run waits for: a ready one, else the retry that is due first.

    Return None if no step can begin before something else has ended.
    """
    state, steps = run.state, run.prepared.graph.steps
    if state.ready:
        return steps[next(iter(state.ready))]
    timed = [
        (until, index)
        for index, until in state.until.items()
        if until is not None and state.phase[index] is Phase.RETRYING
    ]
    return steps[min(timed)[1]] if timed else None


class EndWaiters:
    """The futures of callers that wait for this node to write the end of a run, by run."""

    def __init__(self) -> None:
        self._futures: dict[bytes, list[asyncio.Future[None]]] = {}

    def end_of(self, run: bytes) -> asyncio.Future[None]:
        """Return a future that is done when this node has written the run's end.

        The future is cancelled if the store refused the start of the run.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.setdefault(run, []).append(future)
        return future

    def has_ended(self, run: bytes) -> None:
        for future in self._futures.pop(run, ()):
            if not future.done():
                future.set_result(None)

    def is_not_there(self, run: bytes) -> None:
        for future in self._futures.pop(run, ()):
            future.cancel()
