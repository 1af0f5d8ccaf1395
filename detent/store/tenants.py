"""Tenants: their rows and the verbs of a store on them (a part of `store/protocol.py`).

The id of a tenant is a number that is never used again, also after the tenant was deleted. Every change of a tenant
replaces the stamp of identities, so that nodes forget callers of a tenant that was suspended or deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

#: The setting that has the greatest id that a tenant ever had.
LAST_TENANT: Final = "last_tenant"


class Owned(StrEnum):
    """An object whose public address has no tenant in it. Its id finds the tenant."""

    RUN = "run"
    TRIGGER = "trigger"
    WORKFLOW = "workflow"


class TenantStatus(StrEnum):
    """Whether a tenant may ask and its triggers fire."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


class TenantRow(NamedTuple):
    """A tenant as stored. `settings` is JSON, `None` for none. The first tenant has no `created_at`."""

    id: int
    name: str
    status: str
    settings: str | None
    created_at: int | None


#: Returns the new settings of a tenant for the old ones. Both are JSON, or `None` for none.
EditSettings = Callable[[str | None], str | None]


class TenantStore(Protocol):
    """The verbs of tenants."""

    async def tenant_of(self, kind: Owned, id_: bytes) -> int | None:
        """Return the tenant of an object of any tenant, or `None` if it does not exist. Only public addresses use
        this. A deleted trigger and a deleted workflow do not exist."""

    async def add_tenant(self, name: str, settings: str | None) -> TenantRow | None:
        """Add an active tenant with an id that no tenant had before. Return `None` if the name is taken."""

    async def tenant(self, key: int | str) -> TenantRow | None:
        """Find a tenant by its id or its name."""

    async def tenants(self, *, limit: int, after: str | None = None) -> list[TenantRow]:
        """List tenants by name, those after that name."""

    async def limited_tenants(self) -> list[TenantRow]:
        """Return the tenants that have settings."""

    async def change_tenant(
        self, tenant: int, *, status: TenantStatus | None = None, edit: EditSettings | None = None
    ) -> TenantRow | None:
        """Change the status or the settings of a tenant. Return it, `None` if it does not exist.

        `edit` gets the settings as they are and returns the new ones, in one transaction; it may be called again.
        If it raises, nothing changes, and the error reaches the caller."""

    def owned_tables(self) -> Sequence[str]:
        """Return the names of the tables that have rows of tenants."""

    async def owned_rows(
        self, tenant: int, table: str, *, limit: int, after: tuple[Any, ...] | None = None
    ) -> tuple[list[Mapping[str, Any]], tuple[Any, ...] | None]:
        """Return rows of a tenant in one table, and the place of the last one if there may be more."""

    async def wipe_tenant(self, tenant: int, *, limit: int) -> int:
        """Delete up to `limit` rows of a tenant in each table. Return how many were deleted; 0 if none was left."""

    async def drop_tenant(self, tenant: int) -> bool:
        """Delete a suspended tenant that has no rows. Return False if it is active or does not exist."""
