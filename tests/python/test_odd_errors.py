"""Whatever a step of a workflow class raises or says becomes an outcome that can be stored and read again."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from detent.python.classes.executor import ClassExecutor
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.flow import reattempt
from detent.python.heroes import Heroes
from detent.python.registry import PythonRegistry
from detent.run.outcomes import Cancel, Done, Pause, Reattempt
from detent.steps.actions import Permanent, RetryLater
from detent.steps.user_code import ThreadPool
from tests.python.stage import call_of, play, theatre
from tests.steps.odd_errors import NAMES, ODD, SECONDS

WAYS = ["inline", "thread", "loop"]


def raising(code: PythonRegistry, way: str, make: Any, **options: Any) -> type[Workflow]:
    def plain(self: Any) -> None:
        raise make()

    async def on_loop(self: Any) -> None:
        raise make()

    class Raising(Workflow, registry=code):
        allow_multiple = True
        step("work", on_loop if way == "loop" else plain, inline=way == "inline", **options)

    return Raising


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
async def test_every_error_becomes_an_outcome_that_can_be_stored(code: PythonRegistry, way: str, name: str) -> None:
    make, wanted = ODD[name]
    async with asyncio.timeout(300):
        outcome = await play(raising(code, way, make), "work")
    assert isinstance(outcome, Pause | Reattempt)
    assert isinstance(outcome, Reattempt) is issubclass(type(make()), RetryLater)
    kept = msgspec.json.decode(msgspec.json.encode(outcome.error))
    assert kept["code"] == wanted
    assert isinstance(kept["message"], str)
    assert len(kept["message"]) <= 1_300
    assert isinstance(kept["detail"]["type"], str)
    assert len(kept["detail"]["traceback"]) <= 8_192


@pytest.mark.parametrize("name", NAMES)
async def test_no_error_takes_a_thread(code: PythonRegistry, name: str) -> None:
    class Healthy(Workflow, registry=code):
        @step
        def work(self) -> int:
            return 7

    bad = raising(code, "thread", ODD[name][0])
    executor = ClassExecutor(code, Heroes(), pool=ThreadPool(1))
    try:
        async with asyncio.timeout(300):
            outcomes = []
            for workflow in (bad, bad, Healthy):
                begun = executor.begin(call_of(workflow, "work"))
                assert asyncio.iscoroutine(begun)
                outcomes.append(await begun)
    finally:
        await executor.close()
    assert outcomes[-1] == Done(b'{"output":7}')


@pytest.mark.parametrize(("given", "seconds"), SECONDS, ids=map(str, range(len(SECONDS))))
async def test_a_wait_that_is_no_length_of_time_is_that_of_the_policy(
    code: PythonRegistry, given: Any, seconds: float | None
) -> None:
    class Own(RetryLater):
        def __init__(self) -> None:
            self.seconds = given

    for make in (Own, lambda: RetryLater(given)):
        outcome = await play(raising(code, "thread", make, on_exception=reattempt(wait=7)), "work")
        assert isinstance(outcome, Reattempt)
        assert outcome.wait == (seconds or 7.0)


async def test_a_class_of_errors_that_has_no_hash_has_the_policy_of_its_parent(code: PythonRegistry) -> None:
    class Comparing(type):  # noqa: PLW1641 - that is what is odd about it
        def __eq__(cls, other: object) -> bool:
            raise RuntimeError("not comparable")

    class Odd(ValueError, metaclass=Comparing):
        pass

    outcome = await play(raising(code, "thread", Odd, on_exception={ValueError: "cancel"}), "work")
    assert isinstance(outcome, Cancel)


async def test_a_body_that_is_closed_while_it_waits_lets_itself_be_closed(code: PythonRegistry) -> None:
    class Waiting(Workflow, registry=code):
        @step
        async def work(self) -> None:
            await asyncio.Event().wait()

    executor = ClassExecutor(code, Heroes())
    begun = executor.begin(call_of(Waiting, "work"))
    assert asyncio.iscoroutine(begun)
    begun.send(None)
    begun.close()
    with pytest.raises(RuntimeError, match="cannot reuse"):
        begun.send(None)


class Unspeakable:
    def __str__(self) -> str:
        raise SystemExit

    def __bool__(self) -> bool:
        raise SystemExit


REASONS: list[tuple[Any, str]] = [
    (5, "5"),
    (0, "0"),
    ("a\ud800b", "a?b"),
    ("a\0b", "a\ufffdb"),
    (ValueError("no funds"), "ValueError: no funds"),
    (Unspeakable(), "(cannot be shown)"),
    ("x" * 5_000_000, "x" * 1_000),
    (None, "step 'work'"),
    ("", "step 'work'"),
]


@pytest.mark.parametrize(("given", "kept"), REASONS, ids=map(str, range(len(REASONS))))
async def test_a_reason_is_kept_as_text(code: PythonRegistry, given: Any, kept: str) -> None:
    class Leaving(Workflow, registry=code):
        @step
        def work(self) -> None:
            self.cancel(given)

    class Resting(Workflow, registry=code):
        @step
        def work(self) -> None:
            self.pause(given)

    assert await play(Leaving, "work") == Cancel(kept)
    assert await play(Resting, "work") == Pause(kept)


async def test_a_run_with_odd_words_can_be_read_resumed_and_cancelled(code: PythonRegistry, store_url: str) -> None:
    class Fetching(Workflow, registry=code):
        @step
        def fetch(self) -> None:
            raise Permanent("gone \0 for good", code=404)  # type: ignore[arg-type]

    class Leaving(Workflow, registry=code):
        @step
        def leave(self) -> None:
            self.cancel("a\ud800b\0" * 5_000)

    class Resting(Workflow, registry=code):
        @step
        def rest(self) -> int:
            if self.attempt == 1:
                self.pause(5)
            return 7

    async with theatre(store_url, code) as world:
        await world.engine()
        left = await world.ended(await world.start(Leaving))
        assert left["status"] == "cancelled"
        assert left["error"].startswith("leave: a?b\ufffda?b")
        fetching, resting = await world.start(Fetching), await world.start(Resting)
        found = await world.paused(fetching)
        assert found["tasks"]["fetch"]["error"]["code"] == "404"
        await world.commands().control.cancel(fetching)
        assert (await world.ended(fetching))["status"] == "cancelled"
        assert (await world.paused(resting))["paused_by"] == "5"
        await world.commands().control.resume(resting)
        assert (await world.ended(resting))["output"] == 7
