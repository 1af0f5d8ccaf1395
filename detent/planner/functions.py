"""Durable functions as the planner sees them: a step that journals operations while it runs.

The function itself is code. The journal has only the operations that it began and that have ended. A function with
nothing to do is *suspended*: it leaves memory. It is called again from its beginning when its time comes or a message
arrives.
"""

from __future__ import annotations

from typing import Final

import msgspec

from detent.graph.model import Ending, OnCrash, StepKind
from detent.instant import Instant
from detent.planner.apply import Change, pauses_on_failure
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.call import Op, op_of
from detent.run.journal import EntryData, Kind
from detent.run.outcomes import Cancel, Done, Fail, Finish, Skip
from detent.run.plan import Plan
from detent.run.state import Phase, RunState

# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_FUNCTION: Final = StepKind.FUNCTION
_PHASE_RUNNING: Final = Phase.RUNNING
_PHASE_ENDED: Final = Phase.ENDED
_CHECKPOINT: Final = Kind.CHECKPOINT


def function_of(prepared: Prepared) -> int | None:
    """Return the step that is a durable function, or None. A graph has at most one."""
    first = prepared.steps[0] if prepared.steps else None
    return first.index if first is not None and first.kind is _FUNCTION else None


def kind_of_operation(key: str) -> StepKind:
    """Return the kind of step whose results have the form of this operation's result."""
    return StepKind.WAIT if op_of(key) is Op.WAIT else StepKind.ACTION


def ends_function(prepared: Prepared, state: RunState, event: events.Event) -> bool:
    """Whether the event ends the durable function of a run, and the run with it."""
    index = function_of(prepared)
    if index is None:
        return False
    if isinstance(event, events.Skipped):
        return event.step == index
    if not isinstance(event, events.AttemptEnded) or event.attempt != state.attempt_number(index):
        return False
    outcome = event.outcome
    if isinstance(outcome, Fail):
        is_last = not outcome.retry or event.attempt >= prepared.graph.steps[index].retry.attempts
        return is_last and not pauses_on_failure(prepared, index, Ending.FAILED)
    return isinstance(outcome, Done | Skip | Cancel | Finish)


def suspended(
    prepared: Prepared, state: RunState, index: int, until: int | None, seen: int, now: Instant
) -> Plan | Change:
    """Plan that the function has nothing to do until then.

    No entry is written: after a fold, a node calls the function, and the function suspends again. There is one
    exception. If its start is in the journal, because its run is suspect, an entry records that it is no longer in
    flight.
    """
    is_new = len(state.history) > seen
    if index in state.begun and prepared.steps[index].on_crash is OnCrash.RETRY:
        return Change(Kind.RETRY, index, 0, None, EntryData(retry_at=now if is_new else until))
    state.running -= 1
    state.begun.pop(index, None)
    if is_new:
        state.phase[index] = Phase.READY
        state.ready[index] = None
    else:
        state.set_timer(index, Phase.RETRYING, until)
    return Plan(None, [], [], [])


def operation_began(event: events.OperationBegan, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan that an operation began. Only a running function can begin one; a message can change one that is open."""
    index = function_of(prepared)
    if index is None or event.key in state.history:
        return None
    if state.phase[index] is not Phase.RUNNING and (event.message is None or event.key not in state.operations):
        return None
    data = EntryData(until=event.until, child=event.child, error=event.error, message=event.message, asks=event.asks)
    return Change(Kind.BEGAN, None, event.attempt, None, data, event.key)


def operation_ended(event: events.OperationEnded, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan that an operation ended.

    A message counts whether or not the function runs. So does an operation that a run reuses before it opens. Every
    other end counts only while the function runs.
    """
    index = function_of(prepared)
    if index is None or state.phase[index] is _PHASE_ENDED or event.key in state.history:
        return None
    if event.message is None and state.opens_at is None and state.phase[index] is not _PHASE_RUNNING:
        return None
    data = EntryData(error=event.error, ms=event.ms, message=event.message)
    if event.result:
        data.result = msgspec.Raw(event.result)
    return Change(_CHECKPOINT, None, event.attempt, event.ending, data, event.key)
