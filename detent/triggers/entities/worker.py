"""The parts of a process that receive and process entity events, and its poller.

The poller takes the events that another process left, and those that an application wrote itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from detent.commands import EngineCommands
from detent.ids import NewId
from detent.instant import Instant
from detent.observe.failpoints import reach
from detent.store.events import EventStore
from detent.triggers.entities.intake import EventIntake
from detent.triggers.entities.matcher import RuleMatcher
from detent.triggers.entities.processor import EntityEventStore, EventProcessor

#: How many events are taken together, and for how many seconds.
BATCH: Final = 500
LEASE: Final = 10.0
#: Seconds between two looks while events come, and after so many looks that found none.
INTERVAL: Final = 0.25
IDLE_INTERVAL: Final = 1.0
IDLE_AFTER: Final = 40


class LeftEvents:
    """A poller that takes and processes events whose head start is over."""

    name = "entity events"

    def __init__(self, store: EventStore, processor: EventProcessor) -> None:
        self._store = store
        self._processor = processor
        self._in_vain = 0  # looks since the last event

    async def poll(self) -> float:
        rows = await self._store.take_events(limit=BATCH, lease=LEASE)
        if not rows:
            self._in_vain += 1
            return INTERVAL if self._in_vain < IDLE_AFTER else IDLE_INTERVAL
        self._in_vain = 0
        reach("after_take")
        # An event that this process is still busy with is left to it. In the order of their ids, so that the runs of
        # one record are accepted in the order of its changes.
        mine = [row for row in rows if row.id not in self._processor.busy]
        await asyncio.gather(*(self._processor.process(row.as_new(), row.revision) for row in mine))
        return 0.0 if len(rows) == BATCH else INTERVAL


class EntityEvents:
    """The parts of one process that receive and process entity events."""

    def __init__(
        self, commands: EngineCommands, store: EntityEventStore, *, now: Callable[[], Instant], new_id: NewId
    ) -> None:
        self.matcher = RuleMatcher(store)
        self.processor = EventProcessor(commands, store, self.matcher, now=now, new_id=new_id)
        self.intake = EventIntake(store, self.processor)
        self.left = LeftEvents(store, self.processor)

    async def close(self) -> None:
        """Wait for events that are being processed, and end those that have been."""
        await self.intake.close()
        await self.processor.ends.close()
