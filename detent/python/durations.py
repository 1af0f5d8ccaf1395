"""Lengths of time as Python writes them: `days(2)`, a timedelta, a number of seconds, or a text such as "2d"."""

from __future__ import annotations

from datetime import timedelta

from detent.authoring.durations import parse_duration

Duration = float | str | timedelta


def weeks(count: float) -> timedelta:
    """So many weeks."""
    return timedelta(weeks=count)


def days(count: float) -> timedelta:
    """So many days of 24 hours."""
    return timedelta(days=count)


def hours(count: float) -> timedelta:
    """So many hours."""
    return timedelta(hours=count)


def minutes(count: float) -> timedelta:
    """So many minutes."""
    return timedelta(minutes=count)


def seconds(count: float) -> timedelta:
    """So many seconds."""
    return timedelta(seconds=count)


def in_seconds(value: object, *, zero: bool = True) -> float:
    """The length in seconds, or InvalidInput; without `zero` it must be more than nothing."""
    return parse_duration(value.total_seconds() if isinstance(value, timedelta) else value, zero=zero)
