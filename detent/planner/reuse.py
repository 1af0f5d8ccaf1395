"""Reuse: which results a retry or a fork takes over from its original run, and how the new run begins with them.

A reused result is an entry `reused` in the new run's journal. Nothing else is taken over. Guards and edges are
evaluated again, so an edited result may lead to another path through the graph. The operations of a durable function
are taken over as its checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from detent.graph.model import Ending
from detent.instant import Instant
from detent.planner.advance import advance
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.call import Op, op_of
from detent.run.journal import Entry
from detent.run.plan import Plan
from detent.run.state import Checkpoint, PastMap, RunState

_FINE: Final = frozenset({Ending.SUCCESS, Ending.SKIPPED})
_UNDECIDED: Final = frozenset({None, Ending.CANCELLED})


@dataclass(frozen=True, slots=True)
class Reuse:
    """The steps that need not run again, each with its result. A step without a result (a sleep) has an empty one.

    `skipped` has the steps that their own code or a user skipped: they are skipped again. `operations` has the
    successful operations of a durable function. `maps` has the maps that did not succeed: their pages begin with the
    items that did.
    """

    results: Mapping[int, bytes]
    skipped: frozenset[int] = frozenset()
    operations: tuple[Checkpoint, ...] = ()
    maps: Mapping[int, PastMap] = field(default_factory=dict)

    def over(self, prepared: Prepared, other: Prepared) -> Reuse:
        """Return the same reuse with the step numbers of another graph. Steps that it does not have are dropped."""
        numbers = {step.index: other.numbers[step.name] for step in prepared.steps if step.name in other.numbers}
        results = {numbers[index]: result for index, result in self.results.items() if index in numbers}
        skipped = frozenset(numbers[index] for index in self.skipped if index in numbers)
        maps = {numbers[index]: past for index, past in self.maps.items() if index in numbers}
        return Reuse(results, skipped, self.operations, maps)


def retry_plan(prepared: Prepared, state: RunState) -> Reuse:
    """Return what a retry reuses: the successes that depend, also indirectly, only on successes and skips.

    A step that has not ended is not a success.
    """
    steps = prepared.steps
    sound = [True] * len(steps)
    for index in prepared.order:
        if not sound[index] or state.ending[index] not in _FINE:
            for edge in steps[index].outgoing:
                sound[edge.target] = False
    results = {index: result for index, result in _results(prepared, state).items() if sound[index]}
    skipped = frozenset(index for index in _skipped(state) if sound[index])
    operations = tuple(one for one in state.history.values() if one.ending is Ending.SUCCESS)
    maps = {index: past for index, past in _past_maps(state).items() if sound[index] and index not in skipped}
    return Reuse(results, skipped, operations, maps)


def fork_plan(prepared: Prepared, state: RunState, step_index: int, edited_result: bytes | None) -> Reuse:
    """Return what a fork reuses: every success that is not downstream of the step.

    The step itself runs again, or ends at once with the edited result.
    """
    again = _downstream(prepared, step_index)
    results = {index: result for index, result in _results(prepared, state).items() if index not in again}
    if edited_result is not None:
        results[step_index] = edited_result
    return Reuse(results, frozenset(_skipped(state)) - again)


def operation_fork_plan(state: RunState, key: str, edited_result: bytes | None) -> Reuse:
    """Return what a fork at an operation of a durable function reuses: the operations that ended before that one.

    The operation itself runs again, or ends at once with the edited result. Signals are reused wherever they arrived:
    they came from outside and are not sent again. The function is called from its beginning in both cases.
    """
    kept, is_before = [], True
    for one in state.history.values():
        is_before = is_before and one.key != key
        if one.key != key and (is_before or op_of(one.key) is Op.SIGNAL):
            kept.append(one)
    if edited_result is not None:
        kept.append(Checkpoint(key, Ending.SUCCESS, edited_result, None, 0))
    return Reuse({}, operations=tuple(kept))


def begin_again(prepared: Prepared, state: RunState, reuse: Reuse, now: Instant) -> tuple[list[Entry], Plan]:
    """Begin a run with results of another run. `state` is new and postponed until `now`.

    Entries 1 to k are `reused` in the order of the graph, then checkpoints in their own order. Entry k+1 is `opened`,
    the plan's own. All of them belong in the flush that starts the run.
    """
    entries = []
    for index in prepared.order:
        skipped, past = index in reuse.skipped, reuse.maps.get(index)
        if skipped or index in reuse.results:
            event = events.Reused(index, reuse.results.get(index, b""), skipped)
        elif past is not None:
            event = events.Reused(index, b"", past=past)
        else:
            continue
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
    """Return the result of every success. A result that this run reused but did not reach counts as a success too."""
    found = {}
    for step in prepared.steps:
        index, ending = step.index, state.ending[step.index]
        if ending is Ending.SUCCESS:
            found[index] = state.results.get(index, b"")
        elif ending in _UNDECIDED and index in state.reused:
            found[index] = state.reused[index]
    return found


def _past_maps(state: RunState) -> dict[int, PastMap]:
    """Return the maps that did not succeed, also those that this run took over but did not reach."""
    found = {index: past for index, past in state.reused_maps.items() if state.ending[index] in _UNDECIDED}
    for index, begun in state.maps.items():
        if state.ending[index] is not Ending.SUCCESS:
            found[index] = PastMap(begun.count, begun.size, tuple(begun.pages))
    return found


def _skipped(state: RunState) -> set[int]:
    """Return the steps that their own code or a user skipped, also those that this run reused but did not reach."""
    unseen = (index for index in state.reused_skips if state.ending[index] in _UNDECIDED)
    return {*(index for index in state.left_out if state.ending[index] is Ending.SKIPPED), *unseen}


def _downstream(prepared: Prepared, index: int) -> set[int]:
    """Return the step and all steps that depend on it, directly or indirectly."""
    found, todo = {index}, [index]
    while todo:
        for edge in prepared.steps[todo.pop()].outgoing:
            if edge.target not in found:
                found.add(edge.target)
                todo.append(edge.target)
    return found
