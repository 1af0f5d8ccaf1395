"""The complete store on MariaDB or MySQL."""

from __future__ import annotations

from typing import Final

from detent.clock import Clock
from detent.store.sql import schema
from detent.store.sql.list_verbs import RangeByRange
from detent.store.sql.mysql.commands import MysqlCommandStore
from detent.store.sql.mysql.connection import Address, MysqlAccess
from detent.store.sql.mysql.events import MysqlEventVerbs
from detent.store.sql.mysql.maintenance import MysqlMaintenance
from detent.store.sql.mysql.migration import migrate, revision
from detent.store.sql.mysql.node import MysqlNodes
from detent.store.sql.schema import is_older, require_fit
from detent.store.sql.store import SqlStore

POOL_SIZE: Final = 5


class MysqlStore(SqlStore):
    """A store that connects on first use. A heartbeat has its own connection, in its thread."""

    def __init__(self, url: str, clock: Clock, *, pool_size: int = POOL_SIZE) -> None:
        access = MysqlAccess(Address.parse(url), pool_size)
        super().__init__(
            access,
            MysqlNodes(access, clock),
            MysqlCommandStore(access),
            MysqlMaintenance(access, clock),
            RangeByRange(access),
            MysqlEventVerbs(access),
        )
        self.access = access

    @classmethod
    async def open(cls, url: str, clock: Clock, *, migrated: bool = False, pool_size: int = POOL_SIZE) -> MysqlStore:
        """Return a store on a database whose tables fit this code.

        With `migrated`, migrate them first if they are older. Raise SchemaMismatch if they do not fit."""
        address = Address.parse(url)
        stored = await revision(address)
        if migrated and is_older(stored):
            await migrate(address, schema.HEAD, only_up=True)
            stored = await revision(address)
        require_fit(stored)
        return cls(url, clock, pool_size=pool_size)
