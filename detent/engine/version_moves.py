"""Moves of owned runs to another version of their workflow.

A run is moved when nothing of it is in flight, so that no effect happens twice because of a move. Until then nothing
new starts. The entry and the new version in the run's row are one write, and the run is released with it. The next
claim reads the run with its new graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from detent.clock import DatabaseTime
from detent.engine.owned_run import Moving, OwnedRun, queue_and_priority
from detent.engine.write import ROW_BYTES, PendingWrite
from detent.observe import emit
from detent.planner.prepared import Prepared
from detent.planner.version_move import Movable, MoveReason, MoveWish, Refused, check_move, plan_move, refuse_move
from detent.run.journal import Entry
from detent.run.plan import Plan
from detent.steps.user_code import describe
from detent.store.rows import NewCallback, Park


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
        rest: Callable[[OwnedRun], None],
    ) -> None:
        """`write` queues the rows of a plan, `forget` drops a run from memory, `leave` queues its last write, and
        `rest` looks at a run after an event."""
        self._time, self._write, self._forget, self._leave, self._rest = time, write, forget, leave, rest

    def ask(self, run: OwnedRun, wish: MoveWish, new: Prepared | None, code: str, message: int) -> None:
        """Move a run to another version. `new` is the graph of that version, None if it is missing.

        A move that cannot hold is refused at once. Otherwise the run is moved when its attempts in flight have ended.
        """
        if new is None:
            words = f"there is no version {wish.version} of its workflow"
        elif run.moving is not None:
            words = f"it is being moved to version {run.moving.wish.version} already"
        else:
            found = _try(run, new, wish, self._time.now())
            if not isinstance(found, Refused):
                run.moving = Moving(wish, new, code, message)
                self._rest(run)
                return
            words = found.in_words()
        self._refuse(run, refuse_move(run.state, wish, words, self._time.now()), wish, words, message)

    def go_on(self, run: OwnedRun, moving: Moving) -> bool:
        """Move the run if nothing of it is in flight. Return whether it was moved, and has left memory."""
        is_stopping = run.stopping is not None and bool(run.stopping.events)
        if run.attempts or run.pending or run.state.running or run.locks or run.deferred or is_stopping:
            return False
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
            return False
        state = found.state
        moved = OwnedRun(run.id, run.generation, moving.prepared, state, placed=run.placed)
        is_due = bool(state.ready) and state.paused_by is None
        queue, priority = queue_and_priority(moved)
        wake, status = now if is_due else state.next_wake(), str(state.status)
        park = Park(run.id, run.generation, wake, status, queue, priority, wish.version, moving.code)
        plan = Plan(entry, [], list(found.activated), [], closed=list(found.closed))
        write = PendingWrite(run.id, None, plan, ROW_BYTES + len(entry.data), park=park, consumed=(moving.message,))
        tenant = state.facts.tenant
        write.callbacks = [NewCallback(tenant, run.id, step.name, step.accepts_early) for step in found.opened]
        self._forget(run)
        self._leave(write, run)
        return True

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
