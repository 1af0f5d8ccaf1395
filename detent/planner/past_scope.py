"""The scope of a past moment of a run, in which an expression can be tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from detent.expressions import Scope
from detent.instant import Instant
from detent.planner.fold import fold, replay
from detent.planner.moves.code import graph_of
from detent.planner.prepared import Prepared
from detent.planner.scope import OUTPUT, build_scope, in_context
from detent.run.journal import Entry
from detent.run.state import Phase, RunFacts, RunState


class PastScope(NamedTuple):
    """The graph of the run at that moment, and what an expression could read."""

    prepared: Prepared
    scope: Scope


def past_scope(
    prepared: Prepared, facts: RunFacts, opening: bytes | None, entries: Sequence[Entry], step: str | None
) -> PastScope | None:
    """Return the scope as a step had it before it ended, or without a step that of the whole run.

    Return None if the run has no such step.
    """
    count = len(entries) if step is None else _before_the_end(prepared, facts, opening, entries, step)
    state = fold(prepared, facts, opening, entries[:count])
    graph = graph_of(prepared, state)
    at = max((entry.at for entry in entries[: count + 1]), default=facts.started_at)
    if step is None:
        return PastScope(graph, in_context(build_scope(graph, state), state, at, OUTPUT))
    index = graph.numbers.get(step)
    if index is None:
        return None
    return PastScope(graph, in_context(build_scope(graph, state), state, _ready_at(state, index, at), step))


def _before_the_end(
    prepared: Prepared, facts: RunFacts, opening: bytes | None, entries: Sequence[Entry], step: str
) -> int:
    """Return how many entries there were before the step ended."""
    state = fold(prepared, facts, opening, ())
    for count, entry in enumerate(entries):
        state = replay(graph_of(prepared, state), state, entry)
        index = graph_of(prepared, state).numbers.get(step)
        if index is not None and state.phase[index] is Phase.ENDED:
            return count
    return len(entries)


def _ready_at(state: RunState, index: int, at: Instant) -> Instant:
    """Return when the step became ready. One that never did is decided at that time."""
    return at if state.phase[index] is Phase.PENDING else state.since[index]
