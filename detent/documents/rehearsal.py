"""Documents of rehearsals: what a draft would do to runs in flight and to finished runs."""

from __future__ import annotations

import msgspec

from detent.documents.runs import MoveGroupDocument


class DetourDocument(msgspec.Struct):
    """A step that would end otherwise: its ending in the run and in the draft, and the edge that decides it."""

    step: str
    was: str
    now: str
    edge: str | None


class FailureDocument(msgspec.Struct):
    """A step that would fail, and why."""

    step: str
    message: str


class ParameterDiffDocument(msgspec.Struct):
    """A rendered parameter that would differ, as JSON text; null if one side does not have it."""

    step: str
    field: str
    old: str | None
    new: str | None


class RehearsalGroupDocument(msgspec.Struct, kw_only=True):
    """Runs that would do the same in the draft. `same`: they take the same path.

    `new_steps` would run and have no recorded result. `differences` are those of the first run in `examples`."""

    runs: int
    in_flight: bool
    same: bool
    detours: list[DetourDocument]
    failures: list[FailureDocument]
    new_steps: list[str]
    differences: list[ParameterDiffDocument]
    examples: list[str]


class RehearsalProgressDocument(msgspec.Struct):
    """How far a rehearsal is: the runs of its stage (`moves`, `in_flight`, `finished`) that were looked at."""

    stage: str
    done: int
    total: int


class RehearsalDocument(msgspec.Struct, kw_only=True):
    """What a draft would do: to the newest 1,000 runs in flight and finished runs, and which runs could be moved to it.

    `version` is the number that the draft would get. `same`, `other` and `failing` count the rehearsed runs that take
    the same path, another path, or would fail. `matched` counts the runs in flight, up to 10,000."""

    workflow: str
    version: int
    days: int
    in_flight: int
    finished: int
    same: int
    other: int
    failing: int
    groups: list[RehearsalGroupDocument]
    matched: int
    movable: int
    moves: list[MoveGroupDocument]
