"""Routes of secrets. A value goes in, and no answer has one."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, delete, get, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi.operations import (
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    answers,
    operation,
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
from detent.documents.answers import Many, One
from detent.documents.secrets import RotationDocument, SecretDocument
from detent.instant import as_datetime
from detent.store.secrets import SecretRow
from detent.vault.hosts import read_hosts
from detent.vault.secrets import LARGEST_SECRET

BASE: Final = "/api/v1/secrets"
_TAGS: Final = ["secrets"]
_MESSAGE: Final = "the secret cannot be set"
_HOSTS: Final = Schema(type=OpenAPIType.ARRAY, items=TEXT)
_EXAMPLE: Final[dict[str, Any]] = {
    "name": "STRIPE_KEY",
    "version": 2,
    "hosts": ["api.stripe.com"],
    "created_at": "2026-02-25T10:00:00Z",
    "updated_at": "2026-03-01T08:30:00Z",
    "updated_by": "key ops",
}
_ROTATION: Final[dict[str, Any]] = {"key": "6f1d0c2b9a8e7d43", "sealed": 3, "current": 0}

SecretAnswer = Response[One[SecretDocument]]


@put(
    f"{BASE}/{{secret:str}}",
    tags=_TAGS,
    summary="Set a secret",
    operation_class=operation(
        body=takes(
            record_schema({"value": TEXT, "hosts": _HOSTS}, required=("value",)),
            {"value": "sk_live_…", "hosts": ["api.stripe.com"]},
            required=True,
        )
    ),
    responses={
        **answers(200, One[SecretDocument], "The secret was set.", {"data": _EXAMPLE}),
        **refusals(400, 403, 409),
    },
)
async def set_secret(request: AnyRequest, secret: FromPath[str]) -> SecretAnswer:
    """Set a secret: a text of at least 8 bytes. Runs send the new value from their next attempt on. It is sent to
    `hosts` only; without `hosts` in the request, they stay as they are."""
    fields = await read_fields(request, "value", "hosts", message=_MESSAGE, required=("value",))
    value = fields.text("value", most=LARGEST_SECRET) or ""
    hosts = read_hosts(fields, "hosts") if fields.get("hosts") is not None else None
    refuse_if_any(fields.problems, _MESSAGE)
    return _answer(await commands(request).secrets.set(secret, value, hosts))


@get(
    BASE,
    tags=_TAGS,
    summary="List secrets",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[SecretDocument], "A page of the list.", {"data": [_EXAMPLE], "next_cursor": None}),
        **refusals(400, 403),
    },
)
async def list_secrets(request: AnyRequest) -> Many[SecretDocument]:
    """List the names of secrets, with their versions, hosts and dates."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope, limit = CursorScope("secrets", tenant_of(request)), values.limit()
    after = values.cursor(lambda text: scope.place(text).decode())
    values.refuse("the list cannot be read")
    rows = await commands(request).secrets.find(limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many([secret_document(row) for row in rows[:limit]], more)


@get(
    f"{BASE}/{{secret:str}}",
    tags=_TAGS,
    summary="Get a secret without its value",
    operation_class=Plain,
    responses={**answers(200, One[SecretDocument], "The secret.", {"data": _EXAMPLE}), **refusals(403, 404)},
)
async def get_secret(request: AnyRequest, secret: FromPath[str]) -> SecretAnswer:
    """Return what is known of a secret. No request returns its value."""
    return _answer(await commands(request).secrets.get(secret))


@delete(
    f"{BASE}/{{secret:str}}",
    tags=_TAGS,
    summary="Delete a secret",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[SecretDocument], "The secret that was deleted.", {"data": _EXAMPLE}),
        **refusals(403, 404),
    },
)
async def delete_secret(request: AnyRequest, secret: FromPath[str]) -> SecretAnswer:
    """Delete a secret. Steps that send it fail from now on."""
    return _answer(await commands(request).secrets.delete(secret))


@post(
    "/api/v1/rotate-secrets",
    tags=_TAGS,
    summary="Seal all secrets with the first key",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[RotationDocument], "What was done.", {"data": _ROTATION}),
        **refusals(403, 409),
    },
)
async def rotate_secrets(request: AnyRequest) -> Response[One[RotationDocument]]:
    """Open every secret, and seal it with the first key of `DETENT_ENCRYPTION_KEY`. Their values and versions stay as
    they are. After that no secret needs the older keys."""
    done = await commands(request).secrets.rotate()
    return Response(One(RotationDocument(key=done.key, sealed=done.sealed, current=done.current)))


def secret_document(row: SecretRow) -> SecretDocument:
    """Build the document of a secret."""
    return SecretDocument(
        name=row.name,
        version=row.version,
        hosts=list(row.hosts),
        created_at=as_datetime(row.created_at),
        updated_at=as_datetime(row.updated_at),
        updated_by=row.updated_by,
    )


def _answer(row: SecretRow) -> SecretAnswer:
    return Response(One(secret_document(row)))


ROUTES = [set_secret, list_secrets, get_secret, delete_secret, rotate_secrets]
