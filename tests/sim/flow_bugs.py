"""Flow control with one bug each, as patches."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from detent.engine.attempts import Attempts
from detent.engine.owned_run import OwnedRun
from detent.graph.model import Ending
from detent.planner.apply import Change
from detent.planner.moves.version import MoveReason
from detent.planner.prepared import Prepared, PreparedStep
from detent.planner.settle import Settling
from detent.run import events
from detent.run.journal import CarriedEntry, EntryData
from detent.run.plan import StartAttempt
from detent.run.state import Phase, RunState

planning = import_module("detent.planner.advance")
applying = import_module("detent.planner.apply")
moving = import_module("detent.planner.moves.code")
_carried = moving._carried
version_moving = import_module("detent.planner.moves.version")
flowing = import_module("detent.planner.flow")
running = import_module("detent.engine.runner")

Patches = tuple[tuple[Any, Any, Any], ...]

_move = moving.move
_stay_active = version_moving._Replaying._stay_active
_make_attempt_ended = planning._CHANGES[events.AttemptEnded]
_moved_state = moving.moved_state
_reattempted = planning._CHANGES[events.Reattempted]


def _finish_and_go_on(self: Settling, index: int) -> None:
    self.end(index, Ending.SUCCESS)


def _always_wanted(state: RunState, start: StartAttempt) -> bool:
    return True


def _carry_nothing(prepared: Prepared, state: RunState, index: int, graph: bytes) -> Change:
    change = _move(prepared, state, index, graph)
    assert isinstance(change.data, EntryData)
    change.data.carried = {}
    return change  # type: ignore[no-any-return]


def _carried_in_vain(*given: Any) -> RunState:
    state: RunState = _moved_state(*given)
    state.carried.clear()
    state.passed = frozenset()
    return state


def _without_its_result(state: RunState, index: int) -> CarriedEntry | None:
    how: CarriedEntry | None = _carried(state, index)
    return None if how is None else CarriedEntry(how.ending, error=how.error, explicit=how.explicit)


def _forget_the_step(state: RunState, change: Change) -> None:
    if change.step is not None:
        state.attempts[change.step] += 1


def _keep_in_flight(self: Attempts, run: OwnedRun, step: int) -> None:
    return None


def _count_late_outcomes(event: events.AttemptEnded, prepared: Prepared, state: RunState, now: int) -> Any:
    phase, state.phase[event.step] = state.phase[event.step], Phase.RUNNING
    try:
        event = events.AttemptEnded(event.step, state.attempt_number(event.step), event.outcome, event.ms)
        return _make_attempt_ended(event, prepared, state, now)
    finally:
        state.phase[event.step] = phase


def _keep_the_number(event: events.Reattempted, prepared: Prepared, state: RunState, now: int) -> Any:
    change = _reattempted(event, prepared, state, now)
    return None if change is None else change._replace(attempt=0)


OF_FLOW: Final[dict[str, Patches]] = {
    "a run that is finished goes on": ((Settling, "finish", _finish_and_go_on),),
    "a move forgets what was achieved": ((flowing, "move", _carry_nothing),),
    "a moved run does again what it had done": (
        (planning, "moved_state", _carried_in_vain),
        (import_module("detent.planner.fold"), "moved_state", _carried_in_vain),
    ),
    "a moved run forgets what its steps gave": ((moving, "_carried", _without_its_result),),
    "a pause forgets its step": ((applying, "_stopped_by_itself", _forget_the_step),),
    "an attempt that is begun anew has the number of the old one": (
        (planning._CHANGES, events.Reattempted, _keep_the_number),
    ),
}


def _forget_what_is_before(self: Any, version: int) -> list[MoveReason]:
    return list(self.refused)


def _sleep_again(self: Any, step: PreparedStep, how: Any) -> None:
    self._let_run(step) if how.phase is Phase.SLEEPING else _stay_active(self, step, how)


def _keep_no_attempts(self: Any, index: int, how: Any) -> None:
    if how.old is not None:
        self._state.since[index] = self._replay.was.since[how.old]


def _leave_attempts(self: OwnedRun, step: int) -> tuple[OwnedRun, int]:
    return self, step


OF_MOVES: Final[dict[str, Patches]] = {
    "a move forgets a new step before the frontier": ((version_moving._Replay, "problems", _forget_what_is_before),),
    "sleeps are begun again by a move": ((version_moving._Replaying, "_stay_active", _sleep_again),),
    "a move forgets how often a step was tried": ((version_moving._Replaying, "_keep", _keep_no_attempts),),
    "the outcome of an attempt is lost by a move": ((OwnedRun, "current", _leave_attempts),),
}
OF_SKIPS: Final[dict[str, Patches]] = {
    "the outcome of a skipped attempt counts": (
        (Attempts, "stop_one", _keep_in_flight),
        (planning._CHANGES, events.AttemptEnded, _count_late_outcomes),
    ),
}
OF_WAITING: Final[dict[str, Patches]] = {
    "an attempt begins though its step was skipped meanwhile": ((running, "is_wanted", _always_wanted),),
}
