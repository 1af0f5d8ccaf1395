"""A database that goes away makes answers of 503, not of 500, and everything goes on when it is back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.api.server import Detent, serving
from tests.servers.postgres import PostgresServer

WAIT = '{"name": "waits", "tasks": {"w": {"wait_for_webhook": {}}}}'
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}'


async def until_status(detent: Detent, method: str, place: str, status: int) -> Any:
    async with asyncio.timeout(60):
        while True:
            answer = await detent.call(method, place)
            if answer.status == status:
                return answer
            assert answer.status in (200, 201, 503), answer.text
            await asyncio.sleep(0.1)  # the world outside changes, and nothing tells us


@pytest.mark.slow
@pytest.mark.case("D7")
async def test_while_the_database_is_away_nothing_is_accepted_and_nothing_is_an_internal_error() -> None:
    server = PostgresServer()
    server.start()
    try:
        async with serving(server.create_database(), lease_seconds=2.0) as detent:
            await detent.save(ECHO)
            before = await detent.start("echo", {})
            await detent.save(WAIT)
            waits = await detent.start("waits", {})
            url = (await detent.until(waits, lambda run: run["tasks"]["w"]["status"] == "waiting"))["callbacks"][0][
                "url"
            ]
            await asyncio.to_thread(server.stop, "immediate")
            for method, place in (("GET", "/health/ready"), ("GET", "/api/v1/workflows/echo"), ("POST", url)):
                answer = await until_status(detent, method, place, 503)
                assert answer.json["error"] == "unavailable"
                assert "Retry-After" in answer.headers
                assert "127.0.0.1" not in answer.text
            assert (await detent.call("GET", "/health/live")).status == 200
            await asyncio.to_thread(server.start)
            await until_status(detent, "GET", "/health/ready", 200)
            assert (await detent.ended(before))["status"] == "completed"
            await until_status(detent, "POST", url, 200)
            assert (await detent.ended(waits))["status"] == "completed"
            started = await until_status(detent, "POST", "/api/v1/workflows/echo/trigger", 201)
            assert (await detent.ended(started.json["data"]))["status"] == "completed"
    finally:
        server.close()
