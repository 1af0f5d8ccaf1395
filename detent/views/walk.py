"""A walk over the journal of a run: its state after an entry, and what happened to each step until then.

The state is the fold of the same entries. Results are not part of it: an entry with a large result is made slim before
it is folded, so that a walk over a run of a thousand steps needs little memory however large their outputs are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from detent.documents.journal import ProbeDocument
from detent.instant import Instant, micros
from detent.planner.fold import NO_VERSIONS, fold, replay
from detent.planner.moves.code import graph_of
from detent.planner.prepared import Prepared
from detent.planner.suspects import waits_as_suspect
from detent.run.journal import (
    REFUSED,
    Decided,
    Entry,
    EntryData,
    Kind,
    ProbeEntry,
    decode_data,
    decode_opening,
    encode_data,
)
from detent.run.outcomes import StepError
from detent.run.state import Phase, RunFacts, RunState

#: The data of an entry is made slim beyond this size.
SLIM_BYTES: Final = 2_000
#: Entries that end an attempt of a step or an operation, and the word for an attempt that has no ending.
_TRIED: Final = {
    Kind.ENDED: None,
    Kind.RETRY: "reattempted",
    Kind.PAUSED: "paused",
    Kind.CANCELLED: "cancelled",
    Kind.CHECKPOINT: None,
    Kind.BEGAN: "failed",
}
#: Entries that end every open step of a run.
_LAST: Final = (Kind.CANCELLED, Kind.EXPIRED, Kind.FINISHED)
_LOOK: Final = "look"


class _Counted(msgspec.Struct):
    """What a slim entry keeps of a result: the counts of the items of a map."""

    items: msgspec.Raw = msgspec.Raw(b"")


_counted = msgspec.json.Decoder(_Counted).decode


def slim(entry: Entry, keep: Collection[str] = ()) -> Entry:
    """Return the entry without its result if that is large, unless its step is in `keep`."""
    if len(entry.data) <= SLIM_BYTES or entry.step in keep:
        return entry
    data = decode_data(entry.data)
    if len(bytes(data.result)) <= SLIM_BYTES:
        return entry
    items = bytes(_counted(bytes(data.result)).items)
    data.result = msgspec.Raw(b'{"items":%b}' % items if items else b"{}")
    return entry._replace(data=encode_data(data))


@dataclass(frozen=True, slots=True)
class PastTry:
    """An attempt that has ended, by its entry. `attempt` 0: a look of a repeated step."""

    attempt: int
    started_at: Instant
    finished_at: Instant
    status: str | None
    retry_at: Instant | None
    ms: float | None
    error: StepError | None
    probe: ProbeEntry | None = None


def probe_document(probe: ProbeEntry | None) -> ProbeDocument | None:
    """Build the document of what a probe said. Return None if there is no answer of one."""
    return None if probe is None else ProbeDocument(probe.action, str(probe.answer))


def step_reason(state: RunState, index: int) -> str | None:
    """Return why a step does not go on that could: it is uncertain, asks its probe, or is suspect."""
    if state.phase[index] is Phase.UNCERTAIN:
        return "uncertain"
    if index in state.probes:
        return "probing"
    return "suspect" if waits_as_suspect(state, index) else None


class Walk:
    """A run after some entries: its graph, its state, and what the entries say of each step beside that.

    Steps are named as the last graph names them. `opened_at` is when the run began, `last_at` the time of the last
    entry. `skipped` has the steps that were decided not to run. `closed` has the steps that were open when something
    ended the whole run: their edges were never decided. `answers` and `notes` are those of edge conditions, by the
    index of the edge. `begun` and `children` are those of operations and steps by name."""

    def __init__(
        self,
        prepared: Prepared,
        facts: RunFacts,
        opening: bytes | None,
        entries: Iterable[Entry],
        versions: Mapping[int, Prepared] = NO_VERSIONS,
    ) -> None:
        """Fold these entries. The graphs are those that `fold` takes."""
        decided = decode_opening(opening)
        self.opened_at: Instant | None = None if decided.start is not None else facts.started_at
        self.last_at: Instant = facts.started_at
        self.tries: dict[str, list[PastTry]] = {}
        self.begun: dict[str, Instant] = {}
        self.children: dict[str, list[str]] = {}
        self.skipped: set[str] = set()
        self.closed: set[int] = set()
        self.answers: dict[int, bool] = {}
        self.notes: dict[int, str] = {}
        self._note(decided)
        state = fold(prepared, facts, opening, ())
        for entry in entries:
            data = decode_data(entry.data)
            if entry.kind in _LAST or data.finished:
                self.closed = {index for index, phase in enumerate(state.phase) if phase is not Phase.ENDED}
            state = replay(graph_of(prepared, state), state, entry, versions)
            self._read(entry, data)
            self.last_at = entry.at
        self.state = state
        self.prepared = graph_of(prepared, state)
        self._sources = _sources(self.prepared)

    def ready_at(self, index: int) -> Instant | None:
        """Return when a step was decided to run, or None if it was not."""
        state, name = self.state, self.prepared.steps[index].name
        if state.phase[index] is Phase.PENDING or name in self.skipped:
            return None
        if state.phase[index] is not Phase.ENDED:
            return state.since[index]
        if index in self.closed and state.undecided[index]:
            return None
        ready = max((state.since[source] for source in self._sources.get(index, ())), default=self.opened_at)
        tries = self.tries.get(name)
        if tries and ready is not None and index in state.carried:
            return min(ready, tries[0].started_at)  # the steps before it seem to have ended when the run was moved
        return ready

    def finished_at(self, index: int) -> Instant | None:
        """Return when a step ended, also if that was before its run was moved to changed code."""
        if self.state.phase[index] is not Phase.ENDED:
            return None
        tries = self.tries.get(self.prepared.steps[index].name)
        return tries[-1].finished_at if tries and index in self.state.carried else self.state.since[index]

    def _read(self, entry: Entry, data: EntryData) -> None:
        step = entry.step
        if entry.kind == Kind.OPENED:
            self.opened_at = entry.at
        elif entry.kind == Kind.MOVED and entry.outcome != REFUSED:
            self._move(data.names)
        elif step is not None and entry.kind in _TRIED:
            self._try(step, entry, data)
        if step is not None and data.child is not None and entry.kind in (Kind.STARTED, Kind.BEGAN):
            self.children.setdefault(step, []).append(data.child)
        self._note(data.decided or Decided())

    def _try(self, step: str, entry: Entry, data: EntryData) -> None:
        if entry.kind == Kind.BEGAN:
            self.begun.setdefault(step, entry.at)
        if not entry.attempt and not data.look:
            return  # an operation that began, or a step that a user reattempted before it was in flight
        self.tries.setdefault(step, []).append(
            PastTry(
                attempt=entry.attempt,
                started_at=entry.at - micros((data.ms or 0) / 1000),
                finished_at=entry.at,
                status=_LOOK if data.look else entry.outcome or _TRIED[Kind(entry.kind)],
                retry_at=data.until if entry.kind == Kind.BEGAN else data.retry_at,
                ms=data.ms,
                error=data.error,
                probe=data.probe,
            )
        )

    def _note(self, decided: Decided) -> None:
        self.skipped.update(decided.skipped)
        self.answers.update(decided.edges)
        self.notes.update(decided.notes)

    def _move(self, names: Mapping[str, str]) -> None:
        """Use the new names of steps from now on. The entry of the move has the answers of all edges of its graph."""
        self.tries = {names.get(name, name): tries for name, tries in self.tries.items()}
        self.children = {names.get(name, name): runs for name, runs in self.children.items()}
        self.skipped = {names.get(name, name) for name in self.skipped}
        self.answers.clear()
        self.notes.clear()


def _sources(prepared: Prepared) -> dict[int, list[int]]:
    """Return the steps that each step directly depends on."""
    found: dict[int, list[int]] = {}
    for step in prepared.steps:
        for edge in step.outgoing:
            found.setdefault(edge.target, []).append(step.index)
    return found
