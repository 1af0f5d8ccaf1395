"""What a work leaves on the disk: rows, bytes of tables and indexes, and bytes of the write-ahead log."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

TABLES = """
select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')"""
BYTES = """
select coalesce(sum(pg_table_size(c.oid)), 0) || ' ' || coalesce(sum(pg_indexes_size(c.oid)), 0) || ' '
       || pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')"""


@dataclass(frozen=True)
class Footprint:
    rows: float
    table: float
    index: float
    wal: float

    def __sub__(self, other: Self) -> "Footprint":
        return Footprint(
            self.rows - other.rows, self.table - other.table, self.index - other.index, self.wal - other.wal
        )

    def per(self, count: float) -> "Footprint":
        return Footprint(self.rows / count, self.table / count, self.index / count, self.wal / count)

    def shown(self) -> str:
        log = f" + {self.wal:.0f} B of log" if self.wal else ""
        return f"{self.rows:.1f} rows, {self.table + self.index:.0f} B{log}"


def on_postgres(server: PostgresServer, url: str) -> Footprint:
    """What one database holds; the log is the server's."""
    database = url.rsplit("/", 1)[1]
    tables = server.query(TABLES, database=database).splitlines()
    counted = " union all ".join(f"select count(*) as n from {table}" for table in tables)
    rows = int(server.query(f"select coalesce(sum(n), 0) from ({counted}) every", database=database)) if tables else 0
    table, index, log = server.query(BYTES, database=database).split()
    return Footprint(rows, int(table), int(index), float(log))


def on_mariadb(server: MariadbServer, url: str) -> Footprint:
    """What one database holds, as far as its statistics say."""
    name = url.rsplit("/", 1)[1]
    rows = sum(int(server.query(f"select count(*) from {table}", database=name)) for table in ("run", "journal"))
    table, index = server.query(
        f"select coalesce(sum(data_length), 0), coalesce(sum(index_length), 0) from information_schema.tables"
        f" where table_schema = '{name}'"
    ).split()
    return Footprint(rows, float(table), float(index), 0)


def on_sqlite(path: Path) -> Footprint:
    """What a file holds, its log included as it will be in the file."""
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as db:
        pages, size = db.execute("pragma page_count").fetchone()[0], db.execute("pragma page_size").fetchone()[0]
        rows = sum(db.execute(f"select count(*) from {table}").fetchone()[0] for table in ("run", "journal"))
    db.close()
    return Footprint(rows, pages * size, 0, 0)
