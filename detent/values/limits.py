"""Limits of what users and remote servers may send, and of what a step may return."""

from __future__ import annotations

from typing import Final

#: The maximum number of characters of an expression.
SOURCE_LIMIT: Final = 4_096
NESTING_LIMIT: Final = 64
SIZE_LIMIT: Final = 256 * 1024
#: How many elements one evaluation may read, approximately; see `expressions.errors.Budget`.
WORK_LIMIT: Final = 200_000
CHARACTERS_PER_WORK: Final = 32
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1
#: Versions are columns of 32 bits.
LARGEST_VERSION: Final = 2**31 - 1
#: The maximum number of characters of a request id, a message id and each word of a hero: the size of an indexed
#: column.
ID_LIMIT: Final = 255
#: The maximum number of bytes of a run's input, a callback or a signal.
INPUT_LIMIT: Final = SIZE_LIMIT
#: The maximum number of bytes of a list of entity events.
EVENTS_LIMIT: Final = 4 * 1024 * 1024
#: The maximum number of bytes of a definition, and so of any request to the API.
DEFINITION_LIMIT: Final = 1024 * 1024
#: The maximum number of bytes of a rule as it is sent. It is larger than a definition, so that a rule with too many
#: actions is refused with that message.
RULE_LIMIT: Final = 8 * 1024 * 1024
#: The maximum number of bytes of a document that describes another service's API.
IMPORT_LIMIT: Final = 20 * 1024 * 1024
#: The maximum number of bytes of a request or response of a step.
BODY_LIMIT: Final = SIZE_LIMIT
#: The maximum number of bytes of an answer of which an action of a connector takes parts.
PAGE_LIMIT: Final = 4 * 1024 * 1024
HEADER_COUNT_LIMIT: Final = 64
HEADER_BYTES_LIMIT: Final = 16 * 1024
#: The maximum number of bytes of a JSON blob that expressions read.
READABLE_BLOB: Final = 4 * 1024 * 1024
#: The maximum number of bytes of a blob, unless the operator sets another.
BLOB_LIMIT: Final = 100 * 1024 * 1024
