"""Clocks that jump: no timer is lost or early, no run fails, nothing is written twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engine.rig import rig, virtual

NAP: dict[str, Any] = {"a": {}, "nap": {"needs": ["a"], "sleep": 5}, "b": {"needs": ["nap"]}}


@pytest.mark.case("C2")
@virtual
@pytest.mark.parametrize("at", [0.5, 4.9, 4.999, 5.0])
async def test_a_database_clock_that_steps_back_drops_no_timer(at: float) -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start(NAP)
        await asyncio.sleep(at)
        world.clock.skew -= 3
        assert await world.ended(run, 20) == "completed"
        ended = world.store.entries[run][2]
        due = world.store.entries[run][1].at + 5_000_000
        assert ended.at >= due, "it was not early by the clock of the database"
        assert world.hands.attempts("b") == [1]


@virtual
async def test_a_parked_timer_survives_a_clock_that_steps_back() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": 30}})
        await asyncio.sleep(29.5)
        world.clock.skew -= 10
        assert await world.ended(run, 15) == "completed"
        row = await world.row(run)
        assert row.ended_at is not None
        assert row.ended_at - row.started_at >= 30_000_000


@pytest.mark.case("C3")
@virtual
async def test_a_database_clock_that_jumps_ahead_ends_leases_and_loses_nothing() -> None:
    async with rig() as world:
        engines = [await world.engine() for _ in range(3)]
        gate = world.hands.hold("a")
        runs = [await world.start(NAP, engine=engine) for engine in engines * 5]
        world.clock.skew += 7_200
        await asyncio.sleep(5)
        gate.set()
        for run in runs:
            assert await world.ended(run) == "completed"
            ended = [step for kind, step in world.kinds(run) if kind == "ended"]
            assert ended == ["a", "nap", "b"]


@pytest.mark.case("C5")
@virtual
async def test_a_timer_that_was_due_long_ago_rings() -> None:
    async with rig() as world:
        starter = await world.engine(claims=False)
        runs = [await world.start(NAP, engine=starter) for _ in range(3)]
        await asyncio.sleep(120)
        await world.engine()
        for run in runs:
            assert await world.ended(run, 10) == "completed"
