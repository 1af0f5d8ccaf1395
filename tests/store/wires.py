"""Raw MariaDB sessions for races: hold a transaction open, see who waits for whom."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.wire import Wire, connect
from tests.store.sessions import eventually

WAITING = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"


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

    async def waiting() -> bool:
        found = await value(watcher, WAITING)
        return isinstance(found, int) and found >= count

    await eventually(waiting, "nobody waits for a lock")
