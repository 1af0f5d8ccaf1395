"""Scopes say what a caller may do; a role is a named set of them. An unknown word grants nothing."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """One thing that a caller may do."""

    READ = "workflows:read"
    EXECUTE = "workflows:execute"
    MANAGE = "workflows:manage"
    READ_TEMPLATES = "templates:read"
    MANAGE_TEMPLATES = "templates:manage"
    IMPERSONATE = "workflows:impersonate"
    SECRETS = "secrets:manage"
    KEYS = "keys:manage"
    LIMITS = "limits:manage"
    AUDIT = "audit:read"
    METRICS = "metrics:read"
    TENANTS = "tenants:manage"


#: What each scope allows, for the docs and for `detent keys create --help`.
MEANINGS: Final = {
    Scope.READ: "read workflows, rules, runs, triggers, alerts and the catalog",
    Scope.EXECUTE: "start runs, send events and signals, answer and control runs, settle alerts and dead letters",
    Scope.MANAGE: "save, publish and delete workflows, rules, entities, triggers and connectors",
    Scope.READ_TEMPLATES: "read and render templates",
    Scope.MANAGE_TEMPLATES: "save and delete templates",
    Scope.IMPERSONATE: "start runs on behalf of another principal",
    Scope.SECRETS: "set and delete secrets and credentials, whose values no caller can read",
    Scope.KEYS: "create and revoke keys, people and sessions",
    Scope.LIMITS: "change limits",
    Scope.AUDIT: "read the audit",
    Scope.METRICS: "read metrics, nodes, queues and storage",
    Scope.TENANTS: "create, suspend, export and delete tenants",
}


class Role(StrEnum):
    """A named set of scopes. Each role has the scopes of those before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"
    INSTANCE_ADMIN = "instance-admin"


_ADDED: Final = {
    Role.VIEWER: (Scope.READ, Scope.READ_TEMPLATES),
    Role.OPERATOR: (Scope.EXECUTE,),
    Role.EDITOR: (Scope.MANAGE, Scope.MANAGE_TEMPLATES),
    Role.ADMIN: (Scope.IMPERSONATE, Scope.SECRETS, Scope.KEYS, Scope.LIMITS, Scope.AUDIT),
    Role.INSTANCE_ADMIN: (Scope.METRICS, Scope.TENANTS),
}
ALL_SCOPES: Final = frozenset(Scope)
#: What a caller that may start only some workflows can have. The others would let it change or start any workflow.
LIMITABLE: Final = frozenset(
    {Scope.READ, Scope.EXECUTE, Scope.READ_TEMPLATES, Scope.IMPERSONATE, Scope.AUDIT, Scope.METRICS}
)


def _scopes_by_role() -> dict[Role, frozenset[Scope]]:
    found: dict[Role, frozenset[Scope]] = {}
    known: frozenset[Scope] = frozenset()
    for role, added in _ADDED.items():
        known = found[role] = known.union(added)
    return found


SCOPES: Final = _scopes_by_role()


def scopes_of(role: str | None, scopes: Iterable[str] = ()) -> frozenset[Scope]:
    """Return the scopes that a role and a list of scopes grant. Unknown words grant nothing."""
    known = frozenset(Scope(word) for word in scopes if word in ALL_SCOPES)
    return known | SCOPES[Role(role)] if role in SCOPES else known


def role_of(scopes: frozenset[Scope]) -> Role | None:
    """Return the role that has exactly these scopes, `None` if none has."""
    return next((role for role, known in SCOPES.items() if known == scopes), None)


def least_role(scope: Scope) -> Role:
    """Return the first role that has a scope."""
    return next(role for role, scopes in SCOPES.items() if scope in scopes)
