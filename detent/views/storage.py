"""Measure what the runs of each workflow take in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from detent.documents.overview import StorageDocument, WorkflowStorage
from detent.ids import WORKFLOW, show
from detent.instant import SECOND, Instant, as_datetime
from detent.store.overview_rows import StoredBytes
from detent.store.protocol import Store

#: Storage is measured again after this time, in slices of so many runs.
MEASURED_FOR: Final = 3600 * SECOND
_SLICE: Final = 5_000


class StorageMeasure:
    """Measures what runs take, one measurement at a time, and remembers the last one."""

    def __init__(self, store: Store, now: Callable[[], Instant]) -> None:
        self._store, self._now = store, now
        self._known: dict[int, tuple[int, StorageDocument]] = {}
        self._measuring: dict[int, asyncio.Task[StorageDocument]] = {}

    async def read(self, tenant: int) -> StorageDocument:
        """Return the last measurement, and begin another one if it is old. Without one, wait for the first."""
        now, known = self._now(), self._known.get(tenant)
        if known is None or now - known[0] > MEASURED_FOR:
            measuring = self._measuring.get(tenant)
            if measuring is None:
                measuring = self._measuring[tenant] = asyncio.create_task(self._measure(tenant))
                measuring.add_done_callback(lambda done: self._has_ended(tenant, done))
            if known is None:
                return await asyncio.shield(measuring)
        return known[1]

    def _has_ended(self, tenant: int, done: asyncio.Task[StorageDocument]) -> None:
        self._measuring.pop(tenant, None)
        if not done.cancelled() and done.exception() is None:
            self._known[tenant] = self._now(), done.result()

    async def _measure(self, tenant: int) -> StorageDocument:
        store, after = self._store.for_tenant(tenant), None
        total: dict[bytes, StoredBytes] = {}
        at = await store.now()
        while True:
            found, after = await store.stored_bytes(tenant, after=after, limit=_SLICE)
            for one in found:
                have = total.get(one.workflow, StoredBytes(one.workflow, 0, 0, 0))
                total[one.workflow] = StoredBytes(
                    one.workflow,
                    have.runs + one.runs,
                    have.journal_rows + one.journal_rows,
                    have.bytes + one.bytes,
                )
            if after is None:
                break
        largest = sorted(total.values(), key=lambda one: -one.bytes)
        return StorageDocument(
            database_bytes=await self._store.database_bytes(),
            workflows=[
                WorkflowStorage(
                    workflow_id=show(WORKFLOW, one.workflow),
                    workflow=await self._name(tenant, one.workflow),
                    runs=one.runs,
                    journal_rows=one.journal_rows,
                    bytes=one.bytes,
                )
                for one in largest
            ],
            measured_at=as_datetime(at),
        )

    async def _name(self, tenant: int, workflow: bytes) -> str:
        """Return the name of a workflow, empty if it was deleted."""
        row = await self._store.for_tenant(tenant).workflow(tenant, workflow)
        return "" if row is None else row.name
