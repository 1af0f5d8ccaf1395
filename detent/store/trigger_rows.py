"""The rows of triggers and of what fired them.

A firing is durable before anything is done because of it, so a node that dies in between is finished by any other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class NewTrigger(NamedTuple):
    """A trigger to be kept. `config` is JSON; `key` what an event trigger listens to; `next_at` the next slot of a
    schedule, null while there is none. `owned`: it stands in the workflow's definition and changes with it."""

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
    """A trigger as it stands in its table."""

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
    """Where a firing stands. The first three are open; the others are how it ended."""

    DUE = "due"
    STARTING = "starting"
    QUEUED = "queued"
    STARTED = "started"
    IGNORED = "ignored"  # its condition is false
    REFUSED = "refused"  # a bad signature, a payload that does not fit, a workflow that cannot be started
    SKIPPED = "skipped"  # the run before is still going on
    ERRORED = "errored"  # its condition cannot be evaluated
    MISSED = "missed"  # its time passed while nothing was at work


OPEN_FIRINGS: Final = frozenset({FiringState.DUE, FiringState.STARTING, FiringState.QUEUED})


#: A queued firing is looked at again after so many seconds.
QUEUE_PAUSE: Final = 1


#: Nobody leaves a firing alone for longer than this, in microseconds. A time farther ahead was written by a clock that
#: has been put back since, and does not count.
FARTHEST: Final = 60_000_000


def is_left_alone(until: int | None, now: int) -> bool:
    """Whether somebody is at a firing, or it is to wait."""
    return until is not None and now < until <= now + FARTHEST


class NewFiring(NamedTuple):
    """Something that fired a trigger. `slot` is the time of a schedule, `dedup` what tells two sendings of one thing
    from two things; of either there is only one per trigger. `request` is JSON. Whoever processes firings takes it up
    once `due_at` is reached."""

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
    """A firing as it stands in its table. `until`: somebody is at it, or it is to be left alone, until then."""

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
    WAIT = "wait"  # another firing of the trigger is being processed, or an older one comes first
    QUEUED = "queued"
    SKIPPED = "skipped"
    OVER = "over"  # somebody has processed it, or it is gone


class Turn(NamedTuple):
    """The answer to `begin_firing`. `open_runs`: runs of the same trigger that have not ended, a thousand at most; with
    ALLOW nobody looks for them."""

    verdict: Verdict
    open_runs: tuple[bytes, ...] = ()
