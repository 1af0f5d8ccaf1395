"""What people send to make or change a trigger, read strictly; names of older clients are translated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.authoring.compiled import Trigger, TriggerType
from detent.authoring.fields import Fields, Problems
from detent.authoring.schedule import CRON_FIELDS
from detent.authoring.triggers import read_trigger_config
from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.triggers.view import unhide

_LONGEST_NAME: Final = 200
_LONGEST_NOTE: Final = 1_000
_ALIASES: Final = {
    "workflowId": "workflow",
    "workflow_id": "workflow",
    "triggerType": "type",
    "trigger_type": "type",
    "isEnabled": "enabled",
    "is_enabled": "enabled",
    "configJson": "config",
    "config_json": "config",
    "activationCondition": "condition",
    "activation_condition": "condition",
}
_CONFIG: Final = (*CRON_FIELDS, "signature", "dedup_header", "event")
_SETTLED: Final = ("workflow", "type")
_OWN: Final = ("name", "enabled", "condition", "note", "config")
#: Stand in the document, and may be sent back with it.
_SHOWN: Final = ("id", "owned_by", "url", "next_at", "last_fired_at", "inserted_at", "updated_at")


class Written(NamedTuple):
    """A trigger as it is to be."""

    trigger: Trigger
    name: str | None
    enabled: bool
    note: str | None


class Before(NamedTuple):
    """A trigger as it is."""

    kind: str
    config: dict[str, Any]
    condition: str | None
    name: str | None
    enabled: bool
    note: str | None


def plain_fields(document: object) -> dict[str, Any]:
    """The fields of what was sent, under the names they have here."""
    if not isinstance(document, Mapping):
        raise InvalidInput("a trigger is sent as a JSON object")
    fields: dict[str, Any] = {}
    for name, value in document.items():
        own = _ALIASES.get(str(name), str(name))
        # A document has both the id and the name of its workflow; either will do.
        if own not in fields or name == own:
            fields[own] = value
    return fields


def read_new(fields: Mapping[str, Any]) -> Written:
    """A trigger to be made, or InvalidDefinition with everything that is wrong with it."""
    nothing = Before("", {}, None, None, True, None)
    if not isinstance(fields.get("workflow"), str):
        raise InvalidDefinition("trigger validation failed", [Problem("workflow", "is missing: its id or its name")])
    return _read(fields, nothing, fields.get("type"))


def read_change(fields: Mapping[str, Any], before: Before) -> Written:
    """A trigger as it is to be: what was sent, and for the rest what it was."""
    kind = fields.get("type")
    if kind is not None and (not isinstance(kind, str) or _word(kind) != before.kind):
        message = f"is {before.kind} and cannot be changed; make a new trigger"
        raise InvalidDefinition("trigger validation failed", [Problem("type", message)])
    return _read(fields, before, before.kind)


def _read(fields: Mapping[str, Any], before: Before, kind: object) -> Written:
    problems = Problems()
    own = Fields(fields, "", problems)
    own.refuse_unknown((*_OWN, *_CONFIG, *_SETTLED, *_SHOWN))
    config, path = _config(own, before)
    condition = fields.get("condition", before.condition)
    trigger = _trigger(kind, config, condition, path, problems)
    name = own.text("name", most=_LONGEST_NAME) if "name" in fields else before.name
    note = own.text("note", most=_LONGEST_NOTE, lines=True) if "note" in fields else before.note
    enabled = own.boolean("enabled", before.enabled)
    if problems.found:
        raise InvalidDefinition("trigger validation failed", problems.found)
    return Written(trigger, name, enabled, note)


def read_note(document: object) -> str | None:
    """The note of a pause."""
    if not isinstance(document, Mapping):
        raise InvalidInput("a pause is sent as a JSON object")
    problems = Problems()
    fields = Fields(document, "", problems)
    fields.refuse_unknown(("note",))
    note = fields.text("note", most=_LONGEST_NOTE, lines=True)
    if problems.found:
        raise InvalidInput("the note cannot be kept", problems.found)
    return note


def _config(own: Fields, before: Before) -> tuple[dict[str, Any], str]:
    """The config that was sent, as a block or beside the other fields; else the one there was."""
    block, flat = own.mapping("config"), own.written(_CONFIG)
    if block is not None and flat:
        own.problems.add(flat[0], "belongs inside config")
    if block is None and not flat:
        return unhide(before.config, before.config), "config"
    sent = block if block is not None else {name: own.get(name) for name in flat}
    return unhide(sent, before.config), "config" if block is not None else ""


def _trigger(kind: object, config: Mapping[str, Any], condition: object, path: str, problems: Problems) -> Trigger:
    if "condition" in config:
        problems.add("config.condition", "belongs beside config")
        return Trigger()
    if isinstance(condition, str) and "\x00" in condition:
        problems.add("condition", "a NUL character is not text")
        return Trigger()
    try:
        trigger = read_trigger_config(kind, {**config, "condition": condition}, path)
    except InvalidDefinition as error:
        for problem in error.problems:
            beside = problem.field.startswith(("config.condition", "config.type"))
            problems.add(problem.field.removeprefix("config.") if beside else problem.field, problem.message)
        return Trigger()
    if trigger.type is TriggerType.API:
        problems.add("type", "every workflow can be started through the API; that needs no trigger")
    return trigger


def _word(kind: str) -> str:
    word = kind.lower()
    return "cron" if word == "schedule" else word
