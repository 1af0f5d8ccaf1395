"""The complete store on PostgreSQL."""

from __future__ import annotations

from typing import Final

from detent.clock import Clock
from detent.store.sql import schema
from detent.store.sql.postgres.commands import PostgresCommandStore
from detent.store.sql.postgres.connection import Address, PostgresAccess
from detent.store.sql.postgres.events import PostgresEventVerbs
from detent.store.sql.postgres.hints import PostgresHints
from detent.store.sql.postgres.maintenance import PostgresMaintenance
from detent.store.sql.postgres.migration import migrate, revision
from detent.store.sql.postgres.node import PostgresNodes
from detent.store.sql.schema import is_older, require_fit
from detent.store.sql.store import SqlStore

POOL_SIZE: Final = 5


class PostgresStore(SqlStore):
    """A store that connects on first use. A heartbeat has its own connection, in its thread."""

    def __init__(self, url: str, clock: Clock, *, pool_size: int = POOL_SIZE) -> None:
        access = PostgresAccess(Address.parse(url), pool_size)
        super().__init__(
            access,
            PostgresNodes(access, clock),
            PostgresCommandStore(access),
            PostgresMaintenance(access, clock),
            events=PostgresEventVerbs(access),
        )
        self.access = access
        if not access.address.pooled:  # else the session that listens is not ours
            self.hints = PostgresHints(access)

    @classmethod
    async def open(cls, url: str, clock: Clock, *, migrated: bool = False, pool_size: int = POOL_SIZE) -> PostgresStore:
        """Return a store on a database whose tables fit this code.

        With `migrated`, migrate them first if they are older. Raise SchemaMismatch if they do not fit."""
        address = Address.parse(url)
        stored = await revision(address)
        if migrated and is_older(stored):
            await migrate(address, schema.HEAD, only_up=True)
            stored = await revision(address)
        require_fit(stored)
        return cls(url, clock, pool_size=pool_size)
