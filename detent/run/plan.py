"""What the planner wants done because of one event. Nothing of it may be done before its entry is durable."""

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
    """An attempt to be started, by its number. `on_record`: journal its start first. `suspect`: it waits for its turn
    among the suspect attempts of the node."""

    step: int
    attempt: int
    on_record: bool
    suspect: bool = False


class Plan(msgspec.Struct):
    """`entry` is to be journalled; then `start` the attempts, activate and expire callbacks, or end the run.

    `expire` asks for a wait's callback to be expired in the store; only its answer decides who won. The attempts of
    `stop` are ended at once, and their outcome is ignored. `moved`: the state of the run from now on, over another
    graph.
    """

    entry: Entry | None
    start: list[StartAttempt]
    activate: list[tuple[str, int | None]]
    expire: list[int]
    end: RunEnd | None = None
    stop: list[int] = []
    moved: RunState | None = None


NOTHING = Plan(None, [], [], [])
