"""Instants: `int` microseconds since the Unix epoch, UTC, everywhere inside. Pure arithmetic; no clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

Instant = int

SECOND: Final = 1_000_000


def as_datetime(instant: Instant) -> datetime:
    """Return the instant as an aware datetime, for users and JSON.

    An instant beyond the calendar becomes the first or the last datetime.
    """
    try:
        return datetime.fromtimestamp(instant / SECOND, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.min.replace(tzinfo=UTC) if instant < 0 else datetime.max.replace(tzinfo=UTC)


def iso(instant: Instant) -> str:
    """Return the instant as RFC 3339 text, without microseconds if they are zero."""
    return as_datetime(instant).isoformat().replace("+00:00", "Z")


def micros(seconds: float) -> int:
    """Return a length of time in microseconds."""
    return round(seconds * SECOND)
