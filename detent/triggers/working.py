"""What a node does for triggers all the time: take slots, process firings, forget old ones."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Final

from detent.clock import Clock
from detent.engine.poller import Polling
from detent.errors import StoreError, Unavailable
from detent.ids import NewId
from detent.instant import SECOND, Instant
from detent.observe import emit
from detent.store.protocol import TriggerStore
from detent.store.trigger_rows import FiringRow, Verdict
from detent.triggers.processing import Processor
from detent.triggers.schedules import Schedules, until_next_second

#: So many firings are processed at once, and so many are looked for together.
MOST: Final = 16
BATCH: Final = 64
#: A firing that has to wait for another one, or whose start was not possible, is left alone for so many seconds.
REST: Final = 0.1
REST_AFTER_TROUBLE: Final = 1.0
FIRINGS_KEPT: Final = 30 * 86_400 * SECOND
_PRUNED: Final = 1_000
_PRUNING: Final = 600.0
_TICK: Final = 1.0
_STOPPING: Final = 3.0


class Firings:
    """A poller: processes the firings that are due, those too that another node has begun and not ended."""

    name = "firings"

    def __init__(self, store: TriggerStore, processor: Processor, *, now: Callable[[], Instant], clock: Clock) -> None:
        self._store, self._processor, self._now, self._clock = store, processor, now, clock
        self._room = asyncio.Semaphore(MOST)
        self._busy: dict[bytes, asyncio.Task[None]] = {}
        self._resting: dict[bytes, float] = {}

    async def poll(self) -> float:
        while len(self._busy) >= MOST:
            await asyncio.wait(self._busy.values(), return_when=asyncio.FIRST_COMPLETED)
        self._wake()
        limit = BATCH + len(self._resting) + len(self._busy)
        found = await self._store.due_firings(limit=limit)
        for row in found:
            if row.id not in self._busy and row.id not in self._resting:
                self._busy[row.id] = asyncio.create_task(self._process(row))
        if len(found) == limit:
            return 0.0
        return min([_TICK, until_next_second(self._now()), *self._rests()])

    async def stop(self) -> None:
        """Let what is being processed come to its end, for a while."""
        busy = list(self._busy.values())
        if busy:
            await asyncio.wait(busy, timeout=_STOPPING)
        for one in busy:
            one.cancel()
        await asyncio.gather(*busy, return_exceptions=True)

    async def _process(self, firing: FiringRow) -> None:
        try:
            async with self._room:
                verdict = await self._processor.process(firing)
            if verdict is Verdict.WAIT:
                self._rest(firing, REST)
        except (StoreError, Unavailable) as error:
            emit("engine.trouble", where=self.name, error=error.message)
            self._rest(firing, REST_AFTER_TROUBLE)
        except Exception as error:  # noqa: BLE001 - a mistake of ours in one firing must not stop the others
            emit("engine.trouble", where=self.name, error="".join(traceback.format_exception(error))[-4000:])
            self._rest(firing, REST_AFTER_TROUBLE)
            await self._give_up(firing, error)
        finally:
            self._busy.pop(firing.id, None)

    async def _give_up(self, firing: FiringRow, error: Exception) -> None:
        try:
            await self._processor.fail(firing, error)
        except StoreError as trouble:
            emit("engine.trouble", where=self.name, error=trouble.message)

    def _rest(self, firing: FiringRow, seconds: float) -> None:
        self._resting[firing.id] = self._clock.monotonic() + seconds

    def _wake(self) -> None:
        now = self._clock.monotonic()
        self._resting = {firing: until for firing, until in self._resting.items() if until > now}

    def _rests(self) -> list[float]:
        now = self._clock.monotonic()
        return [max(0.01, until - now) for until in self._resting.values()]


class OldFirings:
    """A poller: deletes firings that ended long ago."""

    name = "old firings"

    def __init__(self, store: TriggerStore, *, now: Callable[[], Instant]) -> None:
        self._store, self._now = store, now

    async def poll(self) -> float:
        count = await self._store.prune_firings(before=self._now() - FIRINGS_KEPT, limit=_PRUNED)
        return _TICK if count == _PRUNED else _PRUNING


class TriggerWork:
    """All of it, for one node. Any number of nodes may do it on the same store."""

    def __init__(
        self, store: TriggerStore, processor: Processor, *, now: Callable[[], Instant], clock: Clock, new_id: NewId
    ) -> None:
        self._firings = Firings(store, processor, now=now, clock=clock)
        self._processing = Polling(self._firings)
        schedules = Schedules(store, now=now, new_id=new_id, taken=self._processing.nudge)
        self._pollings = (self._processing, Polling(schedules), Polling(OldFirings(store, now=now)))

    async def work(self) -> None:
        """Until it is cancelled."""
        try:
            await asyncio.gather(*(_for_ever(polling) for polling in self._pollings))
        finally:
            await self._firings.stop()


async def _for_ever(polling: Polling) -> None:
    while True:
        try:
            await polling.work()
        except Exception as error:  # noqa: BLE001 - a mistake of ours: begin anew rather than stand still
            emit("engine.trouble", where="triggers", error="".join(traceback.format_exception(error))[-4000:])
            await asyncio.sleep(REST_AFTER_TROUBLE)
