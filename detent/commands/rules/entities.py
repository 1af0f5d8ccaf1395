"""Entities: the kinds of records that rules watch, with the JSON Schema of their fields if it is known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from detent.auth.scopes import Scope
from detent.commands.context import CommandPart
from detent.errors import Conflict, InvalidInput, NameTaken, NotFound
from detent.forms.payload_schema import check_schema
from detent.ids import ENTITY, InvalidId, parse
from detent.store.audit import note_audit
from detent.store.rows import Unsaved
from detent.store.rule_rows import EntityRow, NewEntity

_MESSAGE: Final = "the entity cannot be saved"


class EntityCommands(CommandPart):
    """The entities of a tenant. The name of an entity never changes: rules and events use it."""

    async def create(self, name: str, title: str | None, fields: Mapping[str, Any] | None) -> EntityRow:
        """Add an entity. Raise NameTaken if there is one with that name, InvalidInput if the schema is not valid."""
        self._caller.require(Scope.MANAGE)
        text = await _schema_text(fields)
        note_audit(name)
        new = NewEntity(self._tenant, self._engine.new_id(), name, title or name, text)
        if not await self._store.add_entity(new):
            raise NameTaken(f"there is an entity {name!r} already; PUT it to change its title and fields")
        return await self.get(name)

    async def change(self, key: str, title: str | None, fields: Mapping[str, Any] | None) -> EntityRow:
        """Replace the title and the fields of an entity. Rules are checked against the new fields when they are saved
        again. Raise NotFound, or InvalidInput if the schema is not valid."""
        self._caller.require(Scope.MANAGE)
        row = await self.get(key)
        text = await _schema_text(fields)
        changed = await self._store.change_entity(self._tenant, row.id, title=title or row.name, fields=text)
        if changed is None:
            raise _missing(key)
        return changed

    async def get(self, key: str) -> EntityRow:
        """Return an entity by its id or its name. Raise NotFound if there is none."""
        self._caller.require(Scope.READ)
        found = None
        with suppress(InvalidId):
            found = await self._store.entity(self._tenant, parse(ENTITY, key))
        found = found or await self._store.entity(self._tenant, key)
        if found is None:
            raise _missing(key)
        return found

    async def list_all(self, *, limit: int, after: str | None = None) -> list[EntityRow]:
        """Return entities by name, those after `after`."""
        self._caller.require(Scope.READ)
        return await self._store.entities(self._tenant, limit=limit, after=after)

    async def delete(self, key: str) -> EntityRow:
        """Delete an entity and return what it was. Raise Conflict if a rule is about it."""
        self._caller.require(Scope.MANAGE)
        row = await self.get(key)
        match await self._store.drop_entity(self._tenant, row.id):
            case None:
                return row
            case Unsaved.USED:
                rules = await self._store.workflows(self._tenant, limit=4, entity=row.name)
                names = ", ".join(repr(one.name) for one in rules[:3]) + (", ..." if len(rules) > 3 else "")
                raise Conflict(f"the entity {row.name!r} has rules: {names}; delete them first")
            case _:
                raise _missing(key)


def _missing(key: str) -> NotFound:
    return NotFound(f"there is no entity {key[:200]!r}")


async def _schema_text(fields: Mapping[str, Any] | None) -> str | None:
    """Return the JSON Schema of an entity as its row stores it. Raise InvalidInput if it is not valid."""
    if fields is None:
        return None
    problems = await asyncio.to_thread(check_schema, dict(fields), "fields")
    if problems:
        raise InvalidInput(_MESSAGE, problems)
    return json.dumps(fields, ensure_ascii=False)
