"""Limits of what users and remote servers may send, and of what a step may return."""

from __future__ import annotations

from typing import Final

#: Characters of one expression.
SOURCE_LIMIT: Final = 4_096
NESTING_LIMIT: Final = 64
SIZE_LIMIT: Final = 256 * 1024
#: What one evaluation may read, about one element each; see `expressions.errors.Budget`.
WORK_LIMIT: Final = 200_000
CHARACTERS_PER_WORK: Final = 32
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1
#: Characters of a request id, of a message id and of each word of a hero: what an indexed column takes.
ID_LIMIT: Final = 255
#: Bytes of a run's input, of a callback and of a signal.
INPUT_LIMIT: Final = SIZE_LIMIT
#: Bytes of a request or response of a step.
BODY_LIMIT: Final = SIZE_LIMIT
HEADER_COUNT_LIMIT: Final = 64
HEADER_BYTES_LIMIT: Final = 16 * 1024
