"""Secrets over the API and the Python client: names, versions, hosts and dates, and never a value."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from detent import Client
from detent.auth.caller import Caller
from detent.auth.scopes import scopes_of
from detent.client.errors import InvalidRequest
from detent.ids import RUN, parse
from detent.vault.sealing import new_key
from tests.api.server import Detent, serving

VALUE = "sk_live_51HxQ9bT"


@pytest.fixture
async def vault() -> AsyncIterator[Detent]:
    async with serving("memory://", encryption_key=new_key()) as opened:
        yield opened


async def test_a_secret_is_set_listed_rotated_and_deleted_without_being_shown(vault: Detent) -> None:
    shown = []

    async def call(method: str, path: str, **options: Any) -> Any:
        answer = await vault.call(method, path, **options)
        shown.append(answer.text)
        return answer

    first = await call("PUT", "/api/v1/secrets/KEY", json={"value": VALUE, "hosts": ["API.example.com"]})
    assert (first.status, first.json["data"]["version"], first.json["data"]["hosts"]) == (200, 1, ["api.example.com"])
    second = await call("PUT", "/api/v1/secrets/KEY", json={"value": VALUE + "2"})
    assert (second.json["data"]["version"], second.json["data"]["hosts"]) == (2, ["api.example.com"])
    third = await call("PUT", "/api/v1/secrets/KEY", json={"value": VALUE + "3", "hosts": []})
    assert third.json["data"]["hosts"] == []
    await call("PUT", "/api/v1/secrets/OTHER", json={"value": VALUE})
    page = await call("GET", "/api/v1/secrets?limit=1")
    assert [row["name"] for row in page.json["data"]] == ["KEY"]
    rest = await call("GET", f"/api/v1/secrets?limit=1&cursor={page.json['next_cursor']}")
    assert [row["name"] for row in rest.json["data"]] == ["OTHER"]
    assert set(page.json["data"][0]) == {"name", "version", "hosts", "created_at", "updated_at", "updated_by"}
    rotated = await call("POST", "/api/v1/rotate-secrets")
    assert (rotated.json["data"]["sealed"], rotated.json["data"]["current"]) == (0, 2)
    assert (await call("GET", "/api/v1/secrets/KEY")).json["data"]["version"] == 3
    assert (await call("DELETE", "/api/v1/secrets/KEY")).status == 200
    assert (await call("DELETE", "/api/v1/secrets/KEY")).status == 404
    assert VALUE not in "".join(shown)


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("KEY", {"value": "short"}, "has 5 bytes; at least 8 are needed"),
        ("KEY", {"value": "x" * 70_000}, "at most 65536"),
        ("KEY", {"value": 12345678}, "value"),
        ("KEY", {}, "is missing"),
        ("9KEY", {"value": VALUE}, "cannot be the name of a secret"),
        ("KEY", {"value": VALUE, "hosts": ["not a host"]}, "is not a host"),
        ("KEY", {"value": VALUE, "hosts": "*.com"}, "every host of a whole domain"),
    ],
)
async def test_what_cannot_be_kept_is_refused(vault: Detent, name: str, body: Any, words: str) -> None:
    answer = await vault.call("PUT", f"/api/v1/secrets/{name}", json=body)
    assert answer.status == 400
    assert words in answer.text
    assert VALUE not in answer.text


async def test_without_a_key_secrets_are_refused_with_the_command(api: Detent) -> None:
    answer = await api.call("PUT", "/api/v1/secrets/KEY", json={"value": VALUE})
    assert answer.status == 409
    assert "detent secrets new-key" in answer.text


async def test_a_workflow_with_a_missing_secret_is_saved_with_a_warning(vault: Detent) -> None:
    tasks = {"a": {"url": "https://a.example", "headers": {"X": "{{secrets.KEY}}"}}}
    body = json.dumps({"name": "w", "tasks": tasks})
    saved = await vault.call("POST", "/api/v1/workflows", data=body)
    assert "tasks.a.headers.X: there is no secret 'KEY'; set it with `detent secrets set KEY`" in saved.text
    await vault.call("PUT", "/api/v1/secrets/KEY", json={"value": VALUE})
    saved = await vault.call("POST", "/api/v1/workflows", data=body.replace('"w"', '"v"'))
    assert saved.status == 201
    assert "there is no secret" not in saved.text


async def test_the_python_client_has_the_same_operations(vault: Detent) -> None:
    def talk() -> None:
        with Client(vault.app.local_url) as client:
            assert client.secrets.set("KEY", VALUE, hosts=["a.example"]).version == 1
            assert [one.name for one in client.secrets.list()] == ["KEY"]
            assert client.secrets.get("KEY").hosts == ["a.example"]
            assert client.secrets.rotate().current == 1
            assert client.secrets.delete("KEY").name == "KEY"
            with pytest.raises(InvalidRequest, match="at least 8"):
                client.secrets.set("KEY", "short")

    await asyncio.to_thread(talk)


async def test_a_caller_that_may_not_execute_sees_no_token_of_a_callback(vault: Detent) -> None:
    await vault.save('{"name": "w", "tasks": {"answer": {"wait_for_webhook": {"timeout": "1h"}}}}')
    started = await vault.start("w", {})
    run = started["run_id"]
    await vault.until(started, lambda found: found["tasks"]["answer"]["status"] == "waiting")
    viewer = vault.app.commands.for_caller(Caller(1, "viewer", scopes_of("viewer")))
    operator = vault.app.commands.for_caller(Caller(1, "operator", scopes_of("operator")))
    token = vault.app.engine.tokens.token(parse(RUN, run), "answer")
    for part in (viewer, operator):
        row = await part.runs.row(run)
        evaluated = await part.runs.evaluate(run, "{{wait.answer.url}}", step=None, is_template=True)
        seen = msgspec.json.encode([await part.runs.document(row), evaluated]).decode()
        assert (token in seen) is (part is operator)
        assert ("/wh/***" in seen) is (part is viewer)


async def test_a_webhook_is_checked_with_a_stored_secret_that_no_table_has(vault: Detent) -> None:
    body = b'{"n": 1}'
    signature = {"preset": "github", "secrets": ["{{ secrets.HOOK }}", {"secret": "NEXT"}]}
    tasks = {"a": {"action": "core.echo", "with": {}}}
    saved = await vault.save(
        json.dumps({"name": "hooked", "trigger": {"type": "webhook", "signature": signature}, "tasks": tasks})
    )
    assert "{{ secrets.HOOK }}" in json.dumps(saved), "a name is not hidden"
    signed = hmac.digest(VALUE.encode(), body, "sha256").hex()

    async def call(digest: str) -> int:
        headers = {"X-Hub-Signature-256": f"sha256={digest}", "Content-Type": "application/json"}
        place = "/api/v1/webhook/workflow/trigger/hooked"
        places = (place, place.removeprefix("/api/v1"))
        answers = [await vault.call("POST", one, data=body, headers=headers) for one in places]
        return min(answer.status for answer in answers)

    assert await call(signed) >= 400, "there is no secret yet"
    for name, value in (("HOOK", VALUE), ("NEXT", VALUE + "-next")):
        assert (await vault.call("PUT", f"/api/v1/secrets/{name}", json={"value": value})).status == 200
    assert await call(signed) < 300
    assert await call(hmac.digest(f"{VALUE}-next".encode(), body, "sha256").hex()) < 300
    assert await call(hmac.digest(b"another-secret", body, "sha256").hex()) >= 400
