"""Schedules of workflows in Python: `schedule = cron("0 9 * * *", "Europe/Zurich")`, or `every = "90m"`.

A schedule is stored as the trigger that belongs to its workflow, as that of a YAML file is. So it changes when a node
with changed code starts, exists once however many nodes do, and is removed when the code drops it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from detent.errors import InvalidDefinition, InvalidInput
from detent.forms.compiled import TriggerDefinition, TriggerType
from detent.values.durations import Duration, in_seconds, write_duration
from detent.values.fields import Problems, shown

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
_EXAMPLE: Final = 'write `cron("0 9 * * *", "Europe/Zurich")`'


@dataclass(frozen=True, slots=True)
class Schedule:
    """When runs are started: the fields of a cron trigger as they were written. `cron` makes it."""

    config: Mapping[str, Any]


def cron(
    expression: str,
    timezone: str = "UTC",
    *,
    overlap: str | None = None,
    missed: str | None = None,
    missed_window: Duration | None = None,
    jitter: Duration | None = None,
) -> Schedule:
    """Return the schedule of a workflow: `expression` has five fields, or is `@daily`, `@every 90m` and their like.

    `overlap` decides about a slot whose previous run is open (allow, skip, queue, cancel_previous), `missed` about
    slots that passed while no node was running (last, all, none), within `missed_window`. `jitter` delays each slot by
    less than this. What is wrong is reported when the workflow is defined.
    """
    more = {"overlap": overlap, "missed": missed, "missed_window": missed_window, "jitter": jitter}
    given = {name: _plain(value) for name, value in more.items() if value is not None}
    return Schedule({"cron_expression": expression, "timezone": timezone, **given})


def read_schedule(values: Mapping[str, Any], problems: Problems) -> TriggerDefinition:
    """Return the trigger that `schedule` or `every` defines, or that of the API. Add a problem for each invalid one."""
    schedule, every = values.get("schedule"), values.get("every")
    if schedule is not None and every is not None:
        problems.add("every", f"there is a `schedule` too; write one of them, for example every={shown(every)}")
        return TriggerDefinition()
    if every is not None:
        try:
            interval = write_duration(in_seconds(every, zero=False))
        except InvalidInput as error:
            problems.add("every", error.message)
            return TriggerDefinition()
        return _read("every", {"cron_expression": f"@every {interval}"}, problems)
    if schedule is None:
        return TriggerDefinition()
    if not isinstance(schedule, Schedule):
        problems.add("schedule", f"{schedule!r:.100} is not a schedule; {_EXAMPLE}")
        return TriggerDefinition()
    return _read("schedule", schedule.config, problems)


def scheduled_at(data: bytes) -> datetime | None:
    """Return the slot for which a run was started, from its stored input, or None if no schedule started it."""
    found = _decode(data).get("scheduled_at")
    return None if found is None else datetime.fromisoformat(found)


def _plain(value: Duration) -> float | str:
    """Return a value as it is written in a trigger's config."""
    return value.total_seconds() if isinstance(value, timedelta) else value


def _read(name: str, config: Mapping[str, Any], problems: Problems) -> TriggerDefinition:
    from detent.forms.triggers import read_trigger_config  # cronsim: only where there is a schedule

    try:
        return read_trigger_config(TriggerType.CRON, config)
    except InvalidDefinition as error:
        for problem in error.problems:
            problems.add(name, str(problem))
        return TriggerDefinition()
