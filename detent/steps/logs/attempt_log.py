"""The log of the attempt that runs here, and how plain `logging` calls find it.

The attempt is in a context variable, so the tasks and threads that its code starts with a copied context have it too.
While an engine runs, a factory of log records adds run, step and attempt to every record of an attempt, and passes
its text to the attempt's log. Handlers, filters and levels stay those of the application.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol

from detent.ids import RUN, show
from detent.values.text import UNSHOWN, plain_text

#: A longer line is cut.
LONGEST_LINE: Final = 4_000
#: The beginning of the names of Detent's own loggers. What they say of an attempt is not part of its log.
OWN: Final = "detent."
#: A level above every other: nothing is stored.
OFF: Final = 1_000
LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def level_name(level: int) -> str:
    """Return the name of the level of a line."""
    return next((name for name, number in reversed(LEVELS.items()) if level >= number), "debug")


class LineSink(Protocol):
    """Where the lines of attempts go. It may be called in any thread."""

    level: int  # lines below it are not stored

    def add(self, log: AttemptLog, level: int, logger: str, text: str, facts: dict[str, Any] | None) -> None:
        """Store a line with its attempt."""

    def progress(self, log: AttemptLog, fraction: float, text: str) -> None:
        """Show how far the attempt is."""

    def end(self, log: AttemptLog) -> None:
        """Store the last lines of an attempt, on the loop."""


class AttemptLog:
    """The log of one attempt. It costs nothing until the attempt logs its first line: `tail` is its sink's own.

    It takes no line while it `is_replaying`, when a durable function repeats what it did before, and if it
    `is_muted`, because the results of its step are sealed."""

    __slots__ = (
        "attempt",
        "cleaners",
        "is_muted",
        "is_over",
        "is_replaying",
        "run",
        "sink",
        "step",
        "tail",
        "tenant",
        "texts",
    )

    def __init__(self, sink: LineSink, run: bytes, tenant: int, step: str, attempt: int) -> None:
        self.sink = sink
        self.run = run
        self.tenant = tenant
        self.step = step
        self.attempt = attempt
        self.is_muted = False
        self.is_replaying = False
        self.is_over = False
        self.tail: Any = None
        #: What cleans a line, beside the secrets of its tenant.
        self.cleaners: tuple[Callable[[bytes], bytes], ...] = ()
        #: Returns what cleans a line of the results of sensitive steps, if the run has some.
        self.texts: Callable[[], Callable[[bytes], bytes]] | None = None

    def of_step(self, step: str, attempt: int) -> AttemptLog:
        """Return the log of a step of this durable function."""
        log = AttemptLog(self.sink, self.run, self.tenant, step, attempt)
        log.texts = self.texts
        log.is_muted = self.is_muted
        return log

    def wants(self, level: int) -> bool:
        """Return whether a line of this level is stored."""
        return level >= self.sink.level and not (self.is_muted or self.is_replaying or self.is_over)

    def write(self, level: int, logger: str, text: str, facts: dict[str, Any] | None = None) -> None:
        """Store a line."""
        if self.wants(level):
            self.sink.add(self, level, logger, plain_text(text, LONGEST_LINE), facts)

    def progress(self, fraction: float, text: str = "") -> None:
        """Show how far the attempt is: from 0 to 1, with a few words. Only the latest is shown."""
        if not (self.is_muted or self.is_replaying or self.is_over):
            self.sink.progress(self, share_of(fraction), plain_text(text, LONGEST_LINE))

    def clean_with(self, clean: Callable[[bytes], bytes]) -> None:
        """Clean every line with this, too, before it is stored."""
        self.cleaners = (*self.cleaners, clean)

    def end(self) -> None:
        """Take no more lines, and store those that wait."""
        self.is_over = True
        if self.tail is not None:
            self.sink.end(self)


def share_of(fraction: float) -> float:
    """Return a number from 0 to 1."""
    share = float(fraction)
    return min(1.0, max(0.0, share)) if share == share else 0.0


class CurrentLog(Protocol):
    """The log of the attempt whose code runs: an `AttemptLog`, or that of a process of its own."""

    run: bytes
    step: str
    attempt: int
    is_replaying: bool

    def wants(self, level: int) -> bool:
        """Return whether a line of this level is stored."""

    def write(self, level: int, logger: str, text: str, facts: dict[str, Any] | None = None) -> None:
        """Store a line."""

    def progress(self, fraction: float, text: str = "") -> None:
        """Show how far the attempt is."""

    def clean_with(self, clean: Callable[[bytes], bytes]) -> None:
        """Clean every line with this, too, before it is stored."""


#: The log of the attempt whose code runs; None outside of an attempt.
current_log: Final[ContextVar[CurrentLog | None]] = ContextVar("detent_attempt_log", default=None)


def text_of(record: logging.LogRecord) -> str:
    """Return the message of a record, with the end of its traceback. Never raise."""
    try:
        text = record.getMessage()
    except BaseException:  # noqa: BLE001 - `str()` of a user's value may raise anything
        text = plain_text(record.msg, LONGEST_LINE)
    if record.exc_info and record.exc_info[0] is not None:
        text = f"{text[: LONGEST_LINE // 4]}\n{_traced(record.exc_info)}"
    return text


def _traced(exc_info: Any) -> str:
    try:
        return "".join(traceback.format_exception(*exc_info)).rstrip()[-(LONGEST_LINE * 3 // 4 - 1) :]
    except BaseException:  # noqa: BLE001 - likewise
        return UNSHOWN


# The factory of records. Engines of one process share it: it is put in place with the first and removed with the last.


class _Factory:
    """Makes log records as the factory before it did, and passes those of attempts on."""

    def __init__(self, before: Callable[..., logging.LogRecord]) -> None:
        self.before = before

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self.before(*args, **kwargs)
        log = current_log.get()
        if log is not None:
            record.detent_run = show(RUN, log.run)
            record.detent_step = log.step
            record.detent_attempt = log.attempt
            if log.wants(record.levelno) and not str(record.name).startswith(OWN):
                log.write(record.levelno, str(record.name), text_of(record))
        return record


_lock: Final = threading.Lock()
_users = 0


def hear_logging() -> Callable[[], None]:
    """Pass records of plain `logging` calls on to the log of their attempt. Return a function that stops it."""
    global _users  # noqa: PLW0603 - there is one factory per process
    with _lock:
        _users += 1
        if _users == 1:
            logging.setLogRecordFactory(_Factory(logging.getLogRecordFactory()))
    return _stop_hearing


def _stop_hearing() -> None:
    global _users  # noqa: PLW0603 - as above
    with _lock:
        _users = max(0, _users - 1)
        factory = logging.getLogRecordFactory()
        # If the application has put another factory around ours, it stays: without attempts it does nothing.
        if _users == 0 and isinstance(factory, _Factory):
            logging.setLogRecordFactory(factory.before)
