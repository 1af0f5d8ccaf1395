"""The memory store of a test: it reports each checkpoint before and after it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Never

from detent.clock import Clock
from detent.store.memory.store import MemoryStore
from detent.store.memory.tables import StoredRun
from detent.store.rows import ClaimResult, Flush, Flushed


class WatchedStore(MemoryStore):
    """A memory store that a test can watch.

    It calls `checkpoint` before and after every flush that writes an entry, a start or an end. Calls of a dead process
    never return; `is_dead` returns whether the calling process is dead.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.checkpoint: Callable[[str, Flush], None] = lambda when, flush: None
        self.is_dead: Callable[[], bool] = lambda: False

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        await self._arrive()
        if not (flush.entries or flush.starts or flush.ends):
            return await super().flush(node, epoch, flush, again=again, patience=patience)
        self.checkpoint("before", flush)
        await self._arrive()
        flushed = await super().flush(node, epoch, flush, again=again, patience=patience)
        self.checkpoint("after", flush)
        await self._arrive()
        return flushed

    async def claim(
        self,
        node: bytes,
        epoch: int,
        *,
        limit: int,
        queues: Collection[str] | None,
        serves: Collection[str],
        horizon: int,
    ) -> ClaimResult | None:
        await self._arrive()
        return await super().claim(node, epoch, limit=limit, queues=queues, serves=serves, horizon=horizon)

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        await self._arrive()
        await super().release(node, epoch, runs)

    async def _arrive(self) -> None:
        if self.is_dead():
            await for_ever()

    def parked(self) -> list[StoredRun]:
        """Return the runs without an owner that wait for a time."""
        return [run for run in self.table.values() if run.is_open() and run.owner is None and run.wake_at is not None]

    def end_lease(self, node: bytes) -> None:
        """Make the lease of a node expire."""
        if node in self.leases:
            self.leases[node] = self.clock.wall() - 1

    def has_id(self, id_: bytes) -> bool:
        """Return whether a row with that id exists."""
        return id_ in self.table or id_ in self.saved or id_ in self.rules

    def open_run(self, run: bytes) -> StoredRun | None:
        """Return the run, or None if it has ended."""
        row = self.table.get(run)
        return row if row is not None and row.is_open() else None


async def for_ever() -> Never:
    """Never return."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError("this future is never done")


__all__ = ["WatchedStore", "for_ever"]
