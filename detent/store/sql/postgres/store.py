"""The complete store on PostgreSQL."""

from __future__ import annotations

from typing import Final

from detent.clock import Clock
from detent.store.protocol import Store
from detent.store.sql import schema
from detent.store.sql.postgres.commands import PostgresCommandStore
from detent.store.sql.postgres.connection import Address, PoolAccess, PostgresAccess
from detent.store.sql.postgres.events import PostgresEventVerbs
from detent.store.sql.postgres.hints import PostgresHints
from detent.store.sql.postgres.maintenance import PostgresMaintenance
from detent.store.sql.postgres.migration import migrate, revision
from detent.store.sql.postgres.node import PostgresNodes
from detent.store.sql.postgres.row_security import ROLE, require_secured
from detent.store.sql.schema import is_older, require_fit
from detent.store.sql.store import SqlStore

POOL_SIZE: Final = 5
#: Of how many tenants a store is remembered. Building one costs less than a statement.
_MOST_TENANTS: Final = 1_000


class PostgresStore(SqlStore):
    """A store that connects on first use. A heartbeat has its own connection, in its thread."""

    def __init__(self, url: str, clock: Clock, *, pool_size: int = POOL_SIZE, row_security: bool = False) -> None:
        address = Address.parse(url)
        access = PostgresAccess(address, pool_size, restricted=address.for_role(ROLE) if row_security else None)
        nodes = PostgresNodes(access, clock)
        maintenance = PostgresMaintenance(access, clock)
        commands = PostgresCommandStore(access)
        super().__init__(access, nodes, commands, maintenance, events=PostgresEventVerbs(access))
        self.access = access
        self._nodes = nodes
        self._maintenance = maintenance
        self._of_tenants: dict[int, SqlStore] = {}
        if not access.address.pooled:  # else the session that listens is not ours
            self.hints = PostgresHints(access)

    def for_tenant(self, tenant: int) -> Store:
        restricted = self.access.restricted
        if restricted is None:
            return self
        known = self._of_tenants.get(tenant)
        if known is None:
            if len(self._of_tenants) >= _MOST_TENANTS:
                self._of_tenants.clear()
            access = PoolAccess(restricted.for_tenant(tenant))
            commands, events = PostgresCommandStore(access), PostgresEventVerbs(access)
            known = SqlStore(access, self._nodes, commands, self._maintenance, events=events)
            known.hints = self.hints
            self._of_tenants[tenant] = known
        return known

    @classmethod
    async def open(
        cls,
        url: str,
        clock: Clock,
        *,
        migrated: bool = False,
        pool_size: int = POOL_SIZE,
        row_security: bool = False,
    ) -> PostgresStore:
        """Return a store on a database whose tables fit this code.

        With `migrated`, migrate them first if they are older. Raise SchemaMismatch if they do not fit, or if
        `row_security` is wanted and the database does not have it."""
        address = Address.parse(url)
        stored = await revision(address)
        if migrated and (is_older(stored) or row_security):
            await migrate(address, schema.HEAD, only_up=True, row_security=row_security)
            stored = await revision(address)
        require_fit(stored)
        if row_security:
            await require_secured(address)
        return cls(url, clock, pool_size=pool_size, row_security=row_security)
