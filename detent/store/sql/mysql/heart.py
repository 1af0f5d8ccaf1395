"""How a heart beats on MariaDB or MySQL."""

from __future__ import annotations

from detent.instant import micros
from detent.store.sql.heart import patience
from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.flush import NOW
from detent.store.sql.mysql.link import Link
from detent.store.sql.mysql.literal import blob


def beat(node: bytes, ttl: float) -> str:
    """It matches a row as long as the node is registered."""
    return f"update lease set until = {NOW} + {micros(ttl):d} where node = {blob(node)}"


class MysqlPulse:
    """The connection of one heart."""

    def __init__(self, address: Address, node: bytes, ttl: float) -> None:
        self._link, self._statement = Link(address, limit=patience(ttl)), beat(node, ttl)

    async def beat(self) -> bool:
        [answer] = await self._link.send(self._statement)
        return answer.matched > 0

    async def close(self) -> None:
        await self._link.close()
