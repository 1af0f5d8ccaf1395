"""A run whose code has changed goes on by another graph.

What its steps have achieved is carried over by name: a step that had ended is not run again, one that is gone is left
behind, and one that is new is run when its turn comes. The entry `moved` holds the graph, so that a fold needs no code.
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
from detent.run.journal import Carried, EntryData, Kind
from detent.run.state import RunState


@lru_cache(maxsize=256)
def prepared_of(graph: bytes) -> Prepared:
    """The graph of a `moved` entry, made ready once."""
    return prepare(codec.decode(graph))


def graph_of(prepared: Prepared, state: RunState) -> Prepared:
    """The graph a run is at now: that of its version, unless it was moved since."""
    return prepared if state.moved_graph is None else prepared_of(state.moved_graph)


def move(prepared: Prepared, state: RunState, index: int, graph: bytes, now: Instant) -> Change:
    """The step at hand was not begun: the run goes on by that graph instead."""
    carried = {
        step.name: Carried(str(ending), msgspec.Raw(state.results.get(step.index, b"")))
        for step in prepared.steps
        if (ending := state.ending[step.index]) in (Ending.SUCCESS, Ending.SKIPPED)
    }
    data = EntryData(graph=msgspec.Raw(graph), carried=carried)
    return Change(Kind.MOVED, index, state.attempts[index], None, data)


def moved_state(was: RunState, step: str | None, attempts: int, data: EntryData) -> RunState:
    """The state over the new graph, before anything is decided in it."""
    prepared = prepared_of(bytes(data.graph))
    state = prepared.new_state(was.facts)
    state.moved_graph = bytes(data.graph)
    state.seq, state.status = was.seq, was.status
    state.adoptions, state.stalled = was.adoptions, 0
    state.paused_by, state.paused_at = was.paused_by, was.paused_at
    for name, how in data.carried.items():
        if name in prepared.numbers:
            state.carried[prepared.numbers[name]] = (Ending(how.ending), bytes(how.result))
    if step is not None and step in prepared.numbers:
        state.attempts[prepared.numbers[step]] = attempts
        state.undelayed = prepared.numbers[step]
    return state


def open_moved(state: RunState, prepared: Prepared, judge: Judge, now: Instant) -> list[tuple[str, int | None]]:
    """Decide what follows from what was carried over. The step that was about to begin has waited long enough."""
    settling = Settling(prepared, state, judge, now)
    settling.open()
    state.undelayed = None
    return settling.activated
