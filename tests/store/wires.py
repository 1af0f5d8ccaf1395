"""Raw MariaDB sessions for races: hold a transaction open, see who waits for whom."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from detent.store.sql.mysql.connection import Address, Wire, connect
from tests.store.sessions import PATIENCE

WAITING = """
select count(*) from information_schema.innodb_trx t
join information_schema.processlist p on p.id = t.trx_mysql_thread_id
where t.trx_state = 'LOCK WAIT' and p.db = database()"""
#: The server looks anew only if nobody has asked for a tenth of a second.
STALE = 0.11


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[Wire]:
    """A connection of a test's own, in autocommit."""
    connection = await connect(Address.parse(url))
    try:
        yield connection
    finally:
        await connection.ensure_closed()


async def value(connection: Wire, sql: str) -> object:
    """The first value of the first row."""
    [answer] = await connection.send(sql)
    return answer.rows[0][0] if answer.rows else None


async def somebody_waits(watcher: Wire, count: int = 1) -> None:
    """Wait until so many transactions wait for a lock."""
    async with asyncio.timeout(PATIENCE):
        while int(str(await value(watcher, WAITING))) < count:  # noqa: ASYNC110 - a server sends no signal
            await asyncio.sleep(STALE)
