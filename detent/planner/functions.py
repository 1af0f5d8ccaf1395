"""Durable functions, as the planner sees them: a step that puts operations on record while it runs.

The function itself is code; only what it began and what has ended is in the journal. When it has nothing to do it is
*suspended*: it gives up its memory, and is called again, from its beginning, when its time has come or something came.
"""

from __future__ import annotations

import msgspec

from detent.graph.model import Ending, OnCrash, StepKind
from detent.instant import Instant
from detent.planner.apply import Change, pauses_on_failure
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.journal import EntryData, Kind
from detent.run.outcomes import Cancel, Done, Fail, Finish, Skip
from detent.run.plan import Plan
from detent.run.state import Phase, RunState


def function_of(prepared: Prepared) -> int | None:
    """The step that is a durable function; a graph has at most one."""
    first = prepared.steps[0] if prepared.steps else None
    return first.index if first is not None and first.kind is StepKind.FUNCTION else None


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

    No entry is written: the node that folds the run calls the function, and it says so again. Only if its start is on
    record, because its run is suspect, an entry says that it is no longer in flight."""
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
    """Only the function that runs can begin something; what it has begun can change from outside."""
    index = function_of(prepared)
    if index is None or event.key in state.history:
        return None
    if state.phase[index] is not Phase.RUNNING and (event.message is None or event.key not in state.operations):
        return None
    data = EntryData(until=event.until, child=event.child, error=event.error, message=event.message)
    return Change(Kind.BEGAN, None, event.attempt, None, data, event.key)


def operation_ended(event: events.OperationEnded, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """What comes from outside counts whether or not the function runs, and so does what a run that is not open yet
    takes over from another; the rest only while it runs."""
    index = function_of(prepared)
    if index is None or state.phase[index] is Phase.ENDED or event.key in state.history:
        return None
    if event.message is None and state.opens_at is None and state.phase[index] is not Phase.RUNNING:
        return None
    data = EntryData(error=event.error, ms=event.ms, message=event.message)
    if event.result:
        data.result = msgspec.Raw(event.result)
    return Change(Kind.CHECKPOINT, None, event.attempt, event.ending, data, event.key)
