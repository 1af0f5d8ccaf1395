"""The plan: what the engine does because of one event. Nothing of it may be done before its entry is durable."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from detent.run.journal import Entry
from detent.run.state import RunState
from detent.run.status import Status


class RunEnd(NamedTuple):
    """How the run ended."""

    status: Status
    output: bytes | None
    error: str | None


class StartAttempt(NamedTuple):
    """An attempt to start, by its number. `on_record`: journal its start first. `suspect`: it waits for its turn among
    the suspect attempts of the node."""

    step: int
    attempt: int
    on_record: bool
    suspect: bool = False


#: A wait that became active: its name, until when, and what it asks (`graph/ask.py`).
Activated = tuple[str, int | None, str | None]


class Plan(msgspec.Struct):
    """The plan of one event: journal `entry`, then start attempts, activate and expire callbacks, or end the run.

    `expire`: ask the store to expire the callbacks of these waits. Its answer decides whether the callback or the
    expiry came first. `stop`: end the attempts of these steps at once, and ignore their outcomes. `moved`: the state of
    the run from now on, for another graph. `closed`: waits that ended without a callback and accept none any more.
    `cancel`: child runs that no step waits for any more, each with its number among all such runs of this run.
    """

    entry: Entry | None
    start: list[StartAttempt]
    activate: list[Activated]
    expire: list[int]
    end: RunEnd | None = None
    stop: list[int] = []
    moved: RunState | None = None
    closed: list[str] = []
    cancel: list[tuple[str, int]] = []


NOTHING = Plan(None, [], [], [])
