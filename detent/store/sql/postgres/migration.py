"""Migrating a PostgreSQL database, only when asked to."""

from __future__ import annotations

from typing import Final

from detent.store.sql.postgres.connection import Address, Connection, connect, translated
from detent.store.sql.postgres.partitions import create_ahead

_LOCK: Final = "select pg_advisory_xact_lock(7233194)"
_IS_NOTED: Final = "select to_regclass('alembic_version') is not null"
_REVISION: Final = "select version_num from alembic_version"


async def migrate(address: Address, to: str | None = None) -> str:
    """Bring the tables to a revision, by default the newest, as one transaction; gives the revision. Of several that
    migrate at the same time the first does it."""
    from detent.store.migrations.statements import statements  # Alembic: only when something is to be migrated

    connection = await connect(address)
    try:
        with translated(writing=True):
            async with connection.transaction():
                await connection.execute(_LOCK)
                await connection.execute("set local statement_timeout = 0")
                if address.schema is not None:
                    await connection.execute(f"create schema if not exists {address.schema}")
                text = statements("postgresql", current=await noted_revision(connection), to=to)
                if text:
                    await connection.execute(text)
            async with connection.transaction():
                revision = await noted_revision(connection)
                await create_ahead(connection, await connection.fetchval("select clock_timestamp()"))
    finally:
        await connection.close()
    return str(revision)


async def revision(address: Address) -> str | None:
    """The revision of the tables; null if there are none."""
    connection = await connect(address)
    try:
        with translated(writing=False):
            async with connection.transaction():
                return await noted_revision(connection)
    finally:
        await connection.close()


async def noted_revision(connection: Connection) -> str | None:
    if not await connection.fetchval(_IS_NOTED):
        return None
    noted: str | None = await connection.fetchval(_REVISION)
    return noted
