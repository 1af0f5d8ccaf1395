"""Secrets in a store: their rows, and the verbs on them (a part of `store/protocol.py`).

A version rises with every new value. Sealing the same value with another key leaves the version as it is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol


class SecretRow(NamedTuple):
    """A secret. `sealed` is the box of `version`. It may be sent to `hosts` only; without any, to all."""

    tenant: int
    name: str
    version: int
    sealed: bytes
    hosts: tuple[str, ...]
    created_at: int
    updated_at: int
    updated_by: str


class NewSecret(NamedTuple):
    """A new value of a secret. `sealed` is the box of `version`."""

    tenant: int
    name: str
    version: int
    sealed: bytes
    hosts: tuple[str, ...]
    updated_by: str


class SecretStore(Protocol):
    """The verbs of secrets."""

    async def put_secret(self, new: NewSecret) -> bool:
        """Add a secret with version 1, or replace the version before this one. Return False if the stored version is
        another one."""

    async def secret(self, tenant: int, name: str) -> SecretRow | None:
        """Return a secret."""

    async def secrets_named(self, tenant: int, names: Collection[str]) -> list[SecretRow]:
        """Return the secrets of a tenant that have these names."""

    async def secrets(self, tenant: int, *, limit: int, after: str | None = None) -> list[SecretRow]:
        """List the secrets of a tenant by name, after that name."""

    async def reseal_secret(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        """Replace the box of a version by another one with the same value. Return False if the version is gone."""

    async def drop_secret(self, tenant: int, name: str) -> bool:
        """Delete a secret. Return whether it existed."""

    async def tenant_of_run(self, run: bytes) -> int | None:
        """Return the tenant of a run, so that what is sent to it is redacted; `None` if there is no such run."""

    async def changed_secrets(self, since: int, *, limit: int) -> list[SecretRow]:
        """Return the secrets of all tenants that were changed at that instant or later, oldest first. A node redacts
        their values."""
