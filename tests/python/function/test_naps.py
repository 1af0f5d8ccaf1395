"""Short sleeps of durable functions: their end is on record, so a stop or a crash does not begin them again."""

from __future__ import annotations

import asyncio

import pytest

from detent.instant import SECOND
from detent.python.functions import Run, gather, workflow
from detent.run.outcomes import Suspend
from tests.python.function.ports import NOON, Port, Stage
from tests.python.function.test_operations import double, output


async def _stopped_in(stage: Stage, seconds: float, *, gracefully: bool) -> None:
    """Begin an attempt, and stop it so many seconds later."""
    port = Port(stage.record)
    task = asyncio.ensure_future(stage.attempt(port))
    for _ in range(40):
        await asyncio.sleep(0)
    stage.record.now += round(seconds * SECOND)
    if gracefully:
        port.stop()
    else:
        port.crashed.set()
    await task


@pytest.mark.parametrize("gracefully", [True, False])
@pytest.mark.parametrize("how", ["run.sleep", "asyncio.sleep"])
async def test_a_short_sleep_goes_on_where_it_was(how: str, *, gracefully: bool) -> None:
    @workflow
    async def naps(run: Run) -> str:
        await (run.sleep(9) if how == "run.sleep" else asyncio.sleep(9))
        return "rested"

    stage = Stage(naps)
    for _ in range(4):
        await _stopped_in(stage, 2, gracefully=gracefully)
    assert output(await stage.until_over()) == "rested"
    assert stage.record.now == NOON + 9 * SECOND


async def test_a_short_sleep_beside_a_step_is_on_record_and_does_not_hold_it_up() -> None:
    @workflow
    async def beside(run: Run) -> list[object]:
        return list(await gather(run.step(double, 1), run.sleep(9)))

    stage = Stage(beside)
    port = Port(stage.record, delay=lambda: 10**6)
    task = asyncio.ensure_future(stage.attempt(port))
    for _ in range(40):
        await asyncio.sleep(0)
    assert port.queued() == 2, "the end of the sleep and the end of the step are on their way together"
    port.crashed.set()
    await task
    assert output(await stage.until_over()) == [2, None]


async def test_the_time_limit_of_a_step_writes_nothing() -> None:
    @workflow
    async def limited(run: Run) -> int:
        async with asyncio.timeout(5):
            return await run.step(double, 1)

    stage = Stage(limited)
    assert output(await stage.attempt()) == 2
    assert stage.record.writes == 1


async def test_a_sleep_costs_one_row_when_it_begins_and_one_when_it_ends() -> None:
    @workflow
    async def naps(run: Run) -> None:
        await run.sleep(0)
        await run.sleep(3)

    stage = Stage(naps)
    await stage.attempt()
    assert stage.record.writes == 1 + 2


@pytest.mark.parametrize("drift", ["strict", "tolerant"])
async def test_a_function_stopped_in_a_short_sleep_is_replayed_under_every_rule_of_drift(drift: str) -> None:
    @workflow(drift=drift)
    async def naps(run: Run) -> int:
        first = await run.step(double, 1)
        await run.sleep(9)
        return await run.step(double, first)

    stage = Stage(naps)
    await _stopped_in(stage, 2, gracefully=False)
    await _stopped_in(stage, 2, gracefully=True)
    assert output(await stage.until_over()) == 4
    assert stage.record.route() == ["double", "@sleep", "double#2"]
    assert stage.record.now == NOON + 9 * SECOND


@pytest.mark.parametrize("drift", ["strict", "tolerant"])
async def test_a_record_without_the_begin_of_its_short_sleeps_is_still_replayed(drift: str) -> None:
    @workflow(drift=drift)
    async def naps(run: Run) -> str:
        await run.sleep(3)
        await run.sleep("1h")
        return "rested"

    stage = Stage(naps)
    outcome = await stage.attempt()
    assert isinstance(outcome, Suspend)
    assert list(stage.record.operations) == ["@sleep#2"]
    assert stage.record.route() == ["@sleep"], "as it was written before: only the end of a short sleep"
    assert output(await stage.until_over()) == "rested"
