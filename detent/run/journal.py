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
    """What an entry says happened. The list is closed: an unknown kind stops the fold.

    `began` and `checkpoint` are of durable functions, and their `step` is the key of an operation: something that takes
    time was begun (a sleep, a wait, a child, or another try), something has ended."""

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


class Placed(msgspec.Struct, omit_defaults=True, frozen=True):
    """The queue and priority that a run was started with: its row has those of the step it waits for. `asked`: the
    start named the priority; else it is the workflow's."""

    queue: str = "default"
    priority: int = 0
    asked: bool = False


class Decided(msgspec.Struct, omit_defaults=True):
    """What followed from an entry and could not be read off the graph alone.

    `edges` are the answers of edge conditions (by the edge's index), `skipped` every step that was decided not to run,
    `given_up` those skipped because the run is failing, `errors` steps that ended at once because a condition or a
    duration could not be evaluated, `sleep` and `wait` until when, `run` the final status if this ended the run.
    `start` is only in a run's opening: nothing is decided yet, an entry `opened` will be at that time or after it.
    So is `placed`, `None` for the default queue and priority.
    """

    edges: dict[int, bool] = {}
    skipped: list[str] = []
    given_up: list[str] = []
    errors: dict[str, StepError] = {}
    sleep: dict[str, int] = {}
    wait: dict[str, int | None] = {}
    run: str | None = None
    start: int | None = None
    placed: Placed | None = None

    def is_empty(self) -> bool:
        return self == _EMPTY


_EMPTY: Final = Decided()
USUAL: Final = Placed()


class CarriedEntry(msgspec.Struct, omit_defaults=True):
    """How a step had ended when its run was moved to another graph. `explicit`: it was skipped by its own code or by a
    person. Result and error are left out of the journal, which has them already."""

    ending: str
    result: msgspec.Raw = msgspec.Raw(b"")
    error: StepError | None = None
    explicit: bool = False


class EntryData(msgspec.Struct, omit_defaults=True):
    """The part of an entry that is text in the database. Which fields are there depends on the kind: `crashed` are the
    steps that an adoption ended because they took their node down with them; `until` and `child` are of an operation of
    a durable function; `finished`: the run ends with this step; `graph` is what the run goes on by, `carried` how each
    step ended that it brings along. In an adoption, `until` says when the attempt that was in flight may start again.
    `released`: the attempt whose start is on record was given up, and nothing is known of its effect."""

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


def encode_opening(opening: Decided, placed: Placed = USUAL) -> bytes | None:
    """What was decided at a run's start and where it was placed; `None` when only its entry steps became ready, in
    the default queue, so that a start is one row."""
    if placed != USUAL:
        opening = msgspec.structs.replace(opening, placed=placed)
    return None if opening.is_empty() else _encoder.encode(opening)


def decode_opening(raw: bytes | None) -> Decided:
    return Decided() if raw is None else _decided_decoder.decode(raw)


def placed_in(raw: bytes | None) -> Placed:
    """Where a run was placed, by its opening."""
    return decode_opening(raw).placed or USUAL
