"""The journal's partitions: one per week of run ids, which are sorted by time.

Old weeks shrink when their runs are pruned; only then does rewriting or dropping them give the space back.
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
#: How many weeks have their partition before they begin.
AHEAD: Final = 4

_NAME: Final = "journal_w"
_ONE_AT_A_TIME: Final = "select pg_advisory_xact_lock(7233195)"
EXISTING: Final = """
select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'journal'::regclass order by c.relname"""


class Week(NamedTuple):
    """One partition: the runs that were given their id from `start` on, for a week."""

    start: int

    @property
    def table(self) -> str:
        return f"{_NAME}{as_datetime(self.start):%Y%m%d}"

    @property
    def end(self) -> int:
        return self.start + WEEK

    def bounds(self) -> tuple[bytes, bytes]:
        """The smallest id of this week and of the next."""
        return smallest_id(self.start), smallest_id(self.end)


def smallest_id(instant: int) -> bytes:
    """No run that was given its id at or after that instant has a smaller one."""
    return (instant // 1000).to_bytes(6, "big") + bytes(10)


def week_of(instant: int) -> Week:
    return Week((instant - _MONDAY) // WEEK * WEEK + _MONDAY)


def start_of(table: str) -> int:
    """When the week of a partition began."""
    day = datetime.strptime(table.removeprefix(_NAME), "%Y%m%d").replace(tzinfo=UTC)
    return int(day.timestamp()) * SECOND


def weeks(first: int, last: int) -> Iterator[Week]:
    """Every week that touches the time from `first` to `last`."""
    week = week_of(first)
    while week.start <= last:
        yield week
        week = Week(week.end)


async def existing(connection: Connection) -> set[str]:
    """The names of the partitions there are."""
    return {row[0] for row in await connection.fetch(EXISTING)}


async def create(connection: Connection, week: Week) -> None:
    """Give a week its partition, if nobody else did meanwhile. It is made first and attached then, which keeps the
    lock on the journal short."""
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
    """Make sure that this week and the next few have their partitions."""
    there = await existing(connection)
    for week in weeks(now - WEEK, now + AHEAD * WEEK):
        if week.table not in there:
            await create(connection, week)
