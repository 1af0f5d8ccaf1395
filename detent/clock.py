"""The machine's time. No other module reads it.

What the engine calls "now" is the *database's* time: the time in its last reply plus the monotonic time since that
reply arrived. So it is never ahead of the database, and a wrong clock on a node changes nothing.
"""

from __future__ import annotations

import time
from typing import Protocol

from detent.instant import SECOND, Instant


class Clock(Protocol):
    """A source of time: the machine's clock, a simulated one, or one that a test moves."""

    def wall(self) -> Instant:
        """Return this machine's time of day, which may be wrong."""

    def monotonic(self) -> float:
        """Return seconds that only increase. Their zero has no meaning."""


class SystemClock:
    """The machine's own clock; `skew` seconds are added to its wall time, for tests of wrong clocks."""

    def __init__(self, skew: float = 0.0) -> None:
        self._skew = int(skew * SECOND)

    def wall(self) -> Instant:
        return time.time_ns() // 1000 + self._skew

    monotonic = staticmethod(time.monotonic)


class DatabaseTime:
    """The database's time as far as this node knows it. `heard` is called with every reply that carries a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._said = 0
        self._at = 0.0

    def heard(self, said: Instant) -> None:
        """Store the time that the database sent in a reply. Call this as soon as the reply arrives."""
        self._said, self._at = said, self._clock.monotonic()

    def monotonic(self) -> float:
        """Return the seconds of this node's own clock, which only increase."""
        return self._clock.monotonic()

    def now(self) -> Instant:
        """Return a time that the database has certainly reached."""
        return self._said + int((self._clock.monotonic() - self._at) * SECOND)
