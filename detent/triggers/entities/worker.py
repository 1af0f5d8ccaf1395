"""The background work of a node for entity events: those that another process left, or an application wrote itself."""

from __future__ import annotations

import asyncio
from typing import Final

from detent.observe.failpoints import reach
from detent.store.events import EventStore
from detent.triggers.entities.processor import EventProcessor

#: How many events are taken together, and for how many seconds.
BATCH: Final = 500
LEASE: Final = 10.0
INTERVAL: Final = 0.25


class LeftEvents:
    """A poller that takes and processes events whose head start is over."""

    name = "entity events"

    def __init__(self, store: EventStore, processor: EventProcessor) -> None:
        self._store = store
        self._processor = processor

    async def poll(self) -> float:
        rows = await self._store.take_events(limit=BATCH, lease=LEASE)
        if not rows:
            return INTERVAL
        reach("after_take")
        # An event that this process is still busy with is left to it. In the order of their ids, so that the runs of
        # one record are accepted in the order of its changes.
        mine = [row for row in rows if row.id not in self._processor.busy]
        await asyncio.gather(*(self._processor.process(row.as_new(), row.revision) for row in mine))
        return 0.0 if len(rows) == BATCH else INTERVAL
