"""Registering actions, and what an action step makes of what they do."""

import asyncio
import contextvars
import functools
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec
import pydantic
import pytest

from detent import ids
from detent.graph.model import StepKind
from detent.run.outcomes import Done, Fail
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import ActionContext, ActionError, Permanent, Registry, RetryLater
from detent.steps.user_code import ThreadPool
from tests.steps.calls import RUN_ID, attempt, call_of, done, failed, perform


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
async def step(registry: Registry) -> AsyncIterator[ActionExecutor]:
    executor = ActionExecutor(registry, pool=ThreadPool(2))
    yield executor
    await executor.close()


async def test_an_inline_action_gives_its_outcome_at_once(step: ActionExecutor) -> None:
    outcome = step.begin(call_of(StepKind.ACTION, {"action": "core.echo", "with": {"a": [1]}}))
    assert outcome == Done(b'{"output":{"a":[1]}}')


async def test_a_plain_function_runs_in_another_thread(registry: Registry, step: ActionExecutor) -> None:
    registry.add("where", lambda: threading.current_thread().name)
    assert done(await perform(step, "where"))["output"].startswith("detent-action")


async def test_an_async_function_runs_on_the_loop(registry: Registry, step: ActionExecutor) -> None:
    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    registry.add("where", where)
    assert done(await perform(step, "where"))["output"] == threading.current_thread().name


async def test_a_decorated_function_is_still_a_function(registry: Registry, step: ActionExecutor) -> None:
    @registry.action("double")
    def double(number: int) -> int:
        return number * 2

    assert double(4) == 8
    assert done(await perform(step, "double", {"number": 4})) == {"output": 8}


@dataclass
class Line:
    article: str
    pieces: int = 1


class Customer(pydantic.BaseModel):
    name: str


async def test_parameters_are_converted_to_their_annotations(registry: Registry, step: ActionExecutor) -> None:
    def order(lines: list[Line], customer: Customer, others: list[Customer], discount: float = 0.0) -> str:
        return f"{lines[0].pieces} {lines[0].article} {customer.name} {others[0].name} {discount!r}"

    registry.add("order", order)
    given = {"lines": [{"article": "pen"}], "customer": {"name": "Ann"}, "others": [{"name": "Bob"}], "discount": 5}
    assert done(await perform(step, "order", given))["output"] == "1 pen Ann Bob 5.0"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ammount": 5}, "there is no parameter 'ammount'; did you mean 'amount'?; the parameter 'amount' is missing"),
        ({}, "the parameter 'amount' is missing"),
        (None, "the parameter 'amount' is missing"),
        ({"amount": 5, "zzzzzz": 1}, "there is no parameter 'zzzzzz'"),
        ({"amount": "5"}, "the parameter 'amount' does not fit: Expected `int`, got `str`"),
        ({"amount": 5, "context": 1}, "there is no parameter 'context'"),
        ({"amount": 5, "customer": {"nam": "x"}}, "the parameter 'customer' does not fit: "),
        ([5], "`with` must be an object of parameters, not list"),
    ],
)
async def test_wrong_parameters_fail_for_good_and_say_what_was_meant(
    registry: Registry, step: ActionExecutor, given: Any, message: str
) -> None:
    def charge(amount: int, context: ActionContext, customer: Customer | None = None) -> NoReturn:
        raise AssertionError("must not be called")

    registry.add("charge", charge)
    outcome = failed(await perform(step, "charge", given), "invalid_parameters")
    assert outcome.error.message.startswith(message)
    assert not outcome.retry


async def test_parameters_without_an_annotation_come_as_they_are(registry: Registry, step: ActionExecutor) -> None:
    def show(first, second=2, *rest, **others: int):  # type: ignore[no-untyped-def]
        return [first, second, list(rest), others]

    registry.add("show", show)
    assert done(await perform(step, "show", {"first": None, "x": 5}))["output"] == [None, 2, [], {"x": 5}]
    failed(await perform(step, "show", {"first": None, "x": "5"}), "invalid_parameters")


async def test_partials_and_objects_that_can_be_called_are_actions_too(
    registry: Registry, step: ActionExecutor
) -> None:
    class Adder:
        async def __call__(self, left: int, right: int) -> int:
            return left + right

    registry.add("add", Adder())
    registry.add("increase", functools.partial(Adder(), right=1))
    assert done(await perform(step, "add", {"left": 1, "right": 2}))["output"] == 3
    assert done(await perform(step, "increase", {"left": 1}))["output"] == 2
    failed(await perform(step, "add", {"left": "1", "right": 2}), "invalid_parameters")


async def test_an_action_is_told_which_attempt_it_is(registry: Registry, step: ActionExecutor) -> None:
    async def who(*, context: ActionContext) -> list[object]:
        return [context.run_id, context.step, context.attempt, context.idempotency_key, context.tenant]

    registry.add("who", who)
    call = call_of(StepKind.ACTION, {"action": "who"}, attempt=3)
    run = ids.show(ids.RUN, RUN_ID)
    assert done(await attempt(step, call))["output"] == [run, "charge", 3, call.idempotency_key, 1]


async def test_an_unknown_action_fails_for_good_and_says_what_was_meant(
    registry: Registry, step: ActionExecutor
) -> None:
    registry.add("shop.charge", lambda: None)
    outcome = failed(await perform(step, "shop.chrage"), "unknown_action")
    assert outcome.error.message == "there is no action 'shop.chrage'; did you mean 'shop.charge'?"
    assert not outcome.retry
    assert "core.echo" in failed(await perform(step, "core.ecko"), "unknown_action").error.message


@pytest.mark.parametrize("parameters", [None, [], {}, {"action": None}, {"action": []}, {"action": {"a": 1}}])
async def test_nothing_a_step_gets_makes_it_raise(step: ActionExecutor, parameters: Any) -> None:
    assert isinstance(await attempt(step, call_of(StepKind.ACTION, parameters)), Fail)


WAYS = ["inline", "thread", "loop"]


def add_raising(registry: Registry, way: str, error: BaseException) -> None:
    """An action `go` that raises, in one of the three ways an action can run."""

    def plain() -> NoReturn:
        raise error

    async def on_loop() -> NoReturn:
        raise error

    registry.add("go", on_loop if way == "loop" else plain, inline=way == "inline")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit("no"), KeyboardInterrupt("no"), RecursionError("no"), TimeoutError("no")]
)
async def test_whatever_an_action_raises_is_a_failure(
    registry: Registry, step: ActionExecutor, way: str, error: BaseException
) -> None:
    add_raising(registry, way, error)
    outcome = failed(await perform(step, "go"), "exception")
    assert outcome.error.message == f"{type(error).__name__}: no"
    assert "raise error" in outcome.error.detail["traceback"]
    assert outcome.retry
    assert not outcome.timed_out


@pytest.mark.parametrize("way", WAYS)
async def test_a_permanent_failure_is_not_tried_again(registry: Registry, step: ActionExecutor, way: str) -> None:
    add_raising(registry, way, Permanent("card refused", code="declined"))
    outcome = failed(await perform(step, "go"), "declined")
    assert (outcome.error.message, outcome.retry) == ("card refused", False)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("seconds", "expected"), [(90, 90.0), (-1, 0.0), (float("inf"), 366 * 86_400.0)])
async def test_an_action_can_ask_for_time(
    registry: Registry, step: ActionExecutor, way: str, seconds: float, expected: float
) -> None:
    add_raising(registry, way, RetryLater(seconds))
    outcome = failed(await perform(step, "go"), "exception")
    assert (outcome.retry, outcome.retry_after) == (True, expected)


@pytest.mark.parametrize("way", WAYS)
async def test_a_cancellation_an_action_raised_by_itself_is_its_failure(
    registry: Registry, step: ActionExecutor, way: str
) -> None:
    add_raising(registry, way, asyncio.CancelledError())
    failed(await perform(step, "go"), "exception")


async def test_the_text_of_a_failure_is_bounded_and_can_be_stored(registry: Registry, step: ActionExecutor) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def deep(left: int) -> NoReturn:
        if left:
            deep(left - 1)
        raise ValueError("x\ud800" * 100_000)

    registry.add("deep", functools.partial(deep, 500))
    registry.add("mute", lambda: (_ for _ in ()).throw(Mute()))
    error = failed(await perform(step, "deep"), "exception").error
    assert len(error.message) < 1100
    assert len(error.detail["traceback"]) <= 8192
    assert msgspec.json.encode(error)
    assert failed(await perform(step, "mute"), "exception").error.message.startswith("Mute: ")


async def test_cancelling_an_async_action_passes_through(registry: Registry, step: ActionExecutor) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    registry.add("wait", wait)
    going = asyncio.ensure_future(perform(step, "wait"))
    await begun.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert ended.is_set()


async def test_an_async_action_that_outlives_its_time_is_ended(registry: Registry, step: ActionExecutor) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    registry.add("wait", wait)
    assert failed(await perform(step, "wait", timeout=0.01), "timeout").timed_out


async def test_an_async_action_that_swallows_its_cancellation_has_timed_out_all_the_same(
    registry: Registry, step: ActionExecutor
) -> None:
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "late"
        return "early"

    registry.add("stubborn", stubborn)
    assert failed(await perform(step, "stubborn", timeout=0.01), "timeout").timed_out


async def test_a_plain_function_that_outlives_its_time_is_left_behind(registry: Registry, step: ActionExecutor) -> None:
    may_end, ended = threading.Event(), threading.Event()

    def slow() -> str:
        may_end.wait(60)
        ended.set()
        return "late"

    registry.add("slow", slow)
    registry.add("quick", lambda: "quick")
    assert failed(await perform(step, "slow", timeout=0.01), "timeout").timed_out
    assert done(await perform(step, "quick"))["output"] == "quick"
    may_end.set()
    assert await asyncio.to_thread(ended.wait, 10)
    assert done(await perform(step, "quick"))["output"] == "quick"


async def test_a_full_pool_queues_and_uses_no_more_threads(registry: Registry, step: ActionExecutor) -> None:
    lock = threading.Lock()
    now = most = 0
    both = threading.Barrier(2)

    def busy() -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        both.wait(60)
        with lock:
            now -= 1
        return threading.current_thread().name

    registry.add("busy", busy)
    outcomes = await asyncio.gather(*(perform(step, "busy") for _ in range(10)))
    assert most == 2
    assert len({done(outcome)["output"] for outcome in outcomes}) == 2


async def test_what_was_given_up_in_the_queue_is_never_begun(registry: Registry, step: ActionExecutor) -> None:
    may_end = threading.Event()
    begun: list[int] = []

    def note(number: int) -> None:
        begun.append(number)
        may_end.wait(60)

    registry.add("note", note)
    busy = [asyncio.ensure_future(perform(step, "note", {"number": number})) for number in (1, 2)]
    await asyncio.sleep(0)
    failed(await perform(step, "note", {"number": 3}, timeout=0.01), "timeout")
    may_end.set()
    await asyncio.gather(*busy)
    done(await perform(step, "note", {"number": 4}))
    assert sorted(begun) == [1, 2, 4]


async def test_a_thread_sees_the_context_of_its_caller(registry: Registry, step: ActionExecutor) -> None:
    trace: contextvars.ContextVar[str] = contextvars.ContextVar("trace")
    trace.set("abc")
    registry.add("read", lambda: trace.get("nothing"))
    assert done(await perform(step, "read"))["output"] == "abc"


@pytest.mark.parametrize(
    ("given", "code", "message", "is_retried"),
    [
        ({}, "failed", "failed on purpose", False),
        ({"message": "no", "code": "declined"}, "declined", "no", False),
        ({"message": "no", "retry": True}, "failed", "no", True),
    ],
)
async def test_core_fail_fails_as_it_is_told(
    step: ActionExecutor, given: dict[str, Any], code: str, message: str, is_retried: bool
) -> None:
    outcome = failed(await perform(step, "core.fail", given), code)
    assert (outcome.error.message, outcome.retry) == (message, is_retried)


async def test_an_action_error_keeps_its_code_and_is_tried_again(registry: Registry, step: ActionExecutor) -> None:
    add_raising(registry, "thread", ActionError("busy", code="busy"))
    assert failed(await perform(step, "go"), "busy").retry
