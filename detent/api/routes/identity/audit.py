"""Routes of the audit: a list with filters, and an export as JSON lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

import msgspec
from litestar import get
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.response import Stream

from detent.api.filters import LIST_MESSAGE
from detent.api.openapi import examples
from detent.api.openapi.operations import BOOLEAN, PAGE_PARAMETERS, TEXT, answers, operation, query, refusals
from detent.api.request import (
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    flag_of,
    instant_of,
    tenant_of,
    word_of,
)
from detent.auth.caller import tenant_word
from detent.documents.answers import Many
from detent.documents.people import AuditDocument
from detent.ids import AUDIT, show
from detent.instant import as_datetime
from detent.store.audit import AuditCriteria, AuditOutcome, AuditRow
from detent.values.limits import ID_LIMIT

BASE: Final = "/api/v1/audit"
JSON_LINES: Final = "application/x-ndjson"
_TAGS: Final = ["audit"]
_ID_BYTES: Final = 16
_BATCH: Final = 500
_WORDS: Final = ("actor", "action", "kind", "object")
_FILTER: Final = aliases(*_WORDS, "outcome", "from", "to", "all_tenants")
_PAGE: Final = {**_FILTER, **aliases("limit", "cursor")}
_OUTCOMES: Final = Schema(type=OpenAPIType.STRING, enum=list(map(str, AuditOutcome)))
_EXAMPLE: Final = {
    "id": "aud_01k…",
    "tenant": "default",
    "at": "2026-02-22T10:05:00Z",
    "actor": "key ci",
    "via": "key",
    "action": "cancel_run",
    "kind": "run",
    "object": "run_01k…",
    "outcome": "done",
    "reason": None,
    "address": "10.0.0.7",
    "correlation_id": "order-123",
    "detail": None,
}
_PARAMETERS: Final = (
    query("actor", TEXT, "Only what this caller did.", "key ci"),
    query("action", TEXT, "Only this operation.", "cancel_run"),
    query("kind", TEXT, "Only what was done to objects of this kind.", "run"),
    query("object", TEXT, "Only what was done to this object, as the request named it.", "order-processing"),
    query("outcome", _OUTCOMES, "Only what ended so.", "refused"),
    query("from", TEXT, "Only what happened at this instant or later.", "2026-02-22T00:00:00Z"),
    query("to", TEXT, "Only what happened before this instant.", "2026-02-23T00:00:00Z"),
    query("all_tenants", BOOLEAN, "Of every tenant; needs the scope `tenants:manage`.", "true"),
)


class _Asked(NamedTuple):
    where: AuditCriteria
    every_tenant: bool


def _read(values: QueryValues) -> _Asked:
    words = {name: values.one(name, lambda text: word_of(text, ID_LIMIT)) for name in _WORDS}
    where = AuditCriteria(
        **words,
        outcome=values.one("outcome", lambda text: str(AuditOutcome(text))),
        after=values.one("from", instant_of),
        before=values.one("to", instant_of),
    )
    return _Asked(where, bool(values.one("all_tenants", flag_of)))


@get(
    BASE,
    tags=_TAGS,
    summary="List the audit",
    operation_class=operation(*_PARAMETERS, *PAGE_PARAMETERS),
    responses={
        **answers(200, Many[AuditDocument], "A page of the list.", examples.many(_EXAMPLE)),
        **refusals(400, 403),
    },
)
async def list_audit(request: AnyRequest) -> Many[AuditDocument]:
    """List what was changed, and what was refused, newest first. Starts of runs are not here: the document of a run has
    its principal. Refused requests of one caller for one reason are one row a second, with their `count`."""
    values = QueryValues.of_query(request.scope["query_string"], _PAGE)
    asked = _read(values)
    scope = CursorScope("audit", tenant_of(request), asked.every_tenant, *asked.where)
    limit, cursor = values.limit(), values.cursor(lambda text: scope.place(text, _ID_BYTES))
    values.refuse(LIST_MESSAGE)
    audit = commands(request).audit
    rows = await audit.find(limit=limit + 1, where=asked.where, cursor=cursor, every_tenant=asked.every_tenant)
    more = scope.cursor(rows[limit - 1].id) if len(rows) > limit else None
    return Many([audit_document(row) for row in rows[:limit]], more)


@get(
    f"{BASE}/export",
    tags=_TAGS,
    summary="Export the audit",
    media_type=JSON_LINES,
    operation_class=operation(*_PARAMETERS),
    responses=refusals(400, 403),
)
async def export_audit(request: AnyRequest) -> Stream:
    """Return all rows of a filter as JSON lines, newest first: one document in each line."""
    values = QueryValues.of_query(request.scope["query_string"], _FILTER)
    asked = _read(values)
    values.refuse(LIST_MESSAGE)
    audit = commands(request).audit
    first = await audit.find(limit=_BATCH, where=asked.where, every_tenant=asked.every_tenant)

    async def lines() -> AsyncIterator[bytes]:
        rows = first
        while rows:
            yield b"".join(msgspec.json.encode(audit_document(row)) + b"\n" for row in rows)
            if len(rows) < _BATCH:
                return
            rows = await audit.find(
                limit=_BATCH, where=asked.where, cursor=rows[-1].id, every_tenant=asked.every_tenant
            )

    return Stream(lines(), media_type=JSON_LINES)


def audit_document(row: AuditRow) -> AuditDocument:
    """Build the document of a row."""
    return AuditDocument(
        id=show(AUDIT, row.id),
        tenant=tenant_word(row.tenant),
        at=as_datetime(row.at),
        actor=row.actor,
        via=row.via,
        action=row.action,
        kind=row.kind,
        object=row.object,
        outcome=row.outcome,
        reason=row.reason,
        address=row.address,
        correlation_id=row.correlation,
        detail=None if row.detail is None else msgspec.json.decode(row.detail),
    )


ROUTES = [list_audit, export_audit]
