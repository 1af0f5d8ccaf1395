"""Empties the tables of a MariaDB database."""

from detent.store.sql.mysql.connection import Address, connect, is_mariadb
from detent.store.sql.schema import metadata


async def empty(url: str) -> None:
    wire = await connect(Address.parse(url))
    try:
        if is_mariadb(wire):
            await wire.send("set session max_statement_time = 0")
        await wire.send_all(f'delete from "{table}"' for table in metadata.tables if table != "tenant")
    finally:
        await wire.ensure_closed()
