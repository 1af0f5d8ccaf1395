"""Documents of lists of runs: pages of searches, counts, histograms, facets, heroes and statistics."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from detent.documents.runs import RunSummary

T = TypeVar("T")


class SearchPage(msgspec.Struct, Generic[T]):
    """A page of a list that may be searched in parts; `next_cursor` is null on the last page.

    `searched_until` is there if the search stopped before the page was full: everything newer was looked at (older, if
    the oldest come first). The next page goes on from there. It is null otherwise."""

    data: list[T]
    next_cursor: str | None = None
    searched_until: datetime | None = None


class RunCounts(msgspec.Struct, kw_only=True):
    """How many runs are in each state.

    `running` has queued runs, `waiting` those that wait, sleep or start later. `attention` are paused, uncertain and
    retrying runs. `failed` has runs that timed out. `scheduled` are coming slots of schedules."""

    completed: int = 0
    running: int = 0
    waiting: int = 0
    attention: int = 0
    failed: int = 0
    cancelled: int = 0
    scheduled: int = 0


class HistogramBucket(RunCounts, kw_only=True):
    """The runs that were accepted from `at` until the next bucket."""

    at: datetime


class HistogramDocument(msgspec.Struct, kw_only=True):
    """How many runs were accepted when, by what has become of them.

    `searched_until` is there if the filter has no index and older runs were not looked at."""

    begin: datetime = msgspec.field(name="from")
    end: datetime = msgspec.field(name="to")
    bucket_ms: float
    buckets: list[HistogramBucket]
    totals: RunCounts
    searched_until: datetime | None


class ViewCounts(msgspec.Struct, kw_only=True):
    """How many runs each saved view has. `all` is every run that is stored, without pages of maps.

    `failing` have failed within 24 hours, `stuck` are due and no node takes them or their node is gone."""

    all: int
    running: int
    waiting: int
    person: int
    failing: int
    stuck: int
    paused: int


class CountsDocument(msgspec.Struct, kw_only=True):
    """How many runs each saved view has. No number is larger than `capped_at`."""

    views: ViewCounts
    capped_at: int


class FacetValue(msgspec.Struct):
    """A value and how many have it."""

    value: str
    count: int


class WorkflowFacet(msgspec.Struct, kw_only=True):
    """A workflow and how many runs it has."""

    value: str
    id: str
    count: int


class LabelFacet(msgspec.Struct, kw_only=True):
    """A label and how many runs have it."""

    key: str
    value: str
    count: int


class FacetsDocument(msgspec.Struct, kw_only=True):
    """The values by which a list of runs can be narrowed, the most frequent first, at most 20 of each.

    `versions` are there if the list is of one workflow. `sampled`: only the newest of the runs were counted, those that
    were accepted at `searched_until` or later. It is null if every run was counted."""

    workflows: list[WorkflowFacet]
    triggers: list[FacetValue]
    statuses: list[FacetValue]
    versions: list[FacetValue]
    labels: list[LabelFacet]
    runs: int
    sampled: bool
    searched_until: datetime | None


class FoundWorkflow(msgspec.Struct):
    """A workflow that a search found."""

    id: str
    name: str
    title: str | None


class FoundHero(msgspec.Struct):
    """A hero that a search found, and how many runs it has."""

    type: str
    id: str
    runs: int


class FoundTrigger(msgspec.Struct):
    """A trigger that a search found."""

    id: str
    name: str | None
    workflow: str
    type: str


class SearchDocument(msgspec.Struct, kw_only=True):
    """What a text names: workflows, runs, heroes and triggers."""

    workflows: list[FoundWorkflow]
    runs: list[RunSummary]
    heroes: list[FoundHero]
    triggers: list[FoundTrigger]


class HeroSummary(msgspec.Struct):
    """A hero, how many runs it has, and the newest of them. `last_run` is null if it was deleted meanwhile."""

    type: str
    id: str
    runs: int
    last_run: RunSummary | None


class RecentRun(msgspec.Struct):
    """A run in the statistics of its workflow. `duration_ms` is null until it has ended."""

    id: str
    status: str
    duration_ms: float | None
    accepted_at: datetime


class WorkflowStats(msgspec.Struct, kw_only=True):
    """How the runs of a workflow went.

    `recent` are the last 30, the oldest first. `runs` were accepted within the days asked for. `success_rate`, `p50_ms`
    and `p95_ms` are of those of the last 200 runs that have ended, null if there are none; cancelled runs do not count
    for the rate. `in_flight` counts open runs by version, `next_at` is the next slot of a schedule."""

    workflow_id: str
    workflow: str
    recent: list[RecentRun]
    runs: int
    success_rate: float | None
    p50_ms: float | None
    p95_ms: float | None
    in_flight: dict[str, int]
    last_at: datetime | None
    next_at: datetime | None
