"""The operations on workflow templates and document templates: each function describes one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from detent.client.calls import JSON, PAGE, Call, Pages, bare, given, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.templates import (
    DocumentTemplateDocument,
    InstantiatedDocument,
    RenderingDocument,
    SavedTemplateAnswer,
    TemplateSetDocument,
    WorkflowTemplateDocument,
)

_template: Final = one(WorkflowTemplateDocument)
_document: Final = one(DocumentTemplateDocument)


def _body(**fields: Any) -> bytes:
    return json_body({name: value for name, value in fields.items() if value is not None})


# Workflow templates.


def list_all(
    *,
    category: str | None = None,
    official: bool | None = None,
    search: str | None = None,
    limit: int = PAGE,
) -> Pages[WorkflowTemplateDocument]:
    """Yield the workflow templates by id, `limit` per request, without their definitions.

    `official` chooses those of Detent or your own. `search` is a text in id, title, description, category or tags."""
    query = given(category=category, isOfficial=official, search=search, limit=limit)
    return Pages(Call("GET", url_path("templates", "workflows"), page(WorkflowTemplateDocument), query=query))


def get(template: str) -> Call[WorkflowTemplateDocument]:
    """Return a workflow template, with its definition and the JSON Schema of its config."""
    return Call("GET", url_path("templates", "workflows", template), _template)


def create(
    id: str,  # noqa: A002
    title: str,
    definition: Mapping[str, Json],
    config_schema: Mapping[str, Json] | None = None,
    *,
    description: str | None = None,
    category: str | None = None,
    tags: Sequence[str] | None = None,
) -> Call[WorkflowTemplateDocument]:
    """Create a workflow template. Texts of its definition have places for values, `${config.NAME}`. Raise Conflict if
    the id is taken."""
    body = _body(
        id=id, title=title, definition=definition, config_schema=config_schema, description=description,
        category=category, tags=tags,
    )  # fmt: skip
    where = url_path("templates", "workflows")
    return Call("POST", where, _template, body=body, headers=JSON, repeatable=False)


def delete(template: str) -> Call[WorkflowTemplateDocument]:
    """Delete a workflow template of your own. Workflows that were made of it stay."""
    return Call("DELETE", url_path("templates", "workflows", template), _template)


def instantiate(
    template: str, config: Mapping[str, Json] | None = None, *, name: str | None = None, title: str | None = None
) -> Call[InstantiatedDocument]:
    """Make the draft of a new workflow of a template. Without `name` it is that of the title, in small letters. Raise
    Conflict if there is a workflow of that name."""
    body = _body(config=config or {}, name=name, display_name=title)
    where = url_path("templates", "workflows", template, "instantiate")
    return Call("POST", where, one(InstantiatedDocument), body=body, headers=JSON, repeatable=False)


# Document templates.


def list_documents(
    *,
    team: str | None = None,
    set: str | None = None,  # noqa: A002
    limit: int = PAGE,
) -> Pages[DocumentTemplateDocument]:
    """Yield the document templates by set and id, each as its newest version, without texts."""
    query = given(team=team, set=set, limit=limit)
    return Pages(Call("GET", url_path("templates"), page(DocumentTemplateDocument), query=query))


def get_document(
    template: str,
    *,
    set: str | None = None,  # noqa: A002
    version: int | None = None,
) -> Call[DocumentTemplateDocument]:
    """Return a version of a document template; by default the newest one that is enabled."""
    return Call("GET", url_path("templates", template), _document, query=given(set=set, version=version))


def create_document(
    set: str,  # noqa: A002
    id: str,  # noqa: A002
    title: str,
    body: str,
    fields: Mapping[str, Json] | None = None,
    *,
    format: str | None = None,  # noqa: A002
    help: str | None = None,  # noqa: A002
) -> Call[DocumentTemplateDocument]:
    """Create a document template, with its set if that is new. Raise Conflict if the set has one with that id."""
    sent = _body(set=set, id=id, title=title, body=body, fields=fields, format=format, help=help)
    return Call("POST", url_path("templates"), _document, body=sent, headers=JSON, repeatable=False)


def save_document(
    set: str,  # noqa: A002
    id: str,  # noqa: A002
    title: str,
    body: str,
    fields: Mapping[str, Json] | None = None,
    *,
    format: str | None = None,  # noqa: A002
    help: str | None = None,  # noqa: A002
) -> Call[SavedTemplateAnswer]:
    """Add a version of a document template, which is created if it is new. `changed` is false if its newest version has
    the same text."""
    sent = _body(title=title, body=body, fields=fields, format=format, help=help)
    where = url_path("templates", id)
    return Call("PUT", where, bare(SavedTemplateAnswer), query=given(set=set), body=sent, headers=JSON)


def enable_document(
    template: str,
    *,
    set: str | None = None,  # noqa: A002
    version: int | None = None,
) -> Call[DocumentTemplateDocument]:
    """Let a version of a document template be rendered again, or all of them."""
    return Call("POST", url_path("templates", template, "enable"), _document, query=given(set=set, version=version))


def disable_document(
    template: str,
    *,
    set: str | None = None,  # noqa: A002
    version: int | None = None,
) -> Call[DocumentTemplateDocument]:
    """Let a version of a document template not be rendered any more, or all of them."""
    return Call("POST", url_path("templates", template, "disable"), _document, query=given(set=set, version=version))


def render_document(
    template: str,
    answers: Mapping[str, Json] | None = None,
    *,
    set: str | None = None,  # noqa: A002
    version: int | None = None,
    extras: Mapping[str, Json] | None = None,
) -> Call[RenderingDocument]:
    """Render a document. Raise InvalidRequest with every problem if the answers do not match the template."""
    body = _body(answers=answers or {}, extras=extras)
    where = url_path("templates", template, "render")
    query = given(set=set, version=version)
    return Call("POST", where, one(RenderingDocument), query=query, body=body, headers=JSON)


def list_sets(*, team: str | None = None, limit: int = PAGE) -> Pages[TemplateSetDocument]:
    """Yield the sets of document templates by id."""
    query = given(team=team, limit=limit)
    return Pages(Call("GET", url_path("template-sets"), page(TemplateSetDocument), query=query))


def save_set(
    set: str,  # noqa: A002
    *,
    title: str | None = None,
    team: str | None = None,
    enabled: bool = True,
) -> Call[TemplateSetDocument]:
    """Create a set of document templates, or replace its title, its team and whether it is enabled."""
    body = _body(title=title, team=team, enabled=enabled)
    return Call("PUT", url_path("template-sets", set), one(TemplateSetDocument), body=body, headers=JSON)
