"""What the journal adds up to: the state of one run, in memory, owned and changed by the planner alone.

Steps are numbers here (their place in the graph), and everything a decision needs is a count or a list look-up, so that
the cost of one event does not grow with the size of the graph. Nothing in here is stored: `fold` makes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from typing import NamedTuple

from detent.graph.model import Ending
from detent.run import journal
from detent.run.outcomes import StepError
from detent.run.status import TERMINAL, Status


class Phase(IntEnum):
    """Where one step stands. READY: decided to run, not started; RUNNING: handed to an executor."""

    PENDING = 0
    READY = 1
    RUNNING = 2
    RETRYING = 3
    SLEEPING = 4
    WAITING = 5
    UNCERTAIN = 6
    ENDED = 7


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What never changes in a run. `callback_url` renders the URL of a wait step, from the run and a key alone."""

    id: bytes
    tenant: int
    workflow: str
    input: bytes
    started_at: int
    expires_at: int | None
    callback_url: Callable[[str], str]
    hero: tuple[str, str] | None = None
    parent: bytes | None = None


class Checkpoint(NamedTuple):
    """An operation of a durable function has ended; in the order of the journal. `at` is when."""

    key: str
    ending: Ending
    result: bytes
    error: StepError | None
    at: int
    attempt: int = 1


class Operation(NamedTuple):
    """An operation of a durable function that takes time: until then, or the child whose end it waits for. `attempt`:
    tries that failed so far, the last with `error`."""

    key: str
    until: int | None
    child: str | None
    attempt: int
    error: StepError | None
    at: int


class Carried(NamedTuple):
    """How a step had ended when its run was moved to another graph."""

    ending: Ending
    error: StepError | None


@dataclass(slots=True)
class RunState:
    """One run. The lists have one place per step."""

    facts: RunFacts
    undecided: list[int]  # incoming edges not decided yet
    phase: list[Phase] = field(init=False)
    ending: list[Ending | None] = field(init=False)
    taken: list[int] = field(init=False)  # incoming edges taken
    attempts: list[int] = field(init=False)  # attempts that ended
    adoptions_before: list[int] = field(init=False)  # adoptions of the run when the step became ready
    since: list[int] = field(init=False)  # when the phase was entered
    status: Status = Status.RUNNING
    results: dict[int, bytes] = field(default_factory=dict)
    errors: dict[int, StepError] = field(default_factory=dict)
    early: dict[int, bytes] = field(default_factory=dict)  # callbacks that came before their wait was active
    until: dict[int, int | None] = field(default_factory=dict)
    edge_errors: dict[int, StepError] = field(default_factory=dict)
    ready: dict[int, None] = field(default_factory=dict)  # in the order they became so
    begun: dict[int, int] = field(default_factory=dict)  # steps with a `started` entry and no end: attempt
    strikes: dict[int, int] = field(default_factory=dict)  # steps in flight, on record, when their node died: how often
    doubts: dict[int, int] = field(default_factory=dict)  # uncertain steps: the attempt whose end is unknown
    history: dict[str, Checkpoint] = field(default_factory=dict)  # of a durable function, in the journal's order
    operations: dict[str, Operation] = field(default_factory=dict)  # of it, begun and not ended
    carried: dict[int, Carried] = field(default_factory=dict)  # how steps ended before the run was moved
    left_behind: dict[str, journal.CarriedEntry] = field(default_factory=dict)  # and those that its graph has no more
    passed: frozenset[int] = frozenset()  # steps that stand before those, in the graph the run was moved to
    undelayed: int | None = None  # the step that waited long enough before its run was moved
    moved_graph: bytes | None = None  # what the run goes on by since it was moved
    is_finished: bool = False  # a person finished the run, whatever was left
    finisher: int | None = None  # the step that said so
    left_out: dict[int, None] = field(default_factory=dict)  # steps skipped by their own code, or by a person
    reused: dict[int, bytes] = field(default_factory=dict)  # results of another run, for steps that need not run again
    reused_skips: dict[int, None] = field(
        default_factory=dict
    )  # steps that were left out in the run this one came from
    failures: list[int] = field(default_factory=list)
    timers: list[tuple[int, int]] = field(default_factory=list)
    open: int = field(init=False)  # steps not ended
    running: int = 0
    seq: int = 0
    adoptions: int = 0
    stalled: int = 0  # adoptions since an attempt ended
    suspect_until: int = 0  # no step of a suspect run starts before this time
    failing: bool = False  # fail_fast has fired
    paused_by: str | None = None
    paused_at: int | None = None
    paused_step: int | None = None  # the step that the run stands still for
    opens_at: int | None = None  # when a run that is not open yet is to begin; None once it has

    def __post_init__(self) -> None:
        size = len(self.undecided)
        self.phase = [Phase.PENDING] * size
        self.ending = [None] * size
        self.taken = [0] * size
        self.attempts = [0] * size
        self.adoptions_before = [0] * size
        self.since = [self.facts.started_at] * size
        self.open = size

    @property
    def is_over(self) -> bool:
        return self.status in TERMINAL

    def postpone(self, at: int) -> None:
        """Nothing of this run is decided yet: it begins at that time."""
        self.status = Status.PENDING
        self.opens_at = at

    def may_open(self, now: int) -> bool:
        """Whether the run is to be opened: its time has come, and it is not paused."""
        return self.opens_at is not None and self.opens_at <= now and self.paused_by is None

    def attempt_number(self, step: int) -> int:
        """The number of the attempt that runs or comes next. Crashes count: the effect may have happened."""
        return self.attempts[step] + self.adoptions - self.adoptions_before[step] + 1

    def set_timer(self, step: int, phase: Phase, until: int | None) -> None:
        """Let the step wait until then, in that phase."""
        self.phase[step] = phase
        self.until[step] = until
        if until is not None:
            heappush(self.timers, (until, step))

    def next_timer(self) -> int | None:
        """The earliest time something in this run is waiting for, its expiry apart."""
        timers = self.timers
        while timers:
            until, step = timers[0]
            if self.phase[step] in TIMED and self.until.get(step) == until:
                return until
            heappop(timers)
        return None

    def due(self, now: int) -> Iterator[int]:
        """The steps whose time has come; each is given once. One that was not given yet still counts as a timer."""
        while (until := self.next_timer()) is not None and until <= now:
            yield heappop(self.timers)[1]

    def next_wake(self) -> int | None:
        """When this run must be looked at again if nothing else happens."""
        timer, expiry = self.next_timer(), self.facts.expires_at
        if self.opens_at is not None and self.paused_by is None:
            timer = self.opens_at  # no step of it waits for anything
        if timer is None or expiry is None:
            return expiry if timer is None else timer
        return min(timer, expiry)


TIMED: Sequence[Phase] = (Phase.RETRYING, Phase.SLEEPING, Phase.WAITING)
