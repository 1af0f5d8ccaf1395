"""The keys of the memory store."""

from __future__ import annotations

from detent.store.auth import FIRST_KEY, STAMP, KeyChange, KeyRow, NewKey
from detent.store.memory.tables import MemoryTables


class MemoryKeys(MemoryTables):
    """The verbs of keys, with the same guarantees as in a database: every verb is one step."""

    async def auth_stamp(self) -> str:
        return self.settings.get(STAMP, "")

    async def add_key(self, key: NewKey) -> bool:
        if key.id in self.api_keys:
            return False
        self.api_keys[key.id] = KeyRow(*key, created_at=self.clock.wall(), used_at=None, revoked_at=None)
        return True

    async def add_first_key(self, key: NewKey) -> bool:
        if self.settings.setdefault(FIRST_KEY, key.id) != key.id and self.settings[FIRST_KEY] in self.api_keys:
            return False
        self.settings[FIRST_KEY] = key.id
        return await self.add_key(key)

    async def key(self, key: str) -> KeyRow | None:
        return self.api_keys.get(key)

    async def own_key(self, tenant: int, key: str) -> KeyRow | None:
        row = self.api_keys.get(key)
        return row if row is not None and row.tenant == tenant else None

    async def keys(self, tenant: int, *, limit: int, after: str | None = None) -> list[KeyRow]:
        rows = sorted(self.api_keys.values())
        return [row for row in rows if row.tenant == tenant and row.id > (after or "")][:limit]

    async def revoke_key(self, tenant: int, key: str, *, at: int | None = None) -> KeyRow | None:
        row = self.api_keys.get(key)
        if row is None or row.tenant != tenant:
            return None
        moment = self.clock.wall() if at is None else at
        if row.revoked_at is None or row.revoked_at > moment:
            row = self.api_keys[key] = row._replace(revoked_at=moment)
            self.new_stamp()
        return row

    async def rotate_key(self, tenant: int, key: str, new: KeyChange, *, at: int) -> KeyRow | None:
        row = await self.own_key(tenant, key)
        if row is None or row.revoked_at is not None or new.id in self.api_keys:
            return None
        made = row._replace(**new._asdict(), created_at=self.clock.wall(), used_at=None)
        self.api_keys[new.id] = made
        self.api_keys[key] = row._replace(revoked_at=at)
        self.new_stamp()
        return made

    async def use_key(self, key: str, at: int) -> None:
        row = self.api_keys.get(key)
        if row is not None:
            self.api_keys[key] = row._replace(used_at=at)
