"""Whatever the body of a step of a function raises is told, once, and can be stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from detent.graph.model import Retry
from detent.python.function.bodies import Bodies, Given
from detent.python.function.pending import StepWork
from detent.python.function.step_function import StepContext, step_function
from detent.python.marks import step
from detent.run.outcomes import Fail
from detent.steps.actions import Permanent
from tests.steps.odd_errors import NAMES, ODD

CONTEXT = StepContext(bytes(16), 1, "work", 1, 1)


@pytest.fixture
def bodies() -> Iterator[Bodies]:
    made = Bodies(threads=1)
    yield made
    made.close()


def work_of(function: Any, *args: Any, timeout: float | None = None) -> StepWork:
    return StepWork(step_function(function), args, {}, Retry(), timeout)


async def told(bodies: Bodies, work: StepWork) -> Given | Fail:
    """How it went; it must not be told twice."""
    heard: list[Given | Fail] = []
    bodies.begin(work, CONTEXT, heard.append)
    async with asyncio.timeout(5):
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
    bodies: Bodies, function: Any, name: str, timeout: float | None
) -> None:
    make, code = ODD[name]
    failed = await told(bodies, work_of(function, make, timeout=timeout))
    assert isinstance(failed, Fail)
    kept = msgspec.json.decode(msgspec.json.encode(failed.error))
    assert kept["code"] == code
    assert failed.retry is not issubclass(type(make()), Permanent)
    found = await told(bodies, work_of(well))
    assert isinstance(found, Given)
    assert found.value == 7


async def test_a_body_that_is_called_off_is_not_told(bodies: Bodies) -> None:
    begun = asyncio.Event()
    heard: list[Given | Fail] = []

    async def waits() -> None:
        begun.set()
        await asyncio.Event().wait()

    call_off = bodies.begin(work_of(waits), CONTEXT, heard.append)
    await begun.wait()
    call_off()
    await asyncio.sleep(0.01)
    assert heard == []
