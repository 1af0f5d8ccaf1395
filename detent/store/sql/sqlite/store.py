"""The whole store on a SQLite file."""

from __future__ import annotations

from pathlib import Path

from detent.clock import Clock
from detent.store.sql.sqlite.commands import SqliteCommandStore
from detent.store.sql.sqlite.connection import Access, Role
from detent.store.sql.sqlite.maintenance import SqliteMaintenance
from detent.store.sql.sqlite.node import SqliteNodes


class SqliteStore(SqliteNodes, SqliteCommandStore, SqliteMaintenance):
    """Opens the file, makes its tables if need be, and as an engine holds its lock until it is closed."""

    def __init__(self, path: str | Path, clock: Clock, *, role: Role = "engine") -> None:
        access = Access(Path(path), clock, role=role)
        SqliteNodes.__init__(self, access, clock)
        SqliteCommandStore.__init__(self, access)
        SqliteMaintenance.__init__(self, access)

    def announce(self, url: str) -> None:
        """Tell other processes where this engine answers."""
        self._access.lock.announce(url)
