"""Functions whose code was changed while they slept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from detent.python.decorators import step
from detent.python.functions import FunctionWorkflow, Run, workflow
from detent.python.registry import code_name
from detent.run.outcomes import Outcome, Pause, StepError, Suspend
from tests.python.function.ports import Stage
from tests.python.function.test_operations import output

CALLS: list[str] = []


def _step(name: str) -> Callable[[], str]:
    @step(inline=True)
    def body() -> str:
        CALLS.append(name)
        return name

    body.__name__ = name
    return body


A, B, C, X = (_step(name) for name in "abcx")


def program(drift: str, *parts: Callable[[], str] | str) -> FunctionWorkflow:
    @workflow(name="drifting", drift=drift)
    async def drifting(run: Run) -> list[Any]:
        return [await (run.sleep(part) if isinstance(part, str) else run.step(part)) for part in parts]

    return drifting


#: By what was done to `a, b, sleep, c` while it slept: the code now, and what is called when it goes on.
EDITS: dict[str, tuple[tuple[Callable[[], str] | str, ...], list[str]]] = {
    "added behind": ((A, B, "1h", X, C), ["x", "c"]),
    "added before": ((X, A, B, "1h", C), ["x", "c"]),
    "removed": ((A, "1h", C), ["c"]),
    "removed behind": ((A, B, "1h"), []),
    "renamed": ((X, B, "1h", C), ["x", "c"]),
    "reordered": ((B, A, "1h", C), ["c"]),
    "reordered behind": ((A, B, C, "1h"), ["c"]),
    "twice": ((A, A, B, "1h", C), ["a", "c"]),
}
#: What the record does not contradict.
HARMLESS = {"added behind", "removed behind"}


async def _edited(drift: str, now: tuple[Callable[[], str] | str, ...]) -> tuple[Stage, Outcome]:
    stage = Stage(program(drift, A, B, "1h", C))
    assert isinstance(await stage.attempt(), Suspend)
    stage.put_on(program(drift, *now))
    CALLS.clear()
    return stage, await stage.until_over()


@pytest.mark.parametrize("edit", EDITS)
async def test_a_tolerant_function_uses_what_is_recorded_and_does_the_rest(edit: str) -> None:
    now, called = EDITS[edit]
    _, outcome = await _edited("tolerant", now)
    assert output(outcome) == [None if isinstance(part, str) else part.__name__ for part in now]
    assert called == CALLS


@pytest.mark.case("F15")
@pytest.mark.parametrize("edit", EDITS)
async def test_a_strict_function_pauses_with_the_difference(edit: str) -> None:
    now, _ = EDITS[edit]
    _, outcome = await _edited("strict", now)
    if edit in HARMLESS:
        assert not isinstance(outcome, Pause)
        return
    assert isinstance(outcome, Pause), outcome
    assert outcome.error is not None
    assert outcome.error.code == "drift"
    assert outcome.error.detail["recorded"][:2] == ["a", "b"]
    assert any(line.startswith(("-", "+")) for line in outcome.error.detail["diff"])
    assert CALLS == [], "nothing may be done by code that does not fit"


async def test_a_strict_function_that_did_not_change_goes_on() -> None:
    _, outcome = await _edited("strict", (A, B, "1h", C))
    assert output(outcome) == ["a", "b", None, "c"]
    assert CALLS == ["c"]


async def test_a_paused_function_goes_on_when_its_code_fits_again() -> None:
    stage, outcome = await _edited("strict", (X, B, "1h", C))
    assert isinstance(outcome, Pause)
    stage.put_on(program("strict", A, B, "1h", C))
    assert output(await stage.until_over()) == ["a", "b", None, "c"]


async def test_what_a_strict_function_gave_up_does_not_count_as_drift() -> None:
    @workflow(name="drifting", drift="strict")
    async def gives_up(run: Run) -> str:
        try:
            async with asyncio.timeout(5):
                await run.sleep(7)
        except TimeoutError:
            await run.step(A)
        await run.sleep("1h")
        return "done"

    assert output(await Stage(gives_up).until_over()) == "done"


#: By what the function waits for behind `a`: how it asks for that, and how it comes in.
WAITED: dict[str, tuple[Callable[[Run], Any], Callable[[Stage], None]]] = {
    "wait": (lambda run: run.wait("w"), lambda stage: stage.record.answer("w", 1)),
    "signal": (lambda run: run.signal("s"), lambda stage: stage.record.send("s", 1)),
    "callback": (lambda run: run.callback("w"), lambda stage: None),
}


@pytest.mark.parametrize("what", WAITED)
async def test_a_strict_function_goes_on_when_what_it_waited_for_has_come(what: str) -> None:
    ask, come = WAITED[what]

    @workflow(name="drifting", drift="strict")
    async def waits(run: Run) -> str:
        await run.step(A)
        await ask(run)
        await run.sleep("3d")
        return await run.step(C)

    stage = Stage(waits)
    assert isinstance(await stage.attempt(), Suspend)
    come(stage)
    assert output(await stage.until_over()) == "c"


@pytest.mark.parametrize("what", ["wait", "callback"])
async def test_a_strict_function_that_does_not_wait_any_more_for_what_came_pauses(what: str) -> None:
    ask, come = WAITED[what]

    @workflow(name="drifting", drift="strict")
    async def waits(run: Run) -> None:
        await run.step(A)
        await ask(run)
        await run.sleep("3d")

    stage = Stage(waits)
    await stage.attempt()
    come(stage)
    stage.put_on(program("strict", A, "3d"))
    outcome = await stage.attempt()
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert outcome.error.code == "drift"
    assert "'@wait:w'" in outcome.error.message


async def test_the_end_of_a_strict_function_does_not_wait_for_what_ended_with_it() -> None:
    @workflow(name="drifting", drift="strict")
    async def first_of_two(run: Run) -> str:
        await asyncio.wait([run.sleep(1), run.sleep(1)], return_when=asyncio.FIRST_COMPLETED)
        return "done"

    stage = Stage(first_of_two)
    assert output(await stage.until_over()) == "done"
    assert output(await stage.attempt()) == "done"
    assert stage.record.route() == ["@sleep", "@sleep#2"]


async def test_a_strict_function_that_ends_before_what_it_had_begun_pauses() -> None:
    stage = Stage(program("strict", A, "3d", B))
    assert isinstance(await stage.attempt(), Suspend)
    stage.put_on(program("strict", A))
    outcome = await stage.attempt()
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert "'@sleep'" in outcome.error.message


# -- other arguments


def _taking(*, number: bool) -> FunctionWorkflow:
    if number:

        @workflow(name="taking")
        async def after(run: Run, number: int) -> int:
            return number

        return after

    @workflow(name="taking")
    async def before(run: Run) -> str:
        await run.sleep("1h")
        return "slept"

    return before


async def test_a_run_under_way_whose_function_takes_other_arguments_now_pauses_and_can_go_on_when_it_is_mended() -> (
    None
):
    stage = Stage(_taking(number=False))
    assert isinstance(await stage.attempt(), Suspend)
    stage.put_on(_taking(number=True))
    outcome = await stage.attempt()
    assert isinstance(outcome, Pause)
    assert outcome.error == StepError("invalid_parameters", "the argument 'number' is missing")
    stage.put_on(_taking(number=False))
    assert output(await stage.until_over()) == "slept"


async def test_a_run_that_did_nothing_yet_pauses_too_if_its_function_was_changed_since_it_was_started() -> None:
    stage = Stage(_taking(number=False))
    stage.start_with(_taking(number=False))
    stage.put_on(_taking(number=True))
    assert isinstance(await stage.attempt(), Pause)


def test_a_pinned_function_names_the_code_it_needs() -> None:
    pinned, other = program("pin", A), program("pin", A, B)
    assert pinned.compiled.code == (code_name("drifting", pinned.fingerprint),)
    assert program("tolerant", A).compiled.code == (code_name("drifting"),)
    assert pinned.fingerprint == other.fingerprint, "the same words with other values are the same code"


@pytest.mark.case("F15")
async def test_a_recorded_result_that_does_not_fit_the_annotation_any_more_pauses_the_run() -> None:
    async def told() -> str:
        return "five"

    @workflow(name="drifting")
    async def before(run: Run) -> Any:
        await run.step(told, name="told")
        await run.sleep("1h")

    def now_a_number() -> int:
        return 5

    @workflow(name="drifting")
    async def after(run: Run) -> Any:
        return await run.step(now_a_number, name="told")

    stage = Stage(before)
    await stage.attempt()
    stage.put_on(after)
    outcome = await stage.attempt()
    assert isinstance(outcome, Pause)
    assert isinstance(outcome.error, StepError)
    assert "does not fit" in outcome.error.message


@pytest.mark.case("F15")
async def test_a_function_that_asks_chance_itself_is_found_out_when_it_is_strict() -> None:
    choices = iter([A, X])

    @workflow(name="drifting", drift="strict")
    async def fickle(run: Run) -> str:
        chosen = next(choices)  # as `random.choice`, `time.time` or the order of a set would
        given = await run.step(chosen)
        await run.sleep("1h")
        return given

    stage = Stage(fickle)
    assert isinstance(await stage.attempt(), Suspend)
    outcome = await stage.until_over()
    assert isinstance(outcome, Pause)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.detail["asked"]) == ("drift", ["x"])
