"""What goes wrong in a step is told where operators look: in the log, and in the error of the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.instant import SECOND
from detent.observe import listen
from detent.observe.logs import log_events
from detent.python.classes.workflow import Workflow
from detent.python.decorators import cancel_if, step
from detent.python.flow import reattempt
from detent.python.heroes import Heroes
from detent.python.registry import PythonRegistry
from tests.python.stage import theatre


@pytest.fixture
def heard() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    stop = listen(lambda name, facts: found.append((name, facts)))
    yield found
    stop()


async def test_the_pause_and_the_tries_before_it_are_events_with_their_error(
    code: PythonRegistry, heard: list[tuple[str, dict[str, Any]]]
) -> None:
    class Paying(Workflow, registry=code):
        @step(on_exception=reattempt(max=2, wait=0.01))
        def pay(self) -> None:
            raise ValueError("no funds")

    async with theatre("memory://", code) as world:
        await world.engine()
        await world.paused(await world.start(Paying))
    again = [facts for name, facts in heard if name == "step.retry"]
    assert [(one["step"], one["attempt"], one["error"]) for one in again] == [("pay", 1, "ValueError: no funds")]
    (paused,) = (facts for name, facts in heard if name == "run.paused")
    assert (paused["step"], paused["attempt"], paused["error"]) == ("pay", 2, "ValueError: no funds")
    assert paused["run"] == again[0]["run"]
    assert 'raise ValueError("no funds")' in again[0]["traceback"]
    assert 'raise ValueError("no funds")' in paused["traceback"]
    assert not [name for name, _ in heard if name == "run.failed"]


@pytest.mark.parametrize(("policy", "outcome"), [("cancel", "cancelled"), ("skip", "skipped")])
async def test_an_exception_that_does_not_pause_is_an_event_with_its_traceback(
    code: PythonRegistry, heard: list[tuple[str, dict[str, Any]]], policy: str, outcome: str
) -> None:
    class Paying(Workflow, registry=code):
        @step(on_exception=policy)
        def pay(self) -> None:
            raise ValueError("no funds")

    async with theatre("memory://", code) as world:
        await world.engine()
        await world.ended(await world.start(Paying))
    (raised,) = (facts for name, facts in heard if name == "step.raised")
    assert (raised["step"], raised["attempt"], raised["outcome"]) == ("pay", 1, outcome)
    assert raised["error"] == "ValueError: no funds"
    assert 'raise ValueError("no funds")' in raised["traceback"]


async def test_people_read_a_traceback_line_by_line_without_what_could_move_the_cursor(
    code: PythonRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    class Paying(Workflow, registry=code):
        @step
        def pay(self) -> None:
            raise ValueError("no \x1b[2Jfunds")

    stop = log_events("console", troubles_only=True)
    async with theatre("memory://", code) as world:
        await world.engine()
        await world.paused(await world.start(Paying))
    stop()
    written = capsys.readouterr().err
    assert written.endswith("\nValueError: no [2Jfunds\n")
    assert "\x1b[2J" not in written


async def test_the_log_has_one_line_for_a_pause_and_none_for_what_goes_well(
    code: PythonRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    class Paying(Workflow, registry=code):
        @step
        def ask(self) -> str:
            return "fine"

        @step
        def pay(self) -> None:
            raise ValueError("no funds")

    stop = log_events("json", troubles_only=True)
    async with theatre("memory://", code) as world:
        await world.engine()
        run = await world.start(Paying)
        await world.paused(run)
    stop()
    (line,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert (line["event"], line["level"], line["run"]) == ("run.paused", "warning", run)
    assert (line["step"], line["error"]) == ("pay", "ValueError: no funds")


async def test_a_run_that_was_cancelled_by_its_code_says_why(code: PythonRegistry, heroes: Heroes) -> None:
    heroes.register("User", load=lambda id_: None)

    class Asking(Workflow, registry=code):
        @step
        def ask(self) -> None:
            self.cancel("nobody \0 wants it")

    class Checking(Workflow, registry=code):
        @cancel_if
        def is_off(self) -> bool:
            return True

        @step
        def ask(self) -> None: ...

    class Greeting(Workflow, registry=code):
        @step
        def greet(self) -> None: ...

    async with theatre("memory://", code, heroes) as world:
        await world.engine()
        told = [(await world.ended(await world.start(one)))["error"] for one in (Asking, Checking)]
        told.append((await world.ended(await world.start(Greeting, hero=("User", "7"))))["error"])
        by_hand = await world.start(Greeting, hero=("User", "7"), start_at=SystemClock().wall() + 3600 * SECOND)
        await world.commands().control.cancel(by_hand)
        told.append((await world.ended(by_hand))["error"])
    assert told == ["ask: nobody \ufffd wants it", "ask: cancel_if 'is_off'", "greet: its hero is gone", None]
