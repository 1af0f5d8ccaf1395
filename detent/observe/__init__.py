"""One `emit` for named events; logs, feeds and progress only listen.

`EVENTS` is the public list. Engine code formats nothing and counts nothing. A listener must be fast and must not raise.
A listener that raises is removed; the engine's work continues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Listener = Callable[[str, dict[str, Any]], None]

EVENTS: Final[dict[str, str]] = {
    "engine.started": "an engine has registered as a node",
    "engine.lost": "a node lost its lease and registers again",
    "engine.stopped": "an engine has drained and left",
    "engine.error": "a background loop met an error and continues",
    "run.started": "a run was accepted and is durable",
    "run.ended": "a run has ended",
    "run.failed": "a run has failed or ran out of time, with its error",
    "run.paused": "a step paused its run, with its error and the end of the traceback",
    "approval.counted": "one decision of several about an approval was counted",
    "approval.escalated": "an approval waits so long that others may decide it too",
    "approval.reminder": "an approval still waits for a decision, with the number of the reminder",
    "step.retry": "an attempt of a step failed and is retried, with the end of the traceback of an exception",
    "step.raised": "the code of a step raised and the step is over, with its error and the end of the traceback",
    "step.progress": "an action reports how far its attempt is, as a fraction and a text",
    "action.logged": "an action logs a line, with its own level, for the attempt of a step",
    "wait.opened": "a wait is durable; its callback URL takes an answer from now on",
    "step.blocked": "a step blocked the event loop of its node for more than a second, with the line of its code",
    "run.adopted": "a run was taken from a node that is gone",
    "run.refused": "a run's entry could not be written and the run was failed",
    "run.quarantined": "a run that could not be planned or read was paused, with the reason in its journal",
    "run.move_refused": "a run could not be moved to another version, with the reason in its journal",
    "entry.written": "a journal entry is durable",
    "function.history_long": "the record of a durable function is getting long; it should continue as a new run",
    "function.not_awaited": "a durable function ended without awaiting operations that it began; an `await` is missing",
    "flush.sent": "a group commit is durable",
    "flush.repeated": "a group commit whose result was unknown was sent again under a new epoch",
    "flush.refused": "a group commit of a node that is gone was refused; nothing of it was written",
    "node.taken_over": "this engine removed a node whose lease had expired",
    "retention.pruned": "old runs were deleted",
    "blobs.swept": "large payloads that no run names were deleted",
    "credential.renewed": "the tokens of a credential were renewed",
    "credential.not_renewed": "a provider issued no token now; a later attempt may help",
    "credential.refused": "a provider refused the grant of a credential; a person must connect it again",
    "outbox.refused": "a start in an application's outbox cannot be started; its row has the error",
    "auth.provider_failed": "a document of the identity provider cannot be read; the old one is used for a day at most",
    "api.failed": "a request failed because of an internal error of Detent",
}

_listeners: list[Listener] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Call `listener` for every event from now on. Return a function that stops it."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop


def heard() -> bool:
    """Return whether there is a listener, so that the hot path can skip building the facts."""
    return bool(_listeners)


def emit(name: str, **facts: Any) -> None:
    """Call every listener with the event."""
    for listener in list(_listeners):
        try:
            listener(name, facts)
        except Exception:  # noqa: BLE001 - a broken listener must not break the engine
            _listeners.remove(listener)


#: What cleans the texts of log lines. A process that knows secrets adds one.
cleaners: Final[list[Callable[[str], str]]] = []


def redact_logs(clean: Callable[[str], str]) -> Callable[[], None]:
    """Clean every text of a log line from now on. Return a function that stops it."""
    cleaners.append(clean)

    def stop() -> None:
        cleaners.remove(clean)

    return stop
