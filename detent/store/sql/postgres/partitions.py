"""The journal's partitions: one per week of run ids, which are sorted by time.

Old weeks shrink when their runs are pruned. Only rewriting or dropping a partition then frees its disk space.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from detent.instant import SECOND, as_datetime
from detent.store.sql.postgres.connection import Connection

WEEK: Final = 7 * 86_400 * SECOND
#: Weeks are counted from a Monday.
_MONDAY: Final = 4 * 86_400 * SECOND
#: How many weeks ahead a partition is created.
AHEAD: Final = 4

_NAME: Final = "journal_w"
_ONE_AT_A_TIME: Final = "select pg_advisory_xact_lock(7233195)"
EXISTING: Final = """
select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'journal'::regclass order by c.relname"""


class Week(NamedTuple):
    """One partition: the runs whose id was created in the week from `start` on."""

    start: int

    @property
    def table(self) -> str:
        return f"{_NAME}{as_datetime(self.start):%Y%m%d}"

    @property
    def end(self) -> int:
        return self.start + WEEK

    def bounds(self) -> tuple[bytes, bytes]:
        """Return the smallest id of this week and of the next."""
        return smallest_id(self.start), smallest_id(self.end)


def smallest_id(instant: int) -> bytes:
    """Return the lower bound of all run ids created at or after that instant."""
    return (instant // 1000).to_bytes(6, "big") + bytes(10)


def week_of(instant: int) -> Week:
    return Week((instant - _MONDAY) // WEEK * WEEK + _MONDAY)


def start_of(table: str) -> int:
    """Return when the week of a partition began."""
    day = datetime.strptime(table.removeprefix(_NAME), "%Y%m%d").replace(tzinfo=UTC)
    return int(day.timestamp()) * SECOND


def weeks(first: int, last: int) -> Iterator[Week]:
    """Yield every week that overlaps the time from `first` to `last`."""
    week = week_of(first)
    while week.start <= last:
        yield week
        week = Week(week.end)


async def existing(connection: Connection) -> set[str]:
    """Return the names of the existing partitions."""
    return {row[0] for row in await connection.fetch(EXISTING)}


async def create(connection: Connection, week: Week) -> None:
    """Create the partition of a week, unless another process has done so meanwhile.

    The table is created first and attached afterwards, so that the journal is locked only briefly."""
    low, high = (bound.hex() for bound in week.bounds())
    async with connection.transaction():
        await connection.execute(_ONE_AT_A_TIME)
        if await connection.fetchval("select to_regclass($1) is not null", week.table):
            return
        await connection.execute(f"create table {week.table} (like journal including defaults including constraints)")
        await connection.execute(
            f"alter table journal attach partition {week.table} for values from ('{low}') to ('{high}')"
        )


async def create_ahead(connection: Connection, now: int) -> None:
    """Ensure that this week and the next few have partitions."""
    there = await existing(connection)
    for week in weeks(now - WEEK, now + AHEAD * WEEK):
        if week.table not in there:
            await create(connection, week)
