"""Sessions: a browser proves with a cookie who signed in.

The cookie has 256 random bits; the database has its SHA-256. A session ends after 12 hours, or after 30 minutes without
a request. What its subject may do is read again at every check: a person from its row, a key from its row. So a change
of a role, a disabled person and a revoked key take effect with the next look at the stamp of identities.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

import msgspec

from detent.auth import keys
from detent.auth.authenticator import Identified
from detent.auth.caller import Caller
from detent.auth.scopes import scopes_of
from detent.errors import StoreError, Unauthenticated
from detent.ids import new_id
from detent.instant import SECOND, Instant
from detent.run.initiator import Principal
from detent.store.audit import name_actor
from detent.store.auth import KeyStore
from detent.store.identity.people import NewSession, PersonRow, PersonStore, SessionRow

LIFETIME: Final = 12 * 3600
IDLE: Final = 30 * 60
#: Seconds between two notes that a session is in use.
SEEN: Final = 60
_COOKIE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_LONGEST_AGENT: Final = 300
#: What is refused says no more than this, so that a guess learns nothing.
_REFUSED: Final = "the session has ended; sign in again"


class SessionsStore(KeyStore, PersonStore, Protocol):
    """The verbs that sessions use."""


class SignedIdentity(msgspec.Struct, frozen=True):
    """Who signed in. Of a person and a key this is only shown; of an identity provider it is all that is known."""

    name: str
    user_id: str
    display_name: str | None = None
    email: str | None = None
    scopes: list[str] = []


class LoginSource(NamedTuple):
    """Where a login comes from: the address and the browser, as it describes itself."""

    address: str | None
    agent: str | None


def hash_of(cookie: str) -> str:
    """Return the hash of a cookie, as it is stored."""
    return hashlib.sha256(cookie.encode()).hexdigest()


def identity_of(row: SessionRow) -> SignedIdentity:
    """Return who signed in, as it was then."""
    return msgspec.json.decode(row.identity, type=SignedIdentity)


def is_live(row: SessionRow, now: Instant) -> bool:
    """Return whether a session has neither expired nor been idle for too long."""
    return now < row.expires_at and now - row.seen_at < IDLE * SECOND


class Sessions:
    """The sessions of one store. As a `Check` it identifies the caller of a cookie."""

    def __init__(self, store: SessionsStore, now: Callable[[], Instant]) -> None:
        self._store = store
        self._now = now

    async def begin(self, tenant: int, subject: str, source: LoginSource, identity: SignedIdentity) -> str:
        """Store a new session and return its cookie."""
        cookie = secrets.token_urlsafe(32)
        name_actor(tenant, identity.name)
        data = msgspec.json.encode(identity)
        agent = None if source.agent is None else source.agent[:_LONGEST_AGENT]
        expires = self._now() + LIFETIME * SECOND
        await self._store.add_session(
            NewSession(hash_of(cookie), new_id(), tenant, subject, data.decode(), expires, source.address, agent)
        )
        return cookie

    async def find(self, cookie: str) -> SessionRow | None:
        """Return the session of a cookie, `None` if there is none or it has ended."""
        if not _COOKIE.fullmatch(cookie):
            return None
        row = await self._store.session(hash_of(cookie))
        return row if row is not None and is_live(row, self._now()) else None

    async def end(self, session: SessionRow) -> None:
        """End a session."""
        await self._store.end_session(session.tenant, session.id)

    async def __call__(self, text: str) -> Identified:
        row = await self.find(text)
        if row is None:
            raise Unauthenticated(_REFUSED)
        now = self._now()
        caller, until = await self._caller(row, now)
        if now - row.seen_at >= SEEN * SECOND:
            with suppress(StoreError):  # a database that cannot be written does not refuse the request
                await self._store.see_session(row.hash, now)
        return Identified(caller, min(row.expires_at, until or row.expires_at))

    async def _caller(self, row: SessionRow, now: Instant) -> Identified:
        kind, _, name = row.subject.partition(":")
        if kind == "key":
            key = await self._store.key(name)
            if key is None or not keys.is_valid(key, now):
                raise Unauthenticated(_REFUSED)
            return Identified(replace(keys.caller_of_row(key), via="session"), keys.until(key))
        if kind == "person":
            person = await self._store.person(row.tenant, bytes.fromhex(name))
            if person is None or person.disabled_at is not None:
                raise Unauthenticated(_REFUSED)
            return Identified(caller_of_person(person))
        identity = identity_of(row)
        principal = Principal(identity.user_id, identity.display_name, identity.email)
        return Identified(
            Caller(row.tenant, identity.name, scopes_of(None, identity.scopes), via="session", principal=principal)
        )


def caller_of_person(person: PersonRow) -> Caller:
    """Return the caller of a person who signed in."""
    principal = Principal(person.name, person.display_name, person.email)
    return Caller(
        person.tenant,
        f"person {person.name}",
        scopes_of(person.role),
        via="session",
        principal=principal,
        role=person.role,
    )


def subject_of_key(key: str) -> str:
    """Return the subject of the sessions of a key."""
    return f"key:{key}"
