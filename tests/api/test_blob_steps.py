"""Steps and blobs: what a step can read, send and save of a payload that is too large for the journal."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pytest
from aiohttp import web
from obstore.store import MemoryStore

from detent import action
from detent.blobs.objects import ObjectPlace
from detent.blobs.sweep import BlobSweep
from detent.client import AsyncClient
from detent.client.blobs import BlobPart
from detent.steps.action_context import ActionContext
from detent.steps.errors import Permanent
from detent.values.blob import Blob
from detent.values.http_body import read_multipart
from detent.vault.sealing import new_key
from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Detent, serving

REPORT = json.dumps({"kind": "report", "rows": [{"n": n, "text": "x" * 1000} for n in range(600)]}).encode()
PICTURE = b"\x89PNG\x00\xff" * 100_000


@action("blobs.count", title="Count the bytes")
def count(context: ActionContext, file: dict[str, Any]) -> dict[str, Any]:
    with context.open(file) as opened:
        head = opened.read(8)
        opened.seek(0, io.SEEK_END)
        return {"head": head.hex(), "size": opened.tell()}


@action("blobs.shout", title="Store a report again in capitals")
async def shout(context: ActionContext, file: dict[str, Any]) -> dict[str, Any]:
    async def upper() -> AsyncIterator[bytes]:
        async for part in context.stream(file):
            yield part.upper()

    return {"made": await context.save_async(upper(), "text/plain")}


@action("blobs.write", title="Store a file")
def write(context: ActionContext, size: int) -> Blob:
    content: BinaryIO = io.BytesIO(b"y" * size)
    return context.save(content, "text/html")


WRONG: set[str] = set()


@action("blobs.checked", title="Fail for the wrong kinds")
def checked(kind: str) -> str:
    if kind in WRONG:
        raise Permanent("the kind is wrong")
    return kind


SAVED = asyncio.Event()
GO_ON = asyncio.Event()


@action("blobs.slow", title="Store a file, then wait")
async def slow(context: ActionContext) -> dict[str, Any]:
    made = await context.save_async(PICTURE, "image/png")
    SAVED.set()
    await GO_ON.wait()
    return {"made": made}


ROWS = [{"number": number, "text": "x" * 100} for number in range(5_000)]


@action("blobs.rows", title="Return much")
def rows(count: int) -> list[dict[str, Any]]:
    return ROWS[:count] * (1 if count <= len(ROWS) else count // len(ROWS))


@action("blobs.rows_inline", title="Return much at once", inline=True)
def rows_inline(count: int) -> dict[str, Any]:
    return {"rows": ROWS[:count]}


@dataclass
class Files:
    """A service that has a report and a picture, and takes what is sent."""

    url: str = ""
    taken: list[tuple[str, str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/report":
            return web.Response(body=REPORT, content_type="application/json")
        if request.path == "/picture":
            return web.Response(body=PICTURE, content_type="image/png")
        if request.path == "/form":
            form = read_multipart(request.headers["Content-Type"], await request.read(), most_parts=9)
            for name, value in form.items():
                raw = value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])
                kind = "" if isinstance(value, str) else value["content_type"]
                self.taken.append((name, kind, hashlib.sha256(raw).hexdigest()))
        else:
            assert request.content_length is not None
            digest = hashlib.sha256(await request.read()).hexdigest()
            self.taken.append((request.path, request.headers["Content-Type"], digest))
        return web.json_response({"ok": True})


@asynccontextmanager
async def open_files() -> AsyncIterator[Files]:
    files = Files()
    app = web.Application(client_max_size=10**8)
    app.router.add_route("*", "/{rest:.*}", files.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    files.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield files
    await runner.cleanup()


@pytest.fixture
async def files() -> AsyncIterator[Files]:
    async with open_files() as opened:
        yield opened


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def flow(url: str) -> str:
    return f"""
name: flow
tasks:
  report: {{url: "{url}/report", method: GET, large: blob}}
  picture: {{url: "{url}/picture", method: GET, large: blob}}
  wrong: {{needs: [report], if: "tasks.report.body.kind == 'letter'", action: core.echo}}
  inside:
    needs: [report]
    if: tasks.report.body.rows[599].n == 599 && tasks.report.body.rows.length == 600
    action: core.echo
    with: {{kind: "{{{{tasks.report.body.kind}}}}", n: "{{{{tasks.report.body.rows[7].n}}}}"}}
  post: {{needs: [picture], url: "{url}/put", method: PUT, body: "{{{{tasks.picture.body}}}}"}}
  form:
    needs: [picture, report]
    url: "{url}/form"
    parts: {{name: "Ada", picture: "{{{{tasks.picture.body}}}}", report: "{{{{tasks.report.body}}}}"}}
  count: {{needs: [picture], action: blobs.count, with: {{file: "{{{{tasks.picture.body}}}}"}}}}
  shout: {{needs: [report], action: blobs.shout, with: {{file: "{{{{tasks.report.body}}}}"}}}}
  write: {{action: blobs.write, with: {{size: 700000}}}}
output:
  inside: "{{{{tasks.inside.output}}}}"
  wrong: "{{{{tasks.wrong.status}}}}"
  count: "{{{{tasks.count.output}}}}"
  shout: "{{{{tasks.shout.output.made}}}}"
  write: "{{{{tasks.write.output}}}}"
"""


@POSTGRES_TOO
async def test_steps_read_send_and_save_blobs(detent: Detent, files: Files) -> None:
    await detent.save(flow(files.url))
    run = await detent.ended(await detent.start("flow", {}))
    assert run["status"] == "completed", run
    output = run["output"]
    assert output["inside"] == {"kind": "report", "n": 7}
    assert output["wrong"] == "skipped"
    assert output["count"] == {"head": PICTURE[:8].hex(), "size": len(PICTURE)}
    assert (output["shout"]["sha256"], output["shout"]["type"]) == (digest(REPORT.upper()), "text/plain")
    assert (output["write"]["sha256"], output["write"]["size"]) == (digest(b"y" * 700_000), 700_000)
    assert sorted(files.taken) == [
        ("/put", "image/png", digest(PICTURE)),
        ("name", "", digest(b"Ada")),
        ("picture", "image/png", digest(PICTURE)),
        ("report", "application/json", digest(REPORT)),
    ]
    listed = await detent.call("GET", f"/api/v1/blobs?run={run['id']}&limit=2")
    assert len(listed.json["data"]) == 2
    assert listed.json["next_cursor"]
    async with detent.opened("GET", f"/api/v1/blobs/{output['write']['$blob']}", {}) as answer:
        assert answer.content_type == "application/octet-stream", "a page of another system is never shown"


async def test_a_large_response_is_truncated_unless_the_step_says_blob(api: Detent, files: Files) -> None:
    await api.save(
        f"""
name: cut
tasks:
  get: {{url: "{files.url}/report", method: GET}}
  read: {{needs: [get], action: core.echo, with: {{kind: "{{{{tasks.get.body.kind}}}}"}}}}
"""
    )
    run = await api.ended(await api.start("cut", {}))
    assert run["status"] == "failed"
    assert "because the response from 'get' exceeded the 256KB limit and was truncated" in run["error"]
    assert await api.app.store.blobs(1, limit=9) == []


async def test_a_response_larger_than_a_blob_is_truncated_and_leaves_nothing(files: Files) -> None:
    async with serving("memory://", max_blob=300 * 1024) as detent:
        definition = f"""
name: cut
tasks:
  get: {{url: "{files.url}/report", method: GET, large: blob}}
  read: {{needs: [get], action: core.echo, with: {{kind: "{{{{tasks.get.body.kind}}}}"}}}}
"""
        await detent.save(definition)
        run = await detent.ended(await detent.start("cut", {}))
        assert "because the response from 'get' exceeded the 256KB limit and was truncated" in run["error"]
        assert await detent.app.store.stale_uploads(before=2**60, limit=9) == []
        sealed = definition.replace("large: blob", "large: blob, sensitive: true")
        refused = await detent.call("POST", "/api/v1/workflows", data=sealed.replace("name: cut", "name: sealed"))
        assert (refused.status, "sealed" in refused.text) == (400, True)


async def test_a_path_into_a_blob_that_is_not_json_says_so(api: Detent, files: Files) -> None:
    await api.save(
        f"""
name: odd
tasks:
  get: {{url: "{files.url}/picture", method: GET, large: blob}}
  read: {{needs: [get], action: core.echo, with: {{kind: "{{{{tasks.get.body.kind}}}}"}}}}
"""
    )
    run = await api.ended(await api.start("odd", {}))
    assert "it is a blob of the type 'image/png', and only JSON can be read inside" in run["error"]


async def test_a_blob_that_a_step_saves_early_is_not_swept_before_the_step_ends(api: Detent) -> None:
    await api.save("name: slow\ntasks: {f: {action: blobs.slow}}\n")
    started = await api.start("slow", {})
    await asyncio.wait_for(SAVED.wait(), 60)
    await BlobSweep(api.app.engine.blobs, grace=-3600).sweep()
    GO_ON.set()
    run = await api.ended(started)
    assert run["status"] == "completed", run
    async with api.opened("GET", f"/api/v1/blobs/{run['output']['made']['$blob']}", {}) as answer:
        assert (answer.status, await answer.read()) == (200, PICTURE)


async def test_a_retry_and_a_fork_read_inside_a_blob_that_they_reuse(api: Detent, files: Files) -> None:
    await api.save(
        f"""
name: again
tasks:
  get: {{url: "{files.url}/report", method: GET, large: blob}}
  check: {{needs: [get], action: blobs.checked, with: {{kind: "{{{{tasks.get.body.kind}}}}"}}}}
output: "{{{{tasks.check.output}}}}"
"""
    )
    WRONG.add("report")
    first = await api.ended(await api.start("again", {}))
    assert (first["status"], "wrong" in first["error"]) == ("failed", True), first
    WRONG.clear()
    for path, body in (("retry", {}), ("fork", {"step": "check"})):
        answer = await api.call("POST", f"/api/v1/runs/{first['id']}/{path}", json=body)
        assert answer.status == 201, answer.text
        begun = answer.json["data"]
        run = await api.ended({"workflow_id": "again", "run_id": begun["id"]})
        assert (run["status"], run["output"]) == ("completed", "report"), run


@pytest.mark.parametrize("place", ["database", "directory", "objects"])
async def test_an_empty_blob_is_read_as_empty_content(place: str, tmp_path: Path) -> None:
    setting = f"directory:{tmp_path}" if place == "directory" else "database"
    async with serving("memory://", blobs=setting) as detent:
        if place == "objects":
            detent.app.engine.blobs.add_place(ObjectPlace(MemoryStore()))
        await detent.save("name: empty\ntasks: {f: {action: blobs.write, with: {size: 0}}}\n")
        run = await detent.ended(await detent.start("empty", {}))
        id_ = run["output"]["$blob"]
        async with AsyncClient(detent.app.local_url) as client:
            assert await client.blobs.read(id_) == BlobPart(b"", 0)
        async with detent.opened("GET", f"/api/v1/blobs/{id_}", {}) as answer:
            assert (answer.status, await answer.read()) == (200, b"")


async def test_an_action_of_a_sensitive_step_saves_no_blob() -> None:
    async with serving("memory://", encryption_key=new_key()) as detent:
        task = "action: blobs.write, sensitive: true, with: {size: 300000}"
        await detent.save(f"name: sealed\ntasks: {{f: {{{task}}}}}\n")
        run = await detent.ended(await detent.start("sealed", {}))
        assert run["status"] == "failed"
        assert "a sensitive step cannot save a blob" in run["error"]
        assert await detent.app.store.blobs(1, limit=9) == []
        assert await detent.app.store.stale_uploads(before=2**60, limit=9) == []


@pytest.mark.parametrize("place", ["directory", "objects"])
async def test_blobs_are_in_a_directory_or_in_an_object_store(place: str, tmp_path: Path, files: Files) -> None:
    async with serving("memory://", blobs=f"directory:{tmp_path}/blobs") as detent:
        if place == "objects":
            detent.app.engine.blobs.add_place(ObjectPlace(MemoryStore()))
        await detent.save(flow(files.url))
        run = await detent.ended(await detent.start("flow", {}))
        assert run["status"] == "completed", run
        rows = await detent.app.store.blobs(1, limit=9)
        assert {row.place for row in rows} == {place}
        assert len(rows) == 4
        kept = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
        assert len(kept) == (4 if place == "directory" else 0)
        written = run["output"]["write"]["$blob"]
        async with detent.opened("GET", f"/api/v1/blobs/{written}", {"Range": "bytes=-3"}) as part:
            assert (part.status, await part.read()) == (206, b"yyy")


@POSTGRES_TOO
async def test_a_large_output_of_an_action_becomes_a_blob_that_later_steps_read(detent: Detent) -> None:
    await detent.save(
        json.dumps(
            {
                "name": "rows",
                "tasks": {
                    "many": {"action": "blobs.rows", "with": {"count": 5_000}},
                    "inline": {"action": "blobs.rows_inline", "with": {"count": 5_000}},
                    "few": {"action": "blobs.rows", "with": {"count": 2}},
                    "last": {
                        "needs": ["many", "inline", "few"],
                        "action": "core.echo",
                        "with": {
                            "many": "{{tasks.many.output[4999].number}}",
                            "inline": "{{tasks.inline.output.rows[17].number}}",
                            "few": "{{tasks.few.output[1].number}}",
                        },
                    },
                },
            }
        )
    )
    started = await detent.start("rows", {})
    run = await detent.ended(started)
    assert (run["status"], run["tasks"]["last"]["output"]) == ("completed", {"many": 4999, "inline": 17, "few": 1})
    made = run["tasks"]["many"]["output"]
    assert (made["type"], made["size"]) == ("application/json", len(msgspec.json.encode(ROWS)))
    content = await detent.call("GET", f"/api/v1/blobs/{made['$blob']}")
    assert content.json == ROWS
    assert [row["number"] for row in run["tasks"]["few"]["output"]] == [0, 1]


async def test_a_large_output_that_cannot_be_a_blob_is_refused(api: Detent, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = {
        "plain": {"action": "blobs.rows", "with": {"count": 5_000}},
        "sealed": {"action": "blobs.rows", "with": {"count": 5_000}, "sensitive": True},
    }
    for name, step in tasks.items():
        await api.save(json.dumps({"name": name, "tasks": {"a": step}}))
    sealed = await api.ended(await api.start("sealed", {}))
    assert sealed["tasks"]["a"]["error"]["code"] == "output_too_large"
    monkeypatch.setattr(api.app.engine.blobs, "limit", 400_000)
    plain = await api.ended(await api.start("plain", {}))
    assert plain["tasks"]["a"]["error"]["code"] == "output_too_large"
