"""Decode stored results of steps to the type that their function annotates."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, Final

import msgspec

_UNTYPED: Final = (inspect.Signature.empty, Any, object, None, type(None))
_decode_plain: Final = msgspec.json.Decoder().decode


def decoder(hint: Any) -> Callable[[bytes], Any]:
    """Return a function that reads `{"output": ...}` as a value of that type."""
    if hint in _UNTYPED:
        return plain
    try:
        frame = msgspec.defstruct("Kept", [("output", hint, None)])
        read = msgspec.json.Decoder(frame, dec_hook=_foreign).decode
    except (TypeError, NotImplementedError):
        return plain
    return lambda raw: read(raw).output  # type: ignore[attr-defined]  # the one field of the frame


def lenient_decoder(function: Callable[..., Any]) -> Callable[[bytes], Any]:
    """Return a decoder for the results of a function. A result that does not match its annotation is plain JSON."""
    read = decoder(hints_of(function).get("return", Any))
    if read is plain:
        return plain

    def read_or_plain(raw: bytes) -> Any:
        try:
            return read(raw)
        except (msgspec.MsgspecError, TypeError, ValueError):
            return plain(raw)

    return read_or_plain


def plain(raw: bytes) -> Any:
    """Return the output as plain JSON."""
    return _decode_plain(raw).get("output") if raw else None


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function, or an empty dict if they cannot be evaluated."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return {}


def _foreign(kind: type[Any], value: Any) -> Any:
    """Decode a value of a type that msgspec does not know: a pydantic model, by duck typing. Others stay unchanged."""
    validate = getattr(kind, "model_validate", None)
    return value if validate is None else validate(value)
