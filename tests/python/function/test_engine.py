"""Durable functions on a whole engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from detent.app import App, running
from detent.engine.commands import Given
from detent.engine.tuning import Tuning
from detent.ids import RUN, show
from detent.python.function import Run, gather, workflow
from detent.python.marks import step
from detent.run.status import TERMINAL
from detent.settings import Settings

QUICK = Tuning(poll=0.02, idle_poll=0.05, mail_poll=0.02, park_after=0.2, drain=2.0)


@asynccontextmanager
async def engine(url: str = "memory:") -> AsyncIterator[App]:
    async with running(Settings(database_url=url), tuning=QUICK, migrate=True) as app:
        yield app


async def begin(app: App, name: str, **body: Any) -> str:
    return show(RUN, (await app.commands.start(name, Given(body))).run)


async def ended(app: App, run: str, *, within: float = 10.0) -> dict[str, Any]:
    return await until(app, run, lambda document: document["status"] in TERMINAL, within=within)


async def until(app: App, run: str, is_so: Callable[[dict[str, Any]], Any], *, within: float = 10.0) -> dict[str, Any]:
    """The run's document when that is so."""
    async with asyncio.timeout(within):
        while not is_so(document := await app.commands.run(run)):  # noqa: ASYNC110 - only the store knows
            await asyncio.sleep(0.02)
    return document


@step(inline=True)
def plus(number: int, more: int = 1) -> int:
    return number + more


def times(number: int) -> int:
    return 2 * number


async def half(number: int) -> float:
    await asyncio.sleep(0.001)
    return number / 2


@workflow
async def everything(run: Run, number: int) -> Any:
    one, two = await gather(run.step(plus, number), run.step(times, number))
    three = await run.step(half, number)
    await run.sleep(0.05)
    await run.sleep(0.4)
    answer = await run.wait("approval", timeout="1h")
    paid = await run.signal("paid")
    again = await run.signal("paid")
    inner = await run.child(inside, number)
    return [one, two, three, answer, paid, again, inner]


@workflow
async def inside(run: Run, number: int) -> int:
    await run.sleep(0.3)
    return await run.step(plus, number, 100)


async def test_a_function_does_everything() -> None:
    async with engine() as app:
        run = await begin(app, "everything", number=10)
        await app.commands.signal(run, "paid", {"sum": 5})
        waiting = await until(app, run, lambda document: document["callbacks"])
        token = waiting["callbacks"][0]["url"].rpartition("/")[2]
        await app.commands.deliver(token, body={"ok": True}, headers={}, query={}, message_id=None)
        await app.commands.signal(run, "paid", 6)
        document = await ended(app, run)
        assert document["status"] == "completed", document
        assert document["output"] == [11, 20, 5.0, {"ok": True}, {"sum": 5}, 6, 110]
        [child] = await app.commands.children([(await app.commands.run_row(run)).id])
        assert child.status == "completed"
