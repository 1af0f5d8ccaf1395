"""The intake of entity events: one commit for all that arrived during the last commit.

This delays no event: the first one is sent at once, and those that arrive meanwhile form the next batch. An event is
matched only after the commit that stored it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from detent.errors import Unavailable
from detent.observe.failpoints import reach
from detent.store.events import AddedEvent, EventStore, NewEvent
from detent.triggers.entities.processor import EventProcessor, Processed

#: How many events and bytes are stored together.
MOST: Final = 1_000
MOST_BYTES: Final = 4_000_000
#: How many bytes may wait to be stored.
MOST_WAITING: Final = 32_000_000
#: How many events may be processed at once. More of them wait for the poller.
MOST_BUSY: Final = 10_000
#: For this many seconds an event is left to the process that received it.
HEAD_START: Final = 5.0
#: How many seconds a process that stops waits for its events.
STOPPING: Final = 3.0


@dataclass(slots=True, eq=False)
class Arrival:
    """Events that were sent together. `stored` is done when they are durable.

    `processed` has the result of each new event, if the sender waits for it."""

    events: Sequence[NewEvent]
    stored: asyncio.Future[list[AddedEvent]]
    processed: list[asyncio.Future[Processed]] | None = None

    def size(self) -> int:
        return sum(len(event.data) for event in self.events)


class EventIntake:
    """The queue of events that wait for their commit. It sends one batch at a time."""

    def __init__(self, store: EventStore, processor: EventProcessor) -> None:
        self._store = store
        self._processor = processor
        self._waiting: deque[Arrival] = deque()
        self._bytes = 0
        self._sending: asyncio.Task[None] | None = None
        self._busy: set[asyncio.Task[None]] = set()

    async def store(self, events: Sequence[NewEvent], *, watch: bool = False) -> tuple[list[AddedEvent], Arrival]:
        """Store events, then start their rules in the background. When this returns they are durable."""
        if self._bytes > MOST_WAITING:
            raise Unavailable("too many events wait to be stored; try again in a moment")
        loop = asyncio.get_running_loop()
        arrival = Arrival(events, loop.create_future(), [loop.create_future() for _ in events] if watch else None)
        self._waiting.append(arrival)
        self._bytes += arrival.size()
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await arrival.stored, arrival

    async def close(self) -> None:
        """Wait a few seconds for events that are being processed, then leave them to another process."""
        busy = [*self._busy, *([self._sending] if self._sending else [])]
        if busy:
            await asyncio.wait(busy, timeout=STOPPING)
        for work in busy:
            work.cancel()
        await asyncio.gather(*busy, return_exceptions=True)

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._send_batch(self._take())
        finally:
            self._sending = None

    def _take(self) -> list[Arrival]:
        batch: list[Arrival] = []
        count = size = 0
        while self._waiting:
            arrival = self._waiting[0]
            more = arrival.size()
            if batch and (count + len(arrival.events) > MOST or size + more > MOST_BYTES):
                break
            batch.append(self._waiting.popleft())
            count += len(arrival.events)
            size += more
            self._bytes -= more
        return batch

    async def _send_batch(self, batch: list[Arrival]) -> None:
        events = [event for arrival in batch for event in arrival.events]
        try:
            added = await self._store.add_events(events, head_start=HEAD_START)
        except BaseException as error:
            for arrival in batch:
                if not arrival.stored.done():
                    arrival.stored.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            if not isinstance(error, Exception):
                raise
            return
        reach("after_event")
        begin = 0
        for arrival in batch:
            mine = added[begin : begin + len(arrival.events)]
            begin += len(mine)
            if not arrival.stored.done():
                arrival.stored.set_result(mine)
            self._process(arrival, mine)

    def _process(self, arrival: Arrival, added: Sequence[AddedEvent]) -> None:
        for place, (event, found) in enumerate(zip(arrival.events, added, strict=True)):
            if not found.is_new or len(self._busy) >= MOST_BUSY:
                continue
            watcher = None if arrival.processed is None else arrival.processed[place]
            work = asyncio.create_task(self._process_one(event, found.revision, watcher))
            self._busy.add(work)
            work.add_done_callback(self._busy.discard)

    async def _process_one(
        self, event: NewEvent, revision: int | None, watcher: asyncio.Future[Processed] | None
    ) -> None:
        done = await self._processor.process(event, revision)
        if watcher is not None and not watcher.done():
            watcher.set_result(done)
