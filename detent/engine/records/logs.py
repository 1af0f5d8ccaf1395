"""Step logs: the lines of attempts in flight become rows, which go with the next flush of the node.

An attempt that logs nothing has no row and no entry here. The lines of one that ends go with the flush of its outcome.
Those of a long one are written about once a second, so that they are seen while it runs and survive its node. Of each
attempt the newest 64 KB are stored: the sink drops older lines before they are written, and older rows afterwards.

Log lines decide nothing. If the database rejects them, or cannot be written for long, they are lost and the runs go on.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import msgspec

from detent.clock import DatabaseTime
from detent.ids import NewId
from detent.observe import emit
from detent.steps.logs.attempt_log import AttemptLog
from detent.store.logs.rows import LogKind, LogRow
from detent.vault.redaction import Redactor

#: What is stored of one attempt.
MOST_BYTES: Final = 64 * 1024
#: Rows are small, so that little more than what is too old is dropped with one.
ROW_BYTES: Final = 8 * 1024
#: Seconds between two looks at the attempts in flight.
LIVE: Final = 1.0
#: How much one look writes of attempts in flight. The others wait for the next look.
LIVE_BYTES: Final = 1_000_000
#: How much may wait for a flush. The oldest rows are lost beyond that.
QUEUE_BYTES: Final = 8_000_000
_encode: Final = msgspec.json.Encoder(enc_hook=str).encode


class Tail:
    """The newest lines of an attempt, encoded, and the rows that were written of it."""

    __slots__ = ("first", "has_news", "lines", "progress", "progress_row", "rows", "size", "stored")

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.size = 0  # of `lines`
        self.first = 0  # the number of the first of `lines` in the attempt
        self.rows: deque[tuple[bytes, int]] = deque()  # ids and sizes
        self.stored = 0  # the size of `rows`
        self.progress: tuple[float, str] | None = None
        self.progress_row: bytes | None = None
        self.has_news = False  # of `progress`

    def add(self, line: bytes) -> None:
        self.lines.append(line)
        self.size += len(line)
        while self.size > MOST_BYTES and len(self.lines) > 1:
            self.size -= len(self.lines.popleft())
            self.first += 1

    def next_lines(self) -> list[bytes]:
        """Remove and return the lines of the next row, at least one."""
        taken = [self.lines.popleft()]
        size = len(taken[0])
        while self.lines and size + len(self.lines[0]) <= ROW_BYTES:
            taken.append(self.lines.popleft())
            size += len(taken[-1])
        self.size -= size
        return taken


class StepLogs:
    """The sink of one node: tails of attempts in flight, and rows that wait for a flush.

    `level` is the lowest level that is stored. `wake` makes the committer flush.
    """

    def __init__(
        self,
        *,
        time: DatabaseTime,
        new_id: NewId,
        level: int,
        redactors: Mapping[int, Redactor],
        wake: Callable[[], None],
    ) -> None:
        self.level = level
        self._time = time
        self._new_id = new_id
        self._redactors = redactors
        self._wake = wake
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._open: dict[AttemptLog, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_armed = False
        self._rows: deque[LogRow] = deque()
        self._bytes = 0
        self._dropped: list[bytes] = []
        #: Whether there is anything to flush. Every flush asks this, and an attribute costs no call.
        self.is_waiting = False

    # -- attempts, in any thread

    def add(self, log: AttemptLog, level: int, logger: str, text: str, facts: dict[str, Any] | None) -> None:
        at = self._time.now()
        line = _encoded(at, level, logger, text, facts)
        with self._lock:
            self._tail(log).add(line)
        self._arm()

    def progress(self, log: AttemptLog, fraction: float, text: str) -> None:
        with self._lock:
            tail = self._tail(log)
            tail.progress = (fraction, text)
            tail.has_news = True
        self._arm()

    def _tail(self, log: AttemptLog) -> Tail:
        tail: Tail | None = log.tail
        if tail is None:
            tail = log.tail = Tail()
        self._open[log] = None
        return tail

    def _arm(self) -> None:
        """Look at the attempts in flight in a second, unless a look is due already."""
        if self._is_armed:
            return
        self._is_armed = True
        if threading.get_ident() == self._thread:
            self._begin_timer()
        else:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._begin_timer)

    # -- on the loop

    def _begin_timer(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(LIVE, self._look)

    def _look(self) -> None:
        """Write what the attempts in flight have logged since the last look."""
        self._timer = None
        self._is_armed = False
        written = 0
        with self._lock:
            for log in list(self._open):
                if written >= LIVE_BYTES:
                    break
                del self._open[log]
                if not log.is_over:  # a thread that was given up may log after the end of its attempt
                    written += self._write(log)
            is_more = bool(self._open)
        if is_more:
            self._arm()
        self._flush_if_any()

    def end(self, log: AttemptLog) -> None:
        """Queue the last lines of an attempt that is over. The caller queues its outcome after that."""
        tail: Tail = log.tail
        with self._lock:
            self._open.pop(log, None)
            tail.has_news = False
            self._write(log)
            if tail.progress_row is not None:
                self._dropped.append(tail.progress_row)
            log.tail = None
        self._flush_if_any()

    def _write(self, log: AttemptLog) -> int:
        """Make rows of the lines of an attempt, and drop its rows that are too old. Return the size of the rows."""
        tail: Tail = log.tail
        written = 0
        if tail.has_news and tail.progress is not None:
            tail.has_news = False
            written += self._write_progress(log, tail, tail.progress)
        clean = self._cleaner(log)
        while tail.lines:
            first = tail.first
            lines = tail.next_lines()
            tail.first += len(lines)
            data = b"[" + b",".join(map(clean, lines)) + b"]"
            id_ = self._new_id()
            self._queue(
                LogRow(id_, log.tenant, log.run, LogKind.LINES.value, log.step, log.attempt, first, len(lines), data)
            )
            tail.rows.append((id_, len(data)))
            tail.stored += len(data)
            written += len(data)
        while tail.stored > MOST_BYTES:
            id_, size = tail.rows.popleft()
            tail.stored -= size
            self._dropped.append(id_)
        return written

    def _write_progress(self, log: AttemptLog, tail: Tail, progress: tuple[float, str]) -> int:
        if tail.progress_row is not None:
            self._dropped.append(tail.progress_row)
        data = self._cleaner(log)(_encode((*progress, self._time.now())))
        tail.progress_row = self._new_id()
        self._queue(
            LogRow(tail.progress_row, log.tenant, log.run, LogKind.PROGRESS.value, log.step, log.attempt, 0, 0, data)
        )
        return len(data)

    def _cleaner(self, log: AttemptLog) -> Callable[[bytes], bytes]:
        redactor = self._redactors.get(log.tenant)
        cleaners = [*([] if redactor is None else [redactor.json]), *log.cleaners]
        if log.texts is not None:
            cleaners.append(log.texts())
        return partial(_clean, cleaners) if cleaners else _same

    def _queue(self, row: LogRow) -> None:
        self._rows.append(row)
        self._bytes += len(row.data)
        while self._bytes > QUEUE_BYTES:
            self._bytes -= len(self._rows.popleft().data)

    def _flush_if_any(self) -> None:
        self.is_waiting = bool(self._rows or self._dropped)
        if self.is_waiting:
            self._wake()

    # -- the committer

    def take(self, size: int) -> tuple[list[LogRow], list[bytes]]:
        """Remove and return the rows of the next flush, about `size` bytes, and the ids of rows to drop."""
        with self._lock:
            taken: list[LogRow] = []
            while self._rows and size > 0:
                row = self._rows.popleft()
                size -= len(row.data)
                self._bytes -= len(row.data)
                taken.append(row)
            if self._rows:
                return taken, []  # a row to drop may still wait here
            dropped, self._dropped = self._dropped, []
            self.is_waiting = False
            if dropped and taken:
                gone = set(dropped)
                taken = [row for row in taken if row.id not in gone]
            return taken, dropped

    def put_back(self, rows: list[LogRow], dropped: list[bytes]) -> None:
        """Queue rows again whose flush wrote nothing."""
        with self._lock:
            self._rows.extendleft(reversed(rows))
            self._bytes += sum(len(row.data) for row in rows)
            self._dropped[:0] = dropped
            self.is_waiting = True

    def lose(self, rows: list[LogRow], reason: str) -> None:
        """Report rows that the database rejects."""
        emit("engine.error", where="step logs", error=f"{len(rows)} rows of step logs are lost: {reason}")

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()


def _encoded(at: int, level: int, logger: str, text: str, facts: dict[str, Any] | None) -> bytes:
    """Return a line as JSON. Facts that are too large, or have a number that JSON has not, are left out."""
    if facts:
        with suppress(OverflowError, ValueError, TypeError):
            line = _encode((at, level, logger, text, facts))
            if len(line) <= ROW_BYTES:
                return line
    return _encode((at, level, logger, text))


def _clean(cleaners: Sequence[Callable[[bytes], bytes]], line: bytes) -> bytes:
    for clean in cleaners:
        line = clean(line)
    return line


def _same(line: bytes) -> bytes:
    return line
