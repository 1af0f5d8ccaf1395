"""The statuses of a run and the moves between them. One function moves; nothing else sets a status."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from detent.errors import IllegalMove


class Status(StrEnum):
    """Where a run stands."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"


TERMINAL: Final = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMEOUT})
OPEN: Final = frozenset(Status) - TERMINAL

# A pending run is paused only by an engine that could not go on with it; resumed, it is pending again.
MOVES: Final[dict[Status, frozenset[Status]]] = {
    Status.PENDING: frozenset({Status.RUNNING, Status.PAUSED, Status.CANCELLED, Status.TIMEOUT}),
    Status.RUNNING: TERMINAL | {Status.PAUSED},
    Status.PAUSED: TERMINAL | {Status.RUNNING, Status.PENDING},
}


def moved(was: Status, to: Status) -> Status:
    """The status a run has after the move, or IllegalMove. A terminal run never reopens."""
    if to not in MOVES.get(was, frozenset()):
        raise IllegalMove(f"a run cannot go from {was} to {to}")
    return to
