"""The authenticator: who sends a request.

A request has a bearer token (an API key, a token of an identity provider, or the key of a lock note) or the cookie of a
session, never both. Identities are cached for a minute. The cache is dropped when the *stamp* of the database changes:
the watch reads it every second, so a revoked key is refused within two seconds on every node.

A process that asks itself (the command line on its own database, a program with an embedded node) is trusted: it has
opened the database, so it could do everything anyway.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, Protocol

from detent.auth import keys
from detent.auth.caller import Caller
from detent.auth.cookies import read_cookie
from detent.clock import Clock
from detent.errors import Forbidden, StoreError, Unauthenticated
from detent.instant import SECOND, Instant
from detent.store.auth import KeyStore
from detent.store.tenants import TenantStatus, TenantStore

Headers = Iterable[tuple[bytes, bytes]]

#: Seconds that an identity is cached.
CACHED: Final = 60.0
_MOST_CACHED: Final = 10_000
#: Seconds between two looks at the stamp.
WATCH_PAUSE: Final = 1.0
LOCAL_PREFIX: Final = "dl_"
_AUTHORIZATION: Final = b"authorization"
_COOKIE: Final = b"cookie"
_LONGEST: Final = 16 * 1024
_DAY: Final = 86_400 * SECOND
_HELP: Final = (
    "this needs an API key, sent as `Authorization: Bearer dk_...`. `detent keys create` makes one; clients take it "
    "from their option `key`, from DETENT_KEY, or from `detent login`"
)


class IdentityStore(KeyStore, TenantStore, Protocol):
    """The verbs of what identities are made of."""


class Identified(NamedTuple):
    """A caller, and until when it may be cached (an instant), as far as that is known."""

    caller: Caller
    until: Instant | None = None


class Credentials(NamedTuple):
    """What a request proves its identity with: a bearer token, or the cookie of a session."""

    bearer: str | None
    cookie: str | None


class Check(Protocol):
    """Checks one kind of token or cookie. It raises Unauthenticated if it is not valid."""

    async def __call__(self, text: str) -> Identified: ...


class Authenticator(Protocol):
    """Identifies the sender of a request."""

    def known(self, headers: Headers) -> Caller | None:
        """Return the caller of a request if that needs no look into the database, else `None`."""

    async def identify(self, headers: Headers) -> Caller:
        """Return the caller of a request. Raise Unauthenticated if it has no valid key, token or session."""


class TrustedAuthenticator:
    """Every request comes from the same caller: this process asks itself."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def known(self, headers: Headers) -> Caller | None:
        return self._caller

    async def identify(self, headers: Headers) -> Caller:
        return self._caller


class _Cached(NamedTuple):
    caller: Caller
    until: float  # in the time of the monotonic clock


class RequestAuthenticator:
    """Identifies requests by their headers. `loose` is the caller of a request without credentials, `None` to refuse
    it. `tokens` checks tokens of an identity provider, and `sessions` the cookies of sessions, which are named
    `cookie`."""

    def __init__(
        self,
        store: IdentityStore,
        clock: Clock,
        now: Callable[[], Instant],
        *,
        loose: Caller | None = None,
        local_key: str | None = None,
        local: Caller | None = None,
        tokens: Check | None = None,
        sessions: Check | None = None,
        cookie: str = "detent",
    ) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._loose = loose
        self._local_key = local_key
        self._local = local
        self._tokens = tokens
        self._sessions = sessions
        self._cookie = cookie
        self._cache: dict[Credentials, _Cached] = {}
        #: The same by the Authorization header alone, which most requests have: it is not parsed again.
        self._bearers: dict[bytes, _Cached] = {}
        self._used: dict[str, Instant] = {}
        self._generation = 0

    def known(self, headers: Headers) -> Caller | None:
        header = _only_bearer(headers)
        found = None if header is None else self._bearers.get(header)
        if found is None:
            credentials = read_credentials(headers, self._cookie)
            if credentials == _NONE:
                return self._loose
            found = self._cache.get(credentials)
            if found is None:
                return None
            if header is not None:
                if len(self._bearers) >= _MOST_CACHED:
                    self._bearers.clear()
                self._bearers[header] = found
        return found.caller if self._clock.monotonic() < found.until else None

    async def identify(self, headers: Headers) -> Caller:
        credentials = read_credentials(headers, self._cookie)
        if credentials == _NONE:
            if self._loose is None:
                raise Unauthenticated(_HELP)
            return self._loose
        found = self._cache.get(credentials)
        if found is not None and self._clock.monotonic() < found.until:
            return found.caller
        generation = self._generation
        try:
            identified = await self._check(credentials)
        except Unauthenticated:
            # Browsers send a cookie to every port of a host, so it may be the session of another Detent.
            if self._loose is not None and credentials.bearer is None:
                return self._loose
            raise
        await self._require_active(identified.caller)
        if generation == self._generation:  # else the check may have read what has changed since
            self._remember(credentials, identified)
        return identified.caller

    async def _require_active(self, caller: Caller) -> None:
        """Raise Unauthenticated if the tenant of a caller does not exist, and Forbidden if it is suspended."""
        tenant = await self._store.tenant(caller.tenant)
        if tenant is None:
            raise Unauthenticated(f"the tenant of {caller.name!r} does not exist any more")
        if tenant.status == TenantStatus.SUSPENDED:
            raise Forbidden(f"the tenant {tenant.name!r} is suspended; ask the operator of this installation")

    async def _check(self, credentials: Credentials) -> Identified:
        bearer, cookie = credentials
        if bearer is not None and cookie is not None:
            raise Unauthenticated("send a bearer token or the cookie of a session, not both")
        if cookie is not None:
            if self._sessions is None:
                raise Unauthenticated("this server has no sessions")
            return await self._sessions(cookie)
        assert bearer is not None
        if not bearer:
            raise Unauthenticated("send one bearer token, in one Authorization header")
        if len(bearer) > _LONGEST:
            raise Unauthenticated("the bearer token is too long")
        if bearer.startswith(keys.PREFIX):
            return await self._check_key(bearer)
        if bearer.startswith(LOCAL_PREFIX):
            if (
                self._local_key is None
                or self._local is None
                or not hmac.compare_digest(bearer.encode(), self._local_key.encode())
            ):
                raise Unauthenticated("the key of the lock file is not that of this process; it may have restarted")
            return Identified(self._local)
        if self._tokens is None:
            raise Unauthenticated(f"the bearer token is not an API key; {_HELP}")
        return await self._tokens(bearer)

    async def _check_key(self, bearer: str) -> Identified:
        id_ = keys.id_of(bearer)
        row = await self._store.key(id_)
        now = self._now()
        caller = keys.caller_of(bearer, row, now)
        assert row is not None
        if row.used_at is None or now - row.used_at > _DAY:
            await self._note_use(id_, now)
        return Identified(caller, keys.until(row))

    async def _note_use(self, id_: str, now: Instant) -> None:
        """Record once a day that a key is in use. A database that cannot be written does not refuse the request."""
        if now - self._used.get(id_, -_DAY) < _DAY:
            return
        if len(self._used) >= _MOST_CACHED:
            self._used.clear()
        self._used[id_] = now
        try:
            await self._store.use_key(id_, now)
        except StoreError:
            self._used.pop(id_, None)

    def _remember(self, credentials: Credentials, identified: Identified) -> None:
        if len(self._cache) >= _MOST_CACHED:
            self._cache.clear()
        self._bearers.clear()
        seconds = CACHED
        if identified.until is not None:
            seconds = min(CACHED, (identified.until - self._now()) / SECOND)
        self._cache[credentials] = _Cached(identified.caller, self._clock.monotonic() + seconds)

    def forget(self) -> None:
        """Forget every cached identity, because something that identities are made of has changed."""
        self._generation += 1
        self._cache.clear()
        self._bearers.clear()


class IdentityWatch:
    """Reads the stamp of identities, and lets the authenticator forget what it knows when it has changed."""

    name = "identities"

    def __init__(self, store: KeyStore, authenticator: RequestAuthenticator) -> None:
        self._store = store
        self._authenticator = authenticator
        self._stamp: str | None = None

    async def poll(self) -> float:
        """Look once. Return the seconds until the next look."""
        stamp = await self._store.auth_stamp()
        if stamp != self._stamp:
            self._authenticator.forget()
            self._stamp = stamp
        return WATCH_PAUSE


_NONE: Final = Credentials(None, None)
#: No token is this text.
_AMBIGUOUS: Final = Credentials("", None)


def _only_bearer(headers: Headers) -> bytes | None:
    """Return the Authorization header if it is the only header that may have credentials, else `None`."""
    found = None
    for name, value in headers:
        if name == _AUTHORIZATION:
            if found is not None:
                return None
            found = value
        elif name == _COOKIE and b"detent=" in value:
            return None
    return found


def read_credentials(headers: Headers, name_of_cookie: str) -> Credentials:
    """Return the bearer token and the session cookie of a request. Two headers with credentials are an invalid token:
    a proxy in front may have checked the other one."""
    bearer = cookie = None
    is_given = False
    for name, value in headers:
        if name == _AUTHORIZATION:
            if is_given:
                return _AMBIGUOUS
            is_given = True
            scheme, _, text = value.partition(b" ")
            if scheme.lower() == b"bearer":
                bearer = text.strip().decode("latin-1")
        elif name == _COOKIE and b"detent=" in value:
            cookie = read_cookie(value.decode("latin-1"), name_of_cookie)
    return _NONE if bearer is None and cookie is None else Credentials(bearer, cookie)
