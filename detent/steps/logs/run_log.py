"""The loggers that steps get: `self.log` of a class, `run.log` of a durable function."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, Final

from detent.observe import cleaners
from detent.steps.logs.attempt_log import CurrentLog, text_of

workflow_logger: Final = logging.getLogger("detent.workflow")
function_logger: Final = logging.getLogger("detent.function")


def _redact(record: logging.LogRecord) -> bool:
    """Replace the values of secrets in a record. Handlers get its message as one text then."""
    for clean in cleaners:
        message = record.getMessage()
        if (shown := clean(message)) != message:
            record.msg, record.args = shown, ()
        if record.exc_info and record.exc_info[0] is not None:
            traced = "".join(traceback.format_exception(*record.exc_info))
            if (shown := clean(traced)) != traced:
                record.exc_info, record.exc_text = None, shown.rstrip("\n")
    return True


workflow_logger.addFilter(_redact)
function_logger.addFilter(_redact)


class RunLog(logging.LoggerAdapter[logging.Logger]):
    """Adds the run, step and attempt to every record, and stores its line with the attempt.

    The level of the logger decides what the handlers of the application get, and DETENT_STEP_LOGS what is stored."""

    def __init__(self, logger: logging.Logger, extra: dict[str, Any], attempt_log: CurrentLog | None) -> None:
        super().__init__(logger, extra)
        self._attempt_log = attempt_log

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - of `logging`
        stored = self._attempt_log
        return self.logger.isEnabledFor(level) or (stored is not None and stored.wants(level))

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        stored = self._attempt_log
        if stored is not None:
            if stored.is_replaying:
                return
            if stored.wants(level):
                stored.write(level, self.logger.name, text_of(self._record(level, msg, args, kwargs.get("exc_info"))))
        if self.logger.isEnabledFor(level):
            msg, kwargs = self.process(msg, kwargs)
            kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
            self.logger.log(level, msg, *args, **kwargs)

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs

    def _record(self, level: int, msg: object, args: Any, exc_info: Any) -> logging.LogRecord:
        if isinstance(exc_info, BaseException):
            exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
        elif exc_info and not isinstance(exc_info, tuple):
            exc_info = sys.exc_info()
        return logging.LogRecord(self.logger.name, level, "", 0, msg, args, exc_info or None)
