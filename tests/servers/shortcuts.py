"""What each start of a node does again, done once by a process that starts hundreds of nodes.

Programs that tests start as processes do all of it themselves.
"""

from __future__ import annotations

import sqlite3
import ssl
import sys
import threading
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from detent.steps.http import step as http_step
from detent.store.sql.sqlite import connection as sqlite_file

_migrate = sqlite_file.migrate
_make_tls_context = http_step.tls_context
_lock = threading.Lock()


def take() -> None:
    """Take the shortcuts, until the process ends."""
    patch = pytest.MonkeyPatch()
    patch.setattr("detent.process.entry_points", lambda *, group: _entry_points(group, tuple(sys.path)))
    patch.setattr(sqlite_file, "migrate", _copy_tables)
    patch.setattr(http_step, "tls_context", _tls_context)


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> metadata.EntryPoints:
    """Look through the installed packages; there are more than a hundred."""
    return metadata.entry_points(group=group)


def _tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return the one context that trusts the certificates of the machine, or a new one that trusts more."""
    return _usual_tls_context() if ca_file is None else _make_tls_context(ca_file)


@cache
def _usual_tls_context() -> ssl.SSLContext:
    return _make_tls_context(None)


def _copy_tables(connection: sqlite3.Connection, to: str | None = None, *, force: bool = False) -> str:
    """Give a new file a copy of the tables that the migrations make. Migrate a file that has tables."""
    from detent.store.migrations.plan import FOLDERS

    (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
    if to is None or tables:
        return _migrate(connection, to, force=force)
    with _lock:
        _migrated(to, tuple(map(str, FOLDERS))).backup(connection)
    return to


@cache
def _migrated(to: str, folders: tuple[str, ...]) -> sqlite3.Connection:
    """Return a database in memory with the tables of a revision, as the scripts of these folders make them."""
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    sqlite_file.make_durable(made)
    _migrate(made, to)
    return made
