"""Entities: the verbs are the same on every SQL database."""

from __future__ import annotations

from detent.store.rows import Unsaved
from detent.store.rule_protocol import EntityStore
from detent.store.rule_rows import EntityRow, NewEntity, RuleRow
from detent.store.sql import rule_statements as statements
from detent.store.sql.access import Script, SqlAccess


class EntityVerbs(EntityStore):
    """The verbs of entities."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def add_entity(self, new: NewEntity) -> bool:
        values = {**new._asdict(), "now": await self._access.now()}
        return bool(await self._access.execute(statements.ADD_ENTITY, values))

    async def change_entity(self, tenant: int, entity: bytes, *, title: str, fields: str | None) -> EntityRow | None:
        now = await self._access.now()

        def change() -> Script[EntityRow | None]:
            rows = yield statements.LOCK_ENTITY_BY_ID, {"tenant": tenant, "entity": entity}
            if not rows:
                return None
            later = max(now, rows[0][1] + 1)
            yield statements.CHANGE_ENTITY, {"entity": entity, "title": title, "fields": fields, "now": later}
            [row] = yield statements.ENTITY_BY_ID, {"tenant": tenant, "key": entity}
            return EntityRow(*row)

        return await self._access.run_script(change)

    async def entity(self, tenant: int, key: bytes | str) -> EntityRow | None:
        clause = statements.ENTITY_BY_NAME if isinstance(key, str) else statements.ENTITY_BY_ID
        rows = await self._access.query(clause, {"tenant": tenant, "key": key})
        return EntityRow(*rows[0]) if rows else None

    async def entities(self, tenant: int, *, limit: int, after: str | None = None) -> list[EntityRow]:
        values = {"tenant": tenant, "after": after or "", "limit": limit}
        return [EntityRow(*row) for row in await self._access.query(statements.ENTITIES, values)]

    async def drop_entity(self, tenant: int, entity: bytes) -> Unsaved | None:
        def drop() -> Script[Unsaved | None]:
            rows = yield statements.LOCK_ENTITY_BY_ID, {"tenant": tenant, "entity": entity}
            if not rows:
                return Unsaved.MISSING
            if (yield statements.USER_OF_ENTITY, {"tenant": tenant, "entity": rows[0][0]}):
                return Unsaved.USED
            yield statements.DROP_ENTITY, {"entity": entity}
            return None

        return await self._access.run_script(drop)

    async def entity_rules(self, tenant: int, entity: str) -> tuple[int, list[RuleRow]] | None:
        rows = await self._access.query(statements.ENTITY_RULES, {"tenant": tenant, "entity": entity})
        if not rows:
            return None
        return rows[0][0], [RuleRow(*row[1:]) for row in rows if row[1] is not None]
