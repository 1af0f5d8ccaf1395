"""A run that this node owns and keeps in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from detent.graph.model import Step
from detent.planner.advance import may_start
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.events import Event
from detent.run.journal import USUAL, Entry, Placed
from detent.run.outcomes import Outcome
from detent.run.state import Phase, RunState
from detent.run.status import Status


class Port(Protocol):
    """A durable function that runs, as far as the runner tells it something."""

    def carried(self, entry: Entry) -> None:
        """An entry of an operation is durable."""

    def look(self) -> None:
        """Perhaps it must stop."""

    def close(self) -> None:
        """Nobody is told anything any more."""


@dataclass(slots=True, eq=False)
class OwnedRun:
    """`pending` counts writes on their way; `gone`: this object is no longer the run (parked, ended, lost)."""

    id: bytes
    generation: int
    prepared: Prepared
    state: RunState
    row_status: str = str(Status.RUNNING)  # what the run's row says
    placed: Placed = USUAL  # where it was started
    pending: int = 0
    attempts: dict[int, asyncio.Task[Outcome]] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)  # messages taken from the inbox
    timer: int | None = None  # when the engine's timer will look at it
    resting: bool = False  # in memory only for its timer
    gone: bool = False
    known: int = 0  # checkpoints of a durable function that are durable
    port: Port | None = None  # of a durable function that runs
    signals: dict[str, int] = field(default_factory=dict)  # how many of each name have come, at least
    is_in_lane: bool = False  # an attempt of it waits for its turn as a suspect, or has it
    locks: int = 0  # attempts that hold a lock on the run's row
    deferred: list[tuple[Event, int | None]] = field(default_factory=list)  # until they do not
    farewell: Callable[[], None] | None = None  # what ends this ownership, then

    def wait_name(self, wait: int | str) -> str:
        """How the callback of a wait is called in the store."""
        return wait if isinstance(wait, str) else self.prepared.steps[wait].name

    def has_work(self) -> bool:
        """Whether anything is being done or about to be: such a run stays in memory."""
        state = self.state
        return bool(state.running or self.pending or (state.ready and state.paused_by is None))


# Attempts that hold a lock on their run's row: what would end or stop them waits until they do not.
#
# A step may do its work in a transaction of the user's that locks the run. A flush that had to change that row would
# wait for the user's transaction, and everything else of the node with it.


#: What takes an attempt in flight away from its step.
STOPPING: Final = (events.Cancelled, events.Expired, events.Finished, events.Skipped, events.Reattempted)


class Happen(Protocol):
    def __call__(self, held: OwnedRun, event: events.Event, *, message: int | None = None) -> None: ...


class Locks:
    """Counts them by run (`OwnedRun.locks`)."""

    def __init__(self, happen: Happen) -> None:
        self._happen = happen

    def defer(self, held: OwnedRun, event: events.Event, message: int | None) -> bool:
        """An event of a run with such attempts: whether it has to wait; then it is kept."""
        if not isinstance(event, STOPPING):
            return False
        held.deferred.append((event, message))
        return True

    def hand_over(self, old: OwnedRun, new: OwnedRun) -> None:
        """The run is held anew, and nothing of it is in flight: what had to wait happens as soon as that is written."""
        deferred, old.deferred = old.deferred, []
        for event, message in deferred:
            asyncio.get_running_loop().call_soon(partial(self._happen, new, event, message=message))

    def give_back(self, held: OwnedRun) -> None:
        """An attempt holds its lock no longer. What had to wait for the last one happens now."""
        held.locks -= 1
        if held.locks:
            return
        deferred, held.deferred = held.deferred, []
        for event, message in deferred:
            self._happen(held, event, message=message)
        farewell, held.farewell = held.farewell, None
        if farewell is not None:
            farewell()


def when_unlocked(held: OwnedRun, farewell: Callable[[], None]) -> None:
    """Do the last that is done for a run that this node gives up, as soon as no attempt holds a lock on it."""
    if held.locks:
        held.farewell = farewell
    else:
        farewell()


# Where a step is carried out: a step with a queue of its own runs on nodes that serve that queue, and nowhere else.


class Placement:
    """What this node serves; null: every queue."""

    def __init__(self, queues: Sequence[str] | None) -> None:
        self._queues = None if queues is None else frozenset(queues)

    def is_here(self, held: OwnedRun, index: int) -> bool:
        """Whether the step may be begun on this node."""
        queue = held.prepared.graph.steps[index].queue
        return self._queues is None or queue is None or queue in self._queues

    def is_for_others(self, held: OwnedRun) -> bool:
        """Whether all that could be begun in a run is for nodes of other queues, and nothing else is done for it."""
        if self._queues is None or held.state.running or held.pending:
            return False
        startable = may_start(held.state)
        return bool(startable) and not any(self.is_here(held, index) for index in startable)


def queue_and_priority(held: OwnedRun) -> tuple[str | None, int | None]:
    """The queue and the priority with which a run waits: those of the step at hand. Where that says nothing the run
    stays as it is, unless it was moved: then it is where it was started, for where it is belongs to steps that may be
    gone."""
    step = _step_at_hand(held)
    queue, priority = (step.queue, step.priority) if step else (None, None)
    if held.state.moved_graph is not None:
        queue = held.placed.queue if queue is None else queue
        priority = held.placed.priority if priority is None else priority
    return queue, priority


def _step_at_hand(held: OwnedRun) -> Step | None:
    """The step that a run waits for: one that is ready, else the one whose time comes first; null if none is to be
    begun before something else has ended."""
    state, steps = held.state, held.prepared.graph.steps
    if state.ready:
        return steps[next(iter(state.ready))]
    timed = [
        (until, index)
        for index, until in state.until.items()
        if until is not None and state.phase[index] is Phase.RETRYING
    ]
    return steps[min(timed)[1]] if timed else None
