"""Triggers: what is kept of them, and how slots are taken."""

import asyncio
from typing import Any

from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import SavedVersion
from detent.store.trigger_rows import NewTrigger, TriggerRow
from tests.store.make import HOUR, NOON, firing, trigger, version

LONG_AGO = NOON - 5000 * HOUR
AWKWARD = '{"a":"\\u0000 \' \\" 🧾","b":[1]}'


async def workflow(store: Store, name: str = "orders", **given: Any) -> bytes:
    saved = await store.save_workflow(version(name, **given), replace=True)
    assert isinstance(saved, SavedVersion)
    return saved.id


async def added(store: Store, **given: Any) -> NewTrigger:
    new = trigger(given.pop("workflow", None) or await workflow(store), **given)
    assert await store.add_trigger(new)
    return new


async def row_of(store: Store, new: NewTrigger) -> TriggerRow:
    row = await store.trigger(new.tenant, new.id)
    assert row is not None
    return row


async def test_a_trigger_comes_back_as_it_was_given(store: Store) -> None:
    before = await store.now()
    new = await added(
        store, name="n", config=AWKWARD, condition="a == 'b'", key="order.*", next_at=NOON, note="why", kind="event"
    )
    row = await row_of(store, new)
    for name in new._fields:
        assert getattr(row, name) == getattr(new, name), name
    assert (row.workflow_name, row.workflow_enabled, row.last_at) == ("orders", True, None)
    assert before <= row.created_at == row.updated_at <= await store.now()
    assert isinstance(row.enabled, bool)
    assert isinstance(row.owned, bool)


async def test_a_trigger_needs_a_workflow_of_its_tenant_that_is_there(store: Store) -> None:
    kept = await workflow(store)
    assert not await store.add_trigger(trigger(new_id()))
    assert not await store.add_trigger(trigger(kept, tenant=2))
    await store.delete_workflow(1, kept)
    assert not await store.add_trigger(trigger(kept))


async def test_adding_a_trigger_twice_adds_it_once(store: Store) -> None:
    new = await added(store)
    assert await store.add_trigger(new)
    assert len(await store.triggers(1, limit=9)) == 1


async def test_triggers_are_listed_by_id_and_narrowed(store: Store) -> None:
    one, two = await workflow(store), await workflow(store, "other")
    made = [
        await added(store, workflow=one),
        await added(store, workflow=two, kind="event", key="k"),
        await added(store, workflow=one, enabled=False),
        await added(store, workflow=one, kind="webhook"),
    ]
    ids = [new.id for new in made]

    async def listed(**given: Any) -> list[int]:
        return [ids.index(row.id) for row in await store.triggers(1, **{"limit": 9, **given})]

    assert await listed() == [0, 1, 2, 3]
    assert await listed(limit=2) == [0, 1]
    assert await listed(after=ids[1]) == [2, 3]
    assert await listed(workflow=one) == [0, 2, 3]
    assert await listed(workflow=one, kind="cron", enabled=False) == [2]
    assert await listed(enabled=True) == [0, 1, 3]
    assert await listed(kind="'; drop table trigger; --") == []
    assert await store.triggers(2, limit=9) == []
    await store.drop_trigger(1, ids[0])
    assert await listed() == [1, 2, 3]


async def test_listeners_are_the_enabled_event_triggers_of_these_keys(store: Store) -> None:
    kept = await workflow(store)
    heard = [await added(store, workflow=kept, kind="event", key=key) for key in ("order.paid", "order.*", "a'b\"c")]
    await added(store, workflow=kept, kind="event", key="order.paid", enabled=False)
    await added(store, workflow=kept, kind="event", key="other")
    await added(store, workflow=kept, kind="webhook", key="order.paid")
    dropped = await added(store, workflow=kept, kind="event", key="order.paid")
    await store.drop_trigger(1, dropped.id)
    found = await store.listeners(1, ["order.paid", "order.*", "a'b\"c", "*"])
    assert [row.id for row in found] == [new.id for new in heard]
    assert await store.listeners(1, []) == []
    assert await store.listeners(2, ["order.paid"]) == []
    await store.delete_workflow(1, kept)
    assert await store.listeners(1, ["order.paid"]) == []


async def test_a_trigger_is_changed_only_by_who_saw_it_last(store: Store) -> None:
    new = await added(store, next_at=NOON)
    seen = (await row_of(store, new)).updated_at
    changed = new._replace(
        name="x", enabled=False, config="{}", condition="c", key="k", next_at=None, note="paused",
        kind="event", workflow=new_id(), owned=True,
    )  # fmt: skip
    assert not await store.change_trigger(changed._replace(tenant=2), seen=seen)
    assert await store.change_trigger(changed, seen=seen)
    row = await row_of(store, new)
    kept = (new.tenant, new.workflow, new.kind, new.owned)
    assert (row.tenant, row.workflow, row.kind, row.owned) == kept
    assert (row.name, row.enabled, row.config, row.condition, row.key) == ("x", False, "{}", "c", "k")
    assert (row.next_at, row.note) == (None, "paused")
    assert row.updated_at > seen
    assert not await store.change_trigger(changed, seen=seen)
    assert await store.change_trigger(changed, seen=row.updated_at)
    assert (await row_of(store, new)).updated_at > row.updated_at


async def test_a_dropped_trigger_is_not_found_changed_or_fired(store: Store) -> None:
    new = await added(store, next_at=LONG_AGO)
    row = await row_of(store, new)
    assert not await store.drop_trigger(2, new.id)
    assert await store.drop_trigger(1, new.id)
    assert not await store.drop_trigger(1, new.id)
    assert await store.trigger(1, new.id) is None
    assert not await store.change_trigger(new, seen=row.updated_at)
    assert await store.due_triggers(limit=9) == []
    assert not await store.take_slots(1, new.id, seen=LONG_AGO, next_at=None, firings=[])


async def test_due_triggers_are_the_enabled_ones_whose_time_has_come_longest_due_first(store: Store) -> None:
    kept = await workflow(store)
    now = await store.now()
    late = await added(store, workflow=kept, next_at=now - 10)
    later = await added(store, workflow=kept, next_at=LONG_AGO)
    await added(store, workflow=kept, next_at=now + HOUR)
    await added(store, workflow=kept, next_at=LONG_AGO, enabled=False)
    await added(store, workflow=kept)
    other = await workflow(store, "b", tenant=2)
    foreign = await added(store, workflow=other, tenant=2, next_at=now - 20)
    assert [row.id for row in await store.due_triggers(limit=9)] == [later.id, foreign.id, late.id]
    assert [row.id for row in await store.due_triggers(limit=1)] == [later.id]


async def test_taking_slots_moves_the_trigger_on_and_adds_its_firings(store: Store) -> None:
    new = await added(store, next_at=LONG_AGO)
    fired = [firing(new, slot=LONG_AGO + number) for number in range(3)]
    assert await store.take_slots(1, new.id, seen=LONG_AGO, next_at=NOON, firings=fired)
    assert (await row_of(store, new)).next_at == NOON
    assert [row.slot for row in await store.firings(1, trigger=new.id, limit=9)] == [
        LONG_AGO + 2,
        LONG_AGO + 1,
        LONG_AGO,
    ]
    assert not await store.take_slots(1, new.id, seen=LONG_AGO, next_at=None, firings=[firing(new, slot=7)])
    assert len(await store.firings(1, trigger=new.id, limit=9)) == 3


async def test_a_slot_that_was_fired_before_is_passed_over(store: Store) -> None:
    new = await added(store, next_at=LONG_AGO)
    await store.add_firings([first := firing(new, slot=LONG_AGO)])
    fired = [firing(new, slot=LONG_AGO), second := firing(new, slot=LONG_AGO + 1)]
    assert await store.take_slots(1, new.id, seen=LONG_AGO, next_at=None, firings=fired)
    assert [row.id for row in await store.firings(1, trigger=new.id, limit=9)] == [second.id, first.id]
    assert (await row_of(store, new)).next_at is None


async def test_a_paused_trigger_has_no_slots_to_take(store: Store) -> None:
    new = await added(store, next_at=LONG_AGO, enabled=False)
    assert not await store.take_slots(1, new.id, seen=LONG_AGO, next_at=NOON, firings=[firing(new, slot=1)])
    assert await store.firings(1, trigger=new.id, limit=9) == []


async def test_c8_of_many_that_take_a_slot_at_once_one_has_it(store: Store) -> None:
    new = await added(store, next_at=LONG_AGO)
    for slot in range(LONG_AGO, LONG_AGO + 20):
        won = await asyncio.gather(
            *(
                store.take_slots(1, new.id, seen=slot, next_at=slot + 1, firings=[firing(new, slot=slot)])
                for _ in range(4)
            )
        )
        assert sum(won) == 1
    assert len(await store.firings(1, trigger=new.id, limit=99)) == 20


async def owned(store: Store, kept: bytes) -> TriggerRow | None:
    found = [row for row in await store.triggers(1, limit=9, workflow=kept) if row.owned]
    assert len(found) <= 1
    return found[0] if found else None


async def test_saving_a_workflow_puts_its_trigger_in_the_place_of_the_one_before(store: Store) -> None:
    def cron(**given: Any) -> NewTrigger:
        return trigger(new_id(), owned=True, **given)

    kept = await workflow(store, owned_trigger=cron(next_at=NOON))
    first = await owned(store, kept)
    assert first is not None
    assert first.workflow == kept
    other = await added(store, workflow=kept, kind="webhook")
    await workflow(store, owned_trigger=cron(next_at=NOON + 5, name="same config"))
    same = await owned(store, kept)
    assert same is not None
    assert (same.id, same.next_at, same.name) == (first.id, NOON, "same config")
    assert same.updated_at > first.updated_at
    await workflow(store, owned_trigger=cron(next_at=NOON + 5, config="{}"))
    changed = await owned(store, kept)
    assert changed is not None
    assert (changed.id, changed.next_at, changed.config) == (first.id, NOON + 5, "{}")
    await workflow(store, owned_trigger=cron(kind="event", key="k"))
    replaced = await owned(store, kept)
    assert replaced is not None
    assert (replaced.id != first.id, replaced.kind, replaced.key) == (True, "event", "k")
    await workflow(store, owned_trigger=None)
    assert await owned(store, kept) is None
    assert [row.id for row in await store.triggers(1, limit=9)] == [other.id]


async def test_a_trigger_that_a_person_paused_stays_paused_when_its_definition_changes(store: Store) -> None:
    kept = await workflow(store, owned_trigger=trigger(new_id(), owned=True, next_at=NOON))
    row = await owned(store, kept)
    assert row is not None
    paused = trigger(kept, id=row.id, enabled=False, note="by me", config=row.config, next_at=None)
    assert await store.change_trigger(paused, seen=row.updated_at)
    await workflow(store, owned_trigger=trigger(new_id(), owned=True, config="{}", next_at=NOON + 9))
    row = await owned(store, kept)
    assert row is not None
    assert (row.enabled, row.note, row.config, row.next_at) == (False, "by me", "{}", None)


async def test_a_deleted_workflow_has_no_triggers(store: Store) -> None:
    kept = await workflow(store, owned_trigger=trigger(new_id(), owned=True, next_at=LONG_AGO))
    await added(store, workflow=kept, next_at=LONG_AGO)
    assert len(await store.due_triggers(limit=9)) == 2
    await store.delete_workflow(1, kept)
    assert await store.triggers(1, limit=9) == []
    assert await store.due_triggers(limit=9) == []


async def test_a_trigger_shows_whether_its_workflow_is_enabled(store: Store) -> None:
    new = await added(store)
    await store.enable_workflow(1, new.workflow, enabled=False)
    assert (await row_of(store, new)).workflow_enabled is False
