"""Instants: `int` microseconds since the Unix epoch, UTC, everywhere inside. Pure arithmetic; no clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

Instant = int

SECOND: Final = 1_000_000


def as_datetime(instant: Instant) -> datetime:
    """The instant as an aware datetime, for people and JSON; one beyond the calendar is its first or last."""
    try:
        return datetime.fromtimestamp(instant / SECOND, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.min.replace(tzinfo=UTC) if instant < 0 else datetime.max.replace(tzinfo=UTC)


def iso(instant: Instant) -> str:
    """The instant as RFC 3339 text with microseconds left out when they are zero."""
    return as_datetime(instant).isoformat().replace("+00:00", "Z")


def micros(seconds: float) -> int:
    """A length of time in microseconds."""
    return round(seconds * SECOND)
