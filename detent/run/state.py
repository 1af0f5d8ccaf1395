"""The state of one run in memory: the fold of its journal. Only the planner changes it.

Steps are numbers here (their index in the graph). Everything a decision needs is a count or a list look-up. So the cost
of one event does not grow with the size of the graph. The state is not stored: `fold` builds it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from typing import NamedTuple

import msgspec

from detent.graph.model import Ending
from detent.run import journal
from detent.run.initiator import NO_INITIATOR, Initiator
from detent.run.outcomes import StepError
from detent.run.status import TERMINAL, Status


class Phase(IntEnum):
    """The phase of one step. READY: decided to run, not started. RUNNING: passed to an executor. CHILD: it goes on as a
    child run."""

    PENDING = 0
    READY = 1
    RUNNING = 2
    RETRYING = 3
    SLEEPING = 4
    WAITING = 5
    UNCERTAIN = 6
    ENDED = 7
    CHILD = 8


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What never changes in a run. `callback_url` renders the URL of a wait step from the run's id and the key.

    `unseal` opens the result of a sensitive step. Without it, expressions read what people may see of it."""

    id: bytes
    tenant: int
    workflow: str
    input: bytes
    started_at: int
    expires_at: int | None
    callback_url: Callable[[str], str]
    hero: tuple[str, str] | None = None
    parent: bytes | None = None
    workflow_id: bytes = b""
    family: journal.Family | None = None
    unseal: Callable[[bytes], bytes] | None = None
    initiator: Initiator = NO_INITIATOR


class Checkpoint(NamedTuple):
    """The end of an operation of a durable function. `at` is when it ended."""

    key: str
    ending: Ending
    result: bytes
    error: StepError | None
    at: int
    attempt: int = 1


class Operation(NamedTuple):
    """An open operation of a durable function. It waits for the time `until` or for the end of `child`. `attempt`: the
    number of failed attempts so far, the last with `error`. `asks`: it waits for people."""

    key: str
    until: int | None
    child: str | None
    attempt: int
    error: StepError | None
    at: int
    asks: bool = False


#: What waits for a child run: the key of an operation, or the index of a step.
ChildOwner = str | int


class ChildRun(NamedTuple):
    """The child run of a step. The step waits for its end, but not longer than `until`."""

    id: str
    until: int | None


@dataclass(slots=True)
class MapState:
    """A map: `count` items in pages of `size`. `pages` has the runs of the pages that began, in order, and `open` those
    that have not ended."""

    count: int
    size: int
    pages: list[str] = field(default_factory=list)
    open: dict[str, int] = field(default_factory=dict)
    succeeded: int = 0
    failed: int = 0

    def has_more(self) -> bool:
        """Return whether there are pages that have not begun."""
        return len(self.pages) * self.size < self.count


@dataclass(frozen=True, slots=True)
class PastMap:
    """A map of the original run: `count` items in pages of `size`, and the runs of the pages that began there."""

    count: int
    size: int
    pages: tuple[str, ...]


@dataclass(slots=True)
class Gathered:
    """What the items of a page have given so far: the collected values by item, until they are too large together."""

    values: dict[int, bytes] = field(default_factory=dict)
    size: int = 1  # of the list of these values, encoded
    is_too_large: bool = False
    error: tuple[int, str] | None = None  # the first item whose value cannot be rendered, and why


class Probing(NamedTuple):
    """A step whose probe is asked whether `attempt` happened. `tries`: how many answers did not say it."""

    attempt: int
    tries: int = 0


class Carried(NamedTuple):
    """How a step had ended when its run was moved to another graph."""

    ending: Ending
    error: StepError | None


class RunState(msgspec.Struct):
    """The state of one run. The lists have one item per step.

    It is a Struct, because it has many fields and one is built for every run."""

    facts: RunFacts
    undecided: list[int]  # incoming edges not decided yet
    parallel: int | None = None  # at most so many attempts at once
    phase: list[Phase] = []
    ending: list[Ending | None] = []
    taken: list[int] = []  # incoming edges taken
    attempts: list[int] = []  # attempts that ended
    adoptions_before: list[int] = []  # adoptions of the run when the step became ready
    since: list[int] = []  # when the phase was entered
    status: Status = Status.RUNNING
    results: dict[int, bytes] = {}
    readers: list[int] | None = None  # steps that may still read the result of a step; None: results are not counted
    keeps_results: bool = True  # else a result leaves memory when no step can read it any more
    let_go: list[int] = []  # steps whose results have left memory
    gathered: Gathered | None = None  # of a page that does not keep results
    readable: dict[int, int] = {}  # results that count for the limit: bytes, oldest first
    readable_bytes: int = 0
    dropped: frozenset[int] = frozenset()  # results that expressions cannot read: there were too many bytes
    last: int | None = None  # the last step in order that succeeded: its output is that of a run that is finished
    errors: dict[int, StepError] = {}
    early: dict[int, bytes] = {}  # callbacks that arrived before their wait was active
    until: dict[int, int | None] = {}
    notes: dict[int, int] = {}  # waits that remind or escalate: when they do next
    noted: dict[int, int] = {}  # and how often they have
    edge_errors: dict[int, StepError] = {}
    not_taken: set[int] = set()  # edges that were not taken although the ending satisfied them
    retried_at: dict[int, int] = {}  # when the next attempt of a step became ready
    ready: dict[int, None] = {}  # in the order they became ready
    begun: dict[int, int] = {}  # steps with a `started` entry and no end: attempt
    strikes: dict[int, int] = {}  # steps with a `started` entry when a node died: how often
    doubts: dict[int, int] = {}  # uncertain steps: the attempt whose end is unknown
    probes: dict[int, Probing] = {}  # steps whose next attempt asks their probe
    refuted: dict[int, int] = {}  # how many attempts of a step did not happen, by its probe
    history: dict[str, Checkpoint] = {}  # of a durable function, in journal order
    operations: dict[str, Operation] = {}  # of a durable function, begun and not ended
    children: dict[str, ChildOwner] = {}  # child runs that are awaited: by which owner
    child_of: dict[int, ChildRun] = {}  # the child runs of steps, from their `started` entry
    looks: dict[int, int] = {}  # results of a repeated step that were not as wanted
    maps: dict[int, MapState] = {}
    cancelled: int = 0  # child runs of steps that were cancelled
    unsure: frozenset[str] = frozenset()  # children that may not exist: their start may have been interrupted
    carried: dict[int, Carried] = {}  # how steps ended before the run was moved
    left_behind: dict[str, journal.CarriedEntry] = {}  # and steps not in its graph
    blobs: dict[bytes, bytes] | None = None  # the content of blobs that expressions may read inside
    passed: frozenset[int] = frozenset()  # skipped steps: before the current one in the graph the run was moved to
    undelayed: int | None = None  # the step whose delay was over before its run was moved
    moved_graph: bytes | None = None  # the graph that the run was moved to, because its code has changed
    moved_to: object = None  # the prepared graph of the version that the run was moved to
    moved_version: int | None = None  # and its number
    old_waits: frozenset[str] = frozenset()  # the waits of the versions before it: each has a callback
    is_finished: bool = False  # a user or a step finished the run before all steps ended
    finisher: int | None = None  # the step that finished it; None: a user
    left_out: dict[int, None] = {}  # steps skipped by their own code or by a user
    reused: dict[int, bytes] = {}  # results of another run, for steps that need not run again
    reused_maps: dict[int, PastMap] = {}  # maps whose pages begin with results of another run
    reused_skips: dict[int, None] = {}  # steps that were skipped in the original run
    failures: list[int] = []
    timers: list[tuple[int, int]] = []
    open: int = 0  # steps not ended
    running: int = 0
    seq: int = 0
    adoptions: int = 0
    stalled: int = 0  # adoptions since an attempt ended
    suspect_until: int = 0  # no step of a suspect run starts before this time
    failing: bool = False  # fail_fast has fired
    paused_by: str | None = None
    paused_at: int | None = None
    paused_step: int | None = None  # the step because of which the run is paused
    opens_at: int | None = None  # when a pending run begins; None once it has begun

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
        """Make the run pending until that time. Nothing of it is decided yet."""
        self.status = Status.PENDING
        self.opens_at = at

    def may_open(self, now: int) -> bool:
        """Return whether a pending run can begin: its time has come, and it is not paused."""
        return self.opens_at is not None and self.opens_at <= now and self.paused_by is None

    def attempt_number(self, step: int) -> int:
        """Return the number of the attempt that runs or comes next. Crashes count: the effect may have happened."""
        return self.attempts[step] + self.adoptions - self.adoptions_before[step] + 1

    def set_timer(self, step: int, phase: Phase, until: int | None) -> None:
        """Let the step wait in that phase until that time."""
        self.phase[step] = phase
        self.until[step] = until
        if until is not None:
            heappush(self.timers, (until, step))

    def set_note(self, step: int, at: int | None) -> None:
        """Let a waiting step remind or escalate at that time; `None`: not any more."""
        if at is None:
            self.notes.pop(step, None)
        else:
            self.notes[step] = at
            heappush(self.timers, (at, step))

    def next_timer(self) -> int | None:
        """Return the earliest time that a step of this run waits for. The run's expiry does not count."""
        timers = self.timers
        while timers:
            until, step = timers[0]
            if self.phase[step] in TIMED and (self.until.get(step) == until or self.notes.get(step) == until):
                return until
            heappop(timers)
        return None

    def due(self, now: int) -> Iterator[int]:
        """Yield each step whose time has come, once. A step that was not yielded yet still counts as a timer."""
        while (until := self.next_timer()) is not None and until <= now:
            yield heappop(self.timers)[1]

    def next_wake(self) -> int | None:
        """Return when this run is due if nothing else happens."""
        timer, expiry = self.next_timer(), self.facts.expires_at
        if self.opens_at is not None and self.paused_by is None:
            timer = self.opens_at  # before its opening, no step waits for anything
        if timer is None or expiry is None:
            return expiry if timer is None else timer
        return min(timer, expiry)


TIMED: Sequence[Phase] = (Phase.RETRYING, Phase.SLEEPING, Phase.WAITING, Phase.CHILD)
