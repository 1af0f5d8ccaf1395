"""Tenants as objects: created, suspended, resumed, exported and deleted over HTTP, by keys of tenants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import PATIENCE, Answer, Detent, serving

TENANTS = "/api/v1/tenants"
HOOK = {"name": "hook", "trigger": {"type": "webhook"}, "tasks": {"w": {"wait_for_webhook": {"timeout": "1h"}}}}


@pytest.fixture
async def detent(tmp_path: Path) -> AsyncIterator[Detent]:
    async with serving(f"sqlite:///{tmp_path}/detent.db") as opened:
        yield opened


async def key_of(detent: Detent, tenant: str) -> dict[str, str]:
    given = {"name": f"{tenant} key", "role": "admin", "tenant": tenant}
    answer = await detent.call("POST", "/api/v1/keys", json=given)
    assert answer.status == 201, answer.text
    return {"Authorization": f"Bearer {answer.json['data']['key']}"}


async def created(detent: Detent, name: str) -> dict[str, str]:
    answer = await detent.call("POST", TENANTS, json={"name": name})
    assert answer.status == 201, answer.text
    return await key_of(detent, name)


async def until(detent: Detent, key: dict[str, str], status: int) -> Answer:
    """The first answer with that status: every node learns of a change within two seconds."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await detent.call("GET", "/api/v1/workflows", headers=key)
            if answer.status == status:
                return answer
            await asyncio.sleep(0.05)  # the API is polled, as any of its users would


async def test_a_tenant_has_its_own_world_and_a_suspended_one_is_refused(detent: Detent) -> None:
    key = await created(detent, "shop")
    again = await detent.call("POST", TENANTS, json={"name": "shop"})
    assert (again.status, again.json["message"]) == (409, "there is a tenant 'shop' already")
    assert (await detent.call("POST", TENANTS, json={"name": "Shop 1"})).status == 400
    for headers in ({}, key):
        saved = await detent.call("POST", "/api/v1/workflows", json=HOOK, headers=headers)
        assert saved.status == 201, saved.text
    [trigger] = (await detent.call("GET", "/api/v1/triggers", headers=key)).json["data"]
    assert (await detent.call("GET", TENANTS, headers=key)).status == 403, "an admin of a tenant manages no tenants"
    refused = await detent.call(
        "POST", "/api/v1/keys", json={"name": "x", "role": "viewer", "tenant": "default"}, headers=key
    )
    assert refused.status == 403
    started = await detent.call("POST", f"/api/v1/triggers/{trigger['id']}", json={})
    assert started.status == 201
    run = await detent.call("GET", f"/api/v1/runs/{started.json['data']['run_id']}", headers=key)
    callback = "/wh/" + run.json["data"]["callbacks"][0]["url"].rpartition("/")[2]

    suspended = await detent.call("POST", f"{TENANTS}/shop/suspend")
    assert suspended.json["data"]["status"] == "suspended"
    answer = await until(detent, key, 403)
    assert answer.json["message"] == "the tenant 'shop' is suspended; ask the operator of this installation"
    assert (await detent.call("POST", f"/api/v1/triggers/{trigger['id']}", json={})).status == 403
    assert (await detent.call("POST", callback, json={})).status == 200, "a run that was accepted goes on"
    assert (await detent.call("GET", "/api/v1/workflows")).status == 200, "other tenants notice nothing"

    assert (await detent.call("POST", f"{TENANTS}/shop/resume")).json["data"]["status"] == "active"
    await until(detent, key, 200)


async def test_a_tenant_cannot_change_what_belongs_to_the_installation(detent: Detent) -> None:
    key = await created(detent, "shop")
    for place in ("connectors/slack/disable", "connectors/slack/enable", "actions/slack.post-message/disable"):
        refused = await detent.call("POST", f"/api/v1/{place}", headers=key)
        assert refused.status == 403, (place, refused.text)
        assert "belongs to the installation" in refused.json["message"]
    assert (await detent.call("GET", "/api/v1/connectors/slack")).json["data"]["enabled"] is True
    assert (await detent.call("POST", "/api/v1/connectors/slack/disable")).status == 200


async def test_a_tenant_is_exported_and_deleted_with_everything_it_has(detent: Detent) -> None:
    key = await created(detent, "gone")
    await detent.call("POST", "/api/v1/workflows", json=HOOK)
    assert (await detent.call("POST", "/api/v1/workflows", json=HOOK, headers=key)).status == 201
    started = await detent.call("POST", "/api/v1/workflows/hook/trigger", json={"a": 1}, headers=key)
    assert started.status == 201, started.text
    exported = await detent.call("GET", f"{TENANTS}/gone/export")
    rows: list[dict[str, Any]] = [json.loads(line) for line in exported.text.splitlines()]
    kinds = {row["table"] for row in rows}
    assert {"tenant", "workflow", "workflow_version", "trigger", "run", "api_key"} <= kinds
    assert all("hash" not in row["row"] for row in rows)

    place = f"{TENANTS}/gone?confirm=gone"
    active = await detent.call("DELETE", place)
    assert (active.status, active.json["message"]) == (409, "the tenant 'gone' is active; suspend it first")
    await detent.call("POST", f"{TENANTS}/gone/suspend")
    assert (await detent.call("DELETE", f"{TENANTS}/gone?confirm=other")).status == 400
    deleted = await detent.call("DELETE", place)
    assert deleted.status == 200, deleted.text
    assert deleted.json["data"]["deleted"] > 4
    assert (await detent.call("GET", f"{TENANTS}/gone")).status == 404
    await until(detent, key, 401)
    assert len((await detent.call("GET", "/api/v1/workflows")).json["data"]) == 1
    again = await created(detent, "gone")
    assert (await detent.call("GET", "/api/v1/workflows", headers=again)).json["data"] == []
    assert (await detent.call("POST", f"{TENANTS}/default/suspend")).status == 409
