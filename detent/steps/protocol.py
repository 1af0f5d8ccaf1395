"""The seam for kinds of steps: an executor turns one call into one outcome.

Built-in kinds go through it like anyone's. An executor holds no lock and no database connection, is told nothing about
the run but its call, and must be safe to repeat: a call whose node dies is made again with the same idempotency key.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, ClassVar, Protocol

from detent.graph.model import StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Outcome


class StepExecutor(Protocol):
    """Carries out attempts of one kind of step."""

    kind: ClassVar[StepKind]

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Do the work. Work that takes no time at all may give its outcome at once; the rest is a coroutine.

        The caller enforces `call.timeout` by cancelling the coroutine. Neither the call nor the coroutine raises:
        whatever goes wrong is a Fail. (Cancellation passes through.)
        """

    async def close(self) -> None:
        """Let go of connections and threads."""
