"""Read what starts a workflow: `trigger: cron` with fields beside it, or `trigger: {type: cron, ...}`.

A trigger that is created through the API has the same fields and is read by the same code.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final

from detent.errors import InvalidDefinition
from detent.expressions import Reference, is_secret_name
from detent.forms.compiled import Respond, TriggerDefinition, TriggerType
from detent.forms.definition import read_definition
from detent.forms.schedule import CRON_FIELDS, plain, read_schedule
from detent.forms.templates import condition
from detent.values.durations import SECONDS
from detent.values.fields import Fields, Problems, described, shown
from detent.values.http_body import is_header_name
from detent.values.yaml import dump_yaml

# Types of events: `order.paid`. A trigger names one type, or a prefix: `order.*`, `*`.


LONGEST_EVENT_TYPE: Final = 200
_TYPE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*")


def event_type_problem(text: str) -> str | None:
    """Return what is wrong with the type of an event that was sent, or `None`."""
    if len(text) > LONGEST_EVENT_TYPE:
        return f"has {len(text)} characters; at most {LONGEST_EVENT_TYPE} are allowed"
    if not _TYPE.fullmatch(text):
        return f"{shown(text)} cannot be the type of an event: letters, digits and . _ - : / only"
    return None


def event_pattern_problem(text: str) -> str | None:
    """Return what is wrong with the event pattern of a trigger, or `None`."""
    if text == "*":
        return None
    if "*" in text.removesuffix(".*"):
        return f'{shown(text)}: a star may only be at the end, after a dot, as in "order.*"'
    return event_type_problem(text.removesuffix(".*"))


# The names a trigger's condition may use.
#
#   trigger.body  trigger.headers  trigger.query  trigger.scheduled_at
#   body  headers  query                    (the same, shorter)
#   event.type  event.data  event.id        (event triggers only)


_PARTS: Final = {
    "trigger": ("body", "headers", "query", "scheduled_at"),
    "event": ("type", "data", "id"),
}
_WHOLE: Final = ("body", "headers", "query")
ROOTS: Final = (*_PARTS, *_WHOLE)


def read_condition(fields: Fields, name: str, kind: TriggerType) -> str | None:
    """Read the condition of a trigger. Add a problem if it is invalid, and one for every name it cannot read."""
    text, reads = condition(fields, name)
    for read in reads:
        if message := _problem(read.reference, kind, fields.problems):
            at = f" (at character {read.reference.position + 1})"
            fields.problems.add(read.field, f"{shown(read.reference.text)}: {message}{at}")
    return text


def _problem(reference: Reference, kind: TriggerType, problems: Problems) -> str | None:
    root, *rest = reference.path
    if root in _WHOLE:
        return None
    if root == "event" and kind is not TriggerType.EVENT:
        return f"only an event trigger has an event, and this one is {kind.value}; read body"
    parts = _PARTS.get(str(root))
    if parts is None:
        hint = problems.did_you_mean(str(root), ROOTS) or f"; there is {', '.join(ROOTS)}"
        return f"unknown name {shown(str(root))}{hint}"
    if rest and rest[0] in parts:
        return None
    choices = ", ".join(f"{root}.{part}" for part in parts)
    if not rest:
        return f"name a part: {choices}"
    return f"{root} has no {rest[0]!r}{problems.did_you_mean(str(rest[0]), parts) or f'; there is {choices}'}"


# How requests to a webhook are signed: a preset, one or two secrets, and for `hmac` the details.


MOST_SECRETS: Final = 2
TOLERANCE: Final = 300.0
_LONGEST_TOLERANCE: Final = 86400.0
_LONGEST_SECRET: Final = 1_000
_LONGEST_HEADER: Final = 100
_LONGEST_PREFIX: Final = 40
_PREFIX_OF_SECRETS: Final = "whsec_"
_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Preset(StrEnum):
    """The provider whose signature scheme is used."""

    STANDARD = "standard"
    GITHUB = "github"
    STRIPE = "stripe"
    HMAC = "hmac"


class Algorithm(StrEnum):
    SHA256 = "sha256"
    SHA1 = "sha1"
    SHA512 = "sha512"


class Encoding(StrEnum):
    HEX = "hex"
    BASE64 = "base64"


_OF_HMAC: Final = ("header", "algorithm", "encoding", "prefix")
#: Replaces a secret wherever a definition or a trigger is shown.
HIDDEN: Final = "***"
#: A secret of the store, as templates write it.
_REFERENCE: Final = re.compile(r"\s*\{\{\s*secrets\.([A-Za-z0-9_-]+)\s*\}\}\s*")
_SIGNATURE_FIELDS: Final = ("preset", "secrets", "tolerance", *_OF_HMAC)
_TIMED: Final = (Preset.STANDARD, Preset.STRIPE)


def read_signature(fields: Fields) -> dict[str, Any]:
    """Read the signature of a webhook trigger: the fields of its preset, with defaults."""
    fields.refuse_unknown(_SIGNATURE_FIELDS)
    if fields.get("preset") is None:
        fields.problems.add(fields.at("preset"), f"is missing; write one of {', '.join(Preset)}")
    preset = fields.choice("preset", Preset, Preset.GITHUB)
    if fields.get("preset") != preset.value:
        # Without a valid preset its fields are unknown: report one mistake, not several.
        return {"preset": preset.value, "secrets": _secrets(fields, preset)}
    config: dict[str, Any] = {"preset": preset.value, "secrets": _secrets(fields, preset)}
    for name in fields.written(_OF_HMAC if preset is not Preset.HMAC else ()):
        fields.problems.add(fields.at(name), f"is only for the preset hmac; {preset.value} has its own")
    tolerance = fields.duration("tolerance", unit=SECONDS, zero=False)
    if preset in _TIMED:
        config["tolerance"] = plain(TOLERANCE if tolerance is None else tolerance)
    elif tolerance is not None:
        fields.problems.add(fields.at("tolerance"), f"the signatures of {preset.value} have no time in them")
    if tolerance is not None and tolerance > _LONGEST_TOLERANCE:
        fields.problems.add(fields.at("tolerance"), "must be at most 1d")
    return config | _hmac(fields) if preset is Preset.HMAC else config


def _hmac(fields: Fields) -> dict[str, Any]:
    if fields.get("header") is None:
        fields.problems.add(fields.at("header"), "is missing: which header has the signature?")
    header = fields.text("header", most=_LONGEST_HEADER)
    if header is not None and not is_header_name(header):
        fields.problems.add(fields.at("header"), f"{shown(header)} cannot be the name of a header")
    return {
        "header": (header or "").lower(),
        "algorithm": fields.choice("algorithm", Algorithm, Algorithm.SHA256).value,
        "encoding": fields.choice("encoding", Encoding, Encoding.HEX).value,
        "prefix": fields.text("prefix", most=_LONGEST_PREFIX) or "",
    }


def _secrets(fields: Fields, preset: Preset) -> list[str | dict[str, str]]:
    value = fields.get("secrets")
    if value is None:
        message = f"is missing; write 1 to {MOST_SECRETS} texts, or {{env: NAME}} to read an environment variable"
        fields.problems.add(fields.at("secrets"), message)
        return []
    if isinstance(value, str | dict):
        return [_secret(fields, "secrets", value, preset)]
    if not isinstance(value, list):
        fields.wrong("secrets", f"a list of 1 to {MOST_SECRETS} secrets")
        return []
    if not 1 <= len(value) <= MOST_SECRETS:
        message = f"has {len(value)} secrets; write 1 to {MOST_SECRETS} (two while one replaces the other)"
        fields.problems.add(fields.at("secrets"), message)
        return []
    return [_secret(fields, f"secrets[{number}]", one, preset) for number, one in enumerate(value)]


def _secret(fields: Fields, name: str, value: object, preset: Preset) -> str | dict[str, str]:
    """Read one secret. Its text is never repeated in a problem."""
    place = fields.at(name)
    named = _secret_name(value)
    if named is not None:
        if not is_secret_name(named):
            fields.problems.add(place, f"{shown(named)} cannot be the name of a secret")
        return {"secret": named}
    if isinstance(value, dict):
        variable = value.get("env")
        if list(value) != ["env"] or not isinstance(variable, str) or not _ENVIRONMENT_NAME.fullmatch(variable):
            # Neither names nor values are repeated: a secret may be among them.
            message = "must be {secret: NAME}, or {env: NAME} with the name of an environment variable"
            fields.problems.add(place, message)
            return {"env": ""}
        return {"env": variable}
    if not isinstance(value, str):
        fields.problems.add(place, f"must be text or {{env: NAME}}, not {described(value)}")
    elif not value.strip() or len(value) > _LONGEST_SECRET:
        fields.problems.add(place, f"a secret has 1 to {_LONGEST_SECRET} characters")
    elif value.strip() == HIDDEN:
        fields.problems.add(place, f"{HIDDEN} replaces a hidden secret; write the secret itself, or {{env: NAME}}")
    elif preset is Preset.STANDARD and standard_key(value) is None:
        message = f"must be {_PREFIX_OF_SECRETS} and base64, as the sender shows it"
        fields.problems.add(place, message)
    return str(value)


def _secret_name(value: object) -> str | None:
    """Return the name of a stored secret: of `{secret: NAME}` or of a text `{{ secrets.NAME }}`."""
    if isinstance(value, dict) and list(value) == ["secret"] and isinstance(value["secret"], str):
        return value["secret"]
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else found[1]


def standard_key(secret: str) -> bytes | None:
    """Return the key inside a secret of Standard Webhooks, with or without its `whsec_`; `None` if it is invalid."""
    text = secret.strip().removeprefix(_PREFIX_OF_SECRETS).rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key or None


#: For how many seconds the caller of a webhook waits for its answer, usually and at most.
ANSWER_WAIT: Final = 30.0
LONGEST_ANSWER_WAIT: Final = 60.0
FLAT_FIELDS: Final = ("cron_expression", "timezone")
TRIGGER_FIELDS: Final = ("trigger", *FLAT_FIELDS)
_FIELDS: Final = {
    TriggerType.CRON: CRON_FIELDS,
    TriggerType.WEBHOOK: ("signature", "dedup_header", "respond", "wait"),
    TriggerType.EVENT: ("event",),
}
_CONFIG_FIELDS: Final = tuple(name for names in _FIELDS.values() for name in names)
_BLOCK_FIELDS: Final = ("type", *_CONFIG_FIELDS, "condition")
_WORDS: Final = {**{kind.value: kind for kind in TriggerType}, "schedule": TriggerType.CRON}
_LONGEST_EVENT: Final = 200


def read_trigger(fields: Fields) -> TriggerDefinition:
    """Read the trigger of a definition; `api` if none is written."""
    if not isinstance(fields.get("trigger"), dict):
        flat = {name: fields.get(name) for name in TRIGGER_FIELDS}
        return _trigger(Fields(flat, fields.path, fields.problems), "trigger")
    for name in fields.written(FLAT_FIELDS):
        fields.problems.add(fields.at(name), "belongs inside the trigger block")
    fields = Fields(fields.get("trigger"), fields.at("trigger"), fields.problems)
    fields.refuse_unknown(_BLOCK_FIELDS)
    return _trigger(fields, "type")


def read_trigger_config(kind: object, config: Mapping[str, Any], path: str = "") -> TriggerDefinition:
    """Return the trigger of a type, with the fields of its block (`condition` among them). Raise InvalidDefinition.

    `path` is the prefix of the fields in problems. A type may be written in any case; `schedule` is cron.
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


def _trigger(fields: Fields, type_field: str) -> TriggerDefinition:
    kind = _type(fields, type_field)
    if kind is None:
        return TriggerDefinition()
    own = _FIELDS.get(kind, ())
    for name in fields.written(_CONFIG_FIELDS):
        if name not in own:
            owner = next(other.value for other, names in _FIELDS.items() if name in names)
            fields.problems.add(fields.at(name), f"is only for the {owner} trigger, and this one is {kind.value}")
    config = _READ[kind](fields) if kind in _READ else {}
    return TriggerDefinition(kind, config, read_condition(fields, "condition", kind))


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
    return config | _read_respond(fields)


def _read_respond(fields: Fields) -> dict[str, Any]:
    """Read what the caller of a webhook is answered with, and for how long it waits. A caller that does not wait has
    neither field."""
    respond = fields.choice("respond", Respond, Respond.NOW)
    wait = fields.duration("wait", unit=SECONDS, zero=False)
    if wait is not None and wait > LONGEST_ANSWER_WAIT:
        fields.problems.add(fields.at("wait"), f"must be at most {LONGEST_ANSWER_WAIT:g}s, not {wait:g}s")
    if respond is Respond.NOW:
        if wait is not None and fields.get("respond") in (None, Respond.NOW):
            message = "has no meaning without respond: output or respond: step, because the answer is sent at once"
            fields.problems.add(fields.at("wait"), message)
        return {}
    return {"respond": respond.value, "wait": plain(ANSWER_WAIT if wait is None else wait)}


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


def without_secrets(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without the secrets that its trigger checks signatures with."""
    trigger = definition.get("trigger")
    if not isinstance(trigger, dict):
        return definition
    signature = trigger.get("signature")
    if not isinstance(signature, dict) or "secrets" not in signature:
        return definition
    secrets = signature["secrets"] if isinstance(signature["secrets"], list) else [signature["secrets"]]
    hidden = [HIDDEN if isinstance(secret, str) and _secret_name(secret) is None else secret for secret in secrets]
    if hidden == secrets:
        return definition
    return {**definition, "trigger": {**trigger, "signature": {**signature, "secrets": hidden}}}


def text_without_secrets(source: str) -> tuple[str, str]:
    """Return a stored text without the secrets of its trigger, and its media type. Comments and the order of keys stay
    as they were written, unless a secret cannot be found in the text as it is."""
    kind = "application/json" if source.lstrip().startswith("{") else "application/yaml"
    definition = read_definition(source)
    shown = without_secrets(definition)
    if shown == definition:
        return source, kind
    for hidden in (HIDDEN, json.dumps(HIDDEN)):  # a secret without quotes needs them: an asterisk is an alias in YAML
        text = source
        for secret in written_secrets(definition):
            text = text.replace(secret, hidden)
        with suppress(InvalidDefinition):
            if read_definition(text) == shown:
                return text, kind
    return (json.dumps(shown, indent=2, ensure_ascii=False) if kind.endswith("json") else dump_yaml(shown)), kind


def written_secrets(definition: Mapping[str, Any]) -> list[str]:
    """Return the plain secrets that the trigger of a definition checks signatures with."""
    trigger = definition.get("trigger")
    signature = trigger.get("signature") if isinstance(trigger, dict) else None
    secrets = signature.get("secrets") if isinstance(signature, dict) else None
    listed = secrets if isinstance(secrets, list) else [secrets]
    return [one for one in listed if isinstance(one, str) and one != HIDDEN and _secret_name(one) is None]


def text_with_names(source: str, names: Mapping[str, str]) -> str:
    """Return the text of a definition with the names of stored secrets in place of its plain signature secrets.

    Comments and the order of keys stay as they were written, unless a secret cannot be found in the text as it is."""
    definition = read_definition(source)
    wanted = _with_names(definition, names)
    if wanted == definition:
        return source
    for form in ("{{{{secrets.{}}}}}", '"{{{{secrets.{}}}}}"'):  # a secret without quotes needs them
        text = source
        for secret, name in names.items():
            text = text.replace(secret, form.format(name))
        with suppress(InvalidDefinition):
            if read_definition(text) == wanted:
                return text
    is_json = source.lstrip().startswith("{")
    return json.dumps(wanted, indent=2, ensure_ascii=False) if is_json else dump_yaml(wanted)


def _with_names(definition: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    if not written_secrets(definition):
        return definition
    trigger = definition["trigger"]
    secrets = trigger["signature"]["secrets"]
    listed = secrets if isinstance(secrets, list) else [secrets]
    named = [f"{{{{secrets.{names[one]}}}}}" if isinstance(one, str) and one in names else one for one in listed]
    signature = {**trigger["signature"], "secrets": named if isinstance(secrets, list) else named[0]}
    return {**definition, "trigger": {**trigger, "signature": signature}}
