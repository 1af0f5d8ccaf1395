"""Schedules as they are written: a cron expression, its time zone, and what becomes of late and overlapping slots."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from detent.authoring.durations import SECOND
from detent.authoring.fields import Fields, Problems, shown

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
_EXAMPLE: Final = 'write for example "0 9 * * 1-5" (minute, hour, day, month, weekday) or "@daily"'
_LONGEST: Final = 200


class Missed(StrEnum):
    """What becomes of the slots that passed while no node was there: none, the newest, or all of them run."""

    NONE = "none"
    LAST = "last"
    ALL = "all"


class Overlap(StrEnum):
    """What becomes of a slot whose trigger still has a run under way."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


def read_schedule(fields: Fields) -> dict[str, Any]:
    """The config of a cron trigger, complete. What is wrong becomes a problem."""
    if fields.get("cron_expression") is None:
        fields.problems.add(fields.at("cron_expression"), f"is missing; {_EXAMPLE}")
    text = fields.text("cron_expression", most=_LONGEST)
    cron = cron_expression(text, fields.at("cron_expression"), fields.problems) if text is not None else None
    jitter = fields.duration("jitter", unit=SECOND) or 0.0
    if jitter > LONGEST_JITTER:
        fields.problems.add(fields.at("jitter"), f"must be at most {LONGEST_JITTER / 3600:g}h")
    window = fields.duration("missed_window", unit=SECOND, zero=False)
    return {
        "cron_expression": cron,
        "timezone": _timezone(fields),
        "jitter": plain(jitter),
        "missed": fields.choice("missed", Missed, Missed.LAST).value,
        "missed_window": plain(_MISSED_WINDOW if window is None else window),
        "overlap": _overlap(fields),
    }


def plain(seconds: float) -> int | float:
    """Whole seconds as whole numbers: 60 reads better than 60.0."""
    return int(seconds) if seconds.is_integer() else seconds


def _overlap(fields: Fields) -> str:
    value = fields.get("overlap")
    if isinstance(value, str):
        fields = Fields({"overlap": value.lower().replace("-", "_")}, fields.path, fields.problems)
    return fields.choice("overlap", Overlap, Overlap.ALLOW).value


def cron_expression(text: str, field: str, problems: Problems) -> str | None:
    """A cron expression in fields, its nickname translated; a problem if it is none, or can never fire."""
    if text.startswith("@"):
        if text.lower() in _NICKNAMES:
            return _NICKNAMES[text.lower()]
        hint = problems.did_you_mean(text.lower(), _NICKNAMES) or f"; known are {', '.join(_NICKNAMES)}"
        problems.add(field, f"no schedule {shown(text)}{hint}")
        return None
    try:
        # The instant is fixed: whether an expression is right must not depend on the day it is read.
        next(CronSim(text, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        problems.add(field, f"{shown(text)} is not a cron expression ({error}); {_EXAMPLE}")
        return None
    except StopIteration:
        problems.add(field, f"{shown(text)} never comes")
        return None
    return " ".join(text.split())


def _timezone(fields: Fields) -> str:
    name = fields.text("timezone", most=_LONGEST)
    if name is None or name == "UTC":
        return "UTC"
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        hint = fields.problems.did_you_mean(name, sorted(available_timezones())) or "; write for example Europe/Zurich"
        fields.problems.add(fields.at("timezone"), f"no time zone {shown(name)}{hint}")
        return "UTC"
    return name
