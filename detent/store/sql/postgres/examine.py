"""What `doctor` looks for in a PostgreSQL database."""

from __future__ import annotations

from typing import Final

from detent.clock import Clock
from detent.instant import SECOND
from detent.store.rows import Finding
from detent.store.sql.postgres.migrate import noted_revision
from detent.store.sql.postgres.partitions import existing, weeks
from detent.store.sql.postgres.wire import Connection
from detent.store.sql.schema import HEAD

_DURABILITY: Final = {
    "fsync": "a crash of the machine can destroy the whole database",
    "full_page_writes": "a crash of the machine can destroy tables",
    "synchronous_commit": "a crash can take back what was acknowledged",
}
_IDLE: Final = """
select pid, extract(epoch from clock_timestamp() - state_change)::int from pg_stat_activity
where datname = current_database() and state like 'idle in transaction%'
  and state_change < clock_timestamp() - interval '10 seconds'"""
_OFFSET: Final = 5 * SECOND


async def examine(connection: Connection, clock: Clock) -> list[Finding]:
    """Everything worth saying, errors and warnings among what is well."""
    return [
        *await _durability(connection),
        await _schema(connection),
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
            bad.append(
                Finding("warning", "durability", f"{name} is local: a failover can take back what was acknowledged")
            )
    return bad or [Finding("ok", "durability", "fsync, full_page_writes and synchronous_commit are on")]


async def _schema(connection: Connection) -> Finding:
    found = await noted_revision(connection)
    if found == HEAD:
        return Finding("ok", "schema", f"the tables are at revision {HEAD}")
    return Finding(
        "error", "schema", f"the tables are at revision {found}, this Detent needs {HEAD}: run `detent migrate`"
    )


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
