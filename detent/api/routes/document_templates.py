"""Routes of document templates and their sets."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from litestar import Response, get, post, put
from litestar.params import FromPath

from detent.api.openapi import template_examples as examples
from detent.api.openapi.operations import (
    BOOLEAN,
    INTEGER,
    PAGE_PARAMETERS,
    TEXT,
    answers,
    operation,
    query,
    record_schema,
    refusals,
    takes,
)
from detent.api.request import (
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    number_of,
    refuse_if_any,
    tenant_of,
    word_of,
)
from detent.api.routes.templates import (
    LIST_MESSAGE,
    LONGEST_TITLE,
    OBJECT,
    TAGS,
    check_id,
    read_id,
    read_mapping,
    read_template,
    read_text,
)
from detent.commands.templates.documents import FORMATS, DocumentText
from detent.documents.answers import Many, One
from detent.documents.templates import (
    DocumentTemplateDocument,
    RenderingDocument,
    SavedTemplateAnswer,
    TemplateSetDocument,
)
from detent.instant import as_datetime
from detent.steps.templates.action import DocumentRequest
from detent.store.templates import DocumentPlace, DocumentTemplateRow, TemplateSetRow
from detent.values.fields import Fields, shown
from detent.values.limits import BODY_LIMIT, DEFINITION_LIMIT, LARGEST_VERSION

BASE: Final = "/api/v1/templates"
SETS: Final = "/api/v1/template-sets"
_MESSAGE: Final = "the document template cannot be found"
_SET: Final = query("set", TEXT, "The set of the template; needed only if several sets have its id.", "project-briefs")
_VERSION: Final = query("version", INTEGER, "A version; the newest one that is enabled by default.", 1)
_READ: Final[dict[str, Any]] = {
    "tags": TAGS,
    "responses": {
        **answers(200, One[DocumentTemplateDocument], "The template.", examples.one(examples.WHOLE_DOCUMENT)),
        **refusals(400, 404),
    },
}


# Sets of document templates.


@get(
    SETS,
    tags=TAGS,
    summary="List template sets",
    operation_class=operation(query("team", TEXT, "Only those of this team.", "product"), *PAGE_PARAMETERS),
    responses={
        **answers(200, Many[TemplateSetDocument], "A page of the list.", examples.many(examples.TEMPLATE_SET)),
        **refusals(400),
    },
)
async def list_template_sets(request: AnyRequest) -> Many[TemplateSetDocument]:
    """List the sets of document templates by id."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("team", "limit", "cursor"))
    team, limit = values.one("team", word_of), values.limit()
    scope = CursorScope("template sets", tenant_of(request), team)
    after = values.cursor(lambda text: scope.place(text).decode())
    values.refuse(LIST_MESSAGE)
    rows = await commands(request).document_templates.sets(limit=limit + 1, after=after, team=team)
    more = scope.cursor(rows[limit - 1].id.encode()) if len(rows) > limit else None
    return Many([_set_document(row) for row in rows[:limit]], more)


@put(
    SETS + "/{template_set:str}",
    tags=TAGS,
    summary="Create or change a template set",
    operation_class=operation(
        body=takes(record_schema({"title": TEXT, "team": TEXT, "enabled": BOOLEAN}), examples.SET_CHANGE, required=True)
    ),
    responses={
        **answers(200, One[TemplateSetDocument], "The set was changed.", examples.one(examples.TEMPLATE_SET)),
        **answers(201, One[TemplateSetDocument], "The set is new."),
        **refusals(400, 403),
    },
)
async def save_template_set(request: AnyRequest, template_set: FromPath[str]) -> Response[One[TemplateSetDocument]]:
    """Create a set of document templates, or replace its title, its team and whether it is enabled. No template of a
    disabled set can be rendered."""
    message = "the template set cannot be saved"
    fields = await read_template(
        request, message, "title", "team", "enabled", display_name="title", is_enabled="enabled"
    )
    check_id(template_set, "set", fields.problems)
    title, team = fields.text("title", most=LONGEST_TITLE), fields.text("team", most=100)
    enabled = fields.boolean("enabled", default=True)
    refuse_if_any(fields.problems, message)
    row, created = await commands(request).document_templates.save_set(
        template_set, title=title or template_set, team=team or "", enabled=enabled
    )
    return Response(One(_set_document(row)), status_code=201 if created else 200)


def _set_document(row: TemplateSetRow) -> TemplateSetDocument:
    return TemplateSetDocument(
        row.id, row.title, row.team, row.enabled, as_datetime(row.created_at), as_datetime(row.updated_at)
    )


# Document templates.


@get(
    BASE,
    tags=TAGS,
    summary="List document templates",
    operation_class=operation(
        query("team", TEXT, "Only those of this team.", "product"),
        query("set", TEXT, "Only those of this set.", "project-briefs"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[DocumentTemplateDocument], "A page of the list.", examples.many(examples.DOCUMENT)),
        **refusals(400),
    },
)
async def list_document_templates(request: AnyRequest) -> Many[DocumentTemplateDocument]:
    """List the document templates by set and id, each as its newest version, without texts."""
    known = aliases("team", "set", "limit", "cursor", template_set_id="set")
    values = QueryValues.of_query(request.scope["query_string"], known)
    team, place, limit = values.one("team", word_of), values.one("set", word_of), values.limit()
    scope = CursorScope("document templates", tenant_of(request), team, place)
    after = values.cursor(lambda text: _place(scope.place(text)))
    values.refuse(LIST_MESSAGE)
    rows = await commands(request).document_templates.find(limit=limit + 1, after=after, template_set=place, team=team)
    last = rows[limit - 1] if len(rows) > limit else None
    more = None if last is None else scope.cursor(f"{last.template_set}/{last.id}".encode())
    return Many([_document(row) for row in rows[:limit]], more)


def _place(data: bytes) -> DocumentPlace:
    place, _, id_ = data.decode().partition("/")
    return place, id_


@get(BASE + "/{template:str}", summary="Get a document template", operation_class=operation(_SET, _VERSION), **_READ)
async def get_document_template(
    request: AnyRequest, template: FromPath[str]
) -> Response[One[DocumentTemplateDocument]]:
    """Return a version of a document template: its fields, its body and its help. By default it is the newest one that
    is enabled."""
    place, version = _which(request)
    row = await commands(request).document_templates.get(template, template_set=place, version=version)
    return await _shown(request, row)


@get(
    BASE + "/{template_set:str}/{template:str}",
    summary="Get a document template of a set",
    operation_class=operation(_VERSION),
    **_READ,
)
async def get_document_template_of_set(
    request: AnyRequest, template_set: FromPath[str], template: FromPath[str]
) -> Response[One[DocumentTemplateDocument]]:
    """Return a version of the document template of that set, as `/templates/{template}` does."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("version"))
    version = values.one("version", _version_of)
    values.refuse(_MESSAGE)
    row = await commands(request).document_templates.get(template, template_set=template_set, version=version)
    return await _shown(request, row)


@post(
    BASE,
    tags=TAGS,
    summary="Create a document template",
    operation_class=operation(
        body=takes(
            record_schema(
                {"set": TEXT, "id": TEXT, "title": TEXT, "fields": OBJECT, "body": TEXT, "format": TEXT, "help": TEXT},
                required=("set", "id", "title", "body"),
            ),
            examples.NEW_DOCUMENT,
            required=True,
        )
    ),
    responses={
        **answers(201, One[DocumentTemplateDocument], "Version 1.", examples.one(examples.WHOLE_DOCUMENT)),
        **refusals(400, 403, 409, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def create_document_template(request: AnyRequest) -> Response[One[DocumentTemplateDocument]]:
    """Create a document template, with its set if that is new. `fields` describes the answers;
    `fields.validation.jsonSchema` checks them. `format` is `text`, `markdown` or `html`, which escapes the answers."""
    text = await _document_text(request, None, None)
    saved = await commands(request).document_templates.save(text, create=True)
    row = await commands(request).document_templates.get(text.id, template_set=text.template_set, version=saved.version)
    answer = await _shown(request, row)
    return Response(answer.content, status_code=201)


@put(
    BASE + "/{template:str}",
    tags=TAGS,
    summary="Add a version of a document template",
    operation_class=operation(
        _SET,
        body=takes(
            record_schema(
                {"title": TEXT, "fields": OBJECT, "body": TEXT, "format": TEXT, "help": TEXT, "set": TEXT, "id": TEXT},
                required=("title", "body"),
            ),
            examples.NEW_VERSION,
            required=True,
        ),
    ),
    responses={
        **answers(
            200,
            SavedTemplateAnswer,
            "The newest version has this text already.",
            {**examples.one(examples.WHOLE_DOCUMENT), "changed": False},
        ),
        **answers(201, SavedTemplateAnswer, "The version was added."),
        **refusals(400, 403, 404, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def save_document_template(request: AnyRequest, template: FromPath[str]) -> Response[SavedTemplateAnswer]:
    """Add a version of a document template. Versions before it never change, and steps that name them render them.
    With a `set` the template is created if it is new."""
    place, _ = _which(request)
    text = await _document_text(request, template, place)
    if not text.template_set:
        text = text._replace(template_set=await commands(request).document_templates.place_of(template, None))
    saved = await commands(request).document_templates.save(text, create=False)
    row = await commands(request).document_templates.get(text.id, template_set=text.template_set, version=saved.version)
    answer = await _shown(request, row)
    body = SavedTemplateAnswer(answer.content.data, saved.changed)
    return Response(body, status_code=201 if saved.changed else 200)


_ENABLING: Final[dict[str, Any]] = {
    "tags": TAGS,
    "status_code": 200,
    "operation_class": operation(_SET, query("version", INTEGER, "A version; all of them by default.", 1)),
    "responses": {
        **answers(200, One[DocumentTemplateDocument], "The template as it is now."),
        **refusals(400, 403, 404),
    },
}


@post(BASE + "/{template:str}/disable", summary="Disable a document template", **_ENABLING)
async def disable_document_template(
    request: AnyRequest, template: FromPath[str]
) -> Response[One[DocumentTemplateDocument]]:
    """Let a version of a document template not be rendered any more, or all of them."""
    return await _enable(request, template, enabled=False)


@post(BASE + "/{template:str}/enable", summary="Enable a document template", **_ENABLING)
async def enable_document_template(
    request: AnyRequest, template: FromPath[str]
) -> Response[One[DocumentTemplateDocument]]:
    """Let a version of a document template be rendered again, or all of them."""
    return await _enable(request, template, enabled=True)


async def _enable(request: AnyRequest, id_: str, *, enabled: bool) -> Response[One[DocumentTemplateDocument]]:
    place, version = _which(request)
    found = commands(request).document_templates
    return await _shown(request, await found.enable(id_, enabled=enabled, template_set=place, version=version))


@post(
    BASE + "/{template:str}/render",
    tags=TAGS,
    summary="Render a document",
    status_code=200,
    operation_class=operation(
        _SET,
        _VERSION,
        body=takes(record_schema({"answers": OBJECT, "extras": OBJECT}), examples.RENDER, required=True),
    ),
    responses={
        **answers(200, One[RenderingDocument], "The document.", examples.one(examples.RENDERED)),
        **refusals(400, 403, 404),
    },
)
async def render_document_template(request: AnyRequest, template: FromPath[str]) -> Response[One[RenderingDocument]]:
    """Render a document of a template and answers, within 2 seconds and 256 KB. Answers that do not match the schema of
    the template are refused with every problem."""
    message = "the document cannot be rendered"
    place, version = _which(request)
    fields = await read_template(request, message, "answers", "extras")
    given, extras = read_mapping(fields, "answers"), read_mapping(fields, "extras")
    refuse_if_any(fields.problems, message)
    found = commands(request).document_templates
    asked = DocumentRequest(await found.place_of(template, place), template, version, given, extras)
    made = await found.render(asked)
    return Response(One(RenderingDocument(made.body, made.metadata)))


def _which(request: AnyRequest) -> tuple[str | None, int | None]:
    """Read the set and the version of a query."""
    known = aliases("set", "version", template_set_id="set")
    values = QueryValues.of_query(request.scope["query_string"], known)
    place, version = values.one("set", word_of), values.one("version", _version_of)
    values.refuse(_MESSAGE)
    return place, version


async def _document_text(request: AnyRequest, id_: str | None, place: str | None) -> DocumentText:
    """Read the text of a document template. What the address names, the body may repeat."""
    message = "the document template cannot be saved"
    names = ("set", "id", "title", "fields", "body", "format", "help")
    fields = await read_template(
        request, message, *names, display_name="title", body_template="body", help_markdown="help",
        template_set_id="set", fields_json="fields",
    )  # fmt: skip
    for name, known in (("id", id_), ("set", place)):
        if known is not None and fields.get(name) not in (None, known):
            fields.problems.add(name, f"is {shown(str(fields.get(name)))}, but the address names {known!r}")
    chosen = dict(fields.values) | {name: known for name, known in (("id", id_), ("set", place)) if known is not None}
    fields = Fields(chosen, "", fields.problems)
    format_ = fields.text("format", most=20) or "text"
    if format_ not in FORMATS:
        fields.problems.add("format", f"must be one of {', '.join(FORMATS)}, not {shown(format_)}")
    text = DocumentText(
        template_set="" if id_ is not None and fields.get("set") is None else read_id(fields, "set"),
        id=read_id(fields, "id"),
        title=read_text(fields, "title", LONGEST_TITLE),
        fields=read_mapping(fields, "fields"),
        body=read_text(fields, "body", BODY_LIMIT, lines=True),
        format=format_,
        help=fields.text("help", most=BODY_LIMIT // 4, lines=True),
    )
    refuse_if_any(fields.problems, message)
    return text


def _version_of(text: str) -> int:
    return number_of(text, 1, LARGEST_VERSION)


async def _shown(request: AnyRequest, row: DocumentTemplateRow) -> Response[One[DocumentTemplateDocument]]:
    versions = await commands(request).document_templates.versions(row)
    document = await asyncio.to_thread(_document, row, [one.version for one in versions])
    return Response(One(document))


def _document(row: DocumentTemplateRow, versions: list[int] | None = None) -> DocumentTemplateDocument:
    """Build the document of a template; with `versions`, its texts too."""
    return DocumentTemplateDocument(
        template_set=row.template_set,
        id=row.id,
        version=row.version,
        title=row.title,
        team=row.team,
        format=row.format,
        enabled=row.enabled and row.set_enabled,
        saved_by=row.author,
        inserted_at=as_datetime(row.created_at),
        versions=versions,
        fields=None if versions is None else json.loads(row.fields),
        body=None if versions is None else row.body,
        help=row.help,
    )


ROUTES = [
    list_template_sets,
    save_template_set,
    list_document_templates,
    get_document_template,
    get_document_template_of_set,
    create_document_template,
    save_document_template,
    disable_document_template,
    enable_document_template,
    render_document_template,
]
