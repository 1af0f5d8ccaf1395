"""Connecting to a MariaDB that is not there."""

import asyncio
from typing import Any

import pytest

from detent.errors import StoreBusy
from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.wire import connect

NOWHERE = Address.parse("mysql://detent@127.0.0.1:1/nothing")


async def test_a_server_that_is_not_there_is_one_to_be_tried_again() -> None:
    with pytest.raises(StoreBusy):
        await connect(NOWHERE)


async def test_a_cancellation_in_the_instant_a_connection_fails_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    connecting: asyncio.Task[Any] | None = None

    async def create_connection(*_: Any, **__: Any) -> Any:
        assert connecting is not None
        connecting.cancel()
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", create_connection)
    connecting = asyncio.create_task(connect(NOWHERE))
    await asyncio.wait([connecting], timeout=5)
    assert connecting.cancelled()
