"""Entities in a store, and the revision that every change of a rule raises."""

from typing import Any

from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import SavedVersion, Unsaved
from detent.store.rule_rows import EntityRow, NewEntity
from tests.store.make import version
from tests.store.test_versions import draft


async def add(store: Store, name: str = "order", tenant: int = 1, fields: str | None = None) -> EntityRow:
    assert await store.add_entity(NewEntity(tenant, new_id(), name, name.title(), fields))
    found = await store.entity(tenant, name)
    assert found is not None
    return found


async def save(store: Store, name: str = "notify", **given: Any) -> SavedVersion:
    saved = await store.save_workflow(version(name, **{"form": "rule", "entity": "order", **given}), replace=True)
    assert isinstance(saved, SavedVersion)
    return saved


async def revision(store: Store, name: str = "order") -> int:
    found = await store.entity(1, name)
    assert found is not None
    return found.revision


async def test_an_entity_is_added_once_found_by_id_and_name_and_changed(store: Store) -> None:
    made = await add(store, fields='{"type":"object"}')
    assert (made.title, made.fields, made.revision) == ("Order", '{"type":"object"}', 1)
    assert await store.entity(1, made.id) == made
    assert await store.entity(2, made.id) is None
    assert await store.entity(2, "order") is None
    assert not await store.add_entity(NewEntity(1, new_id(), "order", "Another", None))
    changed = await store.change_entity(1, made.id, title="Orders", fields=None)
    assert changed is not None
    assert (changed.title, changed.fields, changed.revision) == ("Orders", None, 1)
    assert changed.updated_at > made.updated_at
    assert await store.entity(1, "order") == changed
    assert await store.change_entity(2, made.id, title="Orders", fields=None) is None


async def test_entities_are_listed_by_name_for_their_tenant(store: Store) -> None:
    for name in ("order", "customer", "Ähre"):
        await add(store, name)
    await add(store, "order", tenant=2)
    listed = await store.entities(1, limit=9)
    assert [row.name for row in listed] == ["customer", "order", "Ähre"]
    assert [row.name for row in await store.entities(1, limit=1, after="customer")] == ["order"]


async def test_an_entity_with_rules_cannot_be_deleted(store: Store) -> None:
    made = await add(store)
    saved = await save(store)
    assert await store.drop_entity(1, made.id) is Unsaved.USED
    assert await store.drop_entity(2, made.id) is Unsaved.MISSING
    await store.delete_workflow(1, saved.id)
    assert await store.drop_entity(1, made.id) is None
    assert await store.drop_entity(1, made.id) is Unsaved.MISSING
    assert await store.entity(1, "order") is None


async def test_a_rule_of_an_unknown_entity_is_not_saved(store: Store) -> None:
    await add(store, tenant=2)
    new = version("notify", form="rule", entity="order")
    assert await store.save_workflow(new, replace=False) is Unsaved.NO_ENTITY
    assert await store.workflow(1, "notify") is None
    await add(store)
    saved = await save(store)
    moved = version("notify", form="rule", entity="customer", checksum="another")
    assert await store.save_workflow(moved, replace=True) is Unsaved.NO_ENTITY
    assert await store.activate_version(moved._replace(id=saved.id), 1) is Unsaved.NO_ENTITY
    assert len(await store.versions(1, saved.id)) == 1


async def test_every_change_of_a_rule_raises_the_revision_of_its_entity(store: Store) -> None:
    await add(store)
    seen = [await revision(store)]

    async def raised() -> bool:
        seen.append(await revision(store))
        return seen[-1] > seen[-2]

    saved = await save(store)
    assert await raised()
    second = await save(store, checksum="second")
    assert await raised()
    await store.activate_version(version("notify", id=saved.id, form="rule", entity="order"), 1)
    assert await raised()
    await store.enable_workflow(1, saved.id, enabled=False)
    assert await raised()
    await store.change_status(1, saved.id, "archived")
    assert await raised()
    await store.change_status(1, saved.id, "archived")
    assert not await raised(), "nothing changed"
    await store.change_status(1, saved.id, "active")
    assert await raised()
    await store.save_draft(draft("notify"))
    assert not await raised(), "a draft starts nothing"
    row = await store.draft(1, saved.id)
    assert row is not None
    third = version("notify", id=saved.id, form="rule", entity="order", checksum="third")
    await store.publish_draft(third, revision=row.revision, activate=True)
    assert await raised()
    await store.save_workflow(version("other"), replace=True)
    assert not await raised(), "it is not a rule"
    await store.delete_workflow(1, saved.id)
    assert await raised()
    assert second.version == 2


async def test_a_rule_that_moves_to_another_entity_raises_both_revisions(store: Store) -> None:
    await add(store)
    await add(store, "customer")
    await save(store)
    before = await revision(store), await revision(store, "customer")
    await save(store, entity="customer", checksum="another")
    assert (await revision(store), await revision(store, "customer")) == (before[0] + 1, before[1] + 1)
    await save(store, entity=None, form="steps", checksum="steps")
    assert await revision(store, "customer") == before[1] + 2
    found = await store.workflow(1, "notify")
    assert found is not None
    assert found.entity is None


async def test_the_rules_of_an_entity_are_the_active_and_enabled_ones(store: Store) -> None:
    assert await store.entity_rules(1, "order") is None
    await add(store)
    assert await store.entity_rules(1, "order") == (1, [])
    made = {name: (await save(store, name, trigger=f'{{"rule":"{name}"}}')).id for name in ("a", "b", "c", "d")}
    await store.enable_workflow(1, made["b"], enabled=False)
    await store.change_status(1, made["c"], "archived")
    await store.delete_workflow(1, made["d"])
    found = await store.entity_rules(1, "order")
    assert found is not None
    [rule] = found[1]
    assert (rule.id, rule.name, rule.version, rule.trigger) == (made["a"], "a", 1, '{"rule":"a"}')
    assert found[0] == await revision(store)
    assert await store.entity_rules(2, "order") is None


async def test_a_workflow_tells_its_entity_and_who_changed_it_last(store: Store) -> None:
    await add(store)
    saved = await save(store, author="ann")
    row = await store.workflow(1, saved.id)
    assert row is not None
    assert (row.entity, row.updated_by) == ("order", "ann")
    [made] = await store.versions(1, saved.id)
    assert made.author == "ann"
    await store.enable_workflow(1, saved.id, enabled=False, by="bob")
    row = await store.workflow(1, saved.id)
    assert row is not None
    assert row.updated_by == "bob"
    await store.change_status(1, saved.id, "archived", by="cat")
    row = await store.workflow(1, saved.id)
    assert row is not None
    assert row.updated_by == "cat"
    assert [one.author for one in await store.versions(1, saved.id)] == ["ann"]
