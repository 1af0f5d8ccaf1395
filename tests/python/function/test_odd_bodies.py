"""Whatever a durable function or the body of a step of it raises is told, once, and can be stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from detent.graph.model import Retry
from detent.python.decorators import step
from detent.python.functions import Run, workflow
from detent.python.functions.operations import StepWork
from detent.python.functions.step import StepContext, step_function
from detent.python.functions.step_runner import StepResult, StepRunner
from detent.run.outcomes import Cancel, Fail, Outcome, Pause, Reattempt, Suspend
from detent.steps.actions import Permanent
from detent.steps.user_code import ThreadPool
from tests.python.function.ports import Stage
from tests.steps.odd_errors import NAMES, ODD

CONTEXT = StepContext(bytes(16), 1, "work", 1, 1)


@pytest.fixture
def bodies() -> Iterator[StepRunner]:
    made = StepRunner(ThreadPool(1))
    yield made
    made.close()


def work_of(function: Any, *args: Any, timeout: float | None = None) -> StepWork:
    return StepWork(step_function(function), args, {}, Retry(), timeout)


async def told(bodies: StepRunner, work: StepWork) -> StepResult | Fail:
    """How it went; it must not be told twice."""
    heard: list[StepResult | Fail] = []
    bodies.begin(work, CONTEXT, heard.append)
    async with asyncio.timeout(300):
        while not heard:  # noqa: ASYNC110 - it is a plain callback
            await asyncio.sleep(0.001)
    await asyncio.sleep(0)
    (found,) = heard
    return found


def plain(make: Any) -> None:
    raise make()


async def on_loop(make: Any) -> None:
    raise make()


@step(inline=True)
def inline(make: Any) -> None:
    raise make()


def well() -> int:
    return 7


@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.parametrize("function", [plain, on_loop, inline])
@pytest.mark.parametrize("name", NAMES)
async def test_every_error_of_a_body_is_told_and_the_next_body_runs(
    bodies: StepRunner, function: Any, name: str, timeout: float | None
) -> None:
    make, code = ODD[name]
    failed = await told(bodies, work_of(function, make, timeout=timeout))
    assert isinstance(failed, Fail)
    kept = msgspec.json.decode(msgspec.json.encode(failed.error))
    assert kept["code"] == code
    assert failed.retry is not issubclass(type(make()), Permanent)
    found = await told(bodies, work_of(well))
    assert isinstance(found, StepResult)
    assert found.value == 7


async def test_a_body_that_is_called_off_is_not_told(bodies: StepRunner) -> None:
    begun = asyncio.Event()
    heard: list[StepResult | Fail] = []

    async def waits() -> None:
        begun.set()
        await asyncio.Event().wait()

    call_off = bodies.begin(work_of(waits), CONTEXT, heard.append)
    await begun.wait()
    call_off()
    await asyncio.sleep(0.01)
    assert heard == []


class MuteTimeout(TimeoutError):
    def __str__(self) -> str:
        raise SystemExit


class Leaving:
    """A result that leaves the process when somebody looks into it."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise SystemExit


@workflow
async def raises_oddly(run: Run) -> None:
    error: BaseException = MAKE[0]()
    raise error


@workflow
async def gives_oddly(run: Run) -> Any:
    return Leaving()


@workflow
async def asks_oddly(run: Run) -> None:
    run.cancel(MAKE[0]())


MAKE: list[Any] = []
MAKERS: dict[str, Any] = {**{name: ODD[name][0] for name in NAMES}, "mute timeout": MuteTimeout}


async def outcome_of(function: Any, make: Any) -> Outcome | None:
    MAKE[:] = [make]
    async with asyncio.timeout(300):
        return await Stage(function).attempt()


@pytest.mark.parametrize("name", sorted(MAKERS))
async def test_every_error_of_a_function_becomes_an_outcome(name: str) -> None:
    outcome = await outcome_of(raises_oddly, MAKERS[name])
    assert isinstance(outcome, Pause | Reattempt | Fail)
    assert msgspec.json.encode(outcome)


@pytest.mark.parametrize("name", NAMES)
async def test_every_error_can_be_a_reason(name: str) -> None:
    outcome = await outcome_of(asks_oddly, MAKERS[name])
    assert isinstance(outcome, Cancel)
    assert msgspec.json.encode(outcome)


async def test_a_result_that_leaves_the_process_is_an_error_of_the_function() -> None:
    assert isinstance(await outcome_of(gives_oddly, int), Pause)


@dataclass
class Thing:
    size: int

    def __post_init__(self) -> None:
        if MAKE and MAKE[0] is SystemExit:
            raise SystemExit


@step(inline=True)
def thing() -> Thing:
    return Thing(1)


@workflow
async def reads_oddly(run: Run) -> None:
    await run.step(thing)
    await run.signal("go")


async def test_a_record_whose_class_leaves_the_process_now_is_an_error_of_the_function() -> None:
    MAKE.clear()
    stage = Stage(reads_oddly)
    assert isinstance(await stage.attempt(), Suspend)
    MAKE[:] = [SystemExit]
    outcome = await stage.attempt()
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "'thing' does not fit" in outcome.error.message
