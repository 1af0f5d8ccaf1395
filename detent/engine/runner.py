"""The runs in memory: events become plans, and attempts start when their plan is durable.

Every event of a run goes through `handle`. It calls the planner, queues the rows to write, and checks whether the run
can leave memory. Nothing here waits for the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from detent.clock import Clock, DatabaseTime
from detent.engine import release
from detent.engine.attempts import Attempts
from detent.engine.callbacks import WaitCloser, may_end_waits
from detent.engine.children import Children, continue_messages, end_messages, signals_left
from detent.engine.committer import Committer
from detent.engine.functions import Functions, carried, timed_out
from detent.engine.owned_run import Locks, OwnedRun, Placement, queue_and_priority
from detent.engine.release import RunRelease
from detent.engine.suspect_lane import SuspectLane
from detent.engine.timers import Timers
from detent.engine.tuning import Tuning
from detent.engine.write import ROW_BYTES, PendingWrite, Successor
from detent.errors import StoreError
from detent.graph.model import Ending, OnCrash, StepKind
from detent.instant import micros
from detent.observe import emit, heard
from detent.planner.advance import advance, is_wanted, put_back, take_ready
from detent.planner.moves import graph_of
from detent.run import events
from detent.run.journal import Entry, Kind, decode_data
from detent.run.outcomes import Continued, Outcome, StepError, Suspend
from detent.run.plan import NOTHING, Plan, StartAttempt
from detent.run.state import RunState
from detent.run.status import Status
from detent.steps.protocol import StepExecutor
from detent.store.rows import End, Flushed, NewCallback, Park


class EndWaiters:
    """The futures of callers that wait for this node to write the end of a run, by run."""

    def __init__(self) -> None:
        self._futures: dict[bytes, list[asyncio.Future[None]]] = {}

    def end_of(self, run: bytes) -> asyncio.Future[None]:
        """Return a future that is done when this node has written the run's end.

        The future is cancelled if the store refused the start of the run.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.setdefault(run, []).append(future)
        return future

    def has_ended(self, run: bytes) -> None:
        for future in self._futures.pop(run, ()):
            if not future.done():
                future.set_result(None)

    def is_not_there(self, run: bytes) -> None:
        for future in self._futures.pop(run, ()):
            future.cancel()


# Failures in the code of workflows, reported as events. The journal has them too, but users do not watch it.


#: The entries of an attempt after which its step is retried.
_AGAIN: Final = (Kind.RETRY, Kind.BEGAN)
#: The entries of a step that is over, of an operation of a durable function, and of a run that its code cancelled.
_OVER: Final = (Kind.ENDED, Kind.CHECKPOINT, Kind.CANCELLED)
#: Only the end of a traceback is reported, because it shows where the error was raised.
_LONGEST: Final = 2_000


def tell_trouble(run: bytes, entry: Entry) -> None:
    """Report that a step paused its run, that its attempt failed and is retried, or that its code raised and is over.

    Other entries are not decoded.
    """
    is_over = entry.kind in _OVER and entry.outcome != Ending.SUCCESS
    if entry.step is None or not (is_over or entry.kind == Kind.PAUSED or entry.kind in _AGAIN):
        return
    data = decode_data(entry.data)
    facts = {"step": entry.step, "attempt": entry.attempt, **_error(data.error)}
    if entry.kind == Kind.PAUSED:
        emit("run.paused", run=run, reason=data.by, **facts)
    elif is_over and "traceback" in facts:
        emit("step.raised", run=run, outcome=entry.outcome, **facts)
    elif not is_over and data.error is not None:
        emit("step.retry", run=run, **facts)


def tell_end(end: End) -> None:
    """Report that a run has ended. Report a failure as an event of its own too."""
    emit("run.ended", run=end.run, status=end.status)
    if end.status in (Status.FAILED, Status.TIMEOUT):
        emit("run.failed", run=end.run, status=end.status, error=end.error)


def _error(error: StepError | None) -> dict[str, Any]:
    if error is None:
        return {}
    trace = {} if error.traceback is None else {"traceback": error.traceback[-_LONGEST:]}
    return {"error": error.message, **trace}


def _continuation(event: events.Event) -> Continued | None:
    """Return the outcome of a durable function that continues as a new run, or None for any other event."""
    if isinstance(event, events.AttemptEnded) and isinstance(event.outcome, Continued):
        return event.outcome
    return None


_STOP_OR_GO: Final = (events.Paused, events.Resumed)


def _must_not_be_repeated(held: OwnedRun, step: int) -> bool:
    return held.prepared.steps[step].on_crash is not OnCrash.RETRY


class Runner:
    """The runs of one node. It owns their attempts, timers and locks, and handles their events.

    `committer` and `nudge` are set once, after both objects exist. `nudge` makes the node read its inbox and claim.
    """

    committer: Committer
    nudge: Callable[[], None]

    def __init__(
        self,
        *,
        clock: Clock,
        time: DatabaseTime,
        tuning: Tuning,
        executors: Mapping[StepKind, StepExecutor],
        may_act: Callable[[], bool],
        family: Children,
    ) -> None:
        self._time, self._tuning, self._may_act, self._family = time, tuning, may_act, family
        self._timers = Timers(time, self._look_at)
        self._locks = Locks(self.handle)
        self._waits = WaitCloser(
            self._handle_kept, lambda held, wait: self.write(held, Plan(None, [], [], []), expiry=wait)
        )
        self._functions = Functions(self, time, tuning, family, self._locks.give_back, may_act)
        self._attempts = Attempts(
            clock=clock,
            slots=tuning.slots,
            executors=executors,
            may_begin=self._may_begin,
            has_room=lambda: not self.committer.is_full(),
            ended=self._attempt_ended,
            port_of=self._functions.port,
            unlock=self._locks.give_back,
        )
        self.awaited = EndWaiters()
        self.held: dict[bytes, OwnedRun] = {}
        self.leaving = RunRelease(time, self._add)
        self._placement = Placement(tuning.queues)
        self._suspects = SuspectLane(self._begin_suspect)
        self._resting = 0
        self.is_draining = False

    # -- runs arrive

    def add(self, held: OwnedRun) -> None:
        """Add a run that this node owns, without starting anything yet. Drop an older object of the run as stale."""
        old = self.held.get(held.id)
        if old is not None:
            self.let_go(old)
        self.held[held.id] = held

    def start_claimed(self, held: OwnedRun) -> None:
        """Start the ready steps of a run that was claimed."""
        self._start_ready(held)
        self._rest(held)

    # -- events

    def handle(self, held: OwnedRun, event: events.Event, *, message: int | None = None) -> None:
        """Handle an event of a run: ask the planner, and queue the rows to write."""
        if held.gone or (held.locks and self._locks.defer(held, event, message)):
            return
        if may_end_waits(held, event) and self._waits.defer(held, event, message):
            return
        try:
            plan = advance(held.prepared, held.state, event=event, now=self._time.now())
        except Exception as error:  # noqa: BLE001 - a run that breaks the planner must not break the engine
            self._set_aside(held, event, message, error)
            return
        if plan is NOTHING and message is None:
            self._rest(held)
            return
        if plan.moved is not None:
            held = self._move(held, plan.moved)
        for index in plan.stop:
            self._attempts.stop_one(held, index)
        if plan.end is not None:
            self._attempts.stop(held)
        if plan.entry is None and message is None and not plan.expire:
            for start in plan.start:
                put_back(held.state, start.step)
            self._start_ready(held)
            self._rest(held)
            return
        self.write(held, plan, message=message, continued=_continuation(event) if plan.end is not None else None)
        for index in plan.expire:
            self.write(held, Plan(None, [], [], []), expiry=index)
        if held.port is not None and isinstance(event, _STOP_OR_GO):
            held.port.look()

    def write(
        self,
        held: OwnedRun,
        plan: Plan,
        *,
        message: int | None = None,
        expiry: int | str | None = None,
        recorded: StartAttempt | None = None,
        callbacks: Sequence[NewCallback] = (),
        continued: Continued | None = None,
    ) -> None:
        """Queue the rows of a plan. The plan is run when they are durable.

        `continued`: the run ends because it continues as another one, and that run starts with these rows.
        """
        if plan.entry is None and message is None and expiry is None:
            return
        entry = plan.entry
        unit = PendingWrite(held.id, held, plan, ROW_BYTES + (len(entry.data) if entry else 0))
        if message is not None:
            unit.consumed = (message,)
        unit.expiry, unit.recorded = expiry, recorded
        if callbacks:
            unit.callbacks.extend(callbacks)
        if plan.end is not None:
            unit.end = self.end_row(held, plan)
            if continued is not None and held.successor is not None:
                self._continue(unit, held, held.successor, continued)
            else:
                unit.messages = end_messages(held.state, plan.end)
            unit.size += sum(len(message.data) for message in unit.messages)
        held.pending += 1
        self._mark(held, resting=False)
        self._add(unit)

    def _continue(self, unit: PendingWrite, held: OwnedRun, successor: Successor, continued: Continued) -> None:
        """Start the successor in the flush that ends this run."""
        assert unit.end is not None
        unit.successor = successor.build(signals_left(held.state, continued.taken))
        unit.end = unit.end._replace(successor=successor.id)
        unit.messages = continue_messages(held.state, successor.id)
        unit.size += unit.successor.size

    def _add(self, unit: PendingWrite) -> None:
        self.committer.add(unit)

    def end_row(self, held: OwnedRun, plan: Plan) -> End:
        """Build the row of a run's end."""
        assert plan.end is not None
        status, output, error = plan.end
        ended_at = plan.entry.at if plan.entry else self._time.now()
        return End(held.id, held.generation, str(status), ended_at, output, error)

    # -- after a flush

    def on_durable(self, unit: PendingWrite, flushed: Flushed) -> None:
        """Run the plan of a write, because its rows are committed now."""
        if unit.done is not None and not unit.done.done():
            unit.done.set_result(flushed)
        if unit.start is not None and unit.run in flushed.refused:
            self._was_not_started(unit)
        else:
            self._is_written(unit, flushed)
        if unit.successor is not None:
            self._has_continued(unit, unit.successor, flushed)
        self._attempts.let_waiting_in()  # attempts that waited until the write queue had room

    def _is_written(self, unit: PendingWrite, flushed: Flushed) -> None:
        if heard():
            self._tell_written(unit)
        if unit.messages or unit.successor is not None:
            self.nudge()  # the messages may be for runs of this node
            if unit.end is not None:
                self._family.was_told(unit.messages)
        if unit.held is None:
            self.leaving.has_left(unit)
        elif not unit.held.gone:
            self._carry_out(unit, unit.held, flushed)

    def _has_continued(self, unit: PendingWrite, successor: PendingWrite, flushed: Flushed) -> None:
        self.on_durable(successor, flushed)
        emit("run.started", run=successor.run, workflow=None if unit.held is None else unit.held.state.facts.workflow)
        if unit.held is not None:
            self._family.has_continued(unit.held.state.facts, successor.run)

    def _was_not_started(self, unit: PendingWrite) -> None:
        """Forget a run whose start the store refused."""
        self.awaited.is_not_there(unit.run)
        if unit.held is not None and not unit.held.gone:
            self._forget(unit.held)

    def _tell_written(self, unit: PendingWrite) -> None:
        written = unit.entries if unit.plan.entry is None else (*unit.entries, unit.plan.entry)
        for entry in written:
            emit("entry.written", run=unit.run, entry=entry)
            tell_trouble(unit.run, entry)

    def _carry_out(self, unit: PendingWrite, held: OwnedRun, flushed: Flushed) -> None:
        held.pending -= 1
        if unit.plan.entry is not None:
            carried(held, unit.plan.entry)
        if unit.end is not None:
            self._forget(held)
            self._tell_ended(unit)
            return
        if unit.expiry is not None:
            self._expiry_answered(held, unit.expiry, flushed)
        if held.stopping is not None and held.stopping.events:
            self._waits.go_on(held, held.stopping)
        if unit.recorded is not None:
            self._begin_recorded(held, unit.recorded)
        if held.is_in_lane:
            self._suspects.look_at(held)
        self._start(held, unit.plan.start)
        self._start_ready(held)
        self._rest(held)

    def refused(self, unit: PendingWrite, error: StoreError) -> None:
        """Fail the run of a write that the database rejects, which is a bug. The other runs continue."""
        if unit.done is not None and not unit.done.done():
            unit.done.set_exception(error)
        emit("run.refused", run=unit.run, error=error.message)
        self.leaving.has_left(unit)
        if unit.successor is not None and unit.successor.held is not None:
            self._forget(unit.successor.held)
        held = unit.held
        if held is None or held.gone:
            return
        self._attempts.stop(held)
        self._forget(held)
        self.leaving.fail(held, f"internal error: {error.message}")

    def _expiry_answered(self, held: OwnedRun, wait: int | str, flushed: Flushed) -> None:
        expired = (held.id, held.wait_name(wait)) in flushed.expired
        if not self._waits.is_stopping(held, wait, expired=expired) and expired:
            self.handle(held, events.WaitExpired(wait) if isinstance(wait, int) else timed_out(wait))
        # Otherwise the payload came first: it is in the inbox and will be read there.

    # -- attempts

    def _start_ready(self, held: OwnedRun) -> None:
        """Start the steps that became ready without a journal entry.

        If a write of the run is pending, do nothing: they may depend on it. They start when it is durable.
        """
        if held.state.ready and not held.pending:
            self._start(held, take_ready(held.prepared, held.state))

    def _start(self, held: OwnedRun, starts: list[StartAttempt]) -> None:
        for start in starts:
            if self.is_draining or held.gone or held.state.is_over or not self._may_act():
                return
            if not is_wanted(held.state, start):
                continue
            if held.state.paused_by is not None or not self._placement.is_here(held, start.step):
                put_back(held.state, start.step)
                continue
            if start.suspect:
                self._suspects.add(held, start)
            elif not start.on_record or not self._record(held, start):
                self._attempts.admit(held, start)

    def _record(self, held: OwnedRun, start: StartAttempt) -> bool:
        """Journal the start of an attempt. Return false if the journal has it already.

        That is so if an earlier owner journalled it, and released the run before the attempt began.
        """
        event = events.AttemptStarting(start.step)
        plan = advance(held.prepared, held.state, event=event, now=self._time.now())
        if plan.entry is None:
            return False
        self.write(held, plan, recorded=start)
        return True

    def _begin_suspect(self, held: OwnedRun, start: StartAttempt) -> bool:
        """Begin a suspect attempt that has its turn. Return false if it may not begin."""
        if not self._may_begin(held, start):
            return False
        if not self._record(held, start):
            self._attempts.begin_alone(held, start, partial(self._suspects.leave, held, start))
        return True

    def _begin_recorded(self, held: OwnedRun, start: StartAttempt) -> None:
        """Begin an attempt, because its start is in the journal now."""
        if self._may_begin(held, start):
            if start.suspect:
                self._attempts.begin_alone(held, start, partial(self._suspects.leave, held, start))
            else:
                self._attempts.admit(held, start)
        elif start.suspect:
            self._suspects.leave(held, start)
            self.handle(held, events.Released(start.step))

    def _may_begin(self, held: OwnedRun, start: StartAttempt) -> bool:
        if self.is_draining or held.gone or held.state.is_over or not is_wanted(held.state, start):
            return False
        if held.state.paused_by is not None:
            put_back(held.state, start.step)
            self._rest(held)
            return False
        # If the lease is in doubt, the engine is about to replace this node, and another node will claim the run.
        return self._may_act()

    def _attempt_ended(self, held: OwnedRun, index: int, number: int, outcome: Outcome, ms: float) -> None:
        if held.state.paused_by is not None and isinstance(outcome, Continued):
            # The successor would not be paused. Suspend instead: after the resume, the function ends so again.
            outcome = Suspend(self._time.now(), len(held.state.history))
        self.handle(held, events.AttemptEnded(index, number, outcome, ms))

    def _handle_kept(self, held: OwnedRun, event: events.Event, *, message: int | None = None) -> None:
        """Handle an event that had to wait for callbacks to be closed. The run may have been paused meanwhile."""
        if isinstance(event, events.AttemptEnded):
            self._attempt_ended(held, event.step, event.attempt, event.outcome, event.ms)
        else:
            self.handle(held, event, message=message)

    # -- time

    def _look_at(self, held: OwnedRun) -> None:
        """Handle the time that a run waited for: its expiry, its opening, or steps that are due."""
        now = self._time.now()
        expires = held.state.facts.expires_at
        if expires is not None and expires <= now:
            self.handle(held, events.Expired())
            return
        if held.state.may_open(now):
            self.handle(held, events.Opened())
        for index in held.state.due(now):
            self.handle(held, events.Woke(index))
        self._rest(held)

    def _move(self, old: OwnedRun, state: RunState) -> OwnedRun:
        """Replace the object of a run that continues with another graph.

        Attempts and timers of the old object are dropped: they mean nothing to the new graph.
        """
        prepared = graph_of(old.prepared, state)
        held = OwnedRun(old.id, old.generation, prepared, state, old.row_status, old.placed, read=old.read)
        self.let_go(old)
        self.held[held.id] = held
        if old.stopping is not None:
            old.deferred += old.stopping.events
        self._locks.hand_over(old, held)
        return held

    # -- runs leave

    def _rest(self, held: OwnedRun) -> None:
        """Set the timer of a run after an event, or park it if it has no work."""
        if held.gone or held.state.is_over:
            return
        if self.is_draining:
            self._leave(held)
            return
        if self._placement.is_for_others(held):
            self._park(held, self._time.now())
            return
        wake = held.state.next_wake()
        if held.has_work():
            # A run that only waits for its turn in the suspect lane must not block the claim of other runs.
            self._mark(held, resting=held.is_in_lane and not held.attempts)
            self._timers.set(held, wake)
            return
        self._mark(held, resting=True)
        soon = wake is not None and wake - self._time.now() < micros(self._tuning.park_after)
        # A run that was paused or resumed is parked once, so that its row gets the new status. After the next claim
        # the row has that status, and the run waits in memory as usual.
        if soon and held.row_status == held.state.status:
            self._timers.set(held, wake)
        else:
            self._park(held, wake)

    def _leave(self, held: OwnedRun) -> None:
        """While draining, park a run that has nothing in flight. It is due at once if it has work."""
        if held.attempts or held.pending:
            return
        unstarted = held.state.running or held.state.ready
        self._park(held, self._time.now() if unstarted else held.state.next_wake())

    def _park(self, held: OwnedRun, wake: int | None) -> None:
        self._forget(held)
        queue, priority = queue_and_priority(held)
        park = Park(held.id, held.generation, wake, str(held.state.status), queue, priority)
        self.leaving.park(park, held.state.facts.tenant, held)

    def _forget(self, held: OwnedRun) -> None:
        held.gone = True
        if held.port is not None:
            held.port.close()
            held.port = None
        self._mark(held, resting=False)
        self._timers.set(held, None)
        if held.is_in_lane:
            self._suspects.leave(held)
        if self.held.get(held.id) is held:
            del self.held[held.id]

    def let_go(self, held: OwnedRun) -> None:
        """Forget a run without writing anything."""
        self._attempts.stop(held)
        self._forget(held)

    def drop_message(self, held: OwnedRun, message: int) -> None:
        """Delete a message from the inbox that means nothing to this run."""
        self.write(held, NOTHING, message=message)

    def _mark(self, held: OwnedRun, *, resting: bool) -> None:
        if held.resting is not resting:
            held.resting = resting
            self._resting += 1 if resting else -1

    @property
    def busy(self) -> int:
        """Return the number of attempts in flight."""
        return self._attempts.in_flight

    def knows(self, run: bytes, generation: int) -> bool:
        """Return whether this node has the run with that generation in memory, or has a last write of it pending."""
        held = self.held.get(run)
        return (held is not None and held.generation == generation) or self.leaving.knows(run, generation)

    def runnable(self) -> int:
        """Return the number of owned runs with work. Runs that are in memory only for their timer do not count."""
        return len(self.held) - self._resting

    def _set_aside(self, held: OwnedRun, event: events.Event, message: int | None, error: Exception) -> None:
        emit("run.quarantined", run=held.id, error=release.reason(error))
        self.let_go(held)
        self.leaving.set_aside(held, event, message, error)

    def drop_all(self) -> None:
        """Stop everything, because this node was removed. Other nodes will claim the runs."""
        self._timers.stop()
        for held in list(self.held.values()):
            self._attempts.stop(held)
            held.gone = True
        self.held.clear()
        self._attempts.forget_waiting()

    def drain(self) -> None:
        """Begin nothing new, and park every run that has nothing in flight."""
        self.is_draining = True
        self._attempts.forget_waiting()
        for held in list(self.held.values()):
            self._leave(held)
            if held.port is not None:
                held.port.look()

    def release(self) -> None:
        """End the drain: stop the attempts in flight and park every run, due at once.

        This is not an adoption, so no step gets a strike. A run with an attempt in flight that must not be repeated is
        not parked. It is left to an adoption, because only an adoption fails such a step or asks a user.
        """
        for held in list(self.held.values()):
            if held.state.is_over or any(_must_not_be_repeated(held, index) for index in held.attempts):
                continue
            self._attempts.stop(held)
            for index in list(held.state.begun):
                self.handle(held, events.Released(index))
            self._park(held, self._time.now())

    def _tell_ended(self, unit: PendingWrite) -> None:
        assert unit.end is not None
        tell_end(unit.end)
        self.awaited.has_ended(unit.run)
