"""Whoever is told to stop stops, whatever the database does meanwhile."""

import asyncio

import pytest

from detent.errors import StoreBusy
from detent.store.sql.postgres.connection import Address, Connection, Pool, PostgresConnection, translated

pytestmark = pytest.mark.slow


async def test_a_cancelled_transaction_stays_cancelled_though_its_connection_broke(postgres_database: str) -> None:
    link = PostgresConnection(Address.parse(postgres_database))

    async def work(connection: Connection) -> None:
        connection.terminate()  # so that not even a rollback can be sent
        this = asyncio.current_task()
        assert this is not None
        this.cancel()
        await asyncio.sleep(0)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(link.transaction(work))
    await link.close()


async def test_one_who_outlived_a_cancellation_hears_of_trouble_as_trouble() -> None:
    async def outlive() -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(60)
        with translated(writing=False):  # as a task group's owner does after one of its own failed
            raise ConnectionRefusedError

    outliving = asyncio.ensure_future(outlive())
    await asyncio.sleep(0)
    outliving.cancel()
    with pytest.raises(StoreBusy):
        await outliving


@pytest.mark.parametrize("turns", range(1, 8))
async def test_a_cancelled_door_is_cancelled_at_whatever_moment_that_comes(postgres_database: str, turns: int) -> None:
    pool = Pool.of(Address.parse(postgres_database), 1)
    asking = asyncio.ensure_future(pool.fetch("select 1"))
    for _ in range(turns):
        await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await pool.fetch("select 1")  # and its place is free again
    await pool.close()
