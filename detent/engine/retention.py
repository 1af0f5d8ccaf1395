"""Deletes runs that ended long ago, a batch at a time, and gives their space back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.clock import Clock
from detent.instant import micros
from detent.observe import emit
from detent.store.protocol import KeeperStore

BATCH: Final = 500
PAUSE: Final = 0.05  # between two batches, so that flushes come first
INTERVAL: Final = 60.0
COMPACT_INTERVAL: Final = 3600.0


class Retention:
    """`keep` holds (status, seconds). Without any, only the small chores of the store are done."""

    name = "retention"

    def __init__(self, store: KeeperStore, clock: Clock, keep: Sequence[tuple[str, int]]) -> None:
        self._store, self._clock, self._keep = store, clock, tuple(keep)
        self._deleted = 0  # since the space was last given back
        self._compacted: float | None = None

    async def poll(self) -> float:
        now = await self._store.now()
        for status, seconds in self._keep:
            count = await self._store.prune(before=now - micros(seconds), statuses=[status], limit=BATCH)
            self._deleted += count
            if count:
                emit("retention.pruned", status=status, runs=count)
            if count == BATCH:
                return PAUSE
        await self._compact_if_worth()
        await self._store.tidy()
        return INTERVAL

    async def _compact_if_worth(self) -> None:
        now = self._clock.monotonic()
        if self._deleted and (self._compacted is None or now - self._compacted >= COMPACT_INTERVAL):
            self._deleted, self._compacted = 0, now
            await self._store.compact()
