"""The complete store on a SQLite file."""

from __future__ import annotations

from pathlib import Path

from detent.clock import Clock
from detent.store.sql.sqlite.commands import SqliteCommandStore
from detent.store.sql.sqlite.connection import Role, SqliteAccess
from detent.store.sql.sqlite.maintenance import SqliteMaintenance
from detent.store.sql.sqlite.node import SqliteNodes
from detent.store.sql.store import SqlStore


class SqliteStore(SqlStore):
    """Opens the file and creates its tables if necessary. As an engine it holds the file's lock until it is closed."""

    def __init__(self, path: str | Path, clock: Clock, *, role: Role = "engine") -> None:
        self.access = access = SqliteAccess(Path(path), clock, role=role)
        super().__init__(access, SqliteNodes(access, clock), SqliteCommandStore(access), SqliteMaintenance(access))

    def announce(self, url: str, key: str, base_url: str) -> None:
        """Publish the address of this engine, the key for it, and the address with which its callback URLs begin to
        other processes of this user."""
        self.access.lock.announce(url, key, base_url)
