"""Nodes, leases and the fence: what was sent under an old epoch never takes effect."""

import asyncio

import pytest

from detent.errors import StoreError
from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import Flush
from tests.store.make import Node, end, entries, entry, park, start


async def test_a_new_node_begins_with_epoch_one_and_hears_the_databases_time(store: Store) -> None:
    before = await store.now()
    epoch, now = await store.register(new_id(), ttl=10)
    assert epoch == 1
    assert before <= now <= await store.now()


async def test_a_node_id_cannot_be_registered_twice(store: Store) -> None:
    node = await Node.register(store)
    with pytest.raises(StoreError):
        await store.register(node.id, ttl=10)


async def test_an_empty_flush_of_a_registered_node_is_confirmed(store: Store) -> None:
    node = await Node.register(store)
    before = await store.now()
    flushed = await store.flush(node.id, node.epoch, Flush())
    assert flushed is not None
    assert before <= flushed.now <= await store.now()
    assert flushed.expired == frozenset()


async def test_a_node_that_never_registered_writes_nothing(store: Store) -> None:
    run = start(owned=True)
    assert await store.flush(new_id(), 1, Flush(starts=[run], entries=entries(run.id, 2))) is None
    assert await store.run(1, run.id) is None
    assert await store.journal(1, run.id) == []


async def test_a_flush_of_entries_alone_is_fenced_too(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    assert await store.flush(node.id, node.epoch + 1, Flush(entries=entries(run, 1))) is None
    assert await store.journal(1, run) == []


@pytest.mark.case("A6")
async def test_an_old_epoch_refuses_every_part_of_a_flush(store: Store) -> None:
    node = await Node.register(store)
    kept, parked, ended = [await node.started() for _ in range(3)]
    assert await store.raise_epoch(node.id, node.epoch) == 2
    late = Flush(
        starts=[start(owned=True)], entries=[entry(kept)], parks=[park(parked)], ends=[end(ended)], consumed=[1]
    )
    assert await store.flush(node.id, 1, late) is None
    assert {run for run, _ in await store.owned(node.id)} == {kept, parked, ended}
    assert await store.journal(1, kept) == []
    assert len(await store.runs(1, limit=10)) == 3
    assert await store.flush(node.id, 2, late) is not None


async def test_an_old_epoch_refuses_a_claim_and_a_release(store: Store) -> None:
    node = await Node.register(store)
    await node.flush(starts=[start()])
    mine = await node.started()
    await store.raise_epoch(node.id, 1)
    assert await store.claim(node.id, 1, limit=10, queues=None, serves=[], horizon=0) is None
    await store.release(node.id, 1, [(mine, 1)])
    assert await store.owned(node.id) == [(mine, 1)]


async def test_raising_the_epoch_again_does_no_harm(store: Store) -> None:
    node = await Node.register(store)
    first = await store.raise_epoch(node.id, 1)
    second = await store.raise_epoch(node.id, 1)
    assert first == 2
    assert second is not None
    assert second >= first
    assert await store.flush(node.id, second, Flush()) is not None


async def test_a_node_that_is_gone_cannot_raise_its_epoch(store: Store) -> None:
    assert await store.raise_epoch(new_id(), 1) is None


async def test_a_living_node_is_neither_overdue_nor_taken_over(store: Store) -> None:
    node = await Node.register(store, ttl=60)
    assert await store.overdue() == []
    assert not await store.take_over(node.id)
    assert await node.flush()


async def test_a_node_whose_lease_is_over_is_overdue_until_it_is_taken_over_once(store: Store) -> None:
    dead = await Node.register(store, ttl=-1)
    await Node.register(store, ttl=60)
    assert await store.overdue() == [dead.id]
    assert await store.take_over(dead.id)
    assert not await store.take_over(dead.id)
    assert await store.overdue() == []


async def test_an_overdue_node_goes_on_until_somebody_takes_it_over(store: Store) -> None:
    """Safety never depends on time: the fence reads no clock."""
    node = await Node.register(store, ttl=-1)
    run = await node.started()
    assert await node.flush(entries=entries(run, 1))
    assert await store.take_over(node.id)
    assert not await node.flush(entries=[entry(run, 2)])
    assert len(await store.journal(1, run)) == 1


async def test_a_heartbeat_prolongs_the_lease(store: Store) -> None:
    node = await Node.register(store, ttl=-1)
    before = await store.now()
    now = await store.beat(node.id, ttl=60)
    assert now is not None
    assert before <= now <= await store.now()
    assert await store.overdue() == []
    assert not await store.take_over(node.id)


async def test_the_heartbeat_of_a_node_that_is_gone_says_so(store: Store) -> None:
    node = await Node.register(store, ttl=-1)
    await store.take_over(node.id)
    assert await store.beat(node.id, ttl=60) is None
    assert await store.overdue() == []


async def test_a_retired_node_is_fenced_and_its_runs_can_be_claimed(store: Store) -> None:
    old, new = await Node.register(store), await Node.register(store)
    run = await old.started()
    await store.retire(old.id)
    assert not await old.flush(entries=entries(run, 1))
    [claimed] = await new.claim()
    assert (claimed.id, claimed.adopted) == (run, True)


async def test_taking_over_leaves_the_runs_where_they_were(store: Store) -> None:
    dead = await Node.register(store, ttl=-1)
    run = await dead.started()
    await store.take_over(dead.id)
    row = await store.run(1, run)
    assert row is not None
    assert (row.owner, row.generation) == (dead.id, 1)


@pytest.mark.case("A10")
async def test_of_two_rescuers_one_takes_over(store: Store) -> None:
    dead = await Node.register(store, ttl=-1)
    won = await asyncio.gather(*(store.take_over(dead.id) for _ in range(4)))
    assert sorted(won) == [False, False, False, True]


async def test_a_heart_keeps_its_node_alive(store: Store) -> None:
    node = await Node.register(store, ttl=2)
    heartbeat = store.heartbeat(node.id, ttl=60, interval=0.1)
    heartbeat.start()
    began = heartbeat.confirmed()
    async with asyncio.timeout(300):
        while heartbeat.confirmed() <= began + 2:  # beyond the time it was registered for
            heartbeat.touch()
            await asyncio.sleep(0.1)
    assert not heartbeat.lost()
    assert await store.overdue() == []
    await heartbeat.stop()
