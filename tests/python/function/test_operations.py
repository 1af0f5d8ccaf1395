"""What a durable function can ask for."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from detent.instant import SECOND
from detent.python.decorators import step
from detent.python.functions import Run, StepContext, StepFailed, WaitTimeout, gather, workflow
from detent.run.outcomes import Done, Fail, Outcome, Pause, Suspend
from detent.steps.errors import Permanent, RetryLater
from tests.python.function.ports import NOON, Port, Stage


def output(outcome: Outcome | None) -> Any:
    assert isinstance(outcome, Done), outcome
    return json.loads(outcome.result)["output"]


def double(number: int) -> int:
    return 2 * number


@step(inline=True)
def plus_one(number: int) -> int:
    return number + 1


async def half(number: int) -> float:
    await asyncio.sleep(0)
    return number / 2


@dataclass
class Order:
    id: str
    amount: int


def priced(order: Order) -> Order:
    return Order(order.id, order.amount * 2)


async def test_steps_of_every_kind_give_what_they_gave() -> None:
    @workflow
    async def kinds(run: Run, start: int) -> list[float]:
        return [await run.step(double, start), await run.step(half, start), await run.step(plus_one, start)]

    stage = Stage(kinds, start=10)
    assert output(await stage.attempt()) == [20, 5.0, 11]
    assert stage.record.route() == ["double", "half", "plus_one"]


async def test_arguments_and_results_are_of_the_annotated_types_live_and_in_a_replay() -> None:
    seen: list[Any] = []

    @workflow
    async def typed(run: Run, order: Order) -> str:
        assert isinstance(order, Order)
        dear = await run.step(priced, order)
        seen.append(dear)
        await run.sleep("1h")
        return dear.id

    stage = Stage(typed, order={"id": "o1", "amount": 5})
    assert output(await stage.until_over()) == "o1"
    assert seen == [Order("o1", 10)] * 2


async def test_a_long_sleep_gives_up_the_memory_and_a_short_one_does_not() -> None:
    @workflow
    async def naps(run: Run) -> str:
        await run.sleep(5)
        await run.sleep(timedelta(days=3))
        return "rested"

    stage = Stage(naps)
    outcome = await stage.attempt()
    assert outcome == Suspend(NOON + 5 * SECOND + 3 * 86_400 * SECOND, 1)
    assert list(stage.record.operations) == ["@sleep#2"]
    assert output(await stage.until_over()) == "rested"
    assert stage.record.now >= NOON + 3 * 86_400 * SECOND


async def test_operations_begin_when_they_are_called() -> None:
    @workflow
    async def two(run: Run) -> list[int]:
        first, second = run.step(double, 1), run.step(double, 2)
        return [await second, await first]

    stage = Stage(two)
    assert output(await stage.attempt()) == [4, 2]
    assert sorted(stage.record.route()) == ["double", "double#2"]


async def test_a_step_that_nobody_awaits_is_done_before_the_function_is() -> None:
    @workflow
    async def careless(run: Run) -> str:
        run.step(double, 1)
        return "done"

    stage = Stage(careless)
    assert output(await stage.attempt()) == "done"
    assert stage.record.route() == ["double"]


async def test_a_wait_gives_the_body_of_its_answer() -> None:
    @workflow
    async def asks(run: Run) -> Any:
        place = await run.callback("approval")
        await run.step(plus_one, len(place.url))
        return await run.wait("approval", timeout="1h")

    stage = Stage(asks)
    outcome = await stage.attempt()
    assert outcome == Suspend(NOON + 3_600 * SECOND, 1)
    assert stage.record.places == {"@wait:approval"}
    stage.record.answer("approval", {"ok": True})
    assert output(await stage.attempt()) == {"ok": True}


async def test_the_place_of_a_callback_is_there_before_any_step_that_could_tell_its_url() -> None:
    stage: Stage

    @step(inline=True)
    def tell() -> bool:
        return "@wait:approval" in stage.record.places

    @workflow
    async def tells(run: Run) -> bool:
        await run.callback("approval")
        return await run.step(tell)

    stage = Stage(tells)
    assert output(await stage.attempt()) is True


async def test_a_wait_whose_time_is_over_raises() -> None:
    @workflow
    async def asks(run: Run) -> str:
        try:
            await run.wait("approval", timeout="1h")
        except WaitTimeout:
            return "too late"
        return "in time"

    stage = Stage(asks)
    assert output(await stage.until_over()) == "too late"


async def test_signals_come_in_order_also_before_they_are_asked_for() -> None:
    @workflow
    async def hears(run: Run) -> list[Any]:
        await run.sleep("1h")
        return [await run.signal("paid"), await run.signal("paid"), await run.signal("paid", timeout="1h")]

    stage = Stage(hears)
    stage.record.send("paid", 1)
    stage.record.send("paid", 2)
    outcome = await stage.until_over(meanwhile=lambda: stage.record.send("paid", 3))
    assert isinstance(outcome, Pause)  # the third did not come in time
    assert outcome.error is not None
    assert outcome.error.message.startswith("WaitTimeout")


async def test_one_who_gives_up_waiting_takes_no_signal_with_him() -> None:
    @workflow
    async def hears(run: Run) -> list[Any]:
        try:
            async with asyncio.timeout(300):
                await run.signal("paid")
        except TimeoutError:
            pass
        return [await run.signal("paid"), await run.signal("paid")]

    stage = Stage(hears)
    sent = iter((1, 2))
    outcome = await stage.until_over(meanwhile=lambda: stage.record.send("paid", next(sent)))
    assert output(outcome) == [1, 2]


async def test_a_failed_step_raises_and_can_be_handled() -> None:
    @step(inline=True)
    def break_down() -> None:
        raise ValueError("no")

    @workflow
    async def handles(run: Run) -> str:
        try:
            await run.step(break_down)
        except StepFailed as failed:
            return f"{failed.key} {failed.code} {failed.message}"
        return "fine"

    stage = Stage(handles)
    assert output(await stage.attempt()) == "break_down exception ValueError: no"


async def test_a_function_branches_on_the_class_of_the_exception_of_its_step() -> None:
    class CardDeclined(Permanent):
        pass

    @step(inline=True)
    def charge(kind: str) -> None:
        raise {"own": CardDeclined("no funds"), "python": KeyError("x"), "later": RetryLater(9)}[kind]

    @step(timeout=0.01)
    async def hang() -> None:
        await asyncio.sleep(300)

    @workflow
    async def branches(run: Run) -> list[str | None]:
        types = []
        for kind in ("own", "python", "later", None):
            try:
                await (run.step(hang) if kind is None else run.step(charge, kind))
            except StepFailed as failed:
                types.append(failed.type)
        return types

    assert output(await Stage(branches).attempt()) == ["CardDeclined", "KeyError", "RetryLater", "TimeoutError"]


async def test_a_step_is_tried_again_as_often_as_it_says_and_waits_between() -> None:
    tries: list[tuple[int, str]] = []

    @step(inline=True)
    def flaky(context: StepContext) -> int:
        tries.append((context.attempt, context.idempotency_key))
        if context.attempt < 4:
            raise ValueError(str(context.attempt))
        return context.attempt

    @workflow
    async def insists(run: Run) -> int:
        return await run.step(flaky, retry=3)

    stage = Stage(insists)
    assert output(await stage.until_over()) == 4
    assert [number for number, _ in tries] == [1, 2, 3, 4]
    assert len({key for _, key in tries}) == 1


async def test_a_failed_try_survives_a_crash() -> None:
    tries: list[int] = []

    @step(inline=True)
    def flaky(context: StepContext) -> int:
        tries.append(context.attempt)
        raise ValueError("again")

    @workflow(on_exception="fail")
    async def insists(run: Run) -> int:
        return await run.step(flaky, retry=2)

    stage = Stage(insists)
    assert await stage.attempt(Port(stage.record, crash_after=1)) is None
    outcome = await stage.until_over()
    assert isinstance(outcome, Fail)
    assert sorted(set(tries)) == [1, 2, 3]
    assert tries.count(1) == 1


async def test_the_time_that_was_told_once_is_told_again() -> None:
    told: list[Any] = []

    @workflow
    async def asks(run: Run) -> None:
        told.append((run.now(), run.random(), run.uuid()))
        await run.sleep("1h")
        told.append((run.now(), run.random(), run.uuid()))

    stage = Stage(asks)
    await stage.until_over()
    assert told[0] == told[1]
    assert told[2][0] - told[0][0] >= timedelta(hours=1)
    assert told[2] != told[0]


async def test_gathering_keeps_the_order_of_the_calls() -> None:
    @workflow
    async def gathers(run: Run) -> list[int]:
        return list(await gather(*(run.step(double, number) for number in range(20))))

    stage = Stage(gathers)
    assert output(await stage.attempt()) == [2 * number for number in range(20)]


async def test_task_groups_timeouts_and_waits_of_asyncio_work_inside() -> None:
    async def branch(run: Run, number: int) -> int:
        await run.sleep(number)
        return await run.step(double, number)

    @workflow
    async def structured(run: Run) -> Any:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(branch(run, number)) for number in range(3)]
            whole: Any = group.create_task(run.step(double, 21))  # type: ignore[arg-type]  # an operation is taken too
        done, _ = await asyncio.wait([run.step(double, 5)], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(3600)
        try:
            async with asyncio.timeout(3600):
                await run.sleep("2h")
        except TimeoutError:
            return [task.result() for task in tasks], whole.result(), [one.result() for one in done]

    stage = Stage(structured)
    assert output(await stage.until_over()) == [[0, 2, 4], 42, [10]]


async def test_a_child_gives_its_output() -> None:
    @workflow
    async def other(run: Run, number: int) -> int:
        return number

    @workflow
    async def parent(run: Run) -> Any:
        return await run.child(other, 5, hero=("user", "7"))

    stage = Stage(parent)
    assert await stage.attempt() == Suspend(None, 0)
    [child] = stage.record.children.values()
    assert (child.workflow, child.body, child.hero) == ("other", {"number": 5}, ("user", "7"))
    port = Port(stage.record)
    attempt = asyncio.ensure_future(stage.attempt(port))
    await attempt
    assert len(stage.record.children) == 1


async def test_a_step_that_is_written_inside_the_function_knows_its_key_from_the_run() -> None:
    @workflow
    async def keyed(run: Run) -> list[Any]:
        @step(inline=True)
        def inside(context: StepContext) -> list[Any]:
            return [run.idempotency_key == context.idempotency_key, run.attempt]

        outside = run.idempotency_key
        same, attempt = await run.step(inside)
        return [same, attempt, outside != run.id]

    assert output(await Stage(keyed).attempt()) == [True, 1, True]
