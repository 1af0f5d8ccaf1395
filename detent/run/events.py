"""What can happen to a run. The planner turns each of these into at most one journal entry."""

from __future__ import annotations

import msgspec

from detent.graph.model import Ending
from detent.run.outcomes import Outcome, StepError


class AttemptEnded(msgspec.Struct, frozen=True):
    """An executor is done with an attempt, after `ms` milliseconds. Also used for a template that could not be filled:
    then `outcome` is a Fail of code `template_error`."""

    step: int
    attempt: int
    outcome: Outcome
    ms: float


class AttemptStarting(msgspec.Struct, frozen=True):
    """An attempt whose start must be on record before its effect is about to begin."""

    step: int


class Woke(msgspec.Struct, frozen=True):
    """The time a step waited for has come."""

    step: int


class WaitExpired(msgspec.Struct, frozen=True):
    """The store has expired the callback of a wait step: nothing can be received there any more."""

    step: int


class Received(msgspec.Struct, frozen=True):
    """A callback came; `result` is what expressions will read of the wait step. `message` is its place in the inbox."""

    step: int
    result: bytes
    message: int | None = None


class Adopted(msgspec.Struct, frozen=True):
    """The run was taken from a node that is gone. After `poison_after` strikes a step ends as poison. An attempt of a
    suspect run starts after a delay that grows up to `poison_delay` seconds."""

    by: str
    poison_after: int = 5
    poison_delay: float = 300.0


class Released(msgspec.Struct, frozen=True):
    """The attempt of a suspect run, with its start on record, is not in flight: its node gave it up or never began."""

    step: int


class Reused(msgspec.Struct, frozen=True):
    """A run that is not open yet is given the result a step had in the run it came from. Empty: it had none.
    `skipped`: it was left out there, and is here."""

    step: int
    result: bytes
    skipped: bool = False


class Opened(msgspec.Struct, frozen=True):
    """The time a run was to begin at has come."""


class Resolved(msgspec.Struct, frozen=True):
    """A person says whether an uncertain attempt happened. `result` as in Done; `None`: unknown."""

    step: int
    happened: bool
    result: bytes | None
    by: str


class OperationBegan(msgspec.Struct, frozen=True):
    """A durable function begins something that takes time, or will try again. By a `message`: what it began is another
    run now."""

    key: str
    attempt: int
    until: int | None = None
    child: str | None = None
    error: StepError | None = None
    message: int | None = None


class OperationEnded(msgspec.Struct, frozen=True):
    """An operation of a durable function has ended: a step of it, a sleep, a wait, a child, or a signal came."""

    key: str
    attempt: int
    ending: Ending
    result: bytes
    error: StepError | None = None
    ms: float | None = None
    message: int | None = None


class Skipped(msgspec.Struct, frozen=True):
    """A person skips a step; `None`: the current one."""

    step: int | None
    by: str


class Reattempted(msgspec.Struct, frozen=True):
    """A person tries a step (again) after `wait` seconds; `None`: the current one."""

    step: int | None
    wait: float
    by: str


class Finished(msgspec.Struct, frozen=True):
    """A person says that the run is done."""

    by: str


class Cancelled(msgspec.Struct, frozen=True):
    by: str


class Paused(msgspec.Struct, frozen=True):
    by: str


class Resumed(msgspec.Struct, frozen=True):
    by: str


class Expired(msgspec.Struct, frozen=True):
    """The run's maximum duration is over."""


Event = (
    AttemptEnded
    | AttemptStarting
    | Woke
    | WaitExpired
    | Received
    | Adopted
    | Released
    | Reused
    | Opened
    | Resolved
    | OperationBegan
    | OperationEnded
    | Skipped
    | Reattempted
    | Finished
    | Cancelled
    | Paused
    | Resumed
    | Expired
)
