"""Maintenance of a PostgreSQL database: retention, space, and the findings of `doctor`."""

from __future__ import annotations

from typing import Final

from detent.clock import Clock
from detent.instant import SECOND
from detent.run.status import UNCOMPLETED
from detent.store.list_rows import Orphan
from detent.store.rows import CONTINUED, FORWARDED, Finding, MessageKind
from detent.store.sql.postgres import partitions
from detent.store.sql.postgres.connection import Connection, PostgresAccess
from detent.store.sql.postgres.migration import stored_revision
from detent.store.sql.postgres.partitions import Week, existing, weeks
from detent.store.sql.schema import describe
from detent.store.sql.verbs import PruneScope, PruneWindow, RunPlace, SharedMaintenance, orphan

# The findings of `doctor` on a PostgreSQL database.


_DURABILITY: Final = {
    "fsync": "a crash of the machine can destroy the whole database",
    "full_page_writes": "a crash of the machine can destroy tables",
    "synchronous_commit": "a crash can lose acknowledged writes",
}
_IDLE: Final = """
select pid, extract(epoch from clock_timestamp() - state_change)::int from pg_stat_activity
where datname = current_database() and state like 'idle in transaction%'
  and state_change < clock_timestamp() - interval '10 seconds'"""
_OFFSET: Final = 5 * SECOND


async def examine(connection: Connection, clock: Clock) -> list[Finding]:
    """Return every finding: errors, warnings and what is in order."""
    return [
        *await _durability(connection),
        describe(await stored_revision(connection)),
        await _clock(connection, clock),
        *await _sessions(connection),
        *await _weeks(connection),
    ]


async def _durability(connection: Connection) -> list[Finding]:
    bad = []
    for name, harm in _DURABILITY.items():
        value = await connection.fetchval(f"show {name}")
        if value == "off":
            bad.append(Finding("error", "durability", f"{name} is off: {harm}"))
        elif value == "local":
            bad.append(Finding("warning", "durability", f"{name} is local: a failover can lose acknowledged writes"))
    return bad or [Finding("ok", "durability", "fsync, full_page_writes and synchronous_commit are on")]


async def _clock(connection: Connection, clock: Clock) -> Finding:
    before = clock.wall()
    theirs: int = await connection.fetchval("select clock_timestamp()")
    offset = theirs - (before + clock.wall()) // 2
    if abs(offset) > _OFFSET:
        return Finding(
            "warning", "clock", f"this machine's clock differs from the database's by {-offset / SECOND:.1f} s"
        )
    return Finding("ok", "clock", "this machine and the database agree on the time")


async def _sessions(connection: Connection) -> list[Finding]:
    return [
        Finding(
            "warning", "sessions", f"process {pid} has been idle in a transaction for {seconds} s and may hold locks"
        )
        for pid, seconds in await connection.fetch(_IDLE)
    ]


async def _weeks(connection: Connection) -> list[Finding]:
    now: int = await connection.fetchval("select clock_timestamp()")
    there = await existing(connection)
    missing = [week.table for week in weeks(now, now) if week.table not in there]
    return [
        Finding("warning", "partitions", f"the journal has no partition {name}; `tidy` makes it") for name in missing
    ]


_UNCOMPLETED: Final = ", ".join(f"'{status}'" for status in sorted(UNCOMPLETED))
# A scalar subquery, not `exists`: the planner might read every open run instead of looking up each parent.
_PRUNE: Final = """
with found as materialized (
  select r.id, r.parent, r.ended_at from run r {found}
),
old as materialized (
  select r.id from found join run r on r.id = found.id
  where r.ended_at < $2{spared} and (select p.ended_at is null from run p where p.id = found.parent) is not true
  for update of r skip locked
),
entries as (delete from journal j using old where j.run = old.id),
waits as (delete from callback c using old where c.run = old.id),
mail as (delete from inbox i using old where i.run = old.id),
results as (delete from kept k using old where k.run = old.id),
resources as (delete from link l using old where l.run = old.id),
reserved as (delete from reservation r using old where r.run = old.id),
logged as (delete from step_log s using old where s.run = old.id),
gone as (delete from run r using old where r.id = old.id returning r.workflow, r.version)
select (select count(*) from gone), (select count(*) from found), last.ended_at, last.id,
  (select array_agg(workflow) from gone where version < 0), (select array_agg(version) from gone where version < 0)
from (select 1) always left join (select * from found order by {last} limit 1) last on true"""
PRUNE: Final = _PRUNE.format(
    found="""where r.status = $1 and r.ended_at < $2 and r.ended_at >= $3 and (r.ended_at > $3 or r.id > $4)
  order by r.ended_at, r.id limit $5""",
    spared=" and r.tenant <> all($6::int[])",
    last="ended_at desc, id desc",
)
PRUNE_TENANT: Final = _PRUNE.format(
    found="""where r.tenant = $1 and r.id > $3 and r.id < $5 and r.ended_at < $2 order by r.id limit $4""",
    spared="",
    last="id desc",
)
# `offset 0` makes the planner begin with the parents, whatever its statistics are.
ORPHANS: Final = f"""
select c.tenant, c.id, c.opening, p.id, p.status
from run p cross join lateral (
  select c.tenant, c.id, c.opening from run c where c.parent = p.id and c.ended_at is null offset 0
) c
where p.status in ({_UNCOMPLETED}) and p.ended_at >= $1 and c.id > $2
  and (select true from inbox i where i.run = c.id and i.kind = '{MessageKind.CANCEL}' limit 1) is null
order by c.id limit $3"""
_FORWARDED: Final = ", ".join(f"'{kind}'" for kind in FORWARDED)
FORWARD_LATE: Final = f"""
update inbox i set run = s.id from run s
where i.kind in ({_FORWARDED}) and s.origin = i.run and s.origin_kind = '{CONTINUED}'
  and not exists (select 1 from run r where r.id = i.run and r.ended_at is null)
returning i.id"""
# Forwarded mail may be late again, if the successor has ended since. It is left for the next call.
DROP_MAIL: Final = f"""
delete from inbox i where not exists (select 1 from run r where r.id = i.run and r.ended_at is null)
  and i.at < clock_timestamp() - interval '1 minute'
  and not (i.kind in ({_FORWARDED})
           and exists (select 1 from run s where s.origin = i.run and s.origin_kind = '{CONTINUED}'))"""

SIZE: Final = "select pg_total_relation_size($1::text::regclass)"
HAS_OPEN: Final = "select exists (select 1 from run where id >= $1 and id < $2 and ended_at is null)"
#: The estimated size of a table's live rows, from its statistics. The rest of the file is waste.
LIVE: Final = """
select greatest(c.reltuples, 0)::bigint
       * (40 + coalesce((select sum(avg_width) from pg_stats s where s.tablename = c.relname), 0))
from pg_class c where c.oid = $1::text::regclass"""
#: Rewriting a week is worth it when at least this much, and at least half of its file, is waste.
WORTH: Final = 1 << 20


class PostgresMaintenance(SharedMaintenance):
    """The maintenance verbs, on the pool of the commands and on a connection without a time limit for long work."""

    def __init__(self, access: PostgresAccess, clock: Clock) -> None:
        super().__init__(access)
        self._long = access.long
        self._pruner = access.pruner
        self._pool = access.pool
        self._is_pooled = access.address.pooled
        self._clock = clock

    async def _prune_window(self, scope: PruneScope, before: int, behind: RunPlace, size: int) -> PruneWindow:
        if scope.tenant is None:
            rows = await self._pruner.fetch(PRUNE, scope.status, before, *behind, size, list(scope.spared))
        else:
            rows = await self._pruner.fetch(PRUNE_TENANT, scope.tenant, before, behind[1], size, scope.below)
        [row] = rows
        deleted, found, ended_at, run, workflows, versions = row
        drafts = list(zip(workflows or (), versions or (), strict=True))
        return PruneWindow(deleted, (ended_at, run) if found == size else None, drafts)

    async def orphans(self, *, since: int, after: bytes, limit: int) -> list[Orphan]:
        return [orphan(tuple(row)) for row in await self._pruner.fetch(ORPHANS, since, after, limit, writing=False)]

    async def tidy(self) -> None:
        while await self._pool.fetch(FORWARD_LATE):
            pass  # each pass forwards to the next run of the chain
        await self._pool.fetch(DROP_MAIL)

        async def work(connection: Connection) -> None:
            await partitions.create_ahead(connection, await connection.fetchval("select clock_timestamp()"))

        async with self._pool.connection() as connection:
            await connection.call(work)

    async def compact(self) -> int:
        if self._is_pooled:
            return 0  # VACUUM needs its own session, which a pooler does not provide

        async def work(connection: Connection) -> int:
            await connection.execute("set statement_timeout = 0")
            await connection.execute("vacuum run, inbox, callback, step_log")
            now = await connection.fetchval("select clock_timestamp()")
            there = await partitions.existing(connection)
            first = min((name for name in there if name[-8:].isdigit()), default=None)
            if first is None:
                return 0
            returned = 0
            for week in partitions.weeks(partitions.start_of(first), now - partitions.WEEK):
                if week.table in there:
                    returned += await _shrink(connection, week)
            return returned

        try:
            return await self._long.call(work)
        finally:
            await self._long.close()

    async def examine(self) -> list[Finding]:
        async def work(connection: Connection) -> list[Finding]:
            return await examine(connection, self._clock)

        async with self._pool.connection() as connection:
            return await connection.call(work, writing=False)


async def _shrink(connection: Connection, week: Week) -> int:
    """Free the disk space that a past week does not need any more. Return how many bytes.

    A week with open runs is skipped: the engine still writes to it, and would be blocked."""
    if await connection.fetchval(HAS_OPEN, *week.bounds()):
        return 0
    await connection.execute(f"vacuum (analyze) {week.table}")
    before: int = await connection.fetchval(SIZE, week.table)
    if await _dropped(connection, week):
        return before
    live: int = await connection.fetchval(LIVE, week.table)
    if before - live < WORTH or live > before // 2:
        return 0
    await connection.execute(f"vacuum (full, analyze) {week.table}")
    after: int = await connection.fetchval(SIZE, week.table)
    return before - after


async def _dropped(connection: Connection, week: Week) -> bool:
    """Drop a week that is empty. Return whether it was dropped.

    The journal is locked first, and only briefly: a flush takes the same locks in the same order."""
    if await connection.fetchval(f"select exists (select 1 from {week.table})"):
        return False
    async with connection.transaction():
        await connection.execute("lock table only journal in access exclusive mode")
        if await connection.fetchval(f"select exists (select 1 from {week.table})"):
            return False
        await connection.execute(f"drop table {week.table}")
    return True
