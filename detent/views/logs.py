"""Build the documents of step logs from their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from detent.documents.journal import LogLine, StepProgress
from detent.ids import InvalidId, parse, show
from detent.instant import as_datetime
from detent.steps.logs.attempt_log import level_name
from detent.store.logs.rows import LogRow

_decode: Final = msgspec.json.Decoder().decode
_CURSOR: Final = "log"
#: The id before every row.
NOTHING: Final = bytes(16)


class LogCursor(NamedTuple):
    """The place behind a line: the row that has it, and how many lines of that row were read."""

    row: bytes = NOTHING
    lines: int = 0

    def __str__(self) -> str:
        return f"{show(_CURSOR, self.row)}-{self.lines}"


BEGINNING: Final = LogCursor()


def parse_cursor(text: str) -> LogCursor:
    """Return the cursor of a text. Raise ValueError."""
    row, _, lines = text.partition("-")
    if not (lines.isascii() and lines.isdigit() and len(lines) <= 9):
        raise ValueError("is not a cursor of this list; use `next_cursor` of the same query")
    try:
        return LogCursor(parse(_CURSOR, row), int(lines))
    except InvalidId:
        raise ValueError("is not a cursor of this list; use `next_cursor` of the same query") from None


def line_documents(row: LogRow, *, skip: int = 0, left_out: int = 0) -> list[tuple[int, LogLine]]:
    """Build the lines of a row with their levels, without the first `skip`. The first line of the row says how many
    lines of its attempt are missing before it."""
    found: list[tuple[int, LogLine]] = []
    for place, line in enumerate(_decode(row.data)):
        if place < skip:
            continue
        at, level, logger, message, *facts = line
        document = LogLine(
            at=as_datetime(at),
            step=row.step,
            attempt=row.attempt,
            number=row.first + place + 1,
            level=level_name(level),
            logger=logger,
            message=message,
            facts=facts[0] if facts else None,
            left_out=0 if place else left_out,
        )
        found.append((level, document))
    return found


def progress_documents(rows: Sequence[LogRow]) -> list[StepProgress]:
    """Build how far attempts are: the newest report of each attempt."""
    newest = {(row.step, row.attempt): row for row in rows}
    return [_progress(row) for row in newest.values()]


def _progress(row: LogRow) -> StepProgress:
    fraction, text, at = _decode(row.data)
    return StepProgress(step=row.step, attempt=row.attempt, fraction=fraction, text=text, at=as_datetime(at))
