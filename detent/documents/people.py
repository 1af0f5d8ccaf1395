"""Documents of people, their sessions, and how to sign in."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json


class PersonDocument(msgspec.Struct, kw_only=True):
    """A person who signs in with a name and a password. A disabled one cannot."""

    id: str
    name: str
    display_name: str
    email: str | None
    role: str
    has_password: bool
    disabled: bool
    created_by: str
    inserted_at: datetime
    updated_at: datetime


class SessionDocument(msgspec.Struct, kw_only=True):
    """A browser that is signed in. `via` says how: `password`, `key` or `oidc`; `current` marks that of the request."""

    id: str
    name: str
    via: str
    current: bool
    address: str | None
    agent: str | None
    inserted_at: datetime
    seen_at: datetime
    expires_at: datetime


class ProviderDocument(msgspec.Struct, kw_only=True):
    """The identity provider: its host, and where the login at it begins."""

    name: str
    url: str


class LoginMethods(msgspec.Struct, kw_only=True):
    """How a person can sign in."""

    key: bool
    password: bool
    oidc: ProviderDocument | None


class AuditDocument(msgspec.Struct, kw_only=True):
    """One row of the audit: who did what to which object, when, from where, and how it ended.

    `action` is the operation of the API. `outcome` is `done`, `refused` (the caller may not) or `failed`. `via` says
    how the caller was identified. `detail` has small facts, such as the `count` of the requests that a row stands
    for, or of the runs that one request changed."""

    id: str
    tenant: str
    at: datetime
    actor: str
    via: str
    action: str
    kind: str
    object: str | None
    outcome: str
    reason: str | None
    address: str | None
    correlation_id: str | None
    detail: dict[str, Json] | None
