"""The dates of language revision 2. A date is an ISO 8601 text; without an offset it is a time of a zone that is named.

Every function returns a date as `2026-03-01T09:30:00.000Z`: in UTC, with milliseconds, in the years 1 to 9999. So dates
compare as texts, `date(a) < now()`. Zones are IANA names such as `Europe/Zurich`; without one the zone is UTC. Where a
clock is put forward, a time that it jumps over is later by the length of the jump: 02:30 is read as 03:30. Where a
clock is put back, a time that it shows twice is the first of both.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from detent.expressions.arguments import Function, need_choice, need_number, need_text, need_whole
from detent.expressions.errors import Budget, EvaluationError, Place
from detent.expressions.values import checked, kind_of
from detent.instant import Instant, as_datetime

#: The key of the scope with the instant that now() returns. No name of the language has a parenthesis.
NOW: Final = "now()"

LONGEST_DATE: Final = 64
LONGEST_ZONE: Final = 64
LONGEST_PATTERN: Final = 100
#: What reading a date and finding a zone cost, in the work of one node.
DATE_WORK: Final = 4
ZONE_WORK: Final = 10

_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_LENGTHS: Final = {
    "millisecond": timedelta(milliseconds=1),
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_UNITS: Final = {**_LENGTHS, **_MONTHS}
_EVERY_UNIT: Final = {**_UNITS, **{f"{unit}s": unit for unit in _UNITS}}
_MONTH_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_OUTSIDE: Final = "the date is outside of the years 1 to 9999"


def iso_text(date: datetime) -> str:
    """Return a date in UTC as every function returns it."""
    return f"{date.year:04}-{date:%m-%dT%H:%M:%S}.{date.microsecond // 1000:03}Z"


@lru_cache(maxsize=256)
def _zone_named(name: str) -> tzinfo | None:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _zone(value: object, budget: Budget) -> tzinfo:
    """Return the zone of that name, UTC for null. The first use of a zone reads a file."""
    if value is None:
        return UTC
    budget.spend(ZONE_WORK)
    name = need_text(value)
    found = _zone_named(name) if len(name) <= LONGEST_ZONE else None
    if found is None:
        raise EvaluationError(f"there is no time zone {name[:40]!r}; write for example 'Europe/Zurich'")
    return found


def _instant(date: datetime) -> datetime:
    """Return a date of any zone in UTC."""
    try:
        return date.astimezone(UTC)
    except OverflowError:
        raise EvaluationError(_OUTSIDE) from None


def _local(date: datetime, zone: tzinfo) -> datetime:
    try:
        return date.astimezone(zone)
    except OverflowError:
        raise EvaluationError(_OUTSIDE) from None


def _read(value: object, budget: Budget, zone: tzinfo = UTC) -> datetime:
    """Return the date that an ISO text spells, in UTC. A text without an offset is a time of the zone."""
    text = value if isinstance(value, str) else ""
    found = _ISO.fullmatch(text.strip()) if len(text) <= LONGEST_DATE else None
    if found is None:
        given = repr(text[:40]) if isinstance(value, str) else kind_of(value)
        raise EvaluationError(f"needs a date such as '2026-03-01T09:30:00Z', not {given}")
    budget.spend(DATE_WORK)
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    micros = int((found[7] or "").ljust(6, "0")[:6])
    try:
        date = datetime(year, month, day, hour, minute, second, micros, _offset(found[8]) or zone)
    except ValueError as error:
        raise EvaluationError(f"{text[:40]!r} is not a date: {error}") from None
    return _instant(date)


def _offset(text: str | None) -> tzinfo | None:
    if text is None or text in "Zz":
        return None if text is None else UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    if digits > "2359" or digits[2:] > "59":
        raise EvaluationError(f"there is no offset {text!r}; write for example +01:00")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _now(known: object, place: tuple[Place, int, tuple[int, ...]]) -> str:
    assert isinstance(known, Instant)
    return iso_text(as_datetime(known))


def _date(budget: Budget, value: object, zone: object = None) -> str:
    return iso_text(_read(value, budget, _zone(zone, budget)))


def _parse(budget: Budget, value: object, pattern: object = None, zone: object = None) -> str:
    if pattern is None:
        return _date(budget, value, zone)
    text, where = need_text(value), _zone(zone, budget)
    if len(text) > 2 * LONGEST_PATTERN:
        raise EvaluationError(f"the text is longer than {2 * LONGEST_PATTERN} characters")
    budget.spend(DATE_WORK + len(text) // 4)
    return iso_text(_Reader(text).date(_letters(pattern), where))


def _format(budget: Budget, value: object, pattern: object, zone: object = None) -> str:
    local = _local(_read(value, budget), _zone(zone, budget))
    parts = _letters(pattern)
    budget.spend(1 + len(parts))
    return "".join(part if is_text else _WRITTEN[part](local) for is_text, part in parts)


def _add(unit: str) -> Callable[..., str]:
    def add(budget: Budget, value: object, count: object, zone: object = None) -> str:
        number, where = need_number(count), _zone(zone, budget)
        date = _read(value, budget)
        try:
            if unit in _MONTHS:
                return iso_text(_instant(_months_later(_local(date, where), need_whole(number) * _MONTHS[unit])))
            if unit == "day" and where is not UTC:
                moved = _local(date, where).replace(tzinfo=None) + need_whole(number) * _LENGTHS[unit]
                return iso_text(_instant(moved.replace(tzinfo=where)))
            return iso_text(date + number * _LENGTHS[unit])
        except OverflowError:
            raise EvaluationError(_OUTSIDE) from None

    return add


def _months_later(date: datetime, months: int) -> datetime:
    """Return the same day of another month, or the last day of that month if it is shorter."""
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise EvaluationError(_OUTSIDE)
    return date.replace(year=year, month=month + 1, day=min(date.day, monthrange(year, month + 1)[1]), fold=0)


def _unit(value: object) -> str:
    return need_choice(value, _EVERY_UNIT, "unit").removesuffix("s")


def _diff(budget: Budget, first: object, second: object, unit: object = "milliseconds") -> int | float:
    name, later, earlier = _unit(unit), _read(first, budget), _read(second, budget)
    if name in _LENGTHS:
        whole = abs(later - earlier) // _LENGTHS[name]
    else:
        low, high = min(later, earlier), max(later, earlier)
        months = (high.year - low.year) * 12 + high.month - low.month
        if _months_later(low, months) > high:
            months -= 1
        whole = months // _MONTHS[name]
    return checked(whole if later >= earlier else -whole)


def _start_of(budget: Budget, value: object, unit: object, zone: object = None) -> str:
    name, where = _unit(unit), _zone(zone, budget)
    local = _local(_read(value, budget), where)
    if name in ("millisecond", "second", "minute", "hour"):
        # Where a clock is put back, an hour is there twice: this keeps the one that the date is in.
        smaller = {"microsecond": 0, "second": 0, "minute": 0}
        count = ("millisecond", "second", "minute", "hour").index(name)
        whole = local.replace(**dict(list(smaller.items())[:count]))  # type: ignore[arg-type]
        return iso_text(_instant(whole))
    day = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if name == "week":
        day -= timedelta(days=day.weekday())  # the first day of year 1 is a Monday
    if name in _MONTHS:
        day = day.replace(day=1, month=day.month - (day.month - 1) % _MONTHS[name])
    return iso_text(_instant(day))


# Patterns: letters are parts of a date, `[text]` and everything that is not a letter is text.


def _offset_text(date: datetime) -> str:
    offset = date.utcoffset() or timedelta(0)
    minutes = abs(offset) // timedelta(minutes=1)
    return f"{'-' if offset < timedelta(0) else '+'}{minutes // 60:02}:{minutes % 60:02}"


_WRITTEN: Final[Mapping[str, Callable[[datetime], str]]] = {
    "yyyy": lambda date: f"{date.year:04}",
    "yy": lambda date: f"{date.year % 100:02}",
    "MMMM": lambda date: _MONTH_NAMES[date.month - 1],
    "MMM": lambda date: _MONTH_NAMES[date.month - 1][:3],
    "MM": lambda date: f"{date.month:02}",
    "M": lambda date: str(date.month),
    "dd": lambda date: f"{date.day:02}",
    "d": lambda date: str(date.day),
    "EEEE": lambda date: _DAY_NAMES[date.weekday()],
    "EEE": lambda date: _DAY_NAMES[date.weekday()][:3],
    "HH": lambda date: f"{date.hour:02}",
    "H": lambda date: str(date.hour),
    "hh": lambda date: f"{(date.hour - 1) % 12 + 1:02}",
    "h": lambda date: str((date.hour - 1) % 12 + 1),
    "mm": lambda date: f"{date.minute:02}",
    "m": lambda date: str(date.minute),
    "ss": lambda date: f"{date.second:02}",
    "s": lambda date: str(date.second),
    "SSS": lambda date: f"{date.microsecond // 1000:03}",
    "a": lambda date: "AM" if date.hour < 12 else "PM",
    "Z": _offset_text,
}


@lru_cache(maxsize=256)
def _pattern_parts(pattern: str) -> tuple[tuple[bool, str], ...]:
    return tuple(_split(pattern))


def _letters(pattern: object) -> tuple[tuple[bool, str], ...]:
    """Return the parts of a pattern: whether each is text, and the text or the letters."""
    if len(need_text(pattern)) > LONGEST_PATTERN:
        raise EvaluationError(f"the pattern is longer than {LONGEST_PATTERN} characters")
    return _pattern_parts(need_text(pattern))


def _split(pattern: str) -> Iterator[tuple[bool, str]]:
    index = 0
    while index < len(pattern):
        start, char = index, pattern[index]
        if char == "[":
            index = pattern.find("]", start) + 1
            if not index:
                raise EvaluationError("'[' is not closed in the pattern")
            yield True, pattern[start + 1 : index - 1]
            continue
        while index < len(pattern) and pattern[index] == char:
            index += 1
        letters = pattern[start:index]
        is_text = not (char.isascii() and char.isalpha())
        if not is_text and letters not in _WRITTEN:
            hint = "; write yyyy-MM-dd" if char in "YD" else f"; there is {' '.join(_WRITTEN)}, and [text]"
            raise EvaluationError(f"the pattern has unknown letters {letters[:20]!r}{hint}")
        yield is_text, letters


_NUMBERS: Final = {
    "yyyy": ("year", 4, 4),
    "MM": ("month", 2, 2),
    "M": ("month", 1, 2),
    "dd": ("day", 2, 2),
    "d": ("day", 1, 2),
    "HH": ("hour", 2, 2),
    "H": ("hour", 1, 2),
    "hh": ("half", 2, 2),
    "h": ("half", 1, 2),
    "mm": ("minute", 2, 2),
    "m": ("minute", 1, 2),
    "ss": ("second", 2, 2),
    "s": ("second", 1, 2),
    "SSS": ("milli", 3, 3),
}
_WORDS: Final = {"MMMM": _MONTH_NAMES, "MMM": _MONTH_NAMES, "EEEE": _DAY_NAMES, "EEE": _DAY_NAMES, "a": ("AM", "PM")}
_OFFSETS: Final = re.compile(r"Z|[+-]\d\d:?\d\d", re.ASCII)


class _Reader:
    """Reads a text by a pattern, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.found: dict[str, int] = {}
        self.zone: tzinfo | None = None

    def date(self, parts: tuple[tuple[bool, str], ...], zone: tzinfo) -> datetime:
        for is_text, part in parts:
            if is_text:
                self.expect(part)
            else:
                self.letters(part)
        if self.index < len(self.text):
            raise EvaluationError(f"{self.text[:40]!r} goes on after the pattern at character {self.index + 1}")
        if "year" not in self.found:
            raise EvaluationError("the pattern needs yyyy to be parsed")
        found = self.found
        hour = found.get("hour", 0) if "half" not in found else found["half"] % 12 + 12 * found.get("a", 0)
        day = (found["year"], found.get("month", 1), found.get("day", 1))
        time = (hour, found.get("minute", 0), found.get("second", 0), found.get("milli", 0) * 1000)
        try:
            if not 0 < found.get("half", 12) <= 12:
                raise ValueError("hour must be in 1..12")
            return _instant(datetime(*day, *time, tzinfo=self.zone or zone))
        except ValueError as error:
            raise EvaluationError(f"{self.text[:40]!r} is not a date: {error}") from None

    def wrong(self, wanted: str) -> EvaluationError:
        return EvaluationError(f"{self.text[:40]!r} has no {wanted} at character {self.index + 1}")

    def expect(self, text: str) -> None:
        if not self.text.startswith(text, self.index):
            raise self.wrong(repr(text[:20]))
        self.index += len(text)

    def letters(self, part: str) -> None:
        if part in _NUMBERS:
            name, least, most = _NUMBERS[part]
            end = self.index
            while end < self.index + most and self.text[end : end + 1] in _DIGITS:
                end += 1
            if end - self.index < least:
                raise self.wrong(f"{part} ({name if name != 'half' else 'hour'})")
            self.found[name] = int(self.text[self.index : end])
            self.index = end
        elif part in _WORDS:
            self.word(part)
        elif part == "Z":
            found = _OFFSETS.match(self.text, self.index)
            if found is None:
                raise self.wrong("offset (Z or +01:00)")
            self.zone = _offset(found[0])
            self.index = found.end()
        else:
            raise EvaluationError(f"{part!r} can be written but not parsed; use yyyy")

    def word(self, part: str) -> None:
        """Read the name of a month or of a day, or AM or PM, in any case."""
        for number, name in enumerate(_WORDS[part]):
            shown = name[:3] if len(part) == 3 else name
            if self.text[self.index : self.index + len(shown)].lower() == shown.lower():
                self.index += len(shown)
                self.found["month" if part[0] == "M" else part[0]] = number + (part[0] == "M")
                return
        raise self.wrong(f"{part} (such as {_WORDS[part][0][:3] if len(part) == 3 else _WORDS[part][0]})")


_DIGITS: Final = tuple("0123456789")


def _adding(unit: str, description: str, *, most: int = 2) -> Function:
    return Function(_add(unit), 2, most, description, language=2)


DATE_FUNCTIONS: Mapping[str, Function] = {
    "now": Function(
        _now, 0, 0, "the date when the step became ready; the same at every attempt", context=NOW, language=2
    ),
    "date": Function(_date, 1, 2, "the date of an ISO 8601 text, which may be a time of a zone", language=2),
    "parse": Function(_parse, 1, 3, "the date of a text that is written by a pattern, in a zone", language=2),
    "format": Function(_format, 2, 3, "the date as text, by a pattern, in a zone", language=2),
    "addSeconds": _adding("second", "the date so many seconds later"),
    "addMinutes": _adding("minute", "the date so many minutes later"),
    "addHours": _adding("hour", "the date so many hours later"),
    "addDays": _adding("day", "the date so many days later, at the same time of day in a zone", most=3),
    "addMonths": _adding("month", "the date so many months later, or the last day of a shorter month", most=3),
    "diff": Function(
        _diff,
        2,
        3,
        "the first date minus the second, in whole milliseconds or another unit, rounded to zero",
        language=2,
    ),
    "startOf": Function(_start_of, 2, 3, "the start of the unit that the date is in, in a zone", language=2),
}
