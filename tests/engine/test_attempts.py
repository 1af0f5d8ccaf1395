"""One attempt: within its time, and whatever it does ends as an outcome."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from detent.engine.attempts import run_attempt
from detent.graph.model import NO_RETRY, Ending, Graph, Step, StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome
from detent.steps.protocol import Needs
from detent.store.rows import MessageKind
from tests.engine.rig import done, rig, virtual


async def _lasts(seconds: float) -> Outcome:
    await asyncio.sleep(seconds)
    return done()


async def _swallows() -> Outcome:
    """Work that goes on after its time is over, and says that all is well."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(1)
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
async def test_work_that_swallows_the_end_of_its_time_has_timed_out() -> None:
    outcome = await run_attempt(_swallows(), 2.0)
    assert isinstance(outcome, Fail)
    assert outcome.timed_out


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


CHAIN = {"one": {"action": "go"}, "two": {"action": "go", "needs": ["one"]}}


@virtual
async def test_a_step_whose_executor_needs_no_view_sees_nothing_of_its_run() -> None:
    async with rig() as world:
        await world.engine()
        assert await world.ended(await world.start(CHAIN)) == "completed"
        assert [call.view for call in world.hands.calls] == [None, None]


@virtual
async def test_a_step_whose_executor_needs_a_view_sees_what_is_durable_of_its_run() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.needed["two"] = Needs.VIEW
        reads = {**CHAIN, "three": {"action": "go", "needs": ["two"], "with": {"one": "{{ tasks.one.output }}"}}}
        found: list[bytes | None] = []

        def look(call: StepCall) -> Outcome:
            found.append(call.view.result_of("one") if call.view else None)
            return done(2)

        world.hands.scripts["two"] = look
        run = await world.start(reads)
        assert await world.ended(run) == "completed"
        one, two, _ = world.hands.calls
        assert one.view is None
        assert two.view is not None
        assert two.view.facts.id == run
        assert found == [done(1).result]
        assert two.view.ending_of("one") is Ending.SUCCESS
        assert two.view.ending_of("four") is None
        assert two.view.port is None


@virtual
async def test_a_step_whose_executor_needs_a_port_gets_one() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.needed["one"] = Needs.VIEW | Needs.PORT
        assert await world.ended(await world.start({"one": {"action": "go"}})) == "completed"
        (call,) = world.hands.calls
        assert call.view is not None
        assert call.view.port is not None


@virtual
@pytest.mark.parametrize("needs", [Needs.NOTHING, Needs.ROW_LOCK, Needs.VIEW | Needs.ROW_LOCK])
async def test_an_attempt_that_locks_the_row_of_its_run_is_not_stopped(needs: Needs) -> None:
    async with rig() as world:
        await world.engine()
        world.hands.needed["one"] = needs
        gate = world.hands.hold("one")
        run = await world.start(CHAIN)
        await world.until(lambda: world.hands.now == 1)
        await world.send(run, MessageKind.CANCEL)
        await asyncio.sleep(5)
        locks = Needs.ROW_LOCK in needs
        assert world.hands.now == (1 if locks else 0)
        assert (world.store.table[run].status == "cancelled") is not locks
        gate.set()
        assert await world.ended(run) == "cancelled"
        assert world.hands.attempts("two") == []


@virtual
async def test_a_step_without_an_executor_fails() -> None:
    async with rig() as world:
        await world.engine()
        graph = Graph((Step("one", StepKind.PYTHON, {}, retry=NO_RETRY),), ())
        assert await world.ended(await world.start(graph)) == "failed"
