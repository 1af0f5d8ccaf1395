"""How a heart beats on PostgreSQL."""

from __future__ import annotations

from detent.store.sql.heart import patience
from detent.store.sql.postgres.link import Link
from detent.store.sql.postgres.wire import Address

BEAT = """
update lease set until = clock_timestamp() + make_interval(secs => $2) where node = $1 returning 1"""


class PostgresPulse:
    """The connection of one heart."""

    def __init__(self, address: Address, node: bytes, ttl: float) -> None:
        self._link, self._node, self._ttl = Link(address, limit=patience(ttl)), node, ttl

    async def beat(self) -> bool:
        return bool(await self._link.fetch(BEAT, self._node, self._ttl))

    async def close(self) -> None:
        await self._link.close()
