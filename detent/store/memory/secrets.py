"""The secrets of the memory store."""

from __future__ import annotations

from collections.abc import Collection

from detent.store.memory.tables import MemoryTables
from detent.store.secrets import NewSecret, SecretRow


class MemorySecrets(MemoryTables):
    """The verbs of secrets, with the same guarantees as in a database: every verb is one step."""

    async def put_secret(self, new: NewSecret) -> bool:
        known, now = self.sealed_secrets.get((new.tenant, new.name)), self.clock.wall()
        if new.version != (0 if known is None else known.version) + 1:
            return False
        created_at = now if known is None else known.created_at
        row = SecretRow(new.tenant, new.name, new.version, new.sealed, new.hosts, created_at, now, new.updated_by)
        self.sealed_secrets[new.tenant, new.name] = row
        return True

    async def secret(self, tenant: int, name: str) -> SecretRow | None:
        return self.sealed_secrets.get((tenant, name))

    async def secrets_named(self, tenant: int, names: Collection[str]) -> list[SecretRow]:
        found = (self.sealed_secrets.get((tenant, name)) for name in dict.fromkeys(names))
        return [row for row in found if row is not None]

    async def secrets(self, tenant: int, *, limit: int, after: str | None = None) -> list[SecretRow]:
        rows = sorted(self.sealed_secrets.values(), key=lambda row: row.name)
        return [row for row in rows if row.tenant == tenant and row.name > (after or "")][:limit]

    async def reseal_secret(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        known = self.sealed_secrets.get((tenant, name))
        if known is None or known.version != version:
            return False
        self.sealed_secrets[tenant, name] = known._replace(sealed=sealed)
        return True

    async def drop_secret(self, tenant: int, name: str) -> bool:
        return self.sealed_secrets.pop((tenant, name), None) is not None

    async def tenant_of_run(self, run: bytes) -> int | None:
        found = self.table.get(run)
        return None if found is None else found.new.tenant

    async def changed_secrets(self, since: int, *, limit: int) -> list[SecretRow]:
        rows = sorted(self.sealed_secrets.values(), key=lambda row: (row.updated_at, row.tenant, row.name))
        return [row for row in rows if row.updated_at >= since][:limit]
