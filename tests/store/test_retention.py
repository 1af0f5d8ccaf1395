"""Retention gives the space back, and flushes go on meanwhile."""

import asyncio
import os
from pathlib import Path

import pytest

from detent.store.rows import Flush
from detent.store.sql.postgres import partitions
from detent.store.sql.postgres.connection import Connection
from detent.store.sql.postgres.partitions import WEEK, Week, smallest_id, week_of
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.make import NOON, Node, end, entries, entry, start
from tests.store.sessions import session

pytestmark = pytest.mark.slow

PAYLOAD = b'{"x":"' + os.urandom(1_000).hex().encode() + b'"}'


async def fill(node: Node, runs: int, *, at: int | None = None, keep_open: int = 0) -> list[bytes]:
    """Ended runs with ten entries each, with ids of that time; the first few stay open."""
    ids = [None if at is None else smallest_id(at)[:6] + os.urandom(10) for _ in range(runs)]
    new = [start(owned=True) if id_ is None else start(owned=True, id=id_) for id_ in ids]
    for first in range(0, runs, 50):
        batch = new[first : first + 50]
        written = [found._replace(data=PAYLOAD) for run in batch for found in entries(run.id, 10)]
        ended = [end(run.id) for run in batch if run not in new[:keep_open]]
        await node.flush(starts=batch, entries=written, ends=ended)
    return [run.id for run in new]


async def flushing(node: Node, ended: asyncio.Event, made: list[int]) -> None:
    """Flush all the time, and write down each flush."""
    run = await node.started()
    while not ended.is_set():
        made.append(len(made) + 1)
        async with asyncio.timeout(300):
            assert await node.store.flush(node.id, node.epoch, Flush(entries=[entry(run, made[-1])]))
        await asyncio.sleep(0.001)


async def test_a_sqlite_file_shrinks_when_its_old_runs_are_pruned(sqlite_store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "detent.db"
    node = await Node.register(sqlite_store)
    await fill(node, 1_000)
    kept = (await fill(node, 10, keep_open=10))[0]
    await sqlite_store.compact()
    before = path.stat().st_size
    assert before > 20_000_000
    ended, made = asyncio.Event(), list[int]()
    beside = asyncio.create_task(flushing(node, ended, made))
    while await sqlite_store.prune(before=NOON + 1, statuses=["completed"], limit=100):
        pass
    assert path.stat().st_size >= before, "deleting alone gives nothing back"
    flushes = len(made)
    returned = await sqlite_store.compact()
    assert len(made) > flushes + 1, "no flush came between the slices"
    ended.set()
    await beside
    await sqlite_store.compact()
    after = path.stat().st_size
    assert after < before // 10
    assert returned > (before - after) * 0.9
    assert len(await sqlite_store.journal(1, kept)) == 10


async def partition(connection: Connection, weeks_ago: int) -> Week:
    now: int = await connection.fetchval("select clock_timestamp()")
    week = week_of(now - weeks_ago * WEEK)
    await partitions.create(connection, week)
    return week


async def size(connection: Connection, week: Week) -> int:
    return int(await connection.fetchval("select pg_total_relation_size($1::text::regclass)", week.table))


async def test_a_week_of_postgres_shrinks_when_most_of_its_runs_are_pruned(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    async with session(postgres_database) as connection:
        week = await partition(connection, 3)
        old = await fill(node, 1_000, at=week.start)
        survivors = old[::100]
        await connection.execute("update run set status = 'failed' where id = any($1::uuid[])", survivors)
        before = await size(connection, week)
        ended, made = asyncio.Event(), list[int]()
        beside = asyncio.create_task(flushing(node, ended, made))
        while await postgres_store.prune(before=NOON + 1, statuses=["completed"], limit=200):
            pass
        await connection.execute(f"vacuum {week.table}")
        assert await size(connection, week) > before // 2, "plain vacuum returns little or nothing"
        returned = await postgres_store.compact()
        ended.set()
        await beside
        after = await size(connection, week)
    assert after < before // 5
    assert returned >= (before - after) * 0.3
    assert len(await postgres_store.journal(1, survivors[0])) == 10


async def test_an_empty_week_of_the_past_is_dropped_and_one_with_open_runs_is_left_alone(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    async with session(postgres_database) as connection:
        empty, busy = await partition(connection, 4), await partition(connection, 3)
        await fill(node, 100, at=empty.start)
        going = (await fill(node, 100, at=busy.start, keep_open=1))[0]
        while await postgres_store.prune(before=NOON + 1, statuses=["completed"], limit=1000):
            pass
        before = await size(connection, busy)
        await postgres_store.compact()
        there = await partitions.existing(connection)
        now = await postgres_store.now()
        assert empty.table not in there
        assert busy.table in there
        assert await size(connection, busy) == before
        assert {week_of(now).table, week_of(now + WEEK).table} <= there, "this week and the next stay"
    assert await node.flush(entries=[entry(going, 11)], ends=[end(going)])


async def test_a_run_of_a_week_without_a_partition_is_kept_all_the_same(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    far = (await fill(node, 5, at=NOON - 400 * WEEK))[0]
    assert len(await postgres_store.journal(1, far)) == 10
    async with session(postgres_database) as connection:
        assert await connection.fetchval("select count(*) from journal_default") == 50


async def test_partitions_are_made_for_weeks_to_come_by_whoever_comes_first(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    await postgres_store.tidy()  # the tables were made a while ago, and a week may have begun since
    async with session(postgres_database) as connection:
        made = sorted(await partitions.existing(connection))
        await connection.execute(f"drop table {made[-1]}, {made[-2]}")
        await asyncio.gather(*(postgres_store.tidy() for _ in range(3)))
        assert sorted(await partitions.existing(connection)) == made
    now = await postgres_store.now()
    assert {week_of(now + ahead * WEEK).table for ahead in range(5)} <= set(made)


def test_a_week_begins_on_a_monday_and_ids_of_its_time_lie_within_its_bounds() -> None:
    week = week_of(NOON)
    assert week.start <= NOON < week.end
    assert week_of(week.start) == week
    assert week_of(week.end - 1) == week
    assert week_of(week.end) == Week(week.end)
    low, high = week.bounds()
    assert low <= smallest_id(NOON)[:6] + b"\xff" * 10 < high
    assert partitions.start_of(week.table) == week.start
