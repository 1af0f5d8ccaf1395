"""The settings of a workflow class, read from its attributes: name, queue, priority, maximum duration and so on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from detent.errors import InvalidInput
from detent.forms.compiled import TriggerDefinition
from detent.forms.names import read_name, read_priority, read_queue
from detent.python.flow import Policies, read_policies
from detent.python.schedules import read_schedule
from detent.values.durations import in_seconds
from detent.values.fields import Fields, Problems
from detent.values.nearest import nearest

#: A subclass does not inherit them: both classes would be started.
SCHEDULED: Final = ("schedule", "every")
SETTINGS: Final = (
    *("name", "queue", "priority", "max_duration", "allow_multiple", "may_proceed_without_hero"),
    *("drift", "on_exception", *SCHEDULED),
)
HOOK: Final = "before_step_starts"
#: Options this short are close to ordinary words such as `draft`, `game` and `queues`.
_SHORT: Final = 5


class DriftPolicy(StrEnum):
    """What happens to a run whose code was changed.

    PIN: it waits for a node that has the code it began with. TOLERANT: it continues with the current code. STRICT: it
    pauses, and its error shows the difference.
    """

    PIN = "pin"
    TOLERANT = "tolerant"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class WorkflowSettings:
    """The attributes of one class."""

    name: str
    queue: str | None
    priority: int | None
    max_duration: float | None
    allow_multiple: bool
    may_proceed_without_hero: bool
    drift: DriftPolicy
    policies: Policies
    trigger: TriggerDefinition


def read_settings(values: Mapping[str, Any], problems: Problems) -> WorkflowSettings:
    """Return the settings that the attributes define. Add a problem for each invalid one."""
    fields = Fields(values, "", problems)
    flags = {name: values.get(name) for name in ("allow_multiple", "may_proceed_without_hero")}
    for name, value in flags.items():
        if not isinstance(value, bool):
            fields.wrong(name, "True or False")
    return WorkflowSettings(
        name=read_name(fields),
        queue=read_queue(fields),
        priority=read_priority(fields),
        max_duration=read_value(problems, "max_duration", lambda given: in_seconds(given, zero=False), values),
        drift=read_value(problems, "drift", read_drift, values) or DriftPolicy.TOLERANT,
        policies=read_value(problems, "on_exception", read_policies, values) or Policies(),
        trigger=read_schedule(values, problems),
        **{name: value is True for name, value in flags.items()},
    )


def misspelt(name: str, value: object) -> str | None:
    """Return the option that an attribute probably misspells, or None if the attribute is the user's own."""
    if name.startswith("_") or name in SETTINGS or name == HOOK:
        return None
    if callable(value) or isinstance(value, property | classmethod | staticmethod):
        return nearest(name, [HOOK], 2) if callable(value) else None
    for short in (option for option in SETTINGS if len(option) <= _SHORT):
        if sorted(name) == sorted(short):
            return short
    return nearest(name, [option for option in SETTINGS if len(option) > _SHORT], 2)


def read_value(problems: Problems, name: str, read: Any, values: Mapping[str, Any]) -> Any:
    """Return the value of an attribute, or None if it is missing. Add a problem and return None if it is invalid."""
    given = values.get(name)
    if given is None:
        return None
    try:
        return read(given)
    except InvalidInput as error:
        problems.add(name, error.message)
        return None


def read_drift(given: object) -> DriftPolicy:
    """Return a drift policy by its name. Raise InvalidInput if there is none."""
    try:
        return DriftPolicy(given)  # type: ignore[arg-type]  # any other value raises ValueError
    except ValueError:
        meant = nearest(str(given), list(DriftPolicy))
        hint = f"did you mean {str(meant)!r}?" if meant else "choose 'pin', 'tolerant' or 'strict'"
        raise InvalidInput(f"{given!r} is not a drift policy; {hint}") from None
