"""Parts of the engine with one bug each, as patches: (class or table, name, what stands there instead)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any, Final

from msgspec import structs

from detent.clock import DatabaseTime
from detent.engine.attempts import Attempts
from detent.engine.background import Watchdog
from detent.engine.callbacks import WaitCloser
from detent.engine.claims import Claims
from detent.engine.committer import Committer, Fenced, _Refused
from detent.engine.node import Node
from detent.engine.owned_run import OwnedRun
from detent.engine.runner import Runner
from detent.engine.suspect_lane import SuspectLane
from detent.engine.timers import Timers
from detent.engine.write import PendingWrite
from detent.errors import CommitUnknown, StoreBusy, StoreError, Unavailable
from detent.expressions import Scope
from detent.instant import SECOND
from detent.planner.apply import Change
from detent.planner.prepared import Prepared
from detent.planner.reuse import Reuse
from detent.planner.scope import in_context
from detent.run import events
from detent.run.journal import Kind
from detent.run.plan import Plan, StartAttempt
from detent.run.start import StartRequest
from detent.run.state import Phase, RunState
from detent.store.rows import Flush, Flushed

planning = import_module("detent.planner.advance")
suspecting = import_module("detent.planner.suspects")
applying = import_module("detent.planner.apply")
scoping = import_module("detent.planner.scope")
running = import_module("detent.engine.runner")
living = import_module("detent.engine.node")
committing = import_module("detent.engine.committer")
processing = import_module("detent.triggers.processor")
doing_again = import_module("detent.commands.rerun")

Patches = tuple[tuple[Any, Any, Any], ...]
#: The least that the text of an instant shows, in microseconds.
MILLISECOND: Final = 1_000

_struck = suspecting.struck_by_crash
_delay = applying.delay_suspects
_write = Runner.write
_durable = Runner.on_durable
_park = Runner._park
_stage_of = running.stage_of
_done = Attempts._done
_due = RunState.due
_add_to = PendingWrite.add_to
_bring_in = Claims._bring_in
_take = Claims._take
_open = Runner.open
_take_ready = planning.take_ready
_received = planning._CHANGES[events.Received]
_wait_expired = planning._CHANGES[events.WaitExpired]
_woke = planning._CHANGES[events.Woke]


async def _resend_blindly(self: Committer, flush: Flush, *, again: bool, patience: float | None = None) -> Flushed:
    while True:
        try:
            flushed = await self._store.flush(self._node, self.epoch, flush)
        except (StoreBusy, CommitUnknown):
            await asyncio.sleep(0.05)
        except StoreError as error:
            raise _Refused(error, again) from error
        else:
            if flushed is None:
                raise Fenced
            return flushed


async def _read_back(self: Committer, flush: Flush, *, again: bool, patience: float | None = None) -> Flushed:
    """Looks whether it is there, and takes "not there" for an answer."""
    while True:
        try:
            flushed = await self._store.flush(self._node, self.epoch, flush)
        except StoreBusy:
            await asyncio.sleep(0.05)
        except CommitUnknown:
            if await _is_there(self, flush):
                return Flushed(self._time.now(), frozenset())
        except StoreError as error:
            raise _Refused(error, again) from error
        else:
            if flushed is None:
                raise Fenced
            return flushed


async def _is_there(self: Committer, flush: Flush) -> bool:
    while True:
        try:
            journals = await self._store.journals([entry.run for entry in flush.entries])
        except (StoreBusy, CommitUnknown):
            await asyncio.sleep(0.05)
        else:
            return all(entry in journals.get(entry.run, ()) for entry in flush.entries)


async def _take_refusal_for_success(
    self: Committer, flush: Flush, *, again: bool, patience: float | None = None
) -> Flushed:
    while True:
        try:
            flushed = await self._store.flush(self._node, self.epoch, flush, again=again)
        except (StoreBusy, CommitUnknown):
            again = True
            await asyncio.sleep(0.05)
        else:
            return flushed or Flushed(self._time.now(), frozenset())


def _start_before_the_flush(self: Runner, run: OwnedRun, plan: Plan, **rest: Any) -> None:
    starts, plan.start = plan.start, []
    _write(self, run, plan, **rest)
    self._start(run, starts)


def _consume_without_deleting(self: PendingWrite, flush: Flush) -> None:
    self.consumed = ()
    _add_to(self, flush)


def _leave_skipped_waits_open(self: PendingWrite, flush: Flush) -> None:
    self.plan.closed = []
    _add_to(self, flush)


def _stop_at_once(self: WaitCloser, run: OwnedRun, event: events.Event, message: int | None) -> bool:
    return False


def _start_ready_at_once(self: Runner, run: OwnedRun) -> None:
    self._start(run, _take_ready(run.prepared, run.state))


def _go_before_the_adoption(self: Claims, run: Any, *rest: Any) -> None:
    _bring_in(self, run, *rest)
    owned = self._runner.owned[run.id]
    begun = [index for index, phase in enumerate(owned.state.phase) if phase is Phase.RUNNING]
    self._runner._start(owned, [StartAttempt(index, owned.state.attempt_number(index), False) for index in begun])


def _always_sure(self: Node) -> bool:
    return True


def _sure_again(self: Node) -> bool:
    until = self._heartbeat.confirmed() + self._tuning.lease - self._tuning.margin
    return self._clock.monotonic() < until and not self._heartbeat.lost()


async def _sleeping_watchdog(self: Watchdog) -> float:
    return 60.0


async def _hasty_watchdog(self: Watchdog) -> float:
    owned = await self._store.owned(self._node)
    loose = {key: 0 for key in owned if not self._runner.knows(*key)}
    lost = [key for key in loose if key in self._suspects]
    self._suspects = loose
    if lost:
        await self._store.release(self._node, self._committer.epoch, lost)
    return self._tuning.watch


def _own_clock(self: DatabaseTime) -> int:
    return self._clock.wall()


def _time_out_unasked(event: events.Woke, prepared: Prepared, state: RunState, now: int) -> Any:
    if state.phase[event.step] is Phase.WAITING:
        return _wait_expired(events.WaitExpired(event.step), prepared, state, now)
    return _woke(event, prepared, state, now)


def _drop_early(event: events.Received, prepared: Prepared, state: RunState, now: int) -> Any:
    if state.phase[event.step] is Phase.PENDING:
        return None
    return _received(event, prepared, state, now)


def _park_for_ever(self: Runner, run: OwnedRun, wake: int | None) -> None:
    _park(self, run, None)


def _stage_of_the_first(prepared: Prepared, state: RunState) -> Any:
    found = _stage_of(prepared, state)
    return found and found._replace(step=prepared.steps[0].name)


def _ring_for_the_last(self: Timers) -> None:
    self._armed, self._handle = None, None
    now = self._time.now()
    while self._heap and self._heap[0][0] <= now:
        at, _, run = self._heap.pop(0)
        if run.timer == at and not run.gone:
            run.timer = None
            self._due(run)


def _due_all_at_once(self: RunState, now: int) -> list[int]:
    return list(_due(self, now))


def _leak_slots(self: Attempts, attempt: asyncio.Task[Any], *rest: Any, **options: Any) -> None:
    _done(self, attempt, *rest, **options)
    self.in_flight += attempt.cancelled()


def _ignore_pause(self: Runner, run: OwnedRun, index: int) -> bool:
    return not (self.is_draining or run.gone or run.state.is_over) and self._may_act()


def _keep_paused(event: events.Resumed, prepared: Prepared, state: RunState, now: int) -> Change | None:
    return None


def _start_unrecorded(prepared: Prepared, state: RunState) -> list[StartAttempt]:
    return [start._replace(on_record=False) for start in _take_ready(prepared, state)]


def _keep_what_was_refused(self: Runner, write: PendingWrite) -> None:
    return None


def _open_at_once(self: Claims, run: Any, *rest: Any) -> None:
    _bring_in(self, run, *rest)
    owned = self._runner.owned[run.id]
    if owned.state.opens_at is not None:
        self._runner.handle(owned, events.Opened())


def _let_it_begin(self: Runner, run: OwnedRun, *, is_archived: bool) -> None:
    _open(self, run, is_archived=False)


async def _ask_at_the_claim(self: Claims, runs: Any) -> None:
    """A postponed run is opened or cancelled by what its workflow was when a node claimed it."""
    await _take(self, runs)
    asked = {run.workflow for run in runs}
    self._runner.__dict__.setdefault("archived", {}).update(
        {run.id: run.workflow in found for found in [await self._store.archived(sorted(asked))] for run in runs}
    )


def _as_asked(self: Runner, run: OwnedRun, *, is_archived: bool) -> None:
    _open(self, run, is_archived=self.__dict__.get("archived", {}).get(run.id, is_archived))


def _open_before_its_time(event: events.Opened, prepared: Prepared, state: RunState, now: int) -> Any:
    return None if state.opens_at is None else Change(Kind.OPENED, None, 0, None, None)


def _forget_those_who_wait(self: Runner, write: PendingWrite, flushed: Flushed) -> None:
    if write.run in flushed.refused and write.done is not None:
        write.done.set_result(flushed)
        self._was_not_started(write)
    else:
        _durable(self, write, flushed)


def _reuse_every_success(prepared: Prepared, state: RunState) -> Reuse:
    return Reuse({index: state.results.get(index, b"") for index, end in enumerate(state.ending) if end == "success"})


def _take_over_nothing(prepared: Prepared, state: RunState) -> Reuse:
    return Reuse({})


_start_request: Callable[..., StartRequest] = processing._start_request


def _fire_without_a_name(firing: Any, trigger: Any, payload: Any) -> StartRequest:
    return structs.replace(_start_request(firing, trigger, payload), request_id=None)


def _release_nothing(self: Runner) -> None:
    return None


def _all_at_once(self: SuspectLane, run: OwnedRun, start: StartAttempt) -> None:
    run.is_in_lane = True
    self._begin(run, start)


def _first_come(self: SuspectLane, run: OwnedRun, start: StartAttempt) -> None:
    run.is_in_lane = True
    self._waiting.setdefault(0, deque()).append((run, start))
    self._go_on()


def _keep_the_turn(self: SuspectLane, run: OwnedRun, start: StartAttempt | None = None) -> None:
    return None


def _begin_unrecorded(self: Runner, run: OwnedRun, start: StartAttempt) -> bool:
    return False


def _strike_the_ready(prepared: Prepared, state: RunState) -> list[int]:
    return [*_struck(prepared, state), *(index for index in state.ready if state.stalled >= 2)][:1]


def _strike_the_waiting(prepared: Prepared, state: RunState) -> list[int]:
    waiting = (index for index, phase in enumerate(state.phase) if phase in (Phase.SLEEPING, Phase.WAITING))
    return [*_struck(prepared, state), *(index for index in waiting if state.stalled >= 2)][:1]


def _delay_nothing(state: RunState, struck: Collection[int], until: int, now: int) -> None:
    return None


def _delay_alike(state: RunState, struck: Collection[int], until: int, now: int) -> None:
    """Forgets the strikes of steps that were not in flight at this crash."""
    kept = {index: strikes for index, strikes in state.strikes.items() if index not in struck}
    for index in kept:
        state.strikes[index] = 0
    _delay(state, struck, until, now)
    state.strikes.update(kept)


def _always_a_second(strikes: int, longest: float) -> int:
    return SECOND


def _forget_release(event: events.Released, prepared: Prepared, state: RunState, now: int) -> None:
    return None


def _empty_while_claiming(self: Node) -> bool:
    return not self.runner.owned and not self.runner.releases and self.committer.is_idle() and not self._followed


OF_LATE_CLAIMS: Final[dict[str, Patches]] = {
    "a node stops while a claim is on its way": ((Node, "is_empty", _empty_while_claiming),),
}
OF_STOPS: Final[dict[str, Patches]] = {
    "a graceful stop is an adoption": ((Runner, "release", _release_nothing),),
}
OF_SUSPECTS: Final[dict[str, Patches]] = {
    "two suspects at once on a node": ((SuspectLane, "add", _all_at_once),),
    "a suspect starts unrecorded": ((Runner, "_record", _begin_unrecorded),),
    "a suspect starts without a delay": ((applying, "delay_suspects", _delay_nothing),),
    "a suspect with strikes goes before those without": ((applying, "delay_suspects", _delay_alike),),
    "the delay of a suspect does not grow": ((suspecting, "suspect_delay", _always_a_second),),
}
OF_READY_STEPS: Final[dict[str, Patches]] = {
    "a step that was only ready is struck": (
        (suspecting, "struck_by_crash", _strike_the_ready),
        (applying, "struck_by_crash", _strike_the_ready),
    ),
}
OF_WAITING_STEPS: Final[dict[str, Patches]] = {
    "a sleep or a wait is struck": (
        (suspecting, "struck_by_crash", _strike_the_waiting),
        (applying, "struck_by_crash", _strike_the_waiting),
    ),
}
OF_LANES: Final[dict[str, Patches]] = {
    "the turn of a suspect never ends": ((SuspectLane, "leave", _keep_the_turn),),
}
OF_RELEASES: Final[dict[str, Patches]] = {
    "a released suspect stays on record": ((planning._CHANGES, events.Released, _forget_release),),
}
OF_TURNS: Final[dict[str, Patches]] = {
    "suspects are served as they come": ((SuspectLane, "add", _first_come),),
}
OF_FIRINGS: Final[dict[str, Patches]] = {
    "a firing starts without its request id": ((processing, "_start_request", _fire_without_a_name),),
}
OF_ARCHIVES: Final[dict[str, Patches]] = {
    "nothing asks whether a workflow is archived": ((Runner, "open", _let_it_begin),),
    "a claim asks whether a workflow is archived": ((Claims, "_take", _ask_at_the_claim), (Runner, "open", _as_asked)),
}
OF_STARTS: Final[dict[str, Patches]] = {
    "a refused start is kept in memory": ((Runner, "_was_not_started", _keep_what_was_refused),),
    "a delayed run is opened when it is claimed": (
        (Claims, "_bring_in", _open_at_once),
        (planning._CHANGES, events.Opened, _open_before_its_time),
    ),
}
OF_ROOM: Final[dict[str, Patches]] = {
    "those who wait for room are forgotten after a refused start": ((Runner, "on_durable", _forget_those_who_wait),),
}
OF_AGAIN: Final[dict[str, Patches]] = {
    "a retry keeps what rests on a failure": ((doing_again, "retry_plan", _reuse_every_success),),
    "a retry does everything again": ((doing_again, "retry_plan", _take_over_nothing),),
}
OF_COMMITS: Final[dict[str, Patches]] = {
    "a start of unknown fate is answered as not made": ((committing, "_unknown", Unavailable),),
    "resend without a new epoch": ((Committer, "_send", _resend_blindly),),
    "reading back without a new epoch": ((Committer, "_send", _read_back),),
    "effects before the flush returned": ((Runner, "write", _start_before_the_flush),),
    "a retry begins before its entry is durable": ((Runner, "_start_ready", _start_ready_at_once),),
    "message consumed without deleting it": ((PendingWrite, "add_to", _consume_without_deleting),),
}


def _now_of_the_attempt(scope: Scope, state: RunState, now: int, place: str) -> Scope:
    return in_context(scope, state, now + state.adoptions * MILLISECOND, place)


def _id_of_the_attempt(scope: Scope, state: RunState, now: int, place: str) -> Scope:
    return in_context(scope, state, now, f"{place}/{state.attempt_number(0)}")


OF_BODIES: Final[dict[str, Patches]] = {
    "now() moves with an adoption": ((scoping, "in_context", _now_of_the_attempt),),
    "uuid() depends on the attempt": ((scoping, "in_context", _id_of_the_attempt),),
}
OF_OWNERSHIP: Final[dict[str, Patches]] = {
    "effects of an adopted run before its entry": ((Claims, "_bring_in", _go_before_the_adoption),),
    "a watchdog that sleeps": ((Watchdog, "poll", _sleeping_watchdog),),
    "the start of a dangerous step is not journalled": (
        (planning, "take_ready", _start_unrecorded),
        (running, "take_ready", _start_unrecorded),
    ),
}
OF_LEASES: Final[dict[str, Patches]] = {
    "a node that is always sure of its lease": ((Node, "is_sure", _always_sure),),
}
OF_DOUBTS: Final[dict[str, Patches]] = {
    "a doubt about the lease that ends again": ((Node, "is_sure", _sure_again), (living, "LEASE_CHECK", 5.0)),
}
OF_HASTE: Final[dict[str, Patches]] = {
    "a watchdog that does not wait for claims": ((Watchdog, "poll", _hasty_watchdog),),
}
OF_CLOCKS: Final[dict[str, Patches]] = {
    "a refused flush is taken for done": ((Committer, "_send", _take_refusal_for_success),),
}
OF_TIME: Final[dict[str, Patches]] = {
    "timer on the node's own clock": ((DatabaseTime, "now", _own_clock),),
    "a timeout does not ask the store": ((planning._CHANGES, events.Woke, _time_out_unasked),),
    "a park that forgets when to wake": ((Runner, "_park", _park_for_ever),),
    "a park that names the wrong step": ((running, "stage_of", _stage_of_the_first),),
    "early callback dropped": ((planning._CHANGES, events.Received, _drop_early),),
    "a timer that is not armed again": ((Timers, "_ring", _ring_for_the_last),),
}
OF_TIMES: Final[dict[str, Patches]] = {
    "steps due together are taken before the first is told": ((RunState, "due", _due_all_at_once),),
}
OF_PAUSES: Final[dict[str, Patches]] = {
    "a resume that is forgotten": ((planning._CHANGES, events.Resumed, _keep_paused),),
}
OF_CONTROL: Final[dict[str, Patches]] = {
    "an attempt that waited begins in a paused run": ((Runner, "_may_begin", _ignore_pause),),
    "a stopped attempt keeps its slot": ((Attempts, "_done", _leak_slots),),
}
OF_CLOSING: Final[dict[str, Patches]] = {
    "a cancel takes an accepted payload with it": ((WaitCloser, "defer", _stop_at_once),),
}
OF_WAITS: Final[dict[str, Patches]] = {
    "a wait that was skipped accepts a callback": ((PendingWrite, "add_to", _leave_skipped_waits_open),),
}
