"""Runs and the runs that they started: which exist, which lost their parent, and which retention spares."""

from typing import Any

import pytest

from detent.ids import new_id
from detent.store.list_rows import Orphan
from detent.store.protocol import Store
from detent.store.rows import NO_ID, MessageKind
from tests.store.make import HOUR, NOON, Node, end, message, start


async def child_of(node: Node, parent: bytes, **given: Any) -> bytes:
    return await node.started(parent=parent, **given)


async def orphans(store: Store, since: int = NOON) -> list[bytes]:
    return [one.run for one in await store.orphans(since=since, after=NO_ID, limit=100)]


async def test_which_runs_exist_is_one_question(store: Store) -> None:
    node = await Node.register(store)
    going, over = await node.started(), await node.started()
    await node.flush(ends=[end(over)])
    assert await store.existing([going, new_id(), over]) == {going, over}
    assert await store.existing([]) == set()


async def test_more_runs_are_asked_for_than_fit_into_one_statement(store: Store) -> None:
    node = await Node.register(store)
    first, last = await node.started(), await node.started()
    assert await store.existing([first, *(new_id() for _ in range(2_500)), last]) == {first, last}


@pytest.mark.parametrize("status", ["failed", "cancelled", "timeout"])
async def test_open_children_of_a_parent_that_did_not_complete_are_orphans(store: Store, status: str) -> None:
    node = await Node.register(store)
    parent, other = await node.started(), await node.started()
    opened = await child_of(node, parent, tenant=1, opening=b'{"x":1}')
    over = await child_of(node, parent)
    await child_of(node, other)
    await node.flush(ends=[end(over)])
    assert await orphans(store) == []
    await node.flush(ends=[end(parent, status=status)])
    assert await store.orphans(since=NOON, after=NO_ID, limit=9) == [Orphan(1, opened, b'{"x":1}', parent, status)]
    assert await orphans(store, NOON + 1) == [], "it ended before"


async def test_children_of_a_parent_that_completed_are_no_orphans(store: Store) -> None:
    node = await Node.register(store)
    parent = await node.started()
    await child_of(node, parent)
    await node.flush(ends=[end(parent)])
    assert await orphans(store) == []


async def test_an_orphan_with_an_unread_cancel_is_left_out(store: Store) -> None:
    node = await Node.register(store)
    parent = await node.started()
    by_flush, by_send, signalled = [await child_of(node, parent) for _ in range(3)]
    await node.flush(ends=[end(parent, status="failed")], messages=[message(by_flush, parent, -1)])
    await store.send(1, by_send, MessageKind.CANCEL, b"{}")
    await store.send(1, signalled, MessageKind.SIGNAL, b"{}")
    assert await orphans(store) == [signalled]


async def test_orphans_come_by_their_ids_a_few_at_a_time(store: Store) -> None:
    node = await Node.register(store)
    parents = [await node.started() for _ in range(3)]
    children = sorted([await child_of(node, parent) for parent in parents for _ in range(3)])
    await node.flush(ends=[end(parent, status="failed") for parent in parents])
    seen, after = list[bytes](), NO_ID
    while found := await store.orphans(since=NOON, after=after, limit=4):
        after = found[-1].run
        seen += [one.run for one in found]
    assert seen == children


async def test_a_setting_that_is_stored_can_be_changed(store: Store) -> None:
    await store.change_setting("mark", "0")
    assert await store.setting("mark", "1") == "1", "it was not there"
    await store.change_setting("mark", "2")
    assert await store.setting("mark", "3") == "2"


async def test_prune_spares_a_run_whose_parent_is_open(store: Store) -> None:
    node = await Node.register(store)
    parent, over = await node.started(), await node.started()
    spared, free, alone = await child_of(node, parent), await child_of(node, over), await node.started()
    lost = await child_of(node, new_id())
    runs = [spared, free, alone, lost]
    await node.flush(ends=[*(end(run, ended_at=NOON - HOUR) for run in runs), end(over, ended_at=NOON + HOUR)])
    counts = [await store.prune(before=NOON, statuses=["completed"], limit=10) for _ in range(2)]
    assert counts == [3, 0]
    assert {row.id for row in await store.runs(1, limit=10)} == {parent, over, spared}
    await node.flush(ends=[end(parent, ended_at=NOON + HOUR)])
    assert await store.prune(before=NOON, statuses=["completed"], limit=10) == 1
    assert await store.existing([spared]) == set()


async def test_prune_finds_old_runs_behind_many_that_it_spares(store: Store) -> None:
    """They ended at the same moment, or one after the other; each call looks at a few."""
    node = await Node.register(store)
    parent = await node.started()
    spared = [start(owned=True, parent=parent) for _ in range(40)]
    old = [start(owned=True) for _ in range(7)]
    ends = [end(run.id, ended_at=NOON + number // 20) for number, run in enumerate([*spared, *old])]
    await node.flush(starts=[*spared, *old], ends=ends)
    for _ in range(2):
        deleted = 0
        while count := await store.prune(before=NOON + HOUR, statuses=["completed"], limit=3):
            assert count <= 3
            deleted += count
        assert deleted == len(old)
        await node.flush(starts=(again := [start(owned=True) for _ in old]), ends=[end(run.id) for run in again])
    assert await store.existing([run.id for run in spared]) == {run.id for run in spared}
