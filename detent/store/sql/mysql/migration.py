"""Migrating a MariaDB or MySQL database, only when asked to.

Neither server can take a change of tables back, so a migration that dies in the middle leaves its first half there.
Each step is noted as it is done, and the next call goes on after the last one noted. The one after it may have been
done too, only not noted: if the server says that this first one is there already, that is well.
"""

from __future__ import annotations

from typing import Final, TypeVar

from detent.errors import StoreBusy
from detent.store.sql.mysql.connection import (
    COMMAND_TIMEOUT,
    Address,
    MysqlConnection,
    StatementRefused,
    Wire,
    Work,
    is_mariadb,
)
from detent.store.sql.mysql.flush import quote

T = TypeVar("T")

PATIENCE: Final = 60
_NAME: Final = "concat('detent-', md5(database()))"  # a lock is the server's, and its name may not be long
_LOCK: Final = f"select get_lock({_NAME}, {PATIENCE})"
_UNLOCK: Final = f"select release_lock({_NAME})"
#: Building an index of a large table takes its time.
_LONG: Final = "set session default_storage_engine = InnoDB, lock_wait_timeout = 60"
_LOG: Final = """
create table if not exists migration_step (
  goal varchar(64) character set ascii collate ascii_bin not null primary key, done int not null
) engine = InnoDB"""
_HAS: Final = "select 1 from information_schema.tables where table_schema = database() and table_name = {name}"
_REVISION: Final = "select version_num from alembic_version"

#: Table, column, index or row exists already.
_THERE: Final = frozenset({1050, 1060, 1061, 1062})


async def migrate(address: Address, to: str | None = None) -> str:
    """Bring the tables to a revision, by default the newest; gives the revision. Of several that migrate at the same
    time the first does it."""

    async def work(wire: Wire) -> str:
        [locked] = await wire.send(_LOCK)
        if not locked.rows[0][0]:
            raise StoreBusy(f"somebody else has been migrating {address} for {PATIENCE} s")
        await wire.send(_LONG)
        if is_mariadb(wire):
            await wire.send("set session max_statement_time = 0")
        await _advance(wire, to)
        await wire.send(_UNLOCK)
        return str(await noted_revision(wire))

    return await _once(address, work, writing=True)


async def revision(address: Address) -> str | None:
    """The revision of the tables; null if there are none."""
    return await _once(address, noted_revision, writing=False)


async def _once(address: Address, work: Work[T], *, writing: bool) -> T:
    link = MysqlConnection(address, limit=3600 if writing else COMMAND_TIMEOUT)
    try:
        return await link.call(work, writing=writing)
    finally:
        await link.close()


async def _advance(wire: Wire, to: str | None) -> None:
    from detent.store.migrations.statements import revisions, statements  # Alembic: only when it is needed

    statements("mysql", current=await noted_revision(wire), to=to)  # refuses what cannot be done
    current = await noted_revision(wire)
    for goal in revisions():
        if (current is None or goal > current) and (to is None or goal <= to):
            await _reach(wire, goal, steps(statements("mysql", current=current, to=goal)))
            current = goal


def steps(script: str) -> list[str]:
    """The statements of a script of ours, without its comments."""
    lines = (line for line in script.splitlines() if not line.startswith("--"))
    return [step for part in "\n".join(lines).split(";\n") if (step := part.strip())]


async def _reach(wire: Wire, goal: str, statements: list[str]) -> None:
    await wire.send(_LOG)
    [noted] = await wire.send(f"select done from migration_step where goal = {quote(goal)}")
    if not noted.rows:
        await wire.send(f"insert into migration_step (goal, done) values ({quote(goal)}, 0)")
    done = noted.rows[0][0] if noted.rows else 0
    for number, statement in enumerate(statements[done:], done + 1):
        try:
            await wire.send(statement)
        except StatementRefused as refusal:
            is_perhaps_done = bool(noted.rows) and number == done + 1
            if not is_perhaps_done or refusal.code not in _THERE:
                raise
        await wire.send(f"update migration_step set done = {number} where goal = {quote(goal)}")


async def noted_revision(wire: Wire) -> str | None:
    [there] = await wire.send(_HAS.format(name=quote("alembic_version")))
    if not there.rows:
        return None
    [noted] = await wire.send(_REVISION)
    return str(noted.rows[0][0]) if noted.rows else None
