"""Keys in a store: they are found by id, belong to a tenant, and every change of them replaces the stamp."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.instant import SECOND
from detent.store.auth import FIRST_KEY, KeyChange, NewKey
from detent.store.protocol import Store

HASH = "ab" * 32


def key(id_: str = "aaaaaaaa", **given: Any) -> NewKey:
    values: dict[str, Any] = {"tenant": 1, "name": "ci", "hash": HASH, "role": "operator", "scopes": None}
    values |= {"workflows": None, "created_by": "ann", "expires_at": None}
    return NewKey(id=id_, **{**values, **given})


def change(id_: str, **given: Any) -> KeyChange:
    values: dict[str, Any] = {"hash": "cd" * 32, "created_by": "bob", "expires_at": None}
    return KeyChange(id=id_, **{**values, **given})


async def test_a_key_is_added_once_and_found_with_all_of_its_fields(store: Store) -> None:
    before = await store.now()
    new = key(role=None, scopes='["workflows:read"]', workflows='["käse"]', expires_at=before + SECOND)
    assert await store.add_key(new)
    assert not await store.add_key(key(name="another"))
    row = await store.key("aaaaaaaa")
    assert row is not None
    assert tuple(row[: len(new)]) == tuple(new)
    assert (row.used_at, row.revoked_at, row.created_at >= before) == (None, None, True)
    assert await store.own_key(1, "aaaaaaaa") == row
    assert await store.own_key(2, "aaaaaaaa") is None
    assert await store.key("missing") is None


async def test_of_several_first_keys_one_is_added(store: Store) -> None:
    added = await asyncio.gather(*(store.add_first_key(key(f"first{number}")) for number in range(4)))
    assert sorted(added) == [False, False, False, True]
    assert len(await store.keys(1, limit=9)) == 1


async def test_a_note_of_a_first_key_that_does_not_exist_is_replaced_once(store: Store) -> None:
    assert await store.setting(FIRST_KEY, "lost") == "lost"
    added = await asyncio.gather(*(store.add_first_key(key(f"first{number}")) for number in range(4)))
    assert sorted(added) == [False, False, False, True]
    [row] = await store.keys(1, limit=9)
    assert await store.setting(FIRST_KEY, "") == row.id


async def test_keys_are_listed_by_id_in_their_tenant(store: Store) -> None:
    for id_, tenant in (("c", 1), ("a", 1), ("b", 2), ("d", 1)):
        await store.add_key(key(id_, tenant=tenant))
    assert [row.id for row in await store.keys(1, limit=2)] == ["a", "c"]
    assert [row.id for row in await store.keys(1, limit=2, after="c")] == ["d"]
    assert [row.id for row in await store.keys(2, limit=9)] == ["b"]
    assert await store.keys(3, limit=9) == []


async def test_a_revocation_replaces_the_stamp_and_an_earlier_one_stays(store: Store) -> None:
    await store.add_key(key())
    stamp, now = await store.auth_stamp(), await store.now()
    later = await store.revoke_key(1, "aaaaaaaa", at=now + 100 * SECOND)
    assert later is not None
    assert later.revoked_at == now + 100 * SECOND
    second = await store.auth_stamp()
    sooner = await store.revoke_key(1, "aaaaaaaa")
    assert sooner is not None
    assert sooner.revoked_at is not None
    assert sooner.revoked_at < now + 100 * SECOND
    third = await store.auth_stamp()
    assert len({stamp, second, third}) == 3
    assert await store.revoke_key(1, "aaaaaaaa", at=now + 50 * SECOND) == sooner
    assert await store.auth_stamp() == third
    assert await store.revoke_key(2, "aaaaaaaa") is None
    assert await store.revoke_key(1, "missing") is None


async def test_a_rotated_key_may_do_the_same_and_the_old_one_ends_later(store: Store) -> None:
    await store.add_key(key(workflows='["a"]'))
    await store.use_key("aaaaaaaa", 5)
    stamp, now = await store.auth_stamp(), await store.now()
    made = await store.rotate_key(1, "aaaaaaaa", change("bbbbbbbb", expires_at=now + SECOND), at=now + 60 * SECOND)
    assert made is not None
    assert made == await store.key("bbbbbbbb")
    assert (made.name, made.role, made.workflows, made.hash) == ("ci", "operator", '["a"]', "cd" * 32)
    assert (made.created_by, made.expires_at, made.used_at, made.revoked_at) == ("bob", now + SECOND, None, None)
    old = await store.key("aaaaaaaa")
    assert old is not None
    assert (old.hash, old.used_at, old.revoked_at) == (HASH, 5, now + 60 * SECOND)
    assert await store.auth_stamp() != stamp
    assert await store.rotate_key(1, "aaaaaaaa", change("cccccccc"), at=now) is None, "it was rotated before"
    assert await store.rotate_key(2, "bbbbbbbb", change("cccccccc"), at=now) is None, "it is of another tenant"
    assert await store.rotate_key(1, "bbbbbbbb", change("aaaaaaaa"), at=now) is None, "the id is taken"
    assert await store.key("cccccccc") is None


async def test_of_two_rotations_at_once_one_makes_a_key(store: Store) -> None:
    await store.add_key(key())
    made = await asyncio.gather(*(store.rotate_key(1, "aaaaaaaa", change(id_), at=0) for id_ in "bcde"))
    assert sum(one is not None for one in made) == 1
    assert len(await store.keys(1, limit=9)) == 2
