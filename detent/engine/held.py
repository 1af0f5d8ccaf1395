"""A run that this node owns and keeps in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from detent.planner.prepared import Prepared
from detent.run.outcomes import Outcome
from detent.run.state import RunState
from detent.run.status import Status


@dataclass(slots=True, eq=False)
class HeldRun:
    """`pending` counts writes on their way; `gone`: this object is no longer the run (parked, ended, lost)."""

    id: bytes
    generation: int
    prepared: Prepared
    state: RunState
    row_status: str = str(Status.RUNNING)  # what the run's row says
    pending: int = 0
    attempts: dict[int, asyncio.Task[Outcome]] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)  # messages taken from the inbox
    timer: int | None = None  # when the engine's timer will look at it
    resting: bool = False  # in memory only for its timer
    gone: bool = False

    def has_work(self) -> bool:
        """Whether anything is being done or about to be: such a run stays in memory."""
        state = self.state
        return bool(state.running or self.pending or (state.ready and state.paused_by is None))
