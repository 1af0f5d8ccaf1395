"""A step whose effect and whose result are one transaction: its effect is there once, or not at all."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, SessionTransaction, sessionmaker
from sqlalchemy.pool import NullPool

from detent.embed import sync
from detent.embed.node import node
from detent.embed.runs import RunHandle
from detent.embed.start import start
from detent.errors import DetentError
from detent.graph.model import StepKind
from detent.ids import RUN, new_id, parse
from detent.python.transactions import RunLost, Transactions
from detent.run.call import StepCall
from detent.store.factory import migrate_store
from detent.store.sql import schema, user_connection
from tests.embed import ledger
from tests.embed.ledger import WRITE, Booking, Failing, Leaving, Slow, booked, execute, moving
from tests.servers import programs

HERO = ("Order", "1")


@pytest.fixture(params=["postgres", "mariadb"])
def database(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_database")
    asyncio.run(migrate_store(url))
    execute(url, text("drop table if exists ledger"))
    execute(url, text("create table ledger (run varchar(40), amount int)"))
    ledger.use(url)
    return url


def begin(database: str) -> RunHandle:
    """A run that waits for a node."""
    engine = create_engine(ledger.blocking(database), poolclass=NullPool)
    with engine.begin() as connection:
        return RunHandle(sync.start(Booking, hero=HERO, input={"amount": 5}, connection=connection).id)


def owned(database: str, generation: int) -> bytes:
    """A run that some node has."""
    run = parse(RUN, begin(database).id)
    values = user_connection.fitted(schema.run, {"id": run, "owner": new_id()}, dialect(database))
    execute(database, text(f"update run set owner = :owner, epoch = {generation} where id = :id"), **values)
    return run


def dialect(database: str) -> user_connection.DialectName:
    return "mysql" if database.startswith("mysql") else "postgresql"


def keeper_on(database: str) -> Transactions:
    keeper = Transactions()
    keeper.use(sessionmaker(create_engine(ledger.blocking(database), poolclass=NullPool)))
    return keeper


@pytest.mark.slow
async def test_the_effect_and_the_result_of_a_step_are_committed_together(database: str) -> None:
    async with node(database):
        run = await start(Booking, hero=HERO, input={"amount": 5})
        assert await run.result(timeout=300) == 6
    assert booked(database, run.id) == [1, 5]


@pytest.mark.slow
async def test_what_a_failed_step_wrote_is_rolled_back(database: str) -> None:
    async with node(database):
        run = await start(Failing, hero=HERO)
        assert (await run.wait(timeout=300)).status == "cancelled"
    assert booked(database, run.id) == []


@pytest.mark.slow
async def test_what_a_step_wrote_before_it_was_skipped_is_rolled_back(database: str) -> None:
    async with node(database):
        run = await start(Leaving, hero=HERO)
        assert await run.result(timeout=300) == "went on"
    assert booked(database, run.id) == []


@pytest.mark.slow
async def test_steps_of_a_durable_function_are_transactional_too(database: str) -> None:
    async with node(database):
        run = await start(moving, 20)
        assert await run.result(timeout=300) == 41
    assert booked(database, run.id) == [20, 21]


@pytest.mark.slow
async def test_a_run_that_is_cancelled_in_the_middle_of_its_transaction_keeps_what_was_committed(database: str) -> None:
    async with node(database):
        Slow.entered, Slow.released = asyncio.Event(), asyncio.Event()
        run = await start(Slow, hero=HERO)
        await Slow.entered.wait()
        assert (await run.cancel()).cancel_requested, "it was cancelled under an open transaction"
        Slow.released.set()
        ended = await run.wait(timeout=300)
    assert ended.status == "cancelled"
    assert booked(database, run.id) == [3]
    assert ended.steps["book"].status == "success", "the journal does not know of it"


@pytest.mark.slow
@pytest.mark.parametrize("attempt", [1, 2], ids=["plain", "async"])
async def test_a_node_that_dies_after_the_commit_and_before_the_journal_leaves_one_effect(
    database: str, attempt: int
) -> None:
    run = begin(database)
    environment = {**os.environ, "DETENT_FAILPOINT": f"after_effect:{attempt}", "LEDGER_URL": database}
    arguments = [sys.executable, "-m", "tests.embed.booking_node", database]
    killed = await asyncio.to_thread(programs.run, arguments, env=environment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert booked(database, run.id) == ([5] if attempt == 1 else [1, 5]), "the user's commit was not durable"
    async with node(database, lease_seconds=1):
        assert await run.result(timeout=300) == 6
    assert booked(database, run.id) == [1, 5], "an effect is given twice"


def call_of(run: bytes) -> StepCall:
    return StepCall(run, 1, "book", StepKind.PYTHON, 1, {})


@pytest.mark.slow
async def test_an_attempt_whose_run_another_node_has_by_now_cannot_commit(database: str) -> None:
    keeper, run = keeper_on(database), owned(database, 2)
    ran: list[object] = []

    def body(session: object) -> bytes:
        ran.append(session)
        return b'{"output":1}'

    with pytest.raises(RunLost):
        await asyncio.to_thread(keeper.run_once, call_of(run), 1, body)
    assert ran == []
    assert await asyncio.to_thread(keeper.run_once, call_of(run), 2, body) == b'{"output":1}'
    assert await asyncio.to_thread(keeper.run_once, call_of(run), 2, body) == b'{"output":1}'
    assert len(ran) == 1, "a step whose result is kept ran again"


@pytest.mark.slow
async def test_nobody_takes_a_run_while_a_transaction_of_its_step_is_open(database: str) -> None:
    keeper, run = keeper_on(database), owned(database, 1)
    looked_for = user_connection.fitted(schema.run, {"id": run}, dialect(database))
    taken: list[int] = []

    def body(session: object) -> bytes:
        found = execute(database, text("select 1 from run where id = :id for update skip locked"), **looked_for)
        taken.append(len(found))
        return b"{}"

    await asyncio.to_thread(keeper.run_once, call_of(run), 1, body)
    assert taken == [0]


def _open(session: Session) -> SessionTransaction:
    found = session.get_transaction()
    assert found is not None
    return found


def _swallowed(session: Session) -> None:
    with suppress(RuntimeError):
        session.connection().commit()
    session.execute(WRITE, {"run": "of the test", "amount": 2})


def _in_a_savepoint(session: Session) -> None:
    session.begin_nested()
    session.commit()


ENDS: dict[str, Callable[[Session], object]] = {
    "session.commit": lambda session: session.commit(),
    "session.rollback": lambda session: session.rollback(),
    "session.close": lambda session: session.close(),
    "session.reset": lambda session: session.reset(),
    "session.invalidate": lambda session: session.invalidate(),
    "transaction.commit": lambda session: _open(session).commit(),
    "connection.commit": lambda session: session.connection().commit(),
    "swallowed": _swallowed,
    "commit in a savepoint": _in_a_savepoint,
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
async def test_the_transaction_of_a_step_is_not_ended_by_its_body(database: str, end: str) -> None:
    keeper, run = keeper_on(database), owned(database, 1)

    def body(session: Session) -> bytes:
        session.execute(WRITE, {"run": "of the test", "amount": 1})
        ENDS[end](session)
        return b"{}"

    for _ in range(2):
        with pytest.raises((RuntimeError, InvalidRequestError), match="begin_nested" if end != "swallowed" else None):
            await asyncio.to_thread(keeper.run_once, call_of(run), 1, body)
    assert booked(database, "of the test") == []


@pytest.mark.slow
async def test_a_body_that_swallows_the_refusal_of_a_session_is_one_transaction_all_the_same(database: str) -> None:
    keeper, run = keeper_on(database), owned(database, 1)

    def body(session: Session) -> bytes:
        for end in (session.commit, session.rollback, session.close):
            session.execute(WRITE, {"run": "of the test", "amount": 1})
            with pytest.raises(RuntimeError):
                end()
        with session.begin_nested():
            session.execute(WRITE, {"run": "of the test", "amount": 2})
        undone = session.begin_nested()
        session.execute(WRITE, {"run": "of the test", "amount": 3})
        undone.rollback()
        assert booked(database, "of the test") == []
        return b"{}"

    await asyncio.to_thread(keeper.run_once, call_of(run), 1, body)
    assert booked(database, "of the test") == [1, 1, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["commit", "rollback", "close", "reset", "invalidate"])
async def test_an_awaited_session_is_not_ended_by_its_body_either(database: str, verb: str) -> None:
    keeper, run = Transactions(), owned(database, 1)
    engine = create_async_engine(ledger.awaited(database), poolclass=NullPool)
    keeper.use(async_sessionmaker(engine))

    async def body(session: AsyncSession) -> bytes:
        await session.execute(WRITE, {"run": "of the test", "amount": 1})
        async with session.begin_nested():
            await session.execute(WRITE, {"run": "of the test", "amount": 2})
        with pytest.raises(RuntimeError, match="begin_nested"):
            await getattr(session, verb)()
        return b"{}"

    await keeper.run_once_async(call_of(run), 1, body)
    assert booked(database, "of the test") == [1, 2]
    await engine.dispose()


async def test_a_sqlite_session_is_refused_with_the_reason() -> None:
    keeper = Transactions()
    engine = create_engine("sqlite://")
    keeper.use(sessionmaker(engine))
    with pytest.raises(DetentError, match="one writer"):
        keeper.run_once(call_of(new_id()), 1, lambda session: b"{}")
    engine.dispose()


async def test_a_step_without_a_session_says_what_to_call() -> None:
    with pytest.raises(RuntimeError, match=r"detent\.transactions"):
        Transactions().run_once(call_of(new_id()), 1, lambda session: b"{}")
