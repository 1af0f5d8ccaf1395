"""One attempt of a step: where its code runs, and in which order it is called."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from detent.python.classes.executor import ClassExecutor
from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.flow import reattempt
from detent.python.heroes import Heroes, HeroRef
from detent.python.registry import PythonRegistry
from detent.run.outcomes import Cancel, Done, Reattempt, Skip
from detent.steps import user_code
from tests.python.stage import call_of, output_of, play


async def test_plain_steps_run_in_a_thread_and_async_and_inline_ones_on_the_loop(code: PythonRegistry) -> None:
    class Places(Workflow, registry=code):
        @step
        def plain(self) -> str:
            return threading.current_thread().name

        @step
        async def awaited(self) -> str:
            await asyncio.sleep(0)
            return threading.current_thread().name

        @step(inline=True, skip_if=lambda self: False)
        def inline(self) -> str:
            return threading.current_thread().name

        step("returns_a_coroutine", lambda self: self.awaited())

    here = threading.current_thread().name
    assert output_of(await play(Places, "plain")).startswith("detent-action")
    assert output_of(await play(Places, "awaited")) == here
    assert output_of(await play(Places, "inline")) == here
    assert output_of(await play(Places, "returns_a_coroutine")) == here


async def test_checks_and_body_share_one_visit_to_a_thread(code: PythonRegistry, heroes: Heroes) -> None:
    seen: list[tuple[str, bool]] = []

    def note(what: str) -> bool:
        seen.append((what, threading.current_thread() is threading.main_thread()))
        return False

    class Mixed(Workflow, registry=code):
        cancel_if(lambda self: note("cancel_if"))

        async def is_active(self) -> bool:
            return note("skip_if")

        def before_step_starts(self, step_name: str) -> None:
            note(f"before {step_name}")

        @step(skip_if="is_active")
        async def awaited(self) -> None:
            note("body")

    heroes.register("User", load=lambda id_: note("hero") or "Ann")
    await play(Mixed, "awaited", heroes=heroes, hero=("User", "7"))
    assert seen == [
        ("hero", False),
        ("cancel_if", False),
        ("skip_if", True),
        ("before awaited", False),
        ("body", True),
    ]


async def test_an_inline_step_gives_its_outcome_at_once(code: PythonRegistry) -> None:
    class Quick(Workflow, registry=code):
        step("add", lambda self: 1 + 1, inline=True)

    assert output_of(await play(Quick, "add")) == 2


@pytest.fixture
def told() -> list[str]:
    return []


def checked(code: PythonRegistry, told: list[str], *, gone: bool = False, skips: bool = False) -> type[Workflow]:
    class Checked(Workflow, registry=code):
        @cancel_if
        def first_condition(self) -> bool:
            told.append("cancel_if 1")
            return False

        @cancel_if
        async def second_condition(self) -> bool:
            told.append("cancel_if 2")
            return gone

        def is_done(self) -> bool:
            told.append("skip_if")
            return skips

        async def before_step_starts(self, step_name: str) -> None:
            told.append(f"before {step_name}")

        @step(skip_if="is_done")
        def work(self) -> None:
            told.append("body")

    return Checked


def loading(told: list[str], found: Any) -> Heroes:
    heroes = Heroes()

    @heroes.loader("User")
    async def load(id_: str) -> Any:
        told.append(f"hero {id_}")
        return found

    return heroes


async def test_hero_then_cancel_if_then_skip_if_then_the_hook_then_the_body(
    code: PythonRegistry, told: list[str]
) -> None:
    outcome = await play(checked(code, told), "work", heroes=loading(told, "Ann"), hero=("User", "7"))
    assert output_of(outcome) is None
    assert told == ["hero 7", "cancel_if 1", "cancel_if 2", "skip_if", "before work", "body"]


async def test_each_check_ends_the_attempt_before_the_next(code: PythonRegistry, told: list[str]) -> None:
    outcome = await play(checked(code, told, skips=True), "work", hero=("User", "7"))
    assert outcome == Skip()
    assert told[-1] == "skip_if"
    told.clear()
    outcome = await play(checked(code, told, gone=True, skips=True), "work", hero=("User", "7"))
    assert outcome == Cancel("cancel_if 'second_condition'")
    assert told == ["cancel_if 1", "cancel_if 2"]
    told.clear()
    outcome = await play(checked(code, told), "work", heroes=loading(told, None), hero=("User", "7"))
    assert outcome == Cancel("its hero is gone")
    assert told == ["hero 7"]


async def test_conditions_are_names_functions_properties_and_constants(code: PythonRegistry) -> None:
    class Conditions(Workflow, registry=code):
        step("by_constant", lambda self: 1, skip_if=True)
        step("by_false", lambda self: 1, skip_if=False)
        step("by_property", lambda self: 1, skip_if="is_old")
        step("by_lambda", lambda self: 1, skip_if=lambda self: self.input["old"])
        step("by_coroutine", lambda self: 1, skip_if=lambda self: self.looks_old())
        step("by_static", lambda self: 1, skip_if="always")

        @property
        def is_old(self) -> bool:
            return bool(self.input["old"])

        async def looks_old(self) -> bool:
            return bool(self.input["old"])

        @staticmethod
        def always() -> bool:
            return True

    assert await play(Conditions, "by_constant") == Skip()
    assert isinstance(await play(Conditions, "by_false"), Done)
    assert await play(Conditions, "by_static") == Skip()
    for name in ("by_property", "by_lambda", "by_coroutine"):
        assert await play(Conditions, name, body={"old": True}) == Skip()
        assert isinstance(await play(Conditions, name, body={"old": False}), Done)


async def test_conditions_are_asked_when_the_step_runs(code: PythonRegistry) -> None:
    answers = [True]

    class Signup(Workflow, registry=code):
        step("a", lambda self: 1, skip_if=lambda self: answers[0])

    answers[0] = False
    assert isinstance(await play(Signup, "a"), Done)
    answers[0] = True
    assert await play(Signup, "a") == Skip()


async def test_a_gone_hero_is_no_obstacle_where_the_workflow_may_proceed(code: PythonRegistry) -> None:
    class Cleanup(Workflow, registry=code):
        may_proceed_without_hero = True

        @step
        def archive(self) -> list[Any]:
            return [self.hero, self.hero_type, self.hero_id]

    heroes = Heroes()
    heroes.register("User", load=lambda id_: None)
    assert output_of(await play(Cleanup, "archive", heroes=heroes, hero=("User", "7"))) == [None, "User", "7"]


async def test_a_hero_without_a_loader_is_its_reference(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        @step
        def hello(self) -> list[Any]:
            assert isinstance(self.hero, HeroRef)
            return [self.hero.type, self.hero.id]

        @step
        async def nobody(self) -> list[Any]:
            return [self.hero, self.hero_type, self.hero_id]

    assert output_of(await play(Signup, "hello", hero=("User", "7"))) == ["User", "7"]
    assert output_of(await play(Signup, "nobody")) == [None, None, None]


async def test_a_loader_that_raises_is_an_exception_of_the_step(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        step("hello", lambda self: 1, on_exception=reattempt(wait=3))

    def load(id_: str) -> Any:
        raise ConnectionError("no database")

    heroes = Heroes()
    heroes.register("User", load=load)
    outcome = await play(Signup, "hello", heroes=heroes, hero=("User", "7"))
    assert isinstance(outcome, Reattempt)
    assert outcome.wait == 3.0
    assert outcome.error is not None
    assert outcome.error.message == "ConnectionError: no database"


async def test_a_coroutine_that_a_thread_made_for_a_cancelled_attempt_is_closed(
    code: PythonRegistry, heroes: Heroes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Coroutine[Any, Any, None]] = []
    has_sent = threading.Event()

    async def body() -> None: ...

    class Slow(Workflow, registry=code):
        @step
        def returns_a_coroutine(self) -> Any:
            made.append(body())
            return made[0]

    heroes.register("User", load=lambda id_: "Ann")
    monkeypatch.setattr(user_code, "TIDYING", [has_sent.set])
    executor = ClassExecutor(code, heroes)
    work = executor.begin(call_of(Slow, "returns_a_coroutine", hero=("User", "7")))
    assert asyncio.iscoroutine(work)
    attempt = asyncio.create_task(work)
    await asyncio.sleep(0)
    assert has_sent.wait(300)  # the thread has sent the coroutine to the loop, which stands still
    attempt.cancel()
    await asyncio.wait([attempt])
    assert inspect.getcoroutinestate(made[0]) == inspect.CORO_CLOSED
    await executor.close()
