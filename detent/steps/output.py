"""The output of a step, as JSON bytes.

JSON types stay as they are. These types have a text form: `datetime`, `date` and `time` (RFC 3339), `timedelta` (ISO
8601 duration), `UUID`, `Decimal` (its digits as text, so that none is lost), `Enum` (its value). Dataclasses,
TypedDicts, `msgspec.Struct`, attrs classes and pydantic models become objects; tuples become arrays. Everything else
(sets, bytes, generators, other objects) is refused with an error that names the type. So are NaN and infinity, integers
beyond 64 bits, lone surrogates and nesting beyond the limit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import Any, Final
from uuid import UUID

import msgspec

from detent.run.outcomes import Done
from detent.steps.errors import OutputTooLarge, Unserialisable
from detent.steps.user_code import describe
from detent.values.blob import Blob
from detent.values.limits import BODY_LIMIT, LARGEST_INTEGER, NESTING_LIMIT, SMALLEST_INTEGER

_TEXT_FORMS: Final = (datetime, date, time, timedelta, UUID, Decimal)
_PLAIN: Final[tuple[type[Any], ...]] = (str, int, float, list, tuple)
_FRAME: Final = len(b'{"output":}')
_LARGEST: Final = BODY_LIMIT + _FRAME


def encode_output(value: Any) -> bytes:
    """Return `{"output": value}` as bytes. Raise Unserialisable or OutputTooLarge."""
    try:
        _check(value, 0)
        encoded = _encode({"output": value})
    except Unserialisable:
        raise
    except BaseException as error:  # noqa: BLE001 - this runs code of the user's value, which may raise anything
        raise Unserialisable(f"the output cannot be stored: {describe(error)}") from None
    if len(encoded) > _LARGEST:
        size = f"{len(encoded) - _FRAME:,} bytes, more than {BODY_LIMIT // 1024} KB"
        raise OutputTooLarge(f"the output takes {size}", Done(encoded))
    return encoded


def _check(value: Any, depth: int) -> None:
    kind = type(value)
    if kind is dict:  # first, because it is the usual output
        if depth >= NESTING_LIMIT:
            _refuse_depth()
        for key, item in value.items():
            if type(key) is not str:
                _check_key(key)
            if type(item) is not str:
                _check(item, depth + 1)
    elif kind is str or kind is bool or value is None:
        return
    elif kind is int:
        if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            raise Unserialisable("the output has an integer beyond 64 bits in it; return it as text")
    elif kind is float:
        if not isfinite(value):
            raise Unserialisable(f"the output has a float in it that is {value}, which JSON cannot represent")
    elif kind is list or kind is tuple:
        if depth >= NESTING_LIMIT:
            _refuse_depth()
        for item in value:
            _check(item, depth + 1)
    else:
        _check_other(value, depth)


def _check_other(value: Any, depth: int) -> None:
    """Check a value that is not a plain JSON type: reduce it to one, or raise Unserialisable."""
    if isinstance(value, Enum):
        _check(value.value, depth)
    elif not isinstance(value, _TEXT_FORMS):
        _check(_as_plain(value), depth)


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if hasattr(type(value), "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in type(value).__attrs_attrs__}
    if _is_pydantic(value):
        dumped: dict[str, Any] = value.model_dump(mode="json")
        return dumped
    raise Unserialisable(f"the output has a value of type {type(value).__qualname__} in it, which has no JSON form")


def _as_plain(value: Any) -> Any:
    """Return a value as a plain JSON type. The encoder calls this too, for types it does not know."""
    if isinstance(value, Blob):
        return value.document()
    for plain in _PLAIN:
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, Mapping):
        return {key: value[key] for key in value}
    return _fields(value)


def _is_pydantic(value: Any) -> bool:
    """Return whether a value is a pydantic model, by duck typing: pydantic need not be installed."""
    return hasattr(type(value), "__pydantic_fields__") and hasattr(value, "model_dump")


def _check_key(key: object) -> None:
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise Unserialisable(f"the output has a key of type {type(key).__qualname__} in it; keys must be text")


def _refuse_depth() -> None:
    raise Unserialisable(f"the output is nested more than {NESTING_LIMIT} deep, or contains itself")


_encode: Final = msgspec.json.Encoder(enc_hook=_as_plain).encode
