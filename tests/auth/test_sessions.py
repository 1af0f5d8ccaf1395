"""Sessions end by time, by idleness, and with their subject."""

from __future__ import annotations

from typing import Any

import pytest

from detent.auth.http_fetcher import HttpFetcher
from detent.auth.providers import build_providers
from detent.auth.sessions import IDLE, LIFETIME, SEEN, LoginSource, Sessions, SignedIdentity, hash_of
from detent.errors import InvalidInput, StoreError, Unauthenticated
from detent.ids import new_id
from detent.instant import SECOND
from detent.settings import Settings
from detent.store.identity.people import NewPerson, subject_of_person
from detent.store.memory.store import MemoryStore
from detent.testing import FakeClock

HERE = LoginSource("192.0.2.7", "x" * 1000)


class Desk:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.sessions = Sessions(self.store, self.clock.wall)

    async def begin(self) -> str:
        person = NewPerson(new_id(), 1, "alice", "Alice", None, "viewer", None, "test")
        await self.store.add_person(person)
        identity = SignedIdentity("person alice", "alice")
        return await self.sessions.begin(1, subject_of_person(person.id), HERE, identity)


async def test_a_cookie_is_stored_as_a_hash_only() -> None:
    desk = Desk()
    cookie = await desk.begin()
    row = await desk.store.session(hash_of(cookie))
    assert row is not None
    assert cookie not in str(row)
    assert (row.expires_at, len(row.agent or "")) == (desk.clock.wall() + LIFETIME * SECOND, 300)
    for wrong in ("", cookie[:-1], cookie + "x", "x" * 43, hash_of(cookie), "é" * 43):
        with pytest.raises(Unauthenticated):
            await desk.sessions(wrong)


async def test_a_session_that_is_used_ends_after_half_a_day() -> None:
    desk = Desk()
    cookie = await desk.begin()
    until = None
    for _ in range(LIFETIME // (IDLE - 1)):
        desk.clock.advance(IDLE - 1)
        caller, until = await desk.sessions(cookie)
        assert caller.name == "person alice"
    assert until is not None
    desk.clock.move_to(until)
    with pytest.raises(Unauthenticated, match="sign in again"):
        await desk.sessions(cookie)


async def test_a_session_that_is_not_used_ends_after_half_an_hour() -> None:
    desk = Desk()
    cookie = await desk.begin()
    desk.clock.advance(IDLE)
    with pytest.raises(Unauthenticated):
        await desk.sessions(cookie)


async def test_use_is_noted_at_most_once_a_minute_and_need_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    cookie = await desk.begin()
    noted: list[int] = []

    async def see(hash_: str, at: int) -> None:
        noted.append(at)
        raise StoreError("the database cannot be written")

    monkeypatch.setattr(desk.store, "see_session", see)
    for _ in range(SEEN):
        await desk.sessions(cookie)
        desk.clock.advance(1)
    assert noted == []
    await desk.sessions(cookie)
    assert noted == [desk.clock.wall()]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"jwt_secret": "s" * 32, "jwt_audience": "a"}, "DETENT_JWT_ISSUER"),
        ({"jwt_jwks_url": "https://i/keys", "jwt_issuer": "i"}, "DETENT_JWT_AUDIENCE"),
        ({"jwt_keys_file": "missing.json", "jwt_issuer": "i", "jwt_audience": "a"}, "DETENT_JWT_KEYS_FILE"),
        ({"jwt_keys_file": __file__, "jwt_issuer": "i", "jwt_audience": "a"}, "DETENT_JWT_KEYS_FILE"),
        ({"oidc_issuer": "https://i", "oidc_roles": (("a", "admin"),)}, "DETENT_OIDC_CLIENT_ID"),
        ({"oidc_issuer": "https://i", "oidc_client_id": "c"}, "DETENT_OIDC_ROLES"),
    ],
)
def test_settings_that_lack_a_part_are_refused(given: dict[str, Any], name: str) -> None:
    desk = Desk()
    with pytest.raises(InvalidInput) as caught:
        build_providers(
            Settings(**given), "http://x", HttpFetcher(), desk.clock, desk.clock.wall, desk.store.active_tenant
        )
    assert caught.value.problems[0].field == name
