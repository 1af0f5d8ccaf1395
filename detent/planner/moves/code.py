"""Moves: a run whose code has changed continues with another graph.

The results of its steps are carried over by name. A step that had ended does not run again, even if a graph in between
did not have it. Steps that are now before the current step are skipped, new ones too. Steps behind it run. The entry
`moved` has the graph, so that a fold needs no code. It names the steps that had ended, but does not repeat their
results.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from detent.graph import codec
from detent.graph.model import Ending
from detent.instant import Instant
from detent.planner.apply import Change
from detent.planner.judge import Judge
from detent.planner.prepared import Prepared, prepare
from detent.planner.settle import Settling
from detent.run import journal
from detent.run.journal import EntryData, Kind
from detent.run.state import Carried, RunState


@lru_cache(maxsize=256)
def prepared_of(graph: bytes) -> Prepared:
    """Return the prepared graph of a `moved` entry, from a cache if possible."""
    return prepare(codec.decode(graph))


def graph_of(prepared: Prepared, state: RunState) -> Prepared:
    """Return the current graph of a run: the one it began with, unless the run was moved."""
    if state.moved_to is not None:
        assert isinstance(state.moved_to, Prepared)
        return state.moved_to
    return prepared if state.moved_graph is None else prepared_of(state.moved_graph)


def is_at(prepared: Prepared, state: RunState, graph: bytes) -> bool:
    """Return whether the run has that graph already. Code that asks for it would ask again forever."""
    return graph == (state.moved_graph or codec.encode(prepared.graph))


def move(prepared: Prepared, state: RunState, index: int, graph: bytes) -> Change:
    """Build the change that moves a run to another graph. The current step was not begun."""
    achieved = _achieved(prepared, state)
    carried = {name: journal.CarriedEntry(how.ending, explicit=how.explicit) for name, how in achieved.items()}
    data = EntryData(graph=graph, carried=carried)
    return Change(Kind.MOVED, index, state.attempt_number(index) - 1, None, data)


def _achieved(prepared: Prepared, state: RunState) -> dict[str, journal.CarriedEntry]:
    """Return how the steps of a run have ended, with result and error. Steps of earlier graphs are included."""
    known = {step.name: how for step in prepared.steps if (how := _carried(state, step.index)) is not None}
    return {**state.left_behind, **known}


def _carried(state: RunState, index: int) -> journal.CarriedEntry | None:
    ending, error = state.ending[index], state.errors.get(index)
    if ending is None and index in state.carried:
        ending, error = state.carried[index]  # from an earlier graph, and not reached in this one
    if ending is None:
        return None
    how = journal.CarriedEntry(str(ending), error=error, explicit=index in state.left_out)
    if index in state.results:
        how.result = msgspec.Raw(state.results[index])
    return how


def moved_state(old: Prepared, was: RunState, step: str | None, attempts: int, data: EntryData) -> RunState:
    """Build the state for the new graph, before anything is decided in it."""
    prepared = prepared_of(data.graph)
    numbers, state = prepared.numbers, prepared.new_state(was.facts)
    state.moved_graph = data.graph
    state.blobs = was.blobs
    state.old_waits = was.old_waits
    state.seq, state.status = was.seq, was.status
    state.adoptions, state.stalled = was.adoptions, 0
    state.paused_by, state.paused_at = was.paused_by, was.paused_at
    achieved = _achieved(old, was)
    for name, noted in data.carried.items():
        known = achieved.get(name, noted)  # the entry has only names and endings: results are in entries before it
        how = journal.CarriedEntry(noted.ending, result=known.result, error=known.error, explicit=noted.explicit)
        if name in numbers:
            state.carried[numbers[name]] = Carried(Ending(how.ending), how.error)
            if how.result:
                state.results[numbers[name]] = bytes(how.result)
            if how.explicit:
                state.left_out[numbers[name]] = None
        else:
            state.left_behind[name] = how
    if step is not None and step in numbers:
        state.attempts[numbers[step]] = attempts
        state.undelayed = numbers[step]
    same = {old_step.index: numbers[old_step.name] for old_step in old.steps if old_step.name in numbers}
    state.early = {same[index]: result for index, result in was.early.items() if index in same}
    state.reused = {same[index]: result for index, result in was.reused.items() if index in same}
    state.reused_skips = {same[index]: None for index in was.reused_skips if index in same}
    state.passed = _passed(prepared, state)
    return state


def _passed(prepared: Prepared, state: RunState) -> frozenset[int]:
    """Return the steps that the run has passed without running them. They are skipped.

    These are the steps before the current one. If the new graph does not have it, they are those before an ended step.
    """
    reached = set(state.carried) if state.undelayed is None else {state.undelayed}
    passed: set[int] = set()
    for index in reversed(prepared.order):
        if any(edge.target in reached or edge.target in passed for edge in prepared.steps[index].outgoing):
            passed.add(index)
    return frozenset(passed - reached - set(state.carried))


def open_moved(state: RunState, prepared: Prepared, judge: Judge, now: Instant) -> Settling:
    """Decide what follows from the carried results. The step that was about to begin is not delayed again."""
    settling = Settling(prepared, state, judge, now)
    settling.open()
    state.undelayed = None
    return settling
