"""Routes of people who sign in with a name and a password."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get, patch, post
from litestar.params import FromPath

from detent.api.context import context_of
from detent.api.openapi.operations import (
    BOOLEAN,
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
from detent.api.routes.identity.logins import own_session, source_of
from detent.commands.identity.people import PersonRequest
from detent.documents.answers import Many, One
from detent.documents.people import PersonDocument
from detent.errors import Forbidden
from detent.ids import PERSON, show
from detent.instant import as_datetime
from detent.store.identity.people import PersonRow
from detent.values.fields import Fields

BASE: Final = "/api/v1/users"
_TAGS: Final = ["people"]
_MESSAGE: Final = "the person cannot be saved"
_EXAMPLE: Final[dict[str, Any]] = {
    "id": "usr_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "name": "alice",
    "display_name": "Alice Example",
    "email": "alice@example.org",
    "role": "operator",
    "has_password": True,
    "disabled": False,
    "created_by": "key first",
    "inserted_at": "2026-02-22T10:05:00Z",
    "updated_at": "2026-02-22T10:05:00Z",
}
_NEW: Final = takes(
    record_schema(
        {"name": TEXT, "role": TEXT, "display_name": TEXT, "email": TEXT, "password": TEXT}, required=("name", "role")
    ),
    {"name": "alice", "role": "operator", "password": "correct horse battery"},
    required=True,
)
_CHANGES: Final = takes(
    record_schema({"role": TEXT, "display_name": TEXT, "email": TEXT, "password": TEXT, "disabled": BOOLEAN}),
    {"role": "editor"},
    required=True,
)
_NOW: Final = answers(200, One[PersonDocument], "The person.", {"data": _EXAMPLE})

PersonAnswer = Response[One[PersonDocument]]


def person_document(row: PersonRow) -> PersonDocument:
    """Build the document of a person."""
    return PersonDocument(
        id=show(PERSON, row.id),
        name=row.name,
        display_name=row.display_name,
        email=row.email,
        role=row.role,
        has_password=row.password is not None,
        disabled=row.disabled_at is not None,
        created_by=row.created_by,
        inserted_at=as_datetime(row.created_at),
        updated_at=as_datetime(row.changed_at),
    )


@get(
    BASE,
    tags=_TAGS,
    summary="List people",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[PersonDocument], "A page of the list.", {"data": [_EXAMPLE], "next_cursor": None}),
        **refusals(400, 401, 403),
    },
)
async def list_users(request: AnyRequest) -> Many[PersonDocument]:
    """List the people of the tenant in the order in which they were added. This does not list people of an identity
    provider."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope, limit = CursorScope("people", tenant_of(request)), values.limit()
    after = values.cursor(lambda text: scope.place(text, 16))
    values.refuse("the list cannot be read")
    rows = await commands(request).people.find(limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].id) if len(rows) > limit else None
    return Many([person_document(row) for row in rows[:limit]], more)


@post(
    BASE,
    tags=_TAGS,
    summary="Add a person",
    operation_class=operation(body=_NEW),
    responses={
        **answers(201, One[PersonDocument], "The person was added.", {"data": _EXAMPLE}),
        **refusals(400, 401, 403, 409, 429),
    },
)
async def create_user(request: AnyRequest) -> PersonAnswer:
    """Add a person with a role: `viewer`, `operator`, `editor`, `admin` or `instance-admin`. A name is unique in the
    whole installation and is stored in lower case. The role may not have more scopes than the caller."""
    known = ("name", "role", "display_name", "email", "password")
    fields = await read_fields(request, *known, message=_MESSAGE, required=("name", "role"))
    new = PersonRequest(
        name=fields.text("name", most=200) or "",
        role=fields.text("role", most=64) or "",
        display_name=fields.text("display_name", most=200),
        email=fields.text("email", most=200),
        password=_password(fields, "password"),
    )
    refuse_if_any(fields.problems, _MESSAGE)
    row = await commands(request).people.create(new)
    return Response(One(person_document(row)), status_code=201)


@get(
    f"{BASE}/{{user:str}}",
    tags=_TAGS,
    summary="Get a person",
    operation_class=Plain,
    responses={**_NOW, **refusals(401, 403, 404)},
)
async def get_user(request: AnyRequest, user: FromPath[str]) -> PersonAnswer:
    """Return a person by id or name."""
    return Response(One(person_document(await commands(request).people.get(user))))


@patch(
    f"{BASE}/{{user:str}}",
    tags=_TAGS,
    summary="Change a person",
    operation_class=operation(body=_CHANGES),
    responses={**_NOW, **refusals(400, 401, 403, 404, 429)},
)
async def change_user(request: AnyRequest, user: FromPath[str]) -> PersonAnswer:
    """Change fields of a person. A new `password`, and `disabled`, end the sessions of the person within two seconds.
    Another `role` counts as soon."""
    known = ("role", "display_name", "email", "password", "disabled")
    fields = await read_fields(request, *known, message=_MESSAGE)
    given = {
        "role": fields.text("role", most=64),
        "display_name": fields.text("display_name", most=200),
        "email": fields.text("email", most=200),
        "password": _password(fields, "password"),
        "disabled": fields.boolean("disabled", False) if fields.get("disabled") is not None else None,
    }
    refuse_if_any(fields.problems, _MESSAGE)
    changes = {name: value for name, value in given.items() if value is not None}
    return Response(One(person_document(await commands(request).people.change(user, changes))))


@post(
    "/api/v1/me/password",
    tags=_TAGS,
    summary="Change the own password",
    status_code=204,
    operation_class=operation(
        body=takes(
            record_schema({"old_password": TEXT, "new_password": TEXT}, required=("old_password", "new_password")),
            {"old_password": "correct horse battery", "new_password": "a better one this time"},
            required=True,
        )
    ),
    responses=refusals(400, 401, 403, 429),
)
async def change_own_password(request: AnyRequest) -> Response[None]:
    """Change the password of the person who is signed in, and end all sessions of the person, this one too."""
    message = "the password cannot be changed"
    known = ("old_password", "new_password")
    fields = await read_fields(request, *known, message=message, required=known)
    old, new = (_password(fields, name) for name in known)
    refuse_if_any(fields.problems, message)
    session, logins = await own_session(request), context_of(request.scope).logins
    if session is None or logins is None:
        raise Forbidden("only a person who signed in with a password can change it")
    await logins.change_password(session, old or "", new or "", source_of(request))
    return Response(None, status_code=204)


def _password(fields: Fields, name: str) -> str | None:
    """Return a password. A problem with it never shows it."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    fields.problems.add(fields.at(name), "must be text")
    return None


ROUTES = [list_users, create_user, get_user, change_user, change_own_password]
