"""Entities, layouts, alerts and action templates: the verbs are the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detent.errors import StoreBusy
from detent.store.rows import Unsaved
from detent.store.rule_protocol import ActionTemplateStore, AlertStore, EntityStore, LayoutStore
from detent.store.rule_rows import (
    EVERY_ALERT,
    ActionTemplateRow,
    AlertCriteria,
    AlertRow,
    AlertState,
    EntityRow,
    NewAlert,
    NewEntity,
    RuleRow,
    merge_layout,
)
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
            changes = {"title": title, "fields": fields, "now": later}
            yield statements.CHANGE_ENTITY, {"tenant": tenant, "entity": entity, **changes}
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
            yield statements.DROP_ENTITY, {"tenant": tenant, "entity": entity}
            return None

        return await self._access.run_script(drop)

    async def entity_rules(self, tenant: int, entity: str) -> tuple[int, list[RuleRow]] | None:
        rows = await self._access.query(statements.ENTITY_RULES, {"tenant": tenant, "entity": entity})
        if not rows:
            return None
        return rows[0][0], [RuleRow(*row[1:]) for row in rows if row[1] is not None]


def change_layout(tenant: int, workflow: bytes, given: str, now: int) -> Script[str]:
    """Change the layout of a workflow, and return it."""
    while True:
        rows = yield statements.LOCK_LAYOUT, {"tenant": tenant, "workflow": workflow}
        data = merge_layout(rows[0][0] if rows else None, given)
        if rows:
            yield statements.CHANGE_LAYOUT, {"tenant": tenant, "known": workflow, "data": data, "now": now}
            return data
        if (yield statements.ADD_LAYOUT, {"workflow": workflow, "tenant": tenant, "data": data, "now": now}):
            return data
        # Else another process added the layout in between: look again.


class LayoutVerbs(LayoutStore):
    """The verbs of layouts."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def layout(self, tenant: int, workflow: bytes) -> str | None:
        rows = await self._access.query(statements.LAYOUT, {"tenant": tenant, "workflow": workflow})
        return rows[0][0] if rows else None

    async def save_layout(self, tenant: int, workflow: bytes, layout: str) -> str | None:
        now = await self._access.now()

        def save() -> Script[str | None]:
            if not (yield statements.HAS_WORKFLOW, {"tenant": tenant, "workflow": workflow}):
                return None
            return (yield from change_layout(tenant, workflow, layout, now))

        return await self._access.run_script(save)


class AlertVerbs(AlertStore):
    """The verbs of alerts."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def add_alert(self, new: NewAlert) -> AlertRow:
        now = await self._access.now()

        def add() -> Script[AlertRow]:
            yield statements.ADD_ALERT, {**new._asdict(), "now": now}
            [row] = yield statements.ALERT_OF_STEP, {"tenant": new.tenant, "run": new.run, "step": new.step}
            return AlertRow(*row)

        return await self._access.run_script(add)

    async def alert(self, tenant: int, alert: bytes) -> AlertRow | None:
        rows = await self._access.query(statements.ALERT, {"tenant": tenant, "alert": alert})
        return AlertRow(*rows[0]) if rows else None

    async def alerts(
        self, tenant: int, *, limit: int, where: AlertCriteria = EVERY_ALERT, cursor: bytes | None = None
    ) -> list[AlertRow]:
        given = where.given()
        clause = statements.alerts(frozenset(given), cursor=cursor is not None)
        values = {**given, "tenant": tenant, "limit": limit, "cursor": cursor}
        return [AlertRow(*row) for row in await self._access.search(clause, values)]

    async def count_alerts(self, tenant: int, *, where: AlertCriteria, limit: int) -> int:
        given = where.given()
        values = {**given, "tenant": tenant, "limit": limit}
        [row] = await self._access.search(statements.count_alerts(frozenset(given)), values)
        return int(row[0])

    async def settle_alert(self, tenant: int, alert: bytes, state: AlertState, *, by: str) -> AlertRow | None:
        now = await self._access.now()
        place = {"tenant": tenant, "alert": alert}

        def settle() -> Script[AlertRow | None]:
            rows = yield statements.LOCK_ALERT, place
            if not rows:
                return None
            if state is AlertState.ACKNOWLEDGED and rows[0][0] == AlertState.OPEN:
                yield statements.ACKNOWLEDGE, {**place, "now": now, "by": by}
            elif state is AlertState.RESOLVED and rows[0][0] != AlertState.RESOLVED:
                yield statements.RESOLVE, {**place, "now": now, "by": by}
            [row] = yield statements.ALERT, place
            return AlertRow(*row)

        return await self._access.run_script(settle)

    async def prune_alerts(self, *, before: int, limit: int) -> int:
        rows = await self._access.query(statements.OLD_ALERTS, {"before": before, "limit": limit})
        if not rows:
            return 0
        return len(await self._access.execute(statements.DROP_ALERTS, {"ids": [bytes(row[0]) for row in rows]}))


class ActionTemplateVerbs(ActionTemplateStore):
    """The verbs of action templates."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def save_action_template(self, row: ActionTemplateRow, *, replace: bool) -> ActionTemplateRow | Unsaved:
        now = await self._access.now()

        def save() -> Script[ActionTemplateRow | Unsaved]:
            made = row._replace(created_at=now, updated_at=now)
            named = yield statements.ACTION_TEMPLATE_BY_NAME, {"tenant": row.tenant, "name": row.name}
            if replace:
                rows = yield statements.LOCK_ACTION_TEMPLATE, {"tenant": row.tenant, "template": row.id}
                if not rows:
                    return Unsaved.MISSING
                known = _template(rows[0])
                if any(bytes(one[1]) != row.id for one in named):
                    return Unsaved.TAKEN
                later = max(now, known.updated_at + 1)
                made = row._replace(author=known.author, created_at=known.created_at, updated_at=later)
                yield statements.DROP_ACTION_TEMPLATE, {"tenant": row.tenant, "template": row.id}
            elif named:
                return Unsaved.TAKEN
            if not (yield statements.ADD_ACTION_TEMPLATE, made._asdict()):
                raise StoreBusy("another action template got the name at the same time")
            return made

        return await self._access.run_script(save)

    async def action_template(self, tenant: int, template: bytes) -> ActionTemplateRow | None:
        rows = await self._access.query(statements.ACTION_TEMPLATE, {"tenant": tenant, "template": template})
        return _template(rows[0]) if rows else None

    async def action_templates(
        self,
        tenant: int,
        *,
        limit: int,
        after: str | None = None,
        action_type: str | None = None,
        is_active: bool | None = None,
    ) -> list[ActionTemplateRow]:
        narrowing = {"action_type": action_type, "is_active": is_active}
        given = frozenset(name for name, value in narrowing.items() if value is not None)
        values = {**narrowing, "tenant": tenant, "after": after or "", "limit": limit}
        return [_template(row) for row in await self._access.query(statements.action_templates(given), values)]

    async def drop_action_template(self, tenant: int, template: bytes) -> bool:
        def drop() -> Script[bool]:
            if not (yield statements.LOCK_ACTION_TEMPLATE, {"tenant": tenant, "template": template}):
                return False
            yield statements.DROP_ACTION_TEMPLATE, {"tenant": tenant, "template": template}
            return True

        return await self._access.run_script(drop)


def _template(row: Sequence[Any]) -> ActionTemplateRow:
    made = ActionTemplateRow(*row)
    return made._replace(is_active=bool(made.is_active))
