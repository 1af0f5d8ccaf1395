"""What a retry and a fork take over from the run they come from, and how the new run begins with it.

A result that is carried over stands in the new run's journal as `reused`. Nothing else does: guards and edges are
evaluated anew, so an edited result may take another way through the graph. What a durable function had achieved stands
there as its checkpoints do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from detent.graph.model import Ending
from detent.instant import Instant
from detent.planner.advance import advance
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.journal import Entry
from detent.run.plan import Plan
from detent.run.state import Checkpoint, RunState

_FINE: Final = frozenset({Ending.SUCCESS, Ending.SKIPPED})
_UNDECIDED: Final = frozenset({None, Ending.CANCELLED})


@dataclass(frozen=True, slots=True)
class Reuse:
    """The steps that need not run again, each with its result; an empty one where the step had none (a sleep).
    `skipped` were left out on purpose, by their own code or by a person, and are left out again. `operations` are those
    of a durable function that succeeded."""

    results: Mapping[int, bytes]
    skipped: frozenset[int] = frozenset()
    operations: tuple[Checkpoint, ...] = ()

    def over(self, prepared: Prepared, other: Prepared) -> Reuse:
        """The same by the numbers of another graph. A step that it does not have is forgotten."""
        numbers = {step.index: other.numbers[step.name] for step in prepared.steps if step.name in other.numbers}
        results = {numbers[index]: result for index, result in self.results.items() if index in numbers}
        skipped = frozenset(numbers[index] for index in self.skipped if index in numbers)
        return Reuse(results, skipped, self.operations)


def retry_plan(prepared: Prepared, state: RunState) -> Reuse:
    """A retry keeps the successes that depend, directly or through others, on nothing but success and skips. A step
    that has not ended is no success."""
    steps = prepared.steps
    sound = [True] * len(steps)
    for index in prepared.order:
        if not sound[index] or state.ending[index] not in _FINE:
            for edge in steps[index].outgoing:
                sound[edge.target] = False
    results = {index: result for index, result in _results(prepared, state).items() if sound[index]}
    skipped = frozenset(index for index in _skipped(state) if sound[index])
    return Reuse(results, skipped, tuple(one for one in state.history.values() if one.ending is Ending.SUCCESS))


def fork_plan(prepared: Prepared, state: RunState, step_index: int, edited_result: bytes | None) -> Reuse:
    """A fork keeps every success that is not downstream of the step. The step itself runs again, or ends at once with
    the edited result."""
    again = _downstream(prepared, step_index)
    results = {index: result for index, result in _results(prepared, state).items() if index not in again}
    if edited_result is not None:
        results[step_index] = edited_result
    return Reuse(results, frozenset(_skipped(state)) - again)


def begin_again(prepared: Prepared, state: RunState, reuse: Reuse, now: Instant) -> tuple[list[Entry], Plan]:
    """Begin a run with results of another. `state` is fresh, postponed until `now`.

    The entries `reused` are 1..k, in the order of the graph, or checkpoints in their own order; the plan's own entry,
    `opened`, is k+1. All belong into the flush that starts the run."""
    entries = []
    for index in prepared.order:
        skipped = index in reuse.skipped
        if skipped or index in reuse.results:
            event = events.Reused(index, reuse.results.get(index, b""), skipped)
            entry = advance(prepared, state, event=event, now=now).entry
            assert entry is not None
            entries.append(entry)
    for key, ending, result, _, _, attempt in reuse.operations:
        entry = advance(prepared, state, event=events.OperationEnded(key, attempt, ending, result), now=now).entry
        assert entry is not None
        entries.append(entry)
    plan = advance(prepared, state, event=events.Opened(), now=now)
    assert plan.entry is not None
    return entries, plan


def _results(prepared: Prepared, state: RunState) -> dict[int, bytes]:
    """The result of every success. One that this run itself took over and did not come to is a success still."""
    found = {}
    for step in prepared.steps:
        index, ending = step.index, state.ending[step.index]
        if ending is Ending.SUCCESS:
            found[index] = state.results.get(index, b"")
        elif ending in _UNDECIDED and index in state.reused:
            found[index] = state.reused[index]
    return found


def _skipped(state: RunState) -> set[int]:
    """The steps that were left out on purpose; those too that this run took over so and did not come to."""
    unseen = (index for index in state.reused_skips if state.ending[index] in _UNDECIDED)
    return {*(index for index in state.left_out if state.ending[index] is Ending.SKIPPED), *unseen}


def _downstream(prepared: Prepared, index: int) -> set[int]:
    """The step and all that depend on it, directly or through others."""
    found, todo = {index}, [index]
    while todo:
        for edge in prepared.steps[todo.pop()].outgoing:
            if edge.target not in found:
                found.add(edge.target)
                todo.append(edge.target)
    return found
