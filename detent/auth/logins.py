"""Logins: a password, an API key or an identity provider begins a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

import msgspec

from detent.auth import keys
from detent.auth.claims import FindTenant
from detent.auth.oidc import Handover, Oidc, hash_text
from detent.auth.passwords import FailedLogins, Passwords, SlowedNames, check_password
from detent.auth.sessions import LoginSource, Sessions, SignedIdentity, subject_of_key
from detent.clock import Clock
from detent.errors import Forbidden, InvalidInput, NotFound, Problem, Unauthenticated
from detent.instant import SECOND, Instant
from detent.store.auth import KeyStore
from detent.store.identity.people import Handshake, PersonStore, SessionRow, subject_of_person

#: Failed logins of one address in five minutes, and of one name from one address. More are refused.
ALLOWED_BY_ADDRESS: Final = 100
ALLOWED_BY_NAME: Final = 20
#: Logins at the identity provider that one address may begin in five minutes. Each one writes a row.
ALLOWED_BEGUN: Final = 300
WINDOW: Final = 300.0
#: Seconds in which a person must come back from the identity provider.
HANDSHAKE: Final = 600
_KIND: Final = "login"
#: A login that was begun has no tenant yet.
_NO_TENANT: Final = 0
_LONGEST_NAME: Final = 200
_REFUSED: Final = "the name or the password is not correct"


class LoginStore(KeyStore, PersonStore, Protocol):
    """The verbs that logins use."""


class SignedIn(NamedTuple):
    """A session that was begun, and the local path at which the browser goes on."""

    cookie: str
    next: str


class Logins:
    """Signs in. It owns the counts of failed logins.

    An address that failed too often is refused before any work. A name that failed too often from all addresses is
    slowed, so that strangers lock no person out."""

    def __init__(
        self,
        store: LoginStore,
        sessions: Sessions,
        clock: Clock,
        now: Callable[[], Instant],
        *,
        passwords: Passwords | None = None,
        oidc: Oidc | None = None,
        find_tenant: FindTenant | None = None,
    ) -> None:
        self.sessions = sessions
        self.oidc = oidc
        self.passwords = passwords or Passwords()
        self._store = store
        self._now = now
        self._find_tenant = find_tenant
        self._by_address = FailedLogins(clock, allowed=ALLOWED_BY_ADDRESS, window=WINDOW)
        self._begun = FailedLogins(clock, allowed=ALLOWED_BEGUN, window=WINDOW)
        self._by_pair = FailedLogins(clock, allowed=ALLOWED_BY_NAME, window=WINDOW)
        self._by_name = SlowedNames(clock, allowed=ALLOWED_BY_NAME, window=WINDOW)

    async def with_password(self, name: str, password: str, source: LoginSource) -> str:
        """Begin a session of a person and return its cookie. Raise Unauthenticated or LimitExceeded."""
        address, name = source.address or "", name.strip().lower()[:_LONGEST_NAME]
        self._by_address.refuse(address)
        pair = await self._take_turn(name, address)
        person = await self._store.person_named(name)
        is_right = await self.passwords.matches(None if person is None else person.password, password)
        if person is None or not is_right or person.disabled_at is not None:
            self._by_address.count(address)
            self._by_name.count(name)
            raise Unauthenticated(_REFUSED)
        self._by_pair.forget(pair)
        identity = SignedIdentity(f"person {person.name}", person.name)
        return await self.sessions.begin(person.tenant, subject_of_person(person.id), source, identity)

    async def with_key(self, key: str, source: LoginSource) -> str:
        """Begin a session of an API key and return its cookie. It ends when the key ends."""
        address = source.address or ""
        self._by_address.refuse(address)
        try:
            id_ = keys.id_of(key.strip())
            row = await self._store.key(id_)
            caller = keys.caller_of(key.strip(), row, self._now())
        except Unauthenticated:
            self._by_address.count(address)
            raise
        identity = SignedIdentity(caller.name, subject_of_key(id_))
        return await self.sessions.begin(caller.tenant, subject_of_key(id_), source, identity)

    async def change_password(self, session: SessionRow, old: str, new: str, source: LoginSource) -> None:
        """Change the password of the person of a session, and end all sessions of the person.

        Raise InvalidInput if the old password is not correct, and Forbidden if the session is not a person's."""
        kind, _, id_ = session.subject.partition(":")
        if kind != "person":
            raise Forbidden("only a person who signed in with a password can change it")
        check_password(new, "new_password")
        address = source.address or ""
        self._by_address.refuse(address)
        pair = await self._take_turn(session.subject, address)
        person = await self._store.person(session.tenant, bytes.fromhex(id_))
        if not await self.passwords.matches(None if person is None else person.password, old):
            self._by_address.count(address)
            self._by_name.count(session.subject)
            raise InvalidInput("the password was not changed", [Problem("old_password", "is not correct")])
        self._by_pair.forget(pair)
        hashed = await self.passwords.hash(new)
        await self._store.change_person(session.tenant, bytes.fromhex(id_), {"password": hashed}, end_sessions=True)

    async def begin_at_provider(self, browser: str, next_: str, source: LoginSource) -> str:
        """Return the address of the identity provider at which the person signs in."""
        oidc, address = self._provider(), source.address or ""
        self._begun.refuse(address)
        self._begun.count(address)
        begun = await oidc.begin(browser, next_)
        data = msgspec.json.encode(begun.handover).decode()
        expires = self._now() + HANDSHAKE * SECOND
        await self._store.add_handshake(Handshake(hash_text(begun.state), _NO_TENANT, _KIND, data, expires))
        return begun.location

    async def finish_at_provider(self, browser: str, answer: Mapping[str, str], source: LoginSource) -> SignedIn:
        """Begin a session of the person who came back from the identity provider."""
        oidc = self._provider()
        handshake = await self._store.take_handshake(_KIND, hash_text(answer.get("state", "")))
        if handshake is None:
            raise Unauthenticated("this login is not known, was finished before, or took too long; sign in again")
        handover = msgspec.json.decode(handshake.data, type=Handover)
        tenant_name, principal, scopes = await oidc.finish(handover, browser, answer)
        tenant = None if self._find_tenant is None else await self._find_tenant(tenant_name)
        if tenant is None:
            raise Unauthenticated(f"the tenant of the identity provider's answer ({tenant_name!r}) is not known here")
        if not scopes:
            raise Unauthenticated("the identity provider knows you, but none of your groups has a role here")
        name = f"person {principal.email or principal.user_id}"
        identity = SignedIdentity(
            name, principal.user_id, principal.display_name, principal.email, sorted(str(scope) for scope in scopes)
        )
        cookie = await self.sessions.begin(tenant, f"oidc:{principal.user_id}", source, identity)
        return SignedIn(cookie, handover.next)

    async def _take_turn(self, name: str, address: str) -> str:
        """Count a login of a name from an address, and wait if the name failed often. Return the key of the pair.

        It is counted before it is known to be wrong, or many at once would not be. Raise LimitExceeded."""
        pair = f"{address} {name}"
        self._by_pair.refuse(pair)
        self._by_pair.count(pair)
        await self._by_name.wait(name)
        return pair

    def _provider(self) -> Oidc:
        if self.oidc is None:
            raise NotFound("this Detent has no identity provider; DETENT_OIDC_ISSUER sets one")
        return self.oidc
