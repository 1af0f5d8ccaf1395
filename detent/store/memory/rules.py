"""The verbs of entities, layouts, alerts and action templates on the memory store."""

from __future__ import annotations

from detent.store.memory.tables import MemoryTables
from detent.store.rows import Unsaved
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


class MemoryRules(MemoryTables):
    """Entities, layouts, alerts and action templates: every verb is one step."""

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

    async def layout(self, tenant: int, workflow: bytes) -> str | None:
        return self.layouts.get(workflow) if self._has_workflow(tenant, workflow) else None

    async def save_layout(self, tenant: int, workflow: bytes, layout: str) -> str | None:
        if not self._has_workflow(tenant, workflow):
            return None
        self.layouts[workflow] = merge_layout(self.layouts.get(workflow), layout)
        return self.layouts[workflow]

    def _has_workflow(self, tenant: int, workflow: bytes) -> bool:
        saved = self.saved.get(workflow)
        return saved is not None and saved.new.tenant == tenant and saved.deleted_at is None

    async def add_alert(self, new: NewAlert) -> AlertRow:
        known = next((row for row in self.raised.values() if (row.run, row.step) == (new.run, new.step)), None)
        if known is None:
            at = self.clock.wall()
            known = self.raised[new.id] = AlertRow(*new, AlertState.OPEN, at, None, None, None, None)
        return self._named_alert(known)

    async def alert(self, tenant: int, alert: bytes) -> AlertRow | None:
        found = self.raised.get(alert)
        return self._named_alert(found) if found and found.tenant == tenant else None

    async def alerts(
        self, tenant: int, *, limit: int, where: AlertCriteria = EVERY_ALERT, cursor: bytes | None = None
    ) -> list[AlertRow]:
        mine = (row for row in self.raised.values() if row.tenant == tenant and _fits(row, where))
        found = sorted((row for row in mine if cursor is None or row.id < cursor), reverse=True)
        return [self._named_alert(row) for row in found[:limit]]

    async def count_alerts(self, tenant: int, *, where: AlertCriteria, limit: int) -> int:
        return len(await self.alerts(tenant, limit=limit, where=where))

    async def settle_alert(self, tenant: int, alert: bytes, state: AlertState, *, by: str) -> AlertRow | None:
        found = await self.alert(tenant, alert)
        if found is None:
            return None
        now = self.clock.wall()
        if state is AlertState.ACKNOWLEDGED and found.state == AlertState.OPEN:
            found = found._replace(state=state, acknowledged_at=now, acknowledged_by=by)
        elif state is AlertState.RESOLVED and found.state != AlertState.RESOLVED:
            found = found._replace(state=state, resolved_at=now, resolved_by=by)
        self.raised[alert] = found
        return found

    async def prune_alerts(self, *, before: int, limit: int) -> int:
        old = [row.id for row in self.raised.values() if row.resolved_at is not None and row.resolved_at < before]
        for id_ in sorted(old)[:limit]:
            del self.raised[id_]
        return min(len(old), limit)

    def _named_alert(self, row: AlertRow) -> AlertRow:
        saved = self.saved.get(row.workflow)
        if saved is None:
            return row
        return row._replace(workflow_name=saved.new.name, workflow_title=saved.new.title)

    async def save_action_template(self, row: ActionTemplateRow, *, replace: bool) -> ActionTemplateRow | Unsaved:
        now = self.clock.wall()
        mine = [one for one in self.action_texts.values() if one.tenant == row.tenant]
        known = next((one for one in mine if one.id == row.id), None) if replace else None
        if replace and known is None:
            return Unsaved.MISSING
        if any(one.name == row.name and one is not known for one in mine):
            return Unsaved.TAKEN
        made = row._replace(created_at=now, updated_at=now)
        if known is not None:
            later = max(now, known.updated_at + 1)
            made = row._replace(author=known.author, created_at=known.created_at, updated_at=later)
        self.action_texts[row.id] = made
        return made

    async def action_template(self, tenant: int, template: bytes) -> ActionTemplateRow | None:
        found = self.action_texts.get(template)
        return found if found and found.tenant == tenant else None

    async def action_templates(
        self,
        tenant: int,
        *,
        limit: int,
        after: str | None = None,
        action_type: str | None = None,
        is_active: bool | None = None,
    ) -> list[ActionTemplateRow]:
        mine = [
            row
            for row in self.action_texts.values()
            if row.tenant == tenant
            and row.name > (after or "")
            and action_type in (None, row.action_type)
            and is_active in (None, row.is_active)
        ]
        return sorted(mine, key=lambda row: row.name)[:limit]

    async def drop_action_template(self, tenant: int, template: bytes) -> bool:
        if await self.action_template(tenant, template) is None:
            return False
        del self.action_texts[template]
        return True


def _fits(row: AlertRow, where: AlertCriteria) -> bool:
    return (
        (not where.states or row.state in where.states)
        and (not where.severities or row.severity in where.severities)
        and where.alert_type in (None, row.alert_type)
        and where.workflow in (None, row.workflow)
        and where.run in (None, row.run)
        and (where.since is None or row.at >= where.since)
        and (where.before is None or row.at < where.before)
    )
