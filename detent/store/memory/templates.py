"""The verbs of templates on the memory store."""

from __future__ import annotations

from collections.abc import Iterable

from detent.store.memory.tables import MemoryTables
from detent.store.rows import Unsaved
from detent.store.templates import (
    DocumentPlace,
    DocumentTemplateRow,
    NewDocument,
    SavedDocument,
    TemplateSetRow,
    WorkflowTemplateRow,
)


class MemoryTemplates(MemoryTables):
    """Workflow templates and document templates: every verb is one step."""

    async def add_workflow_template(self, new: WorkflowTemplateRow) -> bool:
        if (new.tenant, new.id) in self.workflow_texts:
            return False
        self.workflow_texts[new.tenant, new.id] = new._replace(created_at=self.clock.wall())
        return True

    async def workflow_template(self, tenant: int, id_: str) -> WorkflowTemplateRow | None:
        return self.workflow_texts.get((tenant, id_))

    async def workflow_templates(
        self, tenant: int, *, limit: int, after: str | None = None, category: str | None = None
    ) -> list[WorkflowTemplateRow]:
        mine = [
            row
            for row in self.workflow_texts.values()
            if row.tenant == tenant and row.id > (after or "") and category in (None, row.category)
        ]
        short = [row._replace(definition="{}", config_schema="{}") for row in mine]
        return sorted(short, key=lambda row: row.id)[:limit]

    async def drop_workflow_template(self, tenant: int, id_: str) -> bool:
        return self.workflow_texts.pop((tenant, id_), None) is not None

    async def save_template_set(self, new: TemplateSetRow, *, replace: bool = True) -> bool:
        now, known = self.clock.wall(), self.template_sets_by_id.get((new.tenant, new.id))
        if known is None:
            self.template_sets_by_id[new.tenant, new.id] = new._replace(created_at=now, updated_at=now)
        elif replace:
            later = max(now, known.updated_at + 1)
            changed = new._replace(created_at=known.created_at, updated_at=later)
            self.template_sets_by_id[new.tenant, new.id] = changed
        return known is None

    async def template_set(self, tenant: int, id_: str) -> TemplateSetRow | None:
        return self.template_sets_by_id.get((tenant, id_))

    async def template_sets(
        self, tenant: int, *, limit: int, after: str | None = None, team: str | None = None
    ) -> list[TemplateSetRow]:
        mine = [
            row
            for row in self.template_sets_by_id.values()
            if row.tenant == tenant and row.id > (after or "") and team in (None, row.team)
        ]
        return sorted(mine, key=lambda row: row.id)[:limit]

    async def add_document(self, new: NewDocument, *, create: bool = False) -> SavedDocument | Unsaved:
        if (new.tenant, new.template_set) not in self.template_sets_by_id:
            return Unsaved.MISSING
        known = self._versions_of(new.tenant, new.template_set, new.id)
        if known and create:
            return Unsaved.TAKEN
        if known and known[0].checksum == new.checksum:
            return SavedDocument(known[0].version, created=False, changed=False)
        number = known[0].version + 1 if known else 1
        facts = new._asdict() | {"version": number, "enabled": True, "created_at": self.clock.wall()}
        row = DocumentTemplateRow(**facts, team="", set_enabled=True)
        self.document_texts[new.tenant, new.template_set, new.id, number] = row
        return SavedDocument(number, created=not known, changed=True)

    async def document(
        self, tenant: int, template_set: str, id_: str, version: int | None = None
    ) -> DocumentTemplateRow | None:
        fitting = (
            row
            for row in self._versions_of(tenant, template_set, id_)
            if (row.enabled if version is None else row.version == version)
        )
        return next(fitting, None)

    async def documents(
        self,
        tenant: int,
        *,
        limit: int,
        after: DocumentPlace | None = None,
        template_set: str | None = None,
        team: str | None = None,
    ) -> list[DocumentTemplateRow]:
        newest: dict[DocumentPlace, DocumentTemplateRow] = {}
        for row in self._joined(row for row in self.document_texts.values() if row.tenant == tenant):
            place = (row.template_set, row.id)
            if place not in newest or newest[place].version < row.version:
                newest[place] = row
        chosen = [
            _short(row)
            for place, row in sorted(newest.items())
            if (after is None or place > after)
            and template_set in (None, row.template_set)
            and team in (None, row.team)
        ]
        return chosen[:limit]

    async def document_versions(
        self, tenant: int, template_set: str, id_: str, *, limit: int
    ) -> list[DocumentTemplateRow]:
        return [_short(row) for row in self._versions_of(tenant, template_set, id_)[:limit]]

    async def sets_with(self, tenant: int, id_: str, *, limit: int) -> list[str]:
        found = {row.template_set for row in self.document_texts.values() if (row.tenant, row.id) == (tenant, id_)}
        return sorted(found)[:limit]

    async def enable_document(
        self, tenant: int, template_set: str, id_: str, *, enabled: bool, version: int | None = None
    ) -> bool:
        chosen = [
            row for row in self._versions_of(tenant, template_set, id_) if version is None or row.version == version
        ]
        for row in chosen:
            self.document_texts[tenant, template_set, id_, row.version] = row._replace(enabled=enabled)
        return bool(chosen)

    def _versions_of(self, tenant: int, template_set: str, id_: str) -> list[DocumentTemplateRow]:
        """Return the versions of a document template, newest first."""
        wanted = (tenant, template_set, id_)
        mine = (row for key, row in self.document_texts.items() if key[:3] == wanted)
        return sorted(self._joined(mine), key=lambda row: -row.version)

    def _joined(self, rows: Iterable[DocumentTemplateRow]) -> list[DocumentTemplateRow]:
        """Return the rows with the facts of their sets."""
        sets = self.template_sets_by_id
        return [
            row._replace(team=known.team, set_enabled=known.enabled)
            for row in rows
            if (known := sets.get((row.tenant, row.template_set))) is not None
        ]


def _short(row: DocumentTemplateRow) -> DocumentTemplateRow:
    return row._replace(fields="{}", body="", help=None)
