"""What goes wrong in the code of workflows, told as events: the journal has it too, but nobody looks there unasked."""

from __future__ import annotations

from typing import Any, Final

from detent.observe import emit
from detent.run.journal import Entry, Kind, decode_data
from detent.run.outcomes import StepError
from detent.run.status import Status
from detent.store.rows import End

#: The entries of an attempt after which its step is tried again.
_AGAIN: Final = (Kind.RETRY, Kind.BEGAN)
#: Of a traceback its end is told: that names the place.
_LONGEST: Final = 2_000


def tell_trouble(run: bytes, entry: Entry) -> None:
    """Tell that a step paused its run, or that its attempt failed and is repeated. Other entries are not even read."""
    if entry.step is None or not (entry.kind == Kind.PAUSED or entry.kind in _AGAIN):
        return
    data = decode_data(entry.data)
    if entry.kind == Kind.PAUSED:
        facts = {"reason": data.by, **_error(data.error)}
        emit("run.paused", run=run, step=entry.step, attempt=entry.attempt, **facts)
    elif data.error is not None:
        emit("step.again", run=run, step=entry.step, attempt=entry.attempt, error=data.error.message)


def tell_end(end: End) -> None:
    """Tell that a run has ended, and louder that it failed."""
    emit("run.ended", run=end.run, status=end.status)
    if end.status in (Status.FAILED, Status.TIMEOUT):
        emit("run.failed", run=end.run, status=end.status, error=end.error)


def _error(error: StepError | None) -> dict[str, Any]:
    if error is None:
        return {}
    detail = error.detail.get("traceback") if isinstance(error.detail, dict) else error.detail
    trace = {"traceback": detail[-_LONGEST:]} if isinstance(detail, str) else {}
    return {"error": error.message, **trace}
