"""Uses: which run or firing names which blob. They are durable before what names the blob."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

from detent.errors import CommitUnknown, StoreBusy, StoreError
from detent.observe import emit
from detent.store.blobs.rows import BlobStore, UseKey
from detent.store.rows import Flush
from detent.values.blob import MARK, named_blobs

#: Seconds between two attempts to write uses while the database does not answer.
_PAUSE: Final = 0.2
_input: Final = attrgetter("input")
_data: Final = attrgetter("data")


def uses_in(flush: Flush) -> dict[int, list[UseKey]]:
    """Return the blobs that a flush names, with the runs that then name them, by tenant."""
    found: dict[int, list[UseKey]] = {}
    # Most flushes name none. One look at all bytes costs less than a look at each row.
    if b"".join(map(_input, flush.starts)).find(MARK) >= 0:
        for start in flush.starts:
            _add(found, start.tenant, start.id, start.input)
    if b"".join(map(_data, flush.entries)).find(MARK) >= 0:
        for entry in flush.entries:
            _add(found, entry.tenant, entry.run, entry.data)
    for message in flush.messages:
        _add(found, message.tenant, message.run, message.data)
    return found


def _add(found: dict[int, list[UseKey]], tenant: int, run: bytes, raw: bytes) -> None:
    if MARK in raw:
        found.setdefault(tenant, []).extend((run, one) for one in named_blobs(raw))


class BlobUses:
    """Writes the uses of a flush before the flush is sent."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store

    async def note(self, found: dict[int, list[UseKey]], may_wait: Callable[[], bool]) -> None:
        """Write uses. While `may_wait`, wait for a database that does not answer; else the flush cannot be written
        anyway."""
        for tenant, uses in found.items():
            while True:
                if await self._is_noted(tenant, uses) or not may_wait():
                    break
                await asyncio.sleep(_PAUSE)

    async def _is_noted(self, tenant: int, uses: Sequence[UseKey]) -> bool:
        try:
            await self._store.use_blobs(tenant, uses)
        except (StoreBusy, CommitUnknown):
            return False
        except StoreError as error:  # a retry would not change it, and the flush is more than its blobs
            emit("engine.error", where="uses of blobs", error=error.message)
        return True
