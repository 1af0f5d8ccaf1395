"""What the engine reports as events: failures in the code of workflows, and the ends of runs."""

from __future__ import annotations

from typing import Any, Final

from detent.graph.model import Ending
from detent.observe import emit
from detent.run.journal import Entry, Kind, decode_data
from detent.run.outcomes import StepError
from detent.run.status import Status
from detent.store.rows import End

#: The entries of an attempt after which its step is retried.
_AGAIN: Final = (Kind.RETRY, Kind.BEGAN)
#: The entries of a step that is over, of an operation of a durable function, and of a run that its code cancelled.
_OVER: Final = (Kind.ENDED, Kind.CHECKPOINT, Kind.CANCELLED)
#: Only the end of a traceback is reported, because it shows where the error was raised.
_LONGEST: Final = 2_000


def emit_trouble(run: bytes, entry: Entry) -> None:
    """Report that a step paused its run, that its attempt failed and is retried, or that its code raised and is over.

    Other entries are not decoded.
    """
    is_over = entry.kind in _OVER and entry.outcome != Ending.SUCCESS
    if entry.step is None or not (is_over or entry.kind == Kind.PAUSED or entry.kind in _AGAIN):
        return
    data = decode_data(entry.data)
    facts = {"step": entry.step, "attempt": entry.attempt, **_error(data.error)}
    if entry.kind == Kind.PAUSED:
        emit("run.paused", run=run, reason=data.by, **facts)
    elif is_over and "traceback" in facts:
        emit("step.raised", run=run, outcome=entry.outcome, **facts)
    elif not is_over and data.error is not None:
        emit("step.retry", run=run, **facts)


def emit_end(end: End) -> None:
    """Report that a run has ended. Report a failure as an event of its own too."""
    emit("run.ended", run=end.run, status=end.status)
    if end.status in (Status.FAILED, Status.TIMEOUT):
        emit("run.failed", run=end.run, status=end.status, error=end.error)


def _error(error: StepError | None) -> dict[str, Any]:
    if error is None:
        return {}
    trace = {} if error.traceback is None else {"traceback": error.traceback[-_LONGEST:]}
    return {"error": error.message, **trace}
