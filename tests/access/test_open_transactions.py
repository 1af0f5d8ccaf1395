"""A transaction of a step stays open: its run waits for its end, and nobody else does."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from detent.access.embedded import node
from detent.access.starting import start
from detent.store.opening import migrate_store
from tests.access import hanging, ledger
from tests.access.hanging import gate
from tests.access.ledger import booked, execute

HERO = ("Order", "1")
pytestmark = pytest.mark.slow


@pytest.fixture(params=["postgres", "mariadb"])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    url: str = request.getfixturevalue(f"{request.param}_database")
    asyncio.run(migrate_store(url))
    execute(url, text("drop table if exists ledger"))
    execute(url, text("create table ledger (run varchar(40), amount int)"))
    ledger.use(url)
    gate.reset()
    yield url
    gate.released.set()


async def others_go_on() -> None:
    """The node does its work for other runs."""
    for _ in range(3):
        other = await asyncio.wait_for(start(hanging.Bystander, hero=HERO), 10)
        assert await other.result(timeout=10) == "passed"


@pytest.mark.parametrize(
    ("workflow", "status"),
    [
        (hanging.Limited, "cancelled"),
        (hanging.times_out, "failed"),
        (hanging.fails_beside, "failed"),
        (hanging.thinks_better, "completed"),
    ],
    ids=["a-step-times-out", "a-step-of-a-function-times-out", "a-function-fails", "a-function-gives-it-up"],
)
async def test_a_run_waits_for_a_transaction_that_is_given_up_and_nobody_else_does(
    database: str, workflow: Any, status: str
) -> None:
    async with node(database):
        run = await start(workflow, hero=HERO if workflow is hanging.Limited else None)
        await gate.wait()
        await asyncio.sleep(0.8)
        await others_go_on()
        assert await run.status() == "running", "it went on under an open transaction"
        gate.released.set()
        assert (await run.wait(timeout=20)).status == status
    assert booked(database, run.id) == [], "what was given up was committed"


async def test_a_coroutine_that_times_out_is_rolled_back_before_its_run_goes_on(database: str) -> None:
    async with node(database):
        run = await start(hanging.times_out_on_the_loop)
        assert (await run.wait(timeout=20)).status == "failed"
        await others_go_on()
    assert booked(database, run.id) == []


async def test_a_run_whose_function_failed_beside_a_transaction_can_be_cancelled_later(database: str) -> None:
    async with node(database) as app:
        run = await start(hanging.fails_again)
        await gate.wait()
        await asyncio.sleep(0.5)
        assert gate.calls == 1, "the function began anew beside its own transaction"
        gate.released.set()
        while gate.calls < 3:  # noqa: ASYNC110 - counted by code of a workflow
            await asyncio.sleep(0.02)
        await run.cancel()
        assert (await run.wait(timeout=10)).status == "cancelled"
        assert app.engine.node is not None
        assert not app.engine.node.runner.held


async def test_a_cancel_waits_for_every_transaction_of_a_function(database: str) -> None:
    async with node(database):
        run = await start(hanging.two_at_once)
        await gate.wait(2)
        assert (await run.cancel()).cancel_requested
        await others_go_on()
        assert await run.status() == "running"
        gate.released.set()
        assert (await run.wait(timeout=20)).status == "cancelled"
    assert booked(database, run.id) == [3, 4]


@pytest.mark.parametrize("workflow", [hanging.Unlimited, hanging.two_at_once])
async def test_a_node_that_drains_waits_for_transactions_and_the_next_one_does_not_repeat_them(
    database: str, workflow: Any
) -> None:
    hero = HERO if workflow is hanging.Unlimited else None
    async with node(database) as app:
        run = await start(workflow, hero=hero)
        await gate.wait(1 if hero else 2)
        draining = asyncio.ensure_future(app.drain())
        await asyncio.sleep(0.3)
        assert not draining.done()
        gate.released.set()
        await draining
    amounts = [3] if hero else [3, 4]
    assert booked(database, run.id) == amounts
    async with node(database):
        assert await run.result(timeout=20) == sum(amounts)
    assert booked(database, run.id) == amounts


async def test_a_node_that_is_killed_within_a_transaction_leaves_nothing_of_it(database: str) -> None:
    environment = {**os.environ, "LEDGER_URL": database}
    arguments = [sys.executable, "-m", "tests.access.booking_node", database, "tests.access.hanging"]
    async with node(database) as app:
        run = await start(hanging.Unlimited, hero=HERO, delay=1)
        await app.drain()
    killed = await asyncio.create_subprocess_exec(*arguments, env=environment)
    try:
        await some_run_is_locked(database)
    finally:
        killed.send_signal(signal.SIGKILL)
        await killed.wait()
    gate.released.set()
    async with node(database, lease_seconds=1):
        assert await run.result(timeout=40) == 3
    assert booked(database, run.id) == [3]


async def some_run_is_locked(database: str) -> None:
    """Wait until a step holds the row of its run: it is owned, and nobody could take it."""
    free = text("select id from run where owner is not null and ended_at is null for update skip locked")
    owned = text("select id from run where owner is not null and ended_at is null")
    async with asyncio.timeout(30):
        while not execute(database, owned) or execute(database, free):  # noqa: ASYNC110 - seen in the database only
            await asyncio.sleep(0.1)
