"""Attempts that hold a lock on their run's row: what would end or stop them waits until they do not.

A step may do its work in a transaction of the user's that locks the run. A flush that had to change that row would wait
for the user's transaction, and everything else of the node with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from detent.engine.held import HeldRun
from detent.run import events

#: What takes an attempt in flight away from its step.
STOPPING: Final = (events.Cancelled, events.Expired, events.Finished, events.Skipped, events.Reattempted)


class Happen(Protocol):
    def __call__(self, held: HeldRun, event: events.Event, *, message: int | None = None) -> None: ...


class Locks:
    """Counts them by run (`HeldRun.locks`)."""

    def __init__(self, happen: Happen) -> None:
        self._happen = happen

    def defer(self, held: HeldRun, event: events.Event, message: int | None) -> bool:
        """An event of a run with such attempts: whether it has to wait; then it is kept."""
        if not isinstance(event, STOPPING):
            return False
        held.deferred.append((event, message))
        return True

    def hand_over(self, old: HeldRun, new: HeldRun) -> None:
        """The run is held anew, and nothing of it is in flight: what had to wait happens as soon as that is written."""
        deferred, old.deferred = old.deferred, []
        for event, message in deferred:
            asyncio.get_running_loop().call_soon(partial(self._happen, new, event, message=message))

    def give_back(self, held: HeldRun) -> None:
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


def when_unlocked(held: HeldRun, farewell: Callable[[], None]) -> None:
    """Do the last that is done for a run that this node gives up, as soon as no attempt holds a lock on it."""
    if held.locks:
        held.farewell = farewell
    else:
        farewell()
