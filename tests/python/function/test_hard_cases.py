"""Functions that do what they should not."""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest

from detent.errors import InvalidDefinition, InvalidInput
from detent.graph.model import Ending, Retry
from detent.observe import listen
from detent.python.decorators import step
from detent.python.flow import reattempt
from detent.python.functions import Run, StepFailed, gather, workflow
from detent.run.outcomes import Cancel, Done, Fail, Pause, Reattempt, Suspend
from detent.run.state import Checkpoint
from detent.steps.actions import Permanent, RetryLater
from tests.python.function.ports import Port, Stage
from tests.python.function.test_operations import double, output, plus_one


def error_of(outcome: Any) -> str:
    assert isinstance(outcome, Pause | Fail | Cancel | Reattempt), outcome
    assert outcome.error is not None
    return outcome.error.message


@pytest.mark.case("F14")
@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), float("nan"), 1 << 80, "\ud800", "x" * 300_000])
async def test_a_result_that_cannot_be_kept_fails_its_step_and_nothing_is_stuck(value: Any) -> None:
    @step(inline=True)
    def odd() -> Any:
        return value

    @workflow(name="odd_results")
    async def odd_results(run: Run) -> str:
        try:
            await run.step(odd, retry=3)
        except StepFailed as failed:
            return failed.code
        return "kept"

    stage = Stage(odd_results)
    assert output(await stage.attempt()) in ("unserialisable", "output_too_large")
    assert stage.record.route() == ["odd"]


@pytest.mark.case("F14")
async def test_a_function_whose_own_result_cannot_be_kept_is_paused() -> None:
    @workflow
    async def odd_itself(run: Run) -> Any:
        return {1, 2}

    assert "set" in error_of(await Stage(odd_itself).attempt())


@pytest.mark.case("F16")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_function_that_catches_everything_is_suspended_all_the_same() -> None:
    calls: list[str] = []

    @step(inline=True)
    def clean_up() -> None:
        calls.append("cleaned")

    @workflow
    async def stubborn(run: Run) -> str:
        for _ in range(3):
            try:
                await run.sleep("1h")
            except BaseException:  # noqa: BLE001 - that is the point
                calls.append("caught")
            finally:
                await run.step(clean_up)
        return "done"

    stage = Stage(stubborn)
    assert isinstance(await stage.attempt(), Suspend)
    assert "cleaned" not in calls
    assert output(await stage.until_over()) == "done"
    assert calls.count("cleaned") == 3
    assert stage.record.route() == ["@sleep", "clean_up", "@sleep#2", "clean_up#2", "@sleep#3", "clean_up#3"]
    gc.collect()


@pytest.mark.case("F16")
async def test_what_a_function_asks_of_its_run_counts_even_if_it_swallows_it() -> None:
    @workflow
    async def swallows(run: Run) -> str:
        with suppress(BaseException):
            run.cancel("enough")
        return "went on"

    assert await Stage(swallows).attempt() == Cancel("enough")


async def test_real_work_in_the_function_itself_says_what_to_do_instead() -> None:
    @workflow
    async def connects(run: Run) -> None:
        await asyncio.open_connection("127.0.0.1", 9)

    @workflow
    async def threads(run: Run) -> None:
        await asyncio.to_thread(print)

    for function in (connects, threads):
        assert "run.step" in error_of(await Stage(function).attempt())


async def test_a_function_that_leaves_the_process_leaves_alone() -> None:
    @step(inline=True)
    def leaves_too() -> None:
        sys.exit(3)

    async def inner() -> None:
        sys.exit(4)

    @workflow
    async def leaves(run: Run) -> None:
        with suppress(StepFailed):
            await run.step(leaves_too)
        with suppress(SystemExit):
            await asyncio.create_task(inner())
        sys.exit(5)

    assert "SystemExit" in error_of(await Stage(leaves).attempt())


async def test_a_function_that_waits_for_nothing_at_all_is_paused() -> None:
    @workflow
    async def waits(run: Run) -> None:
        await asyncio.Event().wait()

    outcome = await Stage(waits).attempt()
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert outcome.error.code == "stuck"


async def test_a_function_that_never_rests_is_paused_and_blocks_nobody() -> None:
    @workflow
    async def circles(run: Run) -> None:
        while True:  # noqa: ASYNC110 - that is the point
            await asyncio.sleep(0)

    outcome = await Stage(circles).attempt()
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert outcome.error.code == "endless"


@pytest.mark.case("E5")
async def test_a_long_record_is_warned_of_and_a_too_long_one_stops_the_function() -> None:
    @workflow
    async def endless(run: Run) -> None:
        number = 0
        while True:
            number = await run.step(plus_one, number)

    def recorded(stage: Stage, count: int) -> None:
        for number in range(len(stage.record.order) + 1, count + 1):
            key = "plus_one" if number == 1 else f"plus_one#{number}"
            stage.record.order.append(Checkpoint(key, Ending.SUCCESS, b'{"output":%d}' % number, None, 0))

    warned: list[dict[str, Any]] = []
    stop = listen(lambda name, facts: warned.append(facts) if name == "function.history_long" else None)
    stage = Stage(endless)
    recorded(stage, 9_998)
    assert await stage.attempt(Port(stage.record, crash_after=3)) is None
    recorded(stage, 49_999)
    outcome = await stage.attempt()
    stop()
    assert isinstance(outcome, Pause)
    assert "continue_as_new" in error_of(outcome)
    assert len(stage.record.order) == 50_000
    assert [facts["checkpoints"] for facts in warned] == [10_000]


async def test_a_function_goes_on_as_a_new_run() -> None:
    @workflow(allow_multiple=True)
    async def counts(run: Run, number: int) -> None:
        await run.step(plus_one, number)
        with suppress(BaseException):
            run.continue_as_new(number + 1)

    stage = Stage(counts, number=5)
    assert output(await stage.attempt()) == {"continued_as": "run_successor"}
    new = stage.record.successor
    assert new is not None
    assert (new.workflow, new.body) == ("counts", {"number": 6})


async def test_pausing_lets_bodies_end_and_begins_nothing_more() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await go.wait()
        return "slow"

    @workflow
    async def pauses(run: Run) -> list[Any]:
        return [await run.step(slow), await run.step(double, 2)]

    stage = Stage(pauses)
    port = Port(stage.record)
    attempt = asyncio.ensure_future(stage.attempt(port))
    await begun.wait()
    port.stops = True
    go.set()
    outcome = await attempt
    assert outcome == Suspend(stage.record.now, 1)
    assert stage.record.route() == ["slow"]
    assert output(await stage.attempt()) == ["slow", 4]


async def test_a_cancelled_attempt_stops_its_bodies() -> None:
    ended: list[str] = []
    begun = asyncio.Event()

    async def slow() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stopped")

    @workflow
    async def waits(run: Run) -> None:
        await gather(run.step(slow), run.sleep(5))

    stage = Stage(waits)
    attempt = asyncio.ensure_future(stage.attempt())
    await begun.wait()
    attempt.cancel()
    await asyncio.gather(attempt, return_exceptions=True)
    await asyncio.sleep(0.01)
    assert ended == ["stopped"]


@pytest.mark.parametrize(
    ("policy", "kind"),
    [
        ("pause", Pause),
        ("fail", Fail),
        ("cancel", Cancel),
        (reattempt(max=3), Reattempt),
        ({KeyError: "cancel"}, Pause),
    ],
)
async def test_an_exception_that_leaves_the_function_follows_its_policy(policy: Any, kind: type) -> None:
    @workflow(on_exception=policy)
    async def breaks(run: Run) -> None:
        raise ValueError("broken")

    outcome = await Stage(breaks).attempt()
    assert isinstance(outcome, kind)
    assert error_of(outcome) == "ValueError: broken"


async def test_a_permanent_error_of_the_function_fails_the_run() -> None:
    @workflow
    async def breaks(run: Run) -> None:
        raise Permanent("never")

    assert isinstance(await Stage(breaks).attempt(), Fail)


async def test_a_step_says_itself_whether_and_when_to_try_again() -> None:
    tries: list[str] = []

    @step(inline=True, retry=5)
    def later() -> None:
        tries.append("later")
        if len(tries) < 3:
            raise RetryLater(100)

    @step(inline=True, retry=5)
    def never() -> None:
        tries.append("never")
        raise Permanent("no")

    @workflow
    async def tries_both(run: Run) -> str:
        await run.step(later)
        try:
            await run.step(never)
        except StepFailed as failed:
            return failed.message
        return ""

    stage = Stage(tries_both)
    began = stage.record.now
    assert output(await stage.until_over()) == "no"
    assert tries == ["later"] * 3 + ["never"]
    assert stage.record.now - began >= 200_000_000


async def test_a_time_limit_ends_a_step() -> None:
    async def for_ever() -> None:
        await asyncio.Event().wait()

    @workflow
    async def limits(run: Run) -> str:
        try:
            await run.step(for_ever, timeout=0.01)
        except StepFailed as failed:
            return failed.code
        return ""

    assert output(await Stage(limits).attempt()) == "timeout"


async def test_a_body_that_does_not_fit_fails_the_run_before_anything_is_done() -> None:
    @workflow
    async def takes(run: Run, number: int) -> int:
        return number

    for body in ({}, {"number": "x"}, {"number": 1, "nombre": 2}):
        outcome = await Stage(takes, **body).attempt()
        assert isinstance(outcome, Fail)
        assert outcome.error.code == "invalid_parameters"
    assert isinstance(await Stage(takes, number=1).attempt(), Done)


def test_definitions_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidDefinition, match="async def"):

        @workflow  # type: ignore[arg-type]
        def plain(run: Run) -> None: ...

    with pytest.raises(InvalidDefinition, match="its run first"):

        @workflow
        async def no_run() -> None: ...

    with pytest.raises(InvalidDefinition, match="by name"):

        @workflow
        async def rest(run: Run, *rest: int) -> None: ...

    with pytest.raises(InvalidDefinition, match="drift"):

        @workflow(drift="loose")
        async def loose(run: Run) -> None: ...

    with pytest.raises(InvalidDefinition, match="no option"):

        @workflow(prio=1)  # type: ignore[call-overload,untyped-decorator]
        async def unknown(run: Run) -> None: ...


async def test_wrong_calls_say_what_is_wrong() -> None:
    wrongs: list[str] = []

    @workflow
    async def wrong(run: Run) -> None:
        for call in (
            lambda: run.step(lambda: 1),
            lambda: run.step(double, 1, retry=-1),
            lambda: run.step(double, 1, name="a#2"),
            lambda: run.sleep("tomorrow"),
            lambda: run.sleep_until(datetime(2030, 1, 1)),  # noqa: DTZ001 - that is the point
            lambda: run.signal("@x"),
            lambda: run.child(5),
            lambda: run.step(5),  # type: ignore[call-overload]
        ):
            try:
                call()
            except InvalidInput as error:
                wrongs.append(error.message)
        await run.step(double, 1, retry=Retry(attempts=2))

    await Stage(wrong).attempt()
    assert len(wrongs) == 8
