"""The node's one timer: which of the runs in memory must be looked at next, on the database's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Final

from detent.clock import DatabaseTime
from detent.engine.owned_run import OwnedRun
from detent.instant import SECOND

#: The loop's clock and the database's are not the same; look again this soon if the time has not quite come.
SHORTEST: Final = 0.0005
#: And look this often in any case, because the database's clock may step.
LONGEST: Final = 1.0
#: So many times that nobody waits for any more may lie around before they are looked for.
KEPT: Final = 500


class Timers:
    """`due` is called with each run whose time has come, never before it by the database's clock."""

    def __init__(self, time: DatabaseTime, due: Callable[[OwnedRun], None]) -> None:
        self._time, self._due = time, due
        self._heap: list[tuple[int, int, OwnedRun]] = []
        self._count = self._stale = 0
        self._handle: asyncio.TimerHandle | None = None
        self._armed: int | None = None

    def set(self, held: OwnedRun, at: int | None) -> None:
        """Look at the run then; the latest call counts."""
        if held.timer == at:
            return
        if held.timer is not None:
            self._stale += 1
        held.timer = at
        if at is not None:
            self._count += 1
            heappush(self._heap, (at, self._count, held))
            self._ring_by(at)
        if self._stale > KEPT and 2 * self._stale > len(self._heap):
            self._forget()

    def __len__(self) -> int:
        return len(self._heap)

    def _forget(self) -> None:
        """Let go of runs that have left: most end in milliseconds, and their expiry would hold them for a month."""
        self._heap = [place for place in self._heap if place[2].timer == place[0]]
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
            at, _, held = heappop(self._heap)
            if held.timer == at and not held.gone:
                held.timer = None
                self._due(held)
            elif self._stale:
                self._stale -= 1
        # A run that was looked at may have armed the timer for its own next time, later than others wait for.
        if self._heap:
            self._ring_by(self._heap[0][0])
