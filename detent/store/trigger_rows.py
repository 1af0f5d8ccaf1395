"""The rows of triggers and of their firings.

A firing is durable before it has any effect. So if a node dies in between, any other node can finish it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple


class NewTrigger(NamedTuple):
    """A trigger to store. `config` is JSON. `key` is what an event trigger listens to.

    `next_at` is the next slot of a schedule, `None` while there is none. `owned`: it is part of the workflow's
    definition and changes with it."""

    id: bytes
    tenant: int
    workflow: bytes
    kind: str
    name: str | None
    enabled: bool
    config: str
    condition: str | None
    key: str | None
    next_at: int | None
    owned: bool
    note: str | None = None


class TriggerRow(NamedTuple):
    """A trigger as stored in its table."""

    id: bytes
    tenant: int
    workflow: bytes
    workflow_name: str
    workflow_enabled: bool
    kind: str
    name: str | None
    enabled: bool
    config: str
    condition: str | None
    key: str | None
    next_at: int | None
    owned: bool
    note: str | None
    last_at: int | None
    created_at: int
    updated_at: int


class FiringState(StrEnum):
    """The state of a firing. The first three are open; the others are how it ended."""

    DUE = "due"
    STARTING = "starting"
    QUEUED = "queued"
    STARTED = "started"
    IGNORED = "ignored"  # its condition was false
    REFUSED = "refused"  # an invalid signature or payload, or a workflow that cannot be started
    SKIPPED = "skipped"  # the previous run is still open
    ERRORED = "errored"  # its condition cannot be evaluated
    MISSED = "missed"  # its time passed while no node was running


OPEN_FIRINGS: Final = frozenset({FiringState.DUE, FiringState.STARTING, FiringState.QUEUED})


#: A queued firing is tried again after at most so many seconds, and at least so many.
QUEUE_PAUSE: Final = 1.0
SHORTEST_PAUSE: Final = 0.05


#: A firing is claimed or deferred for at most this long, in microseconds. A later time was written by a clock that has
#: been set back since, and is ignored.
FARTHEST: Final = 60_000_000


def is_left_alone(until: int | None, now: int) -> bool:
    """Return whether a firing is being processed or deferred until a later time."""
    return until is not None and now < until <= now + FARTHEST


class NewFiring(NamedTuple):
    """A firing to add. `slot` is the time of a schedule. `dedup` is equal if the same event is sent twice.

    A trigger has at most one firing per slot and per `dedup`. `request` is JSON. A node processes the firing once
    `due_at` is reached."""

    id: bytes
    tenant: int
    trigger: bytes
    workflow: bytes
    kind: str
    state: str
    due_at: int
    slot: int | None = None
    dedup: str | None = None
    request: bytes | None = None
    replay_of: bytes | None = None
    message: str | None = None


class FiringRow(NamedTuple):
    """A firing as stored in its table. Until `until` it is being processed or deferred."""

    id: bytes
    tenant: int
    trigger: bytes
    workflow: bytes
    kind: str
    state: str
    due_at: int
    slot: int | None
    dedup: str | None
    request: bytes | None
    replay_of: bytes | None
    message: str | None
    at: int
    until: int | None
    run: bytes | None


class OverlapRule(StrEnum):
    """What a firing does while a run of the same trigger is still open."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


class Verdict(StrEnum):
    """Whether a firing may be processed now."""

    GO = "go"
    WAIT = "wait"  # this firing or another one of the trigger is being processed
    QUEUED = "queued"
    SKIPPED = "skipped"
    OVER = "over"  # it was processed or deleted


class Turn(NamedTuple):
    """The answer to `begin_firing`. `open_runs`: up to a thousand open runs of the same trigger; empty with ALLOW.
    `pause`: the first in a line is worth another try after so many seconds; zero if there is no line."""

    verdict: Verdict
    open_runs: tuple[bytes, ...] = ()
    pause: float = 0.0


def pause_in_line(runs: Sequence[bytes], now: int, *, is_first: bool) -> float:
    """Return the seconds after which a queued firing is tried again.

    The first in line waits for a part of the age of the run before it. So a line of short runs moves on quickly, and a
    long run costs a try a second."""
    if not runs or not is_first:
        return QUEUE_PAUSE
    begun = int.from_bytes(max(runs)[:6], "big") * 1_000  # an id begins with the milliseconds of its making
    return min(QUEUE_PAUSE, max(SHORTEST_PAUSE, (now - begun) / 4_000_000))
