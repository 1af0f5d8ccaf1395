"""Migrate a MariaDB or MySQL database, only when asked to.

Neither server can roll back a schema change, so a migration that dies in the middle leaves its first half applied. Each
step is logged after it is done, and the next call continues after the last logged step. The step after that one may
have been done but not logged. So if the server answers that its object exists (or is gone) already, the step counts as
done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from detent.errors import StoreBusy
from detent.store.sql.mysql.connection import (
    COMMAND_TIMEOUT,
    Address,
    MysqlConnection,
    StatementRefused,
    Wire,
    Work,
    is_mariadb,
    translated,
)
from detent.store.sql.mysql.flush import NOW, quote
from detent.store.sql.schema import REVISION, StoredRevision

if TYPE_CHECKING:
    from detent.store.migrations.plan import Migration

T = TypeVar("T")

PATIENCE: Final = 300
_NAME: Final = "concat('detent-', md5(database()))"  # locks are global to the server, and their names must be short
_LOCK: Final = f"select get_lock({_NAME}, 1)"
_UNLOCK: Final = f"select release_lock({_NAME})"
_LOG: Final = """
create table if not exists migration_step (
  goal varchar(64) character set ascii collate ascii_bin not null primary key, done int not null
) engine = InnoDB"""
_TABLES: Final = """
select table_name from information_schema.tables
where table_schema = database() and table_name in ('alembic_version', 'setting')"""
_OFFERS: Final = f"select n.offers from node n join lease l on l.node = n.id where l.until > {NOW}"

_NO_TABLE: Final = 1146
#: Table, column, index or row exists already; table, column or index does not exist any more.
_DONE: Final = frozenset({1050, 1060, 1061, 1062, 1051, 1091})


async def migrate(address: Address, to: str | None = None, *, force: bool = False, only_up: bool = False) -> str:
    """Bring the tables to a revision, by default the newest, and return it (see `plan`).

    If several processes migrate at the same time, the first one does it."""
    from detent.store.migrations.server import migrate_server  # Alembic: only when something is to be migrated

    async def work(wire: Wire) -> str:
        for _ in range(PATIENCE):  # a second each, because a connection that is silent for long counts as lost
            [locked] = await wire.send(_LOCK)
            if locked.rows[0][0]:
                break
        else:
            raise StoreBusy(f"another process has been migrating {address} for {PATIENCE} s")
        await wire.send("set session default_storage_engine = InnoDB")
        if is_mariadb(wire):
            await wire.send("set session max_statement_time = 0")
        revision = await migrate_server(_Server(wire, address), to, force=force, only_up=only_up)
        await wire.send(_UNLOCK)
        return revision

    return await _once(address, work, writing=True)


async def revision(address: Address) -> StoredRevision:
    """Return the revision of the tables."""
    return await _once(address, stored_revision, writing=False)


async def _once(address: Address, work: Work[T], *, writing: bool) -> T:
    connection = MysqlConnection(address, limit=3600 if writing else COMMAND_TIMEOUT)
    try:
        return await connection.call(work, writing=writing)
    finally:
        await connection.close()


class _Server:
    """MariaDB or MySQL as a server of migrations."""

    dialect = "mysql"

    def __init__(self, wire: Wire, address: Address) -> None:
        self._wire = wire
        self._address = address

    async def stored_revision(self) -> StoredRevision:
        return await stored_revision(self._wire)

    async def offers(self) -> list[str | None]:
        try:
            [found] = await self._wire.send(_OFFERS)
        except StatementRefused as refusal:
            if refusal.code != _NO_TABLE:  # the table is missing if a downgrade died after dropping it
                raise
            return []
        return [row[0] for row in found.rows]

    async def note_oldest_code(self, code: str) -> None:
        from detent.store.migrations.plan import note_oldest_code

        for statement in note_oldest_code(code):
            await self._wire.send(statement)

    async def apply(self, migration: Migration) -> None:
        from detent.store.migrations.server import repeat

        wire, goal = self._wire, quote(f"{migration.current}:{migration.goal}")
        await wire.send(_LOG)
        await wire.send(f"delete from migration_step where goal <> {goal}")  # the log of an abandoned migration
        [noted] = await wire.send(f"select done from migration_step where goal = {goal}")
        done = noted.rows[0][0] if noted.rows else 0
        if not noted.rows:
            await wire.send(f"insert into migration_step (goal, done) values ({goal}, 0)")
        for number, statement in enumerate(migration.statements[done:], done + 1):
            is_perhaps_done = bool(noted.rows) and number == done + 1
            await repeat(lambda: self._step(statement, is_perhaps_done=is_perhaps_done))  # noqa: B023
            await wire.send(f"update migration_step set done = {number} where goal = {goal}")
        await wire.send(f"delete from migration_step where goal = {goal}")

    async def _step(self, statement: str, *, is_perhaps_done: bool) -> None:
        # A schema change that waits for a lock blocks every flush behind it. So it gives up soon and is repeated.
        with translated(writing=True, address=self._address):
            try:
                await self._wire.send(statement)
            except StatementRefused as refusal:
                if not is_perhaps_done or refusal.code not in _DONE:
                    raise


async def stored_revision(wire: Wire) -> StoredRevision:
    [tables] = await wire.send(_TABLES)
    names = {row[0] for row in tables.rows}
    if "alembic_version" not in names:
        return StoredRevision(None)
    [noted] = await wire.send(REVISION if "setting" in names else "select version_num, null from alembic_version")
    return StoredRevision.read(noted.rows[0] if noted.rows else None)
