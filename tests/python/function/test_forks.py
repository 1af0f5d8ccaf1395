"""A fork at an operation of a durable function: what ended before it is reused, and it runs again."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import NotFound
from detent.ids import RUN, show
from detent.python.functions import Run, workflow
from tests.callers import commands_of
from tests.python.function.test_engine import begin, ended, engine, until

CHARGED: list[str] = []


async def charge(what: str) -> str:
    CHARGED.append(what)
    return f"{what} charged"


@workflow
async def charges(run: Run, first: str) -> list[Any]:
    one = await run.step(charge, first)
    answer = await run.wait("approval")
    two = await run.step(charge, str(answer))
    return [one, answer, two]


async def _done(app: Any) -> str:
    CHARGED.clear()
    run = await begin(app, "charges", first="a")
    waiting = await until(app, run, lambda document: document["callbacks"])
    token = waiting["callbacks"][0]["url"].rpartition("/")[2]
    await commands_of(app).callbacks.deliver(token, body="b", headers={}, query={}, message_id=None)
    assert (await ended(app, run))["output"] == ["a charged", "b", "b charged"]
    return run


async def test_a_fork_at_the_second_step_of_a_name_runs_only_that() -> None:
    async with engine() as app:
        run = await _done(app)
        forked = await commands_of(app).reruns.fork(run, "charge#2")
        assert (await ended(app, show(RUN, forked.run)))["output"] == ["a charged", "b", "b charged"]
        assert CHARGED == ["a", "b", "b"]


async def test_a_fork_at_a_wait_has_the_answer_that_is_given_or_waits_again() -> None:
    async with engine() as app:
        run = await _done(app)
        forked = await commands_of(app).reruns.fork(run, "approval", output="c")
        assert (await ended(app, show(RUN, forked.run)))["output"] == ["a charged", "c", "c charged"]
        assert CHARGED == ["a", "b", "c"]
        again = show(RUN, (await commands_of(app).reruns.fork(run, "approval")).run)
        waiting = await until(app, again, lambda document: document["callbacks"])
        assert waiting["tasks"]["charge"]["status"] == "success"
        assert CHARGED == ["a", "b", "c"]


async def test_a_fork_at_an_unknown_operation_is_refused_with_the_nearest_name() -> None:
    async with engine() as app:
        run = await _done(app)
        with pytest.raises(NotFound, match=r"the run has no step 'charge#3'; did you mean 'charge#2'\?"):
            await commands_of(app).reruns.fork(run, "charge#3")
