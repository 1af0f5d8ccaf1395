"""A suspended tenant: what was accepted before goes on to its end, and nothing new begins until it is resumed."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.ids import TRIGGER, new_id, parse
from detent.python.functions import Run, workflow
from detent.store.tenants import TenantStatus
from detent.store.trigger_rows import FiringState, NewFiring
from tests.api.server import PATIENCE
from tests.tenants.limits import DEFAULT, change, confined, ended, save
from tests.tenants.test_limits import code_of
from tests.tenants.world import A, World

FLOWS: list[dict[str, Any]] = [
    {"name": "later", "tasks": {"say": {"action": "core.echo"}}},
    {"name": "sleeps", "tasks": {"wait": {"sleep": "1s"}, "say": {"needs": ["wait"], "action": "core.echo"}}},
    {"name": "has-child", "tasks": {"wait": {"sleep": "1s"}, "child": {"needs": ["wait"], "workflow": "later"}}},
    {"name": "waits", "tasks": {"wait": {"wait_for_webhook": {"timeout": "1h"}}}},
]


@workflow
async def waits_in_its_tenant(run: Run) -> str:
    return str(await run.signal("go"))


async def started(world: World, name: str, query: str = "") -> str:
    found = await world.made(A, "POST", f"/api/v1/workflows/{name}/trigger{query}", {})
    return str(found["run_id"])


async def test_runs_that_were_accepted_go_on_and_firings_wait() -> None:
    async with confined() as world:
        store = world.app.store
        for flow in FLOWS:
            assert (await save(world, A, flow)).status == 201
        await save(world, DEFAULT, FLOWS[0])
        delayed = await started(world, "later", "?start_at=1s")
        assert (await world.made(A, "GET", f"/api/v1/runs/{delayed}"))["status"] == "pending"
        sleeping, parent = await started(world, "sleeps"), await started(world, "has-child")
        waiting = await started(world, "waits")
        [callback] = (await world.made(A, "GET", f"/api/v1/runs/{waiting}"))["callbacks"]

        await store.change_tenant(A, status=TenantStatus.SUSPENDED)
        asleep = await fired(world, A)
        awake = await fired(world, DEFAULT)
        answer = await world.call(A, "POST", f"/wh/{callback['url'].rpartition('/')[2]}", {"ok": True})
        assert answer.status == 200, answer.text
        for run in (delayed, sleeping, parent, waiting):
            assert (await ended(world, A, run))["status"] == "completed"
        await begun(world, DEFAULT, awake)
        row = await store.firing(A, asleep)
        assert row is not None
        assert row.state == "due", "it was due before that of the other tenant, and waits"

        await store.change_tenant(A, status=TenantStatus.ACTIVE)
        await begun(world, A, asleep)


async def fired(world: World, tenant: int) -> bytes:
    """Add a firing that is due, as one that a node has received and not begun."""
    given = {"workflow": "later", "type": "webhook"}
    made = await world.made(tenant, "POST", "/api/v1/triggers", given)
    row = await world.app.store.trigger(tenant, parse(TRIGGER, made["id"]))
    assert row is not None
    new = NewFiring(new_id(), tenant, row.id, row.workflow, "webhook", FiringState.DUE, row.created_at)
    await world.app.store.add_firings([new])
    return new.id


async def begun(world: World, tenant: int, firing: bytes) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            row = await world.app.store.firing(tenant, firing)
            if row is not None and row.run is not None:
                return
            await asyncio.sleep(0.02)  # the worker of triggers polls


async def test_code_in_flight_fails_when_the_list_of_its_tenant_loses_it() -> None:
    async with confined() as world:
        await change(world, A, actions=["workflow:waits_in_its_tenant"])
        run = await started(world, "waits_in_its_tenant")
        # Another process changes the list: this one learns it by its watch.
        await world.app.store.change_tenant(A, edit=lambda settings: None)
        async with asyncio.timeout(PATIENCE):
            while world.app.commands.tenants.limits(A).actions is not None:  # noqa: ASYNC110 - its watch polls
                await asyncio.sleep(0.02)
        refused = await world.call(A, "POST", "/api/v1/workflows/waits_in_its_tenant/trigger", {})
        assert refused.status == 403
        paused = await world.call(A, "POST", f"/api/v1/runs/{run}/pause", {})
        assert paused.status in (200, 202), paused.text
        assert (await world.call(A, "POST", f"/api/v1/runs/{run}/resume", {})).status in (200, 202)
        over = await ended(world, A, run)
        assert (over["status"], code_of(over)) == ("failed", "action_not_allowed")
