"""Documents of keys and tenants."""

from __future__ import annotations

from datetime import datetime

import msgspec


class KeyDocument(msgspec.Struct, kw_only=True):
    """A key of the API, without the key itself.

    `role` is null for a key that has scopes of its own. `scopes` are all that it has. `workflows` are the only ones
    that it may start; null means all. `status` is active, rotated (valid until `revoked_at`), expired or revoked.
    `used_at` is the day on which it was used last."""

    id: str
    name: str
    role: str | None
    scopes: list[str]
    workflows: list[str] | None
    status: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


class CreatedKeyDocument(KeyDocument, kw_only=True):
    """A key that was created now. `key` is the key itself, which is never shown again."""

    key: str


class TenantDocument(msgspec.Struct, kw_only=True):
    """A tenant. `status` is active or suspended. The first tenant has no `created_at`.

    `actions` are names and patterns of what it may use beside `core.` actions, http steps and its own connectors. Null
    is nothing more, and everything for the tenant `default`. `egress` are the only hosts and networks that its steps
    may reach, as far as the installation allows them; null means no list. `retention_days` is how long its ended runs
    are stored; null is as the installation says."""

    name: str
    status: str
    created_at: datetime | None
    actions: list[str] | None = None
    egress: list[str] | None = None
    retention_days: int | None = None


class DeletedTenant(msgspec.Struct, kw_only=True):
    """A tenant that was deleted, and how many rows it had."""

    name: str
    deleted: int
