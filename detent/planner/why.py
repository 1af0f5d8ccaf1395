"""Why a run does not go on: the chain that holds it up, from what really blocks it to the steps that wait for that.

Asked of the same state and with the same predicates the planner decides with, so that it cannot say anything else than
what the engine will do. What is around the run (whether a node lives that serves its queue) is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from detent.instant import Instant, iso
from detent.planner.apply import UNCERTAIN
from detent.planner.functions import function_of
from detent.planner.operation_reasons import operation_reasons
from detent.planner.prepared import Prepared
from detent.planner.reasons import Reason, ReasonKind, Seen, by_whom, reason_of, sentence, when
from detent.planner.rollup import unhandled
from detent.run.state import Phase, RunState
from detent.run.status import Status

__all__ = ["LONGEST", "Reason", "ReasonKind", "why"]

#: The code of the error of a run whose code has changed in a way that its workflow does not allow.
DRIFT: Final = "drift"
#: At most this many reasons are given; how many more steps there are is said in one more.
LONGEST: Final = 50
#: At most this many steps are named in one reason.
NAMED: Final = 5

_ORDER: Final = {kind: place for place, kind in enumerate(ReasonKind)}
_DOES: Final = {
    ReasonKind.CALLBACK: "waits for its callback",
    ReasonKind.SLEEP: "sleeps",
    ReasonKind.RETRY: "failed and is tried again",
    ReasonKind.RUNNING: "is running",
    ReasonKind.READY: "is ready and has not been started",
    ReasonKind.UNCERTAIN: "may or may not have happened",
}


def why(prepared: Prepared, state: RunState, now: Instant, *, owned: bool) -> list[Reason]:
    """What keeps the run from going on: what blocks it first, then the steps that wait for that. `owned`: whether a
    node has the run; a step that may start is then running."""
    if state.is_over:
        return [_ended(prepared, state)]
    if state.opens_at is not None:
        return [*_paused(prepared, state), _not_started(state.opens_at, now, owned=owned)]
    return _chain(Seen(prepared, state, now, owned=owned))


def _ended(prepared: Prepared, state: RunState) -> Reason:
    at = max(state.since, default=state.facts.started_at)
    message = f"The run is over: it ended {state.status} at {iso(at)}."
    if state.is_finished:
        by = "somebody" if state.finisher is None else f"step '{prepared.steps[state.finisher].name}'"
        message = f"The run is over: {by} finished it at {iso(at)}, whatever was left."
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
        return []  # what it stands still for speaks for itself
    if state.paused_step is not None:
        return [_paused_by_step(prepared, state, state.paused_step)]
    message = f"The run is paused by {state.paused_by or 'somebody'}: nothing new starts until it is resumed."
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
        message += " Resumed as is, it pauses again: put the old code back and resume it, or cancel it and start anew."
        details["diff"] = _difference(error.detail)
    else:
        message += " Resume the run to try the step again, or skip the step."
    return Reason(ReasonKind.PAUSED, message, since=state.paused_at, details=details)


def _difference(detail: Any) -> str | None:
    """How the code differs from what the run began with, as lines of a diff."""
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
            blocks.remove(function)  # it is not called before one of these has come
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
    """For each step the ones before it that have not ended."""
    found: list[list[int]] = [[] for _ in seen.prepared.steps]
    for step in seen.prepared.steps:
        if seen.state.phase[step.index] is not Phase.ENDED:
            for edge in step.outgoing:
                found[edge.target].append(step.index)
    return found


def _causes(seen: Seen, sources: Sequence[list[int]]) -> Mapping[int, list[int]]:
    """For each step what really holds it up: itself, or some steps it waits for through others."""
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
        message += f" What holds it up: step '{seen.name(deepest)}' {_DOES[seen.kind(deepest)]}."
    details = {"waits_for": names[:NAMED], "held_up_by": [seen.name(cause) for cause in causes]}
    return Reason(ReasonKind.NEEDS, message, step=seen.name(index), details=details)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names[:NAMED]]
    if len(names) > NAMED:
        quoted.append(f"{len(names) - NAMED} more")
    return f"step {quoted[0]}" if len(quoted) == 1 else f"steps {', '.join(quoted[:-1])} and {quoted[-1]}"
