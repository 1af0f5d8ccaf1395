"""The verbs of rules beside their workflows, a part of the contract of a store (`store/protocol.py`)."""

from __future__ import annotations

from typing import Protocol

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
)


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


class LayoutStore(Protocol):
    """The verbs of layouts: where the nodes of a workflow are on a canvas.

    A layout belongs to no version. `save_workflow` changes it in the transaction of the save."""

    async def layout(self, tenant: int, workflow: bytes) -> str | None:
        """Return the layout of a workflow, as JSON, or `None` if it has none."""

    async def save_layout(self, tenant: int, workflow: bytes, layout: str) -> str | None:
        """Change the layout of a workflow as `merge_layout` does, and return it. The last writer wins.

        The workflow's row is neither locked nor changed. Return `None` if the workflow does not exist."""


class AlertStore(Protocol):
    """The verbs of alerts."""

    async def add_alert(self, new: NewAlert) -> AlertRow:
        """Add an alert. If the step of the run has one already, return that one and change nothing."""

    async def alert(self, tenant: int, alert: bytes) -> AlertRow | None:
        """Return an alert."""

    async def alerts(
        self, tenant: int, *, limit: int, where: AlertCriteria = EVERY_ALERT, cursor: bytes | None = None
    ) -> list[AlertRow]:
        """List alerts by id, newest first, those before `cursor`."""

    async def count_alerts(self, tenant: int, *, where: AlertCriteria, limit: int) -> int:
        """Count alerts, up to `limit`."""

    async def settle_alert(self, tenant: int, alert: bytes, state: AlertState, *, by: str) -> AlertRow | None:
        """Acknowledge an open alert, or resolve one that is not resolved. Return it as it is then.

        An alert that is in that state already, or resolved, stays as it is. Return `None` if it does not exist."""

    async def prune_alerts(self, *, before: int, limit: int) -> int:
        """Delete up to `limit` alerts of every tenant that were resolved before `before`. Return how many."""


class ActionTemplateStore(Protocol):
    """The verbs of action templates."""

    async def save_action_template(self, row: ActionTemplateRow, *, replace: bool) -> ActionTemplateRow | Unsaved:
        """Add an action template; with `replace`, change the one with that id instead, all but its author.

        Return TAKEN if another one has the name, MISSING if there is none to replace."""

    async def action_template(self, tenant: int, template: bytes) -> ActionTemplateRow | None:
        """Return an action template."""

    async def action_templates(
        self,
        tenant: int,
        *,
        limit: int,
        after: str | None = None,
        action_type: str | None = None,
        is_active: bool | None = None,
    ) -> list[ActionTemplateRow]:
        """List the action templates of a tenant by name, those after `after`."""

    async def drop_action_template(self, tenant: int, template: bytes) -> bool:
        """Delete an action template. Return False if there is none. Rules that were made of it stay."""
