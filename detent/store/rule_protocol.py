"""The verbs of rules beside their workflows, a part of the contract of a store (`store/protocol.py`)."""

from __future__ import annotations

from typing import Protocol

from detent.store.rows import Unsaved
from detent.store.rule_rows import EntityRow, NewEntity, RuleRow


class EntityStore(Protocol):
    """The verbs of entities.

    The verbs of workflows raise the `revision` of an entity in the transaction that changes a rule of it: a save, a
    version that becomes current, an archive, a deletion, and whether it is enabled. A rule that moves from one entity
    to another raises both."""

    async def add_entity(self, new: NewEntity) -> bool:
        """Add an entity. Return False if the tenant has one with that name."""

    async def change_entity(self, tenant: int, entity: bytes, *, title: str, fields: str | None) -> EntityRow | None:
        """Replace the title and the fields of an entity. Return it, or `None` if it does not exist."""

    async def entity(self, tenant: int, key: bytes | str) -> EntityRow | None:
        """Find an entity by id or by name."""

    async def entities(self, tenant: int, *, limit: int, after: str | None = None) -> list[EntityRow]:
        """List the entities of a tenant by name, those after `after`."""

    async def drop_entity(self, tenant: int, entity: bytes) -> Unsaved | None:
        """Delete an entity. Return MISSING, or USED if a workflow that is not deleted is a rule of it."""

    async def entity_rules(self, tenant: int, entity: str) -> tuple[int, list[RuleRow]] | None:
        """Return the revision of an entity, and the active and enabled rules of it as they were at that revision.

        Return `None` if there is no such entity."""
