"""Entity events: stored in batches, known by their ids, taken once, ended in batches, on every store."""

from __future__ import annotations

import asyncio
import json

import pytest

from detent.ids import new_id
from detent.store.events import AddedEvent, NewEvent
from detent.store.letters import NO_WORKFLOW, NewLetter
from detent.store.protocol import Store
from detent.store.rule_rows import NewEntity
from detent.store.tenants import TenantStatus

LEASE = 30.0
NO_WAIT = -1.0


def event(entity: str = "order", operation: str = "update", record: str | None = "1", **more: object) -> NewEvent:
    data = json.dumps({"entity": entity, "after": {"né": "it's a \\ trap \\u0000"}}).encode()
    return NewEvent(new_id(), 1, entity, operation, record, data)._replace(**more)  # type: ignore[arg-type]


async def entity(store: Store, name: str = "order", tenant: int = 1) -> None:
    assert await store.add_entity(NewEntity(tenant, new_id(), name, name.title(), None))


async def taken(store: Store, limit: int = 100) -> list[bytes]:
    return [row.id for row in await store.take_events(limit=limit, lease=LEASE)]


async def test_events_are_stored_as_they_are_and_answered_with_the_revision_of_their_entity(store: Store) -> None:
    await entity(store)
    await entity(store, "customer")
    events = [event(), event("customer", "create", None, dedup="né"), event("unknown", "delete", record="x" * 255)]
    added = await store.add_events(events, head_start=NO_WAIT)
    assert added == [AddedEvent(True, 1), AddedEvent(True, 1), AddedEvent(True, None)]
    rows = await store.take_events(limit=9, lease=LEASE)
    assert [row[:7] for row in rows] == [tuple(new) for new in sorted(events)]
    assert [row.revision for row in rows] == [1, 1, None]
    assert all(row.until is not None and row.until > row.at for row in rows)


async def test_events_end_with_their_dead_letters_and_each_letter_is_added_once(store: Store) -> None:
    first, second = event(), event("unknown")
    await store.add_events([first, second], head_start=NO_WAIT)
    dead = NewLetter(
        id=second.id, tenant=1, kind="event", workflow=NO_WORKFLOW, run=None, step=None, source=None, trigger=None,
        reason="no_entity", message="there is no entity", payload=second.data, attempts=1, last_error=None,
    )  # fmt: skip
    for _ in range(2):
        await store.end_events([first.id], [second.id], [dead])
    assert await store.count_events(limit=9) == 0
    [row] = await store.letters(1, limit=9)
    assert (row.id, row.workflow, row.workflow_name, row.payload) == (second.id, NO_WORKFLOW, "", second.data)
    await store.end_events([], [], [dead._replace(id=first.id)])
    assert len(await store.letters(1, limit=9)) == 2


async def test_an_event_with_a_known_id_is_left_out_and_the_others_are_stored(store: Store) -> None:
    await entity(store)
    first = event(dedup="a")
    assert await store.add_events([first], head_start=NO_WAIT) == [AddedEvent(True, 1)]
    again, other, twice = event(dedup="a"), event(dedup="A"), event(dedup="A ")
    added = await store.add_events([again, other, twice, event(dedup="A "), first], head_start=NO_WAIT)
    assert [one.is_new for one in added] == [False, True, True, False, False]
    assert [one.revision for one in added] == [1] * 5
    of_another = event(dedup="a", tenant=2)
    assert (await store.add_events([of_another], head_start=NO_WAIT))[0].is_new, "ids are those of a tenant"
    assert sorted(await taken(store)) == sorted([first.id, other.id, twice.id, of_another.id])


async def test_an_event_is_taken_after_its_head_start_and_by_one(store: Store) -> None:
    early, late = event(), event()
    await store.add_events([early], head_start=NO_WAIT)
    await store.add_events([late], head_start=LEASE)
    assert await taken(store) == [early.id]
    assert await taken(store) == [], "it is taken for a while"
    await store.defer_events([early.id, late.id, new_id()], pause=NO_WAIT)
    assert await taken(store, limit=1) == [early.id]
    assert await taken(store) == [late.id]
    assert await store.count_events(limit=9) == 2
    assert await store.count_events(limit=1) == 1


async def test_an_event_that_was_taken_by_a_clock_that_was_wrong_is_taken_again(store: Store) -> None:
    ahead = event()
    await store.add_events([ahead], head_start=3600.0)
    assert await taken(store) == [ahead.id]


async def test_ended_events_are_gone_or_samples_and_never_taken_again(store: Store) -> None:
    events = [event(record=str(number)) for number in range(6)]
    other = event("customer")
    await store.add_events([*events, other], head_start=NO_WAIT)
    await store.end_events([one.id for one in events[:2]], [one.id for one in events[2:]])
    assert await taken(store) == [other.id]
    newest = await store.samples(1, "order", limit=3)
    assert [row.record for row in newest] == ["5", "4", "3"]
    assert all(row.until is None and row.data == events[0].data for row in newest)
    await store.defer_events([events[5].id], pause=NO_WAIT)
    assert await taken(store) == [], "a sample stays one"
    assert await store.prune_samples(1, "order", keep=3) == 1
    assert await store.prune_samples(1, "order", keep=3) == 0
    assert [row.record for row in await store.samples(1, "order", limit=9)] == ["5", "4", "3"]
    assert await store.samples(2, "order", limit=9) == []
    await store.end_events([], [])


async def test_a_sample_is_known_by_its_id(store: Store) -> None:
    first = event(dedup="a")
    await store.add_events([first], head_start=NO_WAIT)
    await store.end_events([], [first.id])
    assert [one.is_new for one in await store.add_events([event(dedup="a")], head_start=NO_WAIT)] == [False]
    await store.end_events([first.id], [])
    assert [one.is_new for one in await store.add_events([event(dedup="a")], head_start=NO_WAIT)] == [True]


async def test_an_older_open_event_of_the_same_record_is_found(store: Store) -> None:
    first, other, second = event(), event(record="2"), event()
    await store.add_events([first, other, second], head_start=LEASE)
    assert not await store.has_older_event(first)
    assert not await store.has_older_event(other)
    assert await store.has_older_event(second)
    await store.end_events([], [first.id])
    assert not await store.has_older_event(second), "a sample has ended"


@pytest.mark.slow
async def test_of_many_that_take_events_at_once_each_event_goes_to_one(store: Store) -> None:
    events = [event(record=str(number)) for number in range(60)]
    await store.add_events(events, head_start=NO_WAIT)
    found = await asyncio.gather(*(taken(store, limit=20) for _ in range(6)))
    every = [one for some in found for one in some] + await taken(store)
    assert sorted(every) == sorted(one.id for one in events)


@pytest.mark.slow
async def test_many_that_store_the_same_events_at_once_store_each_once(store: Store) -> None:
    batches = [[event(dedup=f"e{number}") for number in range(20)] for _ in range(5)]
    for number, batch in enumerate(batches):
        batch.sort(key=lambda new: new.dedup or "", reverse=bool(number % 2))
    added = await asyncio.gather(*(store.add_events(batch, head_start=NO_WAIT) for batch in batches))
    assert sum(one.is_new for some in added for one in some) == 20
    assert len(await taken(store)) == 20


async def test_events_of_a_suspended_tenant_wait_until_it_is_resumed(store: Store) -> None:
    made = await store.add_tenant(f"asleep-{new_id().hex()}", None)
    assert made is not None
    asleep, awake = event(tenant=made.id), event()
    await store.add_events([asleep, awake], head_start=NO_WAIT)
    await store.change_tenant(made.id, status=TenantStatus.SUSPENDED)
    assert await taken(store) == [awake.id]
    await store.change_tenant(made.id, status=TenantStatus.ACTIVE)
    assert await taken(store) == [asleep.id]
