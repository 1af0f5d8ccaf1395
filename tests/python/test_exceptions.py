"""What an exception of a step does to its run."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.flow import cancel, pause, reattempt, skip
from detent.python.registry import PythonRegistry
from detent.run.outcomes import Cancel, Done, Pause, Reattempt, Skip
from detent.steps.actions import Permanent, RetryLater
from detent.testing.executors import MemoryKeeper
from tests.python.stage import play


class Refused(Exception):
    pass


class RefusedForGood(Refused):
    pass


def raising(code: PythonRegistry, error: BaseException, **options: Any) -> type[Workflow]:
    def body(self: Any) -> None:
        raise error

    class Raising(Workflow, registry=code):
        step("work", body, **options)

    return Raising


async def test_an_exception_pauses_the_run_and_is_kept_with_its_traceback(code: PythonRegistry) -> None:
    outcome = await play(raising(code, Refused("no funds")), "work")
    assert isinstance(outcome, Pause)
    assert outcome.reason == "an exception in step 'work'"
    error = outcome.error
    assert error is not None
    assert (error.code, error.message) == ("exception", "Refused: no funds")
    assert error.detail["type"] == "tests.python.test_exceptions.Refused"
    assert "raise error" in error.detail["traceback"]
    assert "test_exceptions.py" in error.detail["traceback"]


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("pause", Pause),
        ("cancel", Cancel),
        ("skip", Skip),
        ("reattempt", Reattempt),
        ("pause!", Pause),
        (pause, Pause),
        (cancel, Cancel),
        (skip(), Skip),
        (reattempt, Reattempt),
    ],
)
async def test_a_policy_decides(code: PythonRegistry, policy: Any, wanted: type[Any]) -> None:
    outcome = await play(raising(code, ValueError("x"), on_exception=policy), "work")
    assert isinstance(outcome, wanted)
    assert outcome.error.message == "ValueError: x"


async def test_the_policy_of_the_nearest_class_decides(code: PythonRegistry) -> None:
    policy = {Refused: "cancel", ValueError: "skip", Exception: reattempt(wait=7)}
    assert isinstance(await play(raising(code, RefusedForGood(), on_exception=policy), "work"), Cancel)
    assert isinstance(await play(raising(code, UnicodeError(), on_exception=policy), "work"), Skip)
    other = await play(raising(code, OSError(), on_exception=policy), "work")
    assert isinstance(other, Reattempt)
    assert other.wait == 7.0
    only = {ValueError: "skip"}
    assert isinstance(await play(raising(code, OSError(), on_exception=only), "work"), Pause)
    assert isinstance(await play(raising(code, KeyboardInterrupt(), on_exception=policy), "work"), Pause)


async def test_reattempts_wait_longer_each_time_and_end_in_what_comes_then(code: PythonRegistry) -> None:
    policy = reattempt(max=4, wait="10s", factor=3, then="cancel")
    workflow = raising(code, ValueError(), on_exception=policy)
    waits = []
    for attempt in (1, 2, 3):
        outcome = await play(workflow, "work", attempt=attempt)
        assert isinstance(outcome, Reattempt)
        waits.append(outcome.wait)
    assert waits == [10.0, 30.0, 90.0]
    assert isinstance(await play(workflow, "work", attempt=4), Cancel)
    assert isinstance(await play(workflow, "work", attempt=5), Cancel)
    endless = raising(code, ValueError(), on_exception="reattempt")
    outcome = await play(endless, "work", attempt=500)
    assert isinstance(outcome, Reattempt)
    assert outcome.wait == 3600.0


async def test_the_class_has_a_policy_for_all_its_steps(code: PythonRegistry) -> None:
    class Base(Workflow, registry=code, abstract=True):
        on_exception = "skip"

    class Signup(Base):
        step("by_class", lambda self: 1 / 0)
        step("by_itself", lambda self: 1 / 0, on_exception="cancel")

    assert isinstance(await play(Signup, "by_class"), Skip)
    assert isinstance(await play(Signup, "by_itself"), Cancel)


async def test_errors_that_say_when_to_try_again_are_believed(code: PythonRegistry) -> None:
    later = RetryLater(90, "rate limited", code="rate_limited")
    outcome = await play(raising(code, later), "work")
    assert isinstance(outcome, Reattempt)
    assert (outcome.wait, outcome.error and outcome.error.code) == (90.0, "rate_limited")
    capped = reattempt(max=2, then="skip")
    assert isinstance(await play(raising(code, later, on_exception=capped), "work", attempt=1), Reattempt)
    assert isinstance(await play(raising(code, later, on_exception=capped), "work", attempt=2), Skip)
    for_good = Permanent("card refused")
    assert isinstance(await play(raising(code, for_good, on_exception=capped), "work"), Skip)
    assert isinstance(await play(raising(code, for_good, on_exception="reattempt"), "work"), Pause)
    assert isinstance(await play(raising(code, for_good, on_exception="cancel"), "work"), Cancel)


async def test_a_step_that_takes_too_long_raises_a_timeout(code: PythonRegistry) -> None:
    release = threading.Event()

    class Slow(Workflow, registry=code):
        @step(timeout=0.05, on_exception={TimeoutError: "skip"})
        async def awaited(self) -> None:
            await asyncio.sleep(3600)

        @step(timeout=0.05, on_exception="cancel")
        def plain(self) -> None:
            release.wait(60)

        @step(timeout=0.05)
        async def stubborn(self) -> str:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                return "too late"
            return "never"

        step("quick", lambda self: 1, timeout=60)

    skipped = await play(Slow, "awaited")
    assert isinstance(skipped, Skip)
    assert skipped.error is not None
    assert skipped.error.message == "TimeoutError: the step did not end within 0.05 s"
    assert isinstance(await play(Slow, "plain"), Cancel)
    assert isinstance(await play(Slow, "stubborn"), Pause)
    assert isinstance(await play(Slow, "quick"), Done)
    release.set()


async def test_an_attempt_that_is_cancelled_by_the_engine_does_not_become_an_outcome(code: PythonRegistry) -> None:
    class Slow(Workflow, registry=code):
        @step
        async def awaited(self) -> None:
            await asyncio.sleep(5)

        @step
        async def cancels_itself(self) -> None:
            raise asyncio.CancelledError

    attempt = asyncio.create_task(play(Slow, "awaited"))
    await asyncio.sleep(0.01)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert isinstance(await play(Slow, "cancels_itself"), Pause)


async def test_what_a_thread_still_wants_awaited_when_nobody_waits_any_more_is_closed(code: PythonRegistry) -> None:
    entered, release = threading.Event(), threading.Event()
    left: list[Any] = []

    class Slow(Workflow, registry=code):
        @step
        def gives_a_coroutine(self) -> Any:
            entered.set()
            release.wait(300)
            left.append(asyncio.sleep(0))
            return left[0]

    attempt = asyncio.create_task(play(Slow, "gives_a_coroutine"))
    await asyncio.to_thread(entered.wait, 300)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    release.set()
    async with asyncio.timeout(300):
        while not left or left[0].cr_frame is not None:  # noqa: ASYNC110 - a thread tells nobody
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("where", ["body", "skip_if", "before_step_starts", "coroutine", "transaction"])
async def test_a_policy_decides_about_stop_iteration_too(code: PythonRegistry, where: str) -> None:
    def stop(self: Any) -> None:
        next(iter(()))

    async def stop_async(self: Any) -> None:
        next(iter(()))

    options: dict[str, Any] = {"skip_if": stop} if where == "skip_if" else {}
    body = {"coroutine": stop_async, "body": stop, "transaction": stop}.get(where, lambda self: None)

    class Stopping(Workflow, registry=code):
        if where == "before_step_starts":

            def before_step_starts(self, step_name: str) -> None:
                stop(self)

        step(
            "work", body, on_exception={StopIteration: "skip"}, transactional=where == "transaction", **options
        )  # fmt: skip

    keeper = MemoryKeeper({})
    keeper.use(sessionmaker(create_engine("sqlite://")))
    outcome = await play(Stopping, "work", keeper=keeper)
    assert isinstance(outcome, Skip), outcome
    assert outcome.error is not None
    assert (outcome.error.message, outcome.error.detail["type"]) == ("StopIteration: ", "StopIteration")
    assert "next(iter(()))" in outcome.error.detail["traceback"]


async def test_what_a_generator_of_the_user_makes_of_stop_iteration_stays(code: PythonRegistry) -> None:
    def numbers() -> Any:
        yield next(iter(()))

    class Numbers(Workflow, registry=code):
        step("work", lambda self: list(numbers()), on_exception={StopIteration: "skip", RuntimeError: "cancel"})

    outcome = await play(Numbers, "work")
    assert isinstance(outcome, Cancel)
