"""The verbs of entities on the memory store."""

from __future__ import annotations

from detent.store.memory.tables import MemoryTables
from detent.store.rows import Unsaved
from detent.store.rule_rows import EntityRow, NewEntity, RuleRow


class MemoryEntities(MemoryTables):
    """Entities: every verb is one step."""

    async def add_entity(self, new: NewEntity) -> bool:
        if (new.tenant, new.name) in self.entities_by_name:
            return False
        now = self.clock.wall()
        self.entities_by_name[new.tenant, new.name] = EntityRow(*new, revision=1, created_at=now, updated_at=now)
        return True

    async def change_entity(self, tenant: int, entity: bytes, *, title: str, fields: str | None) -> EntityRow | None:
        found = await self.entity(tenant, entity)
        if found is None:
            return None
        later = max(self.clock.wall(), found.updated_at + 1)
        changed = found._replace(title=title, fields=fields, updated_at=later)
        self.entities_by_name[tenant, found.name] = changed
        return changed

    async def entity(self, tenant: int, key: bytes | str) -> EntityRow | None:
        if isinstance(key, str):
            return self.entities_by_name.get((tenant, key))
        mine = (row for row in self.entities_by_name.values() if row.tenant == tenant)
        return next((row for row in mine if row.id == key), None)

    async def entities(self, tenant: int, *, limit: int, after: str | None = None) -> list[EntityRow]:
        mine = [row for row in self.entities_by_name.values() if row.tenant == tenant and row.name > (after or "")]
        return sorted(mine, key=lambda row: row.name)[:limit]

    async def drop_entity(self, tenant: int, entity: bytes) -> Unsaved | None:
        found = await self.entity(tenant, entity)
        if found is None:
            return Unsaved.MISSING
        stored = (one for one in self.saved.values() if one.deleted_at is None)
        if any((one.new.tenant, one.new.entity) == (tenant, found.name) for one in stored):
            return Unsaved.USED
        del self.entities_by_name[tenant, found.name]
        return None

    async def entity_rules(self, tenant: int, entity: str) -> tuple[int, list[RuleRow]] | None:
        found = self.entities_by_name.get((tenant, entity))
        if found is None:
            return None
        rules = [
            RuleRow(one.new.id, one.new.name, one.new.title, one.version, one.new.trigger)
            for one in self.saved.values()
            if (one.new.tenant, one.new.entity) == (tenant, entity)
            and one.deleted_at is None
            and one.status == "active"
            and one.new.enabled
        ]
        return found.revision, sorted(rules)
