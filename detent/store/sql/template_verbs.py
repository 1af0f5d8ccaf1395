"""Workflow templates and document templates: the verbs are the same on every SQL database.

A verb that writes a document template locks the row of its set first. Under that lock the greatest version cannot
change, so of two texts at once the second gets the number after the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detent.store.rows import Unsaved
from detent.store.sql import template_statements as statements
from detent.store.sql.access import Script, SqlAccess
from detent.store.templates import (
    DocumentPlace,
    DocumentTemplateRow,
    NewDocument,
    SavedDocument,
    TemplateSetRow,
    TemplateStore,
    WorkflowTemplateRow,
)


class TemplateVerbs(TemplateStore):
    """The verbs of templates."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def add_workflow_template(self, new: WorkflowTemplateRow) -> bool:
        values = new._replace(created_at=await self._access.now())._asdict()
        return bool(await self._access.execute(statements.ADD_WORKFLOW_TEMPLATE, values))

    async def workflow_template(self, tenant: int, id_: str) -> WorkflowTemplateRow | None:
        rows = await self._access.query(statements.WORKFLOW_TEMPLATE, {"tenant": tenant, "id": id_})
        return WorkflowTemplateRow(*rows[0]) if rows else None

    async def workflow_templates(
        self, tenant: int, *, limit: int, after: str | None = None, category: str | None = None
    ) -> list[WorkflowTemplateRow]:
        given = frozenset({"category"} if category is not None else ())
        values = {"tenant": tenant, "after": after or "", "limit": limit, "category": category}
        rows = await self._access.query(statements.workflow_templates(given), values)
        return [WorkflowTemplateRow(*row) for row in rows]

    async def drop_workflow_template(self, tenant: int, id_: str) -> bool:
        values = {"tenant": tenant, "id": id_}

        def drop() -> Script[bool]:
            if not (yield statements.HAS_WORKFLOW_TEMPLATE, values):
                return False
            yield statements.DROP_WORKFLOW_TEMPLATE, values
            return True

        return await self._access.run_script(drop)

    async def save_template_set(self, new: TemplateSetRow, *, replace: bool = True) -> bool:
        now = await self._access.now()

        def save() -> Script[bool]:
            values = {**new._asdict(), "now": now}
            if (yield statements.ADD_SET, values):
                return True
            if replace:
                known = yield statements.LOCK_SET, {"tenant": new.tenant, "template_set": new.id}
                later = max(now, known[0][0] + 1) if known else now
                yield statements.CHANGE_SET, {**values, "its_tenant": new.tenant, "its_id": new.id, "now": later}
            return False

        return await self._access.run_script(save)

    async def template_set(self, tenant: int, id_: str) -> TemplateSetRow | None:
        rows = await self._access.query(statements.SET, {"tenant": tenant, "id": id_})
        return _set(rows[0]) if rows else None

    async def template_sets(
        self, tenant: int, *, limit: int, after: str | None = None, team: str | None = None
    ) -> list[TemplateSetRow]:
        given = frozenset({"team"} if team is not None else ())
        values = {"tenant": tenant, "after": after or "", "limit": limit, "team": team}
        return [_set(row) for row in await self._access.query(statements.template_sets(given), values)]

    async def add_document(self, new: NewDocument, *, create: bool = False) -> SavedDocument | Unsaved:
        now = await self._access.now()

        def add() -> Script[SavedDocument | Unsaved]:
            place = {"tenant": new.tenant, "template_set": new.template_set}
            if not (yield statements.LOCK_SET, place):
                return Unsaved.MISSING
            known = yield statements.NEWEST_TEXT, {**place, "id": new.id}
            if known and create:
                return Unsaved.TAKEN
            number, checksum = known[0] if known else (0, None)
            if checksum == new.checksum:
                return SavedDocument(number, created=False, changed=False)
            values = {**new._asdict(), "version": number + 1, "enabled": True, "now": now}
            yield statements.ADD_DOCUMENT, values
            return SavedDocument(number + 1, created=not known, changed=True)

        return await self._access.run_script(add)

    async def document(
        self, tenant: int, template_set: str, id_: str, version: int | None = None
    ) -> DocumentTemplateRow | None:
        clause = statements.NEWEST_DOCUMENT if version is None else statements.DOCUMENT
        values = {"tenant": tenant, "template_set": template_set, "id": id_, "version": version}
        rows = await self._access.query(clause, values)
        return _document(rows[0]) if rows else None

    async def documents(
        self,
        tenant: int,
        *,
        limit: int,
        after: DocumentPlace | None = None,
        template_set: str | None = None,
        team: str | None = None,
    ) -> list[DocumentTemplateRow]:
        narrowing = {"after": after, "template_set": template_set, "team": team}
        given = frozenset(name for name, value in narrowing.items() if value is not None)
        behind = {"after_set": after[0], "behind_set": after[0], "after_id": after[1]} if after else {}
        values = {"tenant": tenant, "limit": limit, "template_set": template_set, "team": team, **behind}
        return [_document(row) for row in await self._access.query(statements.documents(given), values)]

    async def document_versions(
        self, tenant: int, template_set: str, id_: str, *, limit: int
    ) -> list[DocumentTemplateRow]:
        values = {"tenant": tenant, "template_set": template_set, "id": id_, "limit": limit}
        return [_document(row) for row in await self._access.query(statements.DOCUMENT_VERSIONS, values)]

    async def sets_with(self, tenant: int, id_: str, *, limit: int) -> list[str]:
        rows = await self._access.query(statements.SETS_WITH, {"tenant": tenant, "id": id_, "limit": limit})
        return [row[0] for row in rows]

    async def enable_document(
        self, tenant: int, template_set: str, id_: str, *, enabled: bool, version: int | None = None
    ) -> bool:
        place = {"tenant": tenant, "template_set": template_set, "id": id_}

        def enable() -> Script[bool]:
            yield statements.LOCK_SET, {"tenant": tenant, "template_set": template_set}
            known = statements.NEWEST_TEXT if version is None else statements.DOCUMENT
            if not (yield known, {**place, "version": version}):
                return False
            clause = statements.ENABLE_ALL if version is None else statements.ENABLE_ONE
            yield clause, {**place, "is_enabled": enabled, "number": version}
            return True

        return await self._access.run_script(enable)


def _set(row: Sequence[Any]) -> TemplateSetRow:
    made = TemplateSetRow(*row)
    return made._replace(enabled=bool(made.enabled))


def _document(row: Sequence[Any]) -> DocumentTemplateRow:
    made = DocumentTemplateRow(*row)
    return made._replace(enabled=bool(made.enabled), set_enabled=bool(made.set_enabled))
