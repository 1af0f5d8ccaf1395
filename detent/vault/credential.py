"""Credentials as values: their kinds, what people write of each, and which parts are sealed.

A kind is a table of parts. Public parts are stored as JSON and shown. Sealed parts are in one box and leave the vault
only to be sent to the hosts that the credential names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec

from detent.errors import InvalidInput
from detent.instant import Instant, micros
from detent.values.fields import Fields, Problems, shown
from detent.values.http_body import is_header_name
from detent.vault.hosts import read_hosts
from detent.vault.sealing import Label, Vault

#: Why a run is paused whose credential needs a person.
CREDENTIAL: Final = "credential"
#: The kind of a box, as its label says it.
_BOX: Final = "credential"
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
#: A shorter value would be found in texts that have nothing to do with it, so it cannot be removed from answers.
SHORTEST_SECRET: Final = 8
LONGEST_SECRET: Final = 16 * 1024
_LONGEST: Final = 2_000
_MOST_SCOPES: Final = 100
_MOST_PARAMETERS: Final = 20
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: Headers that a credential cannot be: they frame the message or belong to the engine.
_TAKEN_HEADERS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "cookie2"}
    | {"accept-encoding", "content-type", "idempotency-key", "detent-attempt"}
)
#: Parameters of an authorization request that Detent sets.
_OURS: Final = frozenset(
    {"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"}
)


class CredentialKind(StrEnum):
    """What a credential is, and so how it authenticates a request."""

    TOKEN = "token"
    BASIC = "basic"
    HEADER = "header"
    API_KEY = "api_key"
    OAUTH2_CLIENT = "oauth2_client"
    OAUTH2_CODE = "oauth2_code"
    AWS4 = "aws4"

    @property
    def has_tokens(self) -> bool:
        """Whether requests carry an access token that a provider issues for a while."""
        return self in (CredentialKind.OAUTH2_CLIENT, CredentialKind.OAUTH2_CODE)


class CredentialState(StrEnum):
    """Whether steps can use a credential. `new`: a person has not connected it. `reconnect`: its grant is dead."""

    NEW = "new"
    READY = "ready"
    RECONNECT = "reconnect"


class ClientAuth(StrEnum):
    """How a token request names its client: by basic authentication, or in its body."""

    BASIC = "basic"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a kind: public ones and sealed ones, required or optional. Some public ones have own readers."""

    public: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    optional_sealed: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        return (*self.public, *self.optional, *self.sealed, *self.optional_sealed)


_OAUTH: Final = ("scopes", "client_auth", "parameters")
PARTS: Final[Mapping[CredentialKind, Parts]] = {
    CredentialKind.TOKEN: Parts(sealed=("token",)),
    CredentialKind.BASIC: Parts(public=("username",), sealed=("password",)),
    CredentialKind.HEADER: Parts(public=("header",), sealed=("value",)),
    CredentialKind.API_KEY: Parts(public=("name",), optional=("in",), sealed=("key",)),
    CredentialKind.OAUTH2_CLIENT: Parts(
        public=("token_url", "client_id"), sealed=("client_secret",), optional=(*_OAUTH, "audience")
    ),
    CredentialKind.OAUTH2_CODE: Parts(
        public=("authorization_url", "token_url", "client_id"),
        optional=(*_OAUTH, "issuer"),
        optional_sealed=("client_secret",),
    ),
    CredentialKind.AWS4: Parts(
        public=("access_key_id", "service", "region"),
        sealed=("secret_access_key",),
        optional_sealed=("session_token",),
    ),
}
_URLS: Final = frozenset({"token_url", "authorization_url", "issuer"})


class GrantRefused(Exception):
    """A provider refuses this grant or this client. Only a person can help."""


class TokenTrouble(Exception):
    """A provider issued no token now. A later attempt may help."""


class IssuedTokens(msgspec.Struct, frozen=True):
    """What a provider has issued. `life` is in seconds; `None` if it did not say."""

    access_token: str
    refresh_token: str | None = None
    life: float | None = None

    def __repr__(self) -> str:
        return "IssuedTokens(...)"

    def expires_at(self, now: Instant) -> Instant | None:
        """Return when the access token expires, if the provider said so."""
        return None if self.life is None else now + micros(self.life)


class CodeExchange(Protocol):
    """Asks a provider for the tokens of an authorization code."""

    async def redeem(
        self,
        tenant: int,
        config: Mapping[str, Any],
        parts: Mapping[str, str],
        *,
        code: str,
        verifier: str,
        redirect_uri: str,
    ) -> IssuedTokens:
        """Return the tokens, for a tenant. Raise GrantRefused or TokenTrouble."""


class SealedParts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the box of a credential has: the parts that a person wrote, and what its provider has issued.

    `issued_at` is when the access token was received."""

    parts: dict[str, str] = {}
    access_token: str | None = None
    refresh_token: str | None = None
    issued_at: Instant | None = None

    def __repr__(self) -> str:
        return "SealedParts(...)"

    def with_tokens(self, issued: IssuedTokens, now: Instant) -> SealedParts:
        """Return the parts with new tokens. A provider that does not rotate refresh tokens sends none, and the old one
        stays."""
        refresh = issued.refresh_token or self.refresh_token
        return msgspec.structs.replace(self, access_token=issued.access_token, refresh_token=refresh, issued_at=now)


def seal_parts(vault: Vault, tenant: int, name: str, version: int, parts: SealedParts) -> bytes:
    """Return the box of a version of a credential. Raise NoEncryptionKey."""
    return vault.seal(Label(tenant, _BOX, name, version), msgspec.json.encode(parts))


def open_parts(vault: Vault, tenant: int, name: str, version: int, box: bytes) -> SealedParts:
    """Return what the box of a version of a credential has. Raise CannotOpen."""
    return _decode_parts(vault.open(Label(tenant, _BOX, name, version), box))


_decode_parts: Final = msgspec.json.Decoder(SealedParts).decode


def what_to_do(name: str, kind: str, state: str, reason: str | None) -> str:
    """Return why a credential cannot be used now, and the command that helps."""
    verb = "connect" if kind == CredentialKind.OAUTH2_CODE else "set"
    said = "it was never connected" if state == CredentialState.NEW else reason or "its grant is dead"
    return f"{said}; run `detent credentials {verb} {name}`"


class CredentialSpec(msgspec.Struct, frozen=True):
    """What a person has written of a credential. `config` is public, `sealed` is not."""

    kind: CredentialKind
    hosts: tuple[str, ...]
    config: Mapping[str, Any]
    sealed: Mapping[str, str]

    def __repr__(self) -> str:
        return f"CredentialSpec({self.kind}, {self.hosts}, {self.config})"


def check_name(name: str) -> None:
    """Raise InvalidInput unless this can be the name of a credential."""
    if not NAME.fullmatch(name):
        raise InvalidInput(
            f"{shown(name)} cannot be the name of a credential: write a letter, then letters, digits, '_', '.' or '-', "
            "at most 64 in all"
        )


def read_spec(document: Mapping[str, Any]) -> CredentialSpec:
    """Read a credential. Raise InvalidInput with all problems at once. No problem shows a sealed value."""
    problems = Problems()
    fields = Fields(document, "", problems)
    kinds = [kind.value for kind in CredentialKind]
    given = fields.get("kind")
    if given not in kinds:
        hint = problems.did_you_mean(given, kinds) if isinstance(given, str) else ""
        said = "is missing" if given is None else f"{shown(str(given))} is not a kind"
        problems.add("kind", f"{said}; write one of {', '.join(kinds)}{hint}")
        raise InvalidInput("the credential is not valid", problems.found)
    kind = CredentialKind(given)
    parts = PARTS[kind]
    fields.refuse_unknown(("kind", "hosts", *parts.all()))
    config = _read_public(fields, kind, parts)
    sealed = _read_sealed(fields, parts)
    hosts = read_hosts(fields, "hosts")
    if problems.found:
        raise InvalidInput("the credential is not valid", problems.found)
    return CredentialSpec(kind, hosts, config, sealed)


def _read_public(fields: Fields, kind: CredentialKind, parts: Parts) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for name in (*parts.public, *parts.optional):
        value: Any
        match name:
            case "scopes":
                value = _scopes(fields)
            case "parameters":
                value = _parameters(fields)
            case "client_auth":
                value = fields.choice(name, ClientAuth, ClientAuth.BASIC).value
            case "in":
                value = fields.get(name) or "header"
                if value not in ("header", "query"):
                    fields.problems.add(name, f"{shown(str(value))} is not header or query")
            case "header":
                value = _header(fields, name)
            case "name" if (fields.get("in") or "header") == "header":
                value = _header(fields, name)
            case _:
                value = fields.text(name, most=_LONGEST)
                if value is not None and name in _URLS and (problem := url_problem(value)):
                    fields.problems.add(name, problem)
        if value is None and fields.get(name) is None and name in parts.public:
            fields.problems.add(name, f"is missing: a credential of the kind {kind} needs it")
        if value not in (None, [], {}):
            config[name] = value
    if kind is CredentialKind.BASIC and ":" in str(config.get("username", "")):
        fields.problems.add("username", "has a colon, which basic authentication cannot send")
    return config


def _read_sealed(fields: Fields, parts: Parts) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in (*parts.sealed, *parts.optional_sealed):
        value = fields.get(name)
        if value is None:
            if name in parts.sealed:
                fields.problems.add(name, "is missing")
            continue
        problem = secret_problem(value)
        if problem is not None:
            fields.problems.add(name, problem)
        else:
            found[name] = value.strip()
    return found


def secret_problem(value: object) -> str | None:
    """Return what is wrong with a sealed value, without the value, or None."""
    if not isinstance(value, str):
        return "must be text"
    text = value.strip()
    if _CONTROL.search(text):
        return "has a control character or a line break in it, which no request can carry"
    if len(text.encode()) < SHORTEST_SECRET:
        return f"has {len(text.encode())} bytes; at least {SHORTEST_SECRET} are needed, or it could not be redacted"
    if len(text.encode()) > LONGEST_SECRET:
        return f"has {len(text.encode())} bytes; at most {LONGEST_SECRET} are allowed"
    return None


def url_problem(url: str) -> str | None:
    """Return what is wrong with the address of a provider, or None."""
    wrong = f"{shown(url)} is not an address that begins with https://"
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or re.search(r"\s", url):
            return wrong
    except ValueError:
        return wrong
    if parts.username is not None or parts.fragment:
        return f"{shown(url)} has a user or a fragment in it"
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return f"{shown(url)} must begin with https://: tokens would be readable on the network"
    return None


def _header(fields: Fields, name: str) -> str | None:
    value = fields.text(name, most=200)
    if value is None:
        return None
    if not is_header_name(value) or value.lower() in _TAKEN_HEADERS:
        fields.problems.add(name, f"{shown(value)} cannot be the header of a credential")
        return None
    return value


def _scopes(fields: Fields) -> list[str]:
    value = fields.get("scopes")
    if value is None:
        return []
    listed = value.split() if isinstance(value, str) else value
    is_list = isinstance(listed, list) and all(isinstance(one, str) and one and " " not in one for one in listed)
    if not is_list or len(listed) > _MOST_SCOPES or sum(map(len, listed)) > _LONGEST:
        fields.problems.add("scopes", f"must be a list of at most {_MOST_SCOPES} words")
        return []
    if any(_CONTROL.search(one) or '"' in one or "\\" in one for one in listed):
        fields.problems.add("scopes", "has a character that no scope has")
    return list(listed)


def _parameters(fields: Fields) -> dict[str, str]:
    """Read more parameters of the provider: of its page, or of a token request of client credentials."""
    given = fields.mapping("parameters") or {}
    if len(given) > _MOST_PARAMETERS:
        fields.problems.add("parameters", f"has {len(given)} entries; at most {_MOST_PARAMETERS} are allowed")
        return {}
    for name, value in given.items():
        if not isinstance(value, str) or len(value) > _LONGEST or len(name) > 100:
            fields.problems.add(f"parameters.{name[:80]}", f"must be a text of at most {_LONGEST} characters")
        elif name in _OURS or name in ("grant_type", "client_secret", "refresh_token", "code", "code_verifier"):
            fields.problems.add(f"parameters.{name}", "is set by Detent")
    return dict(given)
