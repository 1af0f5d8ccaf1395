"""Claims of a token become a caller: its tenant, name, scopes and principal."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from detent.auth.authenticator import Identified
from detent.auth.caller import Caller
from detent.auth.scopes import Scope, scopes_of
from detent.auth.tokens import LEEWAY, TokenVerifier
from detent.errors import Unauthenticated
from detent.instant import SECOND
from detent.run.initiator import Principal

#: Returns the id of an active tenant by its name, or `None`.
FindTenant = Callable[[str], Awaitable[int | None]]

_LONGEST: Final = 200
_MOST_WORDS: Final = 500
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """How claims are read. `tenant` and `roles` are names of claims; dots lead into nested claims.

    `role_names` maps words of the provider, such as groups, to our roles; `None` if it uses our names. Without a tenant
    claim the identity is of `default_tenant`; `None` refuses it."""

    tenant: str = "tenant_id"
    roles: str = "roles"
    role_names: Mapping[str, str] | None = None
    default_tenant: str | None = None
    reads_scopes: bool = True


class Identity(NamedTuple):
    """What claims say about their subject."""

    tenant: str
    principal: Principal
    scopes: frozenset[Scope]


def read_identity(claims: Mapping[str, Any], rules: ClaimRules) -> Identity:
    """Return what verified claims say. Raise Unauthenticated if the tenant is missing, or the subject is not a name.

    Unknown scopes and roles grant nothing."""
    subject = claims["sub"]
    if _CONTROL.search(subject):
        raise Unauthenticated("the subject of the token (sub) has control characters")
    tenant = _claim(claims, rules.tenant)
    if tenant is None:
        tenant = rules.default_tenant
    if not isinstance(tenant, str) or not 0 < len(tenant) <= _LONGEST:
        raise Unauthenticated(f"the token has no claim {rules.tenant!r} with the name of its tenant")
    scopes: frozenset[Scope] = frozenset()
    if rules.reads_scopes:
        scopes = scopes_of(None, (*_words(claims.get("scope")), *_words(claims.get("scp"))))
    for word in _words(_claim(claims, rules.roles)):
        scopes |= scopes_of(word if rules.role_names is None else rules.role_names.get(word))
    name = _text(claims.get("name")) or _text(claims.get("preferred_username"))
    return Identity(tenant, Principal(subject, name, _text(claims.get("email"))), scopes)


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a path of names with dots between them."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _words(value: Any) -> list[str]:
    """Return the words of a claim: a text with blanks between them, or a list."""
    words = value.split(" ") if isinstance(value, str) else value
    return [word for word in words[:_MOST_WORDS] if isinstance(word, str)] if isinstance(words, list) else []


def _text(value: Any) -> str | None:
    is_good = isinstance(value, str) and 0 < len(value) <= _LONGEST and not _CONTROL.search(value)
    return value if is_good else None


class TokenCheck:
    """Checks bearer tokens of an issuer, for the authenticator."""

    def __init__(self, verifier: TokenVerifier, rules: ClaimRules, find_tenant: FindTenant) -> None:
        self._verifier = verifier
        self._rules = rules
        self._find_tenant = find_tenant

    async def __call__(self, text: str) -> Identified:
        claims = await self._verifier.verify(text)
        identity = read_identity(claims, self._rules)
        tenant = await self._find_tenant(identity.tenant)
        if tenant is None:
            raise Unauthenticated(f"the tenant of the token ({identity.tenant!r}) is not known here")
        principal = identity.principal
        caller = Caller(
            tenant,
            f"token {principal.user_id}",
            identity.scopes,
            via="token",
            principal=principal,
            expires_at=int(claims["exp"] * SECOND),
        )
        return Identified(caller, int((claims["exp"] + LEEWAY) * SECOND))
