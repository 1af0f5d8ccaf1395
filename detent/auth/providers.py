"""Build what the settings say about tokens and the identity provider."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from detent.auth.claims import ClaimRules, FindTenant, TokenCheck
from detent.auth.fetcher import Fetcher
from detent.auth.jwks import Jwks
from detent.auth.oidc import Oidc, OidcClient
from detent.auth.remote import LARGEST
from detent.auth.tokens import KeySource, TokenKey, TokenVerifier, read_keys, secret_key
from detent.clock import Clock
from detent.errors import InvalidInput, Problem
from detent.instant import Instant
from detent.settings import Settings

#: Where the identity provider sends the browser back to.
CALLBACK: Final = "/login/oidc/callback"


class Providers(NamedTuple):
    """The check of bearer tokens and the logins at a provider; each is `None` if the settings do not name it."""

    tokens: TokenCheck | None
    oidc: Oidc | None
    jwks: Jwks | None

    async def close(self) -> None:
        """End open fetches."""
        if self.jwks is not None:
            await self.jwks.close()
        if self.oidc is not None:
            await self.oidc.close()


def build_providers(
    settings: Settings,
    base_url: str,
    fetcher: Fetcher,
    clock: Clock,
    now: Callable[[], Instant],
    find_tenant: FindTenant,
) -> Providers:
    """Build what the settings name. Raise InvalidInput if they name a part and leave out another one that it needs."""
    jwks = None if settings.jwt_jwks_url is None else Jwks(settings.jwt_jwks_url, fetcher, clock)
    tokens = _tokens(settings, jwks, now, find_tenant)
    return Providers(tokens, _oidc(settings, base_url, fetcher, clock, now), jwks)


class _Sources:
    """Several sources of keys, one after the other."""

    def __init__(self, *sources: KeySource) -> None:
        self._sources = sources

    async def find(self, kid: str | None, algorithm: str) -> TokenKey | None:
        for source in self._sources:
            found = await source.find(kid, algorithm)
            if found is not None:
                return found
        return None


class _Secret:
    """A shared secret. Its tokens need no key id."""

    def __init__(self, secret: str) -> None:
        self._key = secret_key(secret)

    async def find(self, kid: str | None, algorithm: str) -> TokenKey | None:
        return self._key if algorithm == self._key.algorithm else None


def _tokens(
    settings: Settings, jwks: Jwks | None, now: Callable[[], Instant], find_tenant: FindTenant
) -> TokenCheck | None:
    sources: list[KeySource] = []
    if settings.jwt_secret is not None:
        sources.append(_Secret(settings.jwt_secret))
    if settings.jwt_keys_file is not None:
        sources.append(_read_file(settings.jwt_keys_file))
    if jwks is not None:
        sources.append(jwks)
    if not sources:
        return None
    if settings.jwt_issuer is None or settings.jwt_audience is None:
        missing = "jwt_issuer" if settings.jwt_issuer is None else "jwt_audience"
        raise _invalid(missing, "is missing: bearer tokens are verified with an issuer and an audience")
    rules = ClaimRules(settings.jwt_tenant_claim, settings.jwt_roles_claim)
    verifier = TokenVerifier(_Sources(*sources), issuer=settings.jwt_issuer, audience=settings.jwt_audience, now=now)
    return TokenCheck(verifier, rules, find_tenant)


def _read_file(name: str) -> KeySource:
    try:
        return read_keys(Path(name).read_bytes(), LARGEST)
    except OSError as error:
        raise _invalid("jwt_keys_file", f"{name} cannot be read: {error.strerror or error}") from None
    except InvalidInput as error:
        raise _invalid("jwt_keys_file", f"{name}: {error.message}") from None


def _oidc(settings: Settings, base_url: str, fetcher: Fetcher, clock: Clock, now: Callable[[], Instant]) -> Oidc | None:
    if settings.oidc_issuer is None:
        return None
    if settings.oidc_client_id is None:
        raise _invalid("oidc_client_id", "is missing: the provider knows this Detent by it")
    if not settings.oidc_roles:
        raise _invalid("oidc_roles", "is missing: without it no one who signs in may do anything")
    rules = ClaimRules(
        settings.oidc_tenant_claim or "",
        settings.oidc_roles_claim,
        role_names=dict(settings.oidc_roles),
        default_tenant=settings.oidc_tenant if settings.oidc_tenant_claim is None else None,
        reads_scopes=False,
    )
    client = OidcClient(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        base_url + CALLBACK,
        settings.oidc_scopes,
        rules,
    )
    return Oidc(client, fetcher, clock, now)


def _invalid(name: str, message: str) -> InvalidInput:
    return InvalidInput("invalid settings", [Problem(f"DETENT_{name.upper()}", message)])
