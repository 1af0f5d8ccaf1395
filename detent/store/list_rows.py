"""What lists of runs and timelines read: less than a whole row, and many rows at once."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from detent.run.journal import Entry

#: The kind of a run's first row in a timeline, which is not an entry of its journal.
RUN_STARTED: Final = "run_started"
#: A position in a timeline: time, run, seq of the entry.
TimelineCursor = tuple[int, bytes, int]


class ListedRun(NamedTuple):
    """A run in a list. It has neither input nor output. `family`: the opening of a run that has a parent."""

    id: bytes
    workflow: bytes
    workflow_name: str
    version: int
    status: str
    trigger: str
    owner: bytes | None
    generation: int
    wake_at: int | None
    expires_at: int | None
    request_id: str | None
    hero_type: str | None
    hero_id: str | None
    labels: str | None
    origin: bytes | None
    parent: bytes | None
    started_at: int
    ended_at: int | None
    error: str | None
    origin_kind: str | None
    fired_by: bytes | None
    stage: str | None
    stage_step: str | None
    stage_epoch: int | None
    family: bytes | None


class RunMark(NamedTuple):
    """What counts and statistics read of a run. `stage` is as the row has it."""

    id: bytes
    status: str
    stage: str | None
    started_at: int
    ended_at: int | None


class RunSlice(NamedTuple):
    """A part of a list. `end`: the last run that was looked at, `None` if the list has no more."""

    rows: list[ListedRun]
    end: bytes | None


class MarkSlice(NamedTuple):
    """The marks of a part of a list, as in `RunSlice`."""

    rows: list[RunMark]
    end: bytes | None


class RunGroup(NamedTuple):
    """The values of runs that lists are narrowed by, but for their labels."""

    workflow: bytes
    version: int
    status: str
    trigger: str


class RunGroups(NamedTuple):
    """How many runs of a part of a list have each group of values, and how many have each text of labels.

    `end`: the last run that was looked at, `None` if the list has no more."""

    counts: Counter[RunGroup]
    labels: Counter[str]
    end: bytes | None


class StepCounts(NamedTuple):
    """How many steps of a run have ended by themselves, and how many of these failed."""

    ended: int
    failed: int


class HeroRow(NamedTuple):
    """A hero: how many runs it has, and the newest of them."""

    type: str
    id: str
    runs: int
    last_run: bytes


class Range(NamedTuple):
    """What `count_in_ranges` counts: runs of a workflow, with a status that is not usual, or open with a stage.

    `pages` counts only pages of maps. `is_open` with the stage `None` counts open runs whose row has no stage."""

    workflow: bytes | None = None
    status: str | None = None
    is_open: bool = False
    stage: str | None = None
    pages: bool = False


class FoundWorkflowRow(NamedTuple):
    """A workflow without its definition."""

    id: bytes
    name: str
    title: str | None


class TimelineRow(NamedTuple):
    """An entry of the journal of a run. With seq 0 it is the start of the run (RUN_STARTED)."""

    workflow_name: str
    entry: Entry

    def place(self) -> TimelineCursor:
        """Return its position in the timeline."""
        return self.entry.at, self.entry.run, self.entry.seq


class Orphan(NamedTuple):
    """An open run whose parent has ended with `status`, without completing. `opening` is that of the open run."""

    tenant: int
    run: bytes
    opening: bytes | None
    parent: bytes
    status: str
