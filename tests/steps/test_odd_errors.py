"""Whatever an action raises is a failure that can be stored, and the next action runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from detent.run.outcomes import Fail
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import Permanent, Registry, RetryLater
from detent.steps.user_code import ThreadPool
from tests.steps.calls import done, perform
from tests.steps.odd_errors import NAMES, ODD, SECONDS

WAYS = ["inline", "thread", "loop"]


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
async def step(registry: Registry) -> AsyncIterator[ActionExecutor]:
    executor = ActionExecutor(registry, pool=ThreadPool(1))
    yield executor
    await executor.close()


def add(registry: Registry, way: str, make: Any) -> None:
    def plain() -> Any:
        raise make()

    async def on_loop() -> Any:
        raise make()

    registry.add("go", on_loop if way == "loop" else plain, inline=way == "inline")
    registry.add("well", lambda: "fine")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
async def test_every_error_is_a_failure_that_can_be_stored(
    registry: Registry, step: ActionExecutor, way: str, name: str
) -> None:
    make, code = ODD[name]
    add(registry, way, make)
    async with asyncio.timeout(300):
        outcome = await perform(step, "go", timeout=None)
        assert done(await perform(step, "well"))["output"] == "fine"
    assert isinstance(outcome, Fail)
    kept = msgspec.json.decode(msgspec.json.encode(outcome.error))
    assert kept["code"] == code
    assert isinstance(kept["message"], str)
    assert len(kept["message"]) <= 1_200
    assert len((kept.get("detail") or {}).get("traceback", "")) <= 8_192
    assert outcome.retry is not issubclass(type(make()), Permanent)


@pytest.mark.parametrize(("given", "seconds"), SECONDS, ids=map(str, range(len(SECONDS))))
async def test_a_wait_that_is_no_length_of_time_is_not_one(
    registry: Registry, step: ActionExecutor, given: Any, seconds: float | None
) -> None:
    class Own(RetryLater):
        def __init__(self) -> None:
            self.seconds = given

    for make in (Own, lambda: RetryLater(given)):
        add(registry, "thread", make)
        outcome = await perform(step, "go")
        assert isinstance(outcome, Fail)
        assert (outcome.retry, outcome.retry_after) == (True, seconds)
