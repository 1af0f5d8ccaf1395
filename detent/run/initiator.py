"""Who initiated a run: on whose behalf it was started, which caller asked, and the correlation id of the start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

#: The header of a start that has its correlation id.
CORRELATION_HEADER: Final = "x-correlation-id"
LONGEST_CORRELATION: Final = 200
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Principal(msgspec.Struct, frozen=True, rename="camel"):
    """The person or system for which a run was started."""

    user_id: str
    display_name: str | None = None
    email: str | None = None


SYSTEM: Final = Principal("system", "System")


class Initiator(NamedTuple):
    """Who initiated a run.

    `principal` is JSON, `None` for the system. `via` is the caller that asked, if it is not the principal. A child run
    has the initiator of its parent."""

    principal: str | None = None
    via: str | None = None
    correlation: str | None = None


NO_INITIATOR: Final = Initiator()


def encode_principal(principal: Principal) -> str:
    """Return a principal as it is stored."""
    return str(msgspec.json.encode(principal), "utf-8")


def read_principal(stored: str | None) -> Principal:
    """Return a principal from its stored form."""
    return SYSTEM if stored is None else msgspec.json.decode(stored, type=Principal)


def given_principal(given: Any) -> Principal:
    """Return the principal in the input of a run. What does not have the form of one is the system."""
    try:
        return SYSTEM if given is None else msgspec.convert(given, Principal)
    except msgspec.ValidationError:
        return SYSTEM


def given_correlation(extra: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """Return the correlation id of a start, in a form that every database can store: that of the envelope or header."""
    found = extra.get("correlation_id") or headers.get(CORRELATION_HEADER)
    return _CONTROL.sub(" ", found[:LONGEST_CORRELATION]) if found and isinstance(found, str) else None
