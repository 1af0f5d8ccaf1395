"""The scope of a past moment of a run, in which an expression can be tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from detent.expressions import Scope
from detent.instant import Instant
from detent.planner.fold import NO_VERSIONS, fold, replay
from detent.planner.moves.code import graph_of
from detent.planner.prepared import Prepared
from detent.planner.scope import OUTPUT, build_scope, in_context
from detent.run.journal import Entry
from detent.run.state import Phase, RunFacts, RunState


class PastScope(NamedTuple):
    """The graph of the run at that moment, and what an expression could read."""

    prepared: Prepared
    scope: Scope


@dataclass(frozen=True, slots=True)
class PastStep:
    """A step as it was when its expressions were evaluated: the graph, the state, its index, when it became ready."""

    prepared: Prepared
    state: RunState
    index: int
    ready_at: Instant


def past_scope(
    prepared: Prepared,
    facts: RunFacts,
    opening: bytes | None,
    entries: Sequence[Entry],
    step: str | None,
    versions: Mapping[int, Prepared] = NO_VERSIONS,
) -> PastScope | None:
    """Return the scope as a step had it before it ended, or without a step that of the whole run.

    `prepared` is the graph that the run began with, and `versions` has those that it was moved to. Return None if the
    run has no such step.
    """
    if step is None:
        state = fold(prepared, facts, opening, entries, versions)
        at = max((entry.at for entry in entries), default=facts.started_at)
        graph = graph_of(prepared, state)
        return PastScope(graph, in_context(build_scope(graph, state), state, at, OUTPUT))
    found = past_step(prepared, facts, opening, entries, step, versions)
    if found is None:
        return None
    scope = build_scope(found.prepared, found.state)
    return PastScope(found.prepared, in_context(scope, found.state, found.ready_at, step))


def past_step(
    prepared: Prepared,
    facts: RunFacts,
    opening: bytes | None,
    entries: Sequence[Entry],
    step: str,
    versions: Mapping[int, Prepared] = NO_VERSIONS,
) -> PastStep | None:
    """Return a step before it ended. A step that was decided and ended by one entry is returned after that entry.

    Return None if the run has no such step.
    """
    count = _before_the_end(prepared, facts, opening, entries, step, versions)
    found = _step_after(prepared, facts, opening, entries[:count], step, versions)
    if count < len(entries) and (found is None or found.state.phase[found.index] is Phase.PENDING):
        found = _step_after(prepared, facts, opening, entries[: count + 1], step, versions)
    return found


def _step_after(
    prepared: Prepared,
    facts: RunFacts,
    opening: bytes | None,
    entries: Sequence[Entry],
    step: str,
    versions: Mapping[int, Prepared],
) -> PastStep | None:
    state = fold(prepared, facts, opening, entries, versions)
    graph = graph_of(prepared, state)
    index = graph.numbers.get(step)
    if index is None:
        return None
    at = max((entry.at for entry in entries), default=facts.started_at)
    return PastStep(graph, state, index, at if state.phase[index] is Phase.PENDING else state.since[index])


def _before_the_end(
    prepared: Prepared,
    facts: RunFacts,
    opening: bytes | None,
    entries: Sequence[Entry],
    step: str,
    versions: Mapping[int, Prepared],
) -> int:
    """Return how many entries there were before the step ended."""
    state = fold(prepared, facts, opening, ())
    for count, entry in enumerate(entries):
        state = replay(graph_of(prepared, state), state, entry, versions)
        index = graph_of(prepared, state).numbers.get(step)
        if index is not None and state.phase[index] is Phase.ENDED:
            return count
    return len(entries)
