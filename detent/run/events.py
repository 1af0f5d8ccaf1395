"""What can happen to a run. The planner turns each of these into at most one journal entry."""

from __future__ import annotations

from dataclasses import dataclass

from detent.graph.model import Ending
from detent.run.outcomes import Outcome, StepError


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An executor is done with an attempt, after `ms` milliseconds. Also used for a template that could not be filled:
    then `outcome` is a Fail of code `template_error`."""

    step: int
    attempt: int
    outcome: Outcome
    ms: float


@dataclass(frozen=True, slots=True)
class AttemptStarting:
    """An attempt whose start must be on record before its effect is about to begin."""

    step: int


@dataclass(frozen=True, slots=True)
class Woke:
    """The time a step waited for has come."""

    step: int


@dataclass(frozen=True, slots=True)
class WaitExpired:
    """The store has expired the callback of a wait step: nothing can be received there any more."""

    step: int


@dataclass(frozen=True, slots=True)
class Received:
    """A callback came; `result` is what expressions will read of the wait step. `message` is its place in the inbox."""

    step: int
    result: bytes
    message: int | None = None


@dataclass(frozen=True, slots=True)
class Adopted:
    """The run was taken from a node that is gone. `poison_after`: adoptions without progress until a step is blamed."""

    by: str
    poison_after: int = 3


@dataclass(frozen=True, slots=True)
class Reused:
    """A run that is not open yet is given the result a step had in the run it came from. Empty: it had none.
    `skipped`: it was left out there, and is here."""

    step: int
    result: bytes
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """The time a run was to begin at has come."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A person says whether an attempt that nobody knows the end of happened. `result` as in Done; null: unknown."""

    step: int
    happened: bool
    result: bytes | None
    by: str


@dataclass(frozen=True, slots=True)
class OperationBegan:
    """A durable function begins something that takes time, or will try again."""

    key: str
    attempt: int
    until: int | None = None
    child: str | None = None
    error: StepError | None = None


@dataclass(frozen=True, slots=True)
class OperationEnded:
    """An operation of a durable function has ended: a step of it, a sleep, a wait, a child, or a signal came."""

    key: str
    attempt: int
    ending: Ending
    result: bytes
    error: StepError | None = None
    ms: float | None = None
    message: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A person wants a step left out; null: the one the run is at."""

    step: int | None
    by: str


@dataclass(frozen=True, slots=True)
class Reattempted:
    """A person wants a step tried (again) after `wait` seconds; null: the one the run is at."""

    step: int | None
    wait: float
    by: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A person says that the run is done."""

    by: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    by: str


@dataclass(frozen=True, slots=True)
class Paused:
    by: str


@dataclass(frozen=True, slots=True)
class Resumed:
    by: str


@dataclass(frozen=True, slots=True)
class Expired:
    """The run's maximum duration is over."""


Event = (
    AttemptEnded
    | AttemptStarting
    | Woke
    | WaitExpired
    | Received
    | Adopted
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
