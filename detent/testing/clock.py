"""A clock that a test moves."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from detent.authoring.durations import parse_duration
from detent.clock import SystemClock
from detent.instant import SECOND, Instant, as_datetime, micros

Length = float | str | timedelta

LONGEST: Final = 100 * 366 * 86_400 * SECOND


class FakeClock:
    """Stands still until it is moved; it begins at `start`, or now. A store and an engine that have it live by it."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = SystemClock().wall() if start is None else round(start.timestamp() * SECOND)
        self._passed = 0

    def wall(self) -> Instant:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed / SECOND

    def now(self) -> datetime:
        """The time of day, UTC."""
        return as_datetime(self.wall())

    @property
    def passed(self) -> timedelta:
        """How far it was moved."""
        return timedelta(microseconds=self._passed)

    def advance(self, length: Length = 0.0, /, **units: float) -> None:
        """Let time pass: seconds, a timedelta, a text such as "2d", or `days=2, hours=1`."""
        self.move_to(self.wall() + micros(seconds_of(length, **units)))

    def move_to(self, instant: Instant) -> None:
        """Make it that time, if it is not later already."""
        self._passed = max(self._passed, min(instant - self._start, LONGEST))


def seconds_of(length: Length = 0.0, /, **units: float) -> float:
    """A length of time in seconds, however it is written."""
    more = timedelta(**units).total_seconds() if units else 0.0
    if isinstance(length, timedelta):
        return length.total_seconds() + more
    return parse_duration(length) + more
