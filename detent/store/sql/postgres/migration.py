"""Migrate a PostgreSQL database, only when asked to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import asyncpg

from detent.errors import StoreBusy, StoreLocked
from detent.store.sql.postgres.connection import Address, Connection, connect, translated
from detent.store.sql.postgres.partitions import create_ahead
from detent.store.sql.schema import REVISION, StoredRevision

if TYPE_CHECKING:
    from detent.store.migrations.plan import Migration

_LOCK: Final = "select pg_try_advisory_xact_lock(7233194)"
_PATIENCE: Final = 300.0
_HAS_TABLES: Final = "select to_regclass('alembic_version') is not null and to_regclass('setting') is not null"
_OFFERS: Final = "select n.offers from node n join lease l on l.node = n.id where l.until > clock_timestamp()"
#: A schema change that waits for a lock blocks every flush behind it. So it gives up soon and is repeated.
_LOCK_TIMEOUT: Final = "2s"


async def migrate(
    address: Address,
    to: str | None = None,
    *,
    force: bool = False,
    only_up: bool = False,
    row_security: bool = False,
) -> str:
    """Bring the tables to a revision, by default the newest, and return it (see `plan`).

    If several processes migrate at the same time, the first one does it. With `row_security` the tables are put under
    it too."""
    from detent.store.migrations.plan import BASE  # Alembic: only when it is needed
    from detent.store.migrations.server import migrate_server, repeat
    from detent.store.sql.postgres.row_security import secure

    async with _only_migration(address):
        connection = await connect(address)
        try:
            with translated(writing=True):
                if address.schema is not None:
                    await connection.execute(f"create schema if not exists {address.schema}")
            server = _Server(connection, pooled=address.pooled)
            revision = await migrate_server(server, to, force=force, only_up=only_up)
            if revision != BASE:
                with translated(writing=True):
                    await create_ahead(connection, await connection.fetchval("select clock_timestamp()"))
                    if row_security:
                        await secure(connection, address, repeat)
        finally:
            await connection.close()
    return revision


@asynccontextmanager
async def _only_migration(address: Address) -> AsyncIterator[None]:
    """Exclude other migrations.

    The lock belongs to an idle transaction on its own connection, and is tried instead of waited for. The reason is
    `create index concurrently`: it waits for every statement that has a snapshot, and would wait for one that waits for
    it. A pooler keeps a session only inside a transaction."""
    connection = await connect(address)
    try:
        for _ in range(round(_PATIENCE / 0.1)):
            with translated(writing=False):
                transaction = connection.transaction()
                await transaction.start()
                is_only = await connection.fetchval(_LOCK)
                # After the query: this statement closes the query's portal, which holds a snapshot.
                await connection.execute("set local idle_in_transaction_session_timeout = 0")
            if is_only:
                yield
                return
            with translated(writing=False):
                await transaction.rollback()
            await asyncio.sleep(0.1)
        raise StoreBusy(f"another process has been migrating this database for {_PATIENCE:.0f} s")
    finally:
        await connection.close(timeout=1)


class _Server:
    """PostgreSQL as a server of migrations."""

    dialect = "postgresql"

    def __init__(self, connection: Connection, *, pooled: bool) -> None:
        self._connection = connection
        self._pooled = pooled

    async def stored_revision(self) -> StoredRevision:
        with translated(writing=False):
            return await stored_revision(self._connection)

    async def offers(self) -> list[str | None]:
        with translated(writing=False):
            return [row[0] for row in await self._connection.fetch(_OFFERS)]

    async def note_oldest_code(self, code: str) -> None:
        from detent.store.migrations.plan import note_oldest_code

        await self._transaction(note_oldest_code(code))

    async def apply(self, migration: Migration) -> None:
        from detent.store.migrations.server import repeat

        if not migration.is_autocommit:
            await repeat(lambda: self._transaction(migration.statements))
            return
        with translated(writing=True):
            if not self._pooled:  # no other statement waits behind these, so they have no time limit
                await self._connection.execute("set statement_timeout = 0; set lock_timeout = 0")
            for statement in migration.statements:
                await self._connection.execute(statement)

    async def _transaction(self, statements: list[str]) -> None:
        with translated(writing=True):
            async with self._connection.transaction():
                await self._connection.execute("set local statement_timeout = 0")
                await self._connection.execute(f"set local lock_timeout = '{_LOCK_TIMEOUT}'")
                try:
                    await self._connection.execute(";\n".join(statements))
                except asyncpg.DeadlockDetectedError as error:  # with a flush that holds one table and wants another
                    raise StoreLocked(f"PostgreSQL: {error} (40P01)") from error


async def revision(address: Address) -> StoredRevision:
    """Return the revision of the tables."""
    connection = await connect(address)
    try:
        with translated(writing=False):
            async with connection.transaction():
                return await stored_revision(connection)
    finally:
        await connection.close()


async def stored_revision(connection: Connection) -> StoredRevision:
    if not await connection.fetchval(_HAS_TABLES):
        return StoredRevision(None)
    rows = await connection.fetch(REVISION)
    return StoredRevision.read(tuple(rows[0]) if rows else None)
