"""The background work of a node for triggers: take slots, process firings, delete old ones."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from detent.clock import Clock
from detent.engine.background import Polling
from detent.errors import StoreError, Unavailable
from detent.forms.schedule import MOST_SLOTS, Missed, jittered, missed, next_slots, slots_between
from detent.ids import NewId
from detent.instant import SECOND, Instant, iso, micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.store.protocol import TriggerStore
from detent.store.trigger_rows import FiringRow, FiringState, NewFiring, TriggerRow, Verdict
from detent.triggers.processor import Processor
from detent.triggers.record import encode_reason, reason

# Schedules: each due slot is taken by one node and becomes a firing.
#
# Slots are at whole seconds of the database's clock. So polling right after each second is enough to be on time, and an
# idle node sends one query per second.


#: A slot that is at most this many seconds late is not missed.
GRACE: Final = 60.0
#: How many triggers are read together, and how many slots of one trigger are taken at once.
SCHEDULE_BATCH: Final = 200
MOST_AT_ONCE: Final = 500
_SIDE_BY_SIDE: Final = 16
#: A schedule that cannot be read is tried again after this long.
_AFTER_TROUBLE: Final = 3600 * SECOND
_TICK: Final = 1.0
#: The node's idea of the database's time may be slightly behind it, never ahead.
_AFTER_THE_SECOND: Final = 0.002


class Taken(NamedTuple):
    """The decision about due slots: those to start, those passed over, and when to look again."""

    slots: list[Instant]
    passed: int
    passed_more: bool  # `passed` is only a part of them
    next_at: Instant | None


def take(config: dict[str, Any], since: Instant, now: Instant) -> Taken:
    """Decide about the slots from `since` (a slot itself) to `now`. Pure.

    `next_at` may already be due: the next poll takes the rest of a long time."""
    cron, timezone, policy = config["cron_expression"], config["timezone"], Missed(config["missed"])
    window = float(config["missed_window"])
    if policy is not Missed.ALL:
        found = slots_between(cron, timezone, since - 1, now)
        due = missed(policy, found.slots, now, window, GRACE)
        return Taken(due.to_start, due.dropped, found.more, _after(cron, timezone, now))
    begin = max(since, now - micros(max(window, GRACE)))
    passed = slots_between(cron, timezone, since - 1, begin - 1)
    slots = [slot for slot in next_slots(cron, timezone, begin - 1, MOST_AT_ONCE) if slot <= now]
    return Taken(slots, len(passed.slots), passed.more, _after(cron, timezone, slots[-1] if slots else now))


def until_next_second(now: Instant) -> float:
    """Return how many seconds remain until slots may be due."""
    return (SECOND - now % SECOND) / SECOND + _AFTER_THE_SECOND


class Schedules:
    """A poller that takes due slots. It calls `taken` when there are firings to process."""

    name = "schedules"

    def __init__(
        self, store: TriggerStore, *, now: Callable[[], Instant], new_id: NewId, taken: Callable[[], None]
    ) -> None:
        self._store, self._now, self._new_id, self._taken = store, now, new_id, taken
        self._room = asyncio.Semaphore(_SIDE_BY_SIDE)

    async def poll(self) -> float:
        due = await self._store.due_triggers(limit=SCHEDULE_BATCH)
        behind = await asyncio.gather(*(self._take(trigger) for trigger in due))
        if due:
            self._taken()
        if len(due) == SCHEDULE_BATCH or any(behind):
            return 0.0
        return min(_TICK, until_next_second(self._now()))

    async def _take(self, trigger: TriggerRow) -> bool:
        """Take the due slots of one schedule. Return True if there are more."""
        async with self._room:
            since = trigger.next_at or 0
            # The database reported the slot as due, and our own idea of its time may be behind.
            now = max(self._now(), since)
            try:
                next_at, firings = self._firings(trigger, since, now)
            except Exception as error:  # noqa: BLE001 - one schedule that cannot be read must not stop the others
                emit("engine.error", where=self.name, error=repr(error)[:500])
                why = encode_reason(reason("schedule", f"the schedule cannot be read: {error!r}"))
                next_at, firings = now + _AFTER_TROUBLE, [self._new(trigger, FiringState.ERRORED, now, message=why)]
            if await self._store.take_slots(trigger.tenant, trigger.id, seen=since, next_at=next_at, firings=firings):
                reach("after_slots")
            return next_at is not None and next_at <= now

    def _firings(self, trigger: TriggerRow, since: Instant, now: Instant) -> tuple[Instant | None, Sequence[NewFiring]]:
        config = json.loads(trigger.config)
        taken = take(config, since, now)
        if not trigger.workflow_enabled:
            return taken.next_at, ()
        jitter = float(config["jitter"])
        firings = [
            self._new(trigger, FiringState.DUE, jittered(trigger.id, slot, jitter), slot=slot) for slot in taken.slots
        ]
        if taken.passed:
            message = _missed_message(taken, since, now, str(config["missed"]))
            firings.insert(0, self._new(trigger, FiringState.MISSED, now, message=message))
        return taken.next_at, firings

    def _new(self, trigger: TriggerRow, state: FiringState, due_at: Instant, **more: Any) -> NewFiring:
        return NewFiring(self._new_id(), trigger.tenant, trigger.id, trigger.workflow, "cron", state, due_at, **more)


def _after(cron: str, timezone: str, slot: Instant) -> Instant | None:
    return next(iter(next_slots(cron, timezone, slot)), None)


def _missed_message(taken: Taken, since: Instant, now: Instant, policy: str) -> str:
    """Say which slots started no run, and what was started instead."""
    count = f"more than {MOST_SLOTS}" if taken.passed_more else str(taken.passed)
    slots = "slot" if count == "1" else "slots"
    late = [slot for slot in taken.slots if now - slot > micros(GRACE)]
    if not late:
        done = "no run was started for a slot that was missed"
    elif len(late) == 1:
        done = f"the slot of {iso(late[0])} was started late"
    else:
        done = f"{len(late)} slots from {iso(late[0])} on were started late"
    return (
        f"{count} {slots} from {iso(since)} on passed while no node was running and started nothing; {done} "
        f"(missed: {policy}, noticed {iso(now)})"
    )


#: How many firings are processed at once, and how many are read together.
MOST: Final = 16
FIRING_BATCH: Final = 64
#: A firing that waits for another one, or could not be started, is deferred for this many seconds.
REST: Final = 0.1
REST_AFTER_TROUBLE: Final = 1.0
FIRINGS_KEPT: Final = 30 * 86_400 * SECOND
_PRUNED: Final = 1_000
_PRUNING: Final = 600.0
_STOPPING: Final = 3.0


class Firings:
    """A poller that processes due firings, including those that another node has begun and not ended."""

    name = "firings"

    def __init__(self, store: TriggerStore, processor: Processor, *, now: Callable[[], Instant], clock: Clock) -> None:
        self._store, self._processor, self._now, self._clock = store, processor, now, clock
        self._room = asyncio.Semaphore(MOST)
        self._busy: dict[bytes, asyncio.Task[None]] = {}
        self._resting: dict[bytes, float] = {}
        self.nudge: Callable[[], None] = _nothing  # ends the pause of the poller

    async def poll(self) -> float:
        while len(self._busy) >= MOST:
            await asyncio.wait(self._busy.values(), return_when=asyncio.FIRST_COMPLETED)
        self._wake()
        limit = FIRING_BATCH + len(self._resting) + len(self._busy)
        found = await self._store.due_firings(limit=limit)
        for row in found:
            if row.id not in self._busy and row.id not in self._resting:
                self._busy[row.id] = asyncio.create_task(self._process(row))
        if len(found) == limit:
            return 0.0
        return min([_TICK, until_next_second(self._now()), *self._rests()])

    async def stop(self) -> None:
        """Wait a few seconds for firings that are being processed, then cancel them."""
        busy = list(self._busy.values())
        if busy:
            await asyncio.wait(busy, timeout=_STOPPING)
        for one in busy:
            one.cancel()
        await asyncio.gather(*busy, return_exceptions=True)

    async def _process(self, firing: FiringRow) -> None:
        try:
            async with self._room:
                turn = await self._processor.process(firing)
            if turn.verdict is Verdict.WAIT:
                self._rest(firing, REST)
            elif turn.pause:
                self._rest(firing, turn.pause)
        except (StoreError, Unavailable) as error:
            emit("engine.error", where=self.name, error=error.message)
            self._rest(firing, REST_AFTER_TROUBLE)
        except Exception as error:  # noqa: BLE001 - a bug of ours in one firing must not stop the others
            emit("engine.error", where=self.name, error="".join(traceback.format_exception(error))[-4000:])
            self._rest(firing, REST_AFTER_TROUBLE)
            await self._give_up(firing, error)
        finally:
            self._busy.pop(firing.id, None)

    async def _give_up(self, firing: FiringRow, error: Exception) -> None:
        try:
            await self._processor.fail(firing, error)
        except StoreError as trouble:
            emit("engine.error", where=self.name, error=trouble.message)

    def _rest(self, firing: FiringRow, seconds: float) -> None:
        self._resting[firing.id] = self._clock.monotonic() + seconds
        self.nudge()  # the poller may have decided on a longer pause before

    def _wake(self) -> None:
        now = self._clock.monotonic()
        self._resting = {firing: until for firing, until in self._resting.items() if until > now}

    def _rests(self) -> list[float]:
        now = self._clock.monotonic()
        return [max(0.01, until - now) for until in self._resting.values()]


def _nothing() -> None:
    pass


class OldFirings:
    """A poller that deletes firings that ended long ago."""

    name = "old firings"

    def __init__(self, store: TriggerStore, *, now: Callable[[], Instant]) -> None:
        self._store, self._now = store, now

    async def poll(self) -> float:
        count = await self._store.prune_firings(before=self._now() - FIRINGS_KEPT, limit=_PRUNED)
        return _TICK if count == _PRUNED else _PRUNING


class TriggerWork:
    """All background work for triggers of one node. Any number of nodes may run it on the same store."""

    def __init__(
        self, store: TriggerStore, processor: Processor, *, now: Callable[[], Instant], clock: Clock, new_id: NewId
    ) -> None:
        self._firings = Firings(store, processor, now=now, clock=clock)
        self._processing = Polling(self._firings)
        self._firings.nudge = self._processing.nudge
        schedules = Schedules(store, now=now, new_id=new_id, taken=self._processing.nudge)
        self._pollings = (self._processing, Polling(schedules), Polling(OldFirings(store, now=now)))

    async def work(self) -> None:
        """Run until it is cancelled."""
        try:
            await asyncio.gather(*(_for_ever(polling) for polling in self._pollings))
        finally:
            await self._firings.stop()


async def _for_ever(polling: Polling) -> None:
    while True:
        try:
            await polling.work()
        except Exception as error:  # noqa: BLE001 - a bug of ours: start again rather than stop
            emit("engine.error", where="triggers", error="".join(traceback.format_exception(error))[-4000:])
            await asyncio.sleep(REST_AFTER_TROUBLE)
