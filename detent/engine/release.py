"""The last write of a node for a run that it releases: the run is parked, ended, or quarantined for a user to check.

Moves to another version are here too: a node releases a moved run whose code it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final, Protocol

import msgspec

from detent.clock import DatabaseTime
from detent.engine.children.family import end_messages, to_parent
from detent.engine.owned_run import Moving, OwnedRun, queue_and_priority, when_unlocked
from detent.engine.records.letters import quarantine_letter
from detent.engine.write import ROW_BYTES, PendingWrite
from detent.ids import NewId
from detent.instant import Instant, micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.planner.advance import put_back
from detent.planner.apply import take
from detent.planner.moves.version import Movable, MoveReason, MoveWish, Refused, check_move, plan_move, refuse_move
from detent.planner.prepared import Prepared, callback_of
from detent.planner.stage import stage_of
from detent.run import events
from detent.run.journal import Entry, EntryData, Kind, decode_data, encode_data
from detent.run.plan import Plan, RunEnd
from detent.run.stage import NO_STAGE, StageKind
from detent.run.state import Phase
from detent.run.status import Status
from detent.steps.user_code import describe
from detent.store.rows import ClaimedRun, End, Mail, MessageKind, NewCallback, Park

# Quarantined runs: they cannot be read or planned, and are paused with the reason in their journal for a user to check.
#
# A quarantined run blocks no other run and is not retried in a loop. A resume retries it once, a cancel ends it. A
# callback that was accepted for it stays in its inbox. Mail makes a run due, so such a run is not parked again. It
# stays owned but is not in memory, and the watchdog releases it after a while.


_MARK: Final = "detent ("
_LONGEST: Final = 1_000


def reason(error: Exception) -> str:
    """Return the reason of a quarantine as it is written to the journal."""
    return f"{_MARK}{describe(error)})"[:_LONGEST]


def is_quarantined(paused_by: str | None) -> bool:
    """Return whether the engine itself paused the run, because it could not read or plan it."""
    return paused_by is not None and paused_by.startswith(_MARK)


def paused(run: bytes, generation: int, tenant: int, seq: int, *, by: str, now: Instant) -> PendingWrite:
    """Build the rows that pause a run after its entry `seq`, whatever its status was."""
    entry = Entry(tenant, run, seq + 1, now, Kind.PAUSED, None, 0, None, encode_data(EntryData(by=by)))
    return PendingWrite(
        run,
        None,
        Plan(entry, [], [], []),
        ROW_BYTES,
        park=Park(run, generation, None, str(Status.PAUSED), stage=StageKind.PAUSED),
    )


def unreadable(
    run: ClaimedRun, entries: Sequence[Entry], mails: Sequence[Mail], error: Exception, now: Instant
) -> PendingWrite | None:
    """Build the write that pauses a claimed run which cannot be read, or cancels it if its mail asks for that.

    Return None if the run is paused with the reason already.
    """
    seq = entries[-1].seq if entries else 0
    if any(mail.kind == MessageKind.CANCEL for mail in mails):
        entry = Entry(run.tenant, run.id, seq + 1, now, Kind.CANCELLED, None, 0, None, encode_data(EntryData()))
        end = End(run.id, run.generation, str(Status.CANCELLED), now, None, reason(error))
        write = PendingWrite(run.id, None, Plan(entry, [], [], []), ROW_BYTES, end=end)
        if run.parent is not None:
            cancelled = RunEnd(Status.CANCELLED, None, end.error)
            write.messages.append(to_parent(run.tenant, run.parent, run.id, seq + 1, cancelled))
        return write
    read = tuple(mail.id for mail in mails if mail.kind != MessageKind.CALLBACK)
    if not read and run.status == Status.PAUSED and entries and _says_why(entries[-1]):
        return None
    write = paused(run.id, run.generation, run.tenant, seq, by=reason(error), now=now)
    write.consumed = read
    return write


def _says_why(entry: Entry) -> bool:
    return entry.kind == Kind.PAUSED and is_quarantined(decode_data(entry.data).by)


class RunRelease:
    """The runs that this node has released while their rows still show it as the owner."""

    def __init__(self, time: DatabaseTime, add: Callable[[PendingWrite], None], new_id: NewId) -> None:
        """`add` queues a write. `new_id` makes the ids of dead letters."""
        self._time, self._add, self._new_id = time, add, new_id
        self._runs: dict[tuple[bytes, int], bool] = {}  # whether the run waits for children

    def __len__(self) -> int:
        return len(self._runs)

    def knows(self, run: bytes, generation: int) -> bool:
        """Return whether a last write of the run with that generation is still due."""
        return (run, generation) in self._runs

    def park(self, park: Park, tenant: int, run: OwnedRun | None = None) -> None:
        """Write that the run waits until its time or until mail arrives."""
        self.leave(PendingWrite(park.run, None, Plan(None, [], [], []), ROW_BYTES, park=park, tenant=tenant), run)

    def leave(self, write: PendingWrite, run: OwnedRun | None) -> None:
        """Queue the last write of a run that this node releases."""
        reach("before_park")
        self._write(write, run)

    def fail(self, run: OwnedRun, reason: str) -> None:
        """Write that the run failed because of an error in the engine itself."""
        end = End(run.id, run.generation, str(Status.FAILED), self._time.now(), None, reason)
        messages = end_messages(run.state, RunEnd(Status.FAILED, None, reason))
        write = PendingWrite(run.id, None, Plan(None, [], [], []), ROW_BYTES, end=end, messages=messages)
        write.tenant = run.state.facts.tenant
        self._write(write, run)

    def put_back(self, run: ClaimedRun, *, after: float) -> None:
        """Park a run that this node cannot work on. It is due again after that many seconds."""
        stage = StageKind.PAUSED if run.status == Status.PAUSED else StageKind.QUEUED
        self.park(Park(run.id, run.generation, self._time.now() + micros(after), run.status, stage=stage), run.tenant)

    def quarantine(self, run: OwnedRun, event: events.Event, message: int | None, error: Exception) -> None:
        """Quarantine a run that cannot be planned: pause it, with the reason in its journal."""
        state = run.state
        is_payload = isinstance(event, events.Received)
        if is_payload and is_quarantined(state.paused_by):
            return  # the run is paused already, and the payload stays in its inbox
        write = paused(
            run.id,
            run.generation,
            state.facts.tenant,
            state.seq,
            by=reason(error),
            now=self._time.now(),
        )
        write.consumed = () if message is None or is_payload else (message,)
        facts = state.facts
        write.letters = (quarantine_letter(self._new_id, facts.tenant, facts.workflow_id, run.id, reason(error)),)
        self._write(write, run)

    def leave_unreadable(self, run: ClaimedRun, entries: list[Entry], mails: list[Mail], error: Exception) -> None:
        """Quarantine a claimed run that cannot be read, or cancel it if its mail has a cancel."""
        write = unreadable(run, entries, mails, error, self._time.now())
        if write is None or write.park is not None:
            emit("run.quarantined", run=run.id, error=reason(error))
        if write is None:
            return
        if write.park is not None:
            write.letters = (quarantine_letter(self._new_id, run.tenant, run.workflow, run.id, reason(error)),)
        self._write(write)

    def has_left(self, write: PendingWrite) -> bool:
        """Forget the run of a last write, after it was written or rejected. Return whether it may be due already.

        A child may have ended between the last look at the inbox and this write. Its message was found by no claim,
        because this node still owned the run.
        """
        row = write.park or write.end
        if row is None or write.owned is not None:
            return False
        return self._runs.pop((row.run, row.generation), False)

    def _write(self, write: PendingWrite, run: OwnedRun | None = None) -> None:
        """Queue the last write of a run. With `run`, wait until no attempt holds a lock on the run's row."""
        row = write.park or write.end
        assert row is not None
        self._runs[row.run, row.generation] = run is not None and write.park is not None and bool(run.state.children)
        if run is None:
            self._add(write)
        else:
            when_unlocked(run, partial(self._add, write))


# Moves of owned runs to another version of their workflow.
#
# A run is moved when none of its writes is pending. Until then nothing new starts. The entry and the new version in the
# run's row are one write. Attempts in flight go on, and their outcomes count in the new version. So no effect happens
# twice because of a move. A node that lacks the code of the new version releases the run instead, after its attempts
# have ended.


_encode = msgspec.json.Encoder().encode


class WritePlan(Protocol):
    def __call__(self, run: OwnedRun, plan: Plan, *, message: int | None = None) -> None: ...


class VersionMoves:
    """The moves of the runs of one node. `OwnedRun.moving` has the one that waits."""

    def __init__(
        self,
        time: DatabaseTime,
        write: WritePlan,
        forget: Callable[[OwnedRun], None],
        leave: Callable[[PendingWrite, OwnedRun], None],
        replace: Callable[[PendingWrite], None],
        rest: Callable[[OwnedRun], None],
    ) -> None:
        """`write` queues the rows of a plan, `forget` drops a run from memory, `leave` queues its last write,
        `replace` adds the run of a write and queues it, and `rest` looks at a run after an event."""
        self._time, self._write, self._forget, self._leave, self._rest = time, write, forget, leave, rest
        self._replace = replace
        self.can_run: Callable[[Collection[str]], bool] = lambda code: True

    def ask(self, run: OwnedRun, wish: MoveWish, new: Prepared | None, code: Sequence[str], message: int) -> None:
        """Move a run to another version. `new` is the graph of that version, None if it is missing.

        A move that cannot hold is refused at once. Otherwise the run is moved when its pending writes are durable.
        """
        if new is None:
            words = f"there is no version {wish.version} of its workflow"
        elif run.moving is not None:
            words = f"it is being moved to version {run.moving.wish.version} already"
        else:
            found = _try(run, new, wish, self._time.now())
            if not isinstance(found, Refused):
                run.moving = Moving(wish, new, tuple(code), message)
                self._rest(run)
                return
            words = found.in_words()
        self._refuse(run, refuse_move(run.state, wish, words, self._time.now()), wish, words, message)

    def go_on(self, run: OwnedRun, moving: Moving) -> bool:
        """Move the run if no write of it is pending. Return whether it was moved: another object represents it then."""
        is_stopping = run.stopping is not None and bool(run.stopping.events)
        if run.pending or run.locks or run.deferred or is_stopping or not self._is_quiet(run, moving):
            return False
        for index, phase in enumerate(run.state.phase):
            if phase is Phase.RUNNING and index not in run.attempts:
                put_back(run.state, index)  # it waits for a slot, and waits again afterwards
        now, wish = self._time.now(), moving.wish
        run.moving = None
        found: Movable | Refused
        try:
            entry, found = plan_move(run.prepared, run.state, moving.prepared, wish, now)
        except Exception as error:  # noqa: BLE001 - a move that cannot be planned must not harm the run
            found = _unplanned(error)
            entry = refuse_move(run.state, wish, found.in_words(), now)
        if isinstance(found, Refused):  # the run went on meanwhile
            self._refuse(run, entry, wish, found.in_words(), moving.message)
        else:
            self._write_move(run, moving, entry, found, now)
        return isinstance(found, Movable)

    def _is_quiet(self, run: OwnedRun, moving: Moving) -> bool:
        """Return whether the attempts in flight may go on after the move.

        They may not if this node lacks the code of the version and has to release the run, or if they have a turn in
        the suspect lane.
        """
        return not run.attempts or (self.can_run(moving.code) and not run.is_in_lane)

    def _write_move(self, old: OwnedRun, moving: Moving, entry: Entry, found: Movable, now: int) -> None:
        """Write the entry and the row's new version together, and go on with another object of the run."""
        state, numbers, tenant = found.state, moving.prepared.numbers, found.state.facts.tenant
        names = moving.wish.names
        run = OwnedRun(old.id, old.generation, moving.prepared, state, str(state.status), old.placed)
        run.version, run.read, run.unsure = moving.wish.version, old.read, old.unsure
        run.opening = old.opening
        same = {}
        for step in old.prepared.steps:
            mapped = numbers.get(names.get(step.name, step.name))
            if mapped is not None:
                same[step.index] = mapped
        for index, attempt in old.attempts.items():
            run.attempts[same[index]] = attempt
            take(state, same[index])
        queue, priority = queue_and_priority(run)
        is_kept = self.can_run(moving.code)
        is_due = bool(state.ready) and state.paused_by is None
        wake = now if is_due and not is_kept else state.next_wake()
        code = str(_encode(moving.code), "utf-8")
        stage = (None if is_kept else stage_of(run.prepared, state)) or NO_STAGE
        park = Park(run.id, run.generation, wake, run.row_status, queue, priority, run.version, code, is_kept, *stage)
        plan = Plan(entry, [], list(found.activated), [], closed=list(found.closed))
        write = PendingWrite(run.id, None, plan, ROW_BYTES + len(entry.data), park=park, consumed=(moving.message,))
        write.callbacks = [NewCallback(tenant, run.id, *callback_of(step)) for step in found.opened]
        self._forget(old)
        if is_kept:
            old.moved_as = (run, same)
            run.pending = 1
            write.owned = run
            self._replace(write)
        else:
            self._leave(write, old)

    def has_left(self, write: PendingWrite, nudge: Callable[[], None]) -> None:
        """Let the node claim at once if the written run was moved: it may have something to do."""
        if write.park is not None and write.park.version is not None:
            nudge()

    def _refuse(self, run: OwnedRun, entry: Entry, wish: MoveWish, words: str, message: int) -> None:
        emit("run.move_refused", run=run.id, version=wish.version, reason=words)
        self._write(run, Plan(entry, [], [], []), message=message)


def _try(run: OwnedRun, new: Prepared, wish: MoveWish, now: int) -> Movable | Refused:
    try:
        return check_move(run.prepared, run.state, new, wish, now)
    except Exception as error:  # noqa: BLE001 - a move that cannot be planned must not harm the run
        return _unplanned(error)


def _unplanned(error: Exception) -> Refused:
    return Refused((MoveReason(None, f"the move cannot be planned: {describe(error)}"),))
