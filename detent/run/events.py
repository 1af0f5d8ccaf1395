"""The events of a run. The planner turns each of these into at most one journal entry."""

from __future__ import annotations

import msgspec

from detent.graph.model import Ending
from detent.run.outcomes import Outcome, StepError
from detent.run.state import PastMap


class AttemptEnded(msgspec.Struct, frozen=True):
    """An executor has ended an attempt, after `ms` milliseconds. This is also the event of a template that cannot be
    rendered: then `outcome` is a Fail with code `template_error`."""

    step: int
    attempt: int
    outcome: Outcome
    ms: float


class AttemptStarting(msgspec.Struct, frozen=True):
    """An attempt is about to begin whose start must be in the journal before its effect. `child` is the id of the run
    that it starts if the step is a child run, and `pages` has those of its first pages if it is a map."""

    step: int
    child: str | None = None
    pages: tuple[str, ...] = ()


class ChildEnded(msgspec.Struct, frozen=True):
    """The child run of a step has ended.

    If it is a page of a map, `counts` has the numbers of items that have succeeded and failed, as far as they are
    known, and `spare` is the id for the next page."""

    step: int
    child: str
    ending: Ending
    result: bytes
    error: StepError | None
    message: int
    counts: tuple[int, int] | None = None
    spare: str | None = None


class ChildContinued(msgspec.Struct, frozen=True):
    """The child run of a step continues as another run."""

    step: int
    child: str
    successor: str
    message: int


class Woke(msgspec.Struct, frozen=True):
    """The time a step waited for has come."""

    step: int


class WaitExpired(msgspec.Struct, frozen=True):
    """The store has expired the callback of a wait step. It can receive nothing any more."""

    step: int


class Received(msgspec.Struct, frozen=True):
    """A callback arrived. `result` is what expressions will read of the wait step; `message` is its id in the inbox."""

    step: int
    result: bytes
    message: int | None = None


class Noted(msgspec.Struct, frozen=True):
    """A decision arrived that does not end its approval. `wait` is a wait step, or the key of a wait of a durable
    function."""

    wait: int | str
    note: bytes
    message: int | None = None


class Adopted(msgspec.Struct, frozen=True):
    """The run was claimed from a dead node. After `poison_after` strikes a step ends as poison. An attempt of a suspect
    run starts after a delay that grows up to `poison_delay` seconds."""

    by: str
    poison_after: int = 5
    poison_delay: float = 300.0


class Released(msgspec.Struct, frozen=True):
    """An attempt whose start is in the journal is not in flight: its node stopped it or never began it."""

    step: int


class Reused(msgspec.Struct, frozen=True):
    """A run that is not open yet takes over the result that a step had in the original run. It is empty if the step had
    none. `skipped`: the step was skipped there, and is skipped here. `past`: the step is a map that did not succeed
    there, and its pages take over what succeeded in those."""

    step: int
    result: bytes
    skipped: bool = False
    past: PastMap | None = None


class Opened(msgspec.Struct, frozen=True):
    """The start time of a pending run has come."""


class Resolved(msgspec.Struct, frozen=True):
    """A user states whether an uncertain attempt happened. `result` as in Done; `None`: unknown."""

    step: int
    happened: bool
    result: bytes | None
    by: str


class OperationBegan(msgspec.Struct, frozen=True):
    """An operation of a durable function began, or will be retried. With a `message`: the child of the operation has
    continued as another run. `asks`: it waits for people."""

    key: str
    attempt: int
    until: int | None = None
    child: str | None = None
    error: StepError | None = None
    message: int | None = None
    asks: bool = False


class OperationEnded(msgspec.Struct, frozen=True):
    """An operation of a durable function has ended: a step, a sleep, a wait or a child. Or a signal arrived."""

    key: str
    attempt: int
    ending: Ending
    result: bytes
    error: StepError | None = None
    ms: float | None = None
    message: int | None = None


class Skipped(msgspec.Struct, frozen=True):
    """A user skips a step; `None`: the current one."""

    step: int | None
    by: str


class Reattempted(msgspec.Struct, frozen=True):
    """A user tries a step (again) after `wait` seconds; `None`: the current one."""

    step: int | None
    wait: float
    by: str


class Finished(msgspec.Struct, frozen=True):
    """A user finishes the run."""

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
    | ChildEnded
    | ChildContinued
    | Woke
    | WaitExpired
    | Received
    | Noted
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
