"""How each kind of entry changes a state. The same code runs when it is decided and when it is folded."""

from __future__ import annotations

from typing import Final

import msgspec

from detent.graph.model import Ending, FailurePolicy, OnCrash, StepKind
from detent.instant import Instant, micros
from detent.planner import context
from detent.planner.judge import Judge
from detent.planner.prepared import Prepared
from detent.planner.settle import Settling, forget_child
from detent.planner.suspects import UNCERTAIN, delay_suspects, most_probes, struck_by_crash, wait_if_suspect
from detent.run.call import Op, name_of, op_of
from detent.run.journal import EntryData, Kind, PageEnded, ProbeAnswer
from detent.run.outcomes import StepError
from detent.run.state import Checkpoint, ChildRun, MapState, Operation, PastMap, Phase, Probing, RunState
from detent.run.status import Status, moved

# Members that are read for every step. A member of an enum class takes fifteen times as long to load as a global.
_BEGAN: Final = Kind.BEGAN
_NOTED: Final = Kind.NOTED
_SIGNAL: Final = Op.SIGNAL
_RETRYING: Final = Phase.RETRYING

_WAITING: Final = (StepKind.SLEEP, StepKind.WAIT, StepKind.SUBWORKFLOW)
_GIVEN_UP: Final = (StepKind.WAIT, StepKind.SUBWORKFLOW)


class Change(msgspec.Struct, frozen=True):
    """A journal entry before it has its number and time."""

    kind: Kind
    step: int | None
    attempt: int
    ending: Ending | None
    data: EntryData | None
    key: str | None = None  # of an operation of a durable function


def apply(prepared: Prepared, state: RunState, change: Change, judge: Judge, now: Instant) -> Settling:
    """Apply a change to the state. Return the decisions: waits that became active, and waits that were closed."""
    settling = Settling(prepared, state, judge, now)
    match change.kind:
        case Kind.ENDED:
            _ended(prepared, state, change, settling)
        case Kind.CHECKPOINT | Kind.BEGAN:
            apply_operation(prepared, state, change, now)
        case Kind.RETRY:
            _retry(prepared, state, change, settling)
        case Kind.PAGED:
            _paged(state, change)
        case Kind.STARTED | Kind.RECEIVED | Kind.REUSED:
            _noted(prepared, state, change, now)
        case Kind.NOTED:
            note_wait(prepared, state, change)
        case Kind.ADOPTED:
            _adopted(prepared, state, change, settling, now)
        case Kind.OPENED:
            _opened(state, settling)
        case Kind.PAUSED:
            _stopped_by_itself(state, change, settling)
            # A run that could not be planned is paused from any status.
            _pause(state, (change.data and change.data.by) or "", now, change.step)
        case Kind.RESUMED:
            _resumed(prepared, state, now)
        case Kind.FINISHED:
            state.is_finished = True
            settling.end_all(Ending.SKIPPED)
        case Kind.CANCELLED:
            _stopped_by_itself(state, change, settling)
            state.status = moved(state.status, Status.CANCELLED)
            settling.end_all(Ending.CANCELLED)
        case _:
            assert change.kind is Kind.EXPIRED
            state.status = moved(state.status, Status.TIMEOUT)
            settling.end_all(Ending.CANCELLED)
    return settling


def _noted(prepared: Prepared, state: RunState, change: Change, now: Instant) -> None:
    """Record a fact about a step that decides nothing yet."""
    index = change.step
    assert index is not None
    if change.data is not None and change.data.child is not None:
        _child_noted(prepared, state, index, change.data.child, now)
        return
    if change.kind is Kind.STARTED:
        state.begun.pop(index, None)  # so that the last started step is last
        state.begun[index] = change.attempt
        return
    assert change.data is not None
    if change.data.map is not None:
        state.reused_maps[index] = PastMap(change.data.map.count, change.data.map.size, tuple(change.data.pages))
    elif change.ending is Ending.SKIPPED:
        state.reused_skips[index] = None
    elif change.kind is Kind.RECEIVED:
        state.early[index] = bytes(change.data.result)
    else:
        state.reused[index] = bytes(change.data.result)


def note_wait(prepared: Prepared, state: RunState, change: Change) -> None:
    """Record a note of an open wait. After a reminder or the escalation, set the time of the next one."""
    index = change.step
    if index is None or change.data is None or change.data.reminder is None or state.phase[index] is not Phase.WAITING:
        return
    done = state.noted[index] = state.noted.get(index, 0) + 1
    agenda = prepared.steps[index].agenda
    note = None if agenda is None else agenda.note(state.since[index], done)
    state.set_note(index, None if note is None else note.at)


def _child_noted(prepared: Prepared, state: RunState, index: int, child: str, now: Instant) -> None:
    """Record the child run of a step, or the run that its child continues as.

    If the step is not in flight, this is a fold: an earlier owner has started the child.
    """
    before, limit = forget_child(state, index), prepared.steps[index].timeout
    until = before.until if before is not None else None if limit is None else now + micros(limit)
    state.child_of[index] = ChildRun(child, until)
    if not prepared.steps[index].is_detached:
        state.children[child] = index
    if state.phase[index] is not Phase.RUNNING:
        state.ready.pop(index, None)
        state.set_timer(index, Phase.CHILD, until)


def _paged(state: RunState, change: Change) -> None:
    """Record that pages of a map began, or that one has ended. The step starts what began, or collects the results.

    If the step is in flight, its attempt does that when it is over.
    """
    index, data = change.step, change.data
    assert index is not None
    assert data is not None
    if data.map is not None:
        state.maps[index] = MapState(data.map.count, data.map.size)
    found = state.maps[index]
    if data.page is not None:
        _page_ended(state, found, data.page)
    for child in data.pages:
        found.open[child] = len(found.pages)
        found.pages.append(child)
        state.children[child] = index
    if state.phase[index] is Phase.CHILD and (data.pages or not found.open):
        state.until.pop(index, None)
        _make_ready(state, index)


def _page_ended(state: RunState, found: MapState, page: PageEnded) -> None:
    found.open.pop(page.child, None)
    state.children.pop(page.child, None)
    found.succeeded += page.succeeded
    found.failed += page.failed


def take(state: RunState, step: int) -> None:
    """Mark a ready or retrying step as running, because it is in flight."""
    if state.phase[step] in (Phase.READY, Phase.RETRYING):
        state.ready.pop(step, None)
        state.until.pop(step, None)
        state.phase[step] = Phase.RUNNING
        state.running += 1


def _opened(state: RunState, settling: Settling) -> None:
    state.status = moved(state.status, Status.RUNNING)
    state.opens_at = None
    state.stalled = 0  # nothing was in flight, so no step caused the death of a node
    settling.open()


def _pause(state: RunState, by: str, now: Instant, step: int | None = None) -> None:
    _doubt_children(state)
    if state.paused_by is None:
        state.status = moved(state.status, Status.PAUSED)
        state.paused_at = now
    state.paused_by = by
    state.paused_step = step


def _unpause(prepared: Prepared, state: RunState) -> None:
    """End the pause. The pause may have come before a child was started, so steps look for their children."""
    state.status = moved(state.status, Status.RUNNING if state.opens_at is None else Status.PENDING)
    state.paused_by = state.paused_at = state.paused_step = None
    for index in prepared.child_steps:
        if state.phase[index] is Phase.CHILD:
            _ask_for_child(state, index)


def _ended(prepared: Prepared, state: RunState, change: Change, settling: Settling) -> None:
    index, data = change.step, change.data
    assert index is not None
    assert change.ending is not None
    was_in_doubt = index in state.doubts
    if state.stalled and prepared.steps[index].kind not in _WAITING:
        state.stalled = 0  # the end of a sleep, a wait or a child is not progress of a step that kills nodes
    state.attempts[index] += 1
    if state.errors:
        state.errors.pop(index, None)  # that was the error of an earlier attempt
    if data is not None:
        if data.result:
            result = state.results[index] = bytes(data.result)
            if state.readers is None and len(result) > context.SMALL:
                context.begin_counting(prepared, state)
        if data.message is not None:
            forget_child(state, index)  # if it has one, this is the message of its end
        if data.page is not None:
            _page_ended(state, state.maps[index], data.page)
        if data.finished:
            state.is_finished, state.finisher = True, index
            settling.finish(index)
            return
    is_skipped = change.ending is Ending.SKIPPED
    if is_skipped:
        # A wait, a child or a map has no code of its own: unless a user skipped it, a failing run gave it up.
        has_code = prepared.steps[index].kind not in _GIVEN_UP and index not in state.maps
        if has_code or (data is not None and data.by is not None):
            state.left_out[index] = None
    settling.end(index, change.ending, data.error if data else None)
    if is_skipped and data is not None:
        _go_on(prepared, state, data)
    if was_in_doubt and not state.doubts and state.paused_by == UNCERTAIN:
        _unpause(prepared, state)  # the doubt was the only reason for the pause


def _retry(prepared: Prepared, state: RunState, change: Change, settling: Settling) -> None:
    index, data = change.step, change.data
    assert index is not None
    assert data is not None
    probing = state.probes.get(index)
    if probing is not None and data.probe is not None:
        _probed(state, index, probing, data, settling.now)
        return
    if not data.released:
        _leave_child(state, index, data, settling)
        if prepared.steps[index].kind not in _WAITING:
            state.stalled = 0
        state.strikes.pop(index, None)
    _doubt_children(state)
    _has_tried(state, index, data.error, counts=change.attempt > 0)
    if data.look:
        _looked(state, index)
    if probing is not None and data.released:
        state.probes[index] = probing
    if data.retry_at is not None and prepared.steps[index].rerender:
        state.retried_at[index] = data.retry_at
    state.set_timer(index, Phase.RETRYING, data.retry_at)
    _go_on(prepared, state, data)


def _probed(state: RunState, index: int, probing: Probing, data: EntryData, now: Instant) -> None:
    """Record the answer of a probe that does not end the step: it is tried again, asked again, or left to a user.

    The answer is not progress: an attempt that kills its nodes before it has an effect would be made for ever.
    """
    assert data.probe is not None
    _has_tried(state, index, data.error, counts=False)
    if data.probe.answer is ProbeAnswer.DID_NOT_HAPPEN:
        state.refuted[index] = state.refuted.get(index, 0) + 1
    elif data.retry_at is None:
        _doubt(state, index, probing.attempt, now)
        return
    else:
        state.probes[index] = probing._replace(tries=probing.tries + 1)
    state.set_timer(index, Phase.RETRYING, data.retry_at)


def _looked(state: RunState, index: int) -> None:
    """Count a look of a repeated step. It was a success, so failed attempts before it do not count any more."""
    state.looks[index] = state.looks.get(index, 0) + 1
    state.attempts[index] = 0
    state.adoptions_before[index] = state.adoptions
    state.errors.pop(index, None)


def _leave_child(state: RunState, index: int, data: EntryData | None, settling: Settling) -> None:
    """Forget the child run of a step whose attempt is over, or its map. Cancel what is left of them.

    If this is the message of a child's end, that child is not cancelled.
    """
    if data is not None and data.page is not None:
        _page_ended(state, state.maps[index], data.page)
    elif data is not None and data.message is not None:
        forget_child(state, index)
        return
    settling.leave_child(index)
    state.maps.pop(index, None)


def _go_on(prepared: Prepared, state: RunState, data: EntryData) -> None:
    """End the pause of a run after a user's command for a step, unless another step is uncertain."""
    if data.by is not None and state.paused_by is not None and not state.doubts:
        _unpause(prepared, state)


def _has_tried(state: RunState, index: int, error: StepError | None, *, counts: bool = True) -> None:
    """Record that an attempt is over but its step is not.

    An attempt that never began does not count. One that died with its node is counted already.
    """
    state.attempts[index] += counts
    state.begun.pop(index, None)
    state.doubts.pop(index, None)
    state.probes.pop(index, None)
    state.ready.pop(index, None)
    if state.phase[index] is Phase.RUNNING:
        state.running -= 1
    if error is not None:
        state.errors[index] = error


def _stopped_by_itself(state: RunState, change: Change, settling: Settling) -> None:
    """Make a step ready whose own code paused or cancelled the run. It is retried if the run continues."""
    if change.step is not None:
        _leave_child(state, change.step, change.data, settling)
        state.until.pop(change.step, None)
        state.stalled = 0
        state.strikes.pop(change.step, None)
        _has_tried(state, change.step, change.data.error if change.data else None)
        _make_ready(state, change.step)


def _make_ready(state: RunState, index: int) -> None:
    state.phase[index] = Phase.READY
    state.ready[index] = None


def apply_operation(prepared: Prepared, state: RunState, change: Change, now: Instant) -> None:
    """Record that an operation of a durable function began or ended. After an end, the function is called again."""
    key, data = change.key, change.data or EntryData()
    assert key is not None
    if change.kind is _NOTED:
        return
    if state.stalled or state.strikes:
        _function_went_on(prepared, state, key)
    before = state.operations.get(key)
    if before is not None and before.child is not None:
        state.children.pop(before.child, None)
    if change.kind is _BEGAN:
        asks = data.asks or (before is not None and before.asks)
        state.operations[key] = Operation(key, data.until, data.child, change.attempt, data.error, now, asks)
        if data.child is not None:
            state.children[data.child] = key
        return
    assert change.ending is not None
    state.operations.pop(key, None)
    if key.startswith(_SIGNAL):
        _heard(state, key)
    state.history[key] = Checkpoint(key, change.ending, bytes(data.result), data.error, now, change.attempt)
    if prepared.steps and state.phase[0] is _RETRYING:
        state.until.pop(0, None)
        _make_ready(state, 0)


def _doubt_children(state: RunState) -> None:
    """Record that the awaited children may not exist, because an attempt may have stopped while it started them.

    An attempt that only suspends has started them all.
    """
    if state.children:
        state.unsure = frozenset(state.children)


def _function_went_on(prepared: Prepared, state: RunState, key: str) -> None:
    """Clear the suspicion of a function after one of its steps has ended.

    Sleeps, waits, signals and children do not count: they continue beside a step that kills its nodes.
    """
    if op_of(key) is Op.STEP:
        state.stalled = 0
        state.strikes.pop(0, None)
        if prepared.steps and prepared.steps[0].on_crash is OnCrash.RETRY:
            state.begun.pop(0, None)


def _heard(state: RunState, key: str) -> None:
    """Remove the oldest open request for a signal, because the signal was received."""
    asked = f"{Op.ASK}:{name_of(key)}"
    first = next((other for other in state.operations if other.partition("#")[0] == asked), None)
    if first is not None:
        del state.operations[first]


def _adopted(prepared: Prepared, state: RunState, change: Change, settling: Settling, now: Instant) -> None:
    struck = struck_by_crash(prepared, state)
    _doubt_children(state)
    state.adoptions += 1
    state.stalled += 1
    for index, until in state.until.items():
        if state.phase[index] is Phase.RETRYING and until is not None and until > now:
            state.adoptions_before[index] += 1  # it was not in flight, so the crash does not count as an attempt
    for index in prepared.child_steps:
        _adopt_child(state, index, now)
    crashed = dict(change.data.crashed) if change.data else {}
    doubted = change.data.doubted if change.data else []
    for index in list(state.begun):
        step = prepared.steps[index]
        if step.on_crash is OnCrash.PROBE:
            _ask_probe(prepared, state, index, now, may_ask=step.name not in doubted)
        elif step.name in crashed:
            continue
        elif step.on_crash is OnCrash.FAIL:
            crashed[step.name] = StepError("crashed", f"the node that ran '{step.name}' died; it may have happened")
        elif step.on_crash is OnCrash.ASK:
            _doubt(state, index, state.begun.pop(index), now)
    for index in struck:
        state.begun.pop(index, None)
        state.strikes[index] = state.strikes.get(index, 0) + 1
    ends = {prepared.numbers[name]: error for name, error in crashed.items()}
    for index in ends:
        take(state, index)  # each was in flight, so the failure of another one must not skip it
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


def _adopt_child(state: RunState, index: int, now: Instant) -> None:
    """Start a step with a child run again. It looks whether the child exists, and the crash counts as no attempt."""
    phase, until = state.phase[index], state.until.get(index)
    if phase is Phase.CHILD:
        _ask_for_child(state, index)
    if phase in (Phase.CHILD, Phase.READY) or (phase is Phase.RETRYING and until is not None and until <= now):
        state.adoptions_before[index] += 1


def _ask_for_child(state: RunState, index: int) -> None:
    """Start a step again that waits for its child run: it may have stopped before the child was started."""
    state.until.pop(index, None)
    _make_ready(state, index)


def pauses_on_failure(prepared: Prepared, index: int, ending: Ending) -> bool:
    """Return whether the run pauses when this step ends so, because no edge of the graph handles that ending."""
    handled = any(ending in edge.on for edge in prepared.steps[index].outgoing)
    return prepared.graph.on_failure is FailurePolicy.PAUSE and not handled


def pause_reason(prepared: Prepared, index: int) -> str:
    """Return what users see as the reason of such a pause."""
    return f"a failure of step '{prepared.steps[index].name}'"


def _ask_probe(prepared: Prepared, state: RunState, index: int, now: Instant, *, may_ask: bool) -> None:
    """Let the next attempt of a step ask its probe, unless it was asked too often or may not be asked."""
    begun, asked = state.begun.pop(index), state.probes.pop(index, None)
    # A probe whose start is in the journal was in flight itself: that of a suspect run.
    probing = Probing(begun) if asked is None else asked._replace(tries=asked.tries + 1)
    if not may_ask or probing.tries >= most_probes(prepared.graph.steps[index]):
        _doubt(state, index, probing.attempt, now)
        return
    state.probes[index] = probing
    state.until.pop(index, None)
    _make_ready(state, index)


def _doubt(state: RunState, index: int, attempt: int, now: Instant) -> None:
    """Mark a step as uncertain, because its effect may have happened. Pause the run until a user resolves the step."""
    state.phase[index] = Phase.UNCERTAIN
    state.doubts[index] = attempt
    state.ready.pop(index, None)
    state.until.pop(index, None)
    if state.paused_by is None:
        _pause(state, UNCERTAIN, now)


def _resumed(prepared: Prepared, state: RunState, now: Instant) -> None:
    _unpause(prepared, state)
    for index in sorted(state.doubts):
        if prepared.steps[index].on_crash is OnCrash.PROBE:
            state.probes[index] = Probing(state.doubts[index])  # a resume does not say that it did not happen
        if not wait_if_suspect(state, index, now):
            _make_ready(state, index)
    state.doubts.clear()
