"""An opened credential: it authenticates each hop of a request at the last moment, if its rules allow the host.

The request of a step never has the credential in it, so no message, journal entry or redirect can carry it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from detent.catalog import aws4
from detent.catalog.connections import Scrubber, basic
from detent.catalog.connector import Auth, AuthType, KeyPlace
from detent.instant import SECOND, Instant
from detent.run.outcomes import Fail, StepError
from detent.steps.errors import CredentialProblem
from detent.steps.http.request import BlobBody, HttpRequest, InvalidHttpRequest
from detent.vault.credential import CredentialKind, SealedParts
from detent.vault.hosts import HostRules, rule_of
from detent.vault.redaction import Redactor

#: A token is renewed so long before it expires.
_MARGIN: Final = 60 * SECOND
_USUAL_PORTS: Final = {"http": 80, "https": 443}


class OpenedCredential:
    """A credential whose box is open, in the memory of this process only."""

    def __init__(
        self,
        name: str,
        version: int,
        kind: CredentialKind,
        config: Mapping[str, Any],
        sealed: SealedParts,
        expires_at: Instant | None,
        wall: Callable[[], Instant],
        box: bytes = b"",
    ) -> None:
        self.name = name
        self.version = version
        self.kind = kind
        self.config = config
        self.sealed = sealed
        self.expires_at = expires_at
        self.hosts = HostRules(config.get("hosts", ()))
        self.box = box  # as it is stored
        self.due_at = _due_at(sealed.issued_at, expires_at)
        self._wall = wall

    def __repr__(self) -> str:
        return f"OpenedCredential({self.name!r}, {self.kind}, version {self.version})"

    @property
    def token(self) -> str | None:
        """Return the one value that a request carries, or `None` for kinds that have no such value."""
        parts = self.sealed.parts
        match self.kind:
            case CredentialKind.TOKEN:
                return parts["token"]
            case CredentialKind.HEADER:
                return parts["value"]
            case CredentialKind.API_KEY:
                return parts["key"]
            case CredentialKind.OAUTH2_CLIENT | CredentialKind.OAUTH2_CODE:
                return self.sealed.access_token
        return None

    @cached_property
    def secrets(self) -> Mapping[str, str]:
        """Return the parts by the names that connections of the environment have."""
        parts = self.sealed.parts
        match self.kind:
            case CredentialKind.BASIC:
                return {"username": self.config["username"], "password": parts["password"]}
            case CredentialKind.AWS4:
                return {"access_key_id": self.config["access_key_id"], **parts}
            case _:
                return {} if self.token is None else {"token": self.token}

    def values(self) -> list[str]:
        """Return every value that must not be in what is stored."""
        tokens = (self.sealed.access_token, self.sealed.refresh_token)
        found = [*self.sealed.parts.values(), *(token for token in tokens if token)]
        if self.kind is CredentialKind.BASIC:
            found.append(basic(self.config["username"], self.sealed.parts["password"]))
        return found

    @cached_property
    def redactor(self) -> Redactor:
        """Return what removes its values, in any spelling, from what comes back."""
        return Redactor(self.values())

    @cached_property
    def scrubber(self) -> Scrubber:
        """Return what removes its values from texts."""
        return Scrubber({str(number): value for number, value in enumerate(self.values())})

    def covers(self, request: HttpRequest) -> bool:
        """Return whether this credential may be sent with a request."""
        return self.hosts.allow(request.target.host, request.target.port)

    def authorize(self, request: HttpRequest, auth: Auth | None = None) -> HttpRequest:
        """Return a request with what authenticates it. `auth` is how its connector wants a key to be sent."""
        if auth is not None and auth.type is AuthType.API_KEY and self.token is not None:
            return _with_key(request, str(auth.name), self.token, auth.place)
        parts = self.sealed.parts
        match self.kind:
            case CredentialKind.HEADER:
                return _with_header(request, self.config["header"], parts["value"])
            case CredentialKind.API_KEY:
                place = KeyPlace(self.config.get("in", "header"))
                return _with_key(request, self.config["name"], parts["key"], place)
            case CredentialKind.BASIC:
                text = basic(self.config["username"], parts["password"])
                return _with_header(request, "Authorization", f"Basic {text}")
            case CredentialKind.AWS4:
                signed = sign(
                    request,
                    self.secrets,
                    service=self.config["service"],
                    region=self.config["region"],
                    now=self._wall(),
                )
                return _with_headers(request, signed)
            case _:
                return _with_header(request, "Authorization", f"Bearer {self.token}")


class RequestAuth:
    """A credential for the hops of one request. The first hop must be covered; later ones go without it if not."""

    def __init__(self, opened: OpenedCredential, auth: Auth | None = None) -> None:
        self._opened = opened
        self._auth = auth
        self._is_first = True
        self._is_secure = False

    def authorize(self, request: HttpRequest) -> HttpRequest:
        """Return a hop as it is sent. Raise CredentialProblem for a first hop to another host."""
        opened, target = self._opened, request.target
        is_covered = opened.covers(request)
        is_first, self._is_first = self._is_first, False
        if is_first and not is_covered:
            raise _denied(
                f"the credential {opened.name!r} may not be sent to {rule_of(target.host, target.port)}; "
                f"it allows {str(opened.hosts) or 'no host'}"
            )
        if self._is_secure and target.url.scheme != "https":
            is_covered = False
        self._is_secure = self._is_secure or target.url.scheme == "https"
        if is_covered:
            return opened.authorize(request, self._auth)
        # A server may copy its own query into the address that it redirects to.
        if opened.redactor.text(str(target.url)) != str(target.url):
            raise _denied(
                f"a redirect would send the credential {opened.name!r} to {rule_of(target.host, target.port)}"
            )
        return request


def _denied(message: str) -> CredentialProblem:
    return CredentialProblem(Fail(StepError("credential_denied", message), retry=False))


def sign(
    request: HttpRequest, secrets: Mapping[str, str], *, service: str, region: str, now: Instant
) -> Mapping[str, str]:
    """Return the headers that sign a request, over what is sent. Raise InvalidHttpRequest for a streamed body."""
    if isinstance(request.body, BlobBody):
        raise InvalidHttpRequest("a signature of AWS covers the body, so a blob cannot be sent with such a credential")
    url = request.target.url
    host = str(url.raw_host)
    return aws4.sign(
        request.method,
        host if url.port == _USUAL_PORTS.get(url.scheme) else f"{host}:{url.port}",
        url.raw_path,
        url.raw_query_string,
        request.body or b"",
        secrets=secrets,
        service=service,
        region=region,
        now=now,
    )


def host_rule(url: str) -> str | None:
    """Return the rule that covers exactly the host of an address, or None if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _USUAL_PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    return rule_of(parts.hostname, port) if parts.hostname and port else None


def _due_at(issued_at: Instant | None, expires_at: Instant | None) -> Instant:
    """Return when a token should be renewed: a minute before it expires, or at 80 % of a short life.

    It is up to a quarter of the time that is left then earlier, by chance, so that nodes differ."""
    if issued_at is None or expires_at is None:
        return expires_at or 0
    margin = min((expires_at - issued_at) // 5, _MARGIN)
    return expires_at - margin - int(margin * random.random() / 4)


def _with_header(request: HttpRequest, name: str, value: str) -> HttpRequest:
    return _with_headers(request, {name: value})


def _with_headers(request: HttpRequest, added: Mapping[str, str]) -> HttpRequest:
    headers = request.headers.copy()
    headers.update(added)
    return msgspec.structs.replace(request, headers=headers)


def _with_key(request: HttpRequest, name: str, key: str, place: KeyPlace) -> HttpRequest:
    if place is KeyPlace.HEADER:
        return _with_header(request, name, key)
    target = msgspec.structs.replace(request.target, url=request.target.url.update_query({name: key}))
    return msgspec.structs.replace(request, target=target)
