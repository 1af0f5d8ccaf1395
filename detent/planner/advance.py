"""`advance`: turn one event into one plan.

It reads no clock and does no I/O. It changes `state` in place. One journal entry has the event and everything that was
decided because of it. Late events (of a step that has ended, of a run that is over) plan nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import Any, Final

import msgspec

from detent.expressions import ExpressionError
from detent.graph.ask import FAILS, timed_out_result
from detent.graph.model import Ending
from detent.instant import Instant
from detent.planner import flow, functions
from detent.planner.apply import Change, apply, apply_operation, pause_reason, pauses_on_failure
from detent.planner.context import overflow_of
from detent.planner.doubts.probe import probe_answered
from detent.planner.doubts.resolve import resolved
from detent.planner.judge import CONDITION_ERROR, TEMPLATE_ERROR, LiveJudge
from detent.planner.maps import MapError, counts_of, intolerable, is_intolerable, items_of, page_size, result_of_map
from detent.planner.moves.code import moved_state, open_moved, prepared_of
from detent.planner.prepared import Prepared
from detent.planner.retry import look_at, retry_at
from detent.planner.run_end import run_end, stopped_output
from detent.planner.scope import is_as_wanted
from detent.planner.settle import Settling
from detent.planner.suspects import SUSPECT_AFTER, is_suspect, judge_crash, left_to_user, may_repeat
from detent.run import events
from detent.run.journal import NO_DATA, Decided, Entry, EntryData, Kind, MapBegun, PageEnded, encode_data
from detent.run.outcomes import EMPTY_RESULT, Delegated, Done, Fail, StepError
from detent.run.plan import NOTHING, Plan, RunEnd, StartAttempt
from detent.run.state import MapState, Phase, RunState
from detent.run.status import Status, moved

# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_PHASE_RUNNING: Final = Phase.RUNNING
_RUNNING: Final = Status.RUNNING
_ENDED: Final = Kind.ENDED
_MOVED: Final = Kind.MOVED
_SUCCESS: Final = Ending.SUCCESS

#: Events that may stop the attempt of one step, whose outcome is then ignored: commands of users, and the end of a page
#: that fails its map while the map starts other pages.
_CALLING_OFF: Final = frozenset({events.Skipped, events.Reattempted, events.ChildEnded})


def open_run(prepared: Prepared, state: RunState, *, now: Instant) -> tuple[Decided, Plan]:
    """Decide what can be decided at a run's start. The decisions are stored in the run's row, as its entry 0."""
    judge = LiveJudge(prepared, state, now)
    settling = Settling(prepared, state, judge, now)
    settling.open()
    end = _end_if_over(prepared, state, judge, now)
    plan = Plan(None, [] if end else take_ready(prepared, state), settling.activated, [], end)
    plan.closed = settling.closed
    return judge.decided, plan


def open_later(prepared: Prepared, state: RunState, *, at: Instant) -> Decided:
    """Postpone the run without any decision: it is pending until the event `Opened`, at that time or later."""
    state.postpone(at)
    return Decided(start=at)


def advance(prepared: Prepared, state: RunState, *, event: events.Event, now: Instant) -> Plan:
    """Apply an event to the state and return the plan. The same input returns the same plan."""
    if state.is_over:
        return NOTHING
    change = _CHANGES[type(event)](event, prepared, state, now)
    if change is None:
        return NOTHING
    if isinstance(change, Plan):
        return change
    if change.key is not None:
        return _note_operation(prepared, state, change, now)
    name = None if change.step is None else prepared.steps[change.step].name
    if change.kind is _MOVED:
        return _move(prepared, state, change, name, now)
    if state.readers is not None and prepared.context is not None:
        change = _with_room(prepared, state, change)
    judge = LiveJudge(prepared, state, now)
    stop = _called_off(state, change) if type(event) in _CALLING_OFF else []
    settled = apply(prepared, state, change, judge, now)
    end = None if state.open and state.status is _RUNNING else _end_if_over(prepared, state, judge, now, change)
    entry = _write(state, change, name, judge.recorded, now)
    starts, closed = (take_ready(prepared, state), settled.closed) if end is None else ([], [])
    return Plan(entry, starts, settled.activated, [], end, stop, None, closed, settled.cancelled)


def _note_operation(prepared: Prepared, state: RunState, change: Change, now: Instant) -> Plan:
    """Plan the start or the end of an operation. It decides nothing of the graph: the function is still open."""
    apply_operation(prepared, state, change, now)
    entry = _write(state, change, change.key, None, now)
    return Plan(entry, take_ready(prepared, state) if state.ready else [], [], [])


def _with_room(prepared: Prepared, state: RunState, change: Change) -> Change:
    """Let a step fail whose result is too large beside the results that other steps still read."""
    data = change.data
    if change.kind is not Kind.ENDED or change.ending is not Ending.SUCCESS or data is None or change.step is None:
        return change
    error = overflow_of(prepared, state, change.step, len(bytes(data.result)))
    if error is None:
        return change
    data.error = error
    return Change(Kind.ENDED, change.step, change.attempt, Ending.FAILED, data)


def _called_off(state: RunState, change: Change) -> list[int]:
    """Return the step if its attempt is in flight and must be stopped."""
    step = change.step
    is_stopped = change.kind is not Kind.PAGED and step is not None and state.phase[step] is Phase.RUNNING
    return [step] if is_stopped and step is not None else []


def _move(old: Prepared, was: RunState, change: Change, name: str | None, now: Instant) -> Plan:
    assert change.data is not None
    state = moved_state(old, was, name, change.attempt, change.data)
    prepared = prepared_of(change.data.graph)
    judge = LiveJudge(prepared, state, now)
    settled = open_moved(state, prepared, judge, now)
    end = _end_if_over(prepared, state, judge, now)
    entry = _write(state, change, name, judge.recorded, now)
    starts = [] if end else take_ready(prepared, state)
    return Plan(entry, starts, settled.activated, [], end, moved=state, closed=settled.closed)


def take_ready(prepared: Prepared, state: RunState) -> list[StartAttempt]:
    """Return the attempts that may start now, and mark their steps as running."""
    taken = may_start(state)
    if not taken:
        return []
    for index in taken:
        del state.ready[index]
        state.phase[index] = _PHASE_RUNNING
    state.running += len(taken)
    if state.stalled or state.strikes or state.probes:
        return [_start(prepared, state, index) for index in taken]
    return [StartAttempt(index, state.attempt_number(index), prepared.steps[index].on_record) for index in taken]


def _start(prepared: Prepared, state: RunState, index: int) -> StartAttempt:
    suspect = is_suspect(state, index)
    on_record = prepared.steps[index].on_record and index not in state.probes  # a probe has no effect
    return StartAttempt(index, state.attempt_number(index), suspect or on_record, suspect)


def is_wanted(state: RunState, start: StartAttempt) -> bool:
    """Return whether an attempt should still begin. A user may have skipped or reattempted its step meanwhile."""
    return state.phase[start.step] is _PHASE_RUNNING and state.attempt_number(start.step) == start.attempt


def may_start(state: RunState) -> list[int]:
    """Return the ready steps that may start: none in a paused run, one at a time after adoptions without progress, and
    no more at once than the graph allows."""
    if not state.ready or state.paused_by is not None:
        return []
    if state.stalled >= SUSPECT_AFTER:
        return [] if state.running else [next(iter(state.ready))]
    if state.parallel is not None:
        return list(islice(state.ready, max(0, state.parallel - state.running)))
    return list(state.ready)


def put_back(state: RunState, step: int) -> None:
    """Make a step ready again whose attempt was taken but could not start."""
    if state.phase[step] is Phase.RUNNING:
        state.phase[step] = Phase.READY
        state.ready[step] = None
        state.running -= 1


def put_off(state: RunState, step: int) -> None:
    """Stop before an attempt begins, because its run is paused.

    If the attempt has a child by the journal, the step waits for it. The resume lets the step look for it."""
    if state.phase[step] is Phase.RUNNING and step in state.child_of:
        state.running -= 1
        state.set_timer(step, Phase.CHILD, state.child_of[step].until)
    else:
        put_back(state, step)


def _end_if_over(
    prepared: Prepared, state: RunState, judge: LiveJudge, now: Instant, change: Change | None = None
) -> RunEnd | None:
    """Return how the run ended, or None. `change` may be what cancelled it."""
    if state.status is Status.TIMEOUT:
        end = RunEnd(state.status, stopped_output(prepared, state), "the run took longer than its maximum duration")
    elif state.status is Status.CANCELLED:
        error = None if change is None else _why_stopped(prepared, change)
        end = RunEnd(state.status, stopped_output(prepared, state), error)
    elif state.open or state.opens_at is not None:
        return None
    else:
        end = run_end(prepared, state, now)
        state.status = moved(state.status, end.status)
    judge.decided.run = str(end.status)
    return end


def _why_stopped(prepared: Prepared, change: Change) -> str | None:
    """Return the error or the reason with which a step cancelled its run."""
    step = change.key if change.step is None else prepared.steps[change.step].name
    if change.data is None or step is None:
        return None
    reason = change.data.by if change.data.error is None else change.data.error.message
    return reason and f"{step}: {reason}".replace("\0", "\ufffd")  # not every database can store a NUL in a text


def _write(state: RunState, change: Change, step: str | None, decided: Decided | None, now: Instant) -> Entry:
    data = change.data
    if decided is not None and not decided.is_empty():
        data = data or EntryData()
        data.decided = decided
    outcome = None if change.ending is None else str(change.ending)
    raw = NO_DATA if data is None else encode_data(data)
    facts = state.facts
    state.seq += 1
    return Entry(facts.tenant, facts.id, state.seq, now, change.kind, step, change.attempt, outcome, raw)


def _attempt_ended(
    event: events.AttemptEnded, prepared: Prepared, state: RunState, now: Instant
) -> Change | Plan | None:
    index, outcome = event.step, event.outcome
    if state.phase[index] is not _PHASE_RUNNING or event.attempt != state.attempt_number(index):
        return None
    if state.probes and index in state.probes:
        return probe_answered(event, prepared, state, now)
    ms = _stood(state, index, now) if index in state.maps else event.ms
    if isinstance(outcome, Done):
        if prepared.steps[index].until is not None and prepared.steps[index].items is None:
            return _looked(prepared, state, event, outcome, now)
        data = EntryData(result=msgspec.Raw(outcome.result), ms=ms)
        return Change(_ENDED, index, event.attempt, _SUCCESS, data)
    if not isinstance(outcome, Fail):
        change = flow.attempt_ended(event, outcome, prepared, state, now)
        if isinstance(change, Plan) and isinstance(outcome, Delegated):
            change.start = take_ready(prepared, state)  # a map that goes on at once
        return change
    return _failed(prepared, state, index, outcome, EntryData(ms=ms), now)


def _looked(prepared: Prepared, state: RunState, event: events.AttemptEnded, outcome: Done, now: Instant) -> Change:
    """Plan what follows a success of a repeated step: its end, or another look later."""
    index, repeat = event.step, prepared.graph.steps[event.step].repeat
    assert repeat is not None
    data = EntryData(ms=event.ms)
    try:
        is_enough = is_as_wanted(prepared, state, index, outcome.result)
    except ExpressionError as error:
        fail = Fail(StepError(CONDITION_ERROR, f"until: {error.message}"), outcome.result, retry=False)
        return _failed(prepared, state, index, fail, data, now)
    if is_enough:
        data.result = msgspec.Raw(outcome.result)
        return Change(Kind.ENDED, index, event.attempt, Ending.SUCCESS, data)
    looks = state.looks.get(index, 0)
    again = None if state.failing else look_at(repeat, looks=looks, since=state.since[index], now=now)
    if again is None:
        message = f"its result was not as wanted after {looks + 1} looks"
        fail = Fail(StepError("not_satisfied", message), outcome.result, retry=False, timed_out=not state.failing)
        return _failed(prepared, state, index, fail, data, now)
    data.retry_at, data.look = again, True
    return Change(Kind.RETRY, index, 0, None, data)


def _failed(prepared: Prepared, state: RunState, index: int, fail: Fail, data: EntryData, now: Instant) -> Change:
    """Plan what follows the failure of an attempt: another one, a pause, or the end of the step."""
    step, number = prepared.graph.steps[index], state.attempt_number(index)
    key = b"%b/%b" % (state.facts.id, step.name.encode())
    # A failing run lets its attempts end and begins no new ones.
    again = None if state.failing else retry_at(step.retry, fail, attempt=number, key=key, now=now)
    data.error, data.retry_at = fail.error, again
    if fail.result != EMPTY_RESULT:
        data.result = msgspec.Raw(fail.result)
    ending = Ending.TIMEOUT if fail.timed_out else Ending.FAILED
    if again is not None:
        return Change(Kind.RETRY, index, number, ending, data)
    if fail.error.code == TEMPLATE_ERROR:
        ending = Ending.TEMPLATE_ERROR
    if pauses_on_failure(prepared, index, ending):
        data.by = pause_reason(prepared, index)
        return Change(Kind.PAUSED, index, number, ending, data)
    return Change(Kind.ENDED, index, number, ending, data)


def _attempt_starting(
    event: events.AttemptStarting, prepared: Prepared, state: RunState, now: Instant
) -> Change | None:
    number = state.attempt_number(event.step)
    if state.phase[event.step] is not Phase.RUNNING or state.begun.get(event.step) == number:
        return None
    if event.pages:
        return _map_begins(prepared, state, event, number)
    if event.child is None:
        return Change(Kind.STARTED, event.step, number, None, None)
    if event.step in state.child_of:
        return None  # the same attempt has a child already, which an earlier owner may have started
    return Change(Kind.STARTED, event.step, number, None, EntryData(child=event.child))


def _map_begins(prepared: Prepared, state: RunState, event: events.AttemptStarting, number: int) -> Change | None:
    """Plan that the first pages of a map begin, or that it ends at once."""
    index, each = event.step, prepared.graph.steps[event.step].each
    assert each is not None
    if index in state.maps:
        return None  # an earlier owner may have started its pages
    try:
        items = items_of(prepared, state, index)
        size = page_size(each, items) if items else 1
        past = state.reused_maps.get(index)
        if past is not None and past.count == len(items):
            size = min(size, past.size)  # the same pages; they are smaller only if the items have grown
    except MapError as problem:
        ending = Ending.TEMPLATE_ERROR if problem.error.code == TEMPLATE_ERROR else Ending.FAILED
        return Change(Kind.ENDED, index, number, ending, EntryData(error=problem.error))
    if not items:
        result = msgspec.Raw(result_of_map(MapState(0, 1), b"[]"))
        return Change(Kind.ENDED, index, number, Ending.SUCCESS, EntryData(result=result))
    data = EntryData(map=MapBegun(len(items), size), pages=list(event.pages[: ceil(len(items) / size)]))
    return Change(Kind.PAGED, index, number, None, data)


def _page_ended(event: events.ChildEnded, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan the end of a page: the next page begins, or the map has failed."""
    index, each = event.step, prepared.graph.steps[event.step].each
    assert each is not None
    found, number = state.maps[index], state.attempt_number(index)
    page = found.open.get(event.child)
    if page is None:
        return None
    succeeded, failed = event.counts or (0, 0)
    if event.ending in (Ending.CANCELLED, Ending.TIMEOUT) or (event.ending is not Ending.SUCCESS and not failed):
        failed = min(found.size, found.count - page * found.size) - succeeded  # it was stopped before they began
    after = replace(found, succeeded=found.succeeded + succeeded, failed=found.failed + failed)
    data = EntryData(message=event.message, page=PageEnded(event.child, succeeded, failed))
    if is_intolerable(each, after):
        data.ms = _stood(state, index, now)
        result = msgspec.json.encode({"items": counts_of(after)})
        # The retries of the step are those of its items.
        fail = Fail(intolerable(after, event.error), result, retry=False)
        return _failed(prepared, state, index, fail, data, now)
    if found.has_more() and event.spare is not None:
        data.pages = [event.spare]
    return Change(Kind.PAGED, index, number, None, data)


def _child_ended(event: events.ChildEnded, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    index = event.step
    if index in state.maps:
        return _page_ended(event, prepared, state, now)
    if not _is_child_of(state, index, event.child):
        return None
    number, data = state.attempt_number(index), EntryData(ms=_stood(state, index, now), message=event.message)
    if event.ending is Ending.SUCCESS:
        data.result = msgspec.Raw(event.result)
        return Change(Kind.ENDED, index, number, Ending.SUCCESS, data)
    assert event.error is not None
    # A user who cancels the child does not want another one.
    fail = Fail(event.error, event.result, retry=event.ending is not Ending.CANCELLED)
    return _failed(prepared, state, index, fail, data, now)


def _child_continued(event: events.ChildContinued, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    index = event.step
    if not _is_child_of(state, index, event.child):
        return None
    data = EntryData(child=event.successor, message=event.message)
    return Change(Kind.STARTED, index, state.attempt_number(index), None, data)


def _is_child_of(state: RunState, index: int, child: str) -> bool:
    known = state.child_of.get(index)
    return known is not None and known.id == child


def _woke(event: events.Woke, prepared: Prepared, state: RunState, now: Instant) -> Change | Plan | None:
    index = event.step
    match state.phase[index]:
        case Phase.SLEEPING:
            return Change(Kind.ENDED, index, 1, Ending.SUCCESS, EntryData(ms=_stood(state, index, now)))
        case Phase.RETRYING:
            # No entry: this was decided when the timer was set.
            state.phase[index] = Phase.READY
            state.until.pop(index, None)
            state.ready[index] = None
            return Plan(None, take_ready(prepared, state), [], [])
        case Phase.WAITING:
            until = state.until.get(index)
            if index in state.notes and not state.failing and (until is None or now < until):
                return _note_due(prepared, state, index, now)
            return Plan(None, [], [], [index])
        case Phase.CHILD:
            error = StepError("timeout", f"its child {state.child_of[index].id} did not end in time")
            data = EntryData(ms=_stood(state, index, now))
            return _failed(prepared, state, index, Fail(error, timed_out=True), data, now)
        case _:
            return None


def _note_due(prepared: Prepared, state: RunState, index: int, now: Instant) -> Change | None:
    """Plan the reminder or the escalation of a wait, if that is due."""
    agenda = prepared.steps[index].agenda
    note = None if agenda is None else agenda.note(state.since[index], state.noted.get(index, 0))
    if note is None or note.at > now:
        return None
    return Change(Kind.NOTED, index, 1, None, EntryData(reminder=note.reminder))


def _noted(event: events.Noted, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    data = EntryData(note=msgspec.Raw(event.note), message=event.message)
    if isinstance(event.wait, str):
        return Change(Kind.NOTED, None, 1, None, data, event.wait) if event.wait in state.operations else None
    return Change(Kind.NOTED, event.wait, 1, None, data) if state.phase[event.wait] is Phase.WAITING else None


def _wait_expired(event: events.WaitExpired, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    index = event.step
    if state.phase[index] is not Phase.WAITING:
        return None
    until = state.until.get(index)
    if index in prepared.races and not state.failing and (until is None or now < until):
        # Its callback was closed because another member of its race was first, and that was not journalled yet: the
        # node may have died. The other one ends it. Its own time still counts, for a clock that went back.
        state.set_timer(index, Phase.WAITING, until)
        return None
    data = EntryData(ms=_stood(state, index, now))
    if state.failing:
        return Change(Kind.ENDED, index, 1, Ending.SKIPPED, data)  # a failing run waits for nothing any more
    agenda = prepared.steps[index].agenda
    if agenda is not None and agenda.on_timeout != FAILS:
        data.result = msgspec.Raw(timed_out_result(agenda.on_timeout, now))
        return Change(Kind.ENDED, index, 1, Ending.SUCCESS, data)
    data.error = StepError("timeout", "no callback came in time")
    return Change(Kind.ENDED, index, 1, Ending.TIMEOUT, data)


def _received(event: events.Received, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    phase = state.phase[event.step]
    data = EntryData(result=msgspec.Raw(event.result), message=event.message)
    if phase is Phase.WAITING:
        data.ms = _stood(state, event.step, now)
        return Change(Kind.ENDED, event.step, 1, Ending.SUCCESS, data)
    if phase is Phase.PENDING and event.step not in state.early:
        return Change(Kind.RECEIVED, event.step, 0, None, data)
    return None


def _stood(state: RunState, index: int, now: Instant) -> float:
    """Return how long a step has slept or waited, in milliseconds. No attempt measured it."""
    return max(0, now - state.since[index]) / 1000


def _adopted(event: events.Adopted, prepared: Prepared, state: RunState, now: Instant) -> Change:
    data = EntryData(by=event.by)
    data.crashed, delay = judge_crash(prepared, state, event.poison_after, event.poison_delay)
    data.until = None if delay is None else now + delay
    data.doubted = left_to_user(prepared, state, event.poison_after)
    return Change(Kind.ADOPTED, None, 0, None, data)


def _released(event: events.Released, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    index = event.step
    has_children = index in state.child_of or index in state.maps
    is_starting_child = has_children and state.phase[index] is Phase.RUNNING
    is_begun = index in state.begun and may_repeat(prepared, state, index)
    if not is_starting_child and not is_begun:
        return None
    return Change(Kind.RETRY, index, 0, None, EntryData(retry_at=now, released=True))


def _reused(event: events.Reused, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    known = (state.reused, state.reused_skips, state.reused_maps)
    if state.opens_at is None or any(event.step in steps for steps in known):
        return None
    if event.past is not None:
        data = EntryData(map=MapBegun(event.past.count, event.past.size), pages=list(event.past.pages))
        return Change(Kind.REUSED, event.step, 0, None, data)
    data = EntryData(result=msgspec.Raw(event.result)) if event.result else EntryData()
    return Change(Kind.REUSED, event.step, 0, Ending.SKIPPED if event.skipped else Ending.SUCCESS, data)


def _opened(event: events.Opened, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    return Change(Kind.OPENED, None, 0, None, None) if state.may_open(now) else None


def _cancelled(event: events.Cancelled, prepared: Prepared, state: RunState, now: Instant) -> Change:
    return Change(Kind.CANCELLED, None, 0, None, EntryData(by=event.by))


def _paused(event: events.Paused, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    if state.paused_by is not None or state.opens_at is not None:
        return None
    return Change(Kind.PAUSED, None, 0, None, EntryData(by=event.by))


def _resumed(event: events.Resumed, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    return None if state.paused_by is None else Change(Kind.RESUMED, None, 0, None, EntryData(by=event.by))


def _expired(event: events.Expired, prepared: Prepared, state: RunState, now: Instant) -> Change:
    return Change(Kind.EXPIRED, None, 0, None, None)


_CHANGES: Final[dict[type, Callable[[Any, Prepared, RunState, Instant], Change | Plan | None]]] = {
    events.AttemptEnded: _attempt_ended,
    events.AttemptStarting: _attempt_starting,
    events.ChildEnded: _child_ended,
    events.ChildContinued: _child_continued,
    events.Woke: _woke,
    events.WaitExpired: _wait_expired,
    events.Received: _received,
    events.Noted: _noted,
    events.Adopted: _adopted,
    events.Released: _released,
    events.Reused: _reused,
    events.Opened: _opened,
    events.Resolved: resolved,
    events.OperationBegan: functions.operation_began,
    events.OperationEnded: functions.operation_ended,
    events.Skipped: flow.skipped,
    events.Reattempted: flow.reattempted,
    events.Finished: flow.finished,
    events.Cancelled: _cancelled,
    events.Paused: _paused,
    events.Resumed: _resumed,
    events.Expired: _expired,
}
