"""The border for words of user code: whatever is given as a code, a reason or a message becomes text that every store
takes and every reader can read again."""

from __future__ import annotations

from enum import Enum
from typing import Final

UNSHOWN: Final = "(cannot be shown)"


def plain_text(value: object, longest: int) -> str:
    """The value as text of at most so many letters, without lone surrogates and NUL. It never raises, and a text that
    is well is given back as it is."""
    if type(value) is str and len(value) <= longest and value.isascii() and "\0" not in value:
        return value
    try:
        text = _as_text(value)[:longest]
    except BaseException:  # noqa: BLE001 - whatever asking a value of the user's for its text may raise
        text = UNSHOWN
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _as_text(value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, BaseException):
        value = f"{type(value).__name__}: {value}"
    # A class derived from text may do anything when it is cut or written: what counts is the text in it.
    return str.__str__(value if isinstance(value, str) else str(value))
