"""A process with three tenants and code of its own: `billing.charge`, and the durable functions of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from detent.api.app import Api, context_for
from detent.api.server.fast_path import FastPath
from detent.process import run_app
from detent.settings import Settings
from detent.steps.actions import registry
from detent.vault.sealing import new_key
from tests.api.server import PATIENCE
from tests.tenants.world import CANARIES, A, Answer, B, TenantOfHeader, World

DEFAULT: Final = 1
OVER: Final = ("completed", "failed", "cancelled", "timeout", "paused")
CHARGE: Final[dict[str, Any]] = {"name": "charge", "tasks": {"pay": {"action": "billing.charge"}}}


def charge() -> str:
    return "paid"


@asynccontextmanager
async def confined(url: str = "memory://", **settings: Any) -> AsyncIterator[World]:
    """The tenants `canarya` and `canaryb` beside `default`, with nothing in them."""
    registry.add("billing.charge", charge)
    try:
        chosen = Settings(database_url=url, encryption_key=new_key(), **settings)
        async with run_app(chosen, migrate=True, allow=("127.0.0.0/8",)) as app:
            context = context_for(app, TenantOfHeader(), hosts=None)
            world = World(app, FastPath(Api(context), context))
            for tenant in (A, B):
                made = await app.store.add_tenant(CANARIES[tenant], None)
                assert made is not None
                assert made.id == tenant
            yield world
    finally:
        registry._actions.pop("billing.charge", None)  # noqa: SLF001 - a registry has no other end


async def change(world: World, tenant: int, **limits: Any) -> Any:
    """Change the limits of a tenant, and wait until this process counts with them."""
    name = CANARIES.get(tenant, "default")
    found = await world.made(DEFAULT, "PATCH", f"/api/v1/tenants/{name}", limits)
    book = world.app.commands.tenants
    wanted = await world.app.store.tenant(tenant)
    assert wanted is not None
    async with asyncio.timeout(PATIENCE):
        while book.limits(tenant).encode() != (wanted.settings or "{}"):  # noqa: ASYNC110 - its watch polls
            await asyncio.sleep(0.02)
    return found


async def run_to_end(world: World, tenant: int, workflow: str, body: Any = None, query: str = "") -> dict[str, Any]:
    """Start a workflow, and return its run after its end."""
    started = await world.made(tenant, "POST", f"/api/v1/workflows/{workflow}/trigger{query}", body or {})
    return await ended(world, tenant, started["run_id"])


async def ended(world: World, tenant: int, run: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            found: dict[str, Any] = await world.made(tenant, "GET", f"/api/v1/runs/{run}")
            if found["status"] in OVER:
                return found
            await asyncio.sleep(0.02)  # the API is polled, as any of its users would


async def save(world: World, tenant: int, definition: Any) -> Answer:
    return await world.call(tenant, "PUT", f"/api/v1/workflows/{definition['name']}", definition)
