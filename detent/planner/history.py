"""The history of a run: its attempts in order, each with its outcome, read from the journal.

A step that was decided not to run has one row too. So has a current step when its run was cancelled, timed out or was
finished. An attempt in flight has no row yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from detent.graph.model import FAILURES, Ending, OnCrash, StepKind
from detent.planner.fold import NO_VERSIONS, fold
from detent.planner.moves.code import graph_of, prepared_of
from detent.planner.prepared import Prepared
from detent.run.journal import REFUSED, Decided, Entry, EntryData, Kind, decode_data, decode_opening
from detent.run.outcomes import StepError
from detent.run.state import Phase, RunFacts


class AttemptState(StrEnum):
    """The state of an attempt that is over."""

    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class AttemptOutcome(StrEnum):
    """The effect of an attempt on its step."""

    SUCCESS = "success"
    REATTEMPTED = "reattempted"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    FAILED = "failed"


class PastAttempt(NamedTuple):
    """One attempt that is over. `scheduled_for` is when it could begin; `started_at` is None if it never began."""

    step: str
    attempt: int
    state: AttemptState
    outcome: AttemptOutcome
    scheduled_for: int
    started_at: int | None
    ended_at: int
    error: StepError | None = None


_Verdict = tuple[AttemptState, AttemptOutcome]
_LOST: Final = StepError("lost", "the node that ran it died")
_DONE: Final = (AttemptState.COMPLETED, AttemptOutcome.SUCCESS)
_FAILED: Final = (AttemptState.FAILED, AttemptOutcome.FAILED)
_SKIPPED: Final = (AttemptState.SKIPPED, AttemptOutcome.SKIPPED)
_CANCELLED: Final = (AttemptState.CANCELLED, AttemptOutcome.CANCELLED)
_BY_ENDING: Final[dict[Ending, _Verdict]] = {
    Ending.SUCCESS: _DONE,
    Ending.SKIPPED: _SKIPPED,
    Ending.CANCELLED: _CANCELLED,
    **dict.fromkeys(FAILURES, _FAILED),
}
_NOT_CURRENT: Final = (Phase.PENDING, Phase.ENDED)
_WAITING: Final = (StepKind.SLEEP, StepKind.WAIT, StepKind.FUNCTION)
#: The entries that end a whole run, and how the current steps end with it.
_STOPS: Final = {Kind.CANCELLED: _CANCELLED, Kind.EXPIRED: _CANCELLED, Kind.FINISHED: _SKIPPED}


def history(
    prepared: Prepared,
    facts: RunFacts,
    opening: bytes | None,
    entries: Sequence[Entry],
    versions: Mapping[int, Prepared] = NO_VERSIONS,
) -> list[PastAttempt]:
    """Return the attempts of a run that are over, in the order in which they ended.

    The graphs are those that `fold` takes.
    """
    decided = decode_opening(opening)
    opened = facts.started_at
    tracker = _Tracker(opened)
    tracker.look_at(prepared)
    rows = list(tracker.decided(decided, opened))
    for index, entry in enumerate(entries):
        data = decode_data(entry.data)
        rows.extend(tracker.entry(entry, data))
        if entry.kind == Kind.MOVED and data.version is None:
            tracker.look_at(prepared_of(data.graph))
        elif entry.kind == Kind.MOVED and entry.outcome != REFUSED and data.version is not None:
            tracker.rename(data.names)
            tracker.look_at(versions[data.version])
        if entry.step is None and entry.kind in _STOPS:
            state = fold(prepared, facts, opening, entries[:index], versions)
            at = graph_of(prepared, state)
            for step in at.steps:
                if state.phase[step.index] not in _NOT_CURRENT:
                    verdict = _STOPS[Kind(entry.kind)]
                    number = state.attempt_number(step.index)
                    rows.extend((*tracker.lost(step.name, number), tracker.row(step.name, number, verdict, entry.at)))
    return sorted(rows, key=lambda row: row.ended_at) if tracker.deaths else rows


@dataclass(slots=True)
class _Tracker:
    """What is remembered from one entry to the next: when steps ended, and when others were due."""

    opened: int
    sources: dict[str, list[str]] = field(default_factory=dict)  # by step, the steps it waits for
    fails: frozenset[str] = frozenset()  # the steps that fail if their node crashes
    works: frozenset[str] = frozenset()  # the steps that are due when they begin; a sleep is due when it ends
    begun: dict[str, int] = field(default_factory=dict)  # attempts with a `started` entry that are not over
    ended: dict[str, int] = field(default_factory=dict)
    due: dict[str, int] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    deaths: list[int] = field(default_factory=list)  # when the run was adopted from a dead node
    numbers: dict[str, int] = field(default_factory=dict)  # the last attempt of each step that has a row

    def look_at(self, prepared: Prepared) -> None:
        """Use this graph from here on."""
        self.sources = {}
        for edge in prepared.graph.edges:
            self.sources.setdefault(edge.target, []).append(edge.source)
        self.fails = frozenset(step.name for step in prepared.steps if step.on_crash is OnCrash.FAIL)
        self.works = frozenset(step.name for step in prepared.steps if step.kind not in _WAITING)

    def rename(self, names: Mapping[str, str]) -> None:
        """Remember everything under the new names of steps."""
        for known in (self.begun, self.ended, self.due, self.numbers):
            for old, new in names.items():
                if old in known:
                    known[new] = known.pop(old)
        self.stopped = {names.get(name, name) for name in self.stopped}

    def entry(self, entry: Entry, data: EntryData) -> Iterator[PastAttempt]:
        step, at = entry.step, entry.at
        if entry.kind == Kind.OPENED:
            self.opened = at
        elif entry.kind == Kind.STARTED and step is not None:
            self.begun[step] = entry.attempt
        elif entry.kind == Kind.ADOPTED:
            yield from self._adopted(data, at)
        elif entry.kind == Kind.RESUMED:
            self.due.update(dict.fromkeys(self.stopped, at))
            self.stopped.clear()
        elif entry.kind == Kind.BEGAN and step is not None:
            yield from self._began(entry, data)
        elif step is not None and (verdict := _verdict(entry, data)) is not None:
            if entry.kind == Kind.CHECKPOINT and data.ms is not None:  # the function asked for it in this instant
                self.due.setdefault(step, at - round(data.ms * 1000))
            if entry.attempt:  # 0: a user reattempted a step that was not in flight
                yield from self.lost(step, entry.attempt)
                yield self.row(step, entry.attempt, verdict, at, data)
            self._after(entry, data)
        decided = data.decided or Decided()
        yield from self.decided(decided if data.version is None else self._fresh(decided), at)

    def _fresh(self, decided: Decided) -> Decided:
        """Return the decisions of a move about steps that had not ended before it."""
        errors = {name: error for name, error in decided.errors.items() if name not in self.ended}
        return Decided(skipped=decided.skipped, errors=errors, sleep=decided.sleep, wait=decided.wait)

    def decided(self, decided: Decided, at: int) -> Iterator[PastAttempt]:
        """Yield the rows of steps that were decided at once. Record when other steps are due."""
        for name in decided.answers:
            yield self.row(name, 1, _DONE, at)
        for name in dict.fromkeys((*decided.skipped, *decided.given_up)):
            yield self.row(name, 1, _SKIPPED, at)
        for name in decided.lost:
            yield self.row(name, 1, _CANCELLED, at)
        for name, error in decided.errors.items():
            yield self.row(name, 1, _FAILED, at, EntryData(error=error))
        self.due.update(decided.sleep)
        self.due.update(dict.fromkeys(decided.wait, at))

    def row(self, step: str, attempt: int, verdict: _Verdict, at: int, data: EntryData | None = None) -> PastAttempt:
        ms, error = (data.ms, data.error) if data else (None, None)
        due = min(self._due(step), at)
        # The duration and the end come from different clocks: without this, a step could begin just before it was due.
        begun = None if ms is None else at - round(ms * 1000)
        if begun is not None and step in self.works:
            begun = max(begun, due)
        self.ended[step] = at
        self.numbers[step] = attempt
        self.begun.pop(step, None)
        return PastAttempt(step, attempt, *verdict, due, begun, at, error)

    def lost(self, step: str, attempt: int) -> Iterator[PastAttempt]:
        """Yield the attempts before this one that died with their node. No entry has their end, but they count."""
        since = self.ended.get(step, 0)
        missing = range(self.numbers.get(step, 0) + 1, attempt)
        deaths = [at for at in self.deaths if at >= since][-len(missing) :] if missing else []
        for number, at in zip(missing[-len(deaths) :] if deaths else (), deaths, strict=True):
            yield self.row(step, number, (AttemptState.FAILED, AttemptOutcome.REATTEMPTED), at, EntryData(error=_LOST))
            self.due[step] = at

    def _adopted(self, data: EntryData, at: int) -> Iterator[PastAttempt]:
        """Yield the attempts that failed because their node died."""
        died = {
            name: StepError("crashed", f"the node that ran '{name}' died") for name in self.begun if name in self.fails
        }
        for name, error in {**died, **data.crashed}.items():
            number = self.begun.get(name, 1)
            yield from self.lost(name, number)
            yield self.row(name, number, _FAILED, at, EntryData(error=error))
        self.deaths.append(at)

    def _due(self, step: str) -> int:
        known = self.due.pop(step, None)
        if known is not None:
            return known
        return max((self.ended.get(source, self.opened) for source in self.sources.get(step, ())), default=self.opened)

    def _began(self, entry: Entry, data: EntryData) -> Iterator[PastAttempt]:
        """Yield the failed attempt of an operation of a durable function. Without an error, the operation began."""
        assert entry.step is not None
        if data.error is not None:
            yield self.row(entry.step, entry.attempt, (AttemptState.FAILED, AttemptOutcome.REATTEMPTED), entry.at, data)
        self.due[entry.step] = entry.at if data.until is None else data.until

    def _after(self, entry: Entry, data: EntryData) -> None:
        assert entry.step is not None
        if data.retry_at is not None:
            self.due[entry.step] = data.retry_at
        if entry.kind == Kind.PAUSED:
            self.stopped.add(entry.step)


def _verdict(entry: Entry, data: EntryData) -> _Verdict | None:
    """Return the state and outcome of the attempt that an entry ends, or None if it ends none."""
    state = AttemptState.COMPLETED if data.error is None else AttemptState.FAILED
    match entry.kind:
        case Kind.ENDED | Kind.CHECKPOINT:
            return _BY_ENDING[Ending(entry.outcome)] if entry.outcome else None
        case Kind.RETRY:
            return state, AttemptOutcome.REATTEMPTED
        case Kind.CANCELLED:
            return _CANCELLED if data.error is None else (AttemptState.FAILED, AttemptOutcome.CANCELLED)
        case Kind.PAUSED:
            return _CANCELLED if data.error is None else _FAILED
        case _:
            return None
