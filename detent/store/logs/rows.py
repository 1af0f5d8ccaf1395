"""Rows of step logs: chunks of the lines of an attempt, and how far an attempt is.

A chunk is written once, in a flush. The node that wrote it drops it in a later flush when the attempt has logged more
than is stored of one attempt. So a reader follows a log by the ids of its chunks.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class LogKind(StrEnum):
    """What a row has."""

    LINES = "lines"
    PROGRESS = "progress"


class LogRow(NamedTuple):
    """Lines of one attempt, or how far it is. `data` is JSON.

    `first` is the number of its first line among all lines of the attempt, from 0, and `size` is how many it has. So
    a gap between two rows, or before the first one, is what was left out."""

    id: bytes
    tenant: int
    run: bytes
    kind: str
    step: str
    attempt: int
    first: int
    size: int
    data: bytes


class LogStore(Protocol):
    """The verbs of step logs. `flush` writes and drops the rows."""

    async def log_rows(
        self,
        tenant: int,
        run: bytes,
        *,
        limit: int,
        kind: LogKind = LogKind.LINES,
        after: bytes | None = None,
        step: str | None = None,
        attempt: int | None = None,
    ) -> list[LogRow]:
        """Return rows of a run in the order of their ids, those after `after`."""

    async def prune_logs(self, *, before: bytes, limit: int) -> int:
        """Delete up to `limit` rows whose id is below that one: ids sort by time. Return how many were deleted."""
