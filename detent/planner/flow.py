"""Flow control: what a step's own code, or a person, wants of its run beside success and failure.

A step can be left out, tried again later, and can end, pause or finish its whole run; a person can ask for the same
from outside. Each is one entry in the journal, like everything else.
"""

from __future__ import annotations

from typing import Final

import msgspec

from detent.graph.model import Ending, StepKind
from detent.instant import Instant, micros
from detent.planner.apply import Change
from detent.planner.functions import suspended
from detent.planner.moves import move
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.journal import EntryData, Kind
from detent.run.outcomes import EMPTY_RESULT, Cancel, Finish, Move, Pause, Reattempt, Skip, StepError, Suspend
from detent.run.plan import Plan
from detent.run.state import Phase, RunState

FlowOutcome = Skip | Reattempt | Cancel | Pause | Finish | Move | Suspend

#: The phases of a step that the run has come to and not got past.
_AT_HAND: Final = (Phase.RUNNING, Phase.READY, Phase.RETRYING, Phase.UNCERTAIN, Phase.WAITING, Phase.SLEEPING)
_TRIABLE: Final = frozenset({Phase.RUNNING, Phase.READY, Phase.RETRYING, Phase.UNCERTAIN})


def attempt_ended(
    event: events.AttemptEnded, outcome: FlowOutcome, prepared: Prepared, state: RunState, now: Instant
) -> Change | Plan | None:
    """An attempt that was asked for is over, and its code said what is to become of the run."""
    index, number, ms = event.step, event.attempt, event.ms
    match outcome:
        case Skip(error, result):
            data = EntryData(error=error, ms=ms)
            if result != EMPTY_RESULT:
                data.result = msgspec.Raw(result)
            return Change(Kind.ENDED, index, number, Ending.SKIPPED, data)
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
        case Move(graph):
            return move(prepared, state, index, graph, now)
        case Suspend(until, seen):
            return suspended(state, index, until, seen)


def skipped(event: events.Skipped, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """A person wants a step left out."""
    index = at_hand(state) if event.step is None else event.step
    if index is None or state.opens_at is not None or state.phase[index] not in _AT_HAND:
        return None
    number = state.attempt_number(index)
    return Change(Kind.ENDED, index, number, Ending.SKIPPED, EntryData(by=event.by))


def reattempted(event: events.Reattempted, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """A person wants a step tried, now or later. A run that stood still for it goes on."""
    index = at_hand(state) if event.step is None else event.step
    if index is None or state.opens_at is not None or state.phase[index] not in _TRIABLE:
        return None
    if prepared.steps[index].kind is StepKind.WAIT:
        return None
    data = EntryData(by=event.by, retry_at=now + micros(max(0.0, event.wait)))
    return Change(Kind.RETRY, index, state.attempt_number(index), None, data)


def finished(event: events.Finished, prepared: Prepared, state: RunState, now: Instant) -> Change:
    """A person says that the run is done."""
    return Change(Kind.FINISHED, None, 0, None, EntryData(by=event.by))


def at_hand(state: RunState) -> int | None:
    """The step a run is at: the first that it has come to and not got past; null if there is none."""
    return next((index for index, phase in enumerate(state.phase) if phase in _AT_HAND), None)


def _failed(error: StepError | None) -> Ending | None:
    return None if error is None else Ending.FAILED
