"""How large what a step sends and gives back may be, and what JSON may hold at our border."""

from __future__ import annotations

from typing import Final

from detent.expressions.limits import LARGEST_INTEGER, NESTING_LIMIT, SIZE_LIMIT, SMALLEST_INTEGER

BODY_LIMIT: Final = SIZE_LIMIT
HEADER_COUNT_LIMIT: Final = 64
HEADER_BYTES_LIMIT: Final = 16 * 1024

__all__ = [
    "BODY_LIMIT",
    "HEADER_BYTES_LIMIT",
    "HEADER_COUNT_LIMIT",
    "LARGEST_INTEGER",
    "NESTING_LIMIT",
    "SMALLEST_INTEGER",
]
