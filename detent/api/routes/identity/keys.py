"""Routes of keys: create, list, read, rotate and revoke them."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from litestar import Response, delete, get, post
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
    instant_of,
    read_fields,
    refuse_if_any,
    seconds_of,
    tenant_of,
)
from detent.auth.keys import scopes_of_row
from detent.auth.scopes import Role, Scope
from detent.commands.identity.keys import (
    LONGEST_GRACE,
    LONGEST_NAME,
    MOST_WORKFLOWS,
    USUAL_GRACE,
    CreatedKey,
    KeyCommands,
    KeyRequest,
    state_of,
)
from detent.documents.answers import Many, One
from detent.documents.keys import CreatedKeyDocument, KeyDocument
from detent.instant import Instant, as_datetime, micros
from detent.store.auth import KeyRow
from detent.values.fields import Fields
from detent.values.limits import ID_LIMIT

BASE: Final = "/api/v1/keys"
_TAGS: Final = ["keys"]
_MESSAGE: Final = "the key cannot be created"
_ROTATION: Final = "the key cannot be rotated"
_LARGEST: Final = 64 * 1024
_EXPIRY: Final = Schema(type=OpenAPIType.STRING, description="An instant, or a time from now such as `90d`.")
_NEW: Final = takes(
    record_schema(
        {
            "name": Schema(type=OpenAPIType.STRING, max_length=LONGEST_NAME, description="What the key is for."),
            "role": Schema(type=OpenAPIType.STRING, enum=list(map(str, Role)), description="A role, or `scopes`."),
            "scopes": Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.STRING, enum=list(map(str, Scope)))),
            "workflows": Schema(
                type=OpenAPIType.ARRAY,
                items=TEXT,
                max_items=MOST_WORKFLOWS,
                description="Names or ids of the only workflows that it may start.",
            ),
            "expires_at": _EXPIRY,
            "tenant": Schema(
                type=OpenAPIType.STRING, description="The tenant that it is of; another one needs `tenants:manage`."
            ),
        },
        required=["name"],
    ),
    {"name": "deploy", "role": "editor", "expires_at": "90d"},
    required=True,
)
_AGAIN: Final = takes(
    record_schema(
        {
            "grace": Schema(type=OpenAPIType.STRING, description="How long the old key stays valid; `1d` by default."),
            "expires_at": _EXPIRY,
        }
    ),
    {"grace": "1h"},
)
_EXAMPLE: Final[dict[str, Any]] = {
    "id": "k7m2p9xq",
    "name": "deploy",
    "role": "editor",
    "scopes": sorted(["templates:manage", "templates:read", "workflows:execute", "workflows:manage", "workflows:read"]),
    "workflows": None,
    "status": "active",
    "created_at": "2026-02-22T10:00:00Z",
    "created_by": "key first",
    "expires_at": "2026-05-23T10:00:00Z",
    "revoked_at": None,
    "used_at": None,
}
_CREATED: Final = {**_EXAMPLE, "key": "dk_k7m2p9xq_…"}

KeyAnswer = Response[One[KeyDocument]]
CreatedAnswer = Response[One[CreatedKeyDocument]]


@get(
    BASE,
    tags=_TAGS,
    summary="List keys",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[KeyDocument], "A page of the list.", {"data": [_EXAMPLE], "next_cursor": None}),
        **refusals(400),
    },
)
async def list_keys(request: AnyRequest) -> Many[KeyDocument]:
    """List the keys by id, also those that have expired or were revoked. The keys themselves are stored nowhere."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope = CursorScope("keys", tenant_of(request))
    limit, after = values.limit(), values.cursor(lambda text: scope.place(text).decode())
    values.refuse("the list cannot be read")
    found = commands(request).keys
    rows = await found.list_all(limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].id.encode()) if len(rows) > limit else None
    return Many([_document(found, row) for row in rows[:limit]], more)


@get(
    BASE + "/{key:str}",
    tags=_TAGS,
    summary="Get a key",
    operation_class=Plain,
    responses={**answers(200, One[KeyDocument], "The key.", {"data": _EXAMPLE}), **refusals(404)},
)
async def get_key(request: AnyRequest, key: FromPath[str]) -> KeyAnswer:
    """Return what a key may do, until when, and when it was used last."""
    found = commands(request).keys
    return Response(One(_document(found, await found.get(key))))


@post(
    BASE,
    tags=_TAGS,
    summary="Create a key",
    operation_class=operation(body=_NEW),
    responses={
        **answers(201, One[CreatedKeyDocument], "The key; it is shown only now.", {"data": _CREATED}),
        **refusals(400, 403, 413),
    },
    request_max_body_size=_LARGEST,
)
async def create_key(request: AnyRequest) -> CreatedAnswer:
    """Create a key with a role or with scopes. It may do at most what its maker may do. With `workflows` it may start
    only these, and its scopes are `workflows:execute` unless the body says otherwise."""
    fields = await read_fields(
        request, "name", "role", "scopes", "workflows", "expires_at", "tenant", message=_MESSAGE, required=("name",)
    )
    found = commands(request).keys
    asked = KeyRequest(
        name=fields.text("name", most=LONGEST_NAME) or "",
        role=fields.text("role", most=ID_LIMIT),
        scopes=_texts(fields, "scopes") or (),
        workflows=_texts(fields, "workflows"),
        expires_at=_expiry(fields, found.now()),
        tenant=fields.text("tenant", most=ID_LIMIT),
    )
    refuse_if_any(fields.problems, _MESSAGE)
    return _created(found, await found.create(asked))


@post(
    BASE + "/{key:str}/rotate",
    tags=_TAGS,
    summary="Rotate a key",
    operation_class=operation(body=_AGAIN),
    responses={
        **answers(201, One[CreatedKeyDocument], "The new key; it is shown only now.", {"data": _CREATED}),
        **refusals(400, 403, 404, 409, 413),
    },
    request_max_body_size=_LARGEST,
)
async def rotate_key(request: AnyRequest, key: FromPath[str]) -> CreatedAnswer:
    """Create a key that may do the same. The old one stays valid for the time of `grace`, and is then refused. Without
    `expires_at`, the new key lives as long as the old one did."""
    fields = await read_fields(request, "grace", "expires_at", message=_ROTATION)
    found = commands(request).keys
    grace = fields.duration("grace", unit=1.0)
    if grace is not None and grace > LONGEST_GRACE:
        fields.problems.add("grace", f"must be at most {LONGEST_GRACE / 86_400:g} days")
    expires_at = _expiry(fields, found.now())
    refuse_if_any(fields.problems, _ROTATION)
    made = await found.rotate(key, grace=USUAL_GRACE if grace is None else grace, expires_at=expires_at)
    return _created(found, made)


@delete(
    BASE + "/{key:str}",
    tags=_TAGS,
    summary="Revoke a key",
    status_code=200,
    operation_class=Plain,
    responses={**answers(200, One[KeyDocument], "The key as it is now."), **refusals(403, 404)},
)
async def revoke_key(request: AnyRequest, key: FromPath[str]) -> KeyAnswer:
    """Revoke a key at once. Every node refuses it within two seconds. It stays in the list."""
    found = commands(request).keys
    return Response(One(_document(found, await found.revoke(key))))


def _texts(fields: Fields, name: str) -> tuple[str, ...] | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) and 0 < len(one) <= ID_LIMIT for one in value):
        fields.wrong(name, "a list of texts")
        return None
    if len(value) > MOST_WORKFLOWS:
        fields.problems.add(name, f"has {len(value)} entries; at most {MOST_WORKFLOWS} are allowed")
    return tuple(dict.fromkeys(value))


def _expiry(fields: Fields, now: Instant) -> Instant | None:
    text = fields.text("expires_at", most=100)
    if text is None:
        return None
    try:
        return instant_of(text) if "-" in text else now + micros(seconds_of(text))
    except ValueError as error:
        fields.problems.add("expires_at", str(error))
        return None


def _created(found: KeyCommands, made: CreatedKey) -> CreatedAnswer:
    facts = msgspec.structs.asdict(_document(found, made.row))
    return Response(One(CreatedKeyDocument(**facts, key=made.key)), status_code=201)


def _document(found: KeyCommands, row: KeyRow) -> KeyDocument:
    return KeyDocument(
        id=row.id,
        name=row.name,
        role=row.role,
        scopes=sorted(scopes_of_row(row)),
        workflows=None if row.workflows is None else msgspec.json.decode(row.workflows, type=list[str]),
        status=state_of(row, found.now()),
        created_at=as_datetime(row.created_at),
        created_by=row.created_by,
        expires_at=None if row.expires_at is None else as_datetime(row.expires_at),
        revoked_at=None if row.revoked_at is None else as_datetime(row.revoked_at),
        used_at=None if row.used_at is None else as_datetime(row.used_at),
    )


ROUTES = [list_keys, get_key, create_key, rotate_key, revoke_key]
