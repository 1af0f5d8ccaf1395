"""Workflows that are replaced, enabled and deleted, and their versions."""

import asyncio

from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import SavedVersion, Unsaved, WorkflowRow
from tests.store.make import Node, start, version


async def kept(store: Store, name: str = "orders") -> WorkflowRow:
    row = await store.workflow(1, name)
    assert row is not None
    return row


async def test_a_workflow_is_replaced_only_as_it_was_seen(store: Store) -> None:
    assert await store.save_workflow(version(), replace=True, expected=(1, 0)) is Unsaved.MISSING
    await store.save_workflow(version(), replace=True)
    first = await kept(store)
    seen = (first.version, first.updated_at)
    assert await store.save_workflow(version(checksum="c2"), replace=True, expected=(2, seen[1])) is Unsaved.CHANGED
    assert await store.save_workflow(version(checksum="c2"), replace=False, expected=seen) is Unsaved.TAKEN
    saved = await store.save_workflow(version(checksum="c2"), replace=True, expected=seen)
    assert saved[:4] == (first.id, 2, False, True)
    assert await store.save_workflow(version(checksum="c3"), replace=True, expected=seen) is Unsaved.CHANGED
    second = await kept(store)
    assert second.updated_at > first.updated_at
    await store.enable_workflow(1, first.id, enabled=False)
    seen = (second.version, second.updated_at)
    assert await store.save_workflow(version(checksum="c3"), replace=True, expected=seen) is Unsaved.CHANGED


async def test_of_many_that_replace_what_they_saw_one_does(store: Store) -> None:
    await store.save_workflow(version(), replace=True)
    row = await kept(store)
    seen = (row.version, row.updated_at)
    said = await asyncio.gather(
        *(store.save_workflow(version(checksum=f"n{n}"), replace=True, expected=seen) for n in range(5))
    )
    assert sum(isinstance(found, SavedVersion) for found in said) == 1
    assert said.count(Unsaved.CHANGED) == 4


async def test_versions_are_listed_newest_first(store: Store) -> None:
    before = await store.now()
    for number in (1, 2, 3):
        await store.save_workflow(version(checksum=f"c{number}", source=f"s{number}"), replace=True)
    row = await kept(store)
    found = await store.versions(1, row.id)
    assert [(made.version, made.checksum, made.source) for made in found] == [
        (3, "c3", "s3"),
        (2, "c2", "s2"),
        (1, "c1", "s1"),
    ]
    assert before <= found[2].created_at <= found[1].created_at <= found[0].created_at <= await store.now()
    assert await store.versions(2, row.id) == []
    assert await store.versions(1, new_id()) == []


async def test_a_workflow_is_enabled_and_disabled_and_listed_by_that(store: Store) -> None:
    await store.save_workflow(version("a"), replace=True)
    await store.save_workflow(version("b"), replace=True)
    before = await kept(store, "a")
    assert await store.enable_workflow(1, before.id, enabled=False)
    after = await kept(store, "a")
    assert (after.enabled, after.version) == (False, 1)
    assert after.updated_at > before.updated_at
    assert [row.name for row in await store.workflows(1, limit=9, enabled=True)] == ["b"]
    assert [row.name for row in await store.workflows(1, limit=9, enabled=False)] == ["a"]
    assert [row.name for row in await store.workflows(1, limit=9, enabled=False, after="a")] == []
    assert not await store.enable_workflow(2, before.id, enabled=True)
    assert not await store.enable_workflow(1, new_id(), enabled=True)


async def test_a_deleted_workflow_is_gone_its_name_is_free_and_its_runs_go_on(store: Store) -> None:
    node = await Node.register(store)
    await store.save_workflow(version(graph=b"old"), replace=True)
    old = await kept(store)
    run = start(workflow=old.id, owned=True)
    await node.flush(starts=[run])
    assert await store.delete_workflow(2, old.id) is Unsaved.MISSING
    before = await store.now()
    deleted_at = await store.delete_workflow(1, old.id)
    assert isinstance(deleted_at, int)
    assert before <= deleted_at <= await store.now()
    assert await store.delete_workflow(1, old.id) is Unsaved.MISSING
    assert await store.workflow(1, old.id) is None
    assert await store.workflow(1, "orders") is None
    assert await store.workflows(1, limit=9) == []
    assert await store.versions(1, old.id) == []
    assert not await store.enable_workflow(1, old.id, enabled=True)
    assert await store.deleted_workflow(1, "orders") == old.id
    assert await store.deleted_workflow(2, "orders") is None
    new = await store.save_workflow(version(), replace=False)
    assert isinstance(new, SavedVersion)
    assert (new.version, new.created, new.id != old.id) == (1, True, True)
    assert await store.graphs([(old.id, 1)]) == {(old.id, 1): ("orders", b"old")}
    row = await store.run(1, run.id)
    assert row is not None
    assert row.workflow_name == "orders"
    assert isinstance(await store.delete_workflow(1, new.id), int)
    assert await store.deleted_workflow(1, "orders") == new.id  # the last one


async def test_what_nodes_offer_is_known_while_they_are_registered(store: Store) -> None:
    one, two = new_id(), new_id()
    await store.register(one, ttl=60)
    await store.register(two, ttl=60, queues=["a", "b'\""], actions=["pay", "ünï"])
    offers = {offer.node: offer for offer in await store.offers()}
    assert (offers[one].queues, offers[one].actions) == (None, ())
    assert (offers[two].queues, offers[two].actions) == (("a", "b'\""), ("pay", "ünï"))
    assert offers[two].until > await store.now()
    await store.retire(two)
    assert [offer.node for offer in await store.offers()] == [one]


async def test_when_something_was_served_last_is_remembered(store: Store) -> None:
    before = await store.now()
    await store.record_served([("queue", "a"), ("action", "pay"), ("queue", "a")])
    await store.record_served([])
    first = await store.last_served("queue", "a")
    assert first is not None
    assert before <= first <= await store.now()
    assert await store.last_served("action", "a") is None
    await store.record_served([("queue", "a")])
    second = await store.last_served("queue", "a")
    assert second is not None
    assert second >= first


async def test_nodes_that_serve_the_same_at_once_do_not_hinder_each_other(store: Store) -> None:
    names = [("queue", f"q{number}") for number in range(20)]
    await asyncio.gather(*(store.record_served(names[::step]) for step in (1, -1) * 4))
    assert None not in [await store.last_served(*name) for name in names]
