"""Strict JSON from outside: the same rules for definitions, inputs, callbacks and responses.

Python's parser accepts NaN, repeated keys, lone surrogates and numbers that become infinite; a database or another
program does not. Here they are refused, so that every accepted value can be stored, read and sent again unchanged.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from detent.errors import InvalidInput, Problem, TooLarge

DEEPEST: Final = 64
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1
_HALF_CHARACTER: Final = re.compile(r"\\u[dD][89a-fA-F]")


def decode_json(data: bytes, limit: int) -> Any:
    """Decode JSON bytes from outside. Raise TooLarge above `limit` bytes, and InvalidInput if they are invalid."""
    if len(data) > limit:
        raise TooLarge(f"the body has {len(data)} bytes; at most {limit} are allowed")
    return parse_json(decode_text(data, InvalidInput), InvalidInput)


def decode_text(data: bytes, error: type[InvalidInput]) -> str:
    """Decode UTF-8 text, without the byte order mark that some editors write first."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise refused(f"not UTF-8: byte {wrong.start} cannot be read", error) from None


def parse_json(text: str, error: type[InvalidInput]) -> Any:
    """Parse a JSON text. Raise `error` with line and column of what is wrong."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as wrong:
        raise refused(f"line {wrong.lineno}, column {wrong.colno}: not valid JSON: {wrong.msg}", error) from None
    except _Refused as wrong:
        raise refused(str(wrong), error) from None
    except RecursionError:
        raise refused(_TOO_DEEP, error) from None
    # A value cannot be nested deeper than it has brackets. Most have few, and need no second check.
    if text.count("[") + text.count("{") > DEEPEST and is_deeper(value, DEEPEST):
        raise refused(_TOO_DEEP, error)
    if _HALF_CHARACTER.search(text):
        _refuse_half_characters(value, error)
    return value


def refused(message: str, error: type[InvalidInput]) -> InvalidInput:
    """Return an error about a whole text."""
    return error(None if error is not InvalidInput else message, problems=[Problem("", message)])


def is_deeper(value: Any, levels: int) -> bool:
    """Return whether lists and mappings are nested deeper than so many levels."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        layer = [
            child
            for container in layer
            for child in (container.values() if type(container) is dict else container)
            if type(child) is dict or type(child) is list
        ]
    return bool(layer)


_TOO_DEEP: Final = f"nested deeper than {DEEPEST} levels"


def _refuse_half_characters(value: Any, error: type[InvalidInput]) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise refused("half a character (a lone surrogate such as \\ud800) is not text", error) from None


class _Refused(Exception):
    """Raised inside the parser's hooks; never leaves this module."""


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"the key {twice[:80]!r} is given twice")
    return found


def _integer(digits: str) -> int:
    # Check the length first: converting very many digits takes long.
    if len(digits) > 20 or not SMALLEST_INTEGER <= (number := int(digits)) <= LARGEST_INTEGER:
        raise _Refused(f"the number {digits[:24]} does not fit in 64 bits; send it as text")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused(f"the number {digits[:24]} is too large")
    return number


def _constant(word: str) -> Any:
    raise _Refused(f"{word} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_mapping, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
