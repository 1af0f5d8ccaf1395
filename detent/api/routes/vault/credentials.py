"""Routes of credentials. Sealed parts go in, and no answer has one."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Final

from litestar import MediaType, Response, delete, get, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.context import context_of
from detent.api.openapi.operations import (
    PAGE_PARAMETERS,
    Plain,
    answers,
    operation,
    refusals,
    takes,
)
from detent.api.request import AnyRequest, CursorScope, QueryValues, aliases, commands, grouped, object_body, tenant_of
from detent.api.routes.identity.logins import relative
from detent.api.routes.pages import PAGE_HEADERS, card
from detent.api.server.policy_guard import identify
from detent.auth.caller import Caller
from detent.commands.vault.connect import CALLBACK, ProviderAnswer
from detent.documents.answers import Many, One
from detent.documents.credentials import ConnectionDocument, CredentialDocument
from detent.errors import DetentError, Forbidden, NotFound, Unauthenticated
from detent.instant import as_datetime
from detent.store.vault.credentials import CredentialRow

BASE: Final = "/api/v1/credentials"
_TAGS: Final = ["credentials"]
_MESSAGE: Final = "the credential is not valid"
_LARGEST: Final = 128 * 1024
_EXAMPLE: Final[dict[str, Any]] = {
    "name": "crm",
    "kind": "oauth2_client",
    "state": "ready",
    "reason": None,
    "hosts": ["crm.example.com"],
    "config": {"token_url": "https://id.example.com/token", "client_id": "detent", "scopes": ["notes.write"]},
    "version": 3,
    "expires_at": "2026-03-01T09:30:00Z",
    "created_at": "2026-02-25T10:00:00Z",
    "updated_at": "2026-02-25T10:00:00Z",
    "updated_by": "key ops",
}
_CONNECTION: Final[dict[str, Any]] = {
    "credential": "crm",
    "url": "https://id.example.com/authorize?response_type=code&client_id=detent&state=…",
    "expires_at": "2026-03-01T08:40:00Z",
}
_ANSWER: Final = answers(200, One[CredentialDocument], "The credential.", {"data": _EXAMPLE})
_BODY: Final = takes(
    Schema(
        type=OpenAPIType.OBJECT,
        description="`kind`, `hosts`, and the parts of the kind. The page Credentials lists them.",
        additional_properties=True,
    ),
    {"kind": "token", "hosts": ["crm.example.com"], "token": "…"},
    required=True,
)

CredentialAnswer = Response[One[CredentialDocument]]


@put(
    f"{BASE}/{{credential:str}}",
    tags=_TAGS,
    summary="Set a credential",
    operation_class=operation(body=_BODY),
    responses={**_ANSWER, **refusals(400, 403, 409, 413)},
    request_max_body_size=_LARGEST,
)
async def set_credential(request: AnyRequest, credential: FromPath[str]) -> CredentialAnswer:
    """Set a credential: its kind, the hosts that it may be sent to, and the parts of its kind. Runs that wait for it go
    on. Without `hosts` it is bound to the host of the connector that has its name."""
    return _answer(await commands(request).credentials.set(credential, object_body(await request.body(), _MESSAGE)))


@get(
    BASE,
    tags=_TAGS,
    summary="List credentials",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[CredentialDocument], "A page of the list.", {"data": [_EXAMPLE], "next_cursor": None}),
        **refusals(400, 403),
    },
)
async def list_credentials(request: AnyRequest) -> Many[CredentialDocument]:
    """List the credentials by name, with their kinds, states and hosts."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope, limit = CursorScope("credentials", tenant_of(request)), values.limit()
    after = values.cursor(lambda text: scope.place(text).decode())
    values.refuse("the list cannot be read")
    rows = await commands(request).credentials.find(limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].name.encode()) if len(rows) > limit else None
    return Many([credential_document(row) for row in rows[:limit]], more)


@get(
    f"{BASE}/{{credential:str}}",
    tags=_TAGS,
    summary="Get a credential without what is sealed",
    operation_class=Plain,
    responses={**_ANSWER, **refusals(403, 404)},
)
async def get_credential(request: AnyRequest, credential: FromPath[str]) -> CredentialAnswer:
    """Return what is known of a credential. No request returns a sealed part."""
    return _answer(await commands(request).credentials.get(credential))


@post(
    f"{BASE}/{{credential:str}}/connect",
    tags=_TAGS,
    summary="Connect a credential to an account",
    status_code=200,
    operation_class=Plain,
    responses={
        **answers(200, One[ConnectionDocument], "Where a person agrees.", {"data": _CONNECTION}),
        **refusals(403, 404, 409),
    },
)
async def connect_credential(request: AnyRequest, credential: FromPath[str]) -> Response[One[ConnectionDocument]]:
    """Return the page of the provider on which a person agrees that Detent may use an account. Its answer is accepted
    once, within ten minutes. Only a credential of the kind `oauth2_code` is connected."""
    page = await commands(request).credentials.connect(credential)
    return Response(
        One(ConnectionDocument(credential=credential, url=page.url, expires_at=as_datetime(page.expires_at)))
    )


@get(CALLBACK, include_in_schema=False, media_type=MediaType.HTML)
async def finish_connection(request: AnyRequest) -> Response[str]:
    """Finish a connection: the provider sends the browser here, with a code and the state."""
    found = grouped(request.scope["query_string"])
    given = {name: values[0] for name, values in found.items() if len(values) == 1}
    answer = ProviderAnswer(given.get("state"), given.get("code"), given.get("iss"), given.get("error"))
    try:
        row = await commands(request).credentials.finish(answer, await _finisher(request))
    except DetentError as error:
        message = escape(error.message[:1].upper() + error.message[1:] + ".")
        body = f'<p role="alert">{message}</p>{_back(request)}'
        status = 404 if isinstance(error, NotFound) else 403 if isinstance(error, Forbidden) else 400
        return _card("The credential is not connected", body, status)
    body = f"<p>Detent can use the credential <b>{escape(row.name)}</b> now. Runs that waited for it go on.</p>"
    return _card("Connected", f"{body}{_back(request)}<p class='soft'>You can close this page.</p>", 200)


def _back(request: AnyRequest) -> str:
    """Return a link to the credentials on the web page, where most connections begin."""
    return f'<p><a class="button" href="{escape(relative(request, "/admin/credentials"))}">Show the credentials</a></p>'


def _card(title: str, body: str, status: int) -> Response[str]:
    return Response(card(title, body), media_type=MediaType.HTML, headers=PAGE_HEADERS, status_code=status)


async def _finisher(request: AnyRequest) -> Caller | None:
    """Return the caller whose session the browser has, if it has one."""
    try:
        return await identify(context_of(request.scope), request.scope)
    except Unauthenticated:
        return None


@delete(
    f"{BASE}/{{credential:str}}",
    tags=_TAGS,
    summary="Delete a credential",
    status_code=200,
    operation_class=Plain,
    responses={**_ANSWER, **refusals(403, 404)},
)
async def delete_credential(request: AnyRequest, credential: FromPath[str]) -> CredentialAnswer:
    """Delete a credential. Steps that name it fail from now on. A connector of its name uses the environment again."""
    return _answer(await commands(request).credentials.delete(credential))


def credential_document(row: CredentialRow) -> CredentialDocument:
    """Build the document of a credential."""
    config = json.loads(row.config)
    hosts = config.pop("hosts", [])
    return CredentialDocument(
        name=row.name,
        kind=row.kind,
        state=row.state,
        reason=row.reason,
        hosts=hosts,
        config=config,
        version=row.version,
        expires_at=None if row.expires_at is None else as_datetime(row.expires_at),
        created_at=as_datetime(row.created_at),
        updated_at=as_datetime(row.updated_at),
        updated_by=row.updated_by,
    )


def _answer(row: CredentialRow) -> CredentialAnswer:
    return Response(One(credential_document(row)))


ROUTES = [
    set_credential,
    list_credentials,
    get_credential,
    connect_credential,
    finish_connection,
    delete_credential,
]
