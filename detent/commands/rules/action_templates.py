"""Action templates: configurations of actions that an editor offers for new actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from detent.auth.scopes import Scope
from detent.commands.context import CommandPart
from detent.errors import InvalidInput, NameTaken, NotFound, Problem
from detent.forms.rules.action_types import ACTION_TYPES
from detent.ids import ACTION_TEMPLATE, InvalidId, parse
from detent.store.audit import note_audit
from detent.store.rows import Unsaved
from detent.store.rule_rows import ActionTemplateRow
from detent.values.fields import shown
from detent.values.nearest import nearest


class ActionTemplate(NamedTuple):
    """What a caller says of an action template."""

    name: str
    description: str
    action_type: str
    default_config: Mapping[str, Any]
    is_active: bool = True


class ActionTemplateCommands(CommandPart):
    """The action templates of a tenant. A rule that was made of one does not change with it."""

    async def create(self, new: ActionTemplate) -> ActionTemplateRow:
        """Add an action template. Raise NameTaken, or InvalidInput for an unknown type of actions."""
        return await self._save(self._engine.new_id(), new, replace=False)

    async def change(self, key: str, new: ActionTemplate) -> ActionTemplateRow:
        """Replace an action template. Raise NotFound, NameTaken, or InvalidInput for an unknown type of actions."""
        return await self._save(_id(key), new, replace=True)

    async def _save(self, id_: bytes, new: ActionTemplate, *, replace: bool) -> ActionTemplateRow:
        self._caller.require(Scope.MANAGE)
        await self._check_type(new.action_type)
        note_audit(new.name)
        row = ActionTemplateRow(
            tenant=self._tenant,
            id=id_,
            name=new.name,
            description=new.description,
            action_type=new.action_type,
            default_config=json.dumps(new.default_config, ensure_ascii=False),
            is_active=new.is_active,
            author=self._caller.name,
        )
        match await self._store.save_action_template(row, replace=replace):
            case ActionTemplateRow() as saved:
                return saved
            case Unsaved.TAKEN:
                raise NameTaken(f"there is an action template named {new.name!r} already; choose another name")
            case _:
                raise NotFound("there is no such action template")

    async def _check_type(self, action_type: str) -> None:
        if action_type in ACTION_TYPES or await self._store.action(self._tenant, action_type) is not None:
            return
        if self._context.actions is None or action_type in self._context.actions:
            return
        near = nearest(action_type, ACTION_TYPES)
        hint = f"; did you mean {near!r}?" if near else f"; it is one of {', '.join(ACTION_TYPES)}, or an action"
        problem = Problem("action_type", f"there is no action type {shown(action_type)}{hint}")
        raise InvalidInput("the action template cannot be saved", [problem])

    async def get(self, key: str) -> ActionTemplateRow:
        """Return an action template by its id. Raise NotFound if there is none."""
        self._caller.require(Scope.READ)
        row = await self._store.action_template(self._tenant, _id(key))
        if row is None:
            raise _missing(key)
        return row

    async def find(
        self,
        *,
        limit: int,
        after: str | None = None,
        action_type: str | None = None,
        is_active: bool | None = None,
    ) -> list[ActionTemplateRow]:
        """Return action templates by name, those after `after`."""
        self._caller.require(Scope.READ)
        return await self._store.action_templates(
            self._tenant, limit=limit, after=after, action_type=action_type, is_active=is_active
        )

    async def delete(self, key: str) -> ActionTemplateRow:
        """Delete an action template and return what it was."""
        self._caller.require(Scope.MANAGE)
        row = await self.get(key)
        if not await self._store.drop_action_template(self._tenant, row.id):
            raise _missing(key)
        return row


def _id(key: str) -> bytes:
    try:
        return parse(ACTION_TEMPLATE, key)
    except InvalidId:
        raise _missing(key) from None


def _missing(key: str) -> NotFound:
    return NotFound(f"there is no action template {key[:200]!r}")
