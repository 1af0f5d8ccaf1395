"""Ids: 16 time-sorted bytes inside Detent, a text with a prefix outside.

Inside, an id is the bytes of a UUIDv7, so that rows written together are stored together. Users see
`run_01h455vb4pex5vsknk084sn02q`: a prefix for the kind, then the 128 bits in 26 lower-case Crockford base32 digits.
The digits sort as the bytes do, and a double click selects the whole text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import uuid_utils

Id = bytes
NewId = Callable[[], Id]

RUN: Final = "run"
WORKFLOW: Final = "wf"
TRIGGER: Final = "trg"
FIRING: Final = "fir"
EVENT: Final = "evt"
NODE: Final = "node"
LETTER: Final = "dlt"
ENTITY: Final = "ent"
ACTION: Final = "act"
EDGE: Final = "edge"
ALERT: Final = "alt"
ACTION_TEMPLATE: Final = "atp"
PERSON: Final = "usr"
SESSION: Final = "ses"
AUDIT: Final = "aud"
BLOB: Final = "blob"

_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES: Final = {digit: value for value, digit in enumerate(_DIGITS)}
_LENGTH: Final = 26


class InvalidId(ValueError):
    """The text is not an id of that kind."""


def new_id() -> Id:
    """Return a new time-sorted id."""
    return uuid_utils.uuid7().bytes


def made_at(raw: Id) -> int:
    """Return the instant at which an id was made, in whole milliseconds."""
    return int.from_bytes(raw[:6], "big") * 1000


def show(prefix: str, raw: Id) -> str:
    """Return the text of an id, as users and APIs see it."""
    number = int.from_bytes(raw, "big")
    digits = [_DIGITS[(number >> shift) & 31] for shift in range(125, -1, -5)]
    return f"{prefix}_{''.join(digits)}"


def parse(prefix: str, text: str) -> Id:
    """Return the id of a text. Raise InvalidId for any other spelling: capitals, another prefix."""
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != _LENGTH:
        raise InvalidId(f"{text[:80]!r} is not an id that begins with '{prefix}_'")
    number = 0
    for digit in digits:
        value = _VALUES.get(digit)
        if value is None:
            raise InvalidId(f"{text!r} is not an id: {digit!r} cannot be part of one")
        number = number << 5 | value
    if number >> 128:
        raise InvalidId(f"{text!r} is not an id: it is too large")
    return number.to_bytes(16, "big")


def first_id(instant: int) -> Id:
    """Return the lowest id of the millisecond of an instant. Ids that are made then or later are not below it."""
    return max(0, instant // 1_000).to_bytes(6, "big") + bytes(10)


def end_digits(text: str) -> str | None:
    """Return the last bytes of the ids whose text ends with these digits, in hexadecimal, or None for other texts.

    Six digits have 30 bits. Whole bytes are returned, so the digits may be a little more exact than these."""
    if not 6 <= len(text) <= _LENGTH or any(digit not in _VALUES for digit in text):
        return None
    number = 0
    for digit in text:
        number = number << 5 | _VALUES[digit]
    size = min(len(text) * 5 // 8, 6)
    return (number & (1 << size * 8) - 1).to_bytes(size, "big").hex()
