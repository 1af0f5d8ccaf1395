"""A loop that was blocked finds the answer and the end of the time in one turn: it takes the answer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import asyncpg
import pytest

from detent.errors import StoreBusy
from detent.store.sql import access
from detent.store.sql.mysql import connection as mysql
from detent.store.sql.postgres import connection as postgres

pytestmark = pytest.mark.slow

#: The time of a call, and how long the loop is blocked.
LIMIT, BLOCKED = 1.0, 1.5


@pytest.fixture(autouse=True)
def long_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows the block may take as long as it takes on a busy machine."""
    monkeypatch.setattr(access, "_EXTENSION", 30.0)


async def blocked(asking: asyncio.Task[Any], turns: int) -> Any:
    """Block the loop in the middle of a call."""
    for _ in range(turns):
        await asyncio.sleep(0)
    threading.Event().wait(BLOCKED)  # as a step does, or a machine that is busy
    return await asking


@pytest.mark.parametrize("turns", range(2, 5))
async def test_a_loop_that_was_blocked_takes_the_answer_of_postgresql(postgres_database: str, turns: int) -> None:
    link = postgres.PostgresConnection(postgres.Address.parse(postgres_database), limit=LIMIT)
    await link.fetch("select 1")
    [row] = await blocked(asyncio.ensure_future(link.fetch("select 2", writing=False)), turns)
    assert row[0] == 2
    await link.close()


@pytest.mark.parametrize("turns", range(2, 5))
async def test_a_loop_that_was_blocked_takes_the_answer_of_mariadb(mariadb_database: str, turns: int) -> None:
    link = mysql.MysqlConnection(mysql.Address.parse(mariadb_database), limit=LIMIT)
    await link.send("select 1")
    [answer] = await blocked(asyncio.ensure_future(link.send("select 2", writing=False)), turns)
    assert answer.rows == ((2,),)
    await link.close()


@pytest.mark.parametrize("turns", [2, 4, 8])
async def test_a_loop_that_was_blocked_while_it_connected_is_connected_to_postgresql(
    postgres_database: str, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "CONNECT_TIMEOUT", LIMIT)
    connecting = asyncio.ensure_future(postgres.connect(postgres.Address.parse(postgres_database)))
    connection = await blocked(connecting, turns)
    await connection.close()


@pytest.mark.parametrize("turns", [2, 4, 8])
async def test_a_loop_that_was_blocked_while_it_connected_is_connected_to_mariadb(
    mariadb_database: str, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mysql, "CONNECT_TIMEOUT", LIMIT)
    connecting = asyncio.ensure_future(mysql.connect(mysql.Address.parse(mariadb_database)))
    wire = await blocked(connecting, turns)
    await wire.ensure_closed()


class Closed:
    async def close(self) -> None: ...


async def test_a_loop_that_was_blocked_takes_a_connection_that_became_free() -> None:
    pool = access.ConnectionPool([Closed()], LIMIT)
    busy = asyncio.Event()

    async def use() -> str:
        async with pool.connection():
            await busy.wait()
            return "used"

    first, second = asyncio.ensure_future(use()), asyncio.ensure_future(use())
    await asyncio.sleep(0)
    busy.set()
    assert await blocked(second, 0) == await first == "used"


async def test_a_connection_that_is_cut_between_two_messages_of_the_driver_is_busy(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = postgres.PostgresConnection(postgres.Address.parse(postgres_database))
    await link.fetch("select 1")
    prepare: Any = asyncpg.Connection.__dict__["_get_statement"]

    async def prepare_and_cut(self: Any, *arguments: Any, **named: Any) -> Any:
        prepared = await prepare(self, *arguments, **named)
        self.terminate()
        return prepared

    with monkeypatch.context() as patch:
        patch.setattr(asyncpg.Connection, "_get_statement", prepare_and_cut)
        with pytest.raises(StoreBusy):
            await link.fetch("select 2", writing=False)
    assert await link.fetch("select 3"), "it heals"
    await link.close()
