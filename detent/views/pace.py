"""The pace of polls for something that rarely changes."""

from __future__ import annotations

import asyncio
from typing import Final

from detent.clock import Clock

QUICK: Final = 0.2
SLOW: Final = 1.0
GROWTH: Final = 1.5
#: The shortest time between two polls, in seconds. Nudges within it are combined.
GAP: Final = 0.01


class Pace:
    """When to poll again: at once after a nudge, otherwise after a pause that grows while nothing is found.

    Call `look` before every poll and `rest` after it. So a nudge in between is never lost.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._nudged = asyncio.Event()
        self._looked = 0.0
        self._pause = QUICK / GROWTH

    def nudge(self) -> None:
        self._nudged.set()

    def look(self) -> None:
        self._nudged.clear()
        self._looked = self._clock.monotonic()

    async def rest(self, *, found: bool) -> None:
        self._pause = QUICK if found else min(SLOW, self._pause * GROWTH)
        try:
            async with asyncio.timeout(self._pause):
                await self.nudged()
        except TimeoutError:
            return

    async def nudged(self) -> None:
        """Wait for a nudge, without a time limit."""
        await self._nudged.wait()
        await asyncio.sleep(max(0.0, self._looked + GAP - self._clock.monotonic()))
