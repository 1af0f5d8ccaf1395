"""Two nodes on one database: many slots that are due at once are started once each."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from detent.auth.caller import local_caller
from detent.ids import TRIGGER, parse
from detent.instant import SECOND
from detent.store.protocol import Store
from detent.store.rows import RunCriteria
from detent.store.trigger_rows import NewTrigger
from tests.api.server import Detent, serving

SLOTS = 300
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}'


async def _back_in_time(detent: Detent, trigger: str) -> None:
    """Let a schedule stand as if nobody had looked at it for so many seconds."""
    store = detent.app.store
    row = await store.trigger(local_caller("test").tenant, parse(TRIGGER, trigger))
    assert row is not None
    changed = NewTrigger(*(getattr(row, name) for name in NewTrigger._fields))
    since = (await store.now() // SECOND - SLOTS) * SECOND
    assert await store.change_trigger(changed._replace(enabled=True, next_at=since), seen=row.updated_at)


async def _begun(store: Store, where: RunCriteria) -> None:
    while True:
        if await store.count_runs(local_caller("test").tenant, where=where, limit=SLOTS) == SLOTS:
            return
        await asyncio.sleep(0.2)  # the store is asked, as nothing tells when the last one began


@pytest.mark.slow
@pytest.mark.case("C8")
@pytest.mark.parametrize("database_url", ["postgres", "mariadb"], indirect=True)
async def test_two_nodes_start_each_of_many_slots_once(database_url: str) -> None:
    async with serving(database_url) as first, serving(database_url) as second:
        await first.save(ECHO)
        body = {"workflow": "echo", "type": "cron", "cron_expression": "* * * * * *", "missed": "all", "enabled": False}
        trigger = (await first.call("POST", "/api/v1/triggers", json=body)).json["data"]["id"]
        await _back_in_time(first, trigger)
        where, store = RunCriteria(fired_by=parse(TRIGGER, trigger)), first.app.store
        async with asyncio.timeout(300):
            await _begun(store, where)
        await second.call("POST", f"/api/v1/triggers/{trigger}/pause", json={})
        await asyncio.sleep(0.5)  # a second start would come now
        rows = await store.runs(local_caller("test").tenant, limit=2 * SLOTS, where=where)
        slots = Counter(row.input for row in rows)
        assert len(rows) >= SLOTS
        assert set(slots.values()) == {1}
