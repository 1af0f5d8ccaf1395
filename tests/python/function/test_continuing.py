"""A child that continues as a new run is the same child to its parent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from detent.documents.answers import as_json
from detent.engine.inbox import Mailbox
from detent.errors import Conflict
from detent.ids import RUN, show
from detent.process import App, run_app
from detent.python.functions import Run, workflow
from detent.settings import Settings
from detent.store.rows import Mail, MessageKind, RunRow
from tests.callers import commands_of
from tests.python.function.test_engine import QUICK, begin, ended, engine, plus, until


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/detent.db"


@workflow
async def counts_on(run: Run, number: int, pause: float) -> str:
    await run.step(plus, number)
    if pause:
        await run.sleep(pause)
    if number < 3:
        run.continue_as_new(number + 1, pause)
    return f"counted to {number}"


@workflow
async def has_counted(run: Run, pause: float) -> Any:
    return await run.child(counts_on, 0, pause)


@workflow
async def goes_on_and_waits(run: Run, number: int) -> Any:
    if number < 2:
        run.continue_as_new(number + 1)
    return await run.signal("never")


@workflow
async def waits_for_one_that_goes_on(run: Run) -> Any:
    return await run.child(goes_on_and_waits, 0)


async def children(app: App, run: str) -> list[RunRow]:
    row = await commands_of(app).runs.row(run)
    return (await commands_of(app).runs.children(row.id, limit=200))[0]


@pytest.mark.parametrize("pause", [0.0, 0.3])
async def test_a_parent_gets_the_output_of_the_last_run_of_its_child(url: str, pause: float) -> None:
    async with engine(url) as app:
        run = await begin(app, "has_counted", pause=pause)
        document = await ended(app, run)
        assert (document["status"], document["output"]) == ("completed", "counted to 3")
        assert [child.status for child in await children(app, run)] == ["completed"] * 4


async def test_a_cancelled_parent_takes_the_last_run_of_its_child_with_it(url: str) -> None:
    async with engine(url) as app:
        run = await begin(app, "waits_for_one_that_goes_on")
        expected = ["completed", "completed", "running"]
        async with asyncio.timeout(300):
            while [child.status for child in await children(app, run)] != expected:  # noqa: ASYNC110 - only the store
                await asyncio.sleep(0.02)
        await commands_of(app).control.cancel(run)
        await until(app, run, lambda document: document["status"] == "cancelled")
        async with asyncio.timeout(300):
            while (await children(app, run))[2].status != "cancelled":  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.02)


async def test_a_parent_that_moved_to_another_node_still_follows_its_child(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with engine(url) as app:
        run = await begin(app, "has_counted", pause=0.5)
        async with asyncio.timeout(300):
            while len(await children(app, run)) < 3:  # noqa: ASYNC110 - only the store knows
                await asyncio.sleep(0.02)
    async with engine(url) as app:
        assert (await ended(app, run))["output"] == "counted to 3"


@workflow
async def goes_on_when_told(run: Run, number: int) -> Any:
    await run.signal("go_on")
    run.continue_as_new(number + 1)


@workflow
async def waits_for_one_that_is_told(run: Run) -> Any:
    return await run.child(goes_on_when_told, 0)


def unread(monkeypatch: pytest.MonkeyPatch, is_on_its_way: Callable[[Mail], bool]) -> None:
    """Messages that lie in the inbox and are not read yet."""
    look = Mailbox.look

    async def look_at_others(mailbox: Mailbox) -> list[Mail]:
        return [mail for mail in await look(mailbox) if not is_on_its_way(mail)]

    monkeypatch.setattr(Mailbox, "look", look_at_others)


async def statuses(app: App, run: str, expected: list[str]) -> None:
    async with asyncio.timeout(300):
        while [child.status for child in await children(app, run)] != expected:  # noqa: ASYNC110 - only the store
            await asyncio.sleep(0.02)


async def test_a_cancelled_parent_takes_a_run_with_it_of_which_it_had_not_read_yet(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread(monkeypatch, lambda mail: mail.kind == MessageKind.CHILD)
    async with engine(url) as app:
        run = await begin(app, "waits_for_one_that_goes_on")
        await statuses(app, run, ["completed", "completed", "running"])
        await commands_of(app).control.cancel(run)
        await until(app, run, lambda document: document["status"] == "cancelled")
        await statuses(app, run, ["completed", "completed", "cancelled"])


async def test_a_run_that_continues_after_its_parent_was_cancelled_is_cancelled(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine(url) as app:
        run = await begin(app, "waits_for_one_that_is_told")
        await statuses(app, run, ["running"])
        [first] = await children(app, run)
        unread(monkeypatch, lambda mail: mail.kind == MessageKind.CANCEL and mail.run == first.id)
        await commands_of(app).control.cancel(run)
        await until(app, run, lambda document: document["status"] == "cancelled")
        await commands_of(app).signals.send(show(RUN, first.id), "go_on")
        await statuses(app, run, ["completed", "cancelled"])


async def test_a_run_that_continues_after_its_parent_has_completed_goes_on(url: str) -> None:
    async with engine(url) as app:
        run = await begin(app, "waits_for_one_that_is_told")
        await statuses(app, run, ["running"])
        [first] = await children(app, run)
        await commands_of(app).control.finish(run)
        await until(app, run, lambda document: document["status"] == "completed")
        await commands_of(app).signals.send(show(RUN, first.id), "go_on")
        await statuses(app, run, ["completed", "running"])


@workflow
async def collects(run: Run, seen: list[int], total: int) -> list[int]:
    """Takes three signals at a time and goes on as a new run that knows them."""
    while len(seen) < total:
        seen.append(await run.signal("item"))
        if len(seen) % 3 == 0 and len(seen) < total:
            run.continue_as_new(seen, total)
    return seen


async def last_of(app: App, run: str) -> str:
    """The last run of a chain."""
    while True:
        document = as_json(await commands_of(app).runs.get(run))
        if document["status"] != "completed" or not isinstance(document["output"], dict):
            return run
        run = document["output"]["continued_as"]


@pytest.fixture(
    params=[
        "memory",
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("mariadb", marks=pytest.mark.slow),
    ]
)
def every_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store, empty."""
    match request.param:
        case "memory":
            return "memory:"
        case "sqlite":
            return f"sqlite:///{tmp_path}/detent.db"
    return str(request.getfixturevalue(f"{request.param}_database"))


async def test_every_signal_that_was_accepted_reaches_a_run_of_the_chain_in_order(every_url: str) -> None:
    total = 150
    async with engine(every_url) as app:
        run = await begin(app, "collects", seen=[], total=total)
        last = run
        for number in range(total):
            while True:
                try:
                    await commands_of(app).signals.send(last, "item", number)
                except Conflict:
                    last = await last_of(app, last)
                else:
                    break
        async with asyncio.timeout(100):
            while (document := await ended(app, last := await last_of(app, last)))["output"] != list(range(total)):
                assert "continued_as" in document["output"], document
                await asyncio.sleep(0)


async def test_a_parent_hears_of_its_child_without_waiting_for_a_poll() -> None:
    slow = replace(QUICK, poll=60.0, idle_poll=60.0, mail_poll=60.0)
    async with run_app(Settings(database_url="memory:"), tuning=slow, migrate=True) as app:
        run = await begin(app, "has_counted", pause=0.0)
        assert (await ended(app, run, within=30.0))["output"] == "counted to 3"
