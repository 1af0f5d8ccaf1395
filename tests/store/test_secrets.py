"""Secrets in a store: a version replaces the one before it, and every tenant has its own."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.store.protocol import Store
from detent.store.rows import Unsaved
from detent.store.secrets import NewSecret, SecretRow
from detent.store.vault.signatures import TextKind
from tests.store.make import Node, trigger
from tests.store.make import version as make_version


def secret(name: str = "STRIPE", version: int = 1, **given: Any) -> NewSecret:
    values: dict[str, Any] = {"tenant": 1, "sealed": b"\x01box\x00\xff", "hosts": (), "updated_by": "ann"}
    return NewSecret(name=name, version=version, **{**values, **given})


def _content(row: SecretRow | None) -> tuple[Any, ...] | None:
    return None if row is None else (row.name, row.version, row.sealed, row.hosts, row.updated_by)


async def test_a_secret_is_added_replaced_and_deleted(store: Store) -> None:
    assert await store.put_secret(secret(hosts=("api.example.com", "*.example.org")))
    first = await store.secret(1, "STRIPE")
    assert _content(first) == ("STRIPE", 1, b"\x01box\x00\xff", ("api.example.com", "*.example.org"), "ann")
    assert not await store.put_secret(secret()), "there is a version 1"
    assert not await store.put_secret(secret(version=3)), "there is no version 2"
    assert not await store.put_secret(secret("OTHER", version=2)), "a secret begins with version 1"
    assert await store.put_secret(secret(version=2, sealed=b"new", updated_by="bob"))
    second = await store.secret(1, "STRIPE")
    assert _content(second) == ("STRIPE", 2, b"new", (), "bob")
    assert first is not None
    assert second is not None
    assert second.created_at == first.created_at <= first.updated_at <= second.updated_at
    assert await store.drop_secret(1, "STRIPE")
    assert not await store.drop_secret(1, "STRIPE")
    assert await store.secret(1, "STRIPE") is None
    assert await store.put_secret(secret())


async def test_a_name_differs_by_case_and_belongs_to_its_tenant(store: Store) -> None:
    for tenant, name in ((1, "b"), (1, "B"), (1, "a-1"), (2, "b")):
        assert await store.put_secret(secret(name, tenant=tenant, sealed=f"{tenant}{name}".encode()))
    assert [row.name for row in await store.secrets(1, limit=10)] == ["B", "a-1", "b"]
    assert [row.name for row in await store.secrets(1, limit=1, after="B")] == ["a-1"]
    assert [row.sealed for row in await store.secrets(2, limit=10)] == [b"2b"]
    assert await store.secrets(3, limit=10) == []
    assert sorted(row.sealed for row in await store.secrets_named(1, ["b", "B", "missing", "b"])) == [b"1B", b"1b"]
    assert await store.secrets_named(1, []) == []
    assert not await store.drop_secret(3, "b")
    assert await store.drop_secret(2, "b")
    assert _content(await store.secret(1, "b")) is not None


async def test_a_box_is_replaced_only_in_its_version(store: Store) -> None:
    await store.put_secret(secret())
    before = await store.secret(1, "STRIPE")
    assert await store.reseal_secret(1, "STRIPE", 1, b"another key")
    assert not await store.reseal_secret(1, "STRIPE", 2, b"late")
    assert not await store.reseal_secret(2, "STRIPE", 1, b"late")
    after = await store.secret(1, "STRIPE")
    assert before is not None
    assert after == before._replace(sealed=b"another key")


async def test_of_two_new_values_at_once_one_is_stored(store: Store) -> None:
    for version in (1, 2):
        new = [secret(version=version, sealed=f"{version}{number}".encode()) for number in range(5)]
        assert sorted(await asyncio.gather(*(store.put_secret(one) for one in new))) == [*[False] * 4, True]


async def test_the_tenant_of_a_run_is_known(store: Store) -> None:
    node = await Node.register(store)
    assert await store.tenant_of_run(await node.started()) == 1
    assert await store.tenant_of_run(bytes(16)) is None


async def test_changes_of_all_tenants_are_read_oldest_first(store: Store) -> None:
    await store.put_secret(secret("a"))
    await store.put_secret(secret("b", tenant=2))
    await store.put_secret(secret("a", version=2))
    rows = await store.changed_secrets(0, limit=10)
    assert sorted((row.tenant, row.name, row.version) for row in rows) == [(1, "a", 2), (2, "b", 1)]
    assert [row.updated_at for row in rows] == sorted(row.updated_at for row in rows)
    assert len(await store.changed_secrets(0, limit=1)) == 1
    assert await store.changed_secrets(rows[-1].updated_at + 1, limit=10) == []


async def test_a_text_with_a_signature_is_replaced_unless_it_has_changed(store: Store) -> None:
    config = '{"signature": {"secrets": ["one"]}}'
    facts = '{"type": "webhook", "config": {"signature": {}}}'
    for name, tenant in (("a", 1), ("b", 2), ("plain", 1)):
        text = "source" if name == "plain" else f"source {name} signature"
        saved = await store.save_workflow(
            make_version(name, tenant=tenant, source=text, checksum=name, trigger="{}" if name == "plain" else facts),
            replace=False,
        )
        assert not isinstance(saved, Unsaved)
        assert await store.add_trigger(trigger(saved.id, tenant=tenant, kind="webhook", config=config))
    for kind, count in ((TextKind.SOURCE, 2), (TextKind.FACTS, 2), (TextKind.WORKFLOW, 2), (TextKind.TRIGGER, 3)):
        first = await store.signed_texts(kind, after=None, limit=1)
        rest = await store.signed_texts(kind, after=first[0], limit=10)
        assert len(first + rest) == count
        assert {one.tenant for one in first + rest} == {1, 2}
        assert await store.replace_text(first[0], f"new {kind}")
        assert not await store.replace_text(first[0], "late"), "it is another text by now"
        assert not await store.replace_text(rest[0]._replace(tenant=3), "foreign")
        assert await store.signed_texts(kind, after=None, limit=10) == rest
    assert await store.signed_texts(TextKind.DRAFT, after=None, limit=10) == []
