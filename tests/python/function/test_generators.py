"""Async generators inside durable functions, and the run that a function belongs to."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator
from typing import Any

from detent import Run, workflow
from detent.python.functions.run import current_run
from detent.testing import crash_matrix, speedrun

ended: list[str] = []


async def answers(run: Run) -> AsyncGenerator[Any, None]:
    """Wait inside a generator, as libraries of event streams do."""
    try:
        yield await run.wait("first")
        yield await run.wait("second")
    finally:
        ended.append("generator")


@workflow
async def iterating(run: Run) -> list[Any]:
    stream = answers(run)
    try:
        return [answer async for answer in stream]
    finally:
        await stream.aclose()


def test_a_function_that_is_parked_inside_an_async_generator_closes_it_and_comes_back() -> None:
    ended.clear()
    run = speedrun(iterating, answers={"first": 1, "second": 2}).assert_completed()
    gc.collect()  # what was not closed would complain here, and a warning is an error
    assert run.output == [1, 2]
    assert len(ended) == 3, "parked at each wait, and at the end"


def test_parking_inside_a_generator_gives_up_no_wait() -> None:
    report = crash_matrix(iterating, answers={"first": 1, "second": 2})
    assert report.ending.route == ["first", "second"]


def test_only_a_function_itself_has_a_current_run() -> None:
    async def in_a_step() -> bool:
        return current_run() is None

    @workflow(name="looks for its run")
    async def looking(run: Run) -> list[bool]:
        return [current_run() is run, await run.step(in_a_step)]

    assert current_run() is None
    assert speedrun(looking).output == [True, True]
