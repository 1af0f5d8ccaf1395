"""Why a run does not continue: the chain of reasons, from what really blocks it to the steps that wait for that.

It uses the state and the predicates with which the planner decides, so that it cannot contradict what the engine will
do. The surroundings of the run (such as whether a live node serves its queue) are not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from typing import Any, Final

from detent.instant import SECOND, Instant, iso
from detent.planner.advance import may_start
from detent.planner.functions import function_of
from detent.planner.maps import counts_of
from detent.planner.prepared import Prepared
from detent.planner.run_end import unhandled
from detent.planner.suspects import UNCERTAIN, waits_as_suspect
from detent.run.call import Op, op_of
from detent.run.state import Operation, Phase, RunState
from detent.run.status import Status

__all__ = ["LONGEST", "Reason", "ReasonKind", "why"]

# Why one step does not continue, as a value and as a sentence for users.


class ReasonKind(StrEnum):
    """What blocks a run. The list of reasons is sorted in this order.

    `limit` is reserved for runs that wait for a slot of a limit which other runs use.
    """

    ENDED = "ended"
    NOT_STARTED = "not_started"
    PAUSED = "paused"
    UNCERTAIN = "uncertain"
    PROBE = "probe"
    READY = "ready"
    CALLBACK = "callback"
    SIGNAL = "signal"
    CHILD = "child"
    RETRY = "retry"
    SLEEP = "sleep"
    SUSPECT = "suspect"
    RUNNING = "running"
    NEEDS = "needs"


@dataclass(frozen=True, slots=True)
class Reason:
    """One link of the chain. `message` has whole sentences. `details` has JSON values, by kind:

    `retry` attempt, attempts, retry, retries, last_error · `running`, `uncertain` attempt · `paused` by ·
    `probe` attempt (the one in doubt), action, tries, last_error ·
    `child` run_id ·
    `suspect` attempt, adoptions, strikes, waits_for ("delay" or "turn") ·
    `child` run_id, or of a map count, succeeded, failed, pages, pages_ended, open ·
    `needs` waits_for, blocked_by, or more (number of steps that are not listed) · `ended` status."""

    kind: ReasonKind
    message: str
    step: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Seen:
    """A run at one moment. `owned`: a node owns the run, so a step that may start is running."""

    def __init__(self, prepared: Prepared, state: RunState, now: Instant, *, owned: bool) -> None:
        self.prepared, self.state, self.now, self.owned = prepared, state, now, owned
        self.startable = frozenset(may_start(state))

    def name(self, index: int) -> str:
        return self.prepared.steps[index].name

    def is_due(self, index: int) -> bool:
        until = self.state.until.get(index)
        return until is not None and until <= self.now

    def kind(self, index: int) -> ReasonKind:
        """Return what blocks a step that is decided to run."""
        match self.state.phase[index]:
            case Phase.CHILD:
                return ReasonKind.CHILD
            case _ if waits_as_suspect(self.state, index):
                return ReasonKind.SUSPECT
            case _ if index in self.state.probes:
                return ReasonKind.PROBE
            case _ if index in self.state.maps:
                return ReasonKind.CHILD
            case Phase.READY | Phase.RUNNING if index in self.state.child_of:
                return ReasonKind.CHILD
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
                # Waking a step writes no entry, so a folded state does not show whether the step was woken.
                return ReasonKind.RUNNING if self.owned and self.state.paused_by is None else ReasonKind.READY
            case _:
                return ReasonKind.RUNNING if self.owned and index in self.startable else ReasonKind.READY

    def does(self, index: int) -> str:
        """Return what a step does that is decided to run, in words."""
        kind = self.kind(index)
        is_decision = kind is ReasonKind.CALLBACK and self.prepared.steps[index].asks_people
        return "waits for a decision" if is_decision else _DOES[kind]

    def reason(self, kind: ReasonKind, index: int, message: str, **given: Any) -> Reason:
        return Reason(kind, message, **{"step": self.name(index), "since": self.state.since[index], **given})


def reason_of(seen: Seen, index: int) -> Reason:
    """Return the reason of a step that is decided to run."""
    return _REASONS[seen.kind(index)](seen, index)


def _callback(seen: Seen, index: int) -> Reason:
    until, expires, name = seen.state.until.get(index), seen.state.facts.expires_at, seen.name(index)
    if until is None:
        until = expires  # a wait without a limit of its own ends with its run
    elif expires is not None:
        until = min(until, expires)
    what = "a decision" if seen.prepared.steps[index].asks_people else "its callback"
    if until is None:
        message = f"Step '{name}' waits for {what}, without a time limit."
    elif until > seen.now:
        message = f"Step '{name}' waits for {what} until {when(until, seen.now)}."
    else:
        got = "no decision" if what == "a decision" else "no callback"
        message = f"Step '{name}' got {got} until {when(until, seen.now)}, and {by_whom(owned=seen.owned)}."
    return seen.reason(ReasonKind.CALLBACK, index, message, until=until)


def _child(seen: Seen, index: int) -> Reason:
    name, found = seen.name(index), seen.state.maps.get(index)
    if found is None:
        child = seen.state.child_of[index]
        at = f"running since {when(seen.state.since[index], seen.now)}"
        limit = "" if child.until is None else f", at most until {when(child.until, seen.now)}"
        message = f"Step '{name}' waits for its child {child.id} ({at}{limit})."
        return seen.reason(ReasonKind.CHILD, index, message, until=child.until, details={"run_id": child.id})
    pages, ended = ceil(found.count / found.size), len(found.pages) - len(found.open)
    done, failed = found.succeeded + found.failed, f" ({found.failed:,} failed)" if found.failed else ""
    message = (
        f"Step '{name}' runs for each item of its list: {ended:,} of {pages:,} pages, "
        f"{done:,} of {found.count:,} items have ended{failed}."
    )
    details = {**counts_of(found), "pages": pages, "pages_ended": ended, "open": list(found.open)}
    return seen.reason(ReasonKind.CHILD, index, message, details=details)


def _sleep(seen: Seen, index: int) -> Reason:
    until, name = seen.state.until.get(index), seen.name(index)
    assert until is not None
    if seen.is_due(index):
        message = f"Step '{name}' has slept until {when(until, seen.now)}, and {by_whom(owned=seen.owned)}."
    elif index in seen.state.looks:
        looks = seen.state.looks[index]
        times = "once" if looks == 1 else f"{looks} times"
        message = f"Step '{name}' has looked {times}, and looks again at {when(until, seen.now)}."
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
    # Its own code or a user may have asked for more attempts than its policy has.
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
    # A retry began at the time of its timer, which is unknown once the attempt is taken.
    since = state.until.get(index) if state.attempts[index] else state.since[index]
    attempt = state.attempt_number(index)
    at = "" if since is None else f", since {when(since, seen.now)}"
    message = f"Step '{seen.name(index)}' is running: attempt {attempt}{at}."
    return seen.reason(ReasonKind.RUNNING, index, message, since=since, details={"attempt": attempt})


def _ready(seen: Seen, index: int) -> Reason:
    state, name = seen.state, seen.name(index)
    if state.paused_by is not None:
        message = f"Step '{name}' is ready, and starts when the run is resumed."
    else:
        message = f"Step '{name}' is ready, and no node has taken the run yet."
    return seen.reason(ReasonKind.READY, index, message)


def _suspect(seen: Seen, index: int) -> Reason:
    state, name, until = seen.state, seen.name(index), seen.state.until.get(index)
    strikes, adoptions = state.strikes.get(index, 0), state.stalled
    times = "once" if strikes == 1 else f"{strikes} times"
    if strikes:
        message = f"Step '{name}' is suspect: its node died {times} while it was in flight."
    else:
        message = f"Step '{name}' is suspect: its run lost its node {adoptions} times without progress."
    if until is not None and until > seen.now:
        message += f" It starts after a delay, at {when(until, seen.now)}, when no other suspect attempt is in flight."
    elif seen.owned:
        message += " It waits for its turn: a node makes the attempts of suspect runs one at a time."
    else:
        message += " No node has taken the run yet."
    waits_for = "delay" if until is not None and until > seen.now else "turn"
    details = {
        "attempt": state.attempt_number(index),
        "adoptions": adoptions,
        "strikes": strikes,
        "waits_for": waits_for,
    }
    return seen.reason(ReasonKind.SUSPECT, index, message, until=until, details=details)


def _uncertain(seen: Seen, index: int) -> Reason:
    attempt, probe = seen.state.doubts[index], seen.prepared.graph.steps[index].probe
    message = f"It is unknown whether step '{seen.name(index)}' happened: its node died during attempt {attempt}. "
    if probe is None:
        message += "Resolve the step, or resume the run to try it again."
    else:
        message += f"Resolve the step, or resume the run to ask '{probe.action}' again."
    return seen.reason(ReasonKind.UNCERTAIN, index, message, since=seen.state.paused_at, details={"attempt": attempt})


def _probe(seen: Seen, index: int) -> Reason:
    """Explain a step that asks its probe after a crash."""
    state, name, probe = seen.state, seen.name(index), seen.prepared.graph.steps[index].probe
    assert probe is not None
    (attempt, tries), until, error = state.probes[index], state.until.get(index), state.errors.get(index)
    message = f"The node of step '{name}' died during attempt {attempt}. '{probe.action}' is asked whether it happened"
    if state.paused_by is not None:
        message += " when the run is resumed."
    elif until is not None and until > seen.now:
        message += f", again at {when(until, seen.now)}."
    else:
        message += "."
    if tries and error is not None:
        message += f" Its last answer: {sentence(error.message)}"
    last = {"code": error.code, "message": error.message} if tries and error is not None else None
    details = {"attempt": attempt, "action": probe.action, "tries": tries, "last_error": last}
    return seen.reason(ReasonKind.PROBE, index, message, until=until, details=details)


_REASONS: Final[Mapping[ReasonKind, Callable[[Seen, int], Reason]]] = {
    ReasonKind.CALLBACK: _callback,
    ReasonKind.CHILD: _child,
    ReasonKind.SLEEP: _sleep,
    ReasonKind.RETRY: _retry,
    ReasonKind.RUNNING: _running,
    ReasonKind.READY: _ready,
    ReasonKind.CHILD: _child,
    ReasonKind.SUSPECT: _suspect,
    ReasonKind.UNCERTAIN: _uncertain,
    ReasonKind.PROBE: _probe,
}


def by_whom(*, owned: bool) -> str:
    """Return which node has to continue a run that is due."""
    return "its node is about to continue it" if owned else "no node has taken the run yet"


def when(at: Instant, now: Instant) -> str:
    """Format an instant, and how far away it is."""
    return f"{iso(at)} (in {_span(at - now)})" if at > now else f"{iso(at)} ({_span(now - at)} ago)"


def sentence(text: str) -> str:
    """Return the text with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _span(length: int) -> str:
    """Format a duration in its two largest units."""
    minutes, seconds = divmod(length // SECOND, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"))
    shown = [f"{count}{unit}" for count, unit in parts if count]
    return " ".join(shown[:2]) or "less than 1s"


# Why a durable function does not continue: the operations that it has begun and waits for.


def operation_reasons(seen: Seen) -> list[Reason]:
    """Return one reason for each open operation."""
    return [_reason(seen, operation) for operation in seen.state.operations.values()]


def _reason(seen: Seen, one: Operation) -> Reason:
    op, name = op_of(one.key), one.key.partition(":")[2].partition("#")[0]
    match op:
        case Op.SLEEP | Op.TIMER:
            return _about(seen, one, ReasonKind.SLEEP, "The function sleeps", "has slept")
        case Op.WAIT:
            url = seen.state.facts.callback_url(one.key)
            message = f"The function waits for the {'decision' if one.asks else 'callback'} '{name}'"
            return _about(seen, one, ReasonKind.CALLBACK, message, "has waited", url=url)
        case Op.ASK:
            return _about(seen, one, ReasonKind.SIGNAL, f"The function waits for the signal '{name}'", "has waited")
        case Op.CHILD:
            message = f"The function waits for its child {one.child} ({name}) to end."
            return Reason(ReasonKind.CHILD, message, one.key, one.at, details={"run_id": one.child})
        case _:
            return _operation_retry(seen, one)


def _about(seen: Seen, one: Operation, kind: ReasonKind, message: str, was: str, *, url: str | None = None) -> Reason:
    details = {} if url is None else {"url": url}
    if one.until is None:
        return Reason(kind, f"{message}.", one.key, one.at, details=details)
    if one.until <= seen.now:
        said = f"The function {was} until {when(one.until, seen.now)}, and {by_whom(owned=seen.owned)}."
        return Reason(kind, said, one.key, one.at, one.until, details)
    return Reason(kind, f"{message}, until {when(one.until, seen.now)}.", one.key, one.at, one.until, details)


def _operation_retry(seen: Seen, one: Operation) -> Reason:
    at = f" at {when(one.until, seen.now)}" if one.until is not None else ""
    message = f"Step '{one.key}' of the function failed and is tried again{at}."
    if one.error is not None:
        message += f" Last error: {sentence(one.error.message)}"
    last = one.error and {"code": one.error.code, "message": one.error.message}
    details = {"attempt": one.attempt + 1, "last_error": last}
    return Reason(ReasonKind.RETRY, message, one.key, one.at, one.until, details)


#: The error code of a run whose code has changed in a way that its workflow does not allow.
DRIFT: Final = "drift"
#: The code of a step whose credential a person must connect.
RECONNECT: Final = "reconnect"
#: At most this many reasons are listed. One more reason has the number of other steps.
LONGEST: Final = 50
#: At most this many steps are named in one reason.
NAMED: Final = 5

_ORDER: Final = {kind: index for index, kind in enumerate(ReasonKind)}
_DOES: Final = {
    ReasonKind.CALLBACK: "waits for its callback",
    ReasonKind.CHILD: "waits for its child runs",
    ReasonKind.SLEEP: "sleeps",
    ReasonKind.RETRY: "failed and is tried again",
    ReasonKind.RUNNING: "is running",
    ReasonKind.READY: "is ready and has not been started",
    ReasonKind.SUSPECT: "is suspect and has not been started",
    ReasonKind.UNCERTAIN: "may or may not have happened",
    ReasonKind.PROBE: "asks its probe whether it happened",
}


def why(prepared: Prepared, state: RunState, now: Instant, *, owned: bool) -> list[Reason]:
    """Return why the run does not continue: first what blocks it, then the steps that wait for that.

    `owned`: a node owns the run, so a step that may start is running.
    """
    if state.is_over:
        return [_ended(prepared, state)]
    if state.opens_at is not None:
        return [*_paused(prepared, state), _not_started(state.opens_at, now, owned=owned)]
    return _chain(Seen(prepared, state, now, owned=owned))


def _ended(prepared: Prepared, state: RunState) -> Reason:
    at = max(state.since, default=state.facts.started_at)
    message = f"The run is over: it ended {state.status} at {iso(at)}."
    if state.is_finished:
        by = "a user" if state.finisher is None else f"step '{prepared.steps[state.finisher].name}'"
        message = f"The run is over: {by} finished it at {iso(at)}; open steps were skipped."
    left = unhandled(prepared, state) if state.status is Status.FAILED else []
    if left:
        message += f" Step '{prepared.steps[left[0]].name}' failed: {sentence(state.errors[left[0]].message)}"
    return Reason(ReasonKind.ENDED, message, since=at, details={"status": str(state.status)})


def _not_started(at: Instant, now: Instant, *, owned: bool) -> Reason:
    message = f"The run has not started yet: it starts at {when(at, now)}."
    if at <= now:
        message = f"The run was to start at {when(at, now)}, and {by_whom(owned=owned)}."
    return Reason(ReasonKind.NOT_STARTED, message, until=at)


def _paused(prepared: Prepared, state: RunState) -> list[Reason]:
    if state.paused_by is None or (state.paused_by == UNCERTAIN and state.doubts):
        return []  # the uncertain step has its own reason
    if state.paused_step is not None:
        return [_paused_by_step(prepared, state, state.paused_step)]
    message = f"The run is paused by {state.paused_by or 'an unknown user'}: nothing new starts until it is resumed."
    return [Reason(ReasonKind.PAUSED, message, since=state.paused_at, details={"by": state.paused_by})]


def _paused_by_step(prepared: Prepared, state: RunState, index: int) -> Reason:
    name, error = prepared.steps[index].name, state.errors.get(index)
    by = sentence(state.paused_by) if state.paused_by else "its code says so."
    message = f"Step '{name}' paused the run: {by}"
    if error is not None and error.message != state.paused_by:
        message += f" Error: {sentence(error.message)}"
    last = error and {"code": error.code, "message": error.message}
    details: dict[str, Any] = {"by": state.paused_by, "step": name, "last_error": last}
    if error is not None and error.code == DRIFT:
        message += " Resumed as is, it pauses again: put the old code back and resume it, or cancel it and start again."
        details["diff"] = _difference(error.detail)
    elif error is not None and error.code == RECONNECT:
        message += " The run goes on by itself when that is done."
    else:
        message += " Resume the run to try the step again, or skip the step."
    return Reason(ReasonKind.PAUSED, message, since=state.paused_at, details=details)


def _difference(detail: Any) -> str | None:
    """Return how the code differs from the code that the run began with, as lines of a diff."""
    found = detail.get("diff") if isinstance(detail, Mapping) else None
    return "\n".join(map(str, found)) if isinstance(found, list) else found


def _chain(seen: Seen) -> list[Reason]:
    phases = seen.state.phase
    pending = [index for index in seen.prepared.order if phases[index] is Phase.PENDING]
    blocks = [index for index, phase in enumerate(phases) if phase not in (Phase.PENDING, Phase.ENDED)]
    blocks.sort(key=lambda index: _ORDER[seen.kind(index)])
    found = _paused(seen.prepared, seen.state)
    function = function_of(seen.prepared)
    if function in blocks and seen.state.operations and not seen.state.is_over:
        found += operation_reasons(seen)[:NAMED]
        if seen.kind(function) is ReasonKind.READY and seen.state.paused_by is None:
            blocks.remove(function)  # it is not called before one of its operations has ended
    found += [reason_of(seen, index) for index in blocks[: LONGEST - len(found)]]
    found += _needs(seen, pending[: LONGEST - len(found)])
    more = len(blocks) + len(pending) - sum(reason.step in seen.prepared.numbers for reason in found)
    if more:
        message = "1 more step has not ended." if more == 1 else f"{more} more steps have not ended."
        found.append(Reason(ReasonKind.NEEDS, message, details={"more": more}))
    return found


def _needs(seen: Seen, pending: Sequence[int]) -> list[Reason]:
    if not pending:
        return []
    sources = _open_sources(seen)
    causes = _causes(seen, sources)
    return [_waits(seen, index, sources[index], causes[index]) for index in pending]


def _open_sources(seen: Seen) -> list[list[int]]:
    """Return for each step the steps directly before it that have not ended."""
    found: list[list[int]] = [[] for _ in seen.prepared.steps]
    for step in seen.prepared.steps:
        if seen.state.phase[step.index] is not Phase.ENDED:
            for edge in step.outgoing:
                found[edge.target].append(step.index)
    return found


def _causes(seen: Seen, sources: Sequence[list[int]]) -> Mapping[int, list[int]]:
    """Return for each step what really blocks it: itself, or some steps it waits for through others."""
    causes: dict[int, list[int]] = {}
    for index in seen.prepared.order:
        if seen.state.phase[index] is Phase.PENDING:
            causes[index] = list(dict.fromkeys(cause for source in sources[index] for cause in causes[source]))[:NAMED]
        else:
            causes[index] = [index]
    return causes


def _waits(seen: Seen, index: int, sources: Sequence[int], causes: Sequence[int]) -> Reason:
    names = list(dict.fromkeys(map(seen.name, sources)))
    message = f"Step '{seen.name(index)}' waits for {_listed(names)}."
    if not set(causes) <= set(sources):
        deepest = next(cause for cause in causes if cause not in sources)
        message += f" It is blocked: step '{seen.name(deepest)}' {seen.does(deepest)}."
    details = {"waits_for": names[:NAMED], "blocked_by": [seen.name(cause) for cause in causes]}
    return Reason(ReasonKind.NEEDS, message, step=seen.name(index), details=details)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names[:NAMED]]
    if len(names) > NAMED:
        quoted.append(f"{len(names) - NAMED} more")
    return f"step {quoted[0]}" if len(quoted) == 1 else f"steps {', '.join(quoted[:-1])} and {quoted[-1]}"
