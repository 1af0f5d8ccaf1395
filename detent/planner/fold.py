"""Fold: build the state of a run from its opening and its journal entries. No expression is evaluated again.

Only `collect` of a map is: what it gathers is not journalled, and a page that keeps no results reads it as they pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from detent.errors import EngineError, UnknownEntry
from detent.graph.model import Ending
from detent.planner.apply import Change, apply, take
from detent.planner.judge import RecordedJudge
from detent.planner.moves.code import graph_of, moved_state, open_moved
from detent.planner.moves.version import moved_by
from detent.planner.prepared import Prepared
from detent.planner.settle import Settling
from detent.run.journal import REFUSED, Decided, Entry, EntryData, Kind, decode_data, decode_opening
from detent.run.state import RunFacts, RunState
from detent.run.status import Status

_KINDS = {str(kind): kind for kind in Kind}
_OF_FUNCTIONS = (Kind.BEGAN, Kind.CHECKPOINT)
NO_VERSIONS: Final[Mapping[int, Prepared]] = {}
_AFTER_ATTEMPTS = (Kind.ENDED, Kind.RETRY, Kind.PAUSED, Kind.CANCELLED)


def fold(
    prepared: Prepared,
    facts: RunFacts,
    opening: bytes | None,
    entries: Iterable[Entry],
    versions: Mapping[int, Prepared] = NO_VERSIONS,
    *,
    keeps_results: bool = True,
) -> RunState:
    """Return the state after all these entries. It belongs to the graph that `moves.graph_of` returns.

    `prepared` is the graph that the run began with, and `versions` has those that it was moved to. Attempts that were
    in flight are ready to start again. Without `keeps_results`, only the results that steps can still read are kept.
    """
    state = prepared.new_state(facts, keeps_results=keeps_results)
    decided = decode_opening(opening)
    if decided.start is not None:
        state.postpone(decided.start)
    else:
        Settling(prepared, state, RecordedJudge(prepared, decided), facts.started_at).open()
        _finish(state, decided)
    for entry in entries:
        state = replay(graph_of(prepared, state), state, entry, versions)
    return state


def replay(
    prepared: Prepared, state: RunState, entry: Entry, versions: Mapping[int, Prepared] = NO_VERSIONS
) -> RunState:
    """Apply one entry. Return the state, which is a new object if the run was moved to another graph."""
    if entry.seq != state.seq + 1:
        raise EngineError(f"the journal of run {entry.run.hex()} has entry {entry.seq} after {state.seq}")
    kind = _KINDS.get(entry.kind)
    if kind is None:
        raise UnknownEntry(f"the journal of run {entry.run.hex()} has an entry of unknown kind {entry.kind!r}")
    state.seq = entry.seq
    data = decode_data(entry.data)
    decided = data.decided or Decided()
    if kind is Kind.MOVED and data.version is not None:
        return _moved(prepared, state, entry, data, versions)
    if kind is Kind.MOVED:
        state = moved_state(prepared, state, entry.step, entry.attempt, data)
        new = graph_of(prepared, state)
        open_moved(state, new, RecordedJudge(new, decided), entry.at)
        _finish(state, decided)
        return state
    ending = None if entry.outcome is None else Ending(entry.outcome)
    key = entry.step if kind in _OF_FUNCTIONS else None
    if kind is Kind.NOTED and entry.step not in prepared.numbers:
        key = entry.step  # a wait of a durable function
    step = None if entry.step is None or key is not None else prepared.numbers[entry.step]
    if step is not None and kind in _AFTER_ATTEMPTS:
        take(state, step)  # an attempt that ended had been started
    change = Change(kind, step, entry.attempt, ending, data, key)
    apply(prepared, state, change, RecordedJudge(prepared, decided), entry.at)
    _finish(state, decided)
    return state


def _moved(
    prepared: Prepared, state: RunState, entry: Entry, data: EntryData, versions: Mapping[int, Prepared]
) -> RunState:
    """Apply an entry of a move to another version. A refused move changes nothing."""
    assert data.version is not None
    if entry.outcome == REFUSED:
        return state
    new = versions.get(data.version)
    if new is None:
        raise EngineError(f"version {data.version} is missing, and run {entry.run.hex()} was moved to it")
    return moved_by(prepared, state, new, data, RecordedJudge(new, data.decided or Decided()), entry.at)


def _finish(state: RunState, decided: Decided) -> None:
    if decided.run is not None:
        state.status = Status(decided.run)
