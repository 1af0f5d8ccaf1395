"""One attempt of one step, ready to run: the step's parameters with every template filled in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

import msgspec

from detent.graph.model import Ending, Graph, StepKind
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, Operation, RunFacts


class FunctionListener(Protocol):
    """Receives what happens to a durable function while it runs. It only takes note and acts later."""

    def ended(self, checkpoint: Checkpoint) -> None:
        """The checkpoint is in the journal."""

    def begun(self, key: str) -> None:
        """The journal records that the operation began, or that it will be tried again."""

    def look(self) -> None:
        """Check whether the function must stop."""


class FunctionPort(Protocol):
    """What a durable function asks of the engine. Writes are only queued here; the listener is notified when they are
    durable. If a write fails, the function is stopped."""

    def history(self) -> Sequence[Checkpoint]:
        """What is on record, in the journal's order."""

    def operations(self) -> Mapping[str, Operation]:
        """What was begun and has not ended."""

    def listen(self, listener: FunctionListener) -> None:
        """Tell this one from now on."""

    def must_stop(self) -> bool:
        """Whether nothing new may begin: the run is paused, or the node is about to leave."""

    def patience(self) -> int:
        """How long it may stay in memory with nothing to do but wait, in microseconds."""

    def now(self) -> int:
        """The database's time."""

    def call_at(self, when: int, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at that time. Return a function that cancels the call."""

    def begin(self, operation: Operation, *, callback: bool = False) -> None:
        """Put on record that it was begun; with `callback` make the place where its answer is received."""

    def end(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        """Put on record that it has ended, unless it has already."""

    def expire(self, key: str) -> None:
        """End a wait whose time is over as timed out, unless its answer came before. The history then has its end."""

    def lock(self) -> None:
        """Something begins that locks the run's row: what would stop the function waits."""

    def unlock(self) -> None:
        """It is over."""

    async def start_child(self, key: str, child: StartRequest) -> str:
        """Start the child of an operation once, however often this is called, and return its id. With an `origin_kind`
        the run takes over from the function. Its end will be in the history. Raise what a start raises."""


class RunView(msgspec.Struct, frozen=True):
    """One run as one attempt sees it. `generation` is the ownership under which the attempt runs; only a durable
    function has a `port`."""

    facts: RunFacts
    graph: Graph
    generation: int
    result_of: Callable[[str], bytes | None]
    ending_of: Callable[[str], Ending | None]
    port: FunctionPort | None = None


# The keys of what a durable function waits for: a step has its name, everything else begins with an `@`.


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class Op(StrEnum):
    """The kind of an operation. Every kind but a step has its own prefix of the key."""

    STEP = ""
    SLEEP = "@sleep"
    TIMER = "@timer"
    WAIT = "@wait"
    SIGNAL = "@signal"  # that came
    ASK = "@ask"  # for a signal
    CHILD = "@child"
    NOW = "@now"
    CONTINUE = "@continue"


def is_name(text: str) -> bool:
    """Whether a step, a wait or a signal of a durable function can be called so."""
    return _NAME.fullmatch(text) is not None


def op_of(key: str) -> Op:
    """What the operation of that key is."""
    if not key.startswith("@"):
        return Op.STEP
    return Op(key.partition(":")[0].partition("#")[0])


def name_of(key: str) -> str:
    """What was asked for, without how often."""
    return key.partition(":")[2].partition("#")[0]


def signal_key(name: str, number: int) -> str:
    """The key of the signal of that name that comes as that number, from 1."""
    return f"{Op.SIGNAL}:{name}" if number == 1 else f"{Op.SIGNAL}:{name}#{number}"


class StepCall(msgspec.Struct, frozen=True):
    """What an executor gets. The idempotency key is the same in every attempt of this step of this run. Only steps that
    are written in Python get to see their run."""

    run_id: bytes
    tenant: int
    step: str
    kind: StepKind
    attempt: int
    parameters: Any
    timeout: float | None = None
    view: RunView | None = None

    @property
    def idempotency_key(self) -> str:
        """Return the key that every attempt of this step of this run sends with its effect."""
        return idempotency_key(self.tenant, self.run_id, self.step)


def idempotency_key(tenant: int, run: bytes, step: str) -> str:
    """Return a stable key of a step of a run, so that a receiver can recognise a repeated effect."""
    return hashlib.sha256(b"%d\x00%b\x00%b" % (tenant, run, step.encode())).hexdigest()[:40]
