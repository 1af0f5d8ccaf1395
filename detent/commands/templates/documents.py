"""Document templates: sets, versions, and documents that are rendered of them."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.commands.context import CommandPart
from detent.errors import InvalidInput, NameTaken, NotFound, Problem, TemplateNotFound, Unavailable
from detent.forms.payload_schema import PayloadSchema, check_schema
from detent.steps.templates.action import DocumentRequest, RenderedDocument
from detent.steps.templates.renderer import Renderer
from detent.store.rows import Unsaved
from detent.store.templates import (
    DocumentPlace,
    DocumentTemplateRow,
    NewDocument,
    SavedDocument,
    TemplateSetRow,
)

#: Formats of documents. In HTML the answers are escaped.
FORMATS: Final = ("text", "markdown", "html")
_SCHEMA: Final = "fields.validation.jsonSchema"
_MOST_SETS: Final = 5
_MOST_VERSIONS: Final = 200


class DocumentText(NamedTuple):
    """The text of a document template, and everything that its version never changes."""

    template_set: str
    id: str
    title: str
    fields: Mapping[str, Any]
    body: str
    format: str = "text"
    help: str | None = None


class DocumentTemplateCommands(CommandPart):
    """The document templates of the tenant."""

    async def sets(self, *, limit: int, after: str | None = None, team: str | None = None) -> list[TemplateSetRow]:
        """Return the sets by id, those after `after`."""
        return await self._store.template_sets(self._tenant, limit=limit, after=after, team=team)

    async def save_set(self, id_: str, *, title: str, team: str, enabled: bool) -> tuple[TemplateSetRow, bool]:
        """Create a set, or change it. Return it, and whether it was created."""
        created = await self._store.save_template_set(TemplateSetRow(self._tenant, id_, title, team, enabled))
        row = await self._store.template_set(self._tenant, id_)
        assert row is not None
        return row, created

    async def find(
        self,
        *,
        limit: int,
        after: DocumentPlace | None = None,
        template_set: str | None = None,
        team: str | None = None,
    ) -> list[DocumentTemplateRow]:
        """Return the newest version of each template by set and id, those after `after`, without their texts."""
        return await self._store.documents(self._tenant, limit=limit, after=after, template_set=template_set, team=team)

    async def get(
        self, id_: str, *, template_set: str | None = None, version: int | None = None
    ) -> DocumentTemplateRow:
        """Return a version of a template; without a version, the newest one that is enabled, or else the newest.

        Without a set, the template must have an id that only one set has. Raise TemplateNotFound."""
        place = await self.place_of(id_, template_set)
        row = await self._store.document(self._tenant, place, id_, version)
        if row is None and version is None:
            newest = await self._store.document_versions(self._tenant, place, id_, limit=1)
            row = await self._store.document(self._tenant, place, id_, newest[0].version) if newest else None
        if row is None:
            raise _missing(place, id_, version)
        return row

    async def versions(self, row: DocumentTemplateRow) -> list[DocumentTemplateRow]:
        """Return the newest versions of a template, without their texts."""
        return await self._store.document_versions(self._tenant, row.template_set, row.id, limit=_MOST_VERSIONS)

    async def save(self, text: DocumentText, *, create: bool) -> SavedDocument:
        """Add a version of a template, which is created if its id is new. Its set is created too.

        If the newest version has the same text, nothing is added. With `create` raise NameTaken if there is one with
        that id. Raise InvalidInput with every problem of the fields, and RenderFailed if the body is not valid."""
        problems = await asyncio.to_thread(_field_problems, text.fields)
        if problems:
            raise InvalidInput("the document template cannot be saved", problems)
        await self._renderer().check(text.body, text.format)
        known = TemplateSetRow(self._tenant, text.template_set, text.template_set, "", enabled=True)
        await self._store.save_template_set(known, replace=False)
        fields = json.dumps(text.fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        whole = json.dumps([text.title, text.format, fields, text.body, text.help])
        new = NewDocument(
            tenant=self._tenant,
            template_set=text.template_set,
            id=text.id,
            title=text.title,
            format=text.format,
            fields=fields,
            body=text.body,
            help=text.help,
            author=self._caller.name,
            checksum=hashlib.sha256(whole.encode()).hexdigest(),
        )
        saved = await self._store.add_document(new, create=create)
        if isinstance(saved, SavedDocument):
            return saved
        if saved is Unsaved.TAKEN:
            message = f"the set {text.template_set!r} has a template {text.id!r} already; PUT it to add a version"
            raise NameTaken(message)
        raise NotFound(f"there is no template set {text.template_set!r}")

    async def enable(
        self, id_: str, *, enabled: bool, template_set: str | None = None, version: int | None = None
    ) -> DocumentTemplateRow:
        """Let a version be rendered, or forbid it; without a version, all of them."""
        place = await self.place_of(id_, template_set)
        if not await self._store.enable_document(self._tenant, place, id_, enabled=enabled, version=version):
            raise _missing(place, id_, version)
        return await self.get(id_, template_set=place, version=version)

    async def render(self, request: DocumentRequest) -> RenderedDocument:
        """Render a document. Raise TemplateNotFound if there is no such version or it is disabled, InvalidInput with
        every problem of the answers, and RenderFailed."""
        place, id_, version = request.template_set_id, request.template_id, request.version
        row = await self._store.document(self._tenant, place, id_, version)
        if row is None or not (row.enabled and row.set_enabled):
            raise _missing(place, id_, version, disabled=row is not None)
        problems = await asyncio.to_thread(_answer_problems, json.loads(row.fields), request.answers)
        if problems:
            raise InvalidInput(f"the answers do not fit the document template {place}/{id_}", problems)
        data = {**request.answers, "answers": request.answers, "extras": request.extras}
        body = await self._renderer().render(row.body, row.format, data)
        facts = {"templateSetId": row.template_set, "templateId": row.id, "version": row.version}
        return RenderedDocument(body, {**facts, "displayName": row.title, "format": row.format})

    async def place_of(self, id_: str, template_set: str | None) -> str:
        """Return the set of a template: the one given, or else the only one that has its id.

        Raise TemplateNotFound if there is none, and InvalidInput if there are several."""
        if template_set is not None:
            return template_set
        found = await self._store.sets_with(self._tenant, id_, limit=_MOST_SETS)
        if not found:
            raise TemplateNotFound(f"there is no document template {id_[:200]!r}")
        if len(found) > 1:
            message = f"several sets have a template {id_!r}: {', '.join(found)}; choose one"
            raise InvalidInput("the document template cannot be found", [Problem("set", message)])
        return found[0]

    def _renderer(self) -> Renderer:
        if self._context.renderer is None:
            raise Unavailable("this process cannot render documents")
        return self._context.renderer


def _missing(place: str, id_: str, version: int | None, *, disabled: bool = False) -> TemplateNotFound:
    which = f"{place[:200]}/{id_[:200]}" + ("" if version is None else f" version {version}")
    return TemplateNotFound(
        f"the document template {which} is disabled" if disabled else f"there is no document template {which}"
    )


def _schema_in(fields: Mapping[str, Any]) -> Any:
    validation = fields.get("validation")
    return validation.get("jsonSchema") if isinstance(validation, dict) else None


def _field_problems(fields: Mapping[str, Any]) -> list[Problem]:
    schema = _schema_in(fields)
    return [] if schema is None else check_schema(schema, _SCHEMA)


def _answer_problems(fields: Mapping[str, Any], answers: Any) -> list[Problem]:
    schema = _schema_in(fields)
    return [] if schema is None else PayloadSchema(schema).problems(answers, "answers")
