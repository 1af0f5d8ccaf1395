"""The catalog of the memory store: connectors and actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from detent.store.catalog_rows import (
    EVERY_TENANT,
    ActionMark,
    ActionRow,
    ConnectorRow,
    NewAction,
    NewConnector,
    SavedConnector,
)
from detent.store.memory.tables import MemoryTables, StoredAction, StoredConnector
from detent.store.rows import Unsaved


class MemoryCatalog(MemoryTables):
    """The verbs of the catalog, with the same guarantees as in a database: every verb is one step."""

    async def save_connector(self, new: NewConnector, actions: Sequence[NewAction]) -> SavedConnector | Unsaved:
        now = self.clock.wall()
        known = self.services.get((new.tenant, new.id))
        stored = known or StoredConnector()
        same = stored.versions.get(new.ranking)
        if same is not None and same[0].checksum != new.checksum:
            return Unsaved.TAKEN
        for action in actions:
            old = self.actions_by_id.get((action.tenant, action.id), StoredAction()).versions.get(action.ranking)
            if old is not None and old[0].checksum != action.checksum and action.definition is not None:
                return Unsaved.TAKEN
        changed = same is None or stored.is_removed
        stored.is_removed = False
        self.services[new.tenant, new.id] = stored
        if same is None:
            is_newest = new.ranking >= max(stored.versions, default=0)
            stored.versions[new.ranking] = new, now
            if is_newest:
                self._retire(new, {action.id for action in actions})
        for action in actions:
            kept = self.actions_by_id.setdefault((action.tenant, action.id), StoredAction())
            old = kept.versions.get(action.ranking)
            if old is None or old[0].checksum != action.checksum:
                kept.versions[action.ranking] = action, now if old is None else old[1]
                changed = True
        return SavedConnector(created=known is None, changed=changed)

    def _retire(self, new: NewConnector, names: set[str]) -> None:
        reason = f"version {new.version} of the connector {new.id!r} does not have this action any more"
        for (tenant, name), stored in self.actions_by_id.items():
            first = next(iter(stored.versions.values()))[0]
            if tenant == new.tenant and first.connector == new.id and name not in names:
                stored.enabled = False
                for ranking, (action, at) in stored.versions.items():
                    stored.versions[ranking] = action._replace(deprecation=action.deprecation or reason), at

    async def connectors(self, tenant: int, *, limit: int, after: str | None = None) -> list[ConnectorRow]:
        rows = [self._connector_row(stored) for stored in self._seen_connectors(tenant)]
        return sorted((row for row in rows if row.id > (after or "")), key=lambda row: row.id)[:limit]

    async def connector(self, tenant: int, connector: str) -> ConnectorRow | None:
        found = self._service(tenant, connector)
        return None if found is None else self._connector_row(found)

    async def enable_connector(self, tenant: int, connector: str, *, enabled: bool) -> bool:
        found = self._service(tenant, connector)
        if found is not None:
            found.enabled = enabled
        return found is not None

    async def remove_connector(self, tenant: int, connector: str) -> bool:
        found = self._service(tenant, connector)
        if found is not None:
            found.is_removed = True
        return found is not None

    async def actions(
        self,
        tenant: int,
        *,
        limit: int,
        after: str | None = None,
        connector: str | None = None,
        category: str | None = None,
        tag: str | None = None,
        text: str | None = None,
    ) -> list[ActionMark]:
        wanted = None if text is None else text.lower()
        tagged = "" if tag is None else json.dumps(tag, ensure_ascii=False).lower()

        def fits(row: ActionRow) -> bool:
            texts = (row.id, row.title, row.description, row.tags)
            return (
                row.is_listed
                and row.id > (after or "")
                and connector in (None, row.connector)
                and category in (None, row.category)
                and tagged in row.tags.lower()
                and (wanted is None or any(wanted in one.lower() for one in texts))
            )

        rows = [row for row in self._action_rows(tenant) if fits(row)]
        return [ActionMark(*(getattr(row, name) for name in ActionMark._fields)) for row in rows[:limit]]

    async def action(self, tenant: int, action: str, version: str | None = None) -> ActionRow | None:
        rows = self._action_rows(tenant, lambda name: name == action, version)
        return next(iter(rows), None)

    async def newest_actions(self, tenant: int, actions: Sequence[str]) -> list[ActionRow]:
        return self._action_rows(tenant, set(actions).__contains__)

    async def action_names(self, tenant: int, *, limit: int) -> list[str]:
        return [row.id for row in self._action_rows(tenant) if row.is_listed][:limit]

    async def enable_action(self, tenant: int, action: str, *, enabled: bool) -> bool:
        for owner in (tenant, EVERY_TENANT):
            if (owner, action) in self.actions_by_id:
                self.actions_by_id[owner, action].enabled = enabled
                return True
        return False

    def _seen_connectors(self, tenant: int) -> Iterator[StoredConnector]:
        for (owner, _), stored in self.services.items():
            if owner in (tenant, EVERY_TENANT) and not stored.is_removed:
                yield stored

    def _service(self, tenant: int, connector: str) -> StoredConnector | None:
        found = self.services.get((tenant, connector)) or self.services.get((EVERY_TENANT, connector))
        return None if found is None or found.is_removed else found

    def _connector_row(self, stored: StoredConnector) -> ConnectorRow:
        new, at = stored.versions[max(stored.versions)]
        return ConnectorRow(*new, enabled=stored.enabled, created_at=at)

    def _action_rows(
        self, tenant: int, is_wanted: Callable[[str], bool] = lambda name: True, version: str | None = None
    ) -> list[ActionRow]:
        """Return the newest version of each action that a tenant sees, or the given version, by id."""
        rows = []
        for (owner, name), stored in sorted(self.actions_by_id.items(), key=lambda item: item[0][1]):
            if owner not in (tenant, EVERY_TENANT) or not is_wanted(name):
                continue
            chosen = [new for new, _ in stored.versions.values() if version in (None, new.version)]
            if chosen:
                new = max(chosen, key=lambda one: one.ranking)
                service = self.services[owner, new.connector]
                at = stored.versions[new.ranking][1]
                enabled = stored.enabled and service.enabled
                rows.append(ActionRow(*new, enabled=enabled, created_at=at, is_listed=not service.is_removed))
        return rows
