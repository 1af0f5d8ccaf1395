"""Maintenance of a MariaDB or MySQL database: retention, space, and the findings of `doctor`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from detent.clock import Clock
from detent.instant import SECOND
from detent.run.status import UNCOMPLETED
from detent.store.list_rows import Orphan
from detent.store.rows import CONTINUED, FORWARDED, Finding, MessageKind
from detent.store.sql.mysql.connection import BEGIN, COMMIT, MysqlAccess, StatementRefused, Wire, is_mariadb
from detent.store.sql.mysql.flush import NOW, SELECT_NOW, blob, listed, quote
from detent.store.sql.mysql.migration import stored_revision
from detent.store.sql.schema import describe
from detent.store.sql.verbs import PruneScope, PruneWindow, RunPlace, SharedMaintenance, orphan

# The findings of `doctor` on a MariaDB or MySQL database.


#: The oldest versions with `skip locked` and atomic schema changes.
OLDEST: Final = {True: (10, 6), False: (8, 0)}
#: A flush has at most 1 MB of payload, and text with backslashes is written as hexadecimal digits, twice as long.
SMALL_PACKET: Final = 16 << 20
_ASKED: Final = (
    "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "log_bin", "sync_binlog", "max_allowed_packet",
    "wsrep_on", "innodb_file_per_table",
)  # fmt: skip
_VARIABLES: Final = f"show global variables where variable_name in ({','.join(repr(name) for name in _ASKED)})"
_ENGINES: Final = """
select table_name, engine from information_schema.tables
where table_schema = database() and table_type = 'BASE TABLE' and engine <> 'InnoDB'"""
_OFFSET: Final = 5 * SECOND


async def examine(wire: Wire, clock: Clock) -> list[Finding]:
    """Return every finding: errors, warnings and what is in order."""
    [variables] = await wire.send(_VARIABLES)
    settings = {str(name): str(value) for name, value in variables.rows}
    [others] = await wire.send(_ENGINES)
    return [
        *judged(settings, others.rows),
        _version(str(wire.get_server_info()), is_mariadb=is_mariadb(wire)),
        describe(await stored_revision(wire)),
        await _clock(wire, clock),
    ]


def judged(settings: dict[str, str], others: tuple[tuple[Any, ...], ...] = ()) -> list[Finding]:
    """Return what the server's settings, and tables that are not InnoDB, do to durability."""
    bad = [*_durability(settings), *_tables(others)]
    well = Finding("ok", "durability", "every commit is on disk before it is acknowledged")
    return [*(bad or [well]), *_packets(settings)]


def _durability(settings: dict[str, str]) -> Iterator[Finding]:
    flushing = settings.get("innodb_flush_log_at_trx_commit", "1")
    if flushing not in ("1", "3"):
        yield Finding(
            "error",
            "durability",
            f"innodb_flush_log_at_trx_commit is {flushing}: a crash can lose acknowledged writes; set it to 1",
        )
    if settings.get("innodb_doublewrite", "ON").upper() in ("OFF", "0"):
        yield Finding("warning", "durability", "innodb_doublewrite is off: a crash of the machine can destroy tables")
    if settings.get("log_bin", "OFF").upper() in ("ON", "1") and settings.get("sync_binlog", "1") == "0":
        yield Finding(
            "warning",
            "durability",
            "sync_binlog is 0 and the binary log is on: after a crash a replica may lack acknowledged writes",
        )
    if settings.get("wsrep_on", "OFF").upper() in ("ON", "1"):
        yield Finding(
            "error",
            "durability",
            "this is a Galera cluster: its nodes do not see each other's locks, so let every Detent node write to the "
            "same one of them",
        )


def _tables(others: tuple[tuple[Any, ...], ...]) -> Iterator[Finding]:
    for table, engine in others:
        yield Finding(
            "error", "durability", f"the table {table} uses {engine}, which has no transactions: convert it to InnoDB"
        )


def _packets(settings: dict[str, str]) -> Iterator[Finding]:
    largest = int(settings.get("max_allowed_packet", SMALL_PACKET))
    if largest < SMALL_PACKET:
        yield Finding(
            "warning",
            "packets",
            f"max_allowed_packet is {largest} bytes: large definitions may be refused",
        )


def _version(said: str, *, is_mariadb: bool) -> Finding:
    name = "MariaDB" if is_mariadb else "MySQL"
    found = re.search(r"(\d+)\.(\d+)\.\d+(?=-mariadb)", said, re.IGNORECASE) or re.search(r"(\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    oldest = OLDEST[is_mariadb]
    if version < oldest:
        return Finding("error", "version", f"{name} {said} is too old: Detent needs {oldest[0]}.{oldest[1]} or newer")
    return Finding("ok", "version", f"{name} {version[0]}.{version[1]}")


async def _clock(wire: Wire, clock: Clock) -> Finding:
    before = clock.wall()
    [answer] = await wire.send(SELECT_NOW)
    theirs: int = answer.rows[0][0]
    offset = theirs - (before + clock.wall()) // 2
    if abs(offset) > _OFFSET:
        return Finding(
            "warning", "clock", f"this machine's clock differs from the database's by {-offset / SECOND:.1f} s"
        )
    return Finding("ok", "clock", "this machine and the database agree on the time")


OLD: Final = """
select id, parent, ended_at, workflow, version, tenant from run force index (run_ended)
where status = {status} and ended_at < {before:d} and ended_at >= {ended_at:d}
  and (ended_at > {ended_at:d} or id > {id})
order by ended_at, id limit {size:d} for update skip locked"""
#: Without locks: those of open runs would block flushes.
OLD_OF_TENANT: Final = """
select id from run force index (run_tenant)
where tenant = {tenant:d} and id > {id} and id < {below} and ended_at < {before:d} order by id limit {size:d}"""
LOCKED: Final = """
select id, parent, ended_at, workflow, version, tenant from run force index (primary)
where id in ({runs}) order by id for update skip locked"""
OPEN_AMONG: Final = "select id from run force index (primary) where id in ({runs}) and ended_at is null"
ORPHANS: Final = f"""
select straight_join c.tenant, c.id, c.opening, p.id, p.status
from run p force index (run_ended) join run c force index (run_parent) on c.parent = p.id
where p.status in ({listed(sorted(map(str, UNCOMPLETED)))}) and p.ended_at >= {{since:d}}
  and c.ended_at is null and c.id > {{after}}
  and not exists (select 1 from inbox i where i.run = c.id and i.kind = '{MessageKind.CANCEL}')
order by c.id limit {{limit:d}}"""
_IS_LATE: Final = "not exists (select 1 from run r where r.id = inbox.run and r.ended_at is null)"
_IS_FORWARDED: Final = f"kind in ({listed(map(str, FORWARDED))})"
_SUCCESSOR: Final = f"select s.id from run s where s.origin = inbox.run and s.origin_kind = '{CONTINUED}' limit 1"
FORWARD_LATE: Final = f"""
update inbox set run = ({_SUCCESSOR}) where {_IS_FORWARDED} and {_IS_LATE} and exists ({_SUCCESSOR})"""
# Forwarded mail may be late again, if the successor has ended since. It is left for the next call.
DROP_MAIL: Final = f"""
delete from inbox where at < {NOW} - 60000000 and {_IS_LATE} and not ({_IS_FORWARDED} and exists ({_SUCCESSOR}))"""

SIZES: Final = """
select data_length + index_length + data_free, data_free from information_schema.tables
where table_schema = database() and table_name = {table}"""
#: Rewriting a table is worth it when at least this much, and at least half of its file, is free.
WORTH: Final = 8 << 20
#: The tables that retention prunes. The journal is by far the largest.
PRUNED: Final = ("journal", "run", "callback", "inbox", "kept", "firing", "step_log")
_BELONGING: Final = (
    *((table, "run") for table in ("journal", "callback", "inbox", "kept", "link", "reservation", "step_log")),
    ("run", "id"),
)
_BY_RUN: Final = {
    "inbox": "inbox_run",
    "link": "link_run",
    "reservation": "reservation_run",
    "step_log": "step_log_run",
}


class MysqlMaintenance(SharedMaintenance):
    """The maintenance verbs, on the pool of the commands and on a connection without a time limit for long work."""

    def __init__(self, access: MysqlAccess, clock: Clock) -> None:
        super().__init__(access)
        self._long = access.long
        self._pruner = access.pruner
        self._pool = access.pool
        self._clock = clock

    async def _prune_window(self, scope: PruneScope, before: int, behind: RunPlace, size: int) -> PruneWindow:
        ended_at, id_ = behind

        async def work(wire: Wire) -> PruneWindow:
            last: RunPlace | None
            if scope.tenant is None:
                await wire.send(BEGIN)
                asked = OLD.format(
                    status=quote(scope.status), before=before, ended_at=ended_at, id=blob(id_), size=size
                )
                [found] = await wire.send(asked)
                last = (found.rows[-1][2], found.rows[-1][0]) if len(found.rows) == size else None
            else:
                below = blob(scope.below)
                asked = OLD_OF_TENANT.format(tenant=scope.tenant, id=blob(id_), below=below, before=before, size=size)
                [ended] = await wire.send(asked)
                if not ended.rows:
                    return PruneWindow(0, None, ())
                last = (0, ended.rows[-1][0]) if len(ended.rows) == size else None
                await wire.send(BEGIN)
                [found] = await wire.send(LOCKED.format(runs=listed([row[0] for row in ended.rows])))
            parents = {row[1] for row in found.rows if row[1] is not None}
            still_open: set[bytes] = set()
            if parents:
                [answer] = await wire.send(OPEN_AMONG.format(runs=listed(sorted(parents))))
                still_open = {row[0] for row in answer.rows}
            rows = [row for row in found.rows if row[1] not in still_open and row[5] not in scope.spared]
            old = [row[0] for row in rows]
            gone = listed(old)
            deletes = [_deletion(table, column, gone) for table, column in _BELONGING] if old else []
            await wire.send_all((*deletes, COMMIT))
            return PruneWindow(len(old), last, [(row[3], row[4]) for row in rows if row[4] < 0])

        return await self._pruner.call(work)

    async def orphans(self, *, since: int, after: bytes, limit: int) -> list[Orphan]:
        [found] = await self._pool.send(ORPHANS.format(since=since, after=blob(after), limit=limit), writing=False)
        return [orphan(row) for row in found.rows]

    async def tidy(self) -> None:
        while (await self._pool.send(FORWARD_LATE))[0].matched:
            pass  # each pass forwards to the next run of the chain
        await self._pool.send(DROP_MAIL)

    async def compact(self) -> int:
        """Rewrite tables that are half empty. They stay readable and writable meanwhile."""
        try:
            return await self._long.call(_compact)
        finally:
            await self._long.close()

    async def examine(self) -> list[Finding]:
        async def work(wire: Wire) -> list[Finding]:
            return await examine(wire, self._clock)

        async with self._pool.connection() as connection:
            return await connection.call(work, writing=False)


def _deletion(table: str, column: str, gone: str) -> str:
    """Return a delete by index.

    Otherwise the server would scan a small table and wait for rows that others have locked."""
    index = _BY_RUN.get(table, "primary")
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
        except StatementRefused as refusal:
            if refusal.code not in (1205, 1969, 3024):
                raise
            continue  # the table is locked for long: try again next time
        returned += max(0, before - (await _sizes(wire, table))[0])
    return returned


async def _sizes(wire: Wire, table: str) -> tuple[int, int]:
    """Return the size of a table's file, and how much of it is free."""
    if is_mariadb(wire):
        await wire.send(f"analyze no_write_to_binlog table {table}")
    [found] = await wire.send(SIZES.format(table=quote(table)))
    size, free = found.rows[0]
    return int(size), int(free)
