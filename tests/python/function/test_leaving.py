"""A function that says how its run ends says so for good, from whichever of its tasks, and may tidy up behind it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from detent.python.decorators import step
from detent.python.functions import Run, gather, workflow
from detent.run.outcomes import Cancel, Done, Outcome, Reattempt
from tests.python.function.ports import Stage
from tests.python.function.test_operations import output

CALLS: list[str] = []


@pytest.fixture(autouse=True)
def nothing_called() -> None:
    CALLS.clear()


@step(inline=True)
def called(name: str) -> str:
    CALLS.append(name)
    return name


async def _cancels(run: Run) -> None:
    run.cancel("enough")


async def _cancels_after_a_step(run: Run) -> None:
    await run.step(called, "before")
    run.cancel("enough")


async def _swallowed(run: Run) -> None:
    with suppress(BaseException):
        run.cancel("enough")
    await run.sleep(3600)


async def _swallowed_and_on(run: Run) -> None:
    with suppress(BaseException):
        run.cancel("enough")
    while True:
        await run.step(called, "never")


async def _swallowed_and_a_timer(run: Run) -> None:
    with suppress(BaseException):
        run.cancel("enough")
    await asyncio.sleep(3600)


async def _in_a_task(run: Run) -> None:
    task = asyncio.create_task(_cancels(run))
    await run.sleep(3600)
    await task


async def _in_a_task_later(run: Run) -> None:
    task = asyncio.create_task(_cancels_after_a_step(run))
    await run.signal("never")
    await task


async def _in_a_task_that_is_watched(run: Run) -> None:
    async def watch() -> None:
        await asyncio.gather(_cancels_after_a_step(run), return_exceptions=True)

    task = asyncio.create_task(watch())
    await run.wait("never")
    await task


async def _in_a_task_and_swallowed_outside(run: Run) -> None:
    with suppress(BaseException):
        await gather(_cancels_after_a_step(run), run.sleep(3600))
    await run.sleep(3600)
    await run.step(called, "never")


async def _in_a_task_and_collected(run: Run) -> None:
    await gather(_cancels_after_a_step(run), return_exceptions=True)
    await run.step(called, "never")


async def _in_a_task_of_a_group(run: Run) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_cancels_after_a_step(run))
        await run.signal("never")


WAYS = [
    _cancels,
    _cancels_after_a_step,
    _swallowed,
    _swallowed_and_on,
    _swallowed_and_a_timer,
    _in_a_task,
    _in_a_task_later,
    _in_a_task_that_is_watched,
    _in_a_task_and_swallowed_outside,
    _in_a_task_and_collected,
    _in_a_task_of_a_group,
]


def _leaving(way: Any) -> Stage:
    @workflow(name="leaving", drift="strict")
    async def leaving(run: Run) -> None:
        await way(run)

    return Stage(leaving)


@pytest.mark.parametrize("way", WAYS)
async def test_a_function_that_cancels_its_run_is_over_at_once_wherever_it_does(way: Any) -> None:
    outcome = await _leaving(way).attempt()
    assert outcome == Cancel("enough")
    assert "never" not in CALLS


async def test_a_function_finishes_from_a_task_of_its_own() -> None:
    async def finishes(run: Run) -> None:
        await run.step(called, "before")
        run.finish("from a task")

    async def way(run: Run) -> None:
        task = asyncio.create_task(finishes(run))
        await run.signal("never")
        await task

    assert output(await _leaving(way).attempt()) == "from a task"


async def test_a_function_asks_from_a_task_to_be_tried_again() -> None:
    async def again(run: Run) -> None:
        run.reattempt(5)

    async def way(run: Run) -> None:
        task = asyncio.create_task(again(run))
        await run.sleep(3600)
        await task

    assert await _leaving(way).attempt() == Reattempt(5.0)


# -- what it tidies up


async def _tidy(run: Run) -> None:
    await run.step(called, "unlock")
    await run.sleep(1)
    await run.step(called, "tell")


async def _in_finally(run: Run) -> None:
    try:
        run.cancel("enough")
    finally:
        await _tidy(run)


async def _in_except(run: Run) -> None:
    try:
        run.cancel("enough")
    except BaseException:
        await _tidy(run)
        raise


async def _in_except_and_swallowed(run: Run) -> None:
    try:
        run.cancel("enough")
    except BaseException:  # noqa: BLE001 - what people write
        await _tidy(run)
    await run.step(called, "never")


async def _in_finally_with_a_timer_and_a_failure(run: Run) -> None:
    try:
        run.cancel("enough")
    finally:
        await asyncio.sleep(1)
        try:
            raise ValueError
        except ValueError:
            await _tidy(run)


async def _in_finally_side_by_side(run: Run) -> None:
    try:
        run.cancel("enough")
    finally:
        async with asyncio.TaskGroup() as group:
            group.create_task(_tidy(run))


async def _around_a_task(run: Run) -> None:
    try:
        await gather(_cancels_after_a_step(run), run.sleep(3600))
    finally:
        await asyncio.sleep(1)
        await _tidy(run)


async def _around_a_group(run: Run) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_cancels_after_a_step(run))
            group.create_task(_play_on(run))
    finally:
        await _tidy(run)


async def _play_on(run: Run) -> None:
    while True:
        await run.sleep(3)


async def _in_the_task_itself(run: Run) -> None:
    task = asyncio.create_task(_in_finally(run))
    await run.sleep(3600)
    await task


@pytest.mark.parametrize(
    "way",
    [
        _in_finally,
        _in_except,
        _in_except_and_swallowed,
        _in_finally_with_a_timer_and_a_failure,
        _in_finally_side_by_side,
        _around_a_task,
        _around_a_group,
        _in_the_task_itself,
    ],
)
async def test_what_a_function_does_while_it_leaves_is_done(way: Any) -> None:
    outcome: Outcome = await _leaving(way).until_over()
    assert outcome == Cancel("enough")
    assert [name for name in CALLS if name != "before"] == ["unlock", "tell"]


# -- what nobody awaited


async def test_a_child_that_nobody_awaits_is_started_before_the_function_ends() -> None:
    @workflow(name="parent")
    async def parent(run: Run) -> str:
        run.child("other", number=5)
        return "done"

    stage = Stage(parent)
    assert output(await stage.attempt()) == "done"
    assert [child.body for child in stage.record.children.values()] == [{"number": 5}]


async def test_a_child_that_nobody_awaits_is_not_awaited_by_the_function() -> None:
    @workflow(name="parent")
    async def parent(run: Run) -> str:
        run.child("other")
        await run.step(called, "step")
        return "done"

    stage = Stage(parent)
    assert isinstance(await stage.attempt(), Done)
    assert list(stage.record.children) == ["@child:other"]
    assert stage.record.route() == ["called"]


async def test_a_child_of_a_function_that_fails_is_not_started() -> None:
    @workflow(name="parent", on_exception="fail")
    async def parent(run: Run) -> None:
        run.child("other")
        raise ValueError

    stage = Stage(parent)
    await stage.attempt()
    assert stage.record.children == {}
