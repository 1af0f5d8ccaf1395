"""What is known of one run from outside the engine: what was acknowledged, what the journal said, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from detent.graph.model import Ending
from detent.planner.fold import fold
from detent.planner.moves.code import prepared_of
from detent.planner.prepared import Prepared
from detent.run.journal import Decided, Entry, EntryData, decode_opening
from detent.run.state import Phase, RunFacts, RunState
from detent.store.rows import NewRun, Receipt

RUNNABLE = (Phase.READY, Phase.RUNNING, Phase.RETRYING)


class Violation(AssertionError):
    """A rule was broken."""


@dataclass(slots=True)
class Story:
    """One run. `closed` are the steps that have ended in any way, `until` what sleeps and waits were promised."""

    row: NewRun
    facts: RunFacts
    prepared: Prepared
    entries: list[Entry] = field(default_factory=list)
    ended: dict[str, Ending] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)
    results: dict[str, bytes] = field(default_factory=dict)  # of steps that ended, also of those that a move left out
    sleeps: dict[str, int] = field(default_factory=dict)
    waits: dict[str, int | None] = field(default_factory=dict)
    accepted: dict[str, bytes] = field(default_factory=dict)
    answered: dict[str, None] = field(default_factory=dict)  # waits whose callback was accepted while they were active
    early: dict[str, bytes] = field(default_factory=dict)
    reminded: dict[str, list[int]] = field(default_factory=dict)  # the numbers of reminders, by wait
    edges: dict[str, bool] = field(default_factory=dict)
    receipts: dict[tuple[str, str], Receipt] = field(default_factory=dict)  # by step and message id
    owes_adoption: bool = False
    alone: dict[str, None] = field(default_factory=dict)  # steps of a suspect run that are in flight, on record
    strikes: dict[str, int] = field(default_factory=dict)  # by step, crashes while it was
    not_before: int = 0  # when the steps of a suspect run may begin
    later: dict[str, int] = field(default_factory=dict)  # and those that were struck
    parks: int = 0  # how often its node gave it up
    is_done: bool = False  # somebody said that the run is done
    final: tuple[object, ...] | None = None
    look_up: Callable[[int], Prepared] | None = None  # the graph of another version
    versions: dict[int, Prepared] = field(default_factory=dict)  # those it was moved to
    version: Prepared = field(init=False)  # the graph it began with

    def __post_init__(self) -> None:
        self.version = self.prepared

    def move(self, data: EntryData) -> None:
        """The run goes on by another graph; what has ended of it has ended there too."""
        self.prepared = prepared_of(data.graph)
        for known in (self.edges, self.sleeps, self.waits):
            known.clear()

    def move_to(self, version: int) -> None:
        """The run goes on by another version; what sleeps and waits goes on too."""
        assert self.look_up is not None
        self.prepared = self.versions[version] = self.look_up(version)
        self.edges.clear()

    def note(self, decided: Decided) -> list[str]:
        """Keep what was decided beside the entry itself. Gives what had been decided before."""
        edges = {f"edge {edge}": answer for edge, answer in decided.edges.items()}
        again = [name for name in (*decided.skipped, *decided.given_up) if name in self.closed]
        again += [name for name in decided.sleep if name in self.sleeps]
        again += [name for name in decided.wait if name in self.waits]
        again += [name for name in edges if name in self.edges]
        self.sleeps.update(decided.sleep)
        self.waits.update(decided.wait)
        self.edges.update(edges)
        return again

    def close_steps(self) -> list[int]:
        """Keep which steps have ended by now; gives those that ended beside the last entry's own."""
        state, fresh = self.state(), []
        for step in self.prepared.steps:
            if state.phase[step.index] is Phase.ENDED and step.name not in self.closed:
                self.closed[step.name] = str(state.ending[step.index])
                fresh.append(step.index)
        return fresh

    def opened(self) -> None:
        self.note(decode_opening(self.row.opening))
        self.close_steps()

    def state(self) -> RunState:
        """What the journal adds up to."""
        return fold(self.version, self.facts, self.row.opening, self.entries, self.versions)

    def state_before(self) -> RunState:
        """What it added up to before its last entry."""
        return fold(self.version, self.facts, self.row.opening, self.entries[:-1], self.versions)


def comparable(state: RunState) -> dict[str, object]:
    """A state without what memory may know ahead of the journal: which of the runnable attempts were begun."""
    phases = ["runnable" if phase in RUNNABLE else phase.name for phase in state.phase]
    for index in (*state.child_of, *(index for index in state.maps if state.phase[index] is not Phase.ENDED)):
        phases[index] = "child"  # whether it was started, or asked for after an adoption, is not in the journal
    return {
        "status": str(state.status),
        "paused_by": state.paused_by,
        "seq": state.seq,
        "phases": phases,
        "endings": list(state.ending),
        "attempts": list(state.attempts),
        "numbers": [state.attempt_number(index) for index in range(len(phases))],
        "undecided": list(state.undecided),
        "taken": list(state.taken),
        "results": dict(sorted(state.results.items())),
        "errors": dict(sorted(state.errors.items())),
        "early": dict(sorted(state.early.items())),
        "until": {
            step: until
            for step, until in sorted(state.until.items())
            if state.phase[step] in (Phase.SLEEPING, Phase.WAITING)
        },
        "begun": dict(sorted(state.begun.items())),
        "failures": list(state.failures),
        "failing": state.failing,
        "stalled": state.stalled,
        "strikes": dict(sorted(state.strikes.items())),
        "suspect_until": state.suspect_until,
        "open": state.open,
        "opens_at": state.opens_at,
        "reused": dict(sorted(state.reused.items())),
        "reused_skips": sorted(state.reused_skips),
        "left_out": sorted(state.left_out),
        "paused_step": state.paused_step,
        "finisher": state.finisher,
        "carried": dict(sorted(state.carried.items())),
        "passed": sorted(state.passed),
        "moved_graph": state.moved_graph,
        "moved_version": state.moved_version,
        "child_of": dict(sorted(state.child_of.items())),
        "children": dict(sorted(state.children.items())),
        "cancelled": state.cancelled,
        "maps": dict(sorted(state.maps.items())),
        "reused_maps": dict(sorted(state.reused_maps.items())),
    }
