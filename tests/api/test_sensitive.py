"""What a sensitive step has fetched stays sealed while later steps use it, fail with it and are looked at."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from aiohttp import web

from detent.vault.sealing import new_key
from tests.api.server import Detent, serving, statuses

TOKEN = "fetched-token-8855-of-a-step"


@asynccontextmanager
async def _service() -> AsyncIterator[tuple[str, list[str]]]:
    """A service that issues a token, and refuses requests that carry it without repeating it."""
    heard: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        heard.append(f"{request.path_qs} {dict(request.headers)} {await request.text()}")
        if request.path == "/login":
            return web.json_response({"access_token": TOKEN, "parts": [{"deep": TOKEN}]}, headers={"X-Token": TOKEN})
        return web.json_response({"ok": False}, status=400 if request.path.startswith("/refuse") else 503)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", heard
    finally:
        await runner.cleanup()


def _tasks(service: str) -> dict[str, Any]:
    token, needs = "{{tasks.login.body.access_token}}", {"needs": ["login"], "retries": 0}
    sent = {"body": {"t": token}, "headers": {"X-Auth": token}}
    return {
        "login": {"url": f"{service}/login", "sensitive": True},
        "refuse": {**needs, "url": f"{service}/refuse/{token}?k={token}", **sent},
        "flaky": {**needs, "url": f"{service}/flaky/{token}", **sent, "retries": {"attempts": 2, "delay": 0}},
        "nowhere": {**needs, "url": f"http://127.0.0.1:9/{token}"},
        "forbidden": {**needs, "url": f"http://10.1.2.3/{token}"},
        "invalid": {**needs, "url": f"http://exa mple/{token}"},
        "wrong": {**needs, "url": f"{service}/x", "body": "{{ tasks.login.body.access_token.nothing.here }}"},
        "number": {**needs, "url": f"{service}/x", "body": "{{ tasks.login.body.access_token * 2 }}"},
        "guard": {**needs, "if": "tasks.login.body.access_token > 3", "url": f"{service}/x"},
        "code": {**needs, "action": "core.fail", "with": {"message": "no {{tasks.login.status}}"}},
    }


async def _shown(detent: Detent, started: dict[str, Any]) -> AsyncIterator[tuple[str, str]]:
    run = started["run_id"]
    places = [
        "dead-letters?full=true",
        "alerts",
        f"runs/{run}?include=context",
        f"runs/{run}/why",
        f"runs/{run}/journal",
    ]
    letters = (await detent.call("GET", "/api/v1/dead-letters")).json["data"]
    places += [f"dead-letters/{letter['id']}" for letter in letters]
    for step in _tasks("x"):
        places += [f"runs/{run}/steps/{step}", f"runs/{run}/steps/{step}?full=true", f"runs/{run}/steps/{step}?at=1"]
    places += [f"runs/{run}?as=test", f"runs/{run}/test", f"runs/{run}/outline"]
    for place in places:
        yield place, (await detent.call("GET", f"/api/v1/{place}")).text
    for source in ("{{tasks.login.body}}", "{{tasks.login.headers}}", "{{hmac('a', tasks.login.body.access_token)}}"):
        answer = await detent.call("POST", f"/api/v1/runs/{run}/evaluate", json={"template": source})
        yield f"evaluate {source}", answer.text


async def test_a_fetched_token_is_nowhere_but_in_the_requests_that_carry_it(tmp_path: Path) -> None:
    path = tmp_path / "detent.db"
    async with _service() as (url, heard), serving(f"sqlite:///{path}", encryption_key=new_key()) as detent:
        await detent.save(json.dumps({"name": "w", "tasks": _tasks(url)}))
        started = await detent.start("w", {})
        run = await detent.ended(started)
        sinks = {name: text async for name, text in _shown(detent, started)}
    assert f"'X-Auth': '{TOKEN}'" in str(heard).replace("\\", "")
    assert statuses(run)["login"] == "success"
    with closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall():
            for number, row in enumerate(connection.execute(f'select * from "{table}"')):
                cells = (one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in row)
                sinks[f"{table} {number}"] = " ".join(cells)
    found = {name: text[max(0, text.index(TOKEN) - 200) :][:300] for name, text in sinks.items() if TOKEN in text}
    assert not found
