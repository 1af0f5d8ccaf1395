"""Documents of templates: those of workflows, and those of documents."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import FieldProblem, Json


class WorkflowTemplateDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A workflow template. Lists leave out the definition and the schema of the config.

    `is_official` is true for those that are part of Detent; `inserted_at` is left out of them."""

    id: str
    title: str
    description: str
    category: str
    tags: list[str]
    author: str
    is_official: bool
    thumbnail_url: str | None = None
    inserted_at: datetime | None = None
    config_schema: dict[str, Json] | None = None
    definition: dict[str, Json] | None = None


class InstantiatedDocument(msgspec.Struct):
    """The draft of a workflow that was made of a template. `problems` keep it from being published."""

    workflow_id: str
    workflow: str
    status: str
    revision: int
    problems: list[FieldProblem]


class TemplateSetDocument(msgspec.Struct):
    """A set of document templates, of one team. No template of a disabled set can be rendered."""

    id: str
    title: str
    team: str
    enabled: bool
    inserted_at: datetime
    updated_at: datetime


class DocumentTemplateDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A version of a document template, which never changes but for `enabled`. Lists have the newest version of each
    template, without its texts. `versions` are the numbers of the newest versions."""

    template_set: str = msgspec.field(name="set")
    id: str
    version: int
    title: str
    team: str
    format: str
    enabled: bool
    saved_by: str
    inserted_at: datetime
    versions: list[int] | None = None
    fields: dict[str, Json] | None = None
    body: str | None = None
    help: str | None = None


class SavedTemplateAnswer(msgspec.Struct):
    """A document template after a save. `changed` is false if its newest version has the same text."""

    data: DocumentTemplateDocument
    changed: bool


class RenderingDocument(msgspec.Struct):
    """A rendered document, and the template that it was made of."""

    rendered_body: str
    metadata: dict[str, Json]
