"""One attempt: within its time, and whatever it does ends as an outcome."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from detent.engine.attempts import run_attempt
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome
from tests.engine.rig import done, rig, virtual


async def _lasts(seconds: float) -> Outcome:
    await asyncio.sleep(seconds)
    return done()


async def _raises(error: BaseException) -> Outcome:
    raise error


@virtual
async def test_work_within_its_time_gives_its_outcome() -> None:
    assert isinstance(await run_attempt(_lasts(1), 2.0), Done)
    assert isinstance(await run_attempt(_lasts(1_000), None), Done)


@virtual
async def test_work_beyond_its_time_is_stopped() -> None:
    outcome = await run_attempt(_lasts(3), 2.0)
    assert isinstance(outcome, Fail)
    assert outcome.timed_out
    assert outcome.retry
    assert outcome.error.message == "the step did not end within 2 s"


@virtual
@pytest.mark.parametrize("error", [ValueError("x"), TimeoutError(), asyncio.CancelledError(), SystemExit(3)])
async def test_whatever_is_raised_is_a_failure(error: BaseException) -> None:
    outcome = await run_attempt(_raises(error), 2.0)
    assert isinstance(outcome, Fail)
    assert not outcome.timed_out
    assert outcome.error.code == "exception"
    assert outcome.error.message.startswith(type(error).__name__)


@virtual
async def test_an_attempt_that_the_engine_stops_is_stopped() -> None:
    attempt = asyncio.ensure_future(run_attempt(_lasts(60), 90.0))
    await asyncio.sleep(1)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt


@virtual
async def test_the_end_of_a_long_traceback_is_kept() -> None:
    outcome = await run_attempt(_raises(ValueError("y" * 50_000)), None)
    assert isinstance(outcome, Fail)
    assert outcome.error.detail["traceback"].endswith("yyy\n")
    assert len(outcome.error.detail["traceback"]) <= 8_192


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit


@virtual
@pytest.mark.parametrize("error", [Mute(), ValueError("a\ud800b"), GeneratorExit()])
async def test_an_error_that_cannot_be_shown_or_stored_is_a_failure_that_can(error: BaseException) -> None:
    outcome = await run_attempt(_raises(error), None)
    assert isinstance(outcome, Fail)
    assert outcome.error.code == "exception"
    assert msgspec.json.encode(outcome.error)


def _exits(_: StepCall) -> Outcome:
    raise SystemExit(3)


@virtual
async def test_an_executor_that_leaves_the_process_has_failed() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["one"] = _exits
        run = await world.start({"one": {"action": "go"}})
        assert await world.ended(run) == "failed"
