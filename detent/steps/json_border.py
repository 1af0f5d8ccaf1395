"""What comes in as JSON must be JSON that every later reader understands.

Strict JSON in UTF-8, without lone surrogates, NaN, numbers no double holds, integers beyond 64 bits or nesting beyond
the limit. Texts that pass are kept byte for byte, so repeated keys and the spelling of numbers survive.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from detent.steps.limits import LARGEST_INTEGER, NESTING_LIMIT, SMALLEST_INTEGER

_LONG_NUMBER: Final = re.compile(rb"[0-9]{19}")
_decode: Final = msgspec.json.Decoder().decode


def is_acceptable_json(raw: bytes) -> bool:
    """Whether these bytes may be stored as JSON as they are."""
    try:
        value = _decode(raw)
    except (ValueError, RecursionError):
        return False
    # Most texts show at a glance that they are neither deep nor have large numbers; only the others are walked.
    if raw.count(b"[") + raw.count(b"{") <= NESTING_LIMIT and not _LONG_NUMBER.search(raw):
        return True
    return _is_shallow_and_small(value)


def _is_shallow_and_small(value: Any) -> bool:
    level = [value]
    for depth in range(NESTING_LIMIT + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict | list):
                if depth == NESTING_LIMIT:
                    return False
                below.extend(item.values() if isinstance(item, dict) else item)
            elif isinstance(item, int) and not SMALLEST_INTEGER <= item <= LARGEST_INTEGER:
                return False
        level = below
    return True
