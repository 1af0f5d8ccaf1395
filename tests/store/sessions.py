"""Raw PostgreSQL sessions for races: hold a transaction open, see who waits for whom."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from detent.store.sql.postgres.connection import Address, Connection, connect

PATIENCE = 300.0
WAITING = """
select count(*) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and state = 'active'"""


@asynccontextmanager
async def session(url: str) -> AsyncIterator[Connection]:
    """A connection of a test's own, in autocommit."""
    connection = await connect(Address.parse(url))
    try:
        yield connection
    finally:
        await connection.close(timeout=5)


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait until something is so. It need not stay so."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await condition():  # noqa: ASYNC110 - what happens inside the server sends no signal
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(what) from None


async def somebody_waits(watcher: Connection, count: int = 1) -> None:
    """Wait until so many sessions wait for a lock."""

    async def waiting() -> bool:
        return int(await watcher.fetchval(WAITING)) >= count

    await eventually(waiting, "nobody waits for a lock")
