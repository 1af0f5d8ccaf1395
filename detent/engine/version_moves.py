"""Moves of owned runs to another version of their workflow.

A run is moved when none of its writes is pending. Until then nothing new starts. The entry and the new version in the
run's row are one write. Attempts in flight go on, and their outcomes count in the new version: no effect happens twice
because of a move. A node that lacks the code of the new version releases the run instead, after its attempts have
ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import msgspec

from detent.clock import DatabaseTime
from detent.engine.owned_run import Moving, OwnedRun, queue_and_priority
from detent.engine.write import ROW_BYTES, PendingWrite
from detent.observe import emit
from detent.planner.advance import put_back
from detent.planner.apply import take
from detent.planner.prepared import Prepared
from detent.planner.version_move import Movable, MoveReason, MoveWish, Refused, check_move, plan_move, refuse_move
from detent.run.journal import Entry
from detent.run.plan import Plan
from detent.run.state import Phase
from detent.steps.user_code import describe
from detent.store.rows import NewCallback, Park

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
        park = Park(run.id, run.generation, wake, run.row_status, queue, priority, run.version, code, is_kept)
        plan = Plan(entry, [], list(found.activated), [], closed=list(found.closed))
        write = PendingWrite(run.id, None, plan, ROW_BYTES + len(entry.data), park=park, consumed=(moving.message,))
        write.callbacks = [NewCallback(tenant, run.id, step.name, step.accepts_early) for step in found.opened]
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
