"""What belongs to a durable function itself is refused in its steps: it would be another one in a replay."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from detent.python.decorators import step
from detent.python.functions import Run, StepFailed, workflow
from tests.python.function.ports import Stage
from tests.python.function.test_operations import double, output

VERBS: dict[str, Callable[[Run], Any]] = {
    "uuid": lambda run: run.uuid(),
    "random": lambda run: run.random(),
    "now": lambda run: run.now(),
    "step": lambda run: run.step(double, 1),
    "sleep": lambda run: run.sleep(1),
    "sleep_until": lambda run: run.sleep_until(datetime(2030, 1, 1, tzinfo=UTC)),
    "wait": lambda run: run.wait("w"),
    "signal": lambda run: run.signal("s"),
    "child": lambda run: run.child("other"),
    "cancel": lambda run: run.cancel(),
    "finish": lambda run: run.finish(),
    "continue_as_new": lambda run: run.continue_as_new(),
}


def _in_a_step(verb: Callable[[Run], Any], kind: str) -> Stage:
    @workflow(name="outside")
    async def outside(run: Run) -> list[Any]:
        def plain() -> None:
            verb(run)

        async def awaited() -> None:
            verb(run)

        @step(inline=True)
        def inline() -> None:
            verb(run)

        def far() -> None:
            seen: list[BaseException] = []

            def work() -> None:
                try:
                    verb(run)
                except BaseException as error:  # noqa: BLE001 - carried over
                    seen.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            raise seen[0]

        try:
            await run.step({"plain": plain, "async": awaited, "inline": inline, "own thread": far}[kind])
        except StepFailed as failed:
            return [failed.message, str(run.uuid())]
        raise AssertionError("it was not refused")

    return Stage(outside)


@pytest.mark.parametrize("kind", ["plain", "async", "inline", "own thread"])
@pytest.mark.parametrize("verb", VERBS)
async def test_a_step_may_not_ask_for_what_belongs_to_its_function(verb: str, kind: str) -> None:
    stage = _in_a_step(VERBS[verb], kind)
    message, uuid = output(await stage.attempt())
    assert message == (
        f"RuntimeError: run.{verb} can only be called in the function itself; a step can only return or raise"
    )
    assert output(await stage.attempt()) == [message, uuid], "it is the same in a replay"


async def test_the_callback_of_a_function_is_not_opened_by_its_step() -> None:
    @workflow(name="outside")
    async def outside(run: Run) -> str:
        async def opens() -> str:
            return (await run.callback("w")).url

        try:
            return await run.step(opens)
        except StepFailed as failed:
            return failed.message

    stage = Stage(outside)
    assert "run.callback can only be called in the function itself" in output(await stage.attempt())
    assert stage.record.places == set()


async def test_a_step_may_know_the_facts_of_its_run() -> None:
    @workflow(name="outside")
    async def outside(run: Run) -> list[Any]:
        async def facts() -> list[Any]:
            await asyncio.sleep(0)
            return [run.id, run.input, run.hero, run.attempt, len(run.idempotency_key)]

        return await run.step(facts)

    assert len(output(await Stage(outside).attempt())) == 5
