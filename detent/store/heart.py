"""A heart as a task of the running loop: for stores that live in this process, and under simulated time."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from detent.clock import Clock
from detent.errors import StoreError

#: How long the engine's loop may stand still before its heart stops beating.
STANDSTILL: Final = 30.0


class Beats(Protocol):
    async def beat(self, node: bytes, *, ttl: float) -> int | None: ...


class TaskHeart:
    """Beats on the engine's own loop."""

    def __init__(
        self,
        store: Beats,
        node: bytes,
        *,
        clock: Clock,
        ttl: float,
        interval: float,
        confirmed: float | None = None,
    ) -> None:
        """`confirmed` is when the registration was sent; null if that is just now."""
        self._store, self._node, self._clock = store, node, clock
        self._ttl, self._interval = ttl, interval
        self._touched = clock.monotonic()
        self._confirmed = self._touched if confirmed is None else confirmed
        self._lost = False
        self._beating: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._beating = asyncio.get_running_loop().create_task(self._beat())

    def touch(self) -> None:
        self._touched = self._clock.monotonic()

    def confirmed(self) -> float:
        return self._confirmed

    def lost(self) -> bool:
        return self._lost

    async def stop(self) -> None:
        if self._beating:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)

    async def _beat(self) -> None:
        while not self._lost:
            sent = self._clock.monotonic()
            if sent - self._touched < STANDSTILL:
                await self._send(sent)
            await asyncio.sleep(self._interval)

    async def _send(self, sent: float) -> None:
        try:
            answer = await self._store.beat(self._node, ttl=self._ttl)
        except StoreError:
            return  # not confirmed: the engine stops itself in time if this lasts
        if answer is None:
            self._lost = True
        else:
            self._confirmed = sent


class QuietHeart:
    """The heart of a node whose lease is a lock of the operating system: it cannot be lost while the process lives."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def start(self) -> None:
        return None

    def touch(self) -> None:
        return None

    def confirmed(self) -> float:
        return self._clock.monotonic()

    def lost(self) -> bool:
        return False

    async def stop(self) -> None:
        return None
