"""One `emit`, named events; logs, metrics and progress only listen.

`EVENTS` is the public list. Engine code formats nothing and counts nothing. A listener must be quick and must not
raise; one that raises is dropped, never the engine's work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Listener = Callable[[str, dict[str, Any]], None]

EVENTS: Final[dict[str, str]] = {
    "engine.started": "an engine has registered as a node",
    "engine.lost": "a node lost its lease and registers again",
    "engine.stopped": "an engine has drained and left",
    "engine.error": "a background loop met an error and goes on",
    "run.started": "a run was accepted and is durable",
    "run.ended": "a run has ended",
    "run.failed": "a run has failed or ran out of time, with its error",
    "run.paused": "a step paused its run, with its error and the end of the traceback",
    "step.retry": "an attempt of a step failed, and it is tried again; with the end of the traceback of an exception",
    "step.raised": "the code of a step raised, and the step is over; with its error and the end of the traceback",
    "run.adopted": "a run was taken from a node that is gone",
    "run.refused": "a run's entry could not be written and the run was failed",
    "run.quarantined": "a run that could not be planned or read was paused, with the reason in its journal",
    "entry.written": "a journal entry is durable",
    "function.history_long": "the record of a durable function is getting long; it should go on as a new run",
    "function.not_awaited": "a durable function ended without awaiting operations that it began; an `await` is missing",
    "flush.sent": "a group commit is durable",
    "flush.repeated": "a group commit of unknown fate was sent again under a new epoch",
    "flush.refused": "a group commit of a node that is gone was refused; nothing of it was written",
    "node.taken_over": "this engine removed a node whose lease was over",
    "retention.pruned": "old runs were deleted",
    "outbox.refused": "a start that waited in an application's database cannot be started, and says why there",
    "api.failed": "a request met an error of Detent's own",
}

_listeners: list[Listener] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Hear every event from now on; call what is returned to stop."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop


def heard() -> bool:
    """Whether anybody listens: lets the hot path skip building the facts."""
    return bool(_listeners)


def emit(name: str, **facts: Any) -> None:
    """Tell every listener."""
    for listener in list(_listeners):
        try:
            listener(name, facts)
        except Exception:  # noqa: BLE001 - a broken listener must not break the engine
            _listeners.remove(listener)
