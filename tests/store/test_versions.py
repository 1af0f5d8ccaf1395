"""Versions of workflows, their drafts, and their life from draft to archive."""

import asyncio
from typing import Any

import pytest

from detent.ids import new_id
from detent.instant import SECOND
from detent.store.protocol import Store
from detent.store.rows import (
    NewDraft,
    NewVersion,
    SavedDraft,
    SavedVersion,
    StartCheck,
    Unsaved,
    VersionFacts,
    WorkflowRow,
)
from tests.store.make import NOON, Node, end, start, trigger, version


def draft(name: str = "orders", **given: Any) -> NewDraft:
    values: dict[str, Any] = {
        "tenant": 1, "id": new_id(), "form": "graph", "title": "Orders", "description": None, "source": "id: orders",
        "problems": "[]", "author": "ann",
    }  # fmt: skip
    return NewDraft(name=name, **{**values, **given})


async def kept(store: Store, name: str = "orders") -> WorkflowRow:
    row = await store.workflow(1, name)
    assert row is not None
    return row


async def saved(store: Store, checksum: str, **given: Any) -> SavedVersion:
    made = await store.save_workflow(version(checksum=checksum, **given), replace=True)
    assert isinstance(made, SavedVersion)
    return made


async def drafted(store: Store, **given: Any) -> SavedDraft:
    made = await store.save_draft(draft(**given))
    assert isinstance(made, SavedDraft)
    return made


async def numbers(store: Store, workflow: bytes) -> list[int]:
    return [row.version for row in await store.versions(1, workflow)]


async def test_a_text_that_a_version_has_makes_that_version_current(store: Store) -> None:
    first = await saved(store, "a", source="text a", graph=b"graph a", description="the first")
    await saved(store, "b", source="text b", graph=b"graph b", description="the second")
    again = await saved(store, "a", source="text a", graph=b"graph a", description="the first")
    assert again[:4] == (first.id, 1, False, True)
    row = await kept(store)
    assert (row.version, row.source, row.graph, row.description) == (1, "text a", b"graph a", "the first")
    assert await numbers(store, first.id) == [2, 1]
    assert (await saved(store, "c")).version == 3, "the next number is free, wherever the pointer is"
    assert (await saved(store, "b")).version == 2
    assert await numbers(store, first.id) == [3, 2, 1]


async def test_a_version_keeps_what_its_start_needs(store: Store) -> None:
    given = {
        "title": "Orders",
        "description": "all",
        "labels": '{"team":"shop"}',
        "trigger": '{"type":"api","queue":"q"}',
    }
    made = await saved(store, "a", **given)
    await saved(store, "b")
    row = await store.version(1, made.id, 1)
    assert row is not None
    assert (row.version, row.checksum, row.source) == (1, "a", "name: orders")
    assert row.facts is not None
    facts = VersionFacts("steps", "Orders", "all", given["trigger"], given["labels"])
    assert row.facts == facts
    assert await store.version(1, made.id, 3) is None
    assert await store.version(2, made.id, 1) is None
    assert await store.version(1, new_id(), 1) is None


async def test_an_older_version_is_made_current_with_its_facts_and_its_trigger(store: Store) -> None:
    first = version(checksum="a", description="the first", title="A")
    cron = trigger(first.id, kind="cron", next_at=NOON, owned=True)
    await store.save_workflow(first._replace(owned_trigger=cron), replace=True)
    made = await saved(store, "b", description="the second")
    await store.enable_workflow(1, made.id, enabled=False)
    before = await kept(store)
    wanted = first._replace(id=made.id, owned_trigger=cron._replace(id=new_id()))
    assert (await store.activate_version(wanted, 1))[:4] == (made.id, 1, False, True)
    row = await kept(store)
    assert (row.version, row.description, row.title) == (1, "the first", "A")
    assert not row.enabled, "it stays disabled"
    assert row.updated_at > before.updated_at
    assert [(found.kind, found.next_at) for found in await store.triggers(1, limit=9)] == [("cron", NOON)]
    assert (await store.activate_version(wanted, 1))[:4] == (made.id, 1, False, False)
    assert await store.activate_version(wanted, 7) is Unsaved.MISSING
    assert await store.activate_version(wanted._replace(id=new_id()), 1) is Unsaved.MISSING
    await store.change_status(1, made.id, "archived")
    assert await store.activate_version(wanted, 2) is Unsaved.ARCHIVED
    assert (await kept(store)).version == 1


async def test_a_draft_makes_a_workflow_that_cannot_be_started(store: Store) -> None:
    node = await Node.register(store)
    made = await drafted(store, description="none yet")
    assert (made.revision, made.created) == (1, True)
    row = await kept(store)
    assert (row.id, row.status, row.version, row.draft, row.form) == (made.id, "draft", 0, 1, "graph")
    assert (row.title, row.description, row.source, row.graph) == ("Orders", "none yet", "", b"")
    assert [found.name for found in await store.workflows(1, limit=9)] == ["orders"]
    assert await store.versions(1, made.id) == []
    assert await store.graphs([(made.id, 0)]) == {}
    for check in (StartCheck.CURRENT, StartCheck.STARTABLE, StartCheck.STORED):
        run = start(workflow=made.id, version=0, check=check)
        assert await node.refused(starts=[run]) == {run.id}


async def test_each_save_of_a_draft_raises_its_revision_for_ever(store: Store) -> None:
    made = await drafted(store)
    assert await store.draft(2, made.id) is None
    found = await store.draft(1, made.id)
    assert found is not None
    assert found[:7] == (made.id, 1, "id: orders", "graph", 1, "[]", "ann")
    assert abs(found.updated_at - await store.now()) < 60 * SECOND
    again = await store.save_draft(draft(source="two", author="bob", problems='[{"field":"a"}]', title="T"), expected=1)
    assert again == (made.id, 2, False)
    assert await store.save_draft(draft(source="three"), expected=1) is Unsaved.CHANGED
    assert await store.save_draft(draft(source="three"), expected=0) is Unsaved.CHANGED
    assert await store.save_draft(draft("other"), expected=1) is Unsaved.MISSING
    found = await store.draft(1, made.id)
    assert found is not None
    assert (found.source, found.revision, found.author, found.problems) == ("two", 2, "bob", '[{"field":"a"}]')
    assert (await kept(store)).title == "T"
    await store.publish_draft(version(id=made.id), revision=2, activate=True)
    assert (await kept(store)).draft is None
    assert await store.save_draft(draft(), expected=0) == (made.id, 3, False), "no revision comes twice"


async def test_a_draft_beside_a_version_leaves_it_as_it_is(store: Store) -> None:
    made = await saved(store, "a", title="live")
    before = await kept(store)
    assert await store.save_draft(draft(), unpublished=True) is Unsaved.PUBLISHED
    assert await store.save_draft(draft(title="next")) == (made.id, 1, False)
    assert await kept(store) == before._replace(draft=1)
    assert await store.drop_draft(1, made.id, expected=2) is Unsaved.CHANGED
    assert await store.drop_draft(2, made.id) is Unsaved.MISSING
    assert await store.drop_draft(1, made.id, expected=1) is None
    assert await store.drop_draft(1, made.id) is Unsaved.MISSING
    assert await kept(store) == before
    other = await drafted(store, name="other")
    assert await store.drop_draft(1, other.id) is Unsaved.UNPUBLISHED


async def test_a_draft_is_published_once(store: Store) -> None:
    made = await drafted(store)
    new = version(id=made.id, form="graph", checksum="a", graph=b"g", source="id: orders", title="Orders")
    assert await store.publish_draft(new, revision=2, activate=True) is Unsaved.CHANGED
    assert await store.publish_draft(new._replace(id=new_id()), revision=1, activate=True) is Unsaved.MISSING
    assert (await store.publish_draft(new, revision=1, activate=True))[:4] == (made.id, 1, False, True)
    assert await store.publish_draft(new, revision=1, activate=True) is Unsaved.MISSING
    row = await kept(store)
    assert (row.status, row.version, row.graph, row.draft, row.enabled) == ("active", 1, b"g", None, True)
    await drafted(store)
    assert (await store.publish_draft(new, revision=2, activate=True))[:4] == (made.id, 1, False, False), (
        "the same text"
    )
    assert await numbers(store, made.id) == [1]


async def test_a_draft_may_be_published_without_being_activated(store: Store) -> None:
    made = await drafted(store)
    new = version(id=made.id, checksum="a")
    assert (await store.publish_draft(new, revision=1, activate=False))[:4] == (made.id, 1, False, True)
    row = await kept(store)
    assert (row.status, row.version, row.draft) == ("draft", 0, None)
    assert (await store.activate_version(new, 1))[:4] == (made.id, 1, False, True)
    assert (await kept(store)).status == "active"
    await drafted(store)
    second = await store.publish_draft(new._replace(checksum="b"), revision=2, activate=False)
    assert second[:4] == (made.id, 2, False, True)
    assert (await kept(store)).version == 1
    await drafted(store)
    third = await store.publish_draft(new._replace(checksum="b"), revision=3, activate=False)
    assert third[:4] == (made.id, 2, False, False)


async def test_a_live_save_activates_a_workflow_that_was_a_draft(store: Store) -> None:
    made = await drafted(store)
    assert (await saved(store, "a")).id == made.id
    row = await kept(store)
    assert (row.status, row.version, row.draft) == ("active", 1, 1)


async def test_an_archived_workflow_starts_nothing_and_none_of_its_triggers_fires(store: Store) -> None:
    node = await Node.register(store)
    made = await saved(store, "a")
    now = await store.now()
    cron = trigger(made.id, kind="cron", next_at=now - SECOND)
    paused = trigger(made.id, kind="cron", next_at=None, enabled=False)
    event = trigger(made.id, kind="event", key="order.paid", next_at=None)
    for one in (cron, paused, event):
        assert await store.add_trigger(one)
    [due] = await store.due_triggers(limit=9)
    assert [found.id for found in await store.listeners(1, ["order.paid"])] == [event.id]
    assert await store.change_status(1, made.id, "archived") == "active"
    row = await kept(store)
    assert (row.status, row.enabled) == ("archived", False)
    assert await store.due_triggers(limit=9) == []
    assert await store.listeners(1, ["order.paid"]) == []
    assert not await store.take_slots(1, cron.id, seen=now - SECOND, next_at=now + SECOND, firings=[])
    found = {one.id: one for one in await store.triggers(1, limit=9)}
    assert [found[one.id].enabled for one in (cron, paused, event)] == [True, False, True], "they are as they were"
    assert found[cron.id].next_at is None
    assert found[cron.id].updated_at == due.updated_at
    for check in (StartCheck.CURRENT, StartCheck.STARTABLE):
        run = start(workflow=made.id, version=1, check=check)
        assert await node.refused(starts=[run]) == {run.id}
    assert await store.archived([made.id, new_id()]) == {made.id}
    assert await store.change_status(1, made.id, "archived") == "archived"
    slots = [(cron.id, due.updated_at, now - 1), (paused.id, found[paused.id].updated_at, now - 1)]
    assert await store.change_status(1, made.id, "active", slots=[*slots, (event.id, 0, now - 1)]) == "archived"
    assert [one.id for one in await store.due_triggers(limit=9)] == [cron.id]
    row = await kept(store)
    assert (row.status, row.enabled) == ("active", True)
    assert await store.archived([made.id]) == set()
    assert await store.change_status(2, made.id, "archived") is None
    assert await store.archived([]) == set()


async def test_a_slot_written_while_it_is_archived_waits(store: Store) -> None:
    made = await saved(store, "a")
    now = await store.now()
    await store.change_status(1, made.id, "archived")
    assert await store.add_trigger(trigger(made.id, kind="cron", next_at=now - SECOND))
    assert await store.due_triggers(limit=9) == []


async def test_a_draft_is_not_archived(store: Store) -> None:
    made = await drafted(store)
    for status in ("archived", "active"):
        assert await store.change_status(1, made.id, status) == "draft"
    assert (await kept(store)).status == "draft"


async def test_a_draft_of_an_archived_workflow_is_not_published(store: Store) -> None:
    made = await saved(store, "a")
    await store.change_status(1, made.id, "archived")
    await drafted(store)
    wanted = version(id=made.id, checksum="b")
    assert await store.publish_draft(wanted, revision=1, activate=True) is Unsaved.ARCHIVED
    assert await numbers(store, made.id) == [1]


async def test_workflows_are_listed_by_status(store: Store) -> None:
    await saved(store, "a", name="a")
    archived = await saved(store, "a", name="b")
    await store.change_status(1, archived.id, "archived")
    await drafted(store, name="c")
    for status, names in (("active", ["a"]), ("archived", ["b"]), ("draft", ["c"])):
        assert [row.name for row in await store.workflows(1, limit=9, status=status)] == names
    assert [row.name for row in await store.workflows(1, limit=9, status="active", enabled=False)] == []


async def test_a_workflow_that_was_never_published_is_removed(store: Store) -> None:
    made = await drafted(store)
    assert await store.delete_workflow(1, made.id, unless_active=True) not in (Unsaved.ACTIVE, Unsaved.MISSING)
    assert await store.workflow(1, "orders") is None
    assert await store.draft(1, made.id) is None
    assert await store.deleted_workflow(1, "orders") is None, "nothing is left"
    assert (await drafted(store)).id != made.id


async def test_an_active_workflow_is_deleted_only_if_that_is_allowed(store: Store) -> None:
    made = await saved(store, "a")
    await drafted(store)
    assert await store.delete_workflow(1, made.id, unless_active=True) is Unsaved.ACTIVE
    await store.change_status(1, made.id, "archived")
    assert isinstance(await store.delete_workflow(1, made.id, unless_active=True), int)
    assert await store.deleted_workflow(1, "orders") == made.id
    assert await store.draft(1, made.id) is None


async def test_a_pinned_start_asks_for_the_version_and_not_whether_it_is_current(store: Store) -> None:
    node = await Node.register(store)
    made = await saved(store, "a")
    await saved(store, "b")

    async def is_refused(number: int, check: StartCheck) -> bool:
        run = start(workflow=made.id, version=number, check=check)
        beside = start(workflow=made.id, version=2, check=StartCheck.CURRENT)
        refused = await node.refused(starts=[run, beside])
        assert refused <= {run.id}
        assert (await store.run(1, run.id) is None) == bool(refused)
        return bool(refused)

    for number, refused in ((1, False), (2, False), (3, True), (-1, True)):
        for check in (StartCheck.STARTABLE, StartCheck.STORED):
            assert await is_refused(number, check) == refused, (number, check)
    assert await is_refused(1, StartCheck.CURRENT)
    await store.enable_workflow(1, made.id, enabled=False)
    pinned, stored = (start(workflow=made.id, check=check) for check in (StartCheck.STARTABLE, StartCheck.STORED))
    assert await node.refused(starts=[pinned, stored]) == {pinned.id}
    await store.delete_workflow(1, made.id)
    stored = start(workflow=made.id, check=StartCheck.STORED)
    assert await node.refused(starts=[stored]) == {stored.id}


async def test_a_draft_that_was_run_is_a_version_apart(store: Store) -> None:
    node = await Node.register(store)
    made = await drafted(store)
    new = version(id=made.id, checksum="a", graph=b"draft 1", source="d1")
    assert not await store.store_draft(new, revision=2)
    assert not await store.store_draft(new._replace(id=new_id()), revision=1)
    assert await store.store_draft(new, revision=1)
    assert await store.store_draft(new, revision=1), "twice is once"
    assert await store.versions(1, made.id) == []
    assert [(row.version, row.source) for row in await store.versions(1, made.id, drafts=True)] == [(-1, "d1")]
    assert await store.graphs([(made.id, -1)]) == {(made.id, -1): ("orders", b"draft 1")}
    run = start(workflow=made.id, version=-1, check=StartCheck.STORED)
    assert await node.refused(starts=[run]) == frozenset()
    published = await store.publish_draft(new, revision=1, activate=True)
    assert published[:4] == (made.id, 1, False, True), "a stored draft is no version of that text"


async def test_a_draft_that_was_run_is_deleted_with_its_last_run(store: Store) -> None:
    node = await Node.register(store)
    made = await drafted(store)
    for revision in (1, 2):
        await store.store_draft(version(id=made.id), revision=revision)
        runs = [start(workflow=made.id, version=-revision, owned=True) for _ in range(2)]
        for number, run in enumerate(runs):
            await node.flush(starts=[run])
            await node.flush(ends=[end(run.id, ended_at=NOON + revision * 10 + number)])
        if revision == 1:
            await drafted(store)

    async def left(before: int) -> list[int]:
        await store.prune(before=NOON + before, statuses=["completed"], limit=100)
        return [row.version for row in await store.versions(1, made.id, drafts=True)]

    assert await left(11) == [-2, -1], "one of its runs is left"
    assert await left(12) == [-2]
    assert await left(100) == [-2], "the draft may be run again"


@pytest.mark.parametrize("activate", [True, False])
async def test_of_two_publishes_at_once_one_makes_the_version(store: Store, activate: bool) -> None:
    made = await drafted(store)

    async def publish(number: int) -> SavedVersion | Unsaved:
        # Even if two compilers disagree about the text, a draft becomes one version.
        return await store.publish_draft(version(id=made.id, checksum=f"c{number}"), revision=1, activate=activate)

    said = await asyncio.gather(*map(publish, range(5)))
    assert sorted(map(type, said), key=str) == [SavedVersion, *[Unsaved] * 4]
    assert said.count(Unsaved.MISSING) == 4
    assert await numbers(store, made.id) == [1]


async def test_saves_and_activations_at_once_leave_every_number_once(store: Store) -> None:
    texts = {f"c{number}": version(checksum=f"c{number}", graph=b"g%d" % number) for number in range(6)}
    made = await saved(store, "c0", graph=b"g0")
    await saved(store, "c1", graph=b"g1")

    async def save(new: NewVersion) -> object:
        return await store.save_workflow(new, replace=True)

    async def activate() -> object:
        return await store.activate_version(texts["c0"]._replace(id=made.id), 1)

    said = await asyncio.gather(*(one for new in texts.values() for one in (save(new), activate())))
    assert all(isinstance(one, SavedVersion) for one in said)
    rows = await store.versions(1, made.id)
    assert [row.version for row in rows] == [6, 5, 4, 3, 2, 1]
    assert {row.checksum for row in rows} == set(texts), "no text is stored twice"
    row = await kept(store)
    [current] = [one for one in rows if one.version == row.version]
    assert row.graph == texts[current.checksum].graph, "the row and its version belong together"
