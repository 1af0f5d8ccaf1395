"""Fold: build the state of a run from its opening and its journal entries. No expression is evaluated again."""

from __future__ import annotations

from collections.abc import Iterable

from detent.errors import EngineError, UnknownEntry
from detent.graph.model import Ending
from detent.planner.apply import Change, apply, take
from detent.planner.judge import RecordedJudge
from detent.planner.moves import graph_of, moved_state, open_moved
from detent.planner.prepared import Prepared
from detent.planner.settle import Settling
from detent.run.journal import Decided, Entry, Kind, decode_data, decode_opening
from detent.run.state import RunFacts, RunState
from detent.run.status import Status

_KINDS = {str(kind): kind for kind in Kind}
_OF_FUNCTIONS = (Kind.BEGAN, Kind.CHECKPOINT)
_AFTER_ATTEMPTS = (Kind.ENDED, Kind.RETRY, Kind.PAUSED, Kind.CANCELLED)


def fold(prepared: Prepared, facts: RunFacts, opening: bytes | None, entries: Iterable[Entry]) -> RunState:
    """Return the state after all these entries. It belongs to the graph that `moves.graph_of` returns.

    Attempts that were in flight are ready to start again.
    """
    state = prepared.new_state(facts)
    decided = decode_opening(opening)
    if decided.start is not None:
        state.postpone(decided.start)
    else:
        Settling(prepared, state, RecordedJudge(prepared, decided), facts.started_at).open()
        _finish(state, decided)
    for entry in entries:
        state = replay(graph_of(prepared, state), state, entry)
    return state


def replay(prepared: Prepared, state: RunState, entry: Entry) -> RunState:
    """Apply one entry. Return the state, which is a new object if the run was moved to another graph."""
    if entry.seq != state.seq + 1:
        raise EngineError(f"the journal of run {entry.run.hex()} has entry {entry.seq} after {state.seq}")
    kind = _KINDS.get(entry.kind)
    if kind is None:
        raise UnknownEntry(f"the journal of run {entry.run.hex()} has an entry of unknown kind {entry.kind!r}")
    state.seq = entry.seq
    data = decode_data(entry.data)
    decided = data.decided or Decided()
    ending = None if entry.outcome is None else Ending(entry.outcome)
    if kind is Kind.MOVED:
        state = moved_state(prepared, state, entry.step, entry.attempt, data)
        new = graph_of(prepared, state)
        open_moved(state, new, RecordedJudge(new, decided), entry.at)
        _finish(state, decided)
        return state
    key = entry.step if kind in _OF_FUNCTIONS else None
    step = None if entry.step is None or key is not None else prepared.numbers[entry.step]
    if step is not None and kind in _AFTER_ATTEMPTS:
        take(state, step)  # an attempt that ended had been started
    change = Change(kind, step, entry.attempt, ending, data, key)
    apply(prepared, state, change, RecordedJudge(prepared, decided), entry.at)
    _finish(state, decided)
    return state


def _finish(state: RunState, decided: Decided) -> None:
    if decided.run is not None:
        state.status = Status(decided.run)
