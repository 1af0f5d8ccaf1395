"""Log events: one line each, JSON for machines or coloured text for people, or through the logging of a program.

A program of Detent's own (`serve`, `worker`, `dev`) writes to standard error. Inside another program, a node logs
through `logging`, to loggers whose names begin with `detent.`, and has no handlers of its own.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import structlog

from detent.ids import show
from detent.observe import cleaners, listen

#: The events that are logged, with their level. The others are for feeds and progress.
LEVELS: Final = {
    "engine.started": "info",
    "engine.stopped": "info",
    "engine.lost": "warning",
    "engine.error": "warning",
    "node.taken_over": "warning",
    "run.failed": "error",
    "run.paused": "warning",
    "approval.escalated": "warning",
    "approval.reminder": "warning",
    "step.retry": "warning",
    "step.raised": "warning",
    "action.logged": "info",
    "step.blocked": "warning",
    "run.refused": "error",
    "run.quarantined": "error",
    "run.move_refused": "warning",
    "function.not_awaited": "warning",
    "retention.pruned": "info",
    "blobs.swept": "info",
    "credential.not_renewed": "warning",
    "credential.refused": "warning",
    "outbox.refused": "warning",
    "auth.provider_failed": "warning",
    "api.failed": "error",
}


def log_events(format_: str, *, troubles_only: bool = False, step_logs: str = "info") -> Callable[[], None]:
    """Write events to standard error from now on, and the records of plain `logging` calls that no handler takes.
    Return a function that stops it.

    If the program has not set up `logging`, records of the level `step_logs` are made, so that those of steps are
    stored."""
    people = sys.stderr.isatty() if format_ == "auto" else format_ == "console"
    renderer: Any = structlog.dev.ConsoleRenderer() if people else structlog.processors.JSONRenderer()
    logger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
    )

    def write(name: str, facts: dict[str, Any]) -> None:
        level = LEVELS.get(name) and facts.get("level", LEVELS[name])  # a line of an action has its own
        if level is not None and not (troubles_only and level in ("info", "debug")):
            written = {key: _plain(key, value) for key, value in facts.items() if key != "level"}
            if people and "traceback" in written:
                written["stack"] = _lines(written.pop("traceback"))  # what the renderer prints below the line
            getattr(logger, level)(name, **written)

    stop_events = listen(write)
    stop_records = _take_records(_Records(logger, is_for_people=people, troubles_only=troubles_only), step_logs)

    def stop() -> None:
        stop_events()
        stop_records()

    return stop


class _Records(logging.Handler):
    """Writes log records that no other handler takes: of a step from INFO on, others from WARNING on."""

    def __init__(self, logger: Any, *, is_for_people: bool, troubles_only: bool) -> None:
        super().__init__(logging.INFO)
        self._logger = logger
        self._is_for_people = is_for_people
        self._troubles_only = troubles_only

    def emit(self, record: logging.LogRecord) -> None:
        of_step = {name: getattr(record, f"detent_{name}") for name in _PLACE if hasattr(record, f"detent_{name}")}
        if record.levelno < logging.WARNING and (self._troubles_only or not of_step):
            return
        with suppress(Exception):  # a record that cannot be written must not raise in the code that logs
            written = {"logger": record.name, **of_step}
            if record.exc_info and record.exc_info[0] is not None:
                traced = _cleaned("".join(traceback.format_exception(*record.exc_info)))
                written["stack" if self._is_for_people else "traceback"] = _lines(traced)
            level = next(name for least, name in _STEPS_OF_LEVEL if record.levelno >= least)
            getattr(self._logger, level)(_cleaned(record.getMessage()), **written)


_PLACE: Final = ("run", "step", "attempt")
_STEPS_OF_LEVEL: Final = ((logging.ERROR, "error"), (logging.WARNING, "warning"), (0, "info"))


def _take_records(handler: logging.Handler, step_logs: str) -> Callable[[], None]:
    """Use a handler for records that no other handler takes. Return a function that stops it."""
    root, before = logging.getLogger(), logging.lastResort
    level, wanted = root.level, logging.getLevelNamesMapping().get(step_logs.upper())
    logging.lastResort = handler
    if wanted is not None and not root.handlers and level == logging.WARNING:
        root.setLevel(min(level, wanted))

    def stop() -> None:
        logging.lastResort = before
        if not root.handlers:
            root.setLevel(level)

    return stop


def log_through_logging() -> Callable[[], None]:
    """Log events through `logging` from now on. Return a function that stops it."""

    def write(name: str, facts: dict[str, Any]) -> None:
        level = LEVELS.get(name) and facts.get("level", LEVELS[name])
        if level is None:
            return
        number, logger = getattr(logging, level.upper()), logging.getLogger(f"detent.{name.partition('.')[0]}")
        if not logger.isEnabledFor(number):
            return
        written = {key: _plain(key, value) for key, value in facts.items() if key != "level"}
        traced = written.pop("traceback", None)
        words = " ".join(f"{key}={value}" for key, value in written.items())
        text = f"{name} {words}".rstrip() + (f"\n{_lines(traced)}" if traced else "")
        logger.log(number, "%s", text, extra={"detent_event": name, "detent_facts": written})

    return listen(write)


def _plain(key: str, value: Any) -> Any:
    """Return a fact as people see it elsewhere: an id with the prefix of its kind."""
    return show(key, value) if isinstance(value, bytes) else _cleaned(value) if cleaners else value


def _cleaned(value: Any) -> Any:
    """Return a fact without the values of secrets."""
    if isinstance(value, str):
        for clean in cleaners:
            value = clean(value)
        return value
    if isinstance(value, dict):
        return {_cleaned(name): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value


def _lines(text: str) -> str:
    """Return the lines of a text without what could move the cursor."""
    return "\n".join("".join(filter(str.isprintable, line)) for line in text.rstrip().splitlines())
