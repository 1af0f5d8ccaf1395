"""The walls between tenants in every store: what another tenant has is not there."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidInput
from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import SavedVersion
from detent.store.tenants import Owned, TenantStatus
from detent.store.trigger_rows import FiringState, OverlapRule, Verdict
from tests.store.make import (
    HOUR,
    NOON,
    Node,
    activation,
    callback,
    end,
    entries,
    entry,
    firing,
    start,
    trigger,
    version,
)


async def saved(store: Store, **given: Any) -> bytes:
    made = await store.save_workflow(version(**given), replace=True)
    assert isinstance(made, SavedVersion)
    return made.id


async def test_what_belongs_to_a_run_is_read_by_its_tenant_only(store: Store) -> None:
    node = await Node.register(store)
    new = start(owned=True)
    await node.flush(starts=[new], callbacks=[callback(new.id)], activations=[activation(new.id)])
    await node.flush(entries=entries(new.id, 2))
    assert [found.seq for found in await store.journal(1, new.id)] == [1, 2]
    assert await store.journal(2, new.id) == []
    assert [found.seq for found in (await store.journals_of(1, [new.id, new_id()]))[new.id]] == [1, 2]
    assert await store.journals_of(2, [new.id]) == {}
    assert await store.step_ends(2, [new.id], ["s1"]) == []
    assert len(await store.callbacks(1, new.id)) == 1
    assert await store.callbacks(2, new.id) == []
    assert await store.kept(2, new.id) == {}
    assert await store.ended(1, [new.id]) == set()
    assert await store.ended(2, [new.id]) == {new.id}, "to another tenant it does not exist"
    assert set(await store.count_steps(1, [new.id])) == {new.id}
    assert await store.count_steps(2, [new.id]) == {}
    assert len(await store.entry_marks(1, [new.id], limit=9)) == 2
    assert await store.entry_marks(2, [new.id], limit=9) == []


async def test_what_another_tenant_has_cannot_be_changed(store: Store) -> None:
    workflow = await saved(store)
    assert await store.workflow_names(2, [workflow]) == {}
    assert not await store.enable_workflow(2, workflow, enabled=False)
    assert await store.change_status(2, workflow, "archived") is None
    new = trigger(workflow, next_at=NOON)
    assert await store.add_trigger(new)
    assert not await store.take_slots(2, new.id, seen=NOON, next_at=None, firings=[firing(new, slot=NOON)])
    [row] = await store.add_firings([firing(new)])
    turn = await store.begin_firing(2, row.id, overlap=OverlapRule.SKIP, lease=60, most_queued=1)
    assert turn.verdict is Verdict.OVER
    await store.end_firing(2, row.id, state=FiringState.IGNORED, run=None, message=None)
    assert await store.firing(1, row.id) == row
    kept = await store.workflow(1, workflow)
    assert kept is not None
    assert (kept.enabled, kept.status) == (True, "active")


async def test_a_public_address_finds_the_tenant_of_its_object(store: Store) -> None:
    node = await Node.register(store)
    run = start(tenant=7)
    await node.flush(starts=[run])
    workflow = await saved(store, tenant=8)
    new = trigger(workflow, tenant=8)
    assert await store.add_trigger(new)
    assert await store.tenant_of(Owned.RUN, run.id) == 7
    assert await store.tenant_of(Owned.WORKFLOW, workflow) == 8
    assert await store.tenant_of(Owned.TRIGGER, new.id) == 8
    assert [await store.tenant_of(kind, new_id()) for kind in Owned] == [None, None, None]
    await store.delete_workflow(8, workflow)
    assert await store.tenant_of(Owned.WORKFLOW, workflow) is None
    assert await store.tenant_of(Owned.TRIGGER, new.id) is None


async def test_a_tenant_comes_back_as_it_was_given_and_its_id_is_never_used_again(store: Store) -> None:
    name = f"shop {new_id().hex()}"
    first = await store.add_tenant(name, '{"actions":[]}')
    assert first is not None
    assert first.id > 1
    assert await store.add_tenant(name, None) is None
    assert await store.tenant(first.id) == await store.tenant(name) == first
    assert (first.status, first.settings) == ("active", '{"actions":[]}')
    assert first in await store.tenants(limit=500)
    assert [row.name for row in await store.tenants(limit=1, after=name[:-1])] == [name]
    assert not await store.drop_tenant(first.id), "an active tenant is not deleted"
    stamp = await store.auth_stamp()
    suspended = await store.change_tenant(first.id, status=TenantStatus.SUSPENDED)
    assert suspended == first._replace(status="suspended")
    assert await store.auth_stamp() != stamp
    assert await store.active_tenant(name) is None
    assert first.id in {row.id for row in await store.limited_tenants()}

    def refuse(known: str | None) -> str | None:
        raise InvalidInput("not so")

    with pytest.raises(InvalidInput, match="not so"):
        await store.change_tenant(first.id, status=TenantStatus.ACTIVE, edit=refuse)
    assert await store.tenant(first.id) == suspended
    changed = await store.change_tenant(first.id, edit=lambda known: f"[{known}]")
    assert changed == suspended._replace(settings='[{"actions":[]}]')
    assert (await store.change_tenant(first.id, edit=lambda known: None)) == suspended._replace(settings=None)
    assert first.id not in {row.id for row in await store.limited_tenants()}
    assert await store.drop_tenant(first.id)
    assert await store.tenant(name) is None
    again = await store.add_tenant(name, None)
    assert again is not None
    assert again.id > first.id
    assert (await store.change_tenant(again.id, status=TenantStatus.ACTIVE)) == again
    assert await store.change_tenant(first.id, status=TenantStatus.ACTIVE) is None
    await store.change_tenant(again.id, status=TenantStatus.SUSPENDED)
    assert await store.drop_tenant(again.id)


async def test_what_a_tenant_has_is_read_in_pages_and_deleted_in_batches(store: Store) -> None:
    node = await Node.register(store)
    tenant = 5
    runs = [start(tenant=tenant) for _ in range(5)]
    await node.flush(starts=[*runs, start()], entries=[entry(run.id, tenant=tenant) for run in runs])
    workflow = await saved(store, tenant=tenant)
    await saved(store)
    found, after = [], None
    while True:
        rows, after = await store.owned_rows(tenant, "run", limit=2, after=after)
        found += [row["id"] for row in rows]
        if after is None:
            break
    assert sorted(found) == sorted(run.id for run in runs)
    assert len((await store.owned_rows(tenant, "journal", limit=9))[0]) == 5
    deleted = 0
    while count := await store.wipe_tenant(tenant, limit=3):
        deleted += count
    assert deleted >= 5 + 5 + 1
    assert await store.workflow(tenant, workflow) is None
    assert await store.runs(tenant, limit=9) == []
    assert len(await store.runs(1, limit=9)) == 1
    assert await store.workflow(1, "orders") is not None


async def test_runs_of_a_tenant_with_a_retention_of_its_own_are_pruned_by_it_alone(store: Store) -> None:
    node = await Node.register(store)
    # The ids of runs say when they were started, and a run ends later than it starts.
    now = await store.now()
    own, failed, page, other = [start(owned=True, tenant=tenant) for tenant in (6, 6, 6, 7)]
    child = start(owned=True, tenant=6, parent=page.id)
    old = now + 2 * HOUR
    ends = [end(run.id, ended_at=old) for run in (own, child, other)]
    await node.flush(starts=[own, failed, page, child, other])
    await node.flush(entries=[entry(run.id, tenant=run.tenant) for run in (own, other)])
    await node.flush(ends=[*ends, end(failed.id, status="failed", ended_at=old)])

    assert await store.prune(before=old + 1, statuses=["completed"], limit=9, spared=[6]) == 1
    assert await store.runs(7, limit=9) == []
    assert len(await store.runs(6, limit=9)) == 4
    assert await store.prune_tenant(6, before=old, limit=9) == 0, "they ended later"
    assert await store.prune_tenant(6, before=old + HOUR, limit=1) == 1
    assert await store.prune_tenant(6, before=old + HOUR, limit=9) == 1
    assert {row.id for row in await store.runs(6, limit=9)} == {page.id, child.id}, "a child of an open run is spared"
    assert await store.journal(6, own.id) == []
    await node.flush(ends=[end(page.id, ended_at=old)])
    assert sum([await store.prune_tenant(6, before=old + HOUR, limit=9) for _ in range(3)]) == 2
    assert await store.runs(6, limit=9) == []


async def test_slots_and_firings_of_a_suspended_tenant_wait_until_it_is_resumed(store: Store) -> None:
    made = await store.add_tenant(f"asleep-{new_id().hex()}", None)
    assert made is not None
    now = await store.now()
    new = trigger(await saved(store, tenant=made.id), tenant=made.id, next_at=now - HOUR)
    assert await store.add_trigger(new)
    [row] = await store.add_firings([firing(new, due_at=now - HOUR)])
    for status, found in ((TenantStatus.SUSPENDED, False), (TenantStatus.ACTIVE, True)):
        await store.change_tenant(made.id, status=status)
        assert (new.id in {one.id for one in await store.due_triggers(limit=99)}) is found
        assert (row.id in {one.id for one in await store.due_firings(limit=99)}) is found
