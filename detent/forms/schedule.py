"""Schedules of definitions: a cron expression, its time zone, and rules for missed and overlapping slots."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from itertools import count, islice
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from detent.errors import InvalidInput
from detent.instant import SECOND, Instant, micros
from detent.values.durations import SECONDS, parse_duration, write_duration
from detent.values.fields import Fields, Problems, shown

CRON_FIELDS: Final = ("cron_expression", "timezone", "jitter", "missed", "missed_window", "overlap")
LONGEST_JITTER: Final = 3600.0
_MISSED_WINDOW: Final = 86400.0
_NICKNAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
#: The schedule that has an interval instead of times: `@every 90m`.
EVERY: Final = "@every "
_EXAMPLE: Final = 'write for example "0 9 * * 1-5" (minute, hour, day, month, weekday), "@daily" or "@every 90m"'
_LONGEST: Final = 200


class Missed(StrEnum):
    """What happens to slots that passed while no node was running: none, the newest, or all of them start a run."""

    NONE = "none"
    LAST = "last"
    ALL = "all"


class Overlap(StrEnum):
    """What happens to a slot whose trigger still has an open run."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


def read_schedule(fields: Fields) -> dict[str, Any]:
    """Return the complete config of a cron trigger. Every error becomes a problem."""
    if fields.get("cron_expression") is None:
        fields.problems.add(fields.at("cron_expression"), f"is missing; {_EXAMPLE}")
    text = fields.text("cron_expression", most=_LONGEST)
    cron = cron_expression(text, fields.at("cron_expression"), fields.problems) if text is not None else None
    jitter = fields.duration("jitter", unit=SECONDS) or 0.0
    if jitter > LONGEST_JITTER:
        fields.problems.add(fields.at("jitter"), f"must be at most {LONGEST_JITTER / 3600:g}h")
    window = fields.duration("missed_window", unit=SECONDS, zero=False)
    return {
        "cron_expression": cron,
        "timezone": _timezone(fields),
        "jitter": plain(jitter),
        "missed": fields.choice("missed", Missed, Missed.LAST).value,
        "missed_window": plain(_MISSED_WINDOW if window is None else window),
        "overlap": _overlap(fields),
    }


def plain(seconds: float) -> int | float:
    """Return whole seconds as an integer: 60 reads better than 60.0."""
    return int(seconds) if seconds.is_integer() else seconds


def _overlap(fields: Fields) -> str:
    value = fields.get("overlap")
    if isinstance(value, str):
        fields = Fields({"overlap": value.lower().replace("-", "_")}, fields.path, fields.problems)
    return fields.choice("overlap", Overlap, Overlap.ALLOW).value


def cron_expression(text: str, field: str, problems: Problems) -> str | None:
    """Return a cron expression as fields, with nicknames translated, or an interval as `@every 1h30m`.

    Add a problem if it is invalid or can never fire."""
    if text.lower().startswith(EVERY):
        return _interval(text[len(EVERY) :].strip(), field, problems)
    if text.startswith("@"):
        if text.lower() in _NICKNAMES:
            return _NICKNAMES[text.lower()]
        hint = problems.did_you_mean(text.lower(), _NICKNAMES) or f"; known are {', '.join(_NICKNAMES)}"
        problems.add(field, f"unknown schedule {shown(text)}{hint}")
        return None
    try:
        # The instant is fixed: whether an expression is valid must not depend on the day it is read.
        next(CronSim(text, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        problems.add(field, f"{shown(text)} is not a cron expression ({error}); {_EXAMPLE}")
        return None
    except StopIteration:
        problems.add(field, f"{shown(text)} never matches a time")
        return None
    return " ".join(text.split())


def _interval(text: str, field: str, problems: Problems) -> str | None:
    try:
        seconds = parse_duration(text, zero=False)
    except InvalidInput as error:
        problems.add(field, f"@every: {error.message}")
        return None
    if not seconds.is_integer():
        problems.add(field, f"@every {shown(text)} is not a number of whole seconds; slots are at whole seconds")
        return None
    return EVERY + write_duration(seconds)


def _timezone(fields: Fields) -> str:
    name = fields.text("timezone", most=_LONGEST)
    if name is None or name == "UTC":
        return "UTC"
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        hint = fields.problems.did_you_mean(name, sorted(available_timezones())) or "; write for example Europe/Zurich"
        fields.problems.add(fields.at("timezone"), f"unknown time zone {shown(name)}{hint}")
        return "UTC"
    return name


# The wall clock of a time zone: when it shows a time, and the times it jumps over.


_SECOND: Final = timedelta(seconds=1)


class Jump(NamedTuple):
    """The clock is put forward: the instant, the time it would have shown, and the time it showed."""

    at: datetime
    before: datetime
    after: datetime


class WallClock:
    """The wall clock of one time zone. Wall times are datetimes without a zone; instants are datetimes in UTC."""

    def __init__(self, timezone: str) -> None:
        self._zone: tzinfo = UTC if timezone == "UTC" else ZoneInfo(timezone)

    def reads(self, instant: datetime) -> datetime:
        """Return the time that the clock shows at an instant."""
        return instant.astimezone(self._zone).replace(tzinfo=None, fold=0)

    def showings(self, wall: datetime) -> tuple[datetime, ...]:
        """Return the instants at which the clock shows a time.

        There is one; two if the clock is put back over the time; none if it is put forward over it."""
        first, second = self._offset(wall, 0), self._offset(wall, 1)
        at = wall.replace(tzinfo=UTC)
        if first == second:
            return (at - first,)
        return (at - first, at - second) if first > second else ()

    def repeated(self, wall: datetime) -> timedelta:
        """Return by how much the clock is put back over a time; zero if it is not."""
        return max(self._offset(wall, 0) - self._offset(wall, 1), timedelta())

    def jump(self, wall: datetime) -> Jump:
        """Return the jump over a time that is never shown."""
        old, new = self._offset(wall, 0), self._offset(wall, 1)
        # With the new offset the time is before the jump, with the old offset after it.
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


# The slots of a schedule: the instants at which it is due. Pure; it reads only the time zone database.
#
# A cron expression names wall-clock times, and twice a year that clock jumps. The rule is that of Debian's cron:
#
# - A schedule with fixed times (neither its minutes nor its hours begin with `*`) is due once for each time it names.
#   If the clock jumps over that time, it is due right after the jump. If the clock shows it twice, it is due the first
#   time.
# - Any other schedule (`*/15 * * * *`, `0 * * * *`, `*/5 2 * * *`) follows real time: it is due whenever the clock
#   shows a time that it names. A time that the clock jumps over does not occur; a time that it shows twice occurs
#   twice.
#
# A jump may have any length; on Lord Howe Island it has 30 minutes.
#
# `cronsim` gets only wall times without a zone, because it crosses the jumps of a real zone in whole hours.
#
# An interval (`@every 90m`) names no wall-clock times: its slots are the multiples of the interval since 1970 in UTC.
# So all nodes agree on them, without a place where the last one is stored.


MOST_SLOTS: Final = 1_000
#: A schedule that is not due for this long has ended. (Without the limit, one that names only times in a gap would be
#: searched until the year 9999.)
_LONGEST_SEARCH: Final = timedelta(days=50 * 366)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Between(NamedTuple):
    """Slots, oldest first. `more`: there are older ones that were left out."""

    slots: list[Instant]
    more: bool


class Due(NamedTuple):
    """Which of the due slots start a run, oldest first, and how many do not."""

    to_start: list[Instant]
    dropped: int


def next_slots(cron: str, timezone: str, after: Instant, most: int = 1) -> list[Instant]:
    """Return the first slots after `after`; fewer than `most` (at most MOST_SLOTS) if there are no more."""
    return list(islice(_slots(cron, timezone, after, reverse=False), min(most, MOST_SLOTS)))


def slots_between(cron: str, timezone: str, after: Instant, until: Instant, most: int = MOST_SLOTS) -> Between:
    """Return the newest slots with after < slot <= until. The work is bounded by `most`, however long the range is."""
    newest: list[Instant] = []
    for slot in _slots(cron, timezone, until, reverse=True):
        if slot <= after:
            break
        if len(newest) == most:
            return Between(newest[::-1], True)
        newest.append(slot)
    return Between(newest[::-1], False)


def missed(policy: Missed, slots: Sequence[Instant], now: Instant, window: float, grace: float) -> Due:
    """Decide which due slots (oldest first, none after `now`) start a run. `window` and `grace` are seconds.

    A slot not older than `grace` is on time and always starts. Of the older ones, `all` starts those inside the window,
    and `none` starts none. `last` starts only the newest of them, and none if another slot is on time.
    """
    on_time = [slot for slot in slots if now - slot <= micros(grace)]
    late = [slot for slot in slots[: len(slots) - len(on_time)] if now - slot <= micros(window)]
    if policy is Missed.NONE or (policy is Missed.LAST and on_time):
        late = []
    to_start = (late[-1:] if policy is Missed.LAST else late) + on_time
    return Due(to_start, len(slots) - len(to_start))


def jittered(trigger_id: bytes, slot: Instant, jitter: float) -> Instant:
    """Return the slot, later by less than `jitter` seconds.

    The result is equal on every node, and different for each trigger and slot."""
    if jitter <= 0:
        return slot
    digest = hashlib.blake2b(trigger_id + slot.to_bytes(8, "big", signed=True), digest_size=8).digest()
    return slot + int.from_bytes(digest, "big") * micros(jitter) // 2**64


def _slots(cron: str, timezone: str, start: Instant, *, reverse: bool) -> Iterator[Instant]:
    """Yield slots after `start`, or from `start` (included) backwards. It ends with the calendar."""
    if cron.startswith(EVERY):
        interval = micros(parse_duration(cron[len(EVERY) :]))
        begin_slot = start // interval * interval
        yield from count(begin_slot, -interval) if reverse else count(begin_slot + interval, interval)
        return
    clock = WallClock(timezone)
    last: datetime | None = None
    try:
        begin = _EPOCH + timedelta(microseconds=start)
        for slot in _walk(cron, clock, begin, reverse):
            wanted = slot <= begin if reverse else slot > begin
            # Several times inside one jump are all due right after it, and a regular slot may be at the same instant.
            if wanted and slot != last:
                last = slot
                yield (slot - _EPOCH) // _SECOND * SECOND
    except (OverflowError, ValueError):
        return


def _walk(cron: str, clock: WallClock, begin: datetime, reverse: bool) -> Iterator[datetime]:
    """Yield the instants of a schedule in order, from a little before `begin`."""
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
        # The clock shows each of these a second time before it shows the time just found.
        while repeats and (repeats[0] > first if reverse else repeats[0] < first):
            yield repeats.popleft()
        yield first
        repeats.extend(second)
    yield from repeats


def _first_wall(clock: WallClock, begin: datetime, reverse: bool) -> datetime:
    """Return where to begin, so that no time is left out that the clock shows both before and after it is put back."""
    wall = clock.reads(begin)
    around = clock.repeated(wall)
    return wall + around + _SECOND if reverse else wall - around
