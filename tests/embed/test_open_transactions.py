"""A transaction of a step stays open: its run waits for its end, and nobody else does."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker

from detent.embed.node import node
from detent.embed.runs import RunHandle
from detent.embed.start import start
from detent.engine import runner
from detent.errors import StoreError
from detent.graph.model import StepKind
from detent.planner.advance import advance
from detent.python.transactions import Transactions
from detent.run import events
from detent.run.call import StepCall
from detent.run.journal import Kind
from detent.run.plan import Plan
from detent.store.factory import migrate_store
from detent.store.rows import Flush, Flushed
from tests.embed import hanging, ledger
from tests.embed.hanging import gate
from tests.embed.ledger import booked, execute
from tests.embed.test_transactional_steps import owned
from tests.servers import programs

HERO = ("Order", "1")
OWNED = text("select id from run where owner is not null and ended_at is null")
FREE = text(f"{OWNED.text} for update skip locked")
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
    gate.passable.set()


async def others_go_on() -> None:
    """The node does its work for other runs."""
    for _ in range(3):
        other = await asyncio.wait_for(start(hanging.Bystander, hero=HERO), 300)
        assert await other.result(timeout=300) == "passed"


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
        await asyncio.sleep(hanging.LIMIT + 0.5)
        await others_go_on()
        assert await run.status() == "running", "it went on under an open transaction"
        gate.released.set()
        assert (await run.wait(timeout=300)).status == status
    assert booked(database, run.id) == [], "what was given up was committed"


async def test_a_coroutine_that_times_out_is_rolled_back_before_its_run_goes_on(database: str) -> None:
    async with node(database):
        run = await start(hanging.times_out_on_the_loop)
        assert (await run.wait(timeout=300)).status == "failed"
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
        assert (await run.wait(timeout=300)).status == "cancelled"
        assert app.engine.node is not None
        assert not app.engine.node.runner.owned


async def test_a_cancel_waits_for_every_transaction_of_a_function(database: str) -> None:
    async with node(database):
        run = await start(hanging.two_at_once)
        await gate.wait(2)
        assert (await run.cancel()).cancel_requested
        await others_go_on()
        assert await run.status() == "running"
        gate.released.set()
        assert (await run.wait(timeout=300)).status == "cancelled"
    assert booked(database, run.id) == [3, 4]


@pytest.fixture
def unplannable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause breaks the planner."""

    def breaks(*args: Any, event: events.Event, **options: Any) -> Plan:
        if isinstance(event, events.Paused):
            raise ArithmeticError("it breaks the planner")
        return advance(*args, event=event, **options)

    monkeypatch.setattr(runner, "advance", breaks)


@pytest.mark.usefixtures("unplannable")
async def test_a_run_that_cannot_be_planned_is_set_aside_when_its_transaction_has_ended(database: str) -> None:
    async with node(database):
        run = await start(hanging.Unlimited, hero=HERO)
        await gate.wait()
        await run.pause()
        await asyncio.sleep(0.5)
        await others_go_on()
        assert await run.status() == "running", "it was set aside under an open transaction"
        gate.released.set()
        await becomes(run, "paused")
        assert booked(database, run.id) == []
        await run.resume()
        assert await run.result(timeout=300) == 3
    assert booked(database, run.id) == [3]


@pytest.mark.usefixtures("unplannable")
async def test_a_node_that_drains_waits_for_a_run_that_is_to_be_set_aside(database: str) -> None:
    async with node(database) as app:
        run = await start(hanging.Unlimited, hero=HERO)
        await gate.wait()
        await run.pause()
        await asyncio.sleep(0.5)
        draining = asyncio.ensure_future(app.drain())
        await asyncio.sleep(0.3)
        assert not draining.done()
        gate.released.set()
        await draining
        assert await run.status() == "paused"
    assert booked(database, run.id) == []


async def test_a_transaction_that_never_ends_does_not_keep_a_node_from_stopping(database: str) -> None:
    async with asyncio.timeout(300):
        async with node(database, drain_seconds=0.3):
            run = await start(hanging.Unlimited, hero=HERO)
            await gate.wait()
    gate.released.set()
    async with node(database):
        assert await run.result(timeout=300) == 3
    assert booked(database, run.id) == [3]


async def test_a_run_that_cannot_be_written_fails_when_its_transaction_has_ended(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with node(database) as app:
        flush = app.store.flush

        async def refuses(node_: bytes, epoch: int, rows: Flush, **options: Any) -> Flushed | None:
            if any(entry.kind == Kind.CHECKPOINT for entry in rows.entries):
                raise StoreError("it was refused")
            return await flush(node_, epoch, rows, **options)

        monkeypatch.setattr(app.store, "flush", refuses)
        run = await start(hanging.goes_on_beside)
        await gate.wait()
        gate.passable.set()
        await asyncio.sleep(0.5)
        await others_go_on()
        assert await run.status() == "running", "it failed under an open transaction"
        gate.released.set()
        await becomes(run, "failed")
    assert booked(database, run.id) == []


async def becomes(run: RunHandle, status: str) -> None:
    async with asyncio.timeout(300):
        while await run.status() != status:  # noqa: ASYNC110 - told by the database only
            await asyncio.sleep(0.05)


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
        assert await run.result(timeout=300) == sum(amounts)
    assert booked(database, run.id) == amounts


async def test_a_node_that_is_killed_within_a_transaction_leaves_nothing_of_it(database: str) -> None:
    environment = {**os.environ, "LEDGER_URL": database}
    arguments = [sys.executable, "-m", "tests.embed.booking_node", database, "tests.embed.hanging"]
    async with node(database) as app:
        run = await start(hanging.Unlimited, hero=HERO, delay=1)
        await app.drain()
    killed = programs.Process(arguments, env=environment)
    try:
        await some_run_is_locked(database)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait(300)
    gate.released.set()
    async with node(database, lease_seconds=1):
        assert await run.result(timeout=300) == 3
    assert booked(database, run.id) == [3]


async def some_run_is_locked(database: str) -> None:
    """Wait until a step holds the row of its run: it is owned, and nobody could take it."""
    async with asyncio.timeout(300):
        while not execute(database, OWNED) or execute(database, FREE):  # noqa: ASYNC110 - seen in the database only
            await asyncio.sleep(0.1)


async def test_a_database_ends_a_transaction_that_outlives_the_limit_of_its_step(database: str) -> None:
    async with node(database):
        run = await start(hanging.Limited, hero=HERO)
        await gate.wait()
        async with asyncio.timeout(300):
            while not execute(database, FREE):  # noqa: ASYNC110 - seen in the database only
                await asyncio.sleep(0.1)
        assert await run.status() == "running", "its thread has not returned yet"
        gate.released.set()
        ended = await run.wait(timeout=300)
    assert ended.status == "cancelled"
    assert booked(database, run.id) == []


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("fails", [False, True], ids=["commits", "fails"])
async def test_a_bound_of_a_transaction_does_not_outlive_it(database: str, *, is_async: bool, fails: bool) -> None:
    show = text(
        "select @@max_statement_time, @@idle_transaction_timeout"
        if database.startswith("mysql")
        else "select current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')"
    )
    seen: list[Any] = []

    def note(rows: Any) -> bytes:
        seen.append(tuple(map(str, rows.one())))
        if fails:
            raise ValueError("no")
        return b"{}"

    async def body(session: Any) -> bytes:
        return note(await session.execute(show))

    call = StepCall(owned(database, 1), 1, "book", StepKind.PYTHON, 1, {}, 2.0)
    keeper = Transactions()
    if is_async:
        engine = create_async_engine(ledger.awaited(database), pool_size=1, max_overflow=0)
        keeper.use(async_sessionmaker(engine))
        with suppress(ValueError):
            await keeper.run_once_async(call, 1, body)
        async with engine.connect() as connection:
            after = tuple(map(str, (await connection.execute(show)).one()))
        await engine.dispose()
    else:
        pool = create_engine(ledger.blocking(database), pool_size=1, max_overflow=0)
        keeper.use(sessionmaker(pool))
        with suppress(ValueError):
            await asyncio.to_thread(keeper.run_once, call, 1, lambda session: note(session.execute(show)))
        with pool.connect() as plain:
            after = tuple(map(str, plain.execute(show).one()))
        pool.dispose()
    assert seen == [("2.5", "3") if database.startswith("mysql") else ("2500ms", "2500ms")]
    assert after in [("0", "0"), ("0.0", "0")]
