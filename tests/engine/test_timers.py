"""The node's timer keeps nothing of runs that have left."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from detent.clock import DatabaseTime, SystemClock
from detent.engine.owned_run import OwnedRun
from detent.engine.timers import KEPT, Timers
from detent.graph.model import Graph, Step, StepKind
from detent.planner.prepared import prepare
from detent.run.state import RunFacts
from tests.engine.rig import rig, virtual


async def test_times_that_nobody_waits_for_any_more_are_forgotten() -> None:
    prepared = prepare(Graph((Step("a", StepKind.ACTION),)))
    state = prepared.new_state(RunFacts(b"r" * 16, 1, "w", b"{}", 0, None, str))
    rung: asyncio.Queue[OwnedRun] = asyncio.Queue()
    time = DatabaseTime(SystemClock())
    time.heard(0)
    timers = Timers(time, rung.put_nowait)
    soon = OwnedRun(b"s" * 16, 1, prepared, state)
    timers.set(soon, 20_000)
    for number in range(10 * KEPT):
        left = OwnedRun(b"r" * 16, 1, prepared, state)
        timers.set(left, 3_600_000_000 + number)
        timers.set(left, None)
    assert len(timers) <= 2 * KEPT
    assert await rung.get() is soon
    assert rung.empty()
    timers.stop()


@virtual
async def test_runs_that_ended_long_before_they_would_expire_leave_memory() -> None:
    steps: dict[str, Any] = {"a": {}, "b": {"needs": ["a"]}}
    async with rig() as world:
        engine = await world.engine()
        runs = [await world.start(steps) for _ in range(3 * KEPT)]
        for run in runs:
            assert await world.ended(run, 60) == "completed"
        assert not engine.node.runner.owned
        gc.collect()
        assert sum(isinstance(thing, OwnedRun) for thing in gc.get_objects()) <= 2 * KEPT
