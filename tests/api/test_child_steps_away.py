"""Starts of child runs while the database is away, and parents that wait without a poll."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from detent.ids import RUN, parse
from tests.api.server import serving
from tests.servers.postgres import PostgresServer

CHILD = json.dumps({"name": "child", "tasks": {"go": {"wait_for_webhook": {}}}})
PARENT = json.dumps(
    {
        "name": "parent",
        "tasks": {"nap": {"sleep": "1500ms"}, "child": {"workflow": "child", "needs": "nap", "retries": 0}},
    }
)


@pytest.mark.slow
async def test_a_child_is_started_when_the_database_is_back() -> None:
    server = PostgresServer()
    server.start()
    try:
        async with serving(server.create_database(), lease_seconds=2.0) as detent:
            for definition in (CHILD, PARENT):
                await detent.save(definition)
            started = await detent.start("parent", {})
            await asyncio.to_thread(server.stop, "immediate")
            await asyncio.sleep(2.5)  # the sleep ends while nothing can be written
            await asyncio.to_thread(server.start)
            async with asyncio.timeout(300):
                while True:
                    answer = await detent.call("GET", f"/api/v1/runs?parent={started['run_id']}")
                    if answer.status == 200 and answer.json["data"]:
                        break
                    await asyncio.sleep(0.1)
            run = await detent.run(started)
            assert run["tasks"]["child"]["status"] == "running"
            assert run["tasks"]["child"]["attempts"] == []
            assert [one["id"] for one in answer.json["data"]] == [run["tasks"]["child"]["child_run_id"]]
    finally:
        await asyncio.to_thread(server.stop, "immediate")


async def test_a_parent_that_waits_is_not_in_memory_and_is_not_read(tmp_path: Path) -> None:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as detent:
        await detent.save(CHILD)
        await detent.save(json.dumps({"name": "parent", "tasks": {"child": {"workflow": "child"}}}))
        started = await detent.start("parent", {})
        parent = parse(RUN, started["run_id"])
        run: dict[str, Any] = await detent.until(started, lambda run: run["tasks"]["child"].get("child_run_id"))
        child = run["tasks"]["child"]["child_run_id"]
        store = detent.app.store
        async with asyncio.timeout(300):
            while (row := await store.run(1, parent)) is None or row.owner is not None:  # noqa: ASYNC110 - only the store knows
                await asyncio.sleep(0.02)
        before = row.generation
        journal = await store.journal(1, parent)
        await asyncio.sleep(2.0)  # many polls long
        row = await store.run(1, parent)
        assert row is not None
        assert (row.owner, row.generation) == (None, before), "no node has claimed it"
        assert await store.journal(1, parent) == journal
        document = (await detent.call("GET", f"/api/v1/runs/{child}")).json["data"]
        assert (await detent.call("POST", document["callbacks"][0]["url"], json={})).status in (200, 202)
        assert (await detent.ended(started))["status"] == "completed"
        row = await store.run(1, parent)
        assert row is not None
        assert row.generation == before + 1, "it was claimed once, for the end of its child"
