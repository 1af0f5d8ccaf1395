"""Log events: one line each, JSON for machines or coloured text for people."""

from __future__ import annotations

import sys
from collections.abc import Callable
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
    "step.retry": "warning",
    "step.raised": "warning",
    "action.logged": "info",
    "run.refused": "error",
    "run.quarantined": "error",
    "run.move_refused": "warning",
    "function.not_awaited": "warning",
    "retention.pruned": "info",
    "credential.not_renewed": "warning",
    "credential.refused": "warning",
    "outbox.refused": "warning",
    "auth.provider_failed": "warning",
    "api.failed": "error",
}


def log_events(format_: str, *, troubles_only: bool = False) -> Callable[[], None]:
    """Write events to standard error from now on. Return a function that stops it."""
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
