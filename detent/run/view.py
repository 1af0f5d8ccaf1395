"""What code of the user's may know of its run: never more than what is durable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from detent.graph.model import Ending, Graph
from detent.run.state import Checkpoint, Operation, RunFacts


class FunctionPort(Protocol):
    """What a durable function asks of the engine. Each of these is done when it is durable."""

    def history(self) -> Sequence[Checkpoint]:
        """What is on record, in the journal's order."""

    def operations(self) -> Mapping[str, Operation]:
        """What was begun and has not ended."""

    def listen(self, changed: Callable[[], None]) -> None:
        """Call this whenever something more is on record, or the function should look whether it must stop."""

    def must_stop(self) -> bool:
        """Whether nothing new may begin: the run is paused, or the node is about to leave."""

    def now(self) -> int:
        """The database's time."""

    def call_at(self, when: int, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at that time; gives the way to call it off."""

    async def begin(self, operation: Operation, *, callback: bool = False) -> None:
        """Put on record that it was begun; with `callback` make the place where its answer is received."""

    async def end(self, checkpoint: Checkpoint, ms: float | None = None) -> None:
        """Put on record that it has ended. It then stands in the history."""

    async def expire(self, key: str) -> None:
        """The time of a wait is over: it ends as timed out, unless its answer came before. It then stands in the
        history one way or the other."""

    async def start_child(self, key: str, workflow: str, body: Any, options: Mapping[str, Any]) -> str:
        """Start the child of an operation, once, however often it is asked for; gives its id."""


@dataclass(frozen=True, slots=True)
class RunView:
    """One run as one attempt sees it. `generation` is the ownership under which the attempt runs; only a durable
    function has a `port`."""

    facts: RunFacts
    graph: Graph
    generation: int
    result_of: Callable[[str], bytes | None]
    ending_of: Callable[[str], Ending | None]
    port: FunctionPort | None = None
