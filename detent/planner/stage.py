"""What a run waits for when its node parks it: the most telling of everything that its open steps wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detent.planner.prepared import Prepared
from detent.planner.suspects import UNCERTAIN
from detent.run.call import Op, op_of
from detent.run.stage import RunStage, StageKind
from detent.run.state import Phase, RunState
from detent.run.status import Status

#: The most telling first.
_ORDER: Final = {
    kind: place
    for place, kind in enumerate(
        (StageKind.PERSON, StageKind.WAITING, StageKind.CHILD, StageKind.SLEEPING, StageKind.RETRYING)
    )
}
_OPERATIONS: Final = {
    Op.SLEEP: StageKind.SLEEPING,
    Op.TIMER: StageKind.SLEEPING,
    Op.WAIT: StageKind.WAITING,
    Op.ASK: StageKind.WAITING,
    Op.CHILD: StageKind.CHILD,
}


def stage_of(prepared: Prepared, state: RunState) -> RunStage | None:
    """Return the stage of a run that is parked now, or None if it only waits for a node or for its start.

    The cost grows with the steps that have a time or a child, not with the graph."""
    if state.status is Status.PAUSED:
        if state.paused_by == UNCERTAIN and state.doubts:
            return RunStage(StageKind.UNCERTAIN, prepared.steps[min(state.doubts)].name)
        step = state.paused_step
        return RunStage(StageKind.PAUSED, None if step is None else prepared.steps[step].name)
    if state.ready or state.running or state.opens_at is not None:
        return None
    # A function that is suspended waits like a step, but its operations tell more.
    found = _of_operations(state) if state.operations else _of_steps(prepared, state)
    return min(found, key=lambda stage: _ORDER[stage.kind], default=None)


def _of_steps(prepared: Prepared, state: RunState) -> Iterator[RunStage]:
    for index in {**state.until, **state.child_of, **state.maps}:
        kind = _kind(prepared, state, index)
        if kind is not None:
            yield RunStage(kind, prepared.steps[index].name)


def _kind(prepared: Prepared, state: RunState, index: int) -> StageKind | None:
    match state.phase[index]:
        case Phase.WAITING:
            return StageKind.PERSON if prepared.steps[index].asks_people else StageKind.WAITING
        case Phase.CHILD:
            return StageKind.CHILD
        case Phase.SLEEPING:
            return StageKind.SLEEPING
        case Phase.RETRYING:
            return StageKind.RETRYING if state.attempt_number(index) > 1 else StageKind.SLEEPING
    return None


def _of_operations(state: RunState) -> Iterator[RunStage]:
    for one in state.operations.values():
        kind = StageKind.PERSON if one.asks else _OPERATIONS.get(op_of(one.key), StageKind.RETRYING)
        yield RunStage(kind, one.key)
