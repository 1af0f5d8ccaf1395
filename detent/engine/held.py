"""A run that this node owns and keeps in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from detent.planner.prepared import Prepared
from detent.run.events import Event
from detent.run.journal import USUAL, Entry, Placed
from detent.run.outcomes import Outcome
from detent.run.state import RunState
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
class HeldRun:
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
