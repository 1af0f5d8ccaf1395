"""What is done to a SQLite file while no engine has it: looking at its revision, migrating it."""

from __future__ import annotations

from pathlib import Path

from detent.store.sql.sqlite.file import connect, migrate, prepare, revision
from detent.store.sql.sqlite.lock import FileLock


def migrate_file(path: Path, to: str | None = None) -> str:
    """Bring the tables of a file to a revision, by default the newest; StoreInUse while an engine has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    lock.take()
    try:
        connection = connect(path, writing=True)
        try:
            if to is None:
                prepare(connection)
            return migrate(connection, to)
        finally:
            connection.close()
    finally:
        lock.release()


def file_revision(path: Path) -> str | None:
    """The revision of a file's tables; null if there is no file or it has none."""
    if not path.exists():
        return None
    connection = connect(path, writing=False)
    try:
        return revision(connection)
    finally:
        connection.close()
