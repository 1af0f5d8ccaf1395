"""Two nodes and their tenants: what one node changes of a tenant counts on the other within two seconds."""

from __future__ import annotations

import asyncio

import pytest

from tests.api.server import PATIENCE
from tests.auth.browser import Browser, Site, open_site

pytestmark = pytest.mark.slow
TENANT = "/api/v1/tenants/shop"


async def until(browser: Browser, path: str, status: int) -> str:
    """Ask until a path has this status: a node looks at the stamp of identities every second."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await browser.call("GET", path)
            if answer.status == status:
                return answer.text
            await asyncio.sleep(0.05)


async def until_steps_may(site: Site, may: bool) -> None:
    """Wait until the steps of this node may call the action, or may not: its watch of tenants polls."""
    async with asyncio.timeout(PATIENCE):
        while (site.app.commands.tenants.refusal(2, "slack.post-message") is None) is not may:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_suspension_and_new_limits_reach_the_other_node(postgres_database: str) -> None:
    async with open_site(postgres_database) as first, open_site(postgres_database) as second:
        admin = await first.caller()
        assert (await admin.call("POST", "/api/v1/tenants", json={"name": "shop"})).status == 201
        made = await admin.call("POST", "/api/v1/keys", json={"name": "k", "role": "editor", "tenant": "shop"})
        there = await second.browser(Authorization=f"Bearer {made.json['data']['key']}")
        calls = {
            "name": "tell",
            "tasks": {"a": {"action": "slack.post-message", "with": {"channelId": "C", "message": "m"}}},
        }

        await until(there, "/api/v1/actions", 200)
        await until(there, "/api/v1/connectors/slack", 404)
        assert (await there.call("POST", "/api/v1/workflows", json=calls)).status == 400
        assert (await admin.call("PATCH", TENANT, json={"add_actions": ["slack.*"]})).status == 200
        await until(there, "/api/v1/connectors/slack", 200)
        assert (await there.call("POST", "/api/v1/workflows", json=calls)).status == 201
        await until_steps_may(second, True)
        assert (await admin.call("PATCH", TENANT, json={"remove_actions": ["slack.*"]})).status == 200
        await until(there, "/api/v1/connectors/slack", 404)
        await until_steps_may(second, False)

        assert (await admin.call("POST", f"{TENANT}/suspend")).status == 200
        assert "suspended" in await until(there, "/api/v1/workflows", 403)
        assert (await there.call("POST", "/api/v1/workflows/tell/trigger", json={})).status == 403, "the fast path too"
        assert (await admin.call("POST", f"{TENANT}/resume")).status == 200
        await until(there, "/api/v1/workflows", 200)
