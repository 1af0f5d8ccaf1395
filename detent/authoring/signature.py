"""How requests to a webhook are signed, as it is written: a preset, one or two secrets, and for `hmac` the details."""

from __future__ import annotations

import base64
import binascii
import re
from enum import StrEnum
from typing import Any, Final

from detent.authoring.durations import SECOND
from detent.authoring.fields import Fields, described, shown
from detent.authoring.header_names import is_header_name
from detent.authoring.schedule import plain

MOST_SECRETS: Final = 2
TOLERANCE: Final = 300.0
_LONGEST_TOLERANCE: Final = 86400.0
_LONGEST_SECRET: Final = 1_000
_LONGEST_HEADER: Final = 100
_LONGEST_PREFIX: Final = 40
_PREFIX_OF_SECRETS: Final = "whsec_"
_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Preset(StrEnum):
    """Whose way of signing it is."""

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
#: What stands in the place of a secret wherever a definition or a trigger is shown.
HIDDEN: Final = "***"
_SIGNATURE_FIELDS: Final = ("preset", "secrets", "tolerance", *_OF_HMAC)
_TIMED: Final = (Preset.STANDARD, Preset.STRIPE)


def read_signature(fields: Fields) -> dict[str, Any]:
    """The signature of a webhook trigger: the fields of its preset, defaults filled in."""
    fields.refuse_unknown(_SIGNATURE_FIELDS)
    if fields.get("preset") is None:
        fields.problems.add(fields.at("preset"), f"is missing; write one of {', '.join(Preset)}")
    preset = fields.choice("preset", Preset, Preset.GITHUB)
    if fields.get("preset") != preset.value:
        # Which fields it may have is not known then: that is one mistake, not several.
        return {"preset": preset.value, "secrets": _secrets(fields, preset)}
    config: dict[str, Any] = {"preset": preset.value, "secrets": _secrets(fields, preset)}
    for name in fields.written(_OF_HMAC if preset is not Preset.HMAC else ()):
        fields.problems.add(fields.at(name), f"is only for the preset hmac; {preset.value} has its own")
    tolerance = fields.duration("tolerance", unit=SECOND, zero=False)
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
    """One secret. Its own text is never repeated in a problem."""
    place = fields.at(name)
    if isinstance(value, dict):
        inner = Fields(value, place, fields.problems)
        inner.refuse_unknown(("env",))
        variable = inner.text("env", most=128)
        if inner.get("env") is None or (variable is not None and not _ENVIRONMENT_NAME.fullmatch(variable)):
            fields.problems.add(place, "must be {env: NAME} with the name of an environment variable")
        return {"env": variable or ""}
    if not isinstance(value, str):
        fields.problems.add(place, f"must be text or {{env: NAME}}, not {described(value)}")
    elif not value.strip() or len(value) > _LONGEST_SECRET:
        fields.problems.add(place, f"a secret has 1 to {_LONGEST_SECRET} characters")
    elif value.strip() == HIDDEN:
        fields.problems.add(place, f"{HIDDEN} stands for a secret that is hidden; write the secret, or {{env: NAME}}")
    elif preset is Preset.STANDARD and standard_key(value) is None:
        message = f"must be {_PREFIX_OF_SECRETS} and base64, as the sender shows it"
        fields.problems.add(place, message)
    return str(value)


def standard_key(secret: str) -> bytes | None:
    """The key inside a secret of Standard Webhooks, with or without its `whsec_`; None if there is none."""
    text = secret.strip().removeprefix(_PREFIX_OF_SECRETS).rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key or None
