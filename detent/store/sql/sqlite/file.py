"""The database file: how it is opened and brought to the shape this code needs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from detent.errors import SchemaMismatch, StoreError
from detent.store.sql.schema import HEAD
from detent.store.sql.text import read_sql

BUSY_SECONDS: Final = 5.0
#: JSON operators and strict tables.
OLDEST: Final = (3, 38, 0)

_FLUSH: Final = read_sql(__package__, "flush.sql")


def connect(path: Path, *, writing: bool) -> sqlite3.Connection:
    """A connection that is its thread's own. Only the one that writes may make or change the file."""
    if sqlite3.sqlite_version_info < OLDEST:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: Detent needs 3.38 or newer")
    mode = "rwc" if writing else "ro"
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.Error as error:
        raise StoreError(f"cannot open {path}: {error}") from error
    connection.execute("pragma temp_store = memory")
    connection.execute("pragma cache_size = -12288")  # 12 MB: what is written is mostly new, and memory stays small
    return connection


def prepare(connection: sqlite3.Connection) -> None:
    """Make the file durable and give it its tables; SQLite migrates by itself."""
    connection.execute("pragma auto_vacuum = incremental")  # counts only for a file without tables
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("pragma wal_autocheckpoint = 0")  # the writer does it, when it is not in the way
    migrate(connection)
    connection.executescript(_FLUSH)


def migrate(connection: sqlite3.Connection, to: str | None = None) -> str:
    """Bring the tables to a revision, by default the newest, as one transaction."""
    found = revision(connection)
    if found == (to or HEAD):
        return found
    if found is not None and found > HEAD:
        raise SchemaMismatch(
            f"the file is at revision {found}, made by a newer Detent than this one (it knows {HEAD}); "
            "install that version"
        )
    from detent.store.migrations.statements import statements  # Alembic: only when something is to be migrated

    text = statements("sqlite", current=found, to=to)
    try:
        connection.executescript(f"begin immediate;\n{text}\ncommit;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.rollback()
        raise
    return to or HEAD


def revision(connection: sqlite3.Connection) -> str | None:
    """The revision of the tables; null if there are none."""
    if not connection.execute("select 1 from sqlite_master where name = 'alembic_version'").fetchone():
        return None
    row = connection.execute("select version_num from alembic_version").fetchone()
    return str(row[0]) if row else None
