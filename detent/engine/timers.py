"""The node's timer: it knows which run in memory is due next, by the database's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Final

from detent.clock import DatabaseTime
from detent.engine.owned_run import OwnedRun
from detent.instant import SECOND

#: The shortest delay in seconds. The loop's clock may ring slightly before the database's clock reaches the time.
SHORTEST: Final = 0.0005
#: The longest delay in seconds, because the database's clock may step.
LONGEST: Final = 1.0
#: How many stale entries the heap may have before they are removed.
KEPT: Final = 500


class Timers:
    """The timer of one node: a heap of runs by their next time.

    `due` is called with each run whose time has come, never earlier by the database's clock.
    """

    def __init__(self, time: DatabaseTime, due: Callable[[OwnedRun], None]) -> None:
        self._time, self._due = time, due
        self._heap: list[tuple[int, int, OwnedRun]] = []
        self._count = self._stale = 0
        self._handle: asyncio.TimerHandle | None = None
        self._armed: int | None = None

    def set(self, run: OwnedRun, at: int | None) -> None:
        """Call `due` for the run at that time, or never if `at` is None. The latest call counts."""
        if run.timer == at:
            return
        if run.timer is not None:
            self._stale += 1
        run.timer = at
        if at is not None:
            self._count += 1
            heappush(self._heap, (at, self._count, run))
            self._ring_by(at)
        if self._stale > KEPT and 2 * self._stale > len(self._heap):
            self._forget()

    def __len__(self) -> int:
        return len(self._heap)

    def _forget(self) -> None:
        """Remove stale entries. Most runs end in milliseconds, but their expiry would hold them for a month."""
        self._heap = [entry for entry in self._heap if entry[2].timer == entry[0]]
        heapify(self._heap)
        self._stale = 0

    def stop(self) -> None:
        if self._handle:
            self._handle.cancel()
        self._heap.clear()

    def _ring_by(self, at: int) -> None:
        if self._armed is not None and self._armed <= at:
            return
        if self._handle:
            self._handle.cancel()
        delay = min(LONGEST, max(SHORTEST, (at - self._time.now()) / SECOND))
        self._armed = at
        self._handle = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        self._armed, self._handle = None, None
        now = self._time.now()
        while self._heap and self._heap[0][0] <= now:
            at, _, run = heappop(self._heap)
            if run.timer == at and not run.gone:
                run.timer = None
                self._due(run)
            elif self._stale:
                self._stale -= 1
        # A run that was due may have armed the timer for its own next time. Other runs may be due before that.
        if self._heap:
            self._ring_by(self._heap[0][0])
