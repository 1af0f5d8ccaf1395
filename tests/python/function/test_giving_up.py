"""What a function has begun and gives up is not seen as open for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from detent.python.functions import Run, workflow
from tests.callers import commands_of
from tests.python.function.test_engine import begin, ended, engine, until


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/detent.db"


@workflow
async def gives_up(run: Run) -> Any:
    try:
        async with asyncio.timeout(1.5):
            await asyncio.gather(run.wait("approval"), run.signal("paid"), run.sleep("1h"))
    except TimeoutError:
        pass
    return await run.signal("go")


async def test_what_a_function_gave_up_ends_on_record_and_its_url_takes_nothing_more(url: str) -> None:
    async with engine(url) as app:
        run = await begin(app, "gives_up")
        waiting = await until(app, run, lambda document: document["callbacks"])
        token = waiting["callbacks"][0]["url"].rpartition("/")[2]
        document = await until(app, run, lambda seen: "@wait:approval" in seen["tasks"] and _is_over(seen))
        assert document["tasks"]["@sleep"]["status"] == "cancelled"
        assert document["tasks"]["@ask:paid"]["status"] == "cancelled"
        assert document["tasks"]["@wait:approval"]["status"] == "timeout"
        receipt, *_ = await commands_of(app).callbacks.deliver(
            token, body="late", headers={}, query={}, message_id=None
        )
        assert str(receipt) == "expired"
        await commands_of(app).signals.send(run, "go", "went")
        assert (await ended(app, run))["output"] == "went"


def _is_over(document: dict[str, Any]) -> bool:
    return all(document["tasks"][key]["status"] in ("cancelled", "timeout") for key in ("@wait:approval", "@sleep"))


async def test_a_signal_goes_to_who_waits_for_it_and_not_to_who_gave_up(url: str) -> None:
    async with engine(url) as app:
        run = await begin(app, "asks_twice")
        await until(app, run, lambda seen: seen["tasks"].get("@ask:paid#2"))
        await commands_of(app).signals.send(run, "paid", 7)
        assert (await ended(app, run))["output"] == 7


@workflow
async def asks_twice(run: Run) -> Any:
    try:
        async with asyncio.timeout(1.5):
            await run.signal("paid")
    except TimeoutError:
        pass
    return await run.signal("paid")
