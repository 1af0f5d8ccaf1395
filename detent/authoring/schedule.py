"""What starts a workflow, as it is written: `trigger: cron` with fields beside it, or `trigger: {type: cron, ...}`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from detent.authoring.compiled import Trigger, TriggerType
from detent.authoring.fields import Fields, Problems, shown

TRIGGER_FIELDS: Final = ("trigger", "cron_expression", "timezone")
_BLOCK_FIELDS: Final = ("type", "cron_expression", "timezone")
_WORDS: Final = {**{kind.value: kind for kind in TriggerType}, "schedule": TriggerType.CRON}
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


def read_trigger(fields: Fields) -> Trigger:
    """The trigger of a definition; `api` if none is written."""
    if isinstance(fields.get("trigger"), dict):
        for name in fields.written(("cron_expression", "timezone")):
            fields.problems.add(fields.at(name), "belongs inside the trigger block")
        fields = Fields(fields.get("trigger"), fields.at("trigger"), fields.problems)
        fields.refuse_unknown(_BLOCK_FIELDS)
        return _trigger(fields, "type")
    return _trigger(fields, "trigger")


def _trigger(fields: Fields, type_field: str) -> Trigger:
    kind = _type(fields, type_field)
    timezone = _timezone(fields)
    text = fields.text("cron_expression", most=_LONGEST)
    cron = cron_expression(text, fields.at("cron_expression"), fields.problems) if text is not None else None
    if kind is None:
        return Trigger()
    if kind is not TriggerType.CRON:
        for name in fields.written(("cron_expression", "timezone")):
            fields.problems.add(fields.at(name), f"is only for the cron trigger, and this one is {kind.value}")
        return Trigger(kind)
    if fields.get("cron_expression") is None:
        fields.problems.add(fields.at("cron_expression"), f"is missing; {_EXAMPLE}")
    return Trigger(kind, cron, timezone)


def _type(fields: Fields, name: str) -> TriggerType | None:
    value = fields.get(name)
    if value is None:
        return TriggerType.API
    if not isinstance(value, str):
        fields.wrong(name, f"one of {', '.join(_WORDS)}")
        return None
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    hint = fields.problems.did_you_mean(value, _WORDS)
    fields.problems.add(fields.at(name), f"{shown(value)} is not one of {', '.join(_WORDS)}{hint}")
    return None


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
