"""The sweep: delete uses of runs that do not exist any more, then blobs without a use, then their bytes."""

from __future__ import annotations

from typing import Final

from detent.blobs.library import BlobLibrary
from detent.instant import micros
from detent.observe import emit
from detent.store.blobs.rows import UseKey

#: Seconds without a touch after which a blob that no run names is deleted.
GRACE: Final = 3600.0
INTERVAL: Final = 300.0
_BATCH: Final = 500
#: Between two batches, so that flushes are not delayed.
_PAUSE: Final = 0.05


class BlobSweep:
    """The poller that deletes what no run names. Several nodes may run it: each step is one transaction."""

    name = "sweep of blobs"

    def __init__(self, library: BlobLibrary, *, grace: float = GRACE) -> None:
        self._library, self._grace = library, grace
        self._use: UseKey | None = None  # where the pass over the uses goes on
        self._blob: bytes | None = None
        self._is_in_uses = True

    async def poll(self) -> float:
        store = self._library.store
        before = await store.now() - micros(self._grace)
        if self._is_in_uses:
            _, self._use = await store.drop_uses(before=before, after=self._use, limit=_BATCH)
            self._is_in_uses = self._use is not None
            return _PAUSE
        count, self._blob = await store.drop_blobs(before=before, after=self._blob, limit=_BATCH)
        doomed = await store.stale_uploads(before=before, limit=_BATCH)
        for row in doomed:
            await self._library.delete(row)
        if doomed:
            emit("blobs.swept", uploads=len(doomed), blobs=count)
        if self._blob is not None or len(doomed) == _BATCH:
            return _PAUSE
        self._is_in_uses = True
        return INTERVAL

    async def sweep(self) -> None:
        """Make one whole pass."""
        while await self.poll() != INTERVAL:
            pass
