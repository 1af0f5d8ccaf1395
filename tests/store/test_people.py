"""People, sessions and handshakes: what is changed together is stored together."""

import asyncio
from typing import Any

from detent.ids import new_id
from detent.instant import SECOND
from detent.store.identity.people import Handshake, NewPerson, NewSession, subject_of_person
from detent.store.protocol import Store

AWKWARD = "Ünï 'x' \" 🧾 %s"
HOUR = 3600 * SECOND


def person(name: str = "alice", **given: Any) -> NewPerson:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "name": name, "display_name": AWKWARD, "email": "a@example.org", "role": "viewer",
        "password": "$argon2id$x", "created_by": AWKWARD,
    }  # fmt: skip
    return NewPerson(**{**values, **given})


async def session(store: Store, hash_: str = "aa", **given: Any) -> NewSession:
    values: dict[str, Any] = {
        "hash": hash_, "id": new_id(), "tenant": 1, "subject": "key:abc", "identity": '{"name": "x"}',
        "expires_at": await store.now() + HOUR, "address": "127.0.0.1", "agent": AWKWARD,
    }  # fmt: skip
    made = NewSession(**{**values, **given})
    await store.add_session(made)
    return made


async def test_a_person_comes_back_as_it_was_given_and_a_name_is_taken_once(store: Store) -> None:
    before = await store.now()
    one = person()
    assert await store.add_person(one)
    assert not await store.add_person(person())
    assert not await store.add_person(person(tenant=2))
    row = await store.person(1, one.id)
    assert row is not None
    assert tuple(row[: len(one)]) == tuple(one)
    assert before <= row.created_at == row.changed_at <= await store.now()
    assert row.disabled_at is None
    assert await store.person_named("alice") == row
    assert await store.person_named("alice", tenant=1) == row
    assert await store.person_named("alice", tenant=2) is None
    assert await store.person_named("Alice") is None
    assert await store.active_tenant("default") == 1
    assert await store.active_tenant("other") is None
    assert await store.tenant_name(1) == "default"
    assert await store.tenant_name(7) is None
    assert await store.person(2, one.id) is None


async def test_people_are_listed_by_tenant_and_page(store: Store) -> None:
    mine = [person(f"p{number}") for number in range(3)]
    for each in (*mine, person("foreign", tenant=2)):
        await store.add_person(each)
    rows = await store.people(1, limit=2)
    assert [row.name for row in rows] == ["p0", "p1"]
    assert [row.name for row in await store.people(1, limit=2, after=rows[-1].id)] == ["p2"]


async def test_a_change_of_a_person_ends_its_sessions_and_changes_the_stamp(store: Store) -> None:
    one = person()
    await store.add_person(one)
    await session(store, "own", subject=subject_of_person(one.id))
    await session(store, "other", subject=subject_of_person(new_id()))
    await session(store, "foreign", subject=subject_of_person(one.id), tenant=2)
    stamp = await store.auth_stamp()
    assert await store.change_person(2, one.id, {"role": "admin"}, end_sessions=True) is None
    assert await store.auth_stamp() == stamp
    row = await store.change_person(1, one.id, {"role": "admin", "email": None}, end_sessions=False)
    assert row is not None
    assert (row.role, row.email, row.name) == ("admin", None, "alice")
    assert await store.person(1, one.id) == row
    assert await store.session("own")
    second = await store.auth_stamp()
    assert second != stamp
    now = await store.now()
    row = await store.change_person(1, one.id, {"disabled_at": now}, end_sessions=True)
    assert row is not None
    assert row.disabled_at == now
    assert await store.session("own") is None
    assert await store.session("other")
    assert await store.session("foreign")
    assert await store.auth_stamp() != second


async def test_a_session_is_found_seen_and_ended(store: Store) -> None:
    made = await session(store)
    row = await store.session("aa")
    assert row is not None
    assert tuple(row[: len(made)]) == tuple(made)
    assert row.created_at == row.seen_at
    stamp = await store.auth_stamp()
    await store.see_session("aa", row.seen_at + SECOND)
    await store.see_session("bb", row.seen_at)
    seen = await store.session("aa")
    assert seen == row._replace(seen_at=row.seen_at + SECOND)
    assert await store.auth_stamp() == stamp, "a request must not make every node forget what it knows"
    assert not await store.end_session(2, made.id)
    assert not await store.end_session(1, made.id, subject="key:other")
    assert not await store.end_session(1, new_id())
    assert await store.auth_stamp() == stamp
    assert await store.end_session(1, made.id, subject="key:abc")
    assert await store.session("aa") is None
    assert await store.auth_stamp() != stamp


async def test_sessions_are_listed_by_tenant_and_by_subject(store: Store) -> None:
    for hash_, subject, tenant in (("a", "x", 1), ("b", "y", 1), ("c", "x", 1), ("d", "x", 2)):
        await session(store, hash_, subject=subject, tenant=tenant)
    rows = await store.sessions(1, limit=2)
    assert [row.hash for row in rows] == ["a", "b"]
    assert [row.hash for row in await store.sessions(1, limit=9, after=rows[-1].id)] == ["c"]
    assert [row.hash for row in await store.sessions(1, subject="x", limit=9)] == ["a", "c"]


async def test_a_new_session_removes_those_that_have_expired(store: Store) -> None:
    await session(store, "old", expires_at=await store.now() - SECOND)
    assert await store.session("old"), "the reader looks at the time"
    await session(store, "new")
    assert await store.session("old") is None


async def test_a_handshake_is_taken_once(store: Store) -> None:
    now = await store.now()
    good = Handshake("h1", 1, "login", '{"nonce": "x"}', now + HOUR)
    await store.add_handshake(good)
    await store.add_handshake(Handshake("h2", 1, "login", "{}", now - SECOND))
    assert await store.take_handshake("credential", "h1") is None
    taken = await asyncio.gather(*(store.take_handshake("login", "h1") for _ in range(4)))
    assert [each for each in taken if each is not None] == [good]
    assert await store.take_handshake("login", "h2") is None
    assert await store.take_handshake("login", "unknown") is None
