"""Waits of durable functions whose place is opened before they begin, on every database."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.python.functions import Run, workflow
from tests.callers import commands_of
from tests.python.function.test_engine import begin, ended, engine, until


@pytest.fixture(params=["memory", "sqlite", "postgres", "mariadb"])
def everywhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "memory":
            return "memory:"
        case "sqlite":
            return f"sqlite:///{tmp_path}/detent.db"
        case name:
            return str(request.getfixturevalue(f"{name}_database"))


@workflow
async def asks_first(run: Run) -> str:
    await run.callback("approval")
    return str(await run.wait("approval", timeout="1h"))


@workflow
async def asks_and_sleeps(run: Run) -> str:
    await run.callback("approval")
    await run.sleep(0.4)
    try:
        return str(await run.wait("approval", timeout=0.3))
    except TimeoutError:
        return "late"


async def test_a_wait_with_a_timeout_takes_the_place_that_was_opened_for_it(everywhere: str) -> None:
    async with engine(everywhere) as app:
        run = await begin(app, "asks_first")
        waiting = await until(app, run, lambda document: document["callbacks"])
        token = waiting["callbacks"][0]["url"].rpartition("/")[2]
        await commands_of(app).callbacks.deliver(token, body="yes", headers={}, query={}, message_id=None)
        document = await ended(app, run)
        assert (document["status"], document["output"]) == ("completed", "yes")


async def test_a_place_that_was_opened_before_a_sleep_times_out_with_its_wait(everywhere: str) -> None:
    async with engine(everywhere) as app:
        document = await ended(app, await begin(app, "asks_and_sleeps"))
        assert (document["status"], document["output"]) == ("completed", "late")
