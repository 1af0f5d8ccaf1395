"""Durations as people write them: `500ms`, `30s`, `5m`, `2h`, `1d`, `1w`, `1h30m`, or a bare number."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Final

from detent.errors import InvalidInput

SECONDS: Final = 1.0
MILLISECONDS: Final = 0.001
LONGEST: Final = 3650 * 86400.0
_UNITS: Final = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
# One number per unit, largest unit first. The number of digits is limited, so that a text cannot make a huge number.
_DURATION: Final = re.compile(" ?".join(rf"(?:(?P<{unit}>[0-9]{{1,12}}(?:\.[0-9]{{1,6}})?){unit})?" for unit in _UNITS))


def parse_duration(value: object, *, unit: float = SECONDS, zero: bool = True) -> float:
    """Return a duration in seconds. `unit` is what a bare number counts, in seconds.

    Raise InvalidInput with what is wrong and how to write it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _refused("a duration is a number or a text", unit)
    seconds = _parse_text(value, unit) if isinstance(value, str) else _from_number(value, unit)
    if seconds < 0 or (seconds == 0 and not zero):
        raise _refused("must be more than zero" if not zero else "cannot be negative", unit)
    if seconds > LONGEST:
        raise _refused(f"must be at most {LONGEST / 86400:g}d", unit)
    return seconds


def _from_number(value: float, unit: float) -> float:
    # Compare before multiplying: an integer may be too large to become a float.
    if value > LONGEST / unit:
        return math.inf
    if value < 0:
        return -1.0
    if math.isnan(value):
        raise _refused("must be a number", unit)
    return value * unit


def _parse_text(text: str, unit: float) -> float:
    found = _DURATION.fullmatch(text)
    parts = {name: number for name, number in found.groupdict().items() if number is not None} if found else {}
    if not parts or text != text.strip():
        raise _refused(f"{text[:40]!r} is not a duration", unit)
    # fsum: 0.1s + 0.2s must not depend on the order of addition.
    return math.fsum(float(number) * _UNITS[name] for name, number in parts.items())


def write_duration(seconds: float) -> str:
    """Write a duration as people do: `1h30m`, `45s`, `0.25s`. Less than a microsecond is not written."""
    whole = round(seconds)
    if abs(seconds - whole) >= 1e-6:
        return f"{seconds:.6f}".rstrip("0") + "s"
    parts = []
    for unit in ("d", "h", "m", "s"):
        count, whole = divmod(whole, round(_UNITS[unit]))
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"


def _refused(message: str, unit: float) -> InvalidInput:
    counted = "milliseconds" if unit == MILLISECONDS else "seconds"
    return InvalidInput(f'{message}; write for example "500ms", "30s", "5m", "2h", "1d" or a number of {counted}')


# Durations in Python: `days(2)`, a timedelta, a number of seconds, or a text such as "2d".


Duration = float | str | timedelta


def weeks(count: float) -> timedelta:
    """Return that many weeks."""
    return timedelta(weeks=count)


def days(count: float) -> timedelta:
    """Return that many days of 24 hours."""
    return timedelta(days=count)


def hours(count: float) -> timedelta:
    """Return that many hours."""
    return timedelta(hours=count)


def minutes(count: float) -> timedelta:
    """Return that many minutes."""
    return timedelta(minutes=count)


def seconds(count: float) -> timedelta:
    """Return that many seconds."""
    return timedelta(seconds=count)


def in_seconds(value: object, *, zero: bool = True) -> float:
    """Return a duration in seconds. Raise InvalidInput if it is invalid, or if it is zero without `zero`."""
    return parse_duration(value.total_seconds() if isinstance(value, timedelta) else value, zero=zero)
