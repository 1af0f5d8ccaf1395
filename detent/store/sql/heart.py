"""The heart of a node on a database server: a thread with a loop and a connection of its own.

A step that keeps the engine's loop busy must not cost the lease, so the heart does not live on that loop. But a loop
that stands still for long is as good as dead: then the heart stops too, and another node takes over.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Protocol

from detent.clock import Clock
from detent.errors import StoreError
from detent.store.heart import STANDSTILL


class Pulse(Protocol):
    """The heart's own connection, made on its own loop."""

    async def beat(self) -> bool:
        """Prolong the lease; false if the node is not registered any more."""

    async def close(self) -> None: ...


class ThreadHeart:
    """Prolongs the lease every `interval` seconds, until it is stopped, lost or not touched any more."""

    def __init__(self, pulse: Callable[[], Pulse], *, clock: Clock, interval: float, confirmed: float) -> None:
        self._pulse, self._clock, self._interval = pulse, clock, interval
        self._confirmed, self._touched = confirmed, clock.monotonic()
        self._lost = False
        self._thread = threading.Thread(target=self._run, name="detent-heart", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = asyncio.Event()

    def start(self) -> None:
        self._thread.start()

    def touch(self) -> None:
        self._touched = self._clock.monotonic()

    def confirmed(self) -> float:
        return self._confirmed

    def lost(self) -> bool:
        return self._lost

    async def stop(self) -> None:
        if self._thread.is_alive():
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._ready.wait()
        with contextlib.suppress(RuntimeError):  # its loop is closed: it ended by itself
            if self._loop:
                self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        pulse = self._pulse()
        try:
            while not self._stopped.is_set() and not self._lost:
                await self._once(pulse)
                await self._pause()
        finally:
            await pulse.close()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), self._interval)
        except TimeoutError:
            return

    async def _once(self, pulse: Pulse) -> None:
        sent = self._clock.monotonic()
        if sent - self._touched >= STANDSTILL:
            return
        try:
            is_registered = await pulse.beat()
        except StoreError:
            return  # not confirmed: the engine stops itself in time if this lasts
        if is_registered:
            self._confirmed = sent
        else:
            self._lost = True


def patience(ttl: float) -> float:
    """How long one beat may take: one that hangs must not cost the lease."""
    return max(0.5, ttl / 3)
