"""One attempt of a step: what its code sees, in which order it is called, and what becomes of it."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypedDict

import msgspec
import pytest

from detent.python.flow import FlowControl
from detent.python.heroes import Heroes, HeroRef
from detent.python.marks import cancel_if, step
from detent.python.policies import cancel, pause, reattempt, skip
from detent.python.registry import PythonRegistry
from detent.python.workflow import Workflow
from detent.run.outcomes import Cancel, Done, Finish, Pause, Reattempt, Skip
from detent.steps.actions import Permanent, RetryLater
from tests.python.stage import call_of, play


def output_of(outcome: Any) -> Any:
    assert isinstance(outcome, Done | Finish), outcome
    return msgspec.json.decode(outcome.result)["output"]


# -- what runs where


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


# -- the order of checks


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


# -- heroes


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


# -- flow control


async def test_every_verb_ends_the_step_where_it_stands(code: PythonRegistry) -> None:
    behind: list[str] = []

    class Verbs(Workflow, registry=code):
        @step
        def by_cancel(self: Any) -> None:
            self.cancel("no more of this")
            behind.append("cancel")

        @step
        async def by_pause(self: Any) -> None:
            self.pause()
            behind.append("pause")

        @step(inline=True)
        def by_skip(self: Any) -> None:
            self.skip()
            behind.append("skip")

        @step
        def by_reattempt(self: Any) -> None:
            self.reattempt(wait=timedelta(minutes=2))
            behind.append("reattempt")

        step("at_once", lambda self: self.reattempt())

        @step
        async def by_finish(self: Any) -> None:
            self.finish({"all": "done"})
            behind.append("finish")

    assert await play(Verbs, "by_cancel") == Cancel("no more of this")
    assert await play(Verbs, "by_pause") == Pause("step 'by_pause'")
    assert await play(Verbs, "by_skip") == Skip()
    assert await play(Verbs, "by_reattempt") == Reattempt(120.0)
    assert await play(Verbs, "at_once") == Reattempt(0.0)
    assert output_of(await play(Verbs, "by_finish")) == {"all": "done"}
    assert isinstance(await play(Verbs, "by_finish"), Finish)
    assert behind == []


async def test_except_exception_does_not_stop_flow_control(code: PythonRegistry) -> None:
    class Careful(Workflow, registry=code):
        @step
        def work(self) -> None:
            try:
                self.skip()
            except Exception:  # noqa: BLE001 - what people write
                self.cancel("must not happen")

    assert await play(Careful, "work") == Skip()


async def test_flow_control_that_is_swallowed_counts_all_the_same(code: PythonRegistry) -> None:
    class Swallowing(Workflow, registry=code):
        @step
        def by_everything(self: Any) -> str:
            try:
                self.cancel("enough")
            except BaseException:  # noqa: BLE001 - what people write
                return "went on"
            return "never"

        @step
        async def by_another_error(self) -> None:
            try:
                self.skip()
            except BaseException as error:
                raise ValueError("hidden") from error

        @step
        def by_another_wish(self) -> None:
            try:
                self.pause("first")
            except FlowControl:
                self.finish()

        @step
        async def in_a_group(self) -> None:
            async def asks() -> None:
                self.reattempt(wait=9)

            async with asyncio.TaskGroup() as group:
                group.create_task(asks())

        @step(skip_if="asks_in_vain")
        def by_a_condition(self) -> str:
            return "the body ran"

        def asks_in_vain(self) -> bool:
            try:
                self.cancel("from a condition")
            except BaseException:  # noqa: BLE001 - what people write
                return False

    assert await play(Swallowing, "by_everything") == Cancel("enough")
    assert await play(Swallowing, "by_another_error") == Skip()
    assert await play(Swallowing, "by_another_wish") == Pause("first")
    assert await play(Swallowing, "in_a_group") == Reattempt(9.0)
    assert await play(Swallowing, "by_a_condition") == Cancel("from a condition")


async def test_conditions_and_the_hook_may_use_flow_control(code: PythonRegistry) -> None:
    class Early(Workflow, registry=code):
        @cancel_if
        def check(self) -> bool:
            if self.step_name == "a":
                self.pause("from cancel_if")
            return False

        def before_step_starts(self, step_name: str) -> None:
            self.skip()

        step("a", lambda self: 1)
        step("b", lambda self: 1)

    assert await play(Early, "a") == Pause("from cancel_if")
    assert await play(Early, "b") == Skip()


async def test_flow_control_outside_a_step_says_what_to_use_instead(code: PythonRegistry) -> None:
    kept: list[Workflow] = []

    class Signup(Workflow, registry=code):
        @step
        def welcome(self) -> None:
            kept.append(self)

    with pytest.raises(RuntimeError, match=r"self\.cancel\(\) works only in a step while it runs; .*`run\.cancel\(\)"):
        Signup().cancel()
    with pytest.raises(RuntimeError, match="this Signup has no run"):
        _ = Signup().hero
    await play(Signup, "welcome")
    with pytest.raises(RuntimeError, match=r"self\.skip\(\) works only"):
        kept[0].skip()


async def test_a_wait_that_is_none_is_an_exception_of_the_step(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        step("a", lambda self: self.reattempt(wait="soon"))

    outcome = await play(Signup, "a")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "'soon' is not a duration" in outcome.error.message


# -- exceptions


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
    assert error.detail["type"] == "tests.python.test_attempts.Refused"
    assert "raise error" in error.detail["traceback"]
    assert "test_attempts.py" in error.detail["traceback"]


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
            await asyncio.sleep(5)

        @step(timeout=0.05, on_exception="cancel")
        def plain(self) -> None:
            release.wait(5)

        @step(timeout=0.05)
        async def stubborn(self) -> str:
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                return "too late"
            return "never"

        step("quick", lambda self: 1, timeout=5)

    begun = time.monotonic()
    skipped = await play(Slow, "awaited")
    assert isinstance(skipped, Skip)
    assert skipped.error is not None
    assert skipped.error.message == "TimeoutError: the step did not end within 0.05 s"
    assert isinstance(await play(Slow, "plain"), Cancel)
    assert isinstance(await play(Slow, "stubborn"), Pause)
    assert isinstance(await play(Slow, "quick"), Done)
    release.set()
    assert time.monotonic() - begun < 4


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


# -- results


@pytest.mark.parametrize(
    ("value", "named"),
    [({1, 2}, "set"), (b"x", "bytes"), (object(), "object"), (float("nan"), "nan"), (2**70, "64 bits"), (len, "")],
)
async def test_a_result_that_has_no_json_form_is_an_exception_of_the_step(
    code: PythonRegistry, value: Any, named: str
) -> None:
    class Odd(Workflow, registry=code):
        step("work", lambda self: value)
        step("finishes", lambda self: self.finish(value), on_exception="skip")

    outcome = await play(Odd, "work")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert named in outcome.error.message
    assert isinstance(await play(Odd, "finishes"), Skip)


async def test_results_of_earlier_steps_are_there_by_name(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        step("first", lambda self: 1)
        step("second", lambda self: 1)

        @step
        def third(self) -> Any:
            assert list(self.results) == ["first"]
            assert self.results.get("second") is None
            return self.results["first"]["mail"]

        step("wrong", lambda self: self.results["frist"])
        step("too_early", lambda self: self.results["third"])

    results = {"first": b'{"output":{"mail":5}}'}
    assert output_of(await play(Signup, "third", results=results)) == 5
    outcome = await play(Signup, "wrong", results=results)
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "there is no step 'frist'; did you mean 'first'?" in outcome.error.message
    outcome = await play(Signup, "too_early", results=results)
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "has not ended yet" in outcome.error.message


async def test_a_step_knows_its_attempt(code: PythonRegistry, caplog: pytest.LogCaptureFixture) -> None:
    class Signup(Workflow, registry=code):
        @step
        def welcome(self) -> list[Any]:
            self.log.info("hello %s", "Ann")
            return [self.run_id, self.step_name, self.attempt, self.input, self.now().tzname()]

        step("key", lambda self: self.idempotency_key)

    with caplog.at_level(logging.INFO, "detent.workflow"):
        run_id, *rest = output_of(await play(Signup, "welcome", attempt=3, body=[1]))
    assert run_id.startswith("run_")
    assert rest == ["welcome", 3, [1], "UTC"]
    record = caplog.records[0]
    assert record.getMessage() == "hello Ann"
    assert (record.__dict__["step"], record.__dict__["attempt"]) == ("welcome", 3)
    assert output_of(await play(Signup, "key")) == call_of(Signup, "key").idempotency_key


async def test_each_attempt_has_an_instance_of_its_own(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        def __init__(self) -> None:
            self.count = 0

        @step
        def welcome(self) -> int:
            self.count += 1
            return self.count

    assert output_of(await play(Signup, "welcome")) == 1
    assert output_of(await play(Signup, "welcome")) == 1


async def test_bodies_that_are_not_plain_functions_run(code: PythonRegistry) -> None:
    class Callable:
        def __call__(self, workflow: Workflow) -> str:
            return f"called for {workflow.step_name}"

    def greet(greeting: str, workflow: Workflow) -> str:
        return f"{greeting} {workflow.step_name}"

    class Odd(Workflow, registry=code):
        step("by_object", Callable())
        step("by_partial", functools.partial(greet, "hello"))

    assert output_of(await play(Odd, "by_object")) == "called for by_object"
    assert output_of(await play(Odd, "by_partial")) == "hello by_partial"


# -- state


@dataclass
class Progress:
    sent: int = 0
    names: list[str] = field(default_factory=list)


class Basket(msgspec.Struct):
    items: list[str] = []


class Loose(TypedDict, total=False):
    sent: int


async def test_typed_state_goes_from_step_to_step(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        state: Progress

        @step
        def first(self) -> str:
            assert isinstance(self.state, Progress)
            self.state.sent += 1
            self.state.names.append("Ann")
            return "ok"

        @step
        async def untouched(self) -> None: ...

        @step
        def second(self) -> list[Any]:
            assert isinstance(self.state, Progress)
            self.state.sent += 1
            return [self.state.sent, self.state.names]

    results: dict[str, bytes] = {}
    for name in ("first", "untouched", "second"):
        outcome = await play(Signup, name, results=results)
        assert isinstance(outcome, Done), outcome
        results[name] = outcome.result
    assert msgspec.json.decode(results["first"]) == {
        "output": "ok",
        "state": {"sent": 1, "names": ["Ann"]},
        "state_number": 1,
    }
    assert msgspec.json.decode(results["untouched"]) == {"output": None}
    assert msgspec.json.decode(results["second"])["output"] == [2, ["Ann"]]
    # The newest counts, wherever its step stands by now.
    assert msgspec.json.decode(results["second"])["state_number"] == 2


@pytest.mark.parametrize("kind", [Progress, Basket, Loose, dict, dict[str, int]])
async def test_every_kind_of_state_is_made_and_read_back(code: PythonRegistry, kind: Any) -> None:
    class Signup(Workflow, registry=code):
        state: kind

        @step
        def first(self) -> None:
            _ = self.state

        @step
        def second(self) -> str:
            return type(self.state).__name__

    done = await play(Signup, "first")
    assert isinstance(done, Done)
    again = await play(Signup, "second", results={"first": done.result})
    assert output_of(again) in (getattr(kind, "__name__", ""), "dict")


async def test_state_without_a_type_is_a_dictionary_and_can_be_replaced(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        @step
        def first(self) -> None:
            self.state = {"a": 1}

        @step
        def skips(self) -> None:
            self.state["b"] = 2
            self.skip()

        @step
        def finishes(self) -> None:
            self.state["c"] = 3
            self.finish("end")

    done = await play(Signup, "first")
    assert isinstance(done, Done)
    results = {"first": done.result}
    skipped = await play(Signup, "skips", results=results)
    assert isinstance(skipped, Skip)
    assert msgspec.json.decode(skipped.result)["state"] == {"a": 1, "b": 2}
    finished = await play(Signup, "finishes", results={**results, "skips": skipped.result})
    assert isinstance(finished, Finish)
    assert msgspec.json.decode(finished.result) == {
        "output": "end",
        "state": {"a": 1, "b": 2, "c": 3},
        "state_number": 3,
    }


async def test_a_state_that_cannot_be_kept_is_an_exception_of_the_step(code: PythonRegistry) -> None:
    class Signup(Workflow, registry=code):
        @step
        def first(self) -> None:
            self.state["x"] = {1, 2}

    outcome = await play(Signup, "first")
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "the state has a value of type set" in outcome.error.message


# -- transactional steps


class Books:
    """Keeps results as a database would."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.rolled_back = 0

    def keep(self, call: Any, generation: int, body: Any) -> bytes:
        if call.step not in self.kept:
            try:
                self.kept[call.step] = body("a session")
            except BaseException:
                self.rolled_back += 1
                raise
        return self.kept[call.step]

    async def keep_async(self, call: Any, generation: int, body: Any) -> bytes:
        if call.step not in self.kept:
            self.kept[call.step] = await body("an async session")
        return self.kept[call.step]


async def test_a_transactional_step_runs_in_its_transaction_once(code: PythonRegistry) -> None:
    class Payment(Workflow, registry=code):
        step("plain", lambda self: self.session, transactional=True)

        @step(transactional=True)
        async def awaited(self) -> Any:
            return self.session

        @step(transactional=True)
        def swallows(self) -> str:
            try:
                self.skip()
            except BaseException:  # noqa: BLE001 - what people write
                return "kept?"

        step("outside", lambda self: self.session)

    books = Books()
    assert output_of(await play(Payment, "plain", keeper=books)) == "a session"
    assert output_of(await play(Payment, "awaited", keeper=books)) == "an async session"
    books.kept["plain"] = b'{"output":"from before"}'
    assert output_of(await play(Payment, "plain", keeper=books)) == "from before"
    assert await play(Payment, "swallows", keeper=books) == Skip()
    assert books.rolled_back == 1
    assert "swallows" not in books.kept
    missing = await play(Payment, "plain")
    assert isinstance(missing, Pause)
    assert missing.error is not None
    assert "detent.transactions" in missing.error.message
    assert isinstance(await play(Payment, "outside"), Pause)
