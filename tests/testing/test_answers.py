"""What a test says instead of the outside world reaches what it is said to, and nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions import ChildFailed, Run, StepFailed, WaitTimeout, workflow
from detent.steps.actions import ActionError, Permanent
from detent.testing import After, NeverEnds, Output, Response, crash_matrix, raised, speedrun

RAN: list[str] = []


def body(name: str) -> Any:
    RAN.append(name)
    return name


@workflow(name="testing-answers-asks")
async def asks(run: Run) -> list[Any]:
    found = [await run.step(body, "a") for _ in range(3)]
    found += [await run.wait("w") for _ in range(3)]
    return found + [await run.signal("s") for _ in range(3)]


def test_an_answer_with_a_number_is_for_that_one_and_the_others_are_for_the_rest() -> None:
    answers = {"body": 1, "body#2": 2, "w": 3, "w#3": 4, "s": 5, "s#2": 6}
    assert speedrun(asks, answers=answers).output == [1, 2, 1, 3, 3, 4, 5, 6, 5]
    assert crash_matrix(asks, answers=answers).ending.output == [1, 2, 1, 3, 3, 4, 5, 6, 5]


@workflow(name="testing-answers-in-turn")
async def in_turn(run: Run) -> list[Any]:
    asked: list[asyncio.Future[Any]] = [run.wait("w"), run.signal("s"), run.step(body, "a"), run.child(child, 1)]
    return [await one for one in asyncio.as_completed([*asked, run.sleep(20)])] + [run.now().isoformat()]


def test_an_answer_comes_when_it_is_said_to() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    given: dict[str, Any] = {"w": 4, "s": 1, "body": 2, "testing-answers-child": 3}
    answers = {name: After(f"{number}m", number) for name, number in given.items()}
    run = speedrun(in_turn, answers=answers, at=at)
    assert run.output == [None, 1, 2, 3, 4, "2026-01-01T00:04:00+00:00"]
    assert run.slept == timedelta(minutes=4)
    assert crash_matrix(in_turn, answers=answers, at=at).ending.output == run.output


@workflow(name="testing-answers-gives-up")
async def gives_up(run: Run) -> Any:
    run.signal("s").cancel()
    try:
        await run.signal("s", timeout=5)
    except WaitTimeout:
        return await run.signal("s")


@pytest.mark.filterwarnings("ignore:.*without awaiting")
def test_a_signal_is_sent_to_who_waits_for_it_and_not_to_who_gave_up() -> None:
    assert speedrun(gives_up, answers={"s": 1, "s#2": TimeoutError, "s#3": 3}).output == 3


@workflow(name="testing-answers-child", allow_multiple=True)
async def child(run: Run, n: int) -> Any:
    await run.step(body, "child")
    return await run.wait("never")


@workflow(name="testing-answers-parent")
async def parent(run: Run) -> list[Any]:
    found: list[Any] = []
    for n in range(5):
        try:
            found.append(await run.child(child, n))
        except ChildFailed as error:
            found.append(f"{error.error.code}: {error.error.message}")
    return [*found, await run.child("testing-answers-elsewhere", {})]


def test_an_answer_stands_in_for_a_child_which_is_not_started() -> None:
    RAN.clear()
    name = "testing-answers-child"
    answers: dict[str, Any] = {
        name: lambda asked: asked.parameters,
        f"{name}#2": Permanent("no", code="bad"),
        f"{name}#3": Output(then="cancel", reason="stop"),
        f"{name}#4": TimeoutError("too late"),
        "testing-answers-elsewhere": {"x": 1},
    }
    run = speedrun(parent, answers=answers)
    expected = [{"n": 0}, "bad: no", "child: stop", "exception: TimeoutError: too late", {"n": 4}, {"x": 1}]
    assert run.output == expected
    assert run.route == [
        *(f"{name}{more}" for more in ("", "#2:failed", "#3:cancelled", "#4:timeout", "#5")),
        "testing-answers-elsewhere",
    ]
    assert crash_matrix(parent, answers=answers).ending.output == expected
    assert RAN == []
    with pytest.raises(NeverEnds):
        speedrun(parent, answers={name: TimeoutError})


@workflow(name="testing-answers-goes-on", allow_multiple=True)
async def goes_on(run: Run, n: int) -> int:
    await run.step(body, str(n))
    if n:
        run.continue_as_new(n - 1)
    return n


def test_what_a_run_goes_on_as_does_nothing_if_it_is_not_followed() -> None:
    RAN.clear()
    run = speedrun(goes_on, 2, follow=False)
    assert (run.status, RAN, run.route) == ("completed", ["2"], ["body"])
    assert speedrun(goes_on, 2).output == 0


@dataclass
class Count:
    n: int = 0
    said: list[str] = field(default_factory=list)


class Odd(Exception):
    def __init__(self, one: int, *, other: int) -> None:
        super().__init__(one + other)


class Coded(ActionError):
    pass


class Model(BaseModel):
    n: int


class Chain(Workflow):
    name = "testing-answers-chain"
    state: Count

    @step(on_exception={Odd: "skip", Coded: "cancel"})
    async def one(self) -> int:
        self.state.n += 1
        return self.state.n

    @step(skip_if=lambda self: self.state.n == 5)
    def two(self) -> int:
        return self.state.n

    @step(transactional=True)
    def three(self) -> int:
        return self.state.n


def test_an_output_leaves_a_state_and_says_how_it_goes_on() -> None:
    def route(**answers: Any) -> tuple[str, list[str], Any]:
        run = speedrun(Chain, answers={"three": 3} | answers)
        return run.status, run.route, run.output

    state = {"n": 5, "said": ["x"]}
    assert route() == ("completed", ["one", "two", "three"], 3)
    assert route(one=Output(7, state=state)) == ("completed", ["one", "two:skipped", "three"], 3)
    assert route(one=Output(state=state, then="skip"))[1] == ["one:skipped", "two:skipped", "three"]
    assert route(one=Output(7, then="finish")) == ("completed", ["one"], 7)
    assert route(two=Output(then="cancel", reason="no"))[:2] == ("cancelled", ["one", "two:cancelled"])
    run = speedrun(Chain, answers={"two": Output(then="pause", reason="later")})
    assert (run.status, run.paused_by, run.route) == ("paused", "later", ["one"])
    later = speedrun(Chain, answers={"one": lambda: given(Output(7, then="finish"))})
    assert later.output == 7


async def given(value: Any) -> Any:
    return value


def test_an_exception_is_raised_of_a_class_that_cannot_be_made() -> None:
    odd = speedrun(Chain, answers={"one": raised(f"{__name__}.Odd", "odd"), "three": 3})
    assert (odd.status, odd.route[0], odd.steps[0].error) == ("completed", "one:skipped", "Odd: odd")
    coded = speedrun(Chain, answers={"one": raised(f"{__name__}.Coded", "no", code="gone")})
    assert (coded.status, coded.history[0].error and coded.history[0].error.code) == ("cancelled", "gone")
    assert isinstance(raised("pydantic_core.ValidationError", "x"), Exception)
    assert type(raised("pydantic.ValidationError", "x")).__name__ == ValidationError.__name__
    with pytest.raises(ModuleNotFoundError):
        raised("nowhere.to.be.Found")
    with pytest.raises(AttributeError):
        raised(f"{__name__}.Gone")


@workflow(name="testing-answers-late")
async def late(run: Run) -> Any:
    try:
        return await run.step(body, "late")
    except StepFailed as error:
        return error.message


def test_a_step_of_a_function_runs_out_of_time_as_the_answer_says() -> None:
    run = speedrun(late, answers={"body": TimeoutError("it took too long")})
    assert (run.route, run.output) == (["body:timeout"], "it took too long")


def test_a_definition_is_started_with_headers_and_a_query() -> None:
    text = 'name: h\ntasks:\n  a: {action: core.echo, with: {q: "{{trigger.query.q}}", h: "{{trigger.headers.h}}"}}\n'
    run = speedrun(text, Response({"b": 1}, headers={"h": "1"}, query={"q": "2"}))
    assert run.output == {"q": "2", "h": "1"}
