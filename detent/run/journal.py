"""The journal: what happened in a run, append-only, one entry per ended attempt.

An entry carries everything that was decided because of it, so that nothing is ever decided twice: `fold` of the entries
over the graph returns the state and evaluates no expression. `data` is JSON text, stored as the bytes that were
written.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from detent.run.outcomes import StepError


class Kind(StrEnum):
    """What an entry records. The list is closed: an unknown kind stops the fold.

    `began` and `checkpoint` belong to durable functions; their `step` is the key of an operation. `began`: an operation
    that takes time began (a sleep, a wait, a child, or a retry). `checkpoint`: an operation has ended.

    `paged`: pages of a map began, or one has ended.

    `noted`: something happened at an open wait that does not end it: a reminder, its escalation, or one decision of
    several."""

    ENDED = "ended"
    RETRY = "retry"
    STARTED = "started"
    ADOPTED = "adopted"
    RECEIVED = "received"
    PAUSED = "paused"
    RESUMED = "resumed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    REUSED = "reused"
    OPENED = "opened"
    FINISHED = "finished"
    MOVED = "moved"
    BEGAN = "began"
    CHECKPOINT = "checkpoint"
    PAGED = "paged"
    NOTED = "noted"


class Placed(msgspec.Struct, omit_defaults=True, frozen=True):
    """The queue and priority that a run was started with. (Its row has those of the step it waits for.) `asked`: the
    start has the priority; otherwise it is the workflow's."""

    queue: str = "default"
    priority: int = 0
    asked: bool = False


#: What starts the pages of a map.
MAP: Final = "map"


class Page(msgspec.Struct, omit_defaults=True, frozen=True):
    """The items that a page of a map has: `size` items from the number `first` on. `step` is the map."""

    step: str
    first: int
    size: int


class MapBegun(msgspec.Struct, frozen=True):
    """How many items a map has in all, and how many a page has."""

    count: int
    size: int


class PageEnded(msgspec.Struct, frozen=True):
    """The end of a page, and how many of its items have succeeded and failed."""

    child: str
    succeeded: int
    failed: int


class Family(msgspec.Struct, omit_defaults=True, frozen=True):
    """Where a child run stands below its parents.

    `step` is the step or operation of its parent that started it. `depth` counts the runs above it, and `path` has the
    ids of their workflows, the topmost first. `detached`: its parent does not wait for it. `page`: it is a page of a
    map."""

    step: str
    depth: int = 1
    path: tuple[str, ...] = ()
    detached: bool = False
    page: Page | None = None


class ProbeAnswer(StrEnum):
    """What the probe of a step said after a crash."""

    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did_not_happen"
    UNKNOWN = "unknown"


class ProbeEntry(msgspec.Struct, frozen=True):
    """How it is known whether an attempt happened that died with its node: what was asked, and its answer."""

    action: str
    answer: ProbeAnswer


class Decided(msgspec.Struct, omit_defaults=True):
    """The decisions because of an entry that do not follow from the graph alone.

    `edges`: the answers of edge conditions, by the edge's index. `notes`: why a condition could not be evaluated that
    counts as false then. `answers`: those of condition steps. `skipped`: every step that was decided not to run.
    `given_up`: the steps skipped because the run is failing. `errors`: the steps that ended at once because a condition
    or a duration could not be evaluated. `lost`: the members of a `first_of` that ended because another one was first.
    `sleep`, `wait`: until when a step sleeps or waits. `run`: the final status if this ended the run.

    Three are only in a run's opening. `start`: nothing is decided yet, and an entry `opened` will follow at that time
    or later. `placed`: queue and priority, `None` for the default ones. `family`: of a child run.
    """

    edges: dict[int, bool] = {}
    notes: dict[int, str] = {}
    answers: dict[str, bool] = {}
    skipped: list[str] = []
    given_up: list[str] = []
    errors: dict[str, StepError] = {}
    sleep: dict[str, int] = {}
    wait: dict[str, int | None] = {}
    lost: list[str] = []
    run: str | None = None
    start: int | None = None
    placed: Placed | None = None
    family: Family | None = None

    def is_empty(self) -> bool:
        return self == _EMPTY


_EMPTY: Final = Decided()
USUAL: Final = Placed()


class CarriedEntry(msgspec.Struct, omit_defaults=True):
    """How a step had ended when its run was moved to another graph. `explicit`: its own code or a user skipped it.
    Result and error are not written to the journal again."""

    ending: str
    result: msgspec.Raw = msgspec.Raw(b"")
    error: StepError | None = None
    explicit: bool = False


class EntryData(msgspec.Struct, omit_defaults=True):
    """The part of an entry that is text in the database. Which fields are set depends on the kind.

    `crashed`: the steps that an adoption ended because they killed their node. `until`, `child`, `asks`: of an
    operation of a durable function; `asks` if it waits for people. In an adoption, `until` is when the attempt that was
    in flight may start again. `finished`: the run ends with this step. `graph`: the graph that the run was moved to.
    `carried`: how each step ended that it takes along. `released`: the attempt with a `started` entry was given up, and
    it is unknown whether its effect happened. `look`: the attempt succeeded, but its result is not yet what the step
    repeats for. Of a map: `map` when it begins, `pages` that begin (the ids of their runs), and the `page` that has
    ended.

    A move to another version has no graph. `version` and `was`: the numbers of the new and of the previous version.
    `names`: the new names of steps that were renamed.

    `probe`: this is the answer of the step's probe. A `retry` with an unknown answer and no time makes it uncertain.
    `doubted`: the steps that an adoption makes uncertain without asking their probe.

    `note`: what a `noted` entry is about. `reminder`: its number, 0 for the escalation.
    """

    result: msgspec.Raw = msgspec.Raw(b"")
    error: StepError | None = None
    ms: float | None = None
    retry_at: int | None = None
    by: str | None = None
    message: int | None = None
    crashed: dict[str, StepError] = {}
    decided: Decided | None = None
    until: int | None = None
    child: str | None = None
    finished: bool = False
    released: bool = False
    graph: bytes = b""
    carried: dict[str, CarriedEntry] = {}
    look: bool = False
    map: MapBegun | None = None
    pages: list[str] = []
    page: PageEnded | None = None
    version: int | None = None
    was: int | None = None
    names: dict[str, str] = {}
    probe: ProbeEntry | None = None
    doubted: list[str] = []
    note: msgspec.Raw = msgspec.Raw(b"")
    reminder: int | None = None
    asks: bool = False


#: The outcome of a `moved` entry whose move to another version was refused. Such an entry changes nothing.
REFUSED: Final = "refused"


class Entry(NamedTuple):
    """One row of the journal."""

    tenant: int
    run: bytes
    seq: int
    at: int
    kind: str
    step: str | None
    attempt: int
    outcome: str | None
    data: bytes


NO_DATA: Final = b"{}"

_encoder = msgspec.json.Encoder()
_data_decoder = msgspec.json.Decoder(EntryData)
_decided_decoder = msgspec.json.Decoder(Decided)


def encode_data(data: EntryData) -> bytes:
    return _encoder.encode(data)


def decode_data(raw: bytes) -> EntryData:
    return _data_decoder.decode(raw)


def encode_opening(opening: Decided, placed: Placed = USUAL, family: Family | None = None) -> bytes | None:
    """Encode what was decided at a run's start, with its queue and priority, and its place below its parents.

    Return None if only its first steps became ready, with the default queue and priority, so that a start is one row.
    """
    if placed != USUAL:
        opening = msgspec.structs.replace(opening, placed=placed)
    if family is not None:
        opening = msgspec.structs.replace(opening, family=family)
    return None if opening.is_empty() else _encoder.encode(opening)


def decode_opening(raw: bytes | None) -> Decided:
    return Decided() if raw is None else _decided_decoder.decode(raw)


def placed_in(raw: bytes | None) -> Placed:
    """Return the queue and priority of a run's opening."""
    return decode_opening(raw).placed or USUAL


def family_in(raw: bytes | None) -> Family | None:
    """Return where the run of this opening stands below its parents, or None if it has no parent."""
    return decode_opening(raw).family
