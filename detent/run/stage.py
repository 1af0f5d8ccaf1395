"""The stage of an open run: whether it works, and otherwise what it waits for.

A node writes the stage when it parks a run. The rest follows from the row: a run with an owner is running, a run whose
time has come is queued. Code that does not know stages leaves an older one in the row. So a stage counts only in the
generation in which it was written.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from detent.run.status import Status


class StageKind(StrEnum):
    """What an open run does or waits for. PERSON: a wait that asks a person."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PERSON = "person"
    CHILD = "child"
    SLEEPING = "sleeping"
    RETRYING = "retrying"
    DELAYED = "delayed"
    PAUSED = "paused"
    UNCERTAIN = "uncertain"


#: The kinds of runs that are parked until something happens. Only these are the stage of a row by themselves.
PARKED: Final = (StageKind.WAITING, StageKind.PERSON, StageKind.CHILD, StageKind.SLEEPING, StageKind.RETRYING)


class RunStage(NamedTuple):
    """What a parked run waits for, and the step that waits. `step` is `None` if it is not one step."""

    kind: StageKind
    step: str | None = None


#: The columns of a run that waits for nothing but a node.
NO_STAGE: Final = (None, None)


def stage_kind(
    *,
    status: str,
    owned: bool,
    wake_at: int | None,
    stage: str | None,
    is_current: bool,
    now: int,
) -> StageKind:
    """Return the stage of an open run by the columns of its row. `is_current`: its stage is of its generation.

    A run that other code parked is `waiting` without a time, and `sleeping` until its time."""
    known = stage if is_current else None
    if status == Status.PAUSED:
        return StageKind.UNCERTAIN if not owned and known == StageKind.UNCERTAIN else StageKind.PAUSED
    if owned:
        return StageKind.RUNNING
    if wake_at is not None and wake_at <= now:
        return StageKind.QUEUED
    if status == Status.PENDING:
        return StageKind.DELAYED
    if known is not None and known in (*PARKED, StageKind.QUEUED):
        return StageKind(known)
    return StageKind.WAITING if wake_at is None else StageKind.SLEEPING
