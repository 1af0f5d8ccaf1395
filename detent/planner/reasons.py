"""Why one step does not go on, as a value and as a sentence for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from detent.instant import SECOND, Instant, iso
from detent.planner.advance import is_careful, may_start
from detent.planner.prepared import Prepared
from detent.run.state import Phase, RunState


class ReasonKind(StrEnum):
    """What holds a run up. Those that block stand first, in this order. `limit` is kept for runs that wait for a slot
    of a limit which others hold."""

    ENDED = "ended"
    NOT_STARTED = "not_started"
    PAUSED = "paused"
    UNCERTAIN = "uncertain"
    READY = "ready"
    CALLBACK = "callback"
    SIGNAL = "signal"
    CHILD = "child"
    RETRY = "retry"
    SLEEP = "sleep"
    RUNNING = "running"
    NEEDS = "needs"


@dataclass(frozen=True, slots=True)
class Reason:
    """One link of the chain. `message` is whole sentences; `details` are JSON values, by kind:

    `retry` attempt, attempts, retry, retries, last_error · `running`, `uncertain` attempt · `paused` by ·
    `needs` waits_for, held_up_by, or more (steps that are left out) · `ended` status."""

    kind: ReasonKind
    message: str
    step: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Seen:
    """A run at one moment. `owned`: whether a node has it; a step that may start is then running."""

    def __init__(self, prepared: Prepared, state: RunState, now: Instant, *, owned: bool) -> None:
        self.prepared, self.state, self.now, self.owned = prepared, state, now, owned
        self.startable = frozenset(may_start(state))

    def name(self, index: int) -> str:
        return self.prepared.steps[index].name

    def is_due(self, index: int) -> bool:
        until = self.state.until.get(index)
        return until is not None and until <= self.now

    def kind(self, index: int) -> ReasonKind:
        """What holds up a step that is decided to run."""
        match self.state.phase[index]:
            case Phase.SLEEPING:
                return ReasonKind.SLEEP
            case Phase.WAITING:
                return ReasonKind.CALLBACK
            case Phase.UNCERTAIN:
                return ReasonKind.UNCERTAIN
            case Phase.RUNNING:
                return ReasonKind.RUNNING
            case Phase.RETRYING if not self.is_due(index):
                return ReasonKind.RETRY if self.state.attempt_number(index) > 1 else ReasonKind.SLEEP
            case Phase.RETRYING:
                # Waking it writes nothing: a state that was read back does not know whether that was done.
                return ReasonKind.RUNNING if self.owned and self.state.paused_by is None else ReasonKind.READY
            case _:
                return ReasonKind.RUNNING if self.owned and index in self.startable else ReasonKind.READY

    def reason(self, kind: ReasonKind, index: int, message: str, **given: Any) -> Reason:
        return Reason(kind, message, **{"step": self.name(index), "since": self.state.since[index], **given})


def reason_of(seen: Seen, index: int) -> Reason:
    """What holds up a step that is decided to run."""
    return _REASONS[seen.kind(index)](seen, index)


def _callback(seen: Seen, index: int) -> Reason:
    until, expires, name = seen.state.until.get(index), seen.state.facts.expires_at, seen.name(index)
    if until is None:
        until = expires  # a wait without a limit of its own ends with its run
    elif expires is not None:
        until = min(until, expires)
    if until is None:
        message = f"Step '{name}' waits for its callback, without a time limit."
    elif until > seen.now:
        message = f"Step '{name}' waits for its callback until {when(until, seen.now)}."
    else:
        message = f"Step '{name}' got no callback until {when(until, seen.now)}, and {by_whom(owned=seen.owned)}."
    return seen.reason(ReasonKind.CALLBACK, index, message, until=until)


def _sleep(seen: Seen, index: int) -> Reason:
    until, name = seen.state.until.get(index), seen.name(index)
    assert until is not None
    if seen.is_due(index):
        message = f"Step '{name}' has slept until {when(until, seen.now)}, and {by_whom(owned=seen.owned)}."
    elif seen.state.phase[index] is Phase.RETRYING:
        message = f"Step '{name}' begins after its delay, at {when(until, seen.now)}."
    else:
        message = f"Step '{name}' sleeps until {when(until, seen.now)}."
    return seen.reason(ReasonKind.SLEEP, index, message, until=until)


def _retry(seen: Seen, index: int) -> Reason:
    until, error = seen.state.until.get(index), seen.state.errors.get(index)
    assert until is not None
    attempt, attempts = seen.state.attempt_number(index), seen.prepared.graph.steps[index].retry.attempts
    failed = "" if error is None else "failed and "
    message = f"Step '{seen.name(index)}' {failed}is tried again at {when(until, seen.now)}: "
    # Its own code or a person may have it tried more often than its policy says.
    message += f"retry {attempt - 1} of {attempts - 1}." if attempt <= attempts else f"attempt {attempt}."
    if error is not None:
        message += f" Last error: {sentence(error.message)}"
    details = {
        "attempt": attempt,
        "attempts": attempts,
        "retry": attempt - 1,
        "retries": attempts - 1,
        "last_error": error and {"code": error.code, "message": error.message},
    }
    return seen.reason(ReasonKind.RETRY, index, message, until=until, details=details)


def _running(seen: Seen, index: int) -> Reason:
    state = seen.state
    # A later attempt began when its time came; that is forgotten once it is taken.
    since = state.until.get(index) if state.attempts[index] else state.since[index]
    attempt = state.attempt_number(index)
    at = "" if since is None else f", since {when(since, seen.now)}"
    message = f"Step '{seen.name(index)}' is running: attempt {attempt}{at}."
    return seen.reason(ReasonKind.RUNNING, index, message, since=since, details={"attempt": attempt})


def _ready(seen: Seen, index: int) -> Reason:
    state, name = seen.state, seen.name(index)
    if state.paused_by is not None:
        message = f"Step '{name}' is ready, and starts when the run is resumed."
    elif is_careful(state) and index in state.ready and index not in seen.startable:
        message = (
            f"Step '{name}' is ready, but the run lost its node {state.stalled} times without getting on: "
            "its steps start one at a time, and another one goes first."
        )
    else:
        message = f"Step '{name}' is ready, and no node has taken the run yet."
    return seen.reason(ReasonKind.READY, index, message)


def _uncertain(seen: Seen, index: int) -> Reason:
    attempt = seen.state.doubts[index]
    message = (
        f"Nobody knows whether step '{seen.name(index)}' happened: its node died during attempt {attempt}. "
        "Say whether it did, or resume the run to try it again."
    )
    return seen.reason(ReasonKind.UNCERTAIN, index, message, since=seen.state.paused_at, details={"attempt": attempt})


_REASONS: Final[Mapping[ReasonKind, Callable[[Seen, int], Reason]]] = {
    ReasonKind.CALLBACK: _callback,
    ReasonKind.SLEEP: _sleep,
    ReasonKind.RETRY: _retry,
    ReasonKind.RUNNING: _running,
    ReasonKind.READY: _ready,
    ReasonKind.UNCERTAIN: _uncertain,
}


def by_whom(*, owned: bool) -> str:
    """Who is to do what is due."""
    return "its node is about to go on with it" if owned else "no node has taken the run yet"


def when(at: Instant, now: Instant) -> str:
    """An instant, and how far away it is."""
    return f"{iso(at)} (in {_span(at - now)})" if at > now else f"{iso(at)} ({_span(now - at)} ago)"


def sentence(text: str) -> str:
    """The text with its full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _span(length: int) -> str:
    """A length of time in its two largest units."""
    minutes, seconds = divmod(length // SECOND, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"))
    shown = [f"{count}{unit}" for count, unit in parts if count]
    return " ".join(shown[:2]) or "less than 1s"
