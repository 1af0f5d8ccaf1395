"""Routes of alerts: list them, acknowledge them, resolve them."""

from __future__ import annotations

from typing import Final

from litestar import Response, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import rule_examples as examples
from detent.api.openapi.operations import PAGE_PARAMETERS, TEXT, Plain, answers, operation, query, refusals
from detent.api.request import (
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    instant_of,
    tenant_of,
    word_of,
)
from detent.api.rules import alert_document
from detent.documents.answers import Many, One
from detent.documents.rules import AlertDocument
from detent.errors import NotFound
from detent.forms.rules.action_types import Severity
from detent.ids import RUN, parse
from detent.store.rule_rows import AlertCriteria, AlertState
from detent.values.fields import shown

BASE: Final = "/api/v1/alerts"
_TAGS: Final = ["alerts"]
_ID_BYTES: Final = 16
_NAMES: Final = aliases(
    "status", "severity", "alert_type", "rule", "run", "since", "before", "limit", "cursor", state="status",
    workflow="rule", run_id="run", rule_id="rule",
)  # fmt: skip
_INSTANT: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME)
_STATES: Final = Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.STRING, enum=list(map(str, AlertState))))
_SEVERITIES: Final = Schema(
    type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.STRING, enum=list(map(str, Severity)))
)
_NOW: Final = answers(200, One[AlertDocument], "The alert as it is now.", {"data": examples.ALERT})

AlertAnswer = Response[One[AlertDocument]]


@get(
    BASE,
    tags=_TAGS,
    summary="List alerts",
    operation_class=operation(
        query("status", _STATES, "Only those with this status; several mean any of them.", ["open"]),
        query("severity", _SEVERITIES, "Only those of this severity; several mean any of them.", ["high", "critical"]),
        query("alert_type", TEXT, "Only those of this type.", "order_shipped"),
        query("rule", TEXT, "Only those of this rule, by id or key.", "order-status-notification"),
        query("run", TEXT, "Only those of this run.", "run_01k5c1v6p2f7x8y9z0a1b2c3d4"),
        query("since", _INSTANT, "Only those that were raised at this instant or later.", "2026-02-22T00:00:00Z"),
        query("before", _INSTANT, "Only those that were raised before this instant.", "2026-02-23T00:00:00Z"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[AlertDocument], "A page of the list.", {"data": [examples.ALERT], "next_cursor": None}),
        **refusals(400),
    },
)
async def list_alerts(request: AnyRequest) -> Many[AlertDocument]:
    """List the alerts, newest first."""
    values = QueryValues.of_query(request.scope["query_string"], _NAMES)
    where = await _criteria(request, values)
    scope = CursorScope("alerts", tenant_of(request), *sorted(where.given().items()))
    limit, cursor = values.limit(), values.cursor(lambda text: scope.place(text, _ID_BYTES))
    values.refuse("the list cannot be read")
    rows = await commands(request).alerts.find(limit=limit + 1, where=where, cursor=cursor)
    more = scope.cursor(rows[limit - 1].id) if len(rows) > limit else None
    return Many([alert_document(row) for row in rows[:limit]], more)


async def _criteria(request: AnyRequest, values: QueryValues) -> AlertCriteria:
    key = values.one("rule", word_of)
    workflow = None
    if key is not None:
        try:
            workflow = await commands(request).workflows.id_of(key)
        except NotFound as error:
            values.add_problem("rule", error.message)
    return AlertCriteria(
        states=values.many("status", lambda text: _word(text, tuple(AlertState))),
        severities=values.many("severity", lambda text: _word(text, tuple(Severity))),
        alert_type=values.one("alert_type", word_of),
        workflow=workflow,
        run=values.one("run", lambda text: parse(RUN, text)),
        since=values.one("since", instant_of),
        before=values.one("before", instant_of),
    )


def _word(text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise ValueError(f"{shown(text)} is not one of {', '.join(known)}")
    return str(text)


@get(
    f"{BASE}/{{alert:str}}",
    tags=_TAGS,
    summary="Get an alert",
    operation_class=Plain,
    responses={**_NOW, **refusals(404)},
)
async def get_alert(request: AnyRequest, alert: FromPath[str]) -> AlertAnswer:
    """Return an alert."""
    return Response(One(alert_document(await commands(request).alerts.get(alert))))


@post(
    f"{BASE}/{{alert:str}}/acknowledge",
    tags=_TAGS,
    summary="Acknowledge an alert",
    status_code=200,
    operation_class=Plain,
    responses={**_NOW, **refusals(403, 404, 409)},
)
async def acknowledge_alert(request: AnyRequest, alert: FromPath[str]) -> AlertAnswer:
    """Record that you have seen an alert. The first one who does so counts. A resolved alert is a conflict."""
    return Response(One(alert_document(await commands(request).alerts.acknowledge(alert))))


@post(
    f"{BASE}/{{alert:str}}/resolve",
    tags=_TAGS,
    summary="Resolve an alert",
    status_code=200,
    operation_class=Plain,
    responses={**_NOW, **refusals(403, 404)},
)
async def resolve_alert(request: AnyRequest, alert: FromPath[str]) -> AlertAnswer:
    """Record that the cause of an alert is gone. An alert that is resolved stays as it is."""
    return Response(One(alert_document(await commands(request).alerts.resolve(alert))))


ROUTES = [list_alerts, get_alert, acknowledge_alert, resolve_alert]
