"""What each kind of entry does to a state: the same code when it is decided and when it is read again."""

from __future__ import annotations

from typing import Final

import msgspec

from detent.graph.model import Ending, FailurePolicy, OnCrash, StepKind
from detent.instant import Instant
from detent.planner.judge import Judge
from detent.planner.prepared import Prepared
from detent.planner.settle import Settling
from detent.planner.suspects import delay_suspects, struck_by_crash, wait_if_suspect
from detent.run.call import Op, name_of, op_of
from detent.run.journal import EntryData, Kind
from detent.run.outcomes import StepError
from detent.run.state import Checkpoint, Operation, Phase, RunState
from detent.run.status import Status, moved

UNCERTAIN = "uncertain"
_WAITING: Final = (StepKind.SLEEP, StepKind.WAIT)


class Change(msgspec.Struct, frozen=True):
    """An entry before it has its place and time."""

    kind: Kind
    step: int | None
    attempt: int
    ending: Ending | None
    data: EntryData | None
    key: str | None = None  # of an operation of a durable function


def apply(prepared: Prepared, state: RunState, change: Change, judge: Judge, now: Instant) -> Settling:
    """Change the state. Return what was decided: waits that became active, and waits that were closed."""
    settling = Settling(prepared, state, judge, now)
    match change.kind:
        case Kind.ENDED:
            _ended(prepared, state, change, settling)
        case Kind.CHECKPOINT | Kind.BEGAN:
            _operation(prepared, state, change, now)
        case Kind.RETRY:
            _retry(state, change)
        case Kind.STARTED | Kind.RECEIVED | Kind.REUSED:
            _noted(state, change)
        case Kind.ADOPTED:
            _adopted(prepared, state, change, settling, now)
        case Kind.OPENED:
            _opened(state, settling)
        case Kind.PAUSED:
            _stopped_by_itself(state, change)
            # A run that could not be planned is paused whatever it was.
            _pause(state, (change.data and change.data.by) or "", now, change.step)
        case Kind.RESUMED:
            _resumed(state, now)
        case Kind.FINISHED:
            state.is_finished = True
            settling.end_all(Ending.SKIPPED)
        case Kind.CANCELLED:
            _stopped_by_itself(state, change)
            state.status = moved(state.status, Status.CANCELLED)
            settling.end_all(Ending.CANCELLED)
        case _:
            assert change.kind is Kind.EXPIRED
            state.status = moved(state.status, Status.TIMEOUT)
            settling.end_all(Ending.CANCELLED)
    return settling


def _noted(state: RunState, change: Change) -> None:
    """Something to know of a step that changes nothing yet."""
    index = change.step
    assert index is not None
    if change.kind is Kind.STARTED:
        state.begun.pop(index, None)  # the one started last stands last
        state.begun[index] = change.attempt
        return
    assert change.data is not None
    if change.ending is Ending.SKIPPED:
        state.reused_skips[index] = None
    elif change.kind is Kind.RECEIVED:
        state.early[index] = bytes(change.data.result)
    else:
        state.reused[index] = bytes(change.data.result)


def take(state: RunState, step: int) -> None:
    """The step is in flight: it is not ready any more, nor waiting to be tried again."""
    if state.phase[step] in (Phase.READY, Phase.RETRYING):
        state.ready.pop(step, None)
        state.until.pop(step, None)
        state.phase[step] = Phase.RUNNING
        state.running += 1


def _opened(state: RunState, settling: Settling) -> None:
    state.status = moved(state.status, Status.RUNNING)
    state.opens_at = None
    state.stalled = 0  # nothing was in flight, so no step is to blame for a node that died
    settling.open()


def _pause(state: RunState, by: str, now: Instant, step: int | None = None) -> None:
    if state.paused_by is None:
        state.status = moved(state.status, Status.PAUSED)
        state.paused_at = now
    state.paused_by = by
    state.paused_step = step


def _unpause(state: RunState) -> None:
    state.status = moved(state.status, Status.RUNNING if state.opens_at is None else Status.PENDING)
    state.paused_by = state.paused_at = state.paused_step = None


def _ended(prepared: Prepared, state: RunState, change: Change, settling: Settling) -> None:
    index, data = change.step, change.data
    assert index is not None
    assert change.ending is not None
    was_in_doubt = index in state.doubts
    if state.stalled and prepared.steps[index].kind not in _WAITING:
        state.stalled = 0  # the end of a sleep or a wait says nothing about the step that kills its nodes
    state.attempts[index] += 1
    if data is not None and data.result:
        state.results[index] = bytes(data.result)
    state.errors.pop(index, None)  # an earlier attempt's error is not this one's
    if data is not None and data.finished:
        state.is_finished, state.finisher = True, index
        settling.finish(index)
        return
    # A wait has no code of its own: without a person who skipped it, a failing run gave it up.
    is_given_up = prepared.steps[index].kind is StepKind.WAIT and (data is None or data.by is None)
    if change.ending is Ending.SKIPPED and not is_given_up:
        state.left_out[index] = None
    settling.end(index, change.ending, data.error if data else None)
    if data is not None and change.ending is Ending.SKIPPED:
        _go_on(state, data)
    if was_in_doubt and not state.doubts and state.paused_by == UNCERTAIN:
        _unpause(state)  # it stood still for that alone


def _retry(state: RunState, change: Change) -> None:
    index, data = change.step, change.data
    assert index is not None
    assert data is not None
    if not data.released:
        state.stalled = 0
        state.strikes.pop(index, None)
    _has_tried(state, index, data.error, counts=change.attempt > 0)
    state.set_timer(index, Phase.RETRYING, data.retry_at)
    _go_on(state, data)


def _go_on(state: RunState, data: EntryData) -> None:
    """What a person said about a step ends the pause of its run, unless another step is in doubt."""
    if data.by is not None and state.paused_by is not None and not state.doubts:
        _unpause(state)


def _has_tried(state: RunState, index: int, error: StepError | None, *, counts: bool = True) -> None:
    """An attempt is over, and its step is not. One that never began does not count, nor does one that died with its
    node: that is counted already."""
    state.attempts[index] += counts
    state.begun.pop(index, None)
    state.doubts.pop(index, None)
    state.ready.pop(index, None)
    if state.phase[index] is Phase.RUNNING:
        state.running -= 1
    if error is not None:
        state.errors[index] = error


def _stopped_by_itself(state: RunState, change: Change) -> None:
    """A step whose own code stopped its run; if that goes on, it is tried again."""
    if change.step is not None:
        state.stalled = 0
        state.strikes.pop(change.step, None)
        _has_tried(state, change.step, change.data.error if change.data else None)
        _make_ready(state, change.step)


def _make_ready(state: RunState, index: int) -> None:
    state.phase[index] = Phase.READY
    state.ready[index] = None


def _operation(prepared: Prepared, state: RunState, change: Change, now: Instant) -> None:
    """A durable function began something, or something of it has ended; then it is to look at it."""
    key, data = change.key, change.data or EntryData()
    assert key is not None
    if state.stalled or state.strikes:
        _function_went_on(prepared, state, key)
    if change.kind is Kind.BEGAN:
        state.operations[key] = Operation(key, data.until, data.child, change.attempt, data.error, now)
        return
    assert change.ending is not None
    state.operations.pop(key, None)
    if key.startswith(Op.SIGNAL):
        _heard(state, key)
    state.history[key] = Checkpoint(key, change.ending, bytes(data.result), data.error, now, change.attempt)
    if prepared.steps and state.phase[0] is Phase.RETRYING:
        state.until.pop(0, None)
        _make_ready(state, 0)


def _function_went_on(prepared: Prepared, state: RunState, key: str) -> None:
    """A step of a suspect function has ended, so the function is not suspect any more. Sleeps, waits, signals and
    children do not count: they go on beside a step that kills its nodes."""
    if op_of(key) is Op.STEP:
        state.stalled = 0
        state.strikes.pop(0, None)
        if prepared.steps and prepared.steps[0].on_crash is OnCrash.RETRY:
            state.begun.pop(0, None)


def _heard(state: RunState, key: str) -> None:
    """A signal came: the one who asked for it first has got it."""
    asked = f"{Op.ASK}:{name_of(key)}"
    first = next((other for other in state.operations if other.partition("#")[0] == asked), None)
    if first is not None:
        del state.operations[first]


def _adopted(prepared: Prepared, state: RunState, change: Change, settling: Settling, now: Instant) -> None:
    struck = struck_by_crash(prepared, state)
    state.adoptions += 1
    state.stalled += 1
    for index, until in state.until.items():
        if state.phase[index] is Phase.RETRYING and until is not None and until > now:
            state.adoptions_before[index] += 1  # it was not being tried, so the crash is not an attempt of it
    crashed = dict(change.data.crashed) if change.data else {}
    for index in list(state.begun):
        step = prepared.steps[index]
        if step.name in crashed:
            continue
        if step.on_crash is OnCrash.FAIL:
            crashed[step.name] = StepError("crashed", f"the node that ran '{step.name}' died; it may have happened")
        elif step.on_crash is OnCrash.ASK:
            _doubt(state, index, now)
    for index in struck:
        state.begun.pop(index, None)
        state.strikes[index] = state.strikes.get(index, 0) + 1
    ends = {prepared.numbers[name]: error for name, error in crashed.items()}
    for index in ends:
        take(state, index)  # each was in flight, so none is given up because another one failed
    for index, error in ends.items():
        state.stalled = 0
        state.strikes.pop(index, None)
        if pauses_on_failure(prepared, index, Ending.FAILED):
            _has_tried(state, index, error, counts=False)
            _make_ready(state, index)
            _pause(state, pause_reason(prepared, index), now, index)
        else:
            settling.end(index, Ending.FAILED, error)
    if change.data and change.data.until is not None:
        delay_suspects(state, struck, change.data.until, now)


def pauses_on_failure(prepared: Prepared, index: int, ending: Ending) -> bool:
    """Whether a run stands still when this step ends so, because nothing of its graph takes care of that."""
    handled = any(ending in edge.on for edge in prepared.steps[index].outgoing)
    return prepared.graph.on_failure is FailurePolicy.PAUSE and not handled


def pause_reason(prepared: Prepared, index: int) -> str:
    """Who paused such a run, as it is shown to people."""
    return f"a failure of step '{prepared.steps[index].name}'"


def _doubt(state: RunState, index: int, now: Instant) -> None:
    """Nobody knows whether it happened: the run stands still until a person says."""
    state.phase[index] = Phase.UNCERTAIN
    state.doubts[index] = state.begun.pop(index)
    state.ready.pop(index, None)
    state.until.pop(index, None)
    if state.paused_by is None:
        _pause(state, UNCERTAIN, now)


def _resumed(state: RunState, now: Instant) -> None:
    _unpause(state)
    for index in sorted(state.doubts):
        if not wait_if_suspect(state, index, now):
            _make_ready(state, index)
    state.doubts.clear()
