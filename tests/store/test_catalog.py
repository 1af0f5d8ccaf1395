"""Connectors and actions: versions are immutable, and the newest one is listed."""

import asyncio
from typing import Any

import pytest

from detent.catalog.connector import rank_of
from detent.store.catalog_rows import EVERY_TENANT, ActionRow, ConnectorRow, NewAction, NewConnector, SavedConnector
from detent.store.protocol import Store
from detent.store.rows import Unsaved

AWKWARD = '{"a": "\' \\" 🧾 %s ::x"}'


def connector(id_: str = "crm", version: str = "1.0.0", **given: Any) -> NewConnector:
    values: dict[str, Any] = {
        "tenant": 1, "id": id_, "version": version, "ranking": rank_of(version), "title": "CRM", "description": "d",
        "icon_url": None, "documentation_url": "https://docs.example.com", "requires_auth": True, "auth_type": "bearer",
        "config_schema": None, "capabilities": '["actions"]', "source": "manifest", "manifest": AWKWARD,
        "checksum": version,
    }  # fmt: skip
    return NewConnector(**{**values, **given})


def action(id_: str = "crm.get", version: str = "1.0.0", **given: Any) -> NewAction:
    values: dict[str, Any] = {
        "tenant": 1, "id": id_, "version": version, "ranking": rank_of(version), "connector": id_.partition(".")[0],
        "title": "Get", "description": "Reads it", "category": "Data", "tags": '["read"]', "parameters": AWKWARD,
        "output": "{}", "effect": '{"kind":"none"}', "deprecation": None, "source": "manifest", "definition": AWKWARD,
        "checksum": version,
    }  # fmt: skip
    return NewAction(**{**values, **given})


async def names(store: Store, tenant: int = 1, **given: Any) -> list[str]:
    return [row.id for row in await store.actions(tenant, **{"limit": 99, **given})]


async def found(store: Store, name: str = "crm.get", version: str | None = None) -> ActionRow:
    row = await store.action(1, name, version)
    assert row is not None
    return row


async def test_a_connector_and_its_actions_come_back_as_they_were_given(store: Store) -> None:
    before = await store.now()
    new, one = connector(icon_url="https://x.example.com/i.png", config_schema=AWKWARD), action(deprecation="use two")
    assert await store.save_connector(new, [one]) == SavedConnector(created=True, changed=True)
    row = await store.connector(1, "crm")
    assert row is not None
    assert tuple(row[: len(new)]) == tuple(new)
    assert row.enabled is True
    assert row.requires_auth is True
    assert before <= row.created_at <= await store.now()
    assert await store.connectors(1, limit=9) == [row]
    stored = await found(store)
    assert tuple(stored[: len(one)]) == tuple(one)
    assert (stored.enabled, stored.is_listed) == (True, True)
    [mark] = await store.actions(1, limit=9)
    assert (mark.id, mark.effect, mark.deprecation, mark.enabled) == ("crm.get", one.effect, "use two", True)
    assert await store.newest_actions(1, ["crm.get", "crm.none"]) == [stored]
    assert await store.newest_actions(1, []) == []
    assert await store.action_names(1, limit=9) == ["crm.get"]


async def test_what_does_not_exist_is_not_found(store: Store) -> None:
    assert await store.connector(1, "crm") is None
    assert await store.action(1, "crm.get") is None
    assert await store.connectors(1, limit=9) == []
    assert not await store.enable_connector(1, "crm", enabled=False)
    assert not await store.enable_action(1, "crm.get", enabled=False)
    assert not await store.remove_connector(1, "crm")


async def test_a_version_never_changes(store: Store) -> None:
    await store.save_connector(connector(), [action()])
    assert await store.save_connector(connector(), [action()]) == SavedConnector(created=False, changed=False)
    assert await store.save_connector(connector(checksum="other"), [action()]) is Unsaved.TAKEN
    newer = connector(version="1.1.0")
    assert await store.save_connector(newer, [action(checksum="other")]) is Unsaved.TAKEN
    row = await store.connector(1, "crm")
    assert row is not None
    assert row.version == "1.0.0", "nothing of a refused save is stored"


async def test_the_newest_version_is_listed_and_every_version_can_be_read(store: Store) -> None:
    for version in ("1.2.0", "1.10.0", "1.9.9"):
        saved = await store.save_connector(connector(version=version), [action(version=version, title=version)])
        assert isinstance(saved, SavedConnector)
    row = await store.connector(1, "crm")
    assert row is not None
    assert row.version == "1.10.0"
    assert (await found(store)).version == "1.10.0"
    assert [(await found(store, version=version)).title for version in ("1.2.0", "1.9.9")] == ["1.2.0", "1.9.9"]
    assert await store.action(1, "crm.get", "7.7.7") is None
    assert [mark.version for mark in await store.actions(1, limit=9)] == ["1.10.0"]


async def test_an_action_that_a_new_version_does_not_have_is_disabled_and_says_so(store: Store) -> None:
    await store.save_connector(connector(), [action(), action("crm.put")])
    await store.save_connector(connector(version="1.1.0"), [action(version="1.1.0")])
    gone = await found(store, "crm.put")
    assert not gone.enabled
    assert gone.deprecation == "version 1.1.0 of the connector 'crm' does not have this action any more"
    assert (await found(store)).enabled
    await store.save_connector(connector(version="1.0.5"), [action(version="1.0.5")])
    assert (await found(store)).enabled, "an older version that comes later disables nothing"


async def test_what_is_disabled_stays_so_in_the_next_version(store: Store) -> None:
    await store.save_connector(connector(), [action(), action("crm.put")])
    assert await store.enable_action(1, "crm.get", enabled=False)
    both = [action(version="1.1.0"), action("crm.put", version="1.1.0")]
    await store.save_connector(connector(version="1.1.0"), both)
    assert [(await found(store, name)).enabled for name in ("crm.get", "crm.put")] == [False, True]
    assert await store.enable_connector(1, "crm", enabled=False)
    assert [mark.enabled for mark in await store.actions(1, limit=9)] == [False, False]
    await store.save_connector(connector(version="1.2.0"), [])
    row = await store.connector(1, "crm")
    assert row is not None
    assert (row.version, row.enabled) == ("1.2.0", False)


async def test_a_removed_connector_is_listed_nowhere_and_its_versions_can_be_read(store: Store) -> None:
    await store.save_connector(connector(), [action()])
    assert await store.remove_connector(1, "crm")
    assert not await store.remove_connector(1, "crm")
    assert await store.connector(1, "crm") is None
    assert (await store.connectors(1, limit=9), await names(store), await store.action_names(1, limit=9)) == (
        [],
        [],
        [],
    )
    assert not (await found(store)).is_listed
    assert (await found(store, version="1.0.0")).definition == AWKWARD
    assert await store.save_connector(connector(), [action()]) == SavedConnector(created=False, changed=True)
    assert await names(store) == ["crm.get"]


async def test_a_tenant_sees_its_own_and_those_of_every_tenant(store: Store) -> None:
    await store.save_connector(connector("slack", tenant=EVERY_TENANT), [action("slack.post", tenant=EVERY_TENANT)])
    await store.save_connector(connector(), [action()])
    assert await names(store) == ["crm.get", "slack.post"]
    assert await names(store, tenant=2) == ["slack.post"]
    assert await store.action(2, "crm.get") is None
    assert await store.connector(2, "crm") is None
    assert not await store.enable_connector(2, "crm", enabled=False)
    assert await store.enable_action(1, "slack.post", enabled=False)
    assert not (await found(store, "slack.post")).enabled


async def test_actions_are_listed_by_id_and_narrowed(store: Store) -> None:
    await store.save_connector(
        connector(),
        [
            action("crm.get"),
            action("crm.put", category="Write", title="Änder es"),
            action("crm.list", tags='["Everything"]'),
        ],
    )
    await store.save_connector(connector("wiki"), [action("wiki.page", description="100% of a_page")])
    assert await names(store) == ["crm.get", "crm.list", "crm.put", "wiki.page"]
    assert await names(store, limit=2) == ["crm.get", "crm.list"]
    assert await names(store, after="crm.list") == ["crm.put", "wiki.page"]
    assert await names(store, connector="wiki") == ["wiki.page"]
    assert await names(store, category="Write") == ["crm.put"]
    assert await names(store, tag="Everything") == ["crm.list"]
    assert await names(store, tag="Every") == []
    assert await names(store, tag="read", category="Write") == ["crm.put"]
    assert await names(store, text="EVERYTHING") == ["crm.list"]
    assert await names(store, text="Änder") == ["crm.put"]
    assert await names(store, text="100% of a_p") == ["wiki.page"]
    assert await names(store, text="_", connector="crm") == []
    assert [row.id for row in await store.connectors(1, limit=9, after="crm")] == ["wiki"]
    assert await store.action_names(1, limit=2) == ["crm.get", "crm.list"]


async def test_code_is_replaced_by_what_its_node_has(store: Store) -> None:
    code: dict[str, Any] = {"source": "python", "definition": None}
    python = connector("shop", source="python", manifest="{}")
    await store.save_connector(python, [action("shop.pay", **code)])
    await store.save_connector(python, [action("shop.ship", **code)])
    assert await names(store) == ["shop.pay", "shop.ship"], "another node may have other code"
    changed = action("shop.pay", title="Pay now", checksum="other", **code)
    assert await store.save_connector(python, [changed]) == SavedConnector(created=False, changed=True)
    assert (await found(store, "shop.pay")).title == "Pay now"


@pytest.mark.parametrize("count", [4])
async def test_nodes_that_start_at_once_store_the_same_connector_once(store: Store, count: int) -> None:
    actions = [action(f"crm.a{number}") for number in range(5)]
    saved = await asyncio.gather(*(store.save_connector(connector(), actions) for _ in range(count)))
    assert all(isinstance(one, SavedConnector) for one in saved)
    assert sum(isinstance(one, SavedConnector) and one.created for one in saved) == 1
    rows: list[ConnectorRow] = await store.connectors(1, limit=9)
    assert [row.id for row in rows] == ["crm"]
    assert len(await names(store)) == 5
