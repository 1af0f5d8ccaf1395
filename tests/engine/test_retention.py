"""Retention: how long ended runs are stored, by the installation and by tenants."""

from __future__ import annotations

import pytest

from detent.clock import SystemClock
from detent.engine.background import Retention
from detent.store.memory.store import MemoryStore
from detent.tenants.registry import TenantRegistry
from tests.store.make import HOUR, Node, end, start

DAY = 24 * HOUR
LONG, SHORT, USUAL = 2, 3, 4


@pytest.mark.parametrize("keep", [(("completed", 10 * 86_400), ("failed", 10 * 86_400)), ()])
async def test_the_days_of_a_tenant_replace_those_of_the_installation(keep: tuple[tuple[str, int], ...]) -> None:
    store = MemoryStore(SystemClock())
    now = await store.now()
    node = await Node.register(store)
    runs = {
        (tenant, age): start(owned=True, tenant=tenant) for tenant in (LONG, SHORT, USUAL) for age in (1, 5, 20, 200)
    }
    await node.flush(starts=list(runs.values()))
    await node.flush(
        ends=[
            end(run.id, status="failed" if age == 5 else "completed", ended_at=now - age * DAY)
            for (_, age), run in runs.items()
        ]
    )
    tenants = TenantRegistry()
    tenants.replace([(LONG, "long", '{"retention_days":100}'), (SHORT, "short", '{"retention_days":2}')])
    retention = Retention(store, SystemClock(), keep, tenants=tenants)
    while await retention.poll() < 1:
        pass
    left = {
        tenant: {age for age in (1, 5, 20, 200) if await store.run(tenant, runs[tenant, age].id) is not None}
        for tenant in (LONG, SHORT, USUAL)
    }
    assert left == {LONG: {1, 5, 20}, SHORT: {1}, USUAL: {1, 5} if keep else {1, 5, 20, 200}}
