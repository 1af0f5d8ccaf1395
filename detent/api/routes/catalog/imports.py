"""Routes that import connectors: from OpenAPI documents, and from the tools of MCP servers."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType

from detent.api.openapi import catalog_examples as examples
from detent.api.openapi.operations import BOOLEAN, TEXT, answers, operation, query, record_schema, refusals, takes
from detent.api.request import (
    AnyRequest,
    QueryValues,
    aliases,
    commands,
    filename_of,
    flag_of,
    read_fields,
    refuse_if_any,
    word_of,
)
from detent.catalog.connections import EnvironmentConnections
from detent.commands.catalog.imports import ImportAnswer
from detent.documents.answers import One
from detent.documents.connectors import (
    ActionChangeDocument,
    BrokenStepDocument,
    ImportDocument,
    SkippedDocument,
)
from detent.values.limits import DEFINITION_LIMIT, IMPORT_LIMIT
from detent.views.catalog import connector_document

IMPORTS: Final = "/api/v1/connectors/import"
_MESSAGE: Final = "the document cannot be imported"
_ADDRESS: Final = "must begin with http:// or https://"
_LONGEST_URL: Final = 2_000
_NAMES: Final = aliases("name", "url", "dry_run")
_DRY_RUN: Final = query("dryRun", BOOLEAN, "Only say what the import would do; false by default.", True)
_SHOWN: Final[dict[str, Any]] = {
    "tags": ["catalog"],
    "status_code": 200,
    "responses": {
        **answers(200, One[ImportDocument], "What the import did.", examples.one(examples.IMPORT)),
        **refusals(400, 403, 409, 413),
    },
}


@post(
    IMPORTS + "/openapi",
    summary="Import an OpenAPI document",
    operation_class=operation(
        query("name", TEXT, "The id of the connector.", "crm"),
        query(
            "url",
            TEXT,
            "Where the document was read from, or without a body is read from; relative servers begin there.",
            None,
        ),
        _DRY_RUN,
        body=takes(
            Schema(type=OpenAPIType.OBJECT, description="An OpenAPI 3.x or Swagger 2 document, at most 20 MB."),
            examples.OPENAPI,
        ),
    ),
    request_max_body_size=IMPORT_LIMIT,
    **_SHOWN,
)
async def import_openapi(request: AnyRequest) -> Response[One[ImportDocument]]:
    """Make a connector of an OpenAPI 3.x or Swagger 2 document: each operation becomes an action. Without a body the
    document is read from `url`, as far as the egress guard allows it. For a connector that exists, the answer says what
    has changed and which steps of active workflows have to change. They go on with the version of the action that they
    pin."""
    read = QueryValues.of_query(request.scope["query_string"], _NAMES)
    name, url = read.one("name", word_of), read.one("url", lambda text: word_of(text, _LONGEST_URL))
    dry_run = bool(read.one("dry_run", flag_of))
    if name is None:
        read.add_problem("name", "is missing: the id of the connector")
    if url is not None and not _is_address(url):
        read.add_problem("url", _ADDRESS)
    read.refuse(_MESSAGE)
    data, filename = await request.body(), filename_of(request)
    bound = commands(request)
    answer = await bound.imports.openapi(str(name), data, filename=filename, url=url, dry_run=dry_run)
    return Response(One(_import_document(answer, bound.catalog.connections, dry_run=dry_run)))


@post(
    IMPORTS + "/mcp",
    summary="Import the tools of an MCP server",
    operation_class=operation(
        body=takes(
            record_schema(
                {
                    "name": TEXT,
                    "url": TEXT,
                    "title": TEXT,
                    "tools": Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.OBJECT)),
                    "with_token": BOOLEAN,
                    "dry_run": BOOLEAN,
                },
                required=["name", "url"],
            ),
            examples.MCP,
            required=True,
        )
    ),
    request_max_body_size=DEFINITION_LIMIT,
    **_SHOWN,
)
async def import_mcp(request: AnyRequest) -> Response[One[ImportDocument]]:
    """Make a connector of the tools of an MCP server that is reached over HTTP. `tools` is what its `tools/list`
    returns; without it, Detent asks the server, as far as the egress guard allows it. With `with_token` its calls carry
    the token of the connector."""
    fields = await read_fields(
        request, "name", "url", "title", "tools", "with_token", "dry_run", message=_MESSAGE, required=("name", "url")
    )
    name, title = fields.text("name", most=100), fields.text("title", most=200)
    url = fields.text("url", most=_LONGEST_URL)
    with_token, dry_run = fields.boolean("with_token", False), fields.boolean("dry_run", False)
    if url is not None and not _is_address(url):
        fields.problems.add("url", _ADDRESS)
    refuse_if_any(fields.problems, _MESSAGE)
    bound = commands(request)
    answer = await bound.imports.mcp(
        str(name), str(url), fields.get("tools"), title=title, with_token=with_token, dry_run=dry_run
    )
    return Response(One(_import_document(answer, bound.catalog.connections, dry_run=dry_run)))


def _is_address(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _import_document(answer: ImportAnswer, connections: EnvironmentConnections, *, dry_run: bool) -> ImportDocument:
    """Build the document of an import."""
    return ImportDocument(
        dry_run=dry_run,
        changed=answer.is_changed,
        version=answer.version,
        operations=answer.operations,
        actions=answer.actions,
        skipped=[SkippedDocument(one.operation, one.reason) for one in answer.skipped],
        added=answer.update.added,
        changes=[ActionChangeDocument(one.action, [text for _, text in one.breaks]) for one in answer.update.changed],
        removed=[one.action for one in answer.update.removed],
        broken_steps=[
            BrokenStepDocument(one.workflow, one.step, one.action, list(one.problems)) for one in answer.broken
        ],
        connector=None if answer.row is None else connector_document(answer.row, connections, whole=True),
    )


ROUTES = [import_openapi, import_mcp]
