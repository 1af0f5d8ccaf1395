"""Claims become callers with the scopes of their words, and unknown words grant nothing."""

from __future__ import annotations

from typing import Any

import pytest

from detent.auth.claims import ClaimRules, Identity, TokenCheck, read_identity
from detent.auth.scopes import SCOPES, Role, Scope
from detent.auth.tokens import KeySet, TokenVerifier, secret_key
from detent.errors import Unauthenticated
from detent.instant import SECOND
from detent.run.initiator import Principal
from tests.auth.issuer import AUDIENCE, ISSUER, SECRET, claims, sign

NOW = 1_800_000_000
RULES = ClaimRules()


def read(rules: ClaimRules = RULES, **changed: Any) -> Identity:
    return read_identity(claims(NOW, **{"scope": None, **changed}), rules)


@pytest.mark.parametrize(
    ("changed", "scopes"),
    [
        ({}, set()),
        ({"scope": "workflows:read  workflows:execute openid"}, {Scope.READ, Scope.EXECUTE}),
        ({"scope": ["workflows:read", 7, None]}, {Scope.READ}),
        ({"scp": "audit:read"}, {Scope.AUDIT}),
        ({"scp": ["audit:read", "AUDIT:READ", "workflows:*"]}, {Scope.AUDIT}),
        ({"scope": {"workflows:read": True}}, set()),
        ({"roles": "viewer"}, SCOPES[Role.VIEWER]),
        ({"roles": ["viewer", "operator", "owner"]}, SCOPES[Role.OPERATOR]),
        ({"roles": ["Viewer", "root", ["admin"]]}, set()),
        ({"roles": {"admin": True}}, set()),
    ],
)
def test_scopes_come_from_known_words_only(changed: dict[str, Any], scopes: set[Scope]) -> None:
    assert read(**changed).scopes == scopes


def test_claims_are_found_by_their_name_or_by_a_path() -> None:
    rules = ClaimRules(tenant="https://example.org/tenant", roles="realm_access.roles")
    found = read(rules, **{"https://example.org/tenant": "acme", "realm_access": {"roles": ["editor"]}})
    assert (found.tenant, found.scopes) == ("acme", SCOPES[Role.EDITOR])
    assert read(ClaimRules(roles="a.b.c"), a={"b": ["c"]}).scopes == frozenset()


def test_groups_become_roles_and_their_own_names_do_not() -> None:
    rules = ClaimRules(roles="groups", role_names={"staff": "operator"}, default_tenant="default", reads_scopes=False)
    found = read(rules, groups=["staff", "admin"], scope="tenants:manage", tenant_id=None)
    assert (found.tenant, found.scopes) == ("default", SCOPES[Role.OPERATOR])


@pytest.mark.parametrize("tenant", [None, "", 1, ["default"], "x" * 201])
def test_a_token_needs_the_name_of_a_tenant(tenant: Any) -> None:
    with pytest.raises(Unauthenticated, match="tenant_id"):
        read(tenant_id=tenant)


def test_the_principal_is_a_plain_text() -> None:
    found = read(name="Doug", email="doug@example.org", preferred_username="d").principal
    assert found == Principal("U123", "Doug", "doug@example.org")
    assert read(preferred_username="d", email="a\nX-Admin: 1", name=7).principal == Principal("U123", "d", None)
    with pytest.raises(Unauthenticated, match="control characters"):
        read(sub="a\r\nX-Acting-User-Id: root")


async def test_a_token_identifies_a_caller_until_it_expires() -> None:
    async def find(name: str) -> int | None:
        return {"default": 1, "acme": 7}.get(name)

    verifier = TokenVerifier(KeySet([secret_key(SECRET)]), issuer=ISSUER, audience=AUDIENCE, now=lambda: NOW * SECOND)
    check = TokenCheck(verifier, RULES, find)
    caller, until = await check(sign(claims(NOW, tenant_id="acme")))
    assert (caller.tenant, caller.name, caller.via) == (7, "token U123", "token")
    assert (caller.scopes, caller.principal) == (frozenset({Scope.READ}), Principal("U123"))
    assert until == (NOW + 630) * SECOND
    with pytest.raises(Unauthenticated, match="is not known here"):
        await check(sign(claims(NOW, tenant_id="other")))
