"""Credentials in a store: fenced by version, and leased to one node at a time."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.store.protocol import Store
from detent.store.vault.credentials import CredentialRow, NewCredential

NODE, OTHER, RUN = b"n" * 16, b"o" * 16, b"r" * 16


def new(name: str = "crm", version: int = 1, **given: Any) -> NewCredential:
    values: dict[str, Any] = {
        "tenant": 1,
        "kind": "token",
        "config": '{"hosts":["für.example"]}',
        "sealed": b"\x00box\xff",
        "state": "ready",
        "updated_by": "ann",
    }
    return NewCredential(name=name, version=version, **{**values, **given})


async def read(store: Store, name: str = "crm") -> CredentialRow:
    row = await store.credential(1, name)
    assert row is not None
    return row


async def test_a_credential_is_added_replaced_listed_and_deleted(store: Store) -> None:
    assert await store.put_credential(new())
    first = await read(store)
    assert first[:7] == new()[:7]
    assert (first.reason, first.expires_at, first.refresher, first.refresh_until) == (None, None, None, None)
    assert not await store.put_credential(new())
    assert not await store.put_credential(new(version=3))
    assert await store.put_credential(new(version=2, kind="basic", sealed=b"other", updated_by="bob"))
    second = await read(store)
    assert (second.kind, second.sealed, second.version, second.updated_by) == ("basic", b"other", 2, "bob")
    assert second.created_at == first.created_at
    assert not await store.put_credential(new("late", version=2))
    assert await store.put_credential(new("Crm"))
    assert await store.put_credential(new("zeta"))
    assert await store.put_credential(new("crm", tenant=2))
    listed = await store.credentials(1, limit=9)
    assert [(row.name, row.sealed) for row in listed] == [("Crm", b""), ("crm", b""), ("zeta", b"")]
    assert [row.name for row in await store.credentials(1, limit=1, after="Crm")] == ["crm"]
    assert await store.credential_states(1, ["crm", "missing"]) == {"crm": "ready"}
    assert await store.credential_states(1, []) == {}
    assert await store.drop_credential(1, "crm")
    assert not await store.drop_credential(1, "crm")
    assert await store.credential(1, "crm") is None
    assert await store.credential(2, "crm") is not None


async def test_one_node_at_a_time_has_the_lease(store: Store) -> None:
    await store.put_credential(new())
    taken = await asyncio.gather(
        *(store.lease_credential(1, "crm", 1, by=node, seconds=60) for node in (NODE, OTHER, NODE, OTHER))
    )
    assert sorted(taken) == [False, False, False, True]
    holder = (await read(store)).refresher
    assert holder in (NODE, OTHER)
    await store.release_credential(1, "crm", 1, by=b"x" * 16, pause=0)
    assert (await read(store)).refresher == holder
    await store.release_credential(1, "crm", 1, by=holder, pause=60)
    assert (await read(store)).refresher is None
    assert not await store.lease_credential(1, "crm", 1, by=NODE, seconds=60)
    await store.put_credential(new(version=2))
    assert not await store.lease_credential(1, "crm", 1, by=NODE, seconds=60)
    assert await store.lease_credential(1, "crm", 2, by=NODE, seconds=0)
    assert await store.lease_credential(1, "crm", 2, by=OTHER, seconds=60)
    assert not await store.lease_credential(1, "missing", 1, by=NODE, seconds=60)


async def test_tokens_are_stored_once_for_the_version_that_was_read(store: Store) -> None:
    await store.put_credential(new())
    await store.lease_credential(1, "crm", 1, by=NODE, seconds=60)
    expiry = 1_900_000_000_000_000
    stored = await asyncio.gather(
        *(store.renew_credential(1, "crm", 1, sealed=box, expires_at=expiry) for box in (b"one", b"two"))
    )
    assert sorted(stored) == [False, True]
    row = await read(store)
    assert row.sealed == (b"one", b"two")[stored.index(True)]
    assert (row.version, row.expires_at, row.refresher, row.state) == (2, expiry, None, "ready")
    assert not await store.refuse_credential(1, "crm", 1, reason="late")
    assert await store.refuse_credential(1, "crm", 2, reason="invalid_grant")
    assert (await read(store))[6:8] == ("reconnect", "invalid_grant")
    # An answer that is late is stored all the same: it is newer than the refusal.
    assert await store.renew_credential(1, "crm", 2, sealed=b"three", expires_at=None)
    assert (await read(store))[5:9] == (3, "ready", None, None)
    assert await store.reseal_credential(1, "crm", 3, b"again")
    assert not await store.reseal_credential(1, "crm", 2, b"late")
    assert (await read(store)).sealed == b"again"
    assert not await store.renew_credential(1, "missing", 1, sealed=b"", expires_at=None)


async def test_runs_that_wait_are_returned_when_their_credential_is_ready_or_gone(store: Store) -> None:
    await store.put_credential(new(state="reconnect"))
    await store.await_credential(1, "crm", RUN)
    await store.await_credential(1, "crm", RUN)
    await store.await_credential(1, "gone", RUN)
    await store.await_credential(2, "crm", NODE)
    assert sorted((one.tenant, one.name, one.run) for one in await store.awaiting_runs(limit=9)) == [
        (1, "gone", RUN),
        (2, "crm", NODE),
    ]
    await store.put_credential(new(version=2))
    waiting = await store.awaiting_runs(limit=9)
    assert len(waiting) == 3
    assert len(await store.awaiting_runs(limit=1)) == 1
    await store.forget_awaiting(waiting[:2])
    assert await store.awaiting_runs(limit=9) == waiting[2:]
