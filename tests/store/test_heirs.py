"""A run that takes its active key from the run it continues."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.errors import StoreBusy, StoreLocked
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.rows import Flush, NewRun, SavedVersion, StartCheck, released_key
from detent.store.sql.mysql.flush import blob
from tests.store.make import HOUR, NOON, Node, end, entries, park, start, version
from tests.store.sessions import session
from tests.store.wires import wire

KEY = '["Subscription","Customer","42"]'


async def keys(store: Store, *runs: NewRun) -> list[str | None]:
    """The active keys as they stand."""
    rows = [await store.run(run.tenant, run.id) for run in runs]
    return [None if row is None else row.active_key for row in rows]


async def raised(node: Node) -> None:
    epoch = await node.store.raise_epoch(node.id, node.epoch)
    assert epoch is not None
    node.epoch = epoch


async def saved(store: Store) -> dict[str, Any]:
    """What a start of a workflow that is saved has, and that it must be current."""
    workflow = await store.save_workflow(version(), replace=False)
    assert isinstance(workflow, SavedVersion)
    return {"workflow": workflow.id, "version": 1, "check": StartCheck.CURRENT}


@pytest.mark.parametrize("owned", [True, False])
async def test_an_heir_takes_the_key_while_the_other_run_is_open(store: Store, owned: bool) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    heir, rival = start(owned=owned, active_key=KEY, successor_of=old.id), start(active_key=KEY)
    assert await node.refused(starts=[heir]) == frozenset()
    assert await store.active_run(1, KEY) == heir.id
    assert await keys(store, old, heir) == [released_key(old.id), KEY]
    assert await node.refused(starts=[rival]) == {rival.id}
    row = await store.run(1, old.id)
    assert row is not None
    assert (row.status, row.owner, row.generation) == ("running", node.id, 1), "nothing else of it has changed"
    await node.flush(ends=[end(old.id)])
    assert await node.refused(starts=[rival]) == {rival.id}
    assert await store.active_run(1, KEY) == heir.id


async def test_a_key_goes_from_heir_to_heir_and_is_free_after_the_last(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True, active_key=KEY)]
    await node.flush(starts=runs)
    for _ in range(3):
        runs.append(start(owned=True, active_key=KEY, successor_of=runs[-1].id))
        assert await node.refused(starts=[runs[-1]]) == frozenset()
        assert await store.active_run(1, KEY) == runs[-1].id
    await node.flush(ends=[end(run.id) for run in runs])
    assert await store.active_run(1, KEY) is None
    assert await node.refused(starts=[start(active_key=KEY)]) == frozenset()


@pytest.mark.parametrize("is_first", [True, False])
async def test_of_an_heir_and_a_rival_in_one_flush_the_heir_is_made(store: Store, is_first: bool) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    heir, rival = start(owned=True, active_key=KEY, successor_of=old.id), start(active_key=KEY)
    other = start(active_key=KEY, tenant=2)
    starts = [heir, rival, other] if is_first else [rival, other, heir]
    assert await node.refused(starts=starts) == {rival.id}
    assert await store.active_run(1, KEY) == heir.id


async def test_an_heir_comes_with_the_end_of_the_other_run_or_its_park(store: Store) -> None:
    node = await Node.register(store)
    first, second = start(owned=True, active_key=KEY), start(owned=True, active_key="[2]")
    await node.flush(starts=[first, second])
    one = start(owned=True, active_key=KEY, successor_of=first.id)
    two = start(owned=True, active_key="[2]", successor_of=second.id)
    parts: dict[str, Any] = {
        "starts": [one, two],
        "ends": [end(first.id)],
        "parks": [park(second.id, wake_at=NOON - HOUR, status="paused")],
        "entries": [*entries(first.id, 1), *entries(one.id, 1)],
    }
    assert await node.refused(**parts) == frozenset()
    assert await keys(store, first, second, one, two) == [released_key(first.id), released_key(second.id), KEY, "[2]"]
    rows = [await store.run(1, run.id) for run in (first, second)]
    assert [row and (row.status, row.owner) for row in rows] == [("completed", None), ("paused", None)]
    [claimed] = await node.claim()
    assert claimed.id == second.id
    await node.flush(parks=[park(second.id, generation=2, wake_at=NOON)])
    assert await keys(store, second) == [released_key(second.id)], "whatever becomes of it, it does not get it back"


async def test_an_heir_that_ends_in_the_flush_that_starts_it_leaves_the_key_free(store: Store) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    heir = start(owned=True, active_key=KEY, successor_of=old.id)
    assert await node.refused(starts=[heir], ends=[end(heir.id)]) == frozenset()
    assert await store.active_run(1, KEY) is None
    assert await node.refused(starts=[start(active_key=KEY)]) == frozenset()


async def test_an_heir_of_a_run_that_has_ended_is_a_start_like_any_other(store: Store) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    await node.flush(ends=[end(old.id)])
    heir, late = (start(owned=True, active_key=KEY, successor_of=old.id) for _ in range(2))
    assert await node.refused(starts=[heir]) == frozenset()
    assert await node.refused(starts=[late]) == {late.id}
    assert await keys(store, old, heir) == [KEY, KEY]


async def test_nobody_inherits_from_a_run_that_is_not_his(store: Store) -> None:
    node, other = await Node.register(store), await Node.register(store)
    mine, foreign, free = (
        start(owned=True, active_key="[1]"),
        start(owned=True, active_key="[2]"),
        start(active_key="[3]"),
    )
    await node.flush(starts=[mine])
    await other.flush(starts=[foreign])
    await node.flush(starts=[free])
    heirs = [
        start(active_key="[1]", successor_of=foreign.id),
        start(active_key="[2]", successor_of=foreign.id),
        start(active_key="[3]", successor_of=free.id),
    ]
    for heir in heirs:
        assert await node.refused(starts=[heir]) == {heir.id}
    elsewhere = start(active_key="[1]", successor_of=mine.id, tenant=2)
    assert await node.refused(starts=[elsewhere]) == frozenset()
    assert await keys(store, mine, foreign, free, elsewhere) == ["[1]", "[2]", "[3]", "[1]"]


async def test_a_run_keeps_its_key_if_its_heir_is_refused(store: Store) -> None:
    node, known = await Node.register(store), await saved(store)
    old, taken = start(owned=True, active_key=KEY), start(request_id="r")
    await node.flush(starts=[old, taken])
    stale = start(owned=True, active_key=KEY, successor_of=old.id, **{**known, "version": 2})
    again = start(owned=True, active_key=KEY, successor_of=old.id, request_id="r")
    neighbour = start(owned=True)
    for heir in (stale, again):
        written = [*entries(heir.id, 2), *entries(neighbour.id, 2)]
        assert await node.refused(starts=[heir, neighbour], entries=written) == {heir.id}
        assert await store.active_run(1, KEY) == old.id
        assert await keys(store, old, heir) == [KEY, None]
        assert await store.journal(1, heir.id) == []
        assert len(await store.journal(1, neighbour.id)) == 2
        neighbour = start(owned=True)
    heir = start(owned=True, active_key=KEY, successor_of=old.id, **known)
    assert await node.refused(starts=[heir]) == frozenset()
    assert await store.active_run(1, KEY) == heir.id


@pytest.mark.parametrize("ended", [False, True])
async def test_a_hand_over_that_is_sent_again_counts_once(store: Store, ended: bool) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    heir, rival = start(owned=True, active_key=KEY, successor_of=old.id), start(active_key=KEY)
    parts: dict[str, Any] = {
        "starts": [heir, rival],
        "entries": entries(heir.id, 2),
        "ends": [end(old.id)] if ended else [],
    }
    assert await node.refused(**parts) == {rival.id}
    await raised(node)
    assert await node.refused(again=True, **parts) == {rival.id}
    assert await keys(store, old, heir) == [released_key(old.id), KEY]
    assert len(await store.journal(1, heir.id)) == 2


async def test_a_hand_over_whose_first_sending_never_arrived_is_made_by_the_second(store: Store) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    await raised(node)
    heir = start(owned=True, active_key=KEY, successor_of=old.id)
    assert await node.refused(again=True, starts=[heir], entries=entries(heir.id, 1)) == frozenset()
    assert await keys(store, old, heir) == [released_key(old.id), KEY]


async def test_a_node_that_is_gone_hands_nothing_over(store: Store) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    heir = start(owned=True, active_key=KEY, successor_of=old.id)
    stale = Node(store, node.id, node.epoch)
    await raised(node)
    assert not await stale.flush(starts=[heir])
    assert await keys(store, old, heir) == [KEY, None]
    assert await store.active_run(1, KEY) == old.id


async def test_no_rival_of_another_process_gets_in_between(store: Store, store_url: str) -> None:
    shared = not store_url.startswith(("postgresql", "mysql"))
    elsewhere = store if shared else await open_store(store_url, SystemClock())
    node, other = await Node.register(store), await Node.register(elsewhere)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    handing = asyncio.create_task(_hand_over_often(node, old, 60))
    tried = 0
    try:
        while not handing.done() or tried <= 5:
            rival = start(active_key=KEY)
            tried += 1
            try:
                assert await other.refused(starts=[rival]) == {rival.id}
            except StoreBusy:  # a deadlock, or too long a wait
                continue
            await asyncio.sleep(0)
        last = await handing
    finally:
        handing.cancel()
        if not shared:
            await elsewhere.close()
    assert await store.active_run(1, KEY) == last.id
    assert tried > 5


async def _hand_over_often(node: Node, old: NewRun, times: int) -> NewRun:
    for _ in range(times):
        heir = start(owned=True, active_key=KEY, successor_of=old.id)
        while True:
            try:
                assert await node.refused(starts=[heir]) == frozenset()
                break
            except StoreBusy:
                continue
        await node.flush(ends=[end(old.id)])
        await asyncio.sleep(0)
        old = heir
    return old


async def test_a_hundred_runs_hand_over_in_one_flush(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True, active_key=f"k{number}") for number in range(100)]
    await node.flush(starts=runs)
    heirs = [start(owned=True, active_key=run.active_key, successor_of=run.id) for run in runs]
    made = [found for heir in heirs for found in entries(heir.id, 1)]
    assert await node.refused(starts=heirs, entries=made, ends=[end(run.id) for run in runs]) == frozenset()
    assert [await store.active_run(1, f"k{number}") for number in range(100)] == [heir.id for heir in heirs]


@asynccontextmanager
async def held(url: str, run: bytes) -> AsyncIterator[None]:
    """Somebody's open transaction has the row of a run."""
    if url.startswith("mysql"):
        async with wire(url) as other:
            await other.send(f"start transaction; select 1 from run where id = {blob(run)} lock in share mode")
            yield
            await other.send("rollback")
    else:
        async with session(url) as outsider, outsider.transaction():
            await outsider.fetch("select 1 from run where id = $1 for share", run)
            yield


@pytest.mark.parametrize("store_url", ["postgres", "mariadb"], indirect=True)
async def test_a_hand_over_that_may_not_wait_for_an_open_transaction_is_not_made(store: Store, store_url: str) -> None:
    node = await Node.register(store)
    old = start(owned=True, active_key=KEY)
    await node.flush(starts=[old])
    heir = start(owned=True, active_key=KEY, successor_of=old.id)
    async with held(store_url, old.id):
        with pytest.raises(StoreLocked):
            async with asyncio.timeout(300):
                await store.flush(node.id, node.epoch, Flush(starts=[heir]), patience=0.1)
        assert await keys(store, old, heir) == [KEY, None]
    flushed = await store.flush(node.id, node.epoch, Flush(starts=[heir]), patience=0.1)
    assert flushed is not None
    assert not flushed.refused
    assert await keys(store, old, heir) == [released_key(old.id), KEY]
