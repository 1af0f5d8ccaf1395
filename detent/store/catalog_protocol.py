"""The verbs of the catalog, a part of the contract of a store (`store/protocol.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from detent.store.catalog_rows import ActionMark, ActionRow, ConnectorRow, NewAction, NewConnector, SavedConnector
from detent.store.rows import Unsaved


class CatalogStore(Protocol):
    """The verbs of connectors and actions. A tenant sees its own, and those of every tenant (`EVERY_TENANT`)."""

    async def save_connector(self, new: NewConnector, actions: Sequence[NewAction]) -> SavedConnector | Unsaved:
        """Add a version of a connector with its actions, in one transaction. A removed connector exists again.

        Nothing changes if exactly this version is stored. Return TAKEN if the version, or a version of one of its
        actions, is stored with another checksum. A version of an action that is stored already is not added again. An
        action that was disabled stays so. If the version is the newest, the actions that it does not have any more are
        disabled, and say so in their deprecation."""

    async def connectors(self, tenant: int, *, limit: int, after: str | None = None) -> list[ConnectorRow]:
        """List the newest version of each connector by id, after that id. Removed ones are not listed."""

    async def connector(self, tenant: int, connector: str) -> ConnectorRow | None:
        """Return the newest version of a connector, unless it is removed."""

    async def enable_connector(self, tenant: int, connector: str, *, enabled: bool) -> bool:
        """Enable or disable a connector. Return whether it exists."""

    async def remove_connector(self, tenant: int, connector: str) -> bool:
        """Remove a connector from the lists. Its versions stay, for workflows that pin them. Return whether it
        existed."""

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
        """List the newest version of each action by id, after that id: of a connector, of a category, with a
        tag in any case, or those whose id, title, description or tags have that text. Those of
        removed connectors are not listed."""

    async def action(self, tenant: int, action: str, version: str | None = None) -> ActionRow | None:
        """Return a version of an action, by default its newest, also if it is disabled or removed."""

    async def newest_actions(self, tenant: int, actions: Sequence[str]) -> list[ActionRow]:
        """Return the newest version of each of these actions that exists."""

    async def action_names(self, tenant: int, *, limit: int) -> list[str]:
        """Return the ids of all actions that are listed, sorted."""

    async def enable_action(self, tenant: int, action: str, *, enabled: bool) -> bool:
        """Enable or disable an action. Return whether it exists."""
