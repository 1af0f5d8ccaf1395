"""Templates in a store: those of workflows, sets, and versions of documents that never change."""

import asyncio
from typing import Any

from detent.store.protocol import Store
from detent.store.rows import SavedDraft, Unsaved
from detent.store.templates import (
    DocumentTemplateRow,
    NewDocument,
    SavedDocument,
    TemplateSetRow,
    WorkflowTemplateRow,
)
from tests.store.test_versions import draft


def workflow_template(id_: str = "onboarding", **given: Any) -> WorkflowTemplateRow:
    values: dict[str, Any] = {
        "tenant": 1, "title": "Onboarding", "description": "für alle", "category": "people",
        "definition": '{"tasks":{}}', "config_schema": "{}", "tags": '["a"]', "author": "ann", "thumbnail_url": None,
    }  # fmt: skip
    return WorkflowTemplateRow(id=id_, **{**values, **given})


def document(id_: str = "brief", **given: Any) -> NewDocument:
    values: dict[str, Any] = {
        "tenant": 1, "template_set": "projects", "title": "Brief", "format": "html", "fields": '{"fields":[]}',
        "body": "<h1>{{ title }}</h1>", "help": None, "author": "ann", "checksum": "a",
    }  # fmt: skip
    return NewDocument(id=id_, **{**values, **given})


async def make_set(store: Store, id_: str = "projects", team: str = "product", tenant: int = 1) -> None:
    assert await store.save_template_set(TemplateSetRow(tenant, id_, id_.title(), team, enabled=True))


async def add(store: Store, id_: str = "brief", **given: Any) -> SavedDocument:
    saved = await store.add_document(document(id_, **given))
    assert isinstance(saved, SavedDocument)
    return saved


def versions(rows: list[DocumentTemplateRow]) -> list[int]:
    return [row.version for row in rows]


async def test_a_workflow_template_is_added_once_read_and_deleted(store: Store) -> None:
    new = workflow_template(thumbnail_url="https://example.org/a.png")
    assert await store.add_workflow_template(new)
    assert not await store.add_workflow_template(workflow_template(title="Another"))
    found = await store.workflow_template(1, "onboarding")
    assert found is not None
    assert found._replace(created_at=0) == new
    assert found.created_at > 0
    assert await store.workflow_template(2, "onboarding") is None
    assert not await store.drop_workflow_template(2, "onboarding")
    assert await store.drop_workflow_template(1, "onboarding")
    assert not await store.drop_workflow_template(1, "onboarding")
    assert await store.workflow_template(1, "onboarding") is None


async def test_workflow_templates_are_listed_by_id_in_pages_and_by_category(store: Store) -> None:
    for id_, category in (("c", "x"), ("a", "x"), ("b", "y"), ("B", "x")):
        assert await store.add_workflow_template(workflow_template(id_, category=category))
    await store.add_workflow_template(workflow_template("z", tenant=2))
    found = await store.workflow_templates(1, limit=9)
    assert [row.id for row in found] == ["B", "a", "b", "c"]
    assert {(row.definition, row.config_schema, row.tags) for row in found} == {("{}", "{}", '["a"]')}
    assert [row.id for row in await store.workflow_templates(1, limit=2, after="B")] == ["a", "b"]
    assert [row.id for row in await store.workflow_templates(1, limit=9, category="x")] == ["B", "a", "c"]


async def test_a_set_is_created_and_changed(store: Store) -> None:
    await make_set(store)
    first = await store.template_set(1, "projects")
    assert first is not None
    assert (first.title, first.team, first.enabled) == ("Projects", "product", True)
    assert not await store.save_template_set(TemplateSetRow(1, "projects", "P", "sales", enabled=False), replace=False)
    assert await store.template_set(1, "projects") == first
    assert not await store.save_template_set(TemplateSetRow(1, "projects", "P", "sales", enabled=False))
    second = await store.template_set(1, "projects")
    assert second is not None
    assert (second.title, second.team, second.enabled) == ("P", "sales", False)
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert await store.template_set(2, "projects") is None


async def test_sets_are_listed_by_id_in_pages_and_by_team(store: Store) -> None:
    for id_, team in (("c", "x"), ("a", "x"), ("b", "y")):
        await make_set(store, id_, team)
    await make_set(store, "z", tenant=2)
    assert [row.id for row in await store.template_sets(1, limit=9)] == ["a", "b", "c"]
    assert [row.id for row in await store.template_sets(1, limit=1, after="a")] == ["b"]
    assert [row.id for row in await store.template_sets(1, limit=9, team="x")] == ["a", "c"]


async def test_a_new_text_of_a_document_is_a_new_version_and_the_old_one_stays(store: Store) -> None:
    assert await store.add_document(document()) is Unsaved.MISSING
    await make_set(store)
    assert await add(store) == SavedDocument(1, created=True, changed=True)
    assert await add(store) == SavedDocument(1, created=False, changed=False)
    assert await add(store, checksum="b", body="new", help="# ?") == SavedDocument(2, created=False, changed=True)
    assert await add(store, checksum="a", body="again") == SavedDocument(3, created=False, changed=True)
    first, second = await store.document(1, "projects", "brief", 1), await store.document(1, "projects", "brief", 2)
    assert first is not None
    assert second is not None
    assert (first.body, first.fields, first.help, first.format) == (
        "<h1>{{ title }}</h1>", '{"fields":[]}', None, "html",
    )  # fmt: skip
    assert (second.body, second.help, second.team, second.set_enabled) == ("new", "# ?", "product", True)
    assert await store.document(1, "projects", "brief", 4) is None
    assert await store.document(2, "projects", "brief", 1) is None
    assert versions(await store.document_versions(1, "projects", "brief", limit=2)) == [3, 2]
    assert await store.add_document(document(checksum="c"), create=True) is Unsaved.TAKEN


async def test_a_document_without_a_version_is_the_newest_enabled_one(store: Store) -> None:
    await make_set(store)
    for checksum in "abc":
        await add(store, checksum=checksum)
    assert await store.enable_document(1, "projects", "brief", enabled=False, version=3)
    newest = await store.document(1, "projects", "brief")
    assert newest is not None
    assert newest.version == 2
    disabled = await store.document(1, "projects", "brief", 3)
    assert disabled is not None
    assert not disabled.enabled
    assert await store.enable_document(1, "projects", "brief", enabled=False)
    assert await store.document(1, "projects", "brief") is None
    assert await store.enable_document(1, "projects", "brief", enabled=True)
    newest = await store.document(1, "projects", "brief")
    assert newest is not None
    assert newest.version == 3
    assert not await store.enable_document(1, "projects", "brief", enabled=True, version=4)
    assert not await store.enable_document(1, "projects", "other", enabled=True)
    assert not await store.enable_document(2, "projects", "brief", enabled=True)


async def test_documents_are_listed_once_each_without_their_texts(store: Store) -> None:
    await make_set(store)
    await make_set(store, "sales", "sales")
    for id_, place, checksum in (
        ("b", "projects", "a"),
        ("b", "projects", "b"),
        ("a", "sales", "a"),
        ("a", "projects", "a"),
    ):
        await add(store, id_, template_set=place, checksum=checksum)
    found = await store.documents(1, limit=9)
    assert [(row.template_set, row.id, row.version) for row in found] == [
        ("projects", "a", 1), ("projects", "b", 2), ("sales", "a", 1),
    ]  # fmt: skip
    assert {(row.fields, row.body, row.help) for row in found} == {("{}", "", None)}
    after = await store.documents(1, limit=1, after=("projects", "a"))
    assert [(row.template_set, row.id) for row in after] == [("projects", "b")]
    assert [row.id for row in await store.documents(1, limit=9, team="sales")] == ["a"]
    assert [row.id for row in await store.documents(1, limit=9, template_set="projects")] == ["a", "b"]
    assert await store.documents(2, limit=9) == []
    assert await store.sets_with(1, "a", limit=9) == ["projects", "sales"]
    assert await store.sets_with(1, "a", limit=1) == ["projects"]
    assert await store.sets_with(1, "c", limit=9) == []


async def test_texts_that_are_added_at_once_get_numbers_without_a_gap(store: Store) -> None:
    await make_set(store)
    made = await asyncio.gather(*(add(store, checksum=str(number)) for number in range(8)))
    assert sorted(one.version for one in made) == list(range(1, 9))


async def test_a_large_body_is_stored_as_it_was_written(store: Store) -> None:
    await make_set(store)
    body = "ü😀\n" * 30_000
    await add(store, body=body)
    found = await store.document(1, "projects", "brief")
    assert found is not None
    assert found.body == body


async def test_a_draft_that_must_be_new_is_refused_if_its_name_is_taken(store: Store) -> None:
    made = await store.save_draft(draft(), new=True)
    assert isinstance(made, SavedDraft)
    assert made.created
    assert await store.save_draft(draft(source="id: other"), new=True) is Unsaved.TAKEN
    kept = await store.draft(1, made.id)
    assert kept is not None
    assert (kept.revision, kept.source) == (1, "id: orders")
