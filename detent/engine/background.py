"""Loops beside the work: how each is run (`Polling`), takeovers, the watchdog, retention and presence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from detent.clock import Clock
from detent.engine.claims import Claims
from detent.engine.committer import Committer, Fenced
from detent.engine.runner import Runner
from detent.engine.tuning import Tuning
from detent.errors import StoreError
from detent.instant import micros
from detent.observe import emit
from detent.store.protocol import CommandStore, MaintenanceStore, NodeStore


class Poller(Protocol):
    """Something done again and again."""

    name: str

    async def poll(self) -> float:
        """Do a batch; give the seconds until the next one is due."""


class Polling:
    """Runs a poller for ever. Trouble with the store is told and tried again; `nudge` cuts the pause short."""

    def __init__(self, poller: Poller, *, after_trouble: float = 0.5) -> None:
        self._poller = poller
        self._after_trouble = after_trouble
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        self._nudged.set()

    async def work(self) -> None:
        while True:
            self._nudged.clear()
            try:
                pause = await self._poller.poll()
            except Fenced:
                raise
            except StoreError as error:
                emit("engine.error", where=self._poller.name, error=error.message)
                pause = self._after_trouble
            _stop_if_told()
            if pause > 0:
                await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._nudged.wait()
        except TimeoutError:
            return


def _stop_if_told() -> None:
    """A cancellation may be lost in what a poll calls, with an error or without, and nobody says it twice: who waits
    for this to end would wait for ever."""
    this = asyncio.current_task()
    if this is not None and this.cancelling():
        raise asyncio.CancelledError


# Deletes runs that ended long ago, a batch at a time, and gives their space back.


BATCH: Final = 500
PAUSE: Final = 0.05  # between two batches, so that flushes come first
RETENTION_INTERVAL: Final = 60.0
COMPACT_INTERVAL: Final = 3600.0


class Retention:
    """`keep` holds (status, seconds). Without any, only the small chores of the store are done."""

    name = "retention"

    def __init__(self, store: MaintenanceStore, clock: Clock, keep: Sequence[tuple[str, int]]) -> None:
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
        return RETENTION_INTERVAL

    async def _compact_if_worth(self) -> None:
        now = self._clock.monotonic()
        if self._deleted and (self._compacted is None or now - self._compacted >= COMPACT_INTERVAL):
            self._deleted, self._compacted = 0, now
            await self._store.compact()


# Notes now and then what this node serves, so that people can be told when a queue or an action was last served.


PRESENCE_INTERVAL: Final = 30.0
ANY_QUEUE: Final = "*"


class Presence:
    """`queues` null means all of them."""

    name = "presence"

    def __init__(self, store: CommandStore, *, queues: Sequence[str] | None, actions: Sequence[str]) -> None:
        served = [("queue", queue) for queue in ((ANY_QUEUE,) if queues is None else queues)]
        self._store, self._served = store, [*served, *(("action", action) for action in actions)]

    async def poll(self) -> float:
        await self._store.record_served(self._served)
        return PRESENCE_INTERVAL


class Takeovers:
    """Removes nodes whose lease is over; their runs are then claimed like any other."""

    name = "takeovers"

    def __init__(self, store: NodeStore, node: bytes, *, tuning: Tuning, freed: Callable[[], None]) -> None:
        """`freed` is called when there are runs to be claimed that were not there before."""
        self._store, self._node, self._tuning, self._freed = store, node, tuning, freed

    async def poll(self) -> float:
        for node in await self._store.overdue():
            if node != self._node and await self._store.take_over(node):
                emit("node.taken_over", node=node)
                self._freed()
        return min(self._tuning.lease / 10, 1.0)


class Watchdog:
    """Finds runs that this node owns but does not hold: a claim whose reply was lost.

    A run is given back only when nothing of it can still be on its way: it was loose before with the same generation,
    every claim that had been sent by then is over, and no write of it is waiting."""

    name = "watchdog"

    def __init__(
        self,
        store: NodeStore,
        node: bytes,
        *,
        runner: Runner,
        committer: Committer,
        claims: Claims,
        tuning: Tuning,
    ) -> None:
        self._store, self._node, self._runner, self._claims = store, node, runner, claims
        self._committer, self._tuning = committer, tuning
        self._suspects: dict[tuple[bytes, int], int] = {}  # with the number of claims begun when it was first seen

    async def poll(self) -> float:
        owned = await self._store.owned(self._node)
        sent = self._claims.begun
        loose = {key: self._suspects.get(key, sent) for key in owned if not self._runner.knows(*key)}
        lost = [key for key, claim in loose.items() if key in self._suspects and claim <= self._claims.ended]
        self._suspects = loose
        if lost and not self._committer.is_unsure:
            await self._store.release(self._node, self._committer.epoch, lost)
        return self._tuning.watch
