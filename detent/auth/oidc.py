"""Sign in with an OpenID Connect provider: authorization code, PKCE (S256), state and nonce.

The flow is our own: two redirects and one POST around the verifier that bearer tokens use. A client library would
verify ID tokens with rules and keys of its own, follow redirects and read answers of any size. Its import takes longer
than the start of a node.

`begin` makes the address of the provider and a handshake. The handshake is stored under the hash of its state, taken
once, and bound to a cookie of the browser. `finish` exchanges the code and returns the identity in the ID token. The
issuer is compared in the discovery document, in the answer of the browser (RFC 9207) and in the token, so an answer of
another provider is not mistaken for this one's.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec

from detent.auth.claims import ClaimRules, Identity, read_identity
from detent.auth.fetcher import Fetcher, FetchFailed
from detent.auth.jwks import Jwks
from detent.auth.remote import LARGEST, RemoteDocument
from detent.auth.tokens import TokenVerifier
from detent.clock import Clock
from detent.errors import InvalidInput, Unauthenticated, Unavailable
from detent.instant import Instant
from detent.observe import emit
from detent.values.json import decode_json

DISCOVERY: Final = "/.well-known/openid-configuration"
_LONGEST_CODE: Final = 4096
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class OidcClient:
    """How this Detent is registered at its provider."""

    issuer: str
    client_id: str
    client_secret: str | None
    redirect_uri: str
    scopes: str
    rules: ClaimRules


class Endpoints(NamedTuple):
    """What the discovery document says. `names_issuer` is whether answers of the browser must name the issuer."""

    authorization: str
    token: str
    keys: str
    posts_secret: bool
    names_issuer: bool


class Handover(msgspec.Struct, frozen=True):
    """What `finish` needs of `begin`. `browser` is the hash of the browser's cookie."""

    browser: str
    nonce: str
    verifier: str
    next: str


class Begun(NamedTuple):
    """A login that was begun: where the browser goes, the state in that address, and what to store under it."""

    location: str
    state: str
    handover: Handover


class Oidc:
    """Logins at one provider. It owns the documents of the provider."""

    def __init__(self, client: OidcClient, fetcher: Fetcher, clock: Clock, now: Callable[[], Instant]) -> None:
        self.issuer = client.issuer
        self._client = client
        self._fetcher = fetcher
        self._clock = clock
        self._now = now
        self._endpoints: RemoteDocument[Endpoints] = RemoteDocument(
            client.issuer.rstrip("/") + DISCOVERY, fetcher, clock, lambda data: read_endpoints(data, client.issuer)
        )
        self._keys: Jwks | None = None

    async def begin(self, browser: str, next_: str) -> Begun:
        """Return the address at which the person signs in. Raise Unavailable if the provider cannot be read."""
        endpoints = await self._known_endpoints()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        query = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": self._client.redirect_uri,
            "scope": self._client.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        mark = "&" if urlsplit(endpoints.authorization).query else "?"
        location = f"{endpoints.authorization}{mark}{urlencode(query)}"
        return Begun(location, state, Handover(hash_text(browser), nonce, verifier, next_))

    async def finish(self, handover: Handover, browser: str, answer: Mapping[str, str]) -> Identity:
        """Return who signed in. `answer` is the query with which the browser came back.

        Raise Unauthenticated if any part of it is not that of this login."""
        if not hmac.compare_digest(hash_text(browser), handover.browser):
            raise Unauthenticated("this login was begun in another browser; sign in again")
        endpoints = await self._known_endpoints()
        issuer = answer.get("iss")
        if issuer != self._client.issuer and (issuer is not None or endpoints.names_issuer):
            raise Unauthenticated("the answer is of another identity provider; sign in again")
        code = answer.get("code", "")
        if "error" in answer or not 0 < len(code) <= _LONGEST_CODE:
            raise Unauthenticated("the identity provider did not confirm the login; sign in again")
        token = await self._exchange(endpoints, code, handover.verifier)
        claims = await self._verifier(endpoints).verify(token)
        nonce, party = claims.get("nonce"), claims.get("azp", self._client.client_id)
        if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), handover.nonce.encode()):
            raise Unauthenticated("the token of the identity provider is of another login (nonce)")
        if party != self._client.client_id:
            raise Unauthenticated("the token of the identity provider is for another client (azp)")
        return read_identity(claims, self._client.rules)

    async def _exchange(self, endpoints: Endpoints, code: str, verifier: str) -> str:
        """Exchange a code for an ID token."""
        client = self._client
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.redirect_uri,
            "code_verifier": verifier,
        }
        basic = None
        if client.client_secret is None:
            form["client_id"] = client.client_id
        elif endpoints.posts_secret:
            form |= {"client_id": client.client_id, "client_secret": client.client_secret}
        else:
            basic = quote_plus(client.client_id), quote_plus(client.client_secret)
        try:
            answer = await self._fetcher.fetch(endpoints.token, limit=LARGEST, form=form, basic=basic)
            document = decode_json(answer.body, LARGEST)
        except (FetchFailed, InvalidInput) as error:
            emit("auth.provider_failed", url=endpoints.token, error=str(error))
            raise Unavailable("the identity provider cannot be read; try again") from None
        token = document.get("id_token") if isinstance(document, dict) else None
        if answer.status != 200 or not isinstance(token, str):
            reason = str(document.get("error"))[:100] if isinstance(document, dict) else "no JSON object"
            emit("auth.provider_failed", url=endpoints.token, error=f"it answered {answer.status}: {reason}")
            raise Unauthenticated("the identity provider did not confirm the login; sign in again")
        return token

    def _verifier(self, endpoints: Endpoints) -> TokenVerifier:
        if self._keys is None or self._keys.url != endpoints.keys:
            self._keys = Jwks(endpoints.keys, self._fetcher, self._clock)
        client = self._client
        return TokenVerifier(self._keys, issuer=client.issuer, audience=client.client_id, now=self._now)

    async def _known_endpoints(self) -> Endpoints:
        found = await self._endpoints.get()
        if found is None:
            raise Unavailable("the identity provider cannot be read; try again, or sign in with a key or a password")
        return found

    async def close(self) -> None:
        """End open fetches."""
        await self._endpoints.close()
        if self._keys is not None:
            await self._keys.close()


def challenge_of(verifier: str) -> str:
    """Return the challenge of a PKCE verifier, with the method S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def hash_text(text: str) -> str:
    """Return the SHA-256 of a random text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_endpoints(data: bytes, issuer: str) -> Endpoints:
    """Read a discovery document. Raise InvalidInput if it is of another issuer, or its addresses are not safe."""
    document = decode_json(data, LARGEST)
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        raise InvalidInput(f"the discovery document is not that of the issuer {issuer}")
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    for name in names:
        if not is_safe_url(document.get(name)):
            raise InvalidInput(f"{name} of the discovery document must be an address with https")
    methods: Any = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    posts = isinstance(methods, list) and "client_secret_basic" not in methods and "client_secret_post" in methods
    names_issuer = document.get("authorization_response_iss_parameter_supported") is True
    authorization, token, keys = (str(document[name]) for name in names)
    return Endpoints(authorization, token, keys, posts, names_issuer)


def is_safe_url(url: Any) -> bool:
    """Return whether an address is one with https, or on this machine."""
    if not isinstance(url, str) or len(url) > 2000 or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK))
