"""What a function has begun and gives up is not seen as open for ever."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from detent.engine.inbox import Mailbox
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


class Shop:
    """Answers the wait of a run from within a step of its function. Its node reads no mail for a while then, so that
    nothing has read the answer when the function ends."""

    app: Any = None
    deaf_until = 0.0


_poll = Mailbox.poll


async def _poll_later(mailbox: Mailbox) -> float:
    return 0.02 if monotonic() < Shop.deaf_until else await _poll(mailbox)


async def pay(run_id: str) -> str:
    [callback] = (await until(Shop.app, run_id, lambda document: document["callbacks"]))["callbacks"]
    token = callback["url"].rpartition("/")[2]
    Shop.deaf_until = math.inf
    receipt, *_ = await commands_of(Shop.app).callbacks.deliver(
        token, body="paid", headers={}, query={}, message_id=None
    )
    return str(receipt)


@workflow(on_exception="fail")
async def ends_beside_a_wait(run: Run, how: str) -> Any:
    if how == "continued":
        return None
    waiting = asyncio.ensure_future(run.wait("payment"))
    assert await run.step(pay, run.id) == "accepted"
    try:
        match how:
            case "raises":
                raise ValueError(how)
            case "continues":
                run.continue_as_new("continued")
            case "cancels":
                run.cancel(how)
            case "finishes":
                run.finish(how)
        return waiting.done()
    finally:
        Shop.deaf_until = monotonic() + 0.4


@pytest.mark.parametrize("how", ["returns", "raises", "continues", "cancels", "finishes"])
async def test_a_payload_that_was_accepted_before_its_function_ended_is_consumed(
    url: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mailbox, "poll", _poll_later)
    async with engine(url) as app:
        Shop.app = app
        run = await begin(app, "ends_beside_a_wait", how=how)
        document = await ended(app, run)
        assert document["tasks"]["@wait:payment"]["status"] == "success"
        assert document["status"] == {"raises": "failed", "cancels": "cancelled"}.get(how, "completed")


async def test_a_function_that_ends_closes_the_callbacks_of_its_waits_first(url: str) -> None:
    async with engine(url) as app:
        run = await begin(app, "forgets_its_wait")
        document = await ended(app, run)
        assert document["output"] is None
        assert document["callbacks"][0]["status"] == "expired"


@workflow
async def forgets_its_wait(run: Run) -> None:
    waiting = asyncio.ensure_future(run.wait("payment"))
    await run.sleep(0.01)
    assert not waiting.done()
