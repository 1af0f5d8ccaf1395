"""Read what the steps of a run have logged, page by page, and how far they are."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, NamedTuple

from detent.commands.context import CommandPart
from detent.commands.runs import MOST_PROGRESS
from detent.documents.journal import LogLine, StepProgress
from detent.errors import NotFound
from detent.ids import RUN, InvalidId, parse
from detent.store.logs.rows import LogKind, LogRow
from detent.views.logs import BEGINNING, NOTHING, LogCursor, line_documents, progress_documents

MOST_LINES: Final = 1_000
#: How many rows one page reads at most. A page with a filter may have fewer lines than were asked for.
MOST_ROWS: Final = 64
#: Seconds between two looks at a log that is followed.
LOOK: Final = 0.5


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines are wanted: of a step, of one attempt of it, of a level or above."""

    step: str | None = None
    attempt: int | None = None
    level: int = 0


EVERY_LINE: Final = LogFilter()


class LogPage(NamedTuple):
    """Lines by their time. `is_all`: the run has ended, and there are no lines behind `cursor`."""

    lines: list[LogLine]
    cursor: LogCursor
    is_all: bool


class LogCommands(CommandPart):
    """Reads of step logs. Nothing here changes anything."""

    async def run(self, run: str) -> bytes:
        """Return the id of a run that exists. Raise NotFound."""
        try:
            id_ = parse(RUN, run)
        except InvalidId:
            id_ = b""
        if not id_ or await self._store.run(self._tenant, id_) is None:
            raise NotFound(f"there is no run {run[:80]!r}")
        return id_

    async def page(
        self,
        run: bytes,
        *,
        after: LogCursor = BEGINNING,
        limit: int,
        where: LogFilter = EVERY_LINE,
        wait: float = 0.0,
    ) -> LogPage:
        """Return the lines behind a cursor. With `wait`, wait so many seconds for the first, or for the run's end."""
        loop = asyncio.get_running_loop()
        until = loop.time() + wait
        while True:
            # First: the last lines were written with the end of the run, or before.
            has_ended = run in await self._store.ended(self._tenant, [run])
            page = await self._read(run, after, limit, where)
            page = page._replace(is_all=page.is_all and has_ended)
            left = until - loop.time()
            if page.lines or page.is_all or page.cursor != after or left <= 0:
                return page
            await asyncio.sleep(min(LOOK, left))

    async def progress(self, run: bytes) -> list[StepProgress]:
        """Return how far the attempts in flight are that have reported it."""
        rows = await self._store.log_rows(self._tenant, run, kind=LogKind.PROGRESS, limit=MOST_PROGRESS)
        return progress_documents(rows)

    async def _read(self, run: bytes, after: LogCursor, limit: int, where: LogFilter) -> LogPage:
        # From the row itself, if some of its lines are still to be read.
        behind = after.row if not after.lines or after.row == NOTHING else _before(after.row)
        rows = await self._store.log_rows(
            self._tenant, run, limit=MOST_ROWS, after=behind, step=where.step, attempt=where.attempt
        )
        lines: list[LogLine] = []
        cursor = after
        ends: dict[tuple[str, int], int] = {}
        for row in rows:
            skip = after.lines if row.id == after.row else 0
            missing = 0 if skip else await self._missing(row, ends, is_first=after.row == NOTHING)
            ends[row.step, row.attempt] = row.first + row.size
            for level, line in line_documents(row, skip=skip, left_out=missing):
                if level >= where.level:
                    if len(lines) == limit:
                        return LogPage(_by_time(lines), cursor, is_all=False)
                    lines.append(line)
                cursor = LogCursor(row.id, line.number - row.first)
        return LogPage(_by_time(lines), cursor, is_all=len(rows) < MOST_ROWS)

    async def _missing(self, row: LogRow, ends: dict[tuple[str, int], int], *, is_first: bool) -> int:
        """Return how many lines of the attempt are not stored before this row."""
        known = ends.get((row.step, row.attempt))
        if known is None and row.first and not is_first:
            # Its rows before this one, if there are some, are on an earlier page.
            rows = await self._store.log_rows(self._tenant, row.run, limit=1, step=row.step, attempt=row.attempt)
            known = row.first if rows and rows[0].id < row.id else 0
        return max(0, row.first - (known or 0))


def _before(row: bytes) -> bytes:
    return (int.from_bytes(row, "big") - 1).to_bytes(16, "big")


def _by_time(lines: list[LogLine]) -> list[LogLine]:
    return sorted(lines, key=lambda line: line.at)
