"""Maps from the command line, and a map whose server is killed in its middle."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.cli.program import detent, free_port, started

ITEMS = 600
PATIENCE = 300.0


class Shop:
    """Counts the calls of each item. One item of a hundred is answered 503 the first time."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.half = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        number = (await request.json())["n"]
        self.calls[number] += 1
        if len(self.calls) >= ITEMS // 2:
            self.half.set()
        is_bad = number % 100 == 7 and self.calls[number] == 1
        return web.json_response({"n": number}, status=503 if is_bad else 200)


async def test_a_map_survives_the_death_of_its_server(tmp_path: Path) -> None:
    shop, port = Shop(), free_port()
    app = web.Application()
    app.router.add_post("/x", shop.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    step = {
        "for_each": "{{ trigger.body }}",
        "url": f"http://127.0.0.1:{runner.addresses[0][1]}/x",
        "body": {"n": "{{ item }}"},
        "max_parallel": 50,
        "retry": {"attempts": 2, "delay": 0.05},
        "collect": "{{ item }}",
    }
    definition = json.dumps({"name": "big", "tasks": {"m": step}})
    serve = ("serve", "--port", str(port))
    allow = {"DETENT_EGRESS_ALLOW": "127.0.0.0/8"}
    address = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession(address) as session:
            with started(tmp_path, *serve, **allow) as first:
                await asyncio.to_thread(first.wait_for, r"answers at")
                async with session.post("/api/v1/workflows", data=definition) as answer:
                    assert answer.status == 201, await answer.text()
                async with session.post("/api/v1/workflows/big/trigger", json=list(range(ITEMS))) as answer:
                    run = (await answer.json())["data"]["run_id"]
                await shop.half.wait()
                first.process.kill()
            assert len(shop.calls) < ITEMS
            with started(tmp_path, *serve, **allow) as second:
                await asyncio.to_thread(second.wait_for, r"answers at")
                document = await _ended(session, run)
                listed = await asyncio.to_thread(detent, tmp_path, "runs", "items", run, "m", "--url", address)
    finally:
        await runner.cleanup()
    assert document["status"] == "completed"
    assert document["output"] == list(range(ITEMS))
    items = document["tasks"]["m"]["items"]
    assert (items["count"], items["succeeded"], items["failed"]) == (ITEMS, ITEMS, 0)
    assert set(shop.calls) == set(range(ITEMS))
    # Only what was in flight is sent again.
    assert sum(shop.calls.values()) <= ITEMS + ITEMS // 100 + 50
    assert listed.returncode == 0, listed.stderr
    assert len(re.findall(r"success", listed.stdout)) == ITEMS


async def _ended(session: aiohttp.ClientSession, run: str) -> dict[str, Any]:
    while True:
        async with session.get(f"/api/v1/runs/{run}?wait=5s") as answer:
            document: dict[str, Any] = (await answer.json())["data"]
        if document["finished_at"] is not None:
            return document
