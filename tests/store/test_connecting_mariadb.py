"""Who is told to stop while a connection is made stops, whatever becomes of the connection."""

import asyncio
from typing import Any

import pytest

from detent.store.sql.mysql.connection import Address, Wire, connect

NOWHERE = "mysql://detent@127.0.0.1:1/nothing"


async def test_a_cancellation_in_the_instant_a_connection_fails_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await is_cancelled(NOWHERE, monkeypatch)


@pytest.mark.slow
async def test_a_cancellation_in_the_instant_a_connection_stands_is_not_lost(
    mariadb_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await is_cancelled(mariadb_database, monkeypatch)


async def is_cancelled(url: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a cancellation counts that comes when it is known what becomes of the connection, and not yet told."""
    loop = asyncio.get_running_loop()
    create, connecting = loop.create_connection, list[asyncio.Task[Wire]]()

    async def create_and_cancel(*args: Any, **options: Any) -> Any:
        try:
            return await create(*args, **options)
        finally:
            connecting[0].cancel()

    monkeypatch.setattr(loop, "create_connection", create_and_cancel)
    connecting.append(asyncio.create_task(connect(Address.parse(url))))
    await asyncio.wait(connecting, timeout=60)
    return connecting[0].cancelled()
