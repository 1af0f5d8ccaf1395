"""Flow control from inside a step."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.flow import FlowControl
from detent.python.registry import PythonRegistry
from detent.run.outcomes import Cancel, Finish, Pause, Reattempt, Skip
from tests.python.stage import output_of, play


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


@pytest.mark.case("F16")
async def test_except_exception_does_not_stop_flow_control(code: PythonRegistry) -> None:
    class Careful(Workflow, registry=code):
        @step
        def work(self) -> None:
            try:
                self.skip()
            except Exception:  # noqa: BLE001 - what people write
                self.cancel("must not happen")

    assert await play(Careful, "work") == Skip()


@pytest.mark.case("F16")
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
