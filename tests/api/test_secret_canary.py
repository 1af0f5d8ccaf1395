"""A campaign that sends one secret everywhere, then looks for it everywhere, in every spelling.

The services of the campaign know the secret, because steps have sent it. They echo it in answers, errors, redirects and
callbacks, encoded in many ways. Actions return it, raise it, log it and report it.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from aiohttp import web

from detent import ActionContext, action
from detent.observe.logs import log_events
from detent.vault.redaction import spellings
from detent.vault.sealing import new_key
from tests.api.server import Detent, serving

CANARY = 'cänary/"42"+sk_live?ö&%3D'
PLAIN = "canary-5151-plain-token"
SHOWN = ("CANARY", "PLAIN")


def _spelled(value: str) -> dict[str, str]:
    """Ways in which a service may write a value that it knows."""
    return {
        "raw": value,
        "base64": base64.b64encode(f"x{value}".encode()).decode(),
        "urlsafe": base64.urlsafe_b64encode(f"xy{value}z".encode()).decode(),
        "hex": value.encode().hex(),
        "percent": quote(value, safe=""),
        "twice": quote(quote(value, safe=""), safe=""),
        "html": html.escape(value),
        "json": json.dumps(value),
        "json in json": json.dumps(json.dumps(value)),
        "escaped": "".join(f"\\u{ord(letter):04x}" for letter in value),
    }


class Gossip:
    """A service that repeats everything it hears."""

    def __init__(self) -> None:
        self.url = ""
        self.heard: list[str] = []
        self.tries = itertools.count()
        self.elsewhere = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        self.heard.append(f"{request.path_qs} {dict(request.headers)} {text}")
        everything = {"headers": dict(request.headers), "path": request.path_qs, "body": text, **_spelled(CANARY)}
        match request.path.split("/")[1]:
            case "fail":
                return web.json_response(everything, status=400, headers={"X-Echo": PLAIN})
            case "flaky":
                return web.json_response(everything, status=503 if next(self.tries) == 0 else 200)
            case "redirect":
                return web.Response(status=302, headers={"Location": f"/gone/{quote(CANARY, safe='')}?again={PLAIN}"})
            case "away":
                return web.Response(status=307, headers={"Location": f"{self.elsewhere}/taken?k={PLAIN}"})
            case "gone":
                return web.Response(status=410, text=f"gone: {CANARY} {PLAIN}", headers={"X-Echo": PLAIN})
            case "text":
                return web.Response(text="\n".join(_spelled(CANARY).values()) + PLAIN)
            case "huge":
                return web.Response(text="x" * (256 * 1024 - 10) + PLAIN * 3)
            case "call-back":
                async with aiohttp.ClientSession() as session:
                    await session.post(json.loads(text)["url"], json={**everything, PLAIN: [PLAIN]})
        return web.json_response(everything, headers={"X-Echo": PLAIN})


@asynccontextmanager
async def _gossip() -> AsyncIterator[Gossip]:
    service = Gossip()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", service.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()


@action("canary.returns")
def _returns(given: str, context: ActionContext) -> dict[str, Any]:
    own = context.secret("CANARY")
    context.log.warning("logged %s", own, fact=given)
    context.progress(0.5, f"half of {own}")
    return {"given": given, "own": own, **_spelled(own), "deep": [[[[[[[{"x": own}]]]]]]]}


@action("canary.raises")
async def _raises(given: str, context: ActionContext) -> None:
    own = await context.secret_async("CANARY")
    context.heartbeat({"at": own})
    try:
        raise KeyError(given)
    except KeyError as error:
        raise ValueError(f"cannot use {own} or {given}") from error


def _workflow(service: str) -> dict[str, Any]:
    headers = {
        "Authorization": "Bearer {{secrets.CANARY.urlEncode()}}",
        "X-Basic": "{{ basic('me', secrets.CANARY) }}",
        "X-Plain": "{{secrets.PLAIN}}",
    }
    call = {"headers": headers, "retries": 0}
    tasks: dict[str, Any] = {
        "echo": {"url": f"{service}/echo?k={{{{secrets.PLAIN}}}}", "body": {"deep": [["{{secrets.CANARY}}"]]}},
        "text": {"url": f"{service}/text/{{{{urlEncode(secrets.CANARY)}}}}"},
        "fail": {"url": f"{service}/fail/{{{{secrets.PLAIN}}}}"},
        "redirect": {"url": f"{service}/redirect?k={{{{secrets.PLAIN}}}}", "method": "GET"},
        "huge": {"url": f"{service}/huge"},
        "nowhere": {"url": "http://127.0.0.1:9/{{secrets.PLAIN}}"},
        "invalid": {"url": "http://exa mple/{{secrets.CANARY}}"},
    }
    tasks = {name: {**call, **task} for name, task in tasks.items()}
    tasks["flaky"] = {**tasks["echo"], "url": f"{service}/flaky", "retries": {"attempts": 2, "delay": 0}}
    tasks["returns"] = {"action": "canary.returns", "with": {"given": "{{secrets.PLAIN}}"}}
    tasks["raises"] = {"action": "canary.raises", "with": {"given": "{{secrets.PLAIN}}"}, "retries": 1}
    tasks["repeated"] = {
        "needs": ["echo"],
        "url": f"{service}/echo",
        "body": "{{tasks.echo.body.raw}} {{tasks.echo.headers['x-echo']}}",
    }
    tasks["answer"] = {"wait_for_webhook": {"timeout": "1h"}}
    tasks["tell"] = {"url": f"{service}/call-back/x", "body": {"url": "{{wait.answer.url}}", "k": "{{secrets.PLAIN}}"}}
    tasks["login"] = {"url": f"{service}/echo", "sensitive": True}
    tasks["each"] = {
        "for_each": [1, 2],
        "url": f"{service}/echo?item={{{{item}}}}",
        "body": "{{secrets.PLAIN}}",
        "collect": "{{result.body}}",
    }
    return {"name": "canary", "tasks": tasks}


async def _set_secrets(detent: Detent) -> None:
    for name, value in (("CANARY", CANARY), ("PLAIN", PLAIN)):
        answer = await detent.call("PUT", f"/api/v1/secrets/{name}", json={"value": value})
        assert answer.status == 200, answer.text


async def _everything_shown(detent: Detent, run: str) -> AsyncIterator[tuple[str, str]]:
    """Yield every answer that names the workflow, its run, a step or a dead letter."""
    document = (await detent.call("GET", "/openapi.json")).json
    letters = (await detent.call("GET", "/api/v1/dead-letters")).json["data"]
    known: dict[str, list[str]] = {
        "workflow": ["canary"],
        "run": [run],
        "step": list(_workflow("x")["tasks"]),
        "letter": [letter["id"] for letter in letters],
        "number": ["1"],
        "version": ["current"],
        "secret": ["CANARY"],
    }
    for path, operations in document["paths"].items():
        names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        if "get" not in operations or path.endswith("stream") or not known.keys() >= set(names):
            continue
        for values in itertools.product(*(known[name] for name in names)):
            filled = path
            for name, value in zip(names, values, strict=True):
                filled = filled.replace(f"{{{name}}}", value)
            for query in ("", "?as=test", "?as=yaml", "?full=true", "?include=context", "?view=full"):
                answer = await detent.call("GET", filled + query)
                yield f"GET {filled}{query}", answer.text + str(answer.headers)
    for source in ("{{secrets.CANARY}}", "{{tasks.echo.body}}"):
        body = {"template": source, "expression": source}
        for given in ({"template": source}, {"expression": source}, body):
            answer = await detent.call("POST", f"/api/v1/runs/{run}/evaluate", json=given)
            yield f"evaluate {given}", answer.text
    for step in ("echo", "returns"):
        answer = await detent.call("GET", f"/api/v1/runs/{run}/steps/{step}?at=1")
        yield f"step {step} at 1", answer.text
    dry = await detent.call("POST", "/api/v1/workflows/canary/dry-run", json={"input": {}})
    yield "dry run", dry.text
    async with detent.opened("GET", f"/api/v1/runs/{run}/stream", {}) as stream:
        yield "stream", (await stream.content.read(1_000_000)).decode()


def _leaks(text: str, value: str) -> list[str]:
    return [one for one in spellings(value) if one in text]


def _dump(path: Path) -> Iterator[str]:
    """Yield the database row by row, its blobs as text, and then its files with everything that was deleted."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            for row in connection.execute(f'select * from "{table}"'):
                yield " ".join(one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in row)
    for file in sorted(path.parent.glob(f"{path.name}*")):
        if not file.name.endswith(".key"):
            yield file.read_bytes().decode("latin-1")
            yield file.read_bytes().decode(errors="replace")


@pytest.mark.case("K13")
@pytest.mark.case("K14")
@pytest.mark.case("H10")
async def test_a_secret_that_was_sent_everywhere_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged = io.StringIO()
    monkeypatch.setattr(sys, "stderr", logged)
    quiet = log_events("json")
    sinks: dict[str, str] = {}
    async with (
        _gossip() as service,
        serving(f"sqlite:///{tmp_path}/detent.db", encryption_key=new_key(), retention=()) as detent,
    ):
        await _set_secrets(detent)
        await detent.save(json.dumps(_workflow(service.url)))
        started = await detent.start("canary", {"note": "{{secrets.CANARY}}"})
        run = await detent.ended(started)
        sinks |= {name: text async for name, text in _everything_shown(detent, started["run_id"])}
    quiet()
    assert set(run["tasks"]) == set(_workflow("x")["tasks"])
    heard = "\n".join(service.heard)
    assert PLAIN in heard
    assert json.dumps(CANARY, ensure_ascii=False)[1:-1] in heard, "the campaign really sent it"
    sinks["log"] = logged.getvalue()
    assert "logged ***" in sinks["log"]
    sinks |= {f"row {number}": text for number, text in enumerate(_dump(tmp_path / "detent.db"))}
    found = {(name, leak) for name, text in sinks.items() for value in (CANARY, PLAIN) for leak in _leaks(text, value)}
    assert not found, f"{len(found)} of {len(sinks)} sinks have it"
    assert len(sinks) > 200
    text = "".join(sinks.values())
    assert "***" in text
    assert "{{secrets.CANARY}}" in text or "secrets.CANARY" in text


async def test_a_secret_for_one_host_never_leaves_for_another_on_any_hop(tmp_path: Path) -> None:
    async with _gossip() as service, _gossip() as stranger:
        port = service.url.rpartition(":")[2]

        service.elsewhere = stranger.url
        async with serving(f"sqlite:///{tmp_path}/detent.db", encryption_key=new_key()) as detent:
            answer = await detent.call(
                "PUT", "/api/v1/secrets/BOUND", json={"value": PLAIN, "hosts": [f"127.0.0.1:{port}"]}
            )
            assert answer.status == 200, answer.text
            tasks = {
                "straight": {"url": f"{stranger.url}/x", "body": "{{secrets.BOUND}}"},
                "hop": {"url": f"{service.url}/away?k={{{{secrets.BOUND}}}}", "method": "GET"},
            }
            await detent.save(json.dumps({"name": "bound", "tasks": tasks}))
            run = await detent.ended(await detent.start("bound", {}))
            for name in tasks:
                assert run["tasks"][name]["status"] == "failed"
                assert "may be sent to 127.0.0.1:" in str(run["tasks"][name]["error"])
        assert stranger.heard == []
        assert len(service.heard) == 1
