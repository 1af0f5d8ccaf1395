"""Connectors and actions: the verbs are the same on every SQL database.

A save locks all versions of its connector first. Of two saves of one new connector, the key of the table lets only one
insert its row; the other one then looks again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from detent.store.catalog_protocol import CatalogStore
from detent.store.catalog_rows import ActionMark, ActionRow, ConnectorRow, NewAction, NewConnector, SavedConnector
from detent.store.rows import Unsaved
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.catalog import statements


class CatalogVerbs(CatalogStore):
    """The verbs of the catalog."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def save_connector(self, new: NewConnector, actions: Sequence[NewAction]) -> SavedConnector | Unsaved:
        now = await self._access.now()
        return await self._access.run_script(lambda: _save(new, actions, now))

    async def connectors(self, tenant: int, *, limit: int, after: str | None = None) -> list[ConnectorRow]:
        values = {"tenant": tenant, "after": after or "", "limit": limit}
        return [_connector(row) for row in await self._access.query(statements.CONNECTORS, values)]

    async def connector(self, tenant: int, connector: str) -> ConnectorRow | None:
        rows = await self._access.query(statements.CONNECTOR, {"tenant": tenant, "id": connector})
        return _connector(rows[0]) if rows else None

    async def enable_connector(self, tenant: int, connector: str, *, enabled: bool) -> bool:
        def enable() -> Script[bool]:
            owners = yield statements.CONNECTOR_OWNERS, {"tenant": tenant, "id": connector}
            for (owner,) in owners:
                yield statements.ENABLE_CONNECTOR, {"owner": owner, "known": connector, "enabled": enabled}
            return bool(owners)

        return await self._access.run_script(enable)

    async def remove_connector(self, tenant: int, connector: str) -> bool:
        now = await self._access.now()

        def remove() -> Script[bool]:
            owners = yield statements.CONNECTOR_OWNERS, {"tenant": tenant, "id": connector}
            for (owner,) in owners:
                yield statements.REMOVE_CONNECTOR, {"owner": owner, "known": connector, "at": now}
            return bool(owners)

        return await self._access.run_script(remove)

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
        quoted = None if tag is None else json.dumps(tag, ensure_ascii=False)
        narrowing = {"connector": connector, "category": category, "tag": quoted, "text": text}
        given = frozenset(name for name, value in narrowing.items() if value is not None)
        values = {**narrowing, "tenant": tenant, "after": after or "", "limit": limit}
        return [_mark(row) for row in await self._access.query(statements.actions(given), values)]

    async def action(self, tenant: int, action: str, version: str | None = None) -> ActionRow | None:
        clause = statements.NEWEST if version is None else statements.VERSION
        rows = await self._access.query(clause, {"tenant": tenant, "id": action, "version": version})
        return _action(rows[0]) if rows else None

    async def newest_actions(self, tenant: int, actions: Sequence[str]) -> list[ActionRow]:
        if not actions:
            return []
        rows = await self._access.query(statements.NEWEST_OF, {"tenant": tenant, "ids": list(actions)})
        return [_action(row) for row in rows]

    async def action_names(self, tenant: int, *, limit: int) -> list[str]:
        rows = await self._access.query(statements.NAMES, {"tenant": tenant, "limit": limit})
        return [_text(row[0]) for row in rows]

    async def enable_action(self, tenant: int, action: str, *, enabled: bool) -> bool:
        def enable() -> Script[bool]:
            owners = yield statements.OWNERS, {"tenant": tenant, "id": action}
            for (owner,) in owners:
                yield statements.ENABLE_ACTION, {"owner": owner, "known": action, "enabled": enabled}
            return bool(owners)

        return await self._access.run_script(enable)


class _KnownAction(NamedTuple):
    """A stored version of an action, as a save compares it."""

    id: str
    ranking: int
    checksum: str
    enabled: bool


def _save(new: NewConnector, actions: Sequence[NewAction], now: int) -> Script[SavedConnector | Unsaved]:
    place = {"tenant": new.tenant, "id": new.id}
    while True:
        rows = yield statements.LOCK_CONNECTOR, place
        rankings = {int(row[0]): _text(row[1]) for row in rows}
        if rankings.get(new.ranking, new.checksum) != new.checksum:
            return Unsaved.TAKEN
        known = yield from _known_actions(new)
        if any(_is_another(one, known) for one in actions):
            return Unsaved.TAKEN
        is_removed = bool(rows) and rows[0][3] is not None
        if is_removed:
            yield statements.REMOVE_CONNECTOR, {"owner": new.tenant, "known": new.id, "at": None}
        is_new = new.ranking not in rankings
        if is_new:
            enabled = bool(rows[0][2]) if rows else True
            if not (yield statements.ADD_CONNECTOR, {**new._asdict(), "enabled": enabled, "now": now}):
                continue  # another process has saved the same version in between: look again
        added = yield from _add_actions(actions, known, now)
        if is_new and new.ranking >= max(rankings, default=0):
            yield from _retire(new, actions, known)
        return SavedConnector(created=not rows, changed=is_new or is_removed or added)


def _known_actions(new: NewConnector) -> Script[dict[tuple[str, int], _KnownAction]]:
    rows = yield statements.KNOWN_ACTIONS, {"tenant": new.tenant, "connector": new.id}
    found = [_KnownAction(_text(row[0]), int(row[1]), _text(row[2]), bool(row[3])) for row in rows]
    return {(one.id, one.ranking): one for one in found}


def _is_another(action: NewAction, known: dict[tuple[str, int], _KnownAction]) -> bool:
    """Return whether a version of an action is stored with another content. Code has only what its node has."""
    stored = known.get((action.id, action.ranking))
    return stored is not None and stored.checksum != action.checksum and action.definition is not None


def _add_actions(actions: Sequence[NewAction], known: dict[tuple[str, int], _KnownAction], now: int) -> Script[bool]:
    disabled = {one.id for one in known.values() if not one.enabled}
    changed = False
    for action in actions:
        stored = known.get((action.id, action.ranking))
        if stored is None:
            values = {**action._asdict(), "enabled": action.id not in disabled, "now": now}
            yield statements.ADD_ACTION, values
            changed = True
        elif stored.checksum != action.checksum:
            values = {**action._asdict(), "owner": action.tenant, "known": action.id, "rank": action.ranking}
            yield statements.REPLACE_CODE, values
            changed = True
    return changed


def _retire(
    new: NewConnector, actions: Sequence[NewAction], known: dict[tuple[str, int], _KnownAction]
) -> Script[None]:
    for name in sorted({one.id for one in known.values()} - {action.id for action in actions}):
        reason = retired(new)
        yield statements.RETIRE_ACTION, {"owner": new.tenant, "known": name, "enabled": False, "reason": reason}


def retired(new: NewConnector) -> str:
    """Return what the deprecation of an action says that a connector does not have any more."""
    return f"version {new.version} of the connector {new.id!r} does not have this action any more"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _connector(row: Sequence[Any]) -> ConnectorRow:
    made = ConnectorRow(*row)
    return made._replace(requires_auth=bool(made.requires_auth), enabled=bool(made.enabled))


def _mark(row: Sequence[Any]) -> ActionMark:
    *values, of_connector = row
    made = ActionMark(*values)
    return made._replace(enabled=bool(made.enabled) and bool(of_connector))


def _action(row: Sequence[Any]) -> ActionRow:
    *values, of_connector, removed_at = row
    made = ActionRow._make((*values, removed_at is None))
    return made._replace(enabled=bool(made.enabled) and bool(of_connector))
