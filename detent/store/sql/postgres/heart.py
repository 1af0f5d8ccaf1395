"""The heart of a node on PostgreSQL: a thread with a loop and a connection of its own.

A step that keeps the engine's loop busy must not cost the lease, so the heart does not live on that loop. But a loop
that stands still for long is as good as dead: then the heart stops too, and another node takes over.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading

from detent.clock import Clock
from detent.errors import StoreError
from detent.store.heart import STANDSTILL
from detent.store.sql.postgres.link import Link
from detent.store.sql.postgres.wire import Address

BEAT = """
update lease set until = clock_timestamp() + make_interval(secs => $2) where node = $1 returning 1"""


class ThreadHeart:
    """Prolongs the lease every `interval` seconds, until it is stopped, lost or not touched any more."""

    def __init__(
        self, address: Address, node: bytes, *, clock: Clock, ttl: float, interval: float, confirmed: float
    ) -> None:
        self._address, self._node, self._clock = address, node, clock
        self._ttl, self._interval = ttl, interval
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
        link = Link(self._address, limit=max(0.5, self._ttl / 3))  # one beat that hangs must not cost the lease
        try:
            while not self._stopped.is_set() and not self._lost:
                await self._once(link)
                await self._pause()
        finally:
            await link.close()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), self._interval)
        except TimeoutError:
            return

    async def _once(self, link: Link) -> None:
        sent = self._clock.monotonic()
        if sent - self._touched >= STANDSTILL:
            return
        try:
            rows = await link.fetch(BEAT, self._node, self._ttl)
        except StoreError:
            return  # not confirmed: the engine stops itself in time if this lasts
        if rows:
            self._confirmed = sent
        else:
            self._lost = True
