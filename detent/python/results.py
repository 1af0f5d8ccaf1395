"""Results of steps, read back as what the annotation of their function says."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, Final

import msgspec

_UNTYPED: Final = (inspect.Signature.empty, Any, object, None, type(None))
_decode_plain: Final = msgspec.json.Decoder().decode


def decoder(hint: Any) -> Callable[[bytes], Any]:
    """Reads `{"output": ...}` as a value of that type."""
    if hint in _UNTYPED:
        return plain
    try:
        frame = msgspec.defstruct("Kept", [("output", hint, None)])
        read = msgspec.json.Decoder(frame, dec_hook=_foreign).decode
    except (TypeError, NotImplementedError):
        return plain
    return lambda raw: read(raw).output  # type: ignore[attr-defined]  # the one field of the frame


def lenient_decoder(function: Callable[..., Any]) -> Callable[[bytes], Any]:
    """The same for what a function gives; where that is not what it promised, as plain JSON."""
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
    """The output as JSON has it."""
    return _decode_plain(raw).get("output") if raw else None


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function; those that cannot be read are none."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return {}


def _foreign(kind: type[Any], value: Any) -> Any:
    """Values of types msgspec does not know: pydantic models, found by what they can do. Others stay as they are."""
    validate = getattr(kind, "model_validate", None)
    return value if validate is None else validate(value)
