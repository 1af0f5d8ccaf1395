"""Templates in a store: their rows, and the contract of the verbs that read and write them.

A workflow template is a definition with places for values, and belongs to a tenant. A document template is a text with
fields. It belongs to a set of a team, and its versions never change: a new text is a new version. The set's row is
locked while a version is added, so of two texts at once each gets a number of its own.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from detent.store.rows import Unsaved


class WorkflowTemplateRow(NamedTuple):
    """A workflow template. `definition`, `config_schema` and `tags` are JSON. The store sets `created_at`.

    Rows of lists have no definition and no schema."""

    tenant: int
    id: str
    title: str
    description: str
    category: str
    tags: str
    author: str
    thumbnail_url: str | None
    created_at: int = 0
    definition: str = "{}"
    config_schema: str = "{}"


class TemplateSetRow(NamedTuple):
    """A set of document templates, of one team. A disabled set hides all of its templates. The store sets the times."""

    tenant: int
    id: str
    title: str
    team: str
    enabled: bool
    created_at: int = 0
    updated_at: int = 0


class NewDocument(NamedTuple):
    """A document template to add, as the next version of its id. `fields` is JSON. A version is found by its
    `checksum`."""

    tenant: int
    template_set: str
    id: str
    title: str
    format: str
    fields: str
    body: str
    help: str | None
    author: str
    checksum: str


class SavedDocument(NamedTuple):
    """The version that has a text. `created`: the id was new. `changed`: the version was added."""

    version: int
    created: bool
    changed: bool


class DocumentTemplateRow(NamedTuple):
    """A version of a document template. Rows of lists have no fields, body and help.

    `enabled` is that of the version, `set_enabled` that of its set."""

    tenant: int
    template_set: str
    id: str
    version: int
    title: str
    format: str
    enabled: bool
    author: str
    checksum: str
    created_at: int
    team: str
    set_enabled: bool
    fields: str = "{}"
    body: str = ""
    help: str | None = None


#: A position in a list of document templates: the set, and the id in it.
DocumentPlace = tuple[str, str]


class TemplateStore(Protocol):
    """The verbs of templates. They are verbs of commands."""

    async def add_workflow_template(self, new: WorkflowTemplateRow) -> bool:
        """Add a workflow template. Return False if the tenant has one with that id."""

    async def workflow_template(self, tenant: int, id_: str) -> WorkflowTemplateRow | None:
        """Return a workflow template."""

    async def workflow_templates(
        self, tenant: int, *, limit: int, after: str | None = None, category: str | None = None
    ) -> list[WorkflowTemplateRow]:
        """List the workflow templates of a tenant by id, those after `after`, without their texts."""

    async def drop_workflow_template(self, tenant: int, id_: str) -> bool:
        """Delete a workflow template. Return False if there is none. Workflows that were made of it stay."""

    async def save_template_set(self, new: TemplateSetRow, *, replace: bool = True) -> bool:
        """Create a set of document templates. If there is one with that id, change its title, team and `enabled`;
        without `replace` leave it as it is. Return whether it was created."""

    async def template_set(self, tenant: int, id_: str) -> TemplateSetRow | None:
        """Return a set of document templates."""

    async def template_sets(
        self, tenant: int, *, limit: int, after: str | None = None, team: str | None = None
    ) -> list[TemplateSetRow]:
        """List the sets of a tenant by id, those after `after`."""

    async def add_document(self, new: NewDocument, *, create: bool = False) -> SavedDocument | Unsaved:
        """Add a version of a document template, with the number after the greatest one.

        If its newest version has the same checksum, nothing is added. Return MISSING if there is no such set. With
        `create`, return TAKEN if the set has a template with that id."""

    async def document(
        self, tenant: int, template_set: str, id_: str, version: int | None = None
    ) -> DocumentTemplateRow | None:
        """Return a version of a document template; without `version`, the newest one that is enabled."""

    async def documents(
        self,
        tenant: int,
        *,
        limit: int,
        after: DocumentPlace | None = None,
        template_set: str | None = None,
        team: str | None = None,
    ) -> list[DocumentTemplateRow]:
        """List document templates by set and id, each as its newest version, those after `after`."""

    async def document_versions(
        self, tenant: int, template_set: str, id_: str, *, limit: int
    ) -> list[DocumentTemplateRow]:
        """List the versions of a document template, newest first, as in lists."""

    async def sets_with(self, tenant: int, id_: str, *, limit: int) -> list[str]:
        """Return the sets that have a document template with that id, sorted."""

    async def enable_document(
        self, tenant: int, template_set: str, id_: str, *, enabled: bool, version: int | None = None
    ) -> bool:
        """Enable or disable a version of a document template, or every version. Return False if there is none."""
