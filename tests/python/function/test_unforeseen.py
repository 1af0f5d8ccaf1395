"""What nobody foresaw ends an attempt with a reason: nothing stays in flight, and the node lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from detent.python.decorators import step
from detent.python.functions import Run, gather, workflow
from detent.run.outcomes import Done, Suspend
from detent.steps.actions import RetryLater
from tests.callers import commands_of
from tests.python.function.ports import Port, Stage
from tests.python.function.test_engine import begin, ended, engine, until
from tests.python.function.test_hard_cases import error_of


class Treacherous(Mapping[str, Any]):
    """Says that it has something and does not give it."""

    def __getitem__(self, key: str) -> Any:
        raise ZeroDivisionError("no")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


@dataclass
class Thing:
    size: int

    def __post_init__(self) -> None:
        if STRICT:
            raise KeyError("things are larger now")


STRICT: list[bool] = []


@step(inline=True)
def thing() -> Thing:
    return Thing(1)


@workflow
async def gives_treachery(run: Run) -> Any:
    return Treacherous()


@workflow
async def reads_a_thing(run: Run) -> int:
    found = await run.step(thing)
    await run.signal("go")
    return found.size


@workflow
async def interrupts(run: Run) -> None:
    await run.step(thing)
    raise KeyboardInterrupt


async def test_an_output_that_raises_when_it_is_looked_into_pauses_the_run() -> None:
    assert "ZeroDivisionError" in error_of(await Stage(gives_treachery).attempt())


async def test_a_recorded_result_whose_class_refuses_it_now_raises_in_the_function() -> None:
    STRICT.clear()
    stage = Stage(reads_a_thing)
    assert isinstance(await stage.attempt(), Suspend)
    STRICT.append(True)
    try:
        assert "'thing' does not fit" in error_of(await stage.attempt())
    finally:
        STRICT.clear()


async def test_an_interrupt_that_a_function_raises_is_its_own_error_and_the_node_lives_on() -> None:
    assert "KeyboardInterrupt" in error_of(await Stage(interrupts).attempt())


async def test_an_error_of_the_driver_itself_ends_the_attempt_with_a_reason() -> None:
    class Broken(Port):
        def patience(self) -> int:
            raise LookupError("no patience")

    stage = Stage(sleeps_long)
    assert "no patience" in error_of(await stage.attempt(Broken(stage.record)))


@workflow
async def sleeps_long(run: Run) -> None:
    await run.sleep(100)


async def until_the_end_of_time(run: Run) -> None:
    await run.sleep_until(datetime.max.replace(tzinfo=UTC))


async def within_for_ever(run: Run) -> None:
    async with asyncio.timeout(float("inf")):
        await run.sleep(1)


async def within_ages(run: Run) -> None:
    async with asyncio.timeout(1e12):
        await run.sleep(1)


@pytest.mark.parametrize("body", [until_the_end_of_time, within_for_ever, within_ages])
async def test_a_time_beyond_ten_years_is_refused_in_the_function(body: Any) -> None:
    stage = Stage(workflow(body))
    assert "at most 3650d" in error_of(await stage.attempt())
    assert stage.record.operations == {}


async def test_a_sleep_until_a_time_long_past_ends_at_once() -> None:
    @workflow(name="past")
    async def past(run: Run) -> str:
        await run.sleep_until(datetime.min.replace(tzinfo=UTC))
        return "now"

    assert isinstance(await Stage(past).until_over(), Done)


TRIES: list[int] = []
GATE = asyncio.Event()
PAUSED = asyncio.Event()


async def fails_once() -> str:
    TRIES.append(1)
    if len(TRIES) == 1:
        await PAUSED.wait()
        raise RetryLater(1.0, "not yet")
    return "second try"


async def stands() -> str:
    await GATE.wait()
    return "stood"


@workflow
async def retries_beside(run: Run) -> tuple[str, str]:
    return await gather(run.step(fails_once, retry=3), run.step(stands))


async def test_a_retry_that_comes_due_during_a_pause_is_made_when_the_run_goes_on() -> None:
    TRIES.clear()
    GATE.clear()
    PAUSED.clear()
    async with engine() as app:
        run = await begin(app, "retries_beside")
        await until(app, run, lambda _: len(TRIES) == 1)
        await commands_of(app).control.pause(run)
        PAUSED.set()
        await asyncio.sleep(1.5)  # longer than the retry has to wait
        assert len(TRIES) == 1
        await commands_of(app).control.resume(run)
        async with asyncio.timeout(300):
            while len(TRIES) < 2:  # noqa: ASYNC110 - it is made while the other one is still in flight
                await asyncio.sleep(0.02)
        GATE.set()
        assert (await ended(app, run))["output"] == ["second try", "stood"]
