"""The runs in memory: events become plans, and attempts start when their plan is durable.

Every event of a run goes through `handle`. It calls the planner, queues the rows to write, and checks whether the run
can leave memory. Nothing here waits for the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from detent.clock import Clock, DatabaseTime
from detent.engine import release
from detent.engine.attempts import Attempts
from detent.engine.callbacks import WaitCloser, may_end_waits
from detent.engine.children.family import (
    Children,
    cancel_messages,
    continue_messages,
    end_messages,
    known_children,
    pages_written,
    signals_left,
    starting_event,
)
from detent.engine.committer import Committer
from detent.engine.context import Executors
from detent.engine.functions import Functions, carried, continuation, timed_out
from detent.engine.owned_run import EndWaiters, Locks, OwnedRun, Placement, queue_and_priority
from detent.engine.records.letters import poison_letters
from detent.engine.records.links import LinkClaim, LinkClaims
from detent.engine.records.logs import StepLogs
from detent.engine.release import RunRelease, VersionMoves
from detent.engine.suspect_lane import SuspectLane
from detent.engine.timers import Timers
from detent.engine.tuning import Tuning
from detent.engine.write import ROW_BYTES, PendingWrite, Successor, emit_end, emit_written
from detent.errors import StoreError
from detent.instant import micros
from detent.observe import emit, heard
from detent.planner.advance import advance, is_wanted, put_back, put_off, take_ready
from detent.planner.moves.code import graph_of
from detent.planner.stage import stage_of
from detent.run import events
from detent.run.journal import Kind
from detent.run.outcomes import Continued, Done, Outcome, Suspend
from detent.run.plan import NOTHING, Plan, StartAttempt
from detent.run.stage import NO_STAGE
from detent.run.state import Phase, RunState
from detent.store.rows import End, Flushed, NewCallback, Park

_ADOPTED, _ENDED = Kind.ADOPTED, Kind.ENDED  # read for every entry; a member of an enum class is slow to load
_STOP_OR_GO: Final = frozenset({events.Paused, events.Resumed})


def _no_hint() -> None:
    """Do nothing: other nodes find the messages when they poll."""


class Runner:
    """The runs of one node. It owns their attempts, timers and locks, and handles their events.

    `committer` and `nudge` are set once, after both objects exist. `nudge` makes the node read its inbox and claim.
    `hint` makes other nodes do that, if the store can. `nudge_openings` opens the postponed runs in `opening`."""

    committer: Committer
    nudge: Callable[[], None]
    nudge_openings: Callable[[], None]
    hint: Callable[[], None]

    def __init__(
        self,
        *,
        clock: Clock,
        time: DatabaseTime,
        tuning: Tuning,
        executors: Executors,
        may_act: Callable[[], bool],
        children: Children,
        logs: StepLogs,
    ) -> None:
        self._time, self._tuning, self._may_act = time, tuning, may_act
        self._timers = Timers(time, self._look_at)
        self._locks = Locks(self.handle)
        self._waits = WaitCloser(
            self._handle_deferred, lambda run, wait: self.write(run, Plan(None, [], [], []), expiry=wait)
        )
        self.new_id = children.new_id
        self.links = LinkClaims(self, self._attempt_ended)
        self._functions = Functions(self, time, tuning, children, self._locks.give_back, may_act, executors.secrets)
        self._attempts = Attempts(
            clock=clock,
            slots=tuning.slots,
            executors=executors,
            may_begin=self._may_begin,
            has_room=lambda: not self.committer.is_full(),
            ended=self._attempt_ended,
            port_of=self._functions.port,
            unlock=self._locks.give_back,
            children=children,
            logs=logs,
        )
        self.awaited = EndWaiters()
        self.owned: dict[bytes, OwnedRun] = {}
        self.opening: dict[bytes, OwnedRun] = {}
        self.releases = RunRelease(time, self._add, children.new_id)
        self.moves = VersionMoves(time, self.write, self._forget, self.releases.leave, self._replace, self._rest)
        self._placement = Placement(tuning.queues)
        self._suspects = SuspectLane(self._begin_suspect)
        self._resting = 0
        self.hint = _no_hint
        self.is_draining = False

    # -- runs arrive

    def add(self, run: OwnedRun) -> None:
        """Add a run that this node owns, without starting anything yet. Drop an older object of the run as stale."""
        old = self.owned.get(run.id)
        if old is not None:
            self.drop(old)
        self.owned[run.id] = run

    # -- events

    def handle(self, run: OwnedRun, event: events.Event, *, message: int | None = None) -> None:
        """Handle an event of a run: ask the planner, and queue the rows to write."""
        if run.gone or (run.locks and self._locks.defer(run, event, message)):
            return
        if run.unsettled is not None:
            run.unsettled.append((event, message))
            return
        if may_end_waits(run, event) and self._waits.defer(run, event, message):
            return
        try:
            plan = advance(run.prepared, run.state, event=event, now=self._time.now())
        except Exception as error:  # noqa: BLE001 - a run that breaks the planner must not break the engine
            self._quarantine(run, event, message, error)
            return
        if plan is NOTHING and message is None:
            self._rest(run)
            return
        if plan.moved is not None:
            run = self._move(run, plan.moved)
        for index in plan.stop:
            self._attempts.stop_one(run, index)
        if plan.end is not None:
            self._attempts.stop(run)
        if plan.entry is None and message is None and not plan.expire:
            for start in plan.start:
                put_back(run.state, start.step)
            self._start_ready(run)
            self._rest(run)
            return
        if run.state.maps and isinstance(event, events.ChildEnded) and event.spare in run.state.children:
            known_children(run).unwritten.add(event.spare)
        self.write(run, plan, message=message, continued=continuation(event) if plan.end is not None else None)
        for index in plan.expire:
            self.write(run, Plan(None, [], [], []), expiry=index)
        if run.port is not None and type(event) in _STOP_OR_GO:
            run.port.look()

    def write(
        self,
        run: OwnedRun,
        plan: Plan,
        *,
        message: int | None = None,
        expiry: int | str | None = None,
        recorded: StartAttempt | None = None,
        callbacks: Sequence[NewCallback] = (),
        continued: Continued | None = None,
        claim: LinkClaim | None = None,
    ) -> None:
        """Queue the rows of a plan. The plan is run when they are durable.

        `continued`: the run ends because it continues as another one, and that run starts with these rows.
        """
        if plan.entry is None and message is None and expiry is None and claim is None:
            return
        entry = plan.entry
        write = PendingWrite(run.id, run, plan, ROW_BYTES + (len(entry.data) if entry else 0))
        if message is not None:
            write.consumed = (message,)
        write.expiry, write.recorded = expiry, recorded
        if claim is not None:
            write.claim = claim
            write.size += claim.size()
        if entry is not None and entry.kind is _ADOPTED:
            write.letters = poison_letters(run, entry, self.new_id)
        if callbacks:
            write.callbacks.extend(callbacks)
        if plan.end is not None:
            write.end = self.end_row(run, plan)
            if continued is not None and run.successor is not None:
                self._continue(write, run, run.successor, continued)
            else:
                write.messages = end_messages(run.state, plan.end)
        if plan.cancel:
            write.messages += cancel_messages(run.state.facts, plan.cancel, plan.end)
        if write.messages:
            write.size += sum(len(message.data) for message in write.messages)
        run.pending += 1
        self._mark(run, resting=False)
        self._add(write)

    def _continue(self, write: PendingWrite, run: OwnedRun, successor: Successor, continued: Continued) -> None:
        """Start the successor in the flush that ends this run."""
        assert write.end is not None
        write.successor = successor.build(signals_left(run.state, continued.taken))
        write.end = write.end._replace(successor=successor.id)
        write.messages = continue_messages(run.state, successor.id)
        write.size += write.successor.size

    def _add(self, write: PendingWrite) -> None:
        self.committer.add(write)

    def end_row(self, run: OwnedRun, plan: Plan) -> End:
        """Build the row of a run's end."""
        assert plan.end is not None
        status, output, error = plan.end
        ended_at = plan.entry.at if plan.entry else self._time.now()
        return End(run.id, run.generation, str(status), ended_at, output, error)

    # -- after a flush

    def on_durable(self, write: PendingWrite, flushed: Flushed) -> None:
        """Run the plan of a write, because its rows are committed now."""
        if write.done is not None and not write.done.done():
            write.done.set_result(flushed)
        if write.start is not None and write.run in flushed.refused:
            self._was_not_started(write)
        else:
            self._is_written(write, flushed)
        if write.successor is not None:
            self._has_continued(write, write.successor, flushed)
        self._attempts.let_waiting_in()  # attempts that waited until the write queue had room

    def _is_written(self, write: PendingWrite, flushed: Flushed) -> None:
        if heard():
            emit_written(write)
        if write.messages or write.successor is not None:
            self.nudge()  # the messages may be for runs of this node
            if any(message.run not in self.owned for message in write.messages):
                self.hint()
        elif write.start is not None and write.start.parent is not None and not write.start.owned:
            self.hint()
        if write.owned is None:
            if self.releases.has_left(write):
                self.nudge()
            self.moves.has_left(write, self.nudge)
        elif not write.owned.gone:
            self._run_plan(write, write.owned, flushed)

    def _has_continued(self, write: PendingWrite, successor: PendingWrite, flushed: Flushed) -> None:
        self.on_durable(successor, flushed)
        emit(
            "run.started", run=successor.run, workflow=None if write.owned is None else write.owned.state.facts.workflow
        )

    def _was_not_started(self, write: PendingWrite) -> None:
        """Forget a run whose start the store refused."""
        self.awaited.is_not_there(write.run)
        if write.owned is not None and not write.owned.gone:
            self._forget(write.owned)

    def _run_plan(self, write: PendingWrite, run: OwnedRun, flushed: Flushed) -> None:
        run.pending -= 1
        if (entry := write.plan.entry) is not None and entry.kind is not _ENDED:  # most are ends of steps
            carried(run, entry)
            pages_written(run, entry)
        if write.end is not None:
            self._forget(run)
            self._notify_end(write)
            return
        if write.park is not None:
            self._has_moved(run)
        if write.expiry is not None:
            self._expiry_answered(run, write.expiry, flushed)
        if run.stopping is not None and run.stopping.events:
            self._waits.go_on(run, run.stopping)
        if write.claim is not None:
            self.links.written(write.claim, flushed)
        if write.recorded is not None:
            self._begin_recorded(run, write.recorded)
        if run.is_in_lane:
            self._suspects.look_at(run)
        self._start(run, write.plan.start)
        self._start_ready(run)
        self._rest(run)

    def refused(self, write: PendingWrite, error: StoreError) -> None:
        """Fail the run of a write that the database rejects, which is a bug. The other runs continue."""
        if write.done is not None and not write.done.done():
            write.done.set_exception(error)
        emit("run.refused", run=write.run, error=error.message)
        self.releases.has_left(write)
        if write.successor is not None and write.successor.owned is not None:
            self._forget(write.successor.owned)
        run = write.owned
        if run is None or run.gone:
            return
        self._attempts.stop(run)
        self._forget(run)
        self.releases.fail(run, f"internal error: {error.message}")

    def _expiry_answered(self, run: OwnedRun, wait: int | str, flushed: Flushed) -> None:
        expired = (run.id, run.wait_name(wait)) in flushed.expired
        if not self._waits.is_stopping(run, wait, expired=expired) and expired:
            self.handle(run, events.WaitExpired(wait) if isinstance(wait, int) else timed_out(wait))
        # Otherwise the payload came first: it is in the inbox and will be read there.

    # -- attempts

    def _start_ready(self, run: OwnedRun) -> None:
        """Start the steps that became ready without a journal entry.

        If a write of the run is pending, do nothing: they may depend on it. They start when it is durable.
        """
        if run.state.ready and not run.pending and run.moving is None:
            self._start(run, take_ready(run.prepared, run.state))

    def _start(self, run: OwnedRun, starts: list[StartAttempt]) -> None:
        for start in starts:
            if self.is_draining or run.gone or run.state.is_over or not self._may_act():
                return
            if not is_wanted(run.state, start):
                continue
            if run.is_held() or not self._placement.is_here(run, start.step):
                put_back(run.state, start.step)
                continue
            if start.suspect:
                self._suspects.add(run, start)
            elif not start.on_record or not self._record(run, start):
                self._attempts.admit(run, start)

    def _record(self, run: OwnedRun, start: StartAttempt) -> bool:
        """Journal the start of an attempt. Return false if the journal has it already.

        That is so if an earlier owner journalled it, and released the run before the attempt began.
        """
        event = starting_event(run, start.step, self.new_id)
        plan = advance(run.prepared, run.state, event=event, now=self._time.now())
        if plan.entry is None:
            return False
        if event.pages or event.child is not None:
            known_children(run).absent.update(event.pages if event.child is None else [event.child])
        self.write(run, plan, recorded=start)
        return True

    def _begin_suspect(self, run: OwnedRun, start: StartAttempt) -> bool:
        """Begin a suspect attempt that has its turn. Return false if it may not begin."""
        if not self._may_begin(run, start):
            return False
        if not self._record(run, start):
            self._attempts.begin_alone(run, start, partial(self._suspects.leave, run, start))
        return True

    def _begin_recorded(self, run: OwnedRun, start: StartAttempt) -> None:
        """Begin an attempt, because its start is in the journal now."""
        if self._may_begin(run, start):
            if start.suspect:
                self._attempts.begin_alone(run, start, partial(self._suspects.leave, run, start))
            else:
                self._attempts.admit(run, start)
        elif start.suspect or start.step in run.state.child_of or start.step in run.state.maps:
            if start.suspect:
                self._suspects.leave(run, start)
            self.handle(run, events.Released(start.step))

    def _may_begin(self, run: OwnedRun, start: StartAttempt) -> bool:
        if self.is_draining or run.gone or run.state.is_over or not is_wanted(run.state, start):
            return False
        if run.is_held():
            (put_back if run.state.paused_by is None else put_off)(run.state, start.step)
            self._rest(run)
            return False
        # If the lease is in doubt, the engine is about to replace this node, and another node will claim the run.
        return self._may_act()

    def _attempt_ended(self, run: OwnedRun, index: int, number: int, outcome: Outcome, ms: float) -> None:
        if run.state.paused_by is not None and isinstance(outcome, Continued):
            # The successor would not be paused. Suspend instead: after the resume, the function ends so again.
            outcome = Suspend(self._time.now(), len(run.state.history))
        if outcome.links if type(outcome) is Done else getattr(outcome, "links", ()):
            self.links.claim_outcome(run, index, number, outcome, ms)
        else:
            self.handle(run, events.AttemptEnded(index, number, outcome, ms))

    def go_on(self, run: OwnedRun) -> None:
        """Start the ready steps of a run, and look whether it can leave memory."""
        self._start_ready(run)
        self._rest(run)

    def stop_unread(self, run: OwnedRun) -> None:
        """Handle the deferred events of a run again: the payload that they wait for cannot be read now."""
        if run.stopping is not None and run.stopping.events and not run.pending:
            self._waits.go_on(run, run.stopping)

    def _handle_deferred(self, run: OwnedRun, event: events.Event, *, message: int | None = None) -> None:
        """Handle an event that had to wait for callbacks to be closed. The run may have been paused meanwhile."""
        if isinstance(event, events.AttemptEnded):
            self._attempt_ended(run, event.step, event.attempt, event.outcome, event.ms)
        else:
            self.handle(run, event, message=message)

    # -- time

    def _look_at(self, run: OwnedRun) -> None:
        """Handle the time that a run waited for: its expiry, its opening, or steps that are due."""
        if run.unsettled is not None:
            return  # the timer is set again when its move is durable
        now = self._time.now()
        expires = run.state.facts.expires_at
        if expires is not None and expires <= now:
            self.handle(run, events.Expired())
            return
        if run.state.may_open(now):
            self.opening[run.id] = run
            self.nudge_openings()
        for index in run.state.due(now):
            self.handle(run, events.Woke(index))
        self._rest(run)

    def open(self, run: OwnedRun, *, is_archived: bool) -> None:
        """Begin a postponed run whose time has come, or cancel it because its workflow is archived.

        The run may have been paused, parked or cancelled while the store was asked."""
        if self.opening.get(run.id) is run:
            del self.opening[run.id]
        if is_archived and run.state.may_open(self._time.now()):
            self.handle(run, events.Cancelled(f"the archive of workflow {run.state.facts.workflow!r}"))
        else:
            self.handle(run, events.Opened())

    def _move(self, old: OwnedRun, state: RunState) -> OwnedRun:
        """Replace the object of a run that continues with another graph.

        Attempts and timers of the old object are dropped: they mean nothing to the new graph.
        """
        prepared = graph_of(old.prepared, state)
        run = OwnedRun(old.id, old.generation, prepared, state, old.row_status, old.placed, old.version, read=old.read)
        run.unsure = old.unsure
        run.opening = old.opening
        self.drop(old)
        self.owned[run.id] = run
        if old.stopping is not None:
            old.deferred += old.stopping.events
        self._locks.move_deferred(old, run)
        return run

    def _replace(self, write: PendingWrite) -> None:
        """Queue the write of a moved run, and go on with its new object."""
        assert write.owned is not None
        self.owned[write.run] = write.owned
        write.owned.unsettled = []
        self._add(write)

    def _has_moved(self, run: OwnedRun) -> None:
        """Handle what happened to a run while its move was written."""
        waiting, run.unsettled = run.unsettled or [], None
        for event, message in waiting:
            self._handle_deferred(run, event, message=message)

    # -- runs leave

    def _rest(self, run: OwnedRun) -> None:
        """Set the timer of a run after an event, or park it if it has no work."""
        if run.gone or run.state.is_over:
            return
        if run.moving is not None and not self.is_draining and self.moves.go_on(run, run.moving):
            return
        if self.is_draining:
            self._leave(run)
            return
        if self._placement.is_for_others(run):
            self._park(run, self._time.now())
            return
        if run.id in self.opening:
            return
        wake = run.state.next_wake()
        if run.has_work():
            # A run that only waits for its turn in the suspect lane must not block the claim of other runs.
            self._mark(run, resting=run.is_in_lane and not run.attempts)
            self._timers.set(run, wake)
            return
        self._mark(run, resting=True)
        soon = wake is not None and wake - self._time.now() < micros(self._tuning.park_after)
        # A run that was paused or resumed is parked once, so that its row gets the new status. After the next claim
        # the row has that status, and the run waits in memory as usual.
        if soon and run.row_status == run.state.status:
            self._timers.set(run, wake)
        else:
            self._park(run, wake)

    def _leave(self, run: OwnedRun) -> None:
        """While draining, park a run that has nothing in flight. It is due at once if it has work."""
        if run.attempts or run.pending:
            return
        starting = [index for index in run.state.child_of if run.state.phase[index] is Phase.RUNNING]
        for index in starting:
            self.handle(run, events.Released(index))  # or the next node would believe that the child was started
        if starting:
            return  # it is parked when that is durable
        unstarted = run.state.running or run.state.ready
        self._park(run, self._time.now() if unstarted else run.state.next_wake())

    def _park(self, run: OwnedRun, wake: int | None) -> None:
        self._forget(run)
        queue, priority = queue_and_priority(run)
        kind, step = stage_of(run.prepared, run.state) or NO_STAGE
        park = Park(run.id, run.generation, wake, str(run.state.status), queue, priority, stage=kind, stage_step=step)
        self.releases.park(park, run.state.facts.tenant, run)

    def _forget(self, run: OwnedRun) -> None:
        run.gone = True
        if run.port is not None:
            run.port.close()
            run.port = None
        self._mark(run, resting=False)
        self._timers.set(run, None)
        if run.is_in_lane:
            self._suspects.leave(run)
        if self.owned.get(run.id) is run:
            del self.owned[run.id]
        if self.opening and self.opening.get(run.id) is run:
            del self.opening[run.id]

    def drop(self, run: OwnedRun) -> None:
        """Forget a run without writing anything."""
        self._attempts.stop(run)
        self._forget(run)

    def drop_message(self, run: OwnedRun, message: int) -> None:
        """Delete a message from the inbox that means nothing to this run."""
        self.write(run, NOTHING, message=message)

    def _mark(self, run: OwnedRun, *, resting: bool) -> None:
        if run.resting is not resting:
            run.resting = resting
            self._resting += 1 if resting else -1

    @property
    def busy(self) -> int:
        """Return the number of attempts in flight."""
        return self._attempts.in_flight

    def knows(self, run: bytes, generation: int) -> bool:
        """Return whether this node has the run with that generation in memory, or has a last write of it pending."""
        owned = self.owned.get(run)
        return (owned is not None and owned.generation == generation) or self.releases.knows(run, generation)

    def runnable(self) -> int:
        """Return the number of owned runs with work. Runs that are in memory only for their timer do not count."""
        return len(self.owned) - self._resting

    def _quarantine(self, run: OwnedRun, event: events.Event, message: int | None, error: Exception) -> None:
        emit("run.quarantined", run=run.id, error=release.reason(error))
        self.drop(run)
        self.releases.quarantine(run, event, message, error)

    def drop_all(self) -> None:
        """Stop everything, because this node was removed. Other nodes will claim the runs."""
        self._timers.stop()
        for run in list(self.owned.values()):
            self._attempts.stop(run)
            run.gone = True
        self.owned.clear()
        self.opening.clear()
        self._attempts.forget_waiting()

    def drain(self) -> None:
        """Begin nothing new, and park every run that has nothing in flight."""
        self.is_draining = True
        self._attempts.forget_waiting()
        for run in list(self.owned.values()):
            self._leave(run)
            if run.port is not None:
                run.port.look()

    def release(self) -> None:
        """End the drain: stop the attempts in flight and park every run, due at once.

        This is not an adoption, so no step gets a strike. A run with an attempt in flight that must not be repeated is
        not parked. It is left to an adoption, because only an adoption fails such a step or asks a user. So is a run
        that is starting a child: after an adoption the node asks whether the child exists.
        """
        for run in list(self.owned.values()):
            if run.state.is_over or run.has_unrecorded_doubt() or run.has_unrepeatable_attempt():
                continue
            self._attempts.stop(run)
            for index in [*run.state.begun, *run.state.child_of, *run.state.maps]:
                self.handle(run, events.Released(index))
            self._park(run, self._time.now())

    def _notify_end(self, write: PendingWrite) -> None:
        assert write.end is not None
        emit_end(write.end, write.owned)
        self.awaited.has_ended(write.run)
