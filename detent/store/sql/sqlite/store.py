"""The whole store on a SQLite file."""

from __future__ import annotations

from pathlib import Path

from detent.clock import Clock
from detent.store.sql.sqlite.commands import SqliteCommandStore
from detent.store.sql.sqlite.connection import Role, SqliteAccess
from detent.store.sql.sqlite.maintenance import SqliteMaintenance
from detent.store.sql.sqlite.node import SqliteNodes
from detent.store.sql.store import SqlStore


class SqliteStore(SqlStore):
    """Opens the file, makes its tables if need be, and as an engine holds its lock until it is closed."""

    def __init__(self, path: str | Path, clock: Clock, *, role: Role = "engine") -> None:
        self.access = access = SqliteAccess(Path(path), clock, role=role)
        super().__init__(access, SqliteNodes(access, clock), SqliteCommandStore(access), SqliteMaintenance(access))

    def announce(self, url: str) -> None:
        """Tell other processes where this engine answers."""
        self.access.lock.announce(url)
