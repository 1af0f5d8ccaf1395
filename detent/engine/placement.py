"""Where a step is carried out: a step with a queue of its own runs on nodes that serve that queue, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from detent.engine.held import HeldRun
from detent.graph.model import Step
from detent.planner.advance import may_start
from detent.run.state import Phase


class Placement:
    """What this node serves; null: every queue."""

    def __init__(self, queues: Sequence[str] | None) -> None:
        self._queues = None if queues is None else frozenset(queues)

    def is_here(self, held: HeldRun, index: int) -> bool:
        """Whether the step may be begun on this node."""
        queue = held.prepared.graph.steps[index].queue
        return self._queues is None or queue is None or queue in self._queues

    def is_for_others(self, held: HeldRun) -> bool:
        """Whether all that could be begun in a run is for nodes of other queues, and nothing else is done for it."""
        if self._queues is None or held.state.running or held.pending:
            return False
        startable = may_start(held.state)
        return bool(startable) and not any(self.is_here(held, index) for index in startable)


def place_of(held: HeldRun) -> tuple[str | None, int | None]:
    """The queue and the priority with which a run waits: those of the step at hand. Where that says nothing the run
    stays as it is, unless it was moved: then it is where it was started, for where it is belongs to steps that may be
    gone."""
    step = _step_at_hand(held)
    queue, priority = (step.queue, step.priority) if step else (None, None)
    if held.state.moved_graph is not None:
        queue = held.placed.queue if queue is None else queue
        priority = held.placed.priority if priority is None else priority
    return queue, priority


def _step_at_hand(held: HeldRun) -> Step | None:
    """The step that a run waits for: one that is ready, else the one whose time comes first; null if none is to be
    begun before something else has ended."""
    state, steps = held.state, held.prepared.graph.steps
    if state.ready:
        return steps[next(iter(state.ready))]
    timed = [
        (until, index)
        for index, until in state.until.items()
        if until is not None and state.phase[index] is Phase.RETRYING
    ]
    return steps[min(timed)[1]] if timed else None
