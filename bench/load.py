"""Puts load on an engine of this process and measures what it took."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.serving import Meter
from detent.engine.engine import Engine
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import AcceptedRun, start_run
from detent.errors import Unavailable
from detent.store.protocol import Store
from detent.store.rows import Flush, Flushed

FULL_PAUSE = 0.01


class FlushCounter:
    """Counts the group commits of a store: how many, of how many rows, and the time they were under way."""

    def __init__(self, store: Store) -> None:
        self._flush = store.flush
        vars(store)["flush"] = self.flush
        self.reset()

    def reset(self) -> None:
        self.flushes = self.starts = self.entries = self.ends = 0
        self.seconds = 0.0

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        self.flushes += 1
        self.starts += len(flush.starts)
        self.entries += len(flush.entries)
        self.ends += len(flush.ends)
        begun = time.perf_counter()
        try:
            return await self._flush(node, epoch, flush, again=again, patience=patience)
        finally:
            self.seconds += time.perf_counter() - begun

    def facts(self) -> dict[str, float]:
        return {
            "flushes": self.flushes,
            "starts": self.starts,
            "entries": self.entries,
            "ends": self.ends,
            "flush_seconds": self.seconds,
        }


async def accepted(engine: Engine, request: PreparedStart) -> AcceptedRun:
    """Start one run. A node that is full, or waits for its database, is asked again."""
    while True:
        try:
            return await start_run(engine, request)
        except Unavailable:
            await asyncio.sleep(FULL_PAUSE)


async def run_to_end(engine: Engine, request: PreparedStart) -> AcceptedRun:
    """Start one run and wait until its end is durable."""
    started = await accepted(engine, request)
    assert started.ended is not None, "the request must ask to watch"
    await started.ended
    return started


async def burst(work: Callable[[], Awaitable[Any]], *, width: int, seconds: float) -> dict[str, float]:
    """So many at once, each begun anew when it has ended, for so long; those begun in time are waited for."""
    until = time.perf_counter() + seconds
    done = 0

    async def one_after_the_other() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await work()
            done += 1

    meter = Meter()
    await asyncio.gather(*(one_after_the_other() for _ in range(width)))
    return {"done": done, **meter.read()}


async def each(work: Callable[[], Awaitable[Any]], *, count: int, width: int) -> dict[str, float]:
    """Exactly so many, `width` at once."""
    left = count

    async def one_after_the_other() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await work()

    meter = Meter()
    await asyncio.gather(*(one_after_the_other() for _ in range(min(width, count))))
    return {"done": count, **meter.read()}


async def one_at_a_time(work: Callable[[], Awaitable[Any]], *, count: int) -> dict[str, Any]:
    """How long each took, in seconds."""
    meter, took = Meter(), []
    for _ in range(count):
        begun = time.perf_counter()
        await work()
        took.append(time.perf_counter() - begun)
    return {"took": took, "done": count, **meter.read()}
