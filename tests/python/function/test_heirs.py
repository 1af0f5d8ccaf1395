"""A durable function of which a hero has one open run, and which continues as new ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from detent.commands import StartAnswer
from detent.engine.start import active_key
from detent.errors import AlreadyActive
from detent.ids import RUN, parse, show
from detent.process import App
from detent.python.decorators import step
from detent.python.functions import Run, workflow
from detent.run.start import StartRequest
from detent.store.rows import RunRow, released_key
from tests.callers import commands_of
from tests.python.function.ports import Stage
from tests.python.function.test_engine import ended, engine, plus, until
from tests.python.function.test_operations import output

ANN = ("Customer", "ann")


@pytest.fixture(
    params=[
        "memory",
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("mariadb", marks=pytest.mark.slow),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store, empty."""
    match request.param:
        case "memory":
            return "memory:"
        case "sqlite":
            return f"sqlite:///{tmp_path}/detent.db"
    return str(request.getfixturevalue(f"{request.param}_database"))


@workflow
async def subscription(run: Run, month: int, months: int) -> str:
    """Waits to be paid, month after month."""
    await run.step(plus, month)
    await run.signal("paid")
    if month < months:
        run.continue_as_new(month + 1, months)
    return f"{months} months"


KEY = active_key("subscription", ANN)


async def subscribe(app: App, months: int = 3, **options: Any) -> StartAnswer:
    body = {"month": 1, "months": months}
    return await commands_of(app).starts.start(StartRequest("subscription", body, hero=ANN, **options))


async def pay(app: App, run: bytes) -> bytes:
    """The run that it goes on as, when the old one is over."""
    await commands_of(app).signals.send(show(RUN, run), "paid")
    document = await ended(app, show(RUN, run))
    assert document["status"] == "completed", document
    return parse(RUN, document["output"]["continued_as"])


async def row_of(app: App, run: bytes) -> RunRow:
    return await commands_of(app).runs.row(show(RUN, run))


async def test_a_function_of_one_run_per_hero_continues_and_is_always_the_one(url: str) -> None:
    async with engine(url) as app:
        runs = [(await subscribe(app)).run]
        for _ in range(2):
            with pytest.raises(AlreadyActive) as refused:
                await subscribe(app)
            assert refused.value.run == show(RUN, runs[-1])
            runs.append(await pay(app, runs[-1]))
        rows = [await row_of(app, run) for run in runs]
        assert [row.active_key for row in rows] == [released_key(runs[0]), released_key(runs[1]), KEY]
        assert [(row.origin, row.hero_id) for row in rows] == [(None, "ann"), (runs[0], "ann"), (runs[1], "ann")]
        await commands_of(app).signals.send(show(RUN, runs[-1]), "paid")
        assert (await ended(app, show(RUN, runs[-1])))["output"] == "3 months"
        assert (await subscribe(app)).is_new, "the hero is free after the last of them"


async def test_rivals_that_ask_all_the_time_are_refused_until_the_last_run_has_ended(url: str) -> None:
    async with engine(url) as app:
        first = await subscribe(app, months=6)
        paying = asyncio.create_task(_pay_all(app, first.run, 6))
        obstacles: set[str] = set()
        rival: StartAnswer | None = None
        while rival is None and not paying.done():
            try:
                rival = await subscribe(app)
            except AlreadyActive as error:
                obstacles.add(error.run)
                await asyncio.sleep(0)
        still_open = [row.id for row in await app.store.runs(1, limit=9) if row.ended_at is None]
        assert still_open == ([] if rival is None else [rival.run]), "only the end of the last run lets a rival in"
        chain = await paying
        assert obstacles
        assert obstacles <= {show(RUN, run) for run in chain}


async def _pay_all(app: App, run: bytes, months: int) -> list[bytes]:
    chain = [run]
    for _ in range(months - 1):
        chain.append(await pay(app, chain[-1]))
    await commands_of(app).signals.send(show(RUN, chain[-1]), "paid")
    await ended(app, show(RUN, chain[-1]))
    return chain


async def test_one_of_several_goes_on_as_one_of_several(url: str) -> None:
    async with engine(url) as app:
        one = await subscribe(app)
        beside = await subscribe(app, allow_multiple=True)
        heir = await pay(app, beside.run)
        assert (await row_of(app, heir)).active_key is None
        assert (await row_of(app, one.run)).active_key == KEY
        assert (await row_of(app, await pay(app, one.run))).active_key == KEY


async def test_what_has_continued_is_not_begun_again_beside_its_heir(url: str) -> None:
    async with engine(url) as app:
        old = (await subscribe(app)).run
        heir = await pay(app, old)
        commands, name = commands_of(app), show(RUN, old)
        for again in (commands.reruns.rerun(name), commands.reruns.fork(name, "subscription")):
            with pytest.raises(AlreadyActive) as refused:
                await again
            assert refused.value.run == show(RUN, heir)
        await commands.control.cancel(show(RUN, heir))
        await ended(app, show(RUN, heir))
        forked = await commands.reruns.fork(name, "subscription")
        assert (await row_of(app, forked.run)).active_key == KEY
        with pytest.raises(AlreadyActive):
            await commands.reruns.rerun(name)


GATES: list[asyncio.Event] = []


async def wait_at_the_gate() -> None:
    await GATES[-1].wait()


@workflow
async def held_up(run: Run) -> None:
    await run.step(wait_at_the_gate)


async def test_a_run_that_is_cancelled_after_its_heir_began_can_be_retried_when_that_has_ended(url: str) -> None:
    GATES.append(asyncio.Event())
    async with engine(url) as app:
        commands, request = commands_of(app), StartRequest("held_up", {}, hero=ANN)
        old = (await commands.starts.start(request)).run
        successor = structs.replace(request, origin=old, origin_kind="continued", successor_of=old)
        heir = (await commands.starts.start(successor)).run
        await commands.control.cancel(show(RUN, old))
        await ended(app, show(RUN, old))
        with pytest.raises(AlreadyActive) as refused:
            await commands.reruns.retry(show(RUN, old))
        assert refused.value.run == show(RUN, heir)
        GATES[-1].set()
        await ended(app, show(RUN, heir))
        again = await commands.reruns.retry(show(RUN, old))
        assert (await row_of(app, again.run)).active_key == active_key("held_up", ANN)
        assert (await ended(app, show(RUN, again.run)))["status"] == "completed"


async def test_a_run_whose_heir_cannot_be_started_keeps_its_hero(url: str) -> None:
    async with engine(url) as app:
        old = (await subscribe(app)).run
        await until(app, show(RUN, old), lambda document: "@ask:paid" in document["tasks"])
        await commands_of(app).workflows.enable("subscription", enabled=False)
        await commands_of(app).signals.send(show(RUN, old), "paid")
        await until(app, show(RUN, old), lambda document: document["status"] == "paused")
        await commands_of(app).workflows.enable("subscription", enabled=True)
        with pytest.raises(AlreadyActive) as refused:
            await subscribe(app)
        assert refused.value.run == show(RUN, old)


async def test_an_heir_begins_when_the_steps_of_the_old_run_have_ended() -> None:
    go, told = asyncio.Event(), []

    @step(retry=2)
    async def slow() -> None:
        told.append("tried")
        if len(told) == 1:
            raise ValueError("not yet")
        await go.wait()

    @workflow
    async def hurries(run: Run) -> None:
        run.step(slow)
        run.continue_as_new()

    stage = Stage(hurries)
    over = asyncio.ensure_future(stage.attempt())
    async with asyncio.timeout(300):
        while len(told) < 2:  # noqa: ASYNC110 - only the step knows
            await asyncio.sleep(0.001)
    for _ in range(20):
        await asyncio.sleep(0)
    assert stage.record.successor is None
    go.set()
    assert output(await over) == {"continued_as": "run_successor"}
    assert stage.record.successor is not None
