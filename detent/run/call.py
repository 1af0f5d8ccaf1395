"""One attempt of one step, ready to run: the step's parameters with every template filled in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from detent.graph.model import Ending, Graph, StepKind
from detent.run.links import Link
from detent.run.outcomes import StepError
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, Operation, RunFacts


class FunctionListener(Protocol):
    """Receives what happens to a durable function while it runs. It only takes note and acts later."""

    def ended(self, checkpoint: Checkpoint) -> None:
        """Receive a checkpoint that is in the journal now."""

    def begun(self, key: str) -> None:
        """Receive the key of an operation that began or will be retried, by the journal."""

    def look(self) -> None:
        """Check whether the function must stop."""


class FunctionPort(Protocol):
    """What a durable function can ask of the engine. Writes are only queued here; the listener is notified when they
    are durable. If a write fails, the function is stopped."""

    def history(self) -> Sequence[Checkpoint]:
        """Return the checkpoints that are durable, in journal order."""

    def operations(self) -> Mapping[str, Operation]:
        """Return the operations that have begun and not ended."""

    def listen(self, listener: FunctionListener) -> None:
        """Notify this listener from now on."""

    def must_stop(self) -> bool:
        """Return whether nothing new may begin: the run is paused or released, or its node is about to stop."""

    def patience(self) -> int:
        """Return how long the function may stay in memory while it only waits, in microseconds."""

    def now(self) -> int:
        """Return the database's time."""

    def call_at(self, when: int, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at that time. Return a function that cancels the call."""

    def begin(self, operation: Operation, *, callback: bool = False, ask: str | None = None) -> None:
        """Journal that an operation began. With `callback`, create the callback that receives its answer. `ask` is what
        it asks."""

    def end(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        """Journal that an operation has ended, unless it has ended already."""

    def claim(self, key: str, links: Sequence[Link], answered: Callable[[StepError | None], None]) -> None:
        """Claim the links of a step. `answered` gets the conflict, or None if the run has every resource."""

    def expire(self, key: str) -> None:
        """End a wait as timed out, unless its answer came first. The history then has its end."""

    def lock(self) -> None:
        """Begin work that locks the run's row. Events that would stop the function are deferred."""

    def unlock(self) -> None:
        """End the work that locks the run's row."""

    async def start_child(self, key: str, child: StartRequest) -> str:
        """Start the child of an operation once, however often this is called, and return its id. Its end will be in the
        history. Raise the errors of a start."""

    async def prepare_successor(self, request: StartRequest) -> str:
        """Prepare the run that takes over from this one and return its id. It starts when this attempt ends as
        `Continued`. Raise the errors of a start."""


class ChildPort(Protocol):
    """The child run of an attempt. Its id is in the journal."""

    run_id: str

    async def start(self, request: StartRequest, *, detached: bool, recursion: bool) -> None:
        """Start the child unless it exists. Raise the errors of a start.

        With `recursion`, it may be a run of a workflow that is among its parents."""


def _no_error(step: str) -> StepError | None:
    return None


class RunView(msgspec.Struct, frozen=True):
    """One run as one attempt sees it. The attempt runs while its node owns `generation` of the run.

    Only a durable function has a `port`, and only a step that starts a run has a `child`.
    """

    facts: RunFacts
    graph: Graph
    generation: int
    result_of: Callable[[str], bytes | None]
    ending_of: Callable[[str], Ending | None]
    port: FunctionPort | None = None
    child: ChildPort | None = None
    error_of: Callable[[str], StepError | None] = _no_error  # of the last attempt of a step that failed


# The keys of operations of a durable function: the key of a step is its name, every other key begins with `@`.


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class Op(StrEnum):
    """The kind of an operation. Every kind but a step has its own prefix of the key."""

    STEP = ""
    SLEEP = "@sleep"
    TIMER = "@timer"
    WAIT = "@wait"
    SIGNAL = "@signal"  # a signal that was received
    ASK = "@ask"  # a wait for a signal
    CHILD = "@child"
    NOW = "@now"


def is_name(text: str) -> bool:
    """Return whether a step, a wait or a signal of a durable function can have this name."""
    return _NAME.fullmatch(text) is not None


def op_of(key: str) -> Op:
    """Return the kind of the operation with that key."""
    if not key.startswith("@"):
        return Op.STEP
    return Op(key.partition(":")[0].partition("#")[0])


def name_of(key: str) -> str:
    """Return the name in a key, without its prefix and number."""
    return key.partition(":")[2].partition("#")[0]


def wait_name(key: str) -> str:
    """Return the name of a wait as its author wrote it, with its number: `approval` for `@wait:approval`."""
    return key.removeprefix(f"{Op.WAIT}:")


def signal_key(name: str, number: int) -> str:
    """Return the key of a signal by its name and its number among the signals of that name, from 1."""
    return f"{Op.SIGNAL}:{name}" if number == 1 else f"{Op.SIGNAL}:{name}#{number}"


class BoundSecret(NamedTuple):
    """A secret in the parameters of a call that may be sent to some hosts only."""

    name: str
    hosts: tuple[str, ...]


class StepCall(msgspec.Struct, frozen=True):
    """The argument of an executor. The idempotency key is the same in every attempt of this step of this run. Only
    steps that are written in Python have a `view` of their run. `bound` are secrets that not every host may receive.
    The result of an `is_sensitive` call is sealed."""

    run_id: bytes
    tenant: int
    step: str
    kind: StepKind
    attempt: int
    parameters: Any
    timeout: float | None = None
    view: RunView | None = None
    bound: tuple[BoundSecret, ...] = ()
    is_sensitive: bool = False

    @property
    def idempotency_key(self) -> str:
        """Return the key that every attempt of this step of this run sends with its effect."""
        return idempotency_key(self.tenant, self.run_id, self.step)


def idempotency_key(tenant: int, run: bytes, step: str) -> str:
    """Return a stable key of a step of a run, so that a receiver can recognise a repeated effect."""
    return hashlib.sha256(b"%d\x00%b\x00%b" % (tenant, run, step.encode())).hexdigest()[:40]
