"""The slots of a schedule: the instants at which it is due. Pure; a time zone is the only thing asked.

Cron speaks of what the clock on the wall shows, and twice a year that clock jumps. The rule is that of Debian's cron:

- a schedule with fixed times (neither its minutes nor its hours begin with `*`) is due once for each time it names. If
  the clock jumps over that time, it is due right after the jump; if the clock shows it twice, it is due the first time;
- any other schedule (`*/15 * * * *`, `0 * * * *`, `*/5 2 * * *`) goes by real time: it is due whenever the clock shows
  a time that it names. What the clock jumps over does not happen, what it shows twice happens twice.

A jump may have any length; Lord Howe Island's has 30 minutes.

`cronsim` is asked only about a wall without jumps, because it goes in whole hours over the jumps of a real one.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from cronsim import CronSim

from detent.authoring.schedule import Missed
from detent.authoring.wall_clock import WallClock
from detent.instant import SECOND, Instant, micros

MOST_SLOTS: Final = 1_000
#: A schedule that is not due for so long is over. (Without it, one that names only times in a gap would be looked for
#: until the year 9999.)
_LONGEST_SEARCH: Final = timedelta(days=50 * 366)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


class Between(NamedTuple):
    """Slots, oldest first. `more`: there are older ones that were left out."""

    slots: list[Instant]
    more: bool


class Due(NamedTuple):
    """Which of the slots that have come are to be started, oldest first, and how many are not."""

    to_start: list[Instant]
    dropped: int


def next_slots(cron: str, timezone: str, after: Instant, count: int = 1) -> list[Instant]:
    """The first slots later than `after`; fewer than `count` (at most MOST_SLOTS) if there are no more."""
    return list(islice(_slots(cron, timezone, after, reverse=False), min(count, MOST_SLOTS)))


def slots_between(cron: str, timezone: str, after: Instant, until: Instant, most: int = MOST_SLOTS) -> Between:
    """The newest slots with after < slot <= until. The work is bounded by `most`, however long the time is."""
    newest: list[Instant] = []
    for slot in _slots(cron, timezone, until, reverse=True):
        if slot <= after:
            break
        if len(newest) == most:
            return Between(newest[::-1], True)
        newest.append(slot)
    return Between(newest[::-1], False)


def missed(policy: Missed, slots: Sequence[Instant], now: Instant, window: float, grace: float) -> Due:
    """What becomes of slots that have come (oldest first, none after `now`). `window` and `grace` are seconds.

    A slot not older than `grace` is on time and always starts. Of the older ones `all` starts those inside the window,
    and `none` nothing. `last` starts the newest slot alone; if one is on time, that is the newest.
    """
    on_time = [slot for slot in slots if now - slot <= micros(grace)]
    late = [slot for slot in slots[: len(slots) - len(on_time)] if now - slot <= micros(window)]
    if policy is Missed.NONE or (policy is Missed.LAST and on_time):
        late = []
    to_start = (late[-1:] if policy is Missed.LAST else late) + on_time
    return Due(to_start, len(slots) - len(to_start))


def jittered(trigger_id: bytes, slot: Instant, jitter: float) -> Instant:
    """The slot, later by less than `jitter` seconds: the same on every node, another for each trigger and slot."""
    if jitter <= 0:
        return slot
    digest = hashlib.blake2b(trigger_id + slot.to_bytes(8, "big", signed=True), digest_size=8).digest()
    return slot + int.from_bytes(digest, "big") * micros(jitter) // 2**64


def _slots(cron: str, timezone: str, start: Instant, *, reverse: bool) -> Iterator[Instant]:
    """Slots after `start`, or from `start` (included) backwards. Ends where the calendar does."""
    clock = WallClock(timezone)
    last: datetime | None = None
    try:
        begin = _EPOCH + timedelta(microseconds=start)
        for slot in _walk(cron, clock, begin, reverse):
            wanted = slot <= begin if reverse else slot > begin
            # Several times inside one jump are due right after it, together, and so may be a time of its own.
            if wanted and slot != last:
                last = slot
                yield (slot - _EPOCH) // _SECOND * SECOND
    except (OverflowError, ValueError):
        return


def _walk(cron: str, clock: WallClock, begin: datetime, reverse: bool) -> Iterator[datetime]:
    """The instants of a schedule in order, from a little before `begin`."""
    minutes, hours = cron.split()[-5:-3]
    fixed = not (minutes.startswith("*") or hours.startswith("*"))
    times = CronSim(cron, _first_wall(clock, begin, reverse), reverse=reverse)
    found = times.dt
    repeats: deque[datetime] = deque()
    while (wall := next(times, None)) is not None and abs(wall - found) < _LONGEST_SEARCH:
        shown = clock.showings(wall)
        if not shown:
            jump = clock.jump(wall)
            times = CronSim(cron, jump.before if reverse else jump.after - _SECOND, reverse=reverse)
            shown = (jump.at,) if fixed else ()
        if not shown:
            continue
        found = wall
        first, *second = shown[:1] if fixed else shown[::-1] if reverse else shown
        # The clock shows each of these a second time before it shows the time that was found now.
        while repeats and (repeats[0] > first if reverse else repeats[0] < first):
            yield repeats.popleft()
        yield first
        repeats.extend(second)
    yield from repeats


def _first_wall(clock: WallClock, begin: datetime, reverse: bool) -> datetime:
    """Where to begin, so that no time is left out that the clock shows before and after being put back."""
    wall = clock.reads(begin)
    around = clock.repeated(wall)
    return wall + around + _SECOND if reverse else wall - around
