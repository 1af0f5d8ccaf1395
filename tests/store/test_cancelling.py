"""Whoever is told to stop stops, whatever the database does meanwhile."""

import asyncio

import pytest

from detent.store.sql.postgres.link import Link
from detent.store.sql.postgres.wire import Address, Connection

pytestmark = pytest.mark.slow


async def test_a_cancelled_transaction_stays_cancelled_though_its_connection_broke(postgres_database: str) -> None:
    link = Link(Address.parse(postgres_database))

    async def work(connection: Connection) -> None:
        connection.terminate()  # so that not even a rollback can be sent
        this = asyncio.current_task()
        assert this is not None
        this.cancel()
        await asyncio.sleep(0)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(link.transaction(work))
    await link.close()
