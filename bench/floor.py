"""The floor: the same rows as Detent's, in batches of the same size, written by a bare loop that decides nothing.
`python -m bench.floor URL`. A run is one row, ten journal rows and one update, on Detent's own tables and with the same
fence, driver and durability; the difference to it is what the engine costs."""

import argparse
import sqlite3
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import uvloop

from bench.serving import Meter, Voice, serve
from detent.clock import SystemClock
from detent.ids import new_id
from detent.store.factory import open_store
from detent.store.sql.postgres.connection import Address, Connection, connect
from detent.store.sql.sqlite.connection import CHECKPOINT_BYTES, checkpoint
from detent.store.url import scheme, sqlite_path

INPUT = '{"body":{"order":7},"headers":{},"query":{}}'
OUTPUT = '{"n":9}'

Row = tuple[bytes, int, int, str, str, int, str, str]  # run, seq, at, kind, step, attempt, outcome, data

POSTGRES = """
with fence as (select 1 from node where id = $1 and epoch = 1 for key share),
started as (
  insert into run (id, tenant, workflow, version, status, trigger, input, owner, epoch, queue, priority, started_at)
  select t.id, 1, $1, 1, 'running', 'api', $2, $1, 1, 'default', 0, clock_timestamp()
  from fence, unnest($4::uuid[]) as t(id)),
written as (
  insert into journal (tenant, run, seq, at, kind, step, attempt, outcome, data)
  select 1, t.* from fence, unnest($5::uuid[], $6::int[], $7::timestamptz[], $8::text[], $9::text[], $10::int[],
                                   $11::text[], $12::text[]) as t),
ended as (
  update run r set owner = null, status = 'completed', ended_at = clock_timestamp(), output = $3
  from fence, unnest($13::uuid[]) as t(id) where r.id = t.id)
select count(*) from fence"""

SQLITE_START = """
insert into run (id, tenant, workflow, version, status, "trigger", input, owner, epoch, queue, priority, started_at)
values (?, 1, ?, 1, 'running', 'api', ?, ?, 1, 'default', 0, ?)"""
SQLITE_WRITE = """
insert into journal (run, seq, at, kind, step, attempt, outcome, data, tenant) values (?, ?, ?, ?, ?, ?, ?, ?, 1)"""
SQLITE_END = "update run set owner = null, status = 'completed', ended_at = ?, output = ? where id = ?"


class Table(Protocol):
    """Writes one batch durably."""

    async def write(self, starts: list[bytes], rows: list[Row], ends: list[bytes]) -> None: ...


class PostgresTable:
    def __init__(self, connection: Connection, node: bytes) -> None:
        self._connection, self._node = connection, node

    @classmethod
    async def open(cls, url: str) -> "PostgresTable":
        connection, node = await connect(Address.parse(url).for_lookups()), new_id()
        await connection.execute("insert into node (id, epoch) values ($1, 1)", node)
        return cls(connection, node)

    async def write(self, starts: list[bytes], rows: list[Row], ends: list[bytes]) -> None:
        columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(8)]
        held = await self._connection.fetchval(POSTGRES, self._node, INPUT, OUTPUT, starts, *columns, ends)
        assert held == 1, "the fence did not hold"


class SqliteTable:
    def __init__(self, url: str) -> None:
        path = sqlite_path(url)
        self._node, self._log = new_id(), path.with_name(f"{path.name}-wal")
        self._db = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode = wal", "synchronous = full", "wal_autocheckpoint = 0", "cache_size = -65536"):
            self._db.execute(f"pragma {pragma}")

    async def write(self, starts: list[bytes], rows: list[Row], ends: list[bytes]) -> None:
        node, now = self._node, time.time_ns() // 1000
        self._db.execute("begin immediate")
        self._db.executemany(SQLITE_START, [(run, node, INPUT, node, now) for run in starts])
        self._db.executemany(SQLITE_WRITE, rows)
        self._db.executemany(SQLITE_END, [(now, OUTPUT, run) for run in ends])
        self._db.execute("commit")
        if self._log.stat().st_size > CHECKPOINT_BYTES:
            checkpoint(self._db)


class Floor:
    """What the parent can ask for. `journal` is one run's journal as Detent wrote it."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def burst(self, journal: list[list[Any]], units: int, seconds: float) -> dict[str, float]:
        """Batches of `units` runs that each start, or write one row, for so long."""
        runs = deque((new_id(), number % (len(journal) + 1)) for number in range(units))
        # Those that are in the middle are begun first, so that every batch is the same mix.
        await self._table.write([run for run, place in runs if place], [], [])
        until, steps, batches, meter = time.perf_counter() + seconds, 0, 0, Meter()
        while time.perf_counter() < until:
            steps += await self._batch(runs, journal)
            batches += 1
        return {"steps": steps, "batches": batches, **meter.read()}

    async def _batch(self, runs: deque[tuple[bytes, int]], journal: list[list[Any]]) -> int:
        starts, rows, ends, now = [], [], [], time.time_ns() // 1000
        for _ in range(len(runs)):
            run, place = runs.popleft()
            if place == 0:
                starts.append(run)
            else:
                kind, step, attempt, outcome, data = journal[place - 1]
                rows.append((run, place, now, kind, step, attempt, outcome, data))
            if place == len(journal):
                ends.append(run)
                runs.append((new_id(), 0))
            else:
                runs.append((run, place + 1))
        await self._table.write(starts, rows, ends)
        return len(rows)

    async def latency(self, journal: list[list[Any]], count: int) -> dict[str, Any]:
        """Single runs, each of their rows a commit of its own."""
        took = []
        for _ in range(count):
            begun, runs = time.perf_counter(), deque([(new_id(), 0)])
            for _ in range(len(journal) + 1):
                await self._batch(runs, journal)
            took.append(time.perf_counter() - begun)
        return {"took": took}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    url = parser.parse_args().database
    voice = Voice()
    await (await open_store(url, SystemClock(), migrate=True)).close()
    floor = Floor(SqliteTable(url) if scheme(url) == "sqlite" else await PostgresTable.open(url))
    handlers: dict[str, Callable[..., Awaitable[Any]]] = {"burst": floor.burst, "latency": floor.latency}
    await serve(handlers, voice)


if __name__ == "__main__":
    uvloop.run(main())
