"""Flow control: commands to a run from a step's own code or from a user, beside success and failure.

A step can skip itself or ask for another attempt later. It can cancel, pause or finish its whole run. A user can do the
same from outside. Each command is one journal entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from detent.graph.model import Ending
from detent.instant import Instant, micros
from detent.planner.apply import Change
from detent.planner.functions import suspended
from detent.planner.moves.code import is_at, move
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.journal import EntryData, Kind
from detent.run.outcomes import (
    EMPTY_RESULT,
    Cancel,
    Delegated,
    Fail,
    Finish,
    Move,
    Pause,
    Reattempt,
    Skip,
    StepError,
    Suspend,
)
from detent.run.plan import Plan
from detent.run.state import Phase, RunState

FlowOutcome = Skip | Reattempt | Cancel | Pause | Finish | Move | Suspend | Delegated

#: The phases of a current step: the run has reached it and not passed it. The most likely "current step" is first.
_CURRENT: Final = (
    *(Phase.UNCERTAIN, Phase.RUNNING, Phase.READY, Phase.RETRYING),
    *(Phase.CHILD, Phase.WAITING, Phase.SLEEPING),
)
_TRIABLE: Final = (Phase.UNCERTAIN, Phase.RUNNING, Phase.READY, Phase.RETRYING, Phase.CHILD)


def attempt_ended(
    event: events.AttemptEnded, outcome: FlowOutcome, prepared: Prepared, state: RunState, now: Instant
) -> Change | Plan | None:
    """Plan the end of an attempt whose code returned a flow command instead of success or failure."""
    index, number, ms = event.step, event.attempt, event.ms
    wanted = _without_another_try(outcome) if state.failing else outcome
    match wanted:
        case Skip(error, result):
            data = EntryData(error=error, ms=ms)
            if result != EMPTY_RESULT:
                data.result = msgspec.Raw(result)
            return Change(Kind.ENDED, index, number, Ending.SKIPPED, data)
        case Fail(error):
            return Change(Kind.ENDED, index, number, Ending.FAILED, EntryData(error=error, ms=ms))
        case Reattempt(wait, error):
            data = EntryData(error=error, ms=ms, retry_at=now + micros(max(0.0, wait)))
            return Change(Kind.RETRY, index, number, _failed(error), data)
        case Cancel(reason, error):
            return Change(Kind.CANCELLED, index, number, Ending.CANCELLED, EntryData(by=reason, error=error, ms=ms))
        case Pause(reason, error):
            return Change(Kind.PAUSED, index, number, _failed(error), EntryData(by=reason, error=error, ms=ms))
        case Finish(result):
            data = EntryData(result=msgspec.Raw(result), ms=ms, finished=True)
            return Change(Kind.ENDED, index, number, Ending.SUCCESS, data)
        case Move(graph) if is_at(prepared, state, graph):
            same = StepError("drift", "the code of the step asks for the graph that the run already has")
            return Change(Kind.PAUSED, index, number, Ending.FAILED, EntryData(by=same.message, error=same, ms=ms))
        case Move(graph):
            return move(prepared, state, index, graph)
        case Suspend(until, seen):
            return suspended(prepared, state, index, until, seen, now)
        case Delegated(pages):
            return _delegated(state, index, pages)


def _without_another_try(outcome: FlowOutcome) -> FlowOutcome | Fail:
    """Replace outcomes that need another attempt. A failing run lets its attempts end and begins no new ones."""
    match outcome:
        case Reattempt(_, error) | Pause(_, error):
            return Fail(error or StepError("given_up", "the run is failing, so this step is not retried"))
        case Move() | Delegated():
            return Skip()
        case _:
            return outcome


def _delegated(state: RunState, index: int, pages: int) -> Plan:
    """Plan that a step waits for its child run, or for the pages of its map. No entry is written: the ids are in the
    journal. If pages began or all of them have ended meanwhile, the step goes on at once."""
    state.running -= 1
    found = state.maps.get(index)
    if found is None:
        state.set_timer(index, Phase.CHILD, state.child_of[index].until)
    elif len(found.pages) > pages or not found.open:
        state.phase[index] = Phase.READY
        state.ready[index] = None
    else:
        state.phase[index] = Phase.CHILD
    return Plan(None, [], [], [])


def skipped(event: events.Skipped, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan that a user skips a step."""
    index = can_skip(state, event.step)
    if index is None:
        return None
    probing = state.probes.get(index)
    number = state.doubts.get(index) or (state.attempt_number(index) if probing is None else probing.attempt)
    return Change(Kind.ENDED, index, number, Ending.SKIPPED, EntryData(by=event.by))


def reattempted(event: events.Reattempted, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan that a user tries a step, now or later. A run that was paused because of it continues."""
    index = can_reattempt(state, event.step)
    if index is None:
        return None
    # An attempt ends here only if the step is in flight or has a child; 0 means that none does.
    is_running = state.phase[index] is Phase.RUNNING and index not in state.probes
    is_begun = is_running or index in state.child_of or index in state.maps
    number = state.attempt_number(index) if is_begun else 0
    data = EntryData(by=event.by, retry_at=now + micros(max(0.0, event.wait)))
    return Change(Kind.RETRY, index, number, None, data)


def finished(event: events.Finished, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan that a user finishes the run. A run that has not begun can only be cancelled."""
    return None if state.opens_at is not None else Change(Kind.FINISHED, None, 0, None, EntryData(by=event.by))


def can_skip(state: RunState, step: int | None) -> int | None:
    """Return the step that a skip applies to: that one, or the current one. Return None if it cannot be skipped."""
    return _current_step(state, step, _CURRENT)


def can_reattempt(state: RunState, step: int | None) -> int | None:
    """Return the step that a reattempt applies to, or None if there is none. A failing run begins nothing."""
    return None if state.failing else _current_step(state, step, _TRIABLE)


def _current_step(state: RunState, step: int | None, phases: Sequence[Phase]) -> int | None:
    if state.opens_at is not None or state.is_over:
        return None
    if step is not None:
        return step if state.phase[step] in phases else None
    if state.paused_step is not None and state.phase[state.paused_step] is not Phase.ENDED:
        return state.paused_step
    found = [(phases.index(phase), index) for index, phase in enumerate(state.phase) if phase in phases]
    return min(found)[1] if found else None


def _failed(error: StepError | None) -> Ending | None:
    return None if error is None else Ending.FAILED
