"""Bodies over 256 KB: each becomes a blob while it arrives, and its run names it."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
from typing import Any

import pytest
from yarl import URL

from detent.blobs.places import missing
from detent.blobs.sweep import BlobSweep
from detent.store.blobs.rows import BlobRow
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Answer, Detent, serving, statuses

KB = 1024
MB = 1024 * KB
RUN = "/api/v1/runs"
ECHO = "name: echo\ntasks: {say: {action: core.echo, with: {got: '{{trigger.body}}'}}}\n"
WAITS = "name: waits\ntasks: {w: {wait_for_webhook: {timeout: 1h}}}\n"
ASKS = """
name: asks
tasks:
  checked: {wait_for_webhook: {timeout: 1h, schema: {type: object}}}
  approved: {approve: {title: Ship it?, timeout: 1h}}
  shown: {wait_for_webhook: {timeout: 1h, title: Send the scan}}
"""
SIGNED = """
name: signed
trigger: {type: webhook, signature: {preset: github, secrets: ["the secret of the sender"]}}
tasks: {say: {action: core.echo, with: {got: "{{trigger.body}}"}}}
"""


def content(size: int) -> bytes:
    """Return JSON of at least that size."""
    return json.dumps({"kind": "report", "rows": ["x" * 1000] * (size // 1000 + 1)}).encode()


def described(raw: bytes, type_: str = "application/json") -> dict[str, Any]:
    return {"size": len(raw), "type": type_, "sha256": hashlib.sha256(raw).hexdigest()}


def without_id(blob: dict[str, Any]) -> dict[str, Any]:
    assert blob["$blob"].startswith("blob_")
    return {key: value for key, value in blob.items() if key != "$blob"}


async def trigger(detent: Detent, workflow: str, raw: bytes, **headers: str) -> Answer:
    headers = {"Content-Type": "application/json", **headers}
    return await detent.call("POST", f"/api/v1/workflows/{workflow}/trigger", data=io.BytesIO(raw), headers=headers)


async def download(detent: Detent, blob: dict[str, Any], **headers: str) -> tuple[int, bytes, Any]:
    async with detent.opened("GET", f"/api/v1/blobs/{blob['$blob']}", headers) as answer:
        return answer.status, await answer.read(), answer.headers


@EVERY_DATABASE
async def test_a_large_body_starts_a_run_that_names_its_blob(detent: Detent) -> None:
    await detent.save(ECHO)
    raw = content(1_300 * KB)
    answer = await trigger(detent, "echo", raw, **{"Idempotency-Key": "one"})
    assert answer.status == 201, answer.text
    again = await trigger(detent, "echo", raw, **{"Idempotency-Key": "one"})
    assert (again.status, again.json["data"]["run_id"]) == (200, answer.json["data"]["run_id"])
    run = await detent.ended(answer.json["data"])
    assert run["status"] == "completed", run
    blob = run["output"]["got"]
    assert without_id(blob) == described(raw)
    assert run["input"]["body"] == blob
    status, got, headers = await download(detent, blob)
    assert (status, got) == (200, raw)
    assert headers["Content-Disposition"].startswith("attachment")
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, got, headers = await download(detent, blob, Range="bytes=600000-600009")
    assert (status, got, headers["Content-Range"]) == (206, raw[600000:600010], f"bytes 600000-600009/{len(raw)}")
    await BlobSweep(detent.app.engine.blobs, grace=-3600).sweep()
    assert (await download(detent, blob))[0] == 200, "a run names it"


async def test_a_callback_and_a_signed_webhook_take_large_bodies(api: Detent) -> None:
    await api.save(WAITS)
    await api.save(SIGNED)
    started = await api.start("waits", {})
    [callback] = (await api.run(started))["callbacks"]
    raw = b"\x00\xff" * 200 * KB
    place = callback["url"].removeprefix(api.app.base_url)
    answer = await api.call("POST", place, data=raw, headers={"Content-Type": "image/png"})
    assert answer.status in (200, 202), answer.text
    run = await api.ended(started)
    assert without_id(run["output"]) == described(raw, "image/png")
    used = await api.call("POST", place, data=raw)
    assert (used.status, used.json["code"]) == (409, "webhook_used")
    unknown = await api.call("POST", "/wh/unknown", data=raw)
    assert unknown.status == 404

    body = content(400 * KB)
    digest = hmac.digest(b"the secret of the sender", body, "sha256").hex()
    hook = "/webhook/workflow/trigger/signed"
    headers = {"Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={digest}"}
    answer = await api.call("POST", hook, data=body, headers=headers)
    assert answer.status == 201, answer.text
    run = await api.until({"workflow_id": "signed", **answer.json["data"]}, lambda run: run["status"] == "completed")
    assert without_id(run["output"]["got"]) == described(body)
    wrong = {**headers, "X-Hub-Signature-256": "sha256=" + "0" * 64}
    assert (await api.call("POST", hook, data=body + b" ", headers=wrong)).status == 401
    assert (await api.call("POST", hook, data=body + b" ")).status == 401
    rows = await api.app.store.blobs(1, limit=10)
    assert {row.sha256.hex() for row in rows} == {hashlib.sha256(one).hexdigest() for one in (raw, body)}
    assert await api.app.store.stale_uploads(before=2**60, limit=10) == [], "what was refused is deleted"


async def test_a_wait_that_checks_its_answer_refuses_a_large_one_and_goes_on(api: Detent) -> None:
    await api.save(ASKS)
    started = await api.start("asks", {})
    run = await api.until(started, lambda run: len(run["callbacks"]) == 3)
    places = {one["step"]: one["url"].removeprefix(api.app.base_url) for one in run["callbacks"]}
    raw = content(300 * KB)
    as_json = {"Content-Type": "application/json"}
    for step in ("checked", "approved"):
        refused = await api.call("POST", places[step], data=raw, headers=as_json)
        assert (refused.status, "256" in refused.text or "262144" in refused.text) == (413, True), refused.text
        page = await api.call("POST", places[step], data=raw, headers={**as_json, "Accept": "text/html"})
        assert (page.status, 'role="alert"' in page.text) == (413, True), page.text
    assert await api.app.store.blobs(1, limit=10) == []
    for step, body in (("checked", b"{}"), ("approved", b'{"approved": true}'), ("shown", raw)):
        answer = await api.call("POST", places[step], data=body, headers=as_json)
        assert answer.status in (200, 202), answer.text
    run = await api.ended(started)
    assert run["status"] == "completed", run
    await BlobSweep(api.app.engine.blobs, grace=-3600).sweep()
    [row] = await api.app.store.blobs(1, limit=10)
    assert row.sha256.hex() == hashlib.sha256(raw).hexdigest(), "the run names it"


async def test_a_body_over_the_limit_is_refused_and_nothing_of_it_is_stored() -> None:
    async with serving("memory://", max_blob=2 * MB) as detent:
        await detent.save(ECHO)
        assert (await trigger(detent, "echo", b"x" * (2 * MB + 1))).status == 413

        async def parts() -> Any:
            for _ in range(40):
                yield b"x" * 64 * KB

        answer = await detent.call("POST", "/api/v1/workflows/echo/trigger", data=parts())
        assert answer.status == 413, answer.text
        assert (await trigger(detent, "missing", b"x" * MB)).status == 404
        envelope = await detent.call("POST", "/api/v1/workflows/echo/execute", data=content(300 * KB))
        assert envelope.status == 413
        assert await detent.app.store.blobs(1, limit=10) == []
        assert await detent.app.store.stale_uploads(before=2**60, limit=10) == []


async def test_a_condition_node_of_the_graph_form_reads_inside_a_blob(api: Detent) -> None:
    nodes = [
        {
            "id": "asks",
            "nodeType": "condition",
            "expression": "trigger.kind == 'report'",
            "edges": [{"targetNode": "says", "condition": "context.data.asks"}],
        },
        {"id": "says", "actionType": "core.echo", "parameters": {"x": 1}},
    ]
    graph = json.dumps({"id": "graph", "displayName": "graph", "startNode": "asks", "nodes": nodes})
    saved = await api.call("POST", "/api/v1/workflows", data=graph, headers={"Content-Type": "application/json"})
    place = saved.json["data"]["id"]
    assert (await api.call("POST", f"/api/v1/workflows/{place}/publish", json={})).status == 200
    run = await api.ended((await trigger(api, place, content(300 * KB))).json["data"])
    assert (run["status"], statuses(run)) == ("completed", {"asks": "success", "says": "success"}), run


@pytest.mark.parametrize("type_", ['application/json; charset="utf-8"', r'application/json; note="a \"b\" \\ c"'])
async def test_a_type_with_quotes_is_read_as_json(api: Detent, type_: str) -> None:
    await api.save("name: inside\ntasks: {say: {action: core.echo, with: {kind: '{{trigger.body.kind}}'}}}\n")
    run = await api.ended((await trigger(api, "inside", content(300 * KB), **{"Content-Type": type_})).json["data"])
    assert (run["status"], run["output"]) == ("completed", {"kind": "report"}), run
    assert run["input"]["body"]["type"] == type_


@pytest.mark.parametrize("query", ["dry_run=true", "dryRun=true", "%64ry_run=true"])
async def test_a_dry_run_refuses_a_large_body_and_stores_nothing(api: Detent, query: str) -> None:
    await api.save(ECHO)
    place = URL(f"/api/v1/workflows/echo/trigger?{query}", encoded=True)
    answer = await api.call("POST", place, data=content(300 * KB), headers={"Content-Type": "application/json"})
    assert (answer.status, "dry run" in answer.text) == (413, True), answer.text
    bad = await api.call("POST", "/api/v1/workflows/echo/trigger?version=x", data=content(300 * KB))
    assert (bad.status, "version" in bad.text) == (400, True), bad.text
    assert await api.app.store.blobs(1, limit=10) == []
    assert await api.app.store.stale_uploads(before=2**60, limit=10) == []


HOOK = """
name: hook
trigger: {type: webhook, condition: "trigger.body.kind == 'report'"}
tasks: {say: {action: core.echo, with: {x: 1}}}
"""
AS_JSON = {"Content-Type": "application/json"}


async def test_a_body_that_says_another_size_of_a_blob_does_not_have_it_read(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.save(ECHO)
    await api.save(ECHO.replace("name: echo", "name: checked") + "trigger_schema: {type: object}\n")
    await api.save(HOOK)
    run = await api.ended((await trigger(api, "echo", content(300 * KB))).json["data"])
    forged = {**run["output"]["got"], "size": 10}
    monkeypatch.setattr(api.app.engine.blobs, "whole", None)
    answer = await trigger(api, "checked", json.dumps(forged).encode())
    assert (answer.status, "10 bytes" in answer.text) == (400, True), answer.text
    answer = await api.call("POST", "/webhook/workflow/trigger/hook", json=forged)
    assert answer.json["code"] == "condition_error", answer.text


async def test_a_webhook_whose_bytes_are_missing_ends_with_an_error(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.save(HOOK)

    async def gone(row: BlobRow) -> bytes:
        raise missing(row)

    monkeypatch.setattr(api.app.engine.blobs, "whole", gone)
    answer = await api.call("POST", "/webhook/workflow/trigger/hook", data=content(300 * KB), headers=AS_JSON)
    assert "restore them from a backup" in answer.json["message"], answer.text
    [letter] = (await api.call("GET", "/api/v1/dead-letters")).json["data"]
    assert "restore them from a backup" in letter["message"]


async def test_a_trigger_schema_checks_the_json_in_a_blob(api: Detent) -> None:
    await api.save(ECHO + "trigger_schema: {type: object, properties: {kind: {const: report}}}\n")
    assert (await trigger(api, "echo", content(300 * KB))).status == 201
    answer = await trigger(api, "echo", content(300 * KB).replace(b"report", b"letter"))
    assert (answer.status, "kind" in answer.text) == (400, True)
    assert (await trigger(api, "echo", b"{" + b" " * 300 * KB)).status == 400
