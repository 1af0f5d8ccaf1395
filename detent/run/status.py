"""The statuses of a run and the allowed transitions between them, which `moved` checks."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from detent.errors import IllegalMove


class Status(StrEnum):
    """The status of a run."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"


TERMINAL: Final = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMEOUT})
UNCOMPLETED: Final = TERMINAL - {Status.COMPLETED}
OPEN: Final = frozenset(Status) - TERMINAL

# Only the engine pauses a pending run, when it quarantines it. After a resume the run is pending again.
MOVES: Final[dict[Status, frozenset[Status]]] = {
    Status.PENDING: frozenset({Status.RUNNING, Status.PAUSED, Status.CANCELLED, Status.TIMEOUT}),
    Status.RUNNING: TERMINAL | {Status.PAUSED},
    Status.PAUSED: TERMINAL | {Status.RUNNING, Status.PENDING},
}


def moved(was: Status, to: Status) -> Status:
    """Return the new status of a run. Raise IllegalMove if the transition is not allowed.

    A terminal run never becomes open again.
    """
    if to not in MOVES.get(was, frozenset()):
        raise IllegalMove(f"a run cannot go from {was} to {to}")
    return to
