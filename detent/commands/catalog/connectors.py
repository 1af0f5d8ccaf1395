"""Commands on connectors and their actions."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from detent.catalog.action import ActionFacts, ActionSource
from detent.catalog.connections import EnvironmentConnections
from detent.catalog.connector import Connector
from detent.commands.catalog.rows import action_row, action_rows, as_new, by_connector, code_connector, connector_row
from detent.commands.context import CommandPart
from detent.documents.connectors import ActionFacetsDocument
from detent.documents.lists import FacetValue
from detent.errors import Conflict, NotFound
from detent.store.audit import note_audit
from detent.store.catalog_rows import (
    EVERY_TENANT,
    ActionMark,
    ActionRow,
    ConnectorRow,
    NewConnector,
    SavedConnector,
)
from detent.store.protocol import Store
from detent.store.rows import Unsaved
from detent.tenants.limits import refusal

#: How many actions are read at once to count them.
_PAGE: Final = 1_000
_MOST_FACETS: Final = 200
#: The setting that names the shipped connectors which are stored.
_SHIPPED: Final = "shipped_connectors"


class CatalogCommands(CommandPart):
    """Connectors and actions."""

    @property
    def connections(self) -> EnvironmentConnections:
        """Return what connectors this process is set up for."""
        return self._context.connections

    async def stored_credentials(self, names: Collection[str]) -> Collection[str]:
        """Return those of these connectors that have a stored credential of their name."""
        return await self._store.credential_states(self._tenant, names)

    async def connectors(self, *, limit: int, after: str | None = None) -> list[ConnectorRow]:
        """Return the newest version of each connector that the tenant may use, by id."""
        found: list[ConnectorRow] = []
        while len(found) < limit:
            rows = await self._store.connectors(self._tenant, limit=limit, after=after)
            found += [row for row in rows if self._is_seen(row)]
            if len(rows) < limit:
                break
            after = rows[-1].id
        return found[:limit]

    async def connector(self, connector: str) -> ConnectorRow:
        """Return a connector, or raise NotFound; also for one that the tenant may not use."""
        row = await self._store.connector(self._tenant, connector)
        if row is None or not self._is_seen(row):
            raise NotFound(f"there is no connector {connector[:200]!r}{await self._hint(f'{connector[:200]}.*')}")
        return row

    async def actions(
        self,
        *,
        limit: int,
        after: str | None = None,
        connector: str | None = None,
        category: str | None = None,
        tag: str | None = None,
        text: str | None = None,
    ) -> list[ActionMark]:
        """Return the newest version of each action that the tenant may use, by id, narrowed as asked."""
        found: list[ActionMark] = []
        while len(found) < limit:
            rows = await self._store.actions(
                self._tenant, limit=limit, after=after, connector=connector, category=category, tag=tag, text=text
            )
            found += [row for row in rows if self._is_allowed(row)]
            if len(rows) < limit:
                break
            after = rows[-1].id
        return found[:limit]

    async def count_actions(self) -> ActionFacetsDocument:
        """Count the actions that the tenant may use by connector, category and tag."""
        connectors: Counter[str] = Counter()
        categories: Counter[str] = Counter()
        tags: Counter[str] = Counter()
        after: str | None = None
        while rows := await self._store.actions(self._tenant, limit=_PAGE, after=after):
            after = rows[-1].id
            rows = [row for row in rows if self._is_allowed(row)]
            connectors.update(row.connector for row in rows)
            categories.update(row.category for row in rows if row.category)
            tags.update(tag for row in rows for tag in set(json.loads(row.tags)))
        return ActionFacetsDocument(connectors=_most(connectors), categories=_most(categories), tags=_most(tags))

    async def action(self, action: str, version: str | None = None) -> ActionRow:
        """Return an action, by default its newest version, or raise NotFound; also for one that the tenant may not
        use."""
        row = await self._store.action(self._tenant, action, version)
        if row is None or (version is None and not row.is_listed) or not self._is_allowed(row):
            which = "" if version is None else f" with version {version[:20]}"
            raise NotFound(f"there is no action {action[:200]!r}{which}{await self._hint(action[:200])}")
        return row

    def _is_allowed(self, row: ActionMark | ActionRow) -> bool:
        return row.tenant != EVERY_TENANT or self._context.tenants.refusal(self._tenant, row.id) is None

    def _is_seen(self, row: ConnectorRow) -> bool:
        return row.tenant != EVERY_TENANT or self._context.tenants.may_see(self._tenant, row.id)

    async def _hint(self, name: str) -> str:
        """Return what to do about a name that the tenant may not use. It is the same if there is no such name."""
        if self._context.tenants.refusal(self._tenant, name) is None:
            return ""
        tenant = await self._store.tenant(self._tenant)
        return f" here: {refusal(str(self._tenant) if tenant is None else tenant.name, name)}"

    async def add(self, connector: Connector) -> tuple[ConnectorRow, SavedConnector]:
        """Add a connector, or a new version of one. Raise Conflict if the version exists with another content, or if
        its name or one of its actions belongs to another connector or to code."""
        await self.refuse_foreign(connector.id)
        await self._refuse_shadows(connector)
        note_audit(connector.id, version=connector.version)
        saved = await self._save(self._tenant, connector)
        return await self.connector(connector.id), saved

    async def refuse_foreign(self, name: str) -> None:
        """Raise Conflict if a connector of that name is shipped or is code."""
        known = await self._store.connector(EVERY_TENANT, name)
        if known is not None:
            whose = "Detent ships" if known.source != ActionSource.PYTHON else "code has"
            raise Conflict(f"{whose} a connector {name!r}; choose another name")

    async def remove(self, connector: str) -> ConnectorRow:
        """Remove a connector and return it as it was. Versions of workflows that pin its actions go on. Raise
        Conflict for a shipped one."""
        row = await self.connector(connector)
        if row.tenant == EVERY_TENANT:
            raise Conflict(f"the connector {connector!r} belongs to Detent or to code: disable it instead")
        await self._store.remove_connector(self._tenant, connector)
        return row

    async def enable_connector(self, connector: str, *, enabled: bool) -> ConnectorRow:
        """Allow workflows to be published with actions of a connector, or forbid it."""
        row = await self._store.connector(self._tenant, connector)
        if row is not None and row.tenant == EVERY_TENANT:
            self._caller.require_installation(f"the connector {connector!r}")
        if row is None or not await self._store_of(row.tenant).enable_connector(
            self._tenant, connector, enabled=enabled
        ):
            raise NotFound(f"there is no connector {connector[:200]!r}")
        return row._replace(enabled=enabled)

    async def enable_action(self, action: str, *, enabled: bool) -> ActionRow:
        """Allow workflows to be published with an action, or forbid it. Published versions are not affected."""
        row = await self._store.action(self._tenant, action, None)
        if row is None or not row.is_listed:
            raise NotFound(f"there is no action {action[:200]!r}")
        if row.tenant == EVERY_TENANT:
            self._caller.require_installation(f"the action {action!r}")
        await self._store_of(row.tenant).enable_action(self._tenant, action, enabled=enabled)
        return await self._store.action(self._tenant, action, None) or row

    async def register(
        self,
        shipped: Callable[[], Sequence[Connector]],
        fingerprint: str,
        code: Iterable[ActionFacts],
        described: Iterable[Connector] = (),
    ) -> None:
        """Store the connectors that Detent ships and the actions of this node's code, unless they are stored.

        `fingerprint` stands for the shipped connectors: they are read only if it is another one. `described` says more
        about connectors that are code."""
        if await self._store.setting(_SHIPPED, "") != fingerprint:
            for connector in await asyncio.to_thread(shipped):
                await self._save(EVERY_TENANT, connector)
            await self._store.change_setting(_SHIPPED, fingerprint)
        own = {one.id: connector_row(EVERY_TENANT, one) for one in described}
        for name, facts in by_connector(code).items():
            known = await self._store.connector(EVERY_TENANT, name)
            new: NewConnector = code_connector(EVERY_TENANT, name) if known is None else as_new(known)
            if name in own and (known is None or known.ranking < own[name].ranking):
                new = own[name]
            await self._store_of(EVERY_TENANT).save_connector(
                new, [action_row(EVERY_TENANT, one, None) for one in facts]
            )

    def _store_of(self, owner: int) -> Store:
        """Return the store that writes rows of this tenant, or of the installation."""
        return self._context.store if owner == EVERY_TENANT else self._store

    async def _save(self, tenant: int, connector: Connector) -> SavedConnector:
        rows = connector_row(tenant, connector), action_rows(tenant, connector)
        saved = await self._store_of(tenant).save_connector(*rows)
        if isinstance(saved, Unsaved):
            raise Conflict(
                f"version {connector.version} of the connector {connector.id!r}, or of one of its actions, is stored"
                " with another content; give what has changed a new version"
            )
        return saved

    async def _refuse_shadows(self, connector: Connector) -> None:
        """Raise Conflict if a node has code under the name of one of the actions."""
        names = {f"{connector.id}.{action.id}" for action in connector.actions}
        code: Collection[str] = {name for offer in await self._store.offers() for name in offer.actions}
        taken = sorted(names & {*code, *self._engine.served.all()})
        if taken:
            raise Conflict(f"code has an action {taken[0]!r} already; choose another name")


def _most(counts: Counter[str]) -> list[FacetValue]:
    return [FacetValue(value, count) for value, count in counts.most_common(_MOST_FACETS)]
