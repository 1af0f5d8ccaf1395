"""Sleeps and waits as they are written. Numbers count seconds."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from detent.authoring.durations import SECOND
from detent.authoring.fields import Fields

_WAIT_FIELDS: Final = ("timeout", "early")


class Early(StrEnum):
    """What becomes of a callback that comes before its step waits for it."""

    BUFFER = "buffer"
    REJECT = "reject"


def read_sleep(fields: Fields, name: str) -> dict[str, Any]:
    """The config of a sleep. A text with a template in it is kept, and becomes a duration when the step runs."""
    value = fields.get(name)
    if isinstance(value, str) and "{{" in value:
        return {"seconds": value}
    return {"seconds": fields.duration(name, unit=SECOND)}


def read_delay(fields: Fields) -> tuple[dict[str, Any], str]:
    """The config of `core.delay` from its parameters, and the one that was used."""
    fields.refuse_unknown(("seconds", "duration"))
    written = fields.written(("seconds", "duration"))
    if len(written) != 1:
        said = "one is enough" if written else "one is needed"
        fields.problems.add(fields.path, f'write either "seconds" or "duration"; {said}')
    name = written[0] if written else "duration"
    return read_sleep(fields, name), name


def read_wait(fields: Fields, name: str) -> dict[str, Any]:
    """The config of a wait from `wait_for_webhook`: a mapping, only its timeout, or nothing but the word."""
    value = fields.get(name)
    if isinstance(value, dict):
        return read_wait_block(Fields(value, fields.at(name), fields.problems))
    if value is False:
        fields.wrong(name, 'a mapping such as {timeout: "1h"}')
    timeout = None if isinstance(value, bool) else fields.duration(name, unit=SECOND, zero=False)
    return {"timeout": timeout, "early": Early.BUFFER.value}


def read_wait_block(fields: Fields) -> dict[str, Any]:
    """The config of a wait from its own fields. Without a timeout it lasts until the run expires."""
    fields.refuse_unknown(_WAIT_FIELDS)
    timeout = fields.duration("timeout", unit=SECOND, zero=False)
    return {"timeout": timeout, "early": fields.choice("early", Early, Early.BUFFER).value}
