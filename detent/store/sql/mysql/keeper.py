"""Keeping a MariaDB or MySQL database in order: retention, space, and what `doctor` looks for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from detent.clock import Clock
from detent.store.rows import Finding
from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.examine import examine
from detent.store.sql.mysql.faults import Refusal
from detent.store.sql.mysql.flush import NOW
from detent.store.sql.mysql.link import BEGIN, COMMIT, Link, Pool
from detent.store.sql.mysql.literal import listed, text
from detent.store.sql.mysql.wire import Wire, is_mariadb

OLD: Final = """
select id from run force index (run_ended) where status = {status} and ended_at < {before:d}
order by ended_at limit {limit:d} for update skip locked"""
DROP_MAIL: Final = f"""
delete from inbox where at < {NOW} - 60000000
  and not exists (select 1 from run r where r.id = inbox.run and r.ended_at is null)"""

SIZES: Final = """
select data_length + index_length + data_free, data_free from information_schema.tables
where table_schema = database() and table_name = {table}"""
#: Rewriting a table is worth it when at least this much, and at least half of its file, is free.
WORTH: Final = 8 << 20
#: What loses rows by retention; the journal is by far the largest.
PRUNED: Final = ("journal", "run", "callback", "inbox", "kept", "firing")
_BELONGING: Final = (("journal", "run"), ("callback", "run"), ("inbox", "run"), ("kept", "run"), ("run", "id"))


class MysqlKeeper:
    """Works on the doors' pool, and on a connection without a time limit for what takes long."""

    def __init__(self, address: Address, clock: Clock, pool: Pool) -> None:
        self._long, self._pruner = Link(address, limit=3600), Link(address)
        self._keeper_pool, self._keeper_clock = pool, clock

    async def prune(self, *, before: int, statuses: Collection[str], limit: int) -> int:
        async def work(wire: Wire) -> int:
            await wire.send(BEGIN)
            old: list[bytes] = []
            for status in statuses:
                if len(old) < limit:
                    asked = OLD.format(status=text(str(status)), before=before, limit=limit - len(old))
                    [found] = await wire.send(asked)
                    old += [row[0] for row in found.rows]
            gone = listed(old)
            deletes = [_deletion(table, column, gone) for table, column in _BELONGING] if old else []
            await wire.send_all((*deletes, COMMIT))
            return len(old)

        return await self._pruner.call(work)

    async def tidy(self) -> None:
        await self._keeper_pool.send(DROP_MAIL)

    async def compact(self) -> int:
        """Rewrites tables that are half empty, while they are read and written."""
        try:
            return await self._long.call(_compact)
        finally:
            await self._long.close()

    async def examine(self) -> list[Finding]:
        async def work(wire: Wire) -> list[Finding]:
            return await examine(wire, self._keeper_clock)

        async with self._keeper_pool.link() as link:
            return await link.call(work, writing=False)

    async def _close_keeper(self) -> None:
        await self._pruner.close()
        await self._long.close()


def _deletion(table: str, column: str, gone: str) -> str:
    """By index, or a small table would be read from end to end, and rows that others have locked waited for."""
    index = "inbox_run" if table == "inbox" else "primary"
    return f"delete t from {table} t force index ({index}) where t.{column} in ({gone})"


async def _compact(wire: Wire) -> int:
    if is_mariadb(wire):
        await wire.send("set session max_statement_time = 0")
    returned = 0
    for table in PRUNED:
        before, free = await _sizes(wire, table)
        if free < WORTH or free < before // 2:
            continue
        try:
            await wire.send(f"alter table {table} force, algorithm = inplace, lock = none")
        except Refusal as refusal:
            if refusal.code not in (1205, 1969, 3024):
                raise
            continue  # somebody has the table for long: next time
        returned += max(0, before - (await _sizes(wire, table))[0])
    return returned


async def _sizes(wire: Wire, table: str) -> tuple[int, int]:
    """The size of a table's file, and how much of it is free."""
    if is_mariadb(wire):
        await wire.send(f"analyze no_write_to_binlog table {table}")
    [found] = await wire.send(SIZES.format(table=text(table)))
    size, free = found.rows[0]
    return int(size), int(free)
