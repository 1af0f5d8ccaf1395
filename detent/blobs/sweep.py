"""The sweep: delete uses of runs that do not exist any more, then blobs without a use, then their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.blobs.library import BlobLibrary
from detent.errors import StoreError
from detent.instant import micros
from detent.observe import emit
from detent.store.blobs.rows import UploadRow, UseKey

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
        self._upload: bytes | None = None  # the last upload that could not be deleted in this pass
        self._is_in_uses = True

    async def poll(self) -> float:
        store = self._library.store
        before = await store.now() - micros(self._grace)
        if self._is_in_uses:
            _, self._use = await store.drop_uses(before=before, after=self._use, limit=_BATCH)
            self._is_in_uses = self._use is not None
            return _PAUSE
        count, self._blob = await store.drop_blobs(before=before, after=self._blob, limit=_BATCH)
        doomed = await store.stale_uploads(before=before, limit=_BATCH, after=self._upload)
        left = await self._delete(doomed)
        if len(doomed) > left:
            emit("blobs.swept", uploads=len(doomed) - left, blobs=count)
        has_more = len(doomed) == _BATCH
        if left:  # go on after those that cannot be deleted; the next pass tries them again
            self._upload = doomed[-1].id
        if self._blob is not None or has_more:
            return _PAUSE
        self._is_in_uses = True
        self._upload = None
        return INTERVAL

    async def _delete(self, uploads: Sequence[UploadRow]) -> int:
        """Delete uploads. Return how many cannot be deleted now, because their place does not answer."""
        left, why = 0, ""
        for row in uploads:
            try:
                await self._library.delete(row)
            except StoreError as error:
                left, why = left + 1, error.message
        if left:
            emit("engine.error", where=self.name, error=why, uploads=left)
        return left

    async def sweep(self) -> None:
        """Make one whole pass."""
        while await self.poll() != INTERVAL:
            pass
