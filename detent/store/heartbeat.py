"""Heartbeats that renew a node's lease: a task on the engine's loop, a thread, or none at all."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Final, Protocol

from detent.clock import Clock
from detent.errors import StoreError

#: After the engine's loop has been blocked for this many seconds, the heartbeat stops extending the lease.
STANDSTILL: Final = 30.0


class Heartbeat(Protocol):
    """Extends a node's lease independently of the engine, so that a busy engine cannot starve it."""

    def start(self) -> None: ...

    def touch(self) -> None:
        """Report that the engine's loop is alive. Without a touch for 30 seconds the heartbeat stops extending the
        lease."""

    def confirmed(self) -> float:
        """Return the monotonic time at which the last confirmed beat was sent."""

    def lost(self) -> bool:
        """Return whether the store has answered that this node is not registered any more."""

    async def stop(self) -> None: ...


class HeartbeatStore(Protocol):
    async def beat(self, node: bytes, *, ttl: float) -> int | None: ...


class TaskHeartbeat:
    """A heartbeat as a task on the engine's own loop: for in-process stores and under simulated time."""

    def __init__(
        self,
        store: HeartbeatStore,
        node: bytes,
        *,
        clock: Clock,
        ttl: float,
        interval: float,
        confirmed: float | None = None,
    ) -> None:
        """Create a stopped heartbeat. `confirmed` is the time at which the registration was sent; `None` means now."""
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
            return  # not confirmed: if this lasts, the engine stops itself before the lease expires
        if answer is None:
            self._lost = True
        else:
            self._confirmed = sent


class NoHeartbeat:
    """The heartbeat of a node whose lease is an operating-system lock.

    The process cannot lose that lock while it lives."""

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


# The heartbeat of a node on a database server: a thread with its own loop and its own connection.
#
# A step that blocks the engine's loop must not cost the lease, so the heartbeat does not run on that loop. But a loop
# that is blocked for long is as good as dead. Then the heartbeat stops too, and another node takes over.


class HeartbeatConnection(Protocol):
    """The heartbeat's own connection, opened on its own loop."""

    async def beat(self) -> bool:
        """Extend the lease. Return False if the node is not registered any more."""

    async def close(self) -> None: ...


class ThreadHeartbeat:
    """A thread that extends the lease every `interval` seconds.

    It ends when it is stopped, or when the node has lost its lease. It pauses while the engine does not touch it."""

    def __init__(
        self, pulse: Callable[[], HeartbeatConnection], *, clock: Clock, interval: float, confirmed: float
    ) -> None:
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
        with contextlib.suppress(RuntimeError):  # the thread ended by itself and closed its loop
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

    async def _once(self, pulse: HeartbeatConnection) -> None:
        sent = self._clock.monotonic()
        if sent - self._touched >= STANDSTILL:
            return
        try:
            is_registered = await pulse.beat()
        except StoreError:
            return  # not confirmed: if this lasts, the engine stops itself before the lease expires
        if is_registered:
            self._confirmed = sent
        else:
            self._lost = True


def patience(ttl: float) -> float:
    """Return how many seconds one beat may take, so that a hanging beat does not cost the lease."""
    return max(0.5, ttl / 3)
