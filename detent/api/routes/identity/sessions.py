"""Routes of sessions: browsers that are signed in."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, delete, get
from litestar.params import FromPath

from detent.api.context import caller_of
from detent.api.openapi.operations import BOOLEAN, PAGE_PARAMETERS, Plain, answers, operation, query, refusals
from detent.api.request import AnyRequest, CursorScope, QueryValues, aliases, commands, flag_of, tenant_of
from detent.api.routes.identity.logins import own_session
from detent.auth.sessions import identity_of
from detent.documents.answers import Many
from detent.documents.people import SessionDocument
from detent.errors import NotFound
from detent.ids import SESSION, show
from detent.instant import as_datetime
from detent.store.identity.people import SessionRow

BASE: Final = "/api/v1/sessions"
_TAGS: Final = ["people"]
_CURRENT: Final = "current"
_VIA: Final = {"person": "password", "key": "key", "oidc": "oidc"}
_EXAMPLE: Final[dict[str, Any]] = {
    "id": "ses_01k5c1v6p2f7x8y9z0a1b2c3d4",
    "name": "person alice",
    "via": "password",
    "current": True,
    "address": "192.0.2.7",
    "agent": "Mozilla/5.0",
    "inserted_at": "2026-02-22T10:05:00Z",
    "seen_at": "2026-02-22T10:25:00Z",
    "expires_at": "2026-02-22T22:05:00Z",
}


def session_document(row: SessionRow, own: SessionRow | None) -> SessionDocument:
    """Build the document of a session. `own` is that of the request."""
    return SessionDocument(
        id=show(SESSION, row.id),
        name=identity_of(row).name,
        via=_VIA[row.subject.partition(":")[0]],
        current=own is not None and own.id == row.id,
        address=row.address,
        agent=row.agent,
        inserted_at=as_datetime(row.created_at),
        seen_at=as_datetime(row.seen_at),
        expires_at=as_datetime(row.expires_at),
    )


@get(
    BASE,
    tags=_TAGS,
    summary="List sessions",
    operation_class=operation(
        query("all", BOOLEAN, "Those of everyone in the tenant, which needs `keys:manage`.", False), *PAGE_PARAMETERS
    ),
    responses={
        **answers(200, Many[SessionDocument], "A page of the list.", {"data": [_EXAMPLE], "next_cursor": None}),
        **refusals(400, 401, 403),
    },
)
async def list_sessions(request: AnyRequest) -> Many[SessionDocument]:
    """List the sessions of the caller, oldest first: those of the same person, or of the same key. With `all` the list
    has those of everyone in the tenant."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("all", "limit", "cursor"))
    everyone, limit = values.one("all", flag_of) or False, values.limit()
    own = await own_session(request)
    subject = None if everyone else _subject(request, own)
    scope = CursorScope("sessions", tenant_of(request), subject)
    after = values.cursor(lambda text: scope.place(text, 16))
    values.refuse("the list cannot be read")
    rows = await commands(request).sessions.find(subject=subject, limit=limit + 1, after=after)
    more = scope.cursor(rows[limit - 1].id) if len(rows) > limit else None
    return Many([session_document(row, own) for row in rows[:limit]], more)


@delete(
    f"{BASE}/{{session:str}}",
    tags=_TAGS,
    summary="End a session",
    status_code=204,
    operation_class=Plain,
    responses=refusals(401, 403, 404),
)
async def end_session(request: AnyRequest, session: FromPath[str]) -> Response[None]:
    """End a session: its cookie is refused within two seconds, and its streams end. `current` is that of the request.
    Sessions of others need `keys:manage`."""
    own = await own_session(request)
    if session == _CURRENT:
        if own is None:
            raise NotFound("this request has no session")
        session = show(SESSION, own.id)
    await commands(request).sessions.end(session, subject=_subject(request, own))
    return Response(None, status_code=204)


def _subject(request: AnyRequest, own: SessionRow | None) -> str:
    """Return the subject of the caller's sessions. One without sessions has a subject that no session has."""
    if own is not None:
        return own.subject
    principal = caller_of(request.scope).caller.principal
    is_key = principal is not None and principal.user_id.startswith("key:")
    return principal.user_id if is_key and principal is not None else ""


ROUTES = [list_sessions, end_session]
