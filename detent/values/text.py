"""Clean text from user code: codes, reasons and messages.

Every value becomes text that every store accepts and every reader can decode."""

from __future__ import annotations

from enum import Enum
from typing import Final

UNSHOWN: Final = "(cannot be shown)"


def plain_text(value: object, longest: int) -> str:
    """Return the value as text of at most `longest` characters, without lone surrogates and NUL. Never raise.

    A text that is already clean is returned unchanged."""
    if type(value) is str and len(value) <= longest and value.isascii() and "\0" not in value:
        return value
    try:
        text = _as_text(value)[:longest]
    except BaseException:  # noqa: BLE001 - `str()` of a user's value may raise anything
        text = UNSHOWN
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _as_text(value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, BaseException):
        value = f"{type(value).__name__}: {value}"
    # A subclass of `str` may override slicing and encoding. Only the text in it counts.
    return str.__str__(value if isinstance(value, str) else str(value))
