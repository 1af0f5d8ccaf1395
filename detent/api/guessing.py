"""Slows down whoever tries callback tokens that nobody made. Good tokens are never counted, nor held up."""

from __future__ import annotations

from collections import Counter
from typing import Final

from detent.clock import Clock, SystemClock

ALLOWED: Final = 60
WINDOW: Final = 60.0
_MOST_SOURCES: Final = 10_000


class Guesses:
    """Counts unknown tokens by source address, a minute at a time."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._counts: Counter[str] = Counter()
        self._began = self._clock.monotonic()

    def count(self, source: str) -> float | None:
        """Note one more. Gives the seconds to wait if there were too many."""
        now = self._clock.monotonic()
        if now - self._began >= WINDOW or len(self._counts) > _MOST_SOURCES:
            self._counts.clear()
            self._began = now
        self._counts[source] += 1
        return self._began + WINDOW - now if self._counts[source] > ALLOWED else None
