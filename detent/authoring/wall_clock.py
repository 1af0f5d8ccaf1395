"""The clock on the wall of a time zone: when it shows a time, and the times it jumps over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

_SECOND: Final = timedelta(seconds=1)


class Jump(NamedTuple):
    """The clock is put forward: when, and what it would have shown and did show then."""

    at: datetime
    before: datetime
    after: datetime


class WallClock:
    """Wall times are datetimes without a zone; instants are datetimes in UTC."""

    def __init__(self, timezone: str) -> None:
        self._zone: tzinfo = UTC if timezone == "UTC" else ZoneInfo(timezone)

    def reads(self, instant: datetime) -> datetime:
        """What the clock shows at an instant."""
        return instant.astimezone(self._zone).replace(tzinfo=None, fold=0)

    def showings(self, wall: datetime) -> tuple[datetime, ...]:
        """The instants at which the clock shows a time: one, two if it is put back over it, none if forward."""
        first, second = self._offset(wall, 0), self._offset(wall, 1)
        at = wall.replace(tzinfo=UTC)
        if first == second:
            return (at - first,)
        return (at - first, at - second) if first > second else ()

    def repeated(self, wall: datetime) -> timedelta:
        """By how much the clock is put back over a time; zero if it is not."""
        return max(self._offset(wall, 0) - self._offset(wall, 1), timedelta())

    def jump(self, wall: datetime) -> Jump:
        """The jump over a time that is never shown."""
        old, new = self._offset(wall, 0), self._offset(wall, 1)
        # Read with the new offset the time lies before the jump, read with the old one behind it.
        at = wall.replace(tzinfo=UTC)
        early, late = at - new, at - old
        while late - early > _SECOND:
            middle = early + (late - early) // 2
            middle = middle.replace(microsecond=0)
            if middle.astimezone(self._zone).utcoffset() == old:
                early = middle
            else:
                late = middle
        return Jump(late, (late + old).replace(tzinfo=None), (late + new).replace(tzinfo=None))

    def _offset(self, wall: datetime, fold: int) -> timedelta:
        return wall.replace(tzinfo=self._zone, fold=fold).utcoffset() or timedelta()
