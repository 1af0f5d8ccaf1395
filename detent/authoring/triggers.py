"""What starts a workflow, as it is written: `trigger: cron` with fields beside it, or `trigger: {type: cron, ...}`.

A trigger made through the API has the same fields and is read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from detent.authoring.compiled import Trigger, TriggerType
from detent.authoring.event_types import event_pattern_problem
from detent.authoring.fields import Fields, Problems, shown
from detent.authoring.header_names import is_header_name
from detent.authoring.schedule import CRON_FIELDS, read_schedule
from detent.authoring.signature import read_signature
from detent.authoring.trigger_scope import read_condition
from detent.errors import InvalidDefinition

FLAT_FIELDS: Final = ("cron_expression", "timezone")
TRIGGER_FIELDS: Final = ("trigger", *FLAT_FIELDS)
_FIELDS: Final = {
    TriggerType.CRON: CRON_FIELDS,
    TriggerType.WEBHOOK: ("signature", "dedup_header"),
    TriggerType.EVENT: ("event",),
}
_CONFIG_FIELDS: Final = tuple(name for names in _FIELDS.values() for name in names)
_BLOCK_FIELDS: Final = ("type", *_CONFIG_FIELDS, "condition")
_WORDS: Final = {**{kind.value: kind for kind in TriggerType}, "schedule": TriggerType.CRON}
_LONGEST_EVENT: Final = 200
_LONGEST_HEADER: Final = 100


def read_trigger(fields: Fields) -> Trigger:
    """The trigger of a definition; `api` if none is written."""
    if not isinstance(fields.get("trigger"), dict):
        flat = {name: fields.get(name) for name in TRIGGER_FIELDS}
        return _trigger(Fields(flat, fields.path, fields.problems), "trigger")
    for name in fields.written(FLAT_FIELDS):
        fields.problems.add(fields.at(name), "belongs inside the trigger block")
    fields = Fields(fields.get("trigger"), fields.at("trigger"), fields.problems)
    fields.refuse_unknown(_BLOCK_FIELDS)
    return _trigger(fields, "type")


def read_trigger_config(kind: object, config: Mapping[str, Any], path: str = "") -> Trigger:
    """The trigger of a type, with the fields of its block (`condition` among them), or InvalidDefinition.

    `path` stands before the fields in problems. A type is written in any case; `schedule` is cron.
    """
    problems = Problems()
    block = Fields({**config, "type": kind}, path, problems)
    if "type" in config:
        problems.add(block.at("type"), "is not a field of the config")
    block.refuse_unknown(_BLOCK_FIELDS)
    if kind is None:
        problems.add("type", f"is missing; write one of {', '.join(_WORDS)}")
    trigger = _trigger(block, "type")
    if problems.found:
        raise InvalidDefinition("trigger validation failed", problems=problems.found)
    return trigger


def _trigger(fields: Fields, type_field: str) -> Trigger:
    kind = _type(fields, type_field)
    if kind is None:
        return Trigger()
    own = _FIELDS.get(kind, ())
    for name in fields.written(_CONFIG_FIELDS):
        if name not in own:
            owner = next(other.value for other, names in _FIELDS.items() if name in names)
            fields.problems.add(fields.at(name), f"is only for the {owner} trigger, and this one is {kind.value}")
    config = _READ[kind](fields) if kind in _READ else {}
    return Trigger(kind, config, read_condition(fields, "condition", kind))


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


def _webhook(fields: Fields) -> dict[str, Any]:
    config: dict[str, Any] = {}
    signature = fields.mapping("signature")
    if signature is not None:
        config["signature"] = read_signature(Fields(signature, fields.at("signature"), fields.problems))
    header = fields.text("dedup_header", most=_LONGEST_HEADER)
    if header is not None:
        if not is_header_name(header):
            fields.problems.add(fields.at("dedup_header"), f"{shown(header)} cannot be the name of a header")
        config["dedup_header"] = header.lower()
    return config


def _event(fields: Fields) -> dict[str, Any]:
    if fields.get("event") is None:
        message = 'is missing; write trigger: {type: event, event: "order.paid"}'
        fields.problems.add(fields.at("event"), message)
    event = fields.text("event", most=_LONGEST_EVENT)
    if event is not None and (problem := event_pattern_problem(event)):
        fields.problems.add(fields.at("event"), problem)
    return {"event": event}


_READ: Final[dict[TriggerType, Callable[[Fields], dict[str, Any]]]] = {
    TriggerType.CRON: read_schedule,
    TriggerType.WEBHOOK: _webhook,
    TriggerType.EVENT: _event,
}
