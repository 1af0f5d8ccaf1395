"""Routes of tenants: create, list, change, suspend, resume, export and delete them."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, delete, get, patch, post
from litestar.openapi.spec import OpenAPIType, Schema
from litestar.params import FromPath
from litestar.response import Stream

from detent.api.openapi.operations import (
    PAGE_PARAMETERS,
    TEXT,
    Plain,
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
    read_fields,
    refuse_if_any,
    tenant_of,
)
from detent.commands.identity.tenants import LIMITS, LONGEST_NAME
from detent.documents.answers import Many, One
from detent.documents.keys import DeletedTenant, TenantDocument
from detent.instant import as_datetime
from detent.store.tenants import TenantRow
from detent.tenants.limits import MOST_DAYS, read_limits

BASE: Final = "/api/v1/tenants"
_TAGS: Final = ["tenants"]
_MESSAGE: Final = "the tenant cannot be created"
_NOT_CHANGED: Final = "the tenant cannot be changed"
_LIMITS: Final[dict[str, Any]] = {"actions": ["slack.*"], "egress": ["api.example.com"], "retention_days": 30}
_EXAMPLE: Final[dict[str, Any]] = {
    "name": "shop",
    "status": "active",
    "created_at": "2026-02-22T10:00:00Z",
    **_LIMITS,
}
_TEXTS: Final = Schema(type=[OpenAPIType.ARRAY, OpenAPIType.NULL], items=TEXT)
_DAYS: Final = Schema(type=[OpenAPIType.INTEGER, OpenAPIType.NULL], minimum=1, maximum=MOST_DAYS)
_CHANGES: Final = takes(
    record_schema(
        {
            "actions": _TEXTS,
            "egress": _TEXTS,
            "retention_days": _DAYS,
            "add_actions": _TEXTS,
            "remove_actions": _TEXTS,
            "add_egress": _TEXTS,
            "remove_egress": _TEXTS,
        }
    ),
    _LIMITS,
    required=True,
)
_NEW: Final = takes(record_schema({"name": TEXT}, required=["name"]), {"name": "shop"}, required=True)
_ANSWER: Final = answers(200, One[TenantDocument], "The tenant.", {"data": _EXAMPLE})
JSON_LINES: Final = "application/x-ndjson"

TenantAnswer = Response[One[TenantDocument]]


@get(
    BASE,
    tags=_TAGS,
    summary="List tenants",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[TenantDocument], "A page of the list.", {"data": [_EXAMPLE], "next_cursor": None}),
        **refusals(400, 403),
    },
)
async def list_tenants(request: AnyRequest) -> Many[TenantDocument]:
    """List the tenants by name."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope = CursorScope("tenants", tenant_of(request))
    limit, after = values.limit(), values.cursor(lambda text: scope.place(text).decode())
    values.refuse("the list cannot be read")
    rows = await commands(request).tenants.list_all(limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many([_document(row) for row in rows[:limit]], more)


@get(
    BASE + "/{tenant:str}",
    tags=_TAGS,
    summary="Get a tenant",
    operation_class=Plain,
    responses={**_ANSWER, **refusals(403, 404)},
)
async def get_tenant(request: AnyRequest, tenant: FromPath[str]) -> TenantAnswer:
    """Return a tenant by its name."""
    return _answer(await commands(request).tenants.get(tenant))


@post(
    BASE,
    tags=_TAGS,
    summary="Create a tenant",
    operation_class=operation(body=_NEW),
    responses={
        **answers(201, One[TenantDocument], "The tenant.", {"data": _EXAMPLE}),
        **refusals(400, 403, 409, 413),
    },
)
async def create_tenant(request: AnyRequest) -> TenantAnswer:
    """Create a tenant. It has nothing yet, not even a key: `POST /api/v1/keys` with its name as `tenant` makes one."""
    fields = await read_fields(request, "name", message=_MESSAGE, required=("name",))
    name = fields.text("name", most=LONGEST_NAME)
    refuse_if_any(fields.problems, _MESSAGE)
    return _answer(await commands(request).tenants.create(name or ""), 201)


@patch(
    BASE + "/{tenant:str}",
    tags=_TAGS,
    summary="Change a tenant",
    operation_class=operation(body=_CHANGES),
    responses={**_ANSWER, **refusals(400, 403, 404, 413)},
)
async def change_tenant(request: AnyRequest, tenant: FromPath[str]) -> TenantAnswer:
    """Change what a tenant may do. A list is replaced, null is the default, and what is not sent stays.

    `add_actions`, `remove_actions`, `add_egress` and `remove_egress` change single entries of the lists, so that the
    changes of two callers at once both count. An entry to remove must be in its list.

    `actions` allows more than `core.` actions, http steps and its own connectors: names (`billing.charge`), patterns
    (`slack.*`), workflow classes and functions (`workflow:Invoice`), named connections (`connection:reports`), or `*`.
    `egress` are the only hosts and networks that its steps may reach, as far as the installation allows them."""
    fields = await read_fields(request, *LIMITS, message=_NOT_CHANGED)
    return _answer(await commands(request).tenants.change(tenant, fields.values))


@post(
    BASE + "/{tenant:str}/suspend",
    tags=_TAGS,
    summary="Suspend a tenant",
    status_code=200,
    operation_class=Plain,
    responses={**_ANSWER, **refusals(403, 404, 409)},
)
async def suspend_tenant(request: AnyRequest, tenant: FromPath[str]) -> TenantAnswer:
    """Refuse every request of a tenant, and let none of its triggers fire. Runs that were accepted before go on."""
    return _answer(await commands(request).tenants.suspend(tenant))


@post(
    BASE + "/{tenant:str}/resume",
    tags=_TAGS,
    summary="Resume a tenant",
    status_code=200,
    operation_class=Plain,
    responses={**_ANSWER, **refusals(403, 404, 409)},
)
async def resume_tenant(request: AnyRequest, tenant: FromPath[str]) -> TenantAnswer:
    """Let a suspended tenant go on."""
    return _answer(await commands(request).tenants.resume(tenant))


@get(
    BASE + "/{tenant:str}/export",
    tags=_TAGS,
    summary="Export a tenant",
    media_type=JSON_LINES,
    operation_class=Plain,
    responses=refusals(403, 404),
)
async def export_tenant(request: AnyRequest, tenant: FromPath[str]) -> Stream:
    """Return everything that a tenant has as JSON lines: a `table` and a `row` each. Hashes, passwords and sealed
    values are left out."""
    return Stream(await commands(request).tenants.export(tenant), media_type=JSON_LINES)


@delete(
    BASE + "/{tenant:str}",
    tags=_TAGS,
    summary="Delete a tenant",
    status_code=200,
    operation_class=operation(query("confirm", TEXT, "The name of the tenant again.", "shop")),
    responses={
        **answers(200, One[DeletedTenant], "What was deleted.", {"data": {"name": "shop", "deleted": 1200}}),
        **refusals(400, 403, 404, 409),
    },
)
async def delete_tenant(request: AnyRequest, tenant: FromPath[str]) -> Response[One[DeletedTenant]]:
    """Delete a suspended tenant with everything it has. Its open runs are cancelled first. Nothing brings it back."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("confirm"))
    confirm = values.one("confirm", str) or ""
    values.refuse("the tenant cannot be deleted")
    count = await commands(request).tenants.delete(tenant, confirm=confirm)
    return Response(One(DeletedTenant(name=tenant, deleted=count)))


def _answer(row: TenantRow, status: int = 200) -> TenantAnswer:
    return Response(One(_document(row)), status_code=status)


def _document(row: TenantRow) -> TenantDocument:
    created = None if row.created_at is None else as_datetime(row.created_at)
    limits = read_limits(row.settings)
    return TenantDocument(
        name=row.name,
        status=row.status,
        created_at=created,
        actions=None if limits.actions is None else list(limits.actions),
        egress=None if limits.egress is None else list(limits.egress),
        retention_days=limits.retention_days,
    )


ROUTES = [
    list_tenants,
    get_tenant,
    create_tenant,
    change_tenant,
    suspend_tenant,
    resume_tenant,
    export_tenant,
    delete_tenant,
]
