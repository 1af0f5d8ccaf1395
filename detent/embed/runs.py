"""Sets of runs, such as `detent.runs(Signup, hero=user).paused()`.

Each method narrows the set and returns a new one. No request is sent until the runs are iterated.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from detent.client.calls import PAGE, Pages
from detent.client.client import RunHandle, SyncRunHandle
from detent.client.runs import RunFilter, list_all
from detent.documents.runs import RunSummary
from detent.embed.gateway import ASYNC_DRIVER, DRIVER
from detent.embed.request import hero_pair, named
from detent.errors import InvalidInput

__all__ = ["RunHandle", "RunScope", "SyncRunHandle", "SyncRunScope", "runs", "sync_runs"]


@dataclass(frozen=True)
class FilteredRuns:
    """A set of runs, newest first."""

    which: RunFilter

    def where(self, **more: Any) -> Self:
        """Return the runs that also match these fields of `RunFilter`."""
        return replace(self, which=cast(RunFilter, {**self.which, **more}))

    def for_hero(self, hero: Any) -> Self:
        """Return the runs of this hero: an object, a reference or (type, id)."""
        pair = hero_pair(hero)
        if pair is None:
            raise InvalidInput("for_hero needs a hero")
        return self.where(hero=pair)

    def active(self) -> Self:
        """Return the runs that have not ended."""
        return self.where(status="active")

    def ready(self) -> Self:
        """Return the runs that have not ended and that no node owns: due, sleeping or waiting."""
        return self.where(status="ready")

    def performing(self) -> Self:
        """Return the runs that a node owns."""
        return self.where(status="performing")

    def paused(self) -> Self:
        return self.where(status="paused")

    def finished(self) -> Self:
        """Return the runs that completed."""
        return self.where(status="completed")

    def canceled(self) -> Self:
        return self.where(status="cancelled")

    def _pages(self, limit: int = PAGE) -> Pages[RunSummary]:
        return list_all(limit=limit, **self.which)


class RunScope(FilteredRuns):
    """A set of runs for event loops: `async for run in detent.runs(Signup): ...`.

    Each run is a summary; `detent.RunHandle(run.id)` is its handle.
    """

    def __aiter__(self) -> AsyncIterator[RunSummary]:
        return ASYNC_DRIVER.stream(self._pages())

    async def all(self) -> list[RunSummary]:
        return [run async for run in self]

    async def first(self) -> RunHandle | None:
        """Return the newest run, or None."""
        async for run in ASYNC_DRIVER.stream(self._pages(limit=1)):
            return RunHandle(run.id)
        return None

    async def handles(self) -> list[RunHandle]:
        return [RunHandle(run.id) async for run in self]

    async def count(self) -> int:
        return len(await self.all())


class SyncRunScope(FilteredRuns):
    """A set of runs without an event loop: `for run in detent.sync.runs(Signup): ...`."""

    def __iter__(self) -> Iterator[RunSummary]:
        return DRIVER.stream(self._pages())

    def all(self) -> list[RunSummary]:
        return list(self)

    def first(self) -> SyncRunHandle | None:
        """Return the newest run, or None."""
        for run in DRIVER.stream(self._pages(limit=1)):
            return SyncRunHandle(run.id)
        return None

    def handles(self) -> list[SyncRunHandle]:
        return [SyncRunHandle(run.id) for run in self]

    def count(self) -> int:
        return len(self.all())


def filter_of(workflow: Any, status: str | Iterable[str] | None, hero: Any, more: dict[str, Any]) -> RunFilter:
    """Build the filter of the arguments of `runs`."""
    which: dict[str, Any] = dict(more)
    if workflow is not None:
        which["workflow"] = named(workflow)[0]
    if status is not None:
        which["status"] = status
    if hero is not None:
        which["hero"] = hero_pair(hero)
    return cast(RunFilter, which)


def runs(workflow: Any = None, *, status: str | Iterable[str] | None = None, hero: Any = None, **more: Any) -> RunScope:
    """Return the runs of a workflow, or all runs. `more` are other fields of `RunFilter`, such as `labels`."""
    return RunScope(filter_of(workflow, status, hero, more))


def sync_runs(
    workflow: Any = None, *, status: str | Iterable[str] | None = None, hero: Any = None, **more: Any
) -> SyncRunScope:
    """Return the runs of a workflow, or all runs, without an event loop."""
    return SyncRunScope(filter_of(workflow, status, hero, more))
