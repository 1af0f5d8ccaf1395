"""Durable functions on a whole engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from detent.app import App, running
from detent.cli.journal_lines import lines_of
from detent.engine.commands import Given
from detent.engine.entry_view import entry_document
from detent.engine.tuning import Tuning
from detent.ids import RUN, show
from detent.python.function import Run, gather, workflow
from detent.python.marks import step
from detent.run.status import TERMINAL
from detent.settings import Settings
from detent.steps.actions import RetryLater

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


@workflow
async def waits_for_all(run: Run) -> Any:
    await run.step(plus, 1)
    return await gather(
        run.sleep("1d"),
        run.wait("approval", timeout="2d"),
        run.signal("paid"),
        run.child(asleep),
        run.step(fails, retry=9),
    )


@workflow
async def asleep(run: Run) -> None:
    await run.sleep("1d")


@step(inline=True)
def fails() -> None:
    raise RetryLater(5_000, "not now")


async def test_people_see_what_a_function_waits_for() -> None:
    async with engine() as app:
        run = await begin(app, "waits_for_all")
        open_now = {"@sleep", "@wait:approval", "@ask:paid", "@child:asleep", "fails"}
        document = await until(app, run, lambda seen: open_now <= set(seen["tasks"]) and is_parked(seen))
        tasks = document["tasks"]
        assert tasks["waits_for_all"]["status"] == "waiting"
        assert (tasks["plus"]["status"], tasks["plus"]["output"], tasks["plus"]["type"]) == ("success", 2, "step")
        assert (tasks["@sleep"]["status"], "until" in tasks["@sleep"]) == ("sleeping", True)
        assert tasks["@ask:paid"]["status"] == tasks["@wait:approval"]["status"] == "waiting"
        assert tasks["@child:asleep"]["run_id"].startswith("run_")
        assert (tasks["fails"]["status"], tasks["fails"]["attempt"]) == ("scheduled", 2)
        assert tasks["fails"]["error"]["message"] == "not now"
        _, _, reasons = await app.commands.why(run)
        assert {"sleep", "callback", "signal", "child", "retry"} <= {str(reason.kind) for reason in reasons}
        assert any((reason.details or {}).get("url", "").startswith("http") for reason in reasons)
        lines = [line.words for entry in await app.commands.entries((await app.commands.run_row(run)).id)
                 for line in lines_of(entry_document(entry))]  # fmt: skip
        assert [line for line in lines if line.startswith("sleeps 1d")]
        assert "waits for a signal" in lines
        assert "waits for its child" in lines
        assert any(line.startswith("attempt 1 failed, again in") for line in lines)
        await app.commands.cancel(run, by="test")
        child = tasks["@child:asleep"]["run_id"]
        assert (await ended(app, child))["status"] == "cancelled"


def is_parked(document: dict[str, Any]) -> bool:
    return bool(document["tasks"]["waits_for_all"]["status"] == "waiting")
