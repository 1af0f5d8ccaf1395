"""Shortcuts lead to the same place."""

import sqlite3
from contextlib import closing
from pathlib import Path

from detent.clock import SystemClock
from detent.store.migrations.plan import plan
from detent.store.sql.schema import HEAD, StoredRevision
from detent.store.sql.sqlite import connection as sqlite_file
from detent.store.sql.sqlite.store import SqliteStore


def seen(path: Path) -> dict[str, object]:
    """What a file has and how it is written."""
    with closing(sqlite3.connect(path)) as connection:
        facts: dict[str, object] = {
            name: connection.execute(f"pragma {name}").fetchone()
            for name in ("journal_mode", "auto_vacuum", "page_size")
        }
        tables = connection.execute("select type, name, tbl_name, sql from sqlite_master order by name").fetchall()
        notes = connection.execute("select name, value from setting order by name").fetchall()
        return facts | {"tables": tables, "notes": notes, "stored": sqlite_file.stored_revision(connection)}


async def test_a_new_file_with_copied_tables_is_like_one_that_was_migrated(tmp_path: Path) -> None:
    copied, migrated = tmp_path / "copied.db", tmp_path / "migrated.db"
    await SqliteStore(copied, SystemClock()).close()
    with closing(sqlite_file.connect(migrated, writing=True)) as connection:
        sqlite_file.make_durable(connection)
        for migration in plan("sqlite", StoredRevision(None), HEAD):
            connection.executescript(";\n".join(migration.statements))
    assert seen(copied) == seen(migrated)


async def test_a_file_that_has_tables_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table orders (id)")
        connection.execute("insert into orders values (7)")
        connection.commit()
    await SqliteStore(path, SystemClock()).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select id from orders").fetchall() == [(7,)]
        assert sqlite_file.stored_revision(connection).revision == HEAD
