"""How often something is looked at that mostly does not change."""

from __future__ import annotations

import asyncio
from typing import Final

from detent.clock import Clock

QUICK: Final = 0.2
SLOW: Final = 1.0
GROWTH: Final = 1.5
#: Nudges that come thick and fast are gathered for as long.
GAP: Final = 0.01


class Pace:
    """When to look again: at once when nudged, else after a pause that grows while nothing is found.

    `look` is called before every look and `rest` after it, so that a nudge in between is never lost."""

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
        """Wait for a nudge alone."""
        await self._nudged.wait()
        await asyncio.sleep(max(0.0, self._looked + GAP - self._clock.monotonic()))
