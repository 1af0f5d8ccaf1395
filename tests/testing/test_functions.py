"""What a test of a durable function is told of mistakes that only a replay, or nobody, would show."""

from __future__ import annotations

import asyncio
import itertools
import warnings
from typing import Any

import pytest

from detent.errors import InvalidDefinition, InvalidInput
from detent.observe import listen
from detent.python.functions import Run, gather, workflow
from detent.testing import NeverEnds, NotDeterministic, crash_matrix, speedrun

clock = itertools.count()


def one(x: int = 1) -> int:
    return x


@workflow(name="testing-forgets")
async def forgets(run: Run) -> int:
    run.sleep("3d")
    run.step(one, 5)
    return 7


@workflow(name="testing-awaits-later")
async def awaits_later(run: Run) -> list[int]:
    first, second, third = run.step(one), run.step(one), run.step(one)
    await run.step(one)
    return [await first, *await gather(second, third)]


def test_an_operation_that_nobody_awaits_is_told() -> None:
    told: list[Any] = []
    stop = listen(lambda name, facts: told.append(facts["operations"]) if name == "function.not_awaited" else None)
    with pytest.warns(UserWarning, match=r"without awaiting run.sleep\(...\), run.step\(one\): an `await` is missing"):
        assert speedrun(forgets).output == 7
    stop()
    assert told == [["run.sleep(...)", "run.step(one)"]]


def test_operations_that_are_awaited_later_or_together_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert speedrun(awaits_later).output == [1, 1, 1]


@workflow(name="testing-adds")
async def adds(run: Run) -> Any:
    return run.step(one, 5) + 1  # type: ignore[operator]


@workflow(name="testing-gives-back")
async def gives_back(run: Run) -> Any:
    return run.step(one, 5)


@workflow(name="testing-looks-into")
async def looks_into(run: Run) -> Any:
    return run.child("testing-adds").total  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (adds, "run.step(one) is not its value: await it, `await run.step(one)`"),
        (gives_back, "the function returns run.step(one) and not its value: `return await run.step(one)`"),
        (looks_into, "run.child(testing-adds) has no 'total' before it has ended: await it"),
    ],
)
def test_the_value_of_an_operation_is_not_there_before_it_is_awaited(function: Any, message: str) -> None:
    run = speedrun(function)
    assert run.status == "paused"
    assert message in (run.error or "")


@workflow(name="testing-other-way")
async def other_way(run: Run) -> int:
    await run.step(one, name="heads" if next(clock) % 2 else "tails")
    await run.sleep("1h")
    return await run.step(one)


@workflow(name="testing-same-way")
async def same_way(run: Run) -> int:
    await run.step(one, name="heads" if run.random() < 0.5 else "tails")
    await run.sleep("1h")
    return await run.step(one)


def test_a_function_that_takes_another_way_in_a_replay_fails_its_test() -> None:
    with pytest.raises(
        NotDeterministic, match=r"not the same in a replay: is a clock, .* use run.now\(\), run.random\(\)"
    ):
        speedrun(other_way)
    assert speedrun(same_way).status == "completed"


@workflow(name="testing-counts-down")
async def counts_down(run: Run, number: int) -> str:
    await run.step(one, number)
    await run.sleep("1h")
    if number:
        run.continue_as_new(number - 1)
    return "done"


@workflow(name="testing-goes-on-for-ever")
async def goes_on_for_ever(run: Run) -> None:
    await run.sleep("400d")
    run.continue_as_new()


def test_a_function_that_goes_on_as_a_new_run_is_followed_to_its_end() -> None:
    run = speedrun(counts_down, 2)
    assert (run.status, run.output) == ("completed", "done")
    assert [step.result for step in run.steps] == [2, 1, 0]
    assert run.slept.total_seconds() == pytest.approx(3 * 3600, abs=1)


def test_a_function_of_one_run_per_hero_is_followed_too_through_every_crash() -> None:
    assert speedrun(counts_down, 2, hero=("User", 7)).output == "done"
    report = crash_matrix(counts_down, 2, hero=("User", 7), same=lambda run: [step.result for step in run.steps])
    assert report.kills > 10


def test_a_function_that_goes_on_for_ever_never_ends() -> None:
    with pytest.raises(NeverEnds):
        speedrun(goes_on_for_ever)


def test_arguments_that_do_not_fit_are_named() -> None:
    for wrong in ({"input": {"number": "x"}}, {"input": {"numbr": 1}}):
        with pytest.raises(InvalidInput, match=r"the arguments do not fit the function: .*'number'"):
            speedrun(counts_down, **wrong)
    with pytest.raises(InvalidInput, match="'number' does not fit: Expected `int`, got `str`"):
        speedrun(counts_down, "x")


def test_a_function_without_a_run_is_refused_when_it_is_defined() -> None:
    with pytest.raises(InvalidDefinition, match=r"takes its run first, as in `async def lonely\(run: Run, x: 'int'\)`"):

        @workflow
        async def lonely(x: int) -> int:
            return x


@workflow(name="testing-runs-out")
async def runs_out(run: Run) -> None:
    async with asyncio.timeout(300):
        await run.sleep("1h")


def test_a_timeout_of_the_function_says_what_it_is() -> None:
    assert "TimeoutError: an asyncio.timeout of the function ran out" in (speedrun(runs_out).error or "")
