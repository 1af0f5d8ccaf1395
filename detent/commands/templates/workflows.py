"""Workflow templates: those of Detent and those of the tenant, and drafts that are made of them."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import Mapping
from heapq import merge
from itertools import islice
from typing import Any, Final, NamedTuple

from detent.auth.caller import Caller
from detent.catalog.gallery import gallery
from detent.catalog.workflow_template import WorkflowTemplate, template_problems
from detent.commands.context import CommandContext, CommandPart
from detent.commands.drafts import DraftAnswer, DraftCommands
from detent.errors import Forbidden, InvalidInput, NameTaken, NotFound, Problem
from detent.store.audit import note_audit
from detent.store.templates import WorkflowTemplateRow

_PAGE: Final = 200
_LONGEST_NAME: Final = 64


class TemplateFilter(NamedTuple):
    """Which workflow templates a list has; `None` means all."""

    category: str | None = None
    official: bool | None = None
    search: str | None = None

    def fits(self, template: WorkflowTemplate) -> bool:
        return (
            self.category in (None, template.category)
            and self.official in (None, template.is_official)
            and (self.search is None or template.has_text(self.search))
        )


_EVERY: Final = TemplateFilter()


class WorkflowTemplateCommands(CommandPart):
    """Workflow templates. Those that are part of Detent are the same for every tenant."""

    def __init__(self, context: CommandContext, caller: Caller, drafts: DraftCommands) -> None:
        super().__init__(context, caller)
        self._drafts = drafts

    async def list_all(
        self, *, limit: int, after: str | None = None, where: TemplateFilter = _EVERY
    ) -> list[WorkflowTemplate]:
        """Return up to `limit` templates by id, those after `after`."""
        shipped = await asyncio.to_thread(gallery)
        ours = (shipped[id_] for id_ in sorted(shipped) if id_ > (after or "") and where.fits(shipped[id_]))
        own = [] if where.official else await self._own(limit, after, where)
        return list(islice(merge(ours, own, key=lambda one: one.id), limit))

    async def _own(self, limit: int, after: str | None, where: TemplateFilter) -> list[WorkflowTemplate]:
        found: list[WorkflowTemplate] = []
        while len(found) < limit:
            rows = await self._store.workflow_templates(self._tenant, limit=_PAGE, after=after, category=where.category)
            found += filter(where.fits, map(_template, rows))
            if len(rows) < _PAGE:
                break
            after = rows[-1].id
        return found[:limit]

    async def get(self, id_: str) -> WorkflowTemplate:
        """Return a template, or raise NotFound."""
        shipped = (await asyncio.to_thread(gallery)).get(id_)
        if shipped is not None:
            return shipped
        row = await self._store.workflow_template(self._tenant, id_)
        if row is None:
            raise NotFound(f"there is no workflow template {id_[:200]!r}")
        return _template(row)

    async def create(self, new: WorkflowTemplate) -> WorkflowTemplate:
        """Add a template of the tenant. Raise InvalidInput with every problem, and NameTaken if the id is in use."""
        problems = await asyncio.to_thread(template_problems, new.definition, new.config_schema)
        if problems:
            raise InvalidInput("the workflow template cannot be saved", problems)
        note_audit(new.id)
        row = WorkflowTemplateRow(
            tenant=self._tenant,
            id=new.id,
            title=new.title,
            description=new.description,
            category=new.category,
            definition=_json(new.definition),
            config_schema=_json(new.config_schema),
            tags=_json(list(new.tags)),
            author=new.author or self._caller.name,
            thumbnail_url=new.thumbnail_url,
        )
        shipped = await asyncio.to_thread(gallery)
        if new.id in shipped or not await self._store.add_workflow_template(row):
            raise NameTaken(f"there is a workflow template {new.id!r} already; choose another id, or delete that one")
        return await self.get(new.id)

    async def delete(self, id_: str) -> WorkflowTemplate:
        """Delete a template of the tenant, and return what it was. Workflows that were made of it stay."""
        found = await self.get(id_)
        if found.is_official:
            raise Forbidden(f"the workflow template {id_!r} is part of Detent and cannot be deleted")
        if not await self._store.drop_workflow_template(self._tenant, id_):
            raise NotFound(f"there is no workflow template {id_[:200]!r}")
        return found

    async def instantiate(
        self, id_: str, *, title: str, config: Mapping[str, Any], name: str | None = None
    ) -> DraftAnswer:
        """Make the draft of a new workflow. Without `name` it is that of the title, in small letters.

        Raise InvalidInput with every problem of the config, and NameTaken if there is a workflow of that name."""
        template = await self.get(id_)
        chosen = name or _name_of(title)
        if not chosen:
            raise InvalidInput(
                "the template cannot be used", [Problem("name", "is missing, and the title has no letters")]
            )
        document = await asyncio.to_thread(template.instantiate, chosen, title, config)
        text = json.dumps(document, ensure_ascii=False, indent=2)
        return await self._drafts.save(text, filename="template.json", new=True)


def _template(row: WorkflowTemplateRow) -> WorkflowTemplate:
    return WorkflowTemplate(
        id=row.id,
        title=row.title,
        description=row.description,
        category=row.category,
        definition=json.loads(row.definition),
        config_schema=json.loads(row.config_schema),
        tags=tuple(json.loads(row.tags)),
        author=row.author,
        thumbnail_url=row.thumbnail_url,
        created_at=row.created_at,
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _name_of(title: str) -> str:
    """Return a title as the name of a workflow: small letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].strip("-")
