"""The contract for kinds of steps: an executor turns one call into one outcome.

Built-in kinds use it like any other. An executor declares what it needs of the engine. Without that it gets only its
call, and holds no lock and no connection to the store. It must be safe to repeat: if a node dies, another node makes
the call again with the same idempotency key.
"""

from __future__ import annotations

from collections.abc import Coroutine
from enum import Flag, auto
from functools import cached_property
from typing import Any, ClassVar, Protocol

from detent.graph.model import Step, StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Outcome


class Needs(Flag):
    """What an executor needs of the engine to run a step, beside the call."""

    NOTHING = 0
    VIEW = auto()  # `call.view`: the run's facts, graph and earlier results
    PORT = auto()  # `call.view.port`: operations of a durable function; only together with VIEW
    CHILD = auto()  # `call.view.child`: the child run of the attempt; only together with VIEW
    ROW_LOCK = auto()  # the attempt may lock the run's row: the engine does not stop it, and waits for its end
    OWN_LIMIT = auto()  # the executor ends the attempt at `call.timeout` by itself
    SILENCE = auto()  # the attempt runs no code of a user, so it needs no log

    # Every attempt asks these. `VIEW in needs` is a call in Python each time; an answer that is cached is not.

    @cached_property
    def has_view(self) -> bool:
        return Needs.VIEW in self

    @cached_property
    def has_port(self) -> bool:
        return Needs.PORT in self

    @cached_property
    def has_child(self) -> bool:
        return Needs.CHILD in self

    @cached_property
    def has_silence(self) -> bool:
        return Needs.SILENCE in self

    @cached_property
    def has_row_lock(self) -> bool:
        return Needs.ROW_LOCK in self

    @cached_property
    def has_own_limit(self) -> bool:
        return Needs.OWN_LIMIT in self


class StepExecutor(Protocol):
    """Runs attempts of one kind of step."""

    kind: ClassVar[StepKind]

    def needs(self, step: Step) -> Needs:
        """Return what attempts of this step need. The same step always needs the same."""

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Run one attempt. Return its outcome if the work takes no time at all, else a coroutine that returns it.

        The engine enforces `call.timeout` by cancelling the coroutine, unless the step has its OWN_LIMIT. Neither the
        call nor the coroutine raises: every failure is a Fail. A cancellation passes through.
        """

    async def close(self) -> None:
        """Close connections and end threads."""
