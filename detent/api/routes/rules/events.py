"""Routes of entity events, and of what they do to rules: which match, what matched lately, what was started."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.openapi import rule_examples as examples
from detent.api.openapi.operations import (
    ANYTHING,
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    answers,
    header,
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
    normalize_names,
    object_body,
    read_json,
    refuse_if_any,
    tenant_of,
    triggers,
    wait_of,
)
from detent.api.routes.rules.rules import BASE, TAGS
from detent.documents.answers import Many, One
from detent.documents.events import (
    EntityEventDocument,
    EntityEventReceipt,
    RecentEventDocument,
    RuleFiringDocument,
    RuleMatchDocument,
)
from detent.errors import InvalidInput, Problem
from detent.triggers.entities.commands import MOST_EVENTS, Place
from detent.triggers.entities.event import FIELDS, LONGEST_ID, RecordOperation, read_change
from detent.values.fields import Problems, described
from detent.values.limits import EVENTS_LIMIT

_MESSAGE: Final = "the events cannot be sent"
_MATCH_MESSAGE: Final = "the event cannot be matched"
_ID_BYTES: Final = 16
_NAMES: Final = aliases(*FIELDS, record_id="id", entity_name="entity")
_RECORD: Final = Schema(type=OpenAPIType.OBJECT, description="The record; `null` if there is none.")
_FIELDS: Final = {
    "entity": TEXT,
    "operation": Schema(type=OpenAPIType.STRING, enum=[str(one) for one in RecordOperation]),
    "id": Schema(type=OpenAPIType.STRING, description="The id of the record; by default its field `id`."),
    "before": _RECORD,
    "after": _RECORD,
    "actor": ANYTHING,
    "at": Schema(type=OpenAPIType.STRING, description="When it was changed; by default now."),
    "event_id": Schema(
        type=OpenAPIType.STRING, max_length=LONGEST_ID, description="A repeated id starts nothing again."
    ),
}
_EVENT: Final = record_schema(_FIELDS, required=("entity", "operation"))
_EVENTS: Final = Schema(type=OpenAPIType.ARRAY, items=_EVENT, max_items=MOST_EVENTS)
_WAIT: Final = query("wait", TEXT, "Answer when the runs are started, at most after this time.", "5s")
_KEY: Final = header("Idempotency-Key", "The id of the event, if its body has none.", "order-17-shipped")

AnyAnswer = Response[Any]


@post(
    "/api/v1/events/entity",
    tags=["events"],
    summary="Send events of records",
    status_code=202,
    operation_class=operation(
        _WAIT, _KEY, body=takes(Schema(one_of=[_EVENT, _EVENTS]), examples.ENTITY_EVENT, required=True)
    ),
    responses={
        **answers(202, One[EntityEventReceipt], "The event is stored.", {"data": examples.EVENT_RECEIPT}),
        **refusals(400, 403, 413),
    },
    request_max_body_size=EVENTS_LIMIT,
)
async def send_entity_events(request: AnyRequest) -> AnyAnswer:
    """Say that a record was created, updated or deleted; every active rule of its entity that matches is started once.

    Send one event, or a list of up to 1,000; then the answer is a list too. An event that is answered is durable."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("wait"))
    wait = values.one("wait", wait_of)
    values.refuse(_MESSAGE)
    body = read_json(await request.body(), empty={}, limit=EVENTS_LIMIT)
    changes = _read_changes(body, request.headers.get("idempotency-key"))
    receipts = await triggers(request).events.send(changes, wait=wait)
    answer: Any = Many(receipts) if isinstance(body, list) else One(receipts[0])
    return Response(answer, status_code=202)


def _read_changes(body: Any, key: str | None) -> list[Place]:
    problems = Problems()
    places: list[Place] = []
    is_list = isinstance(body, list)
    events = body if is_list else [body]
    if not 0 < len(events) <= MOST_EVENTS:
        raise InvalidInput(_MESSAGE, [Problem("", f"a list has 1 to {MOST_EVENTS} events, not {len(events)}")])
    for number, one in enumerate(events):
        path = f"[{number}]" if is_list else ""
        if not isinstance(one, dict):
            problems.add(path, f"an event must be a JSON object, not {described(one)}")
            continue
        named = normalize_names(one, _NAMES, problems, path)
        if key is not None and not is_list:
            named.setdefault("event_id", key)
        change = read_change(named, path, problems)
        places += [] if change is None else [(path, change)]
    refuse_if_any(problems, _MESSAGE)
    return places


@post(
    f"{BASE}/match",
    tags=TAGS,
    summary="Ask which rules an event matches",
    status_code=200,
    operation_class=operation(
        body=takes(
            record_schema({**_FIELDS, "rule": TEXT}, required=("entity", "operation")),
            examples.ENTITY_EVENT,
            required=True,
        )
    ),
    responses={
        **answers(
            200, Many[RuleMatchDocument], "One answer for each rule.", {"data": [examples.MATCH], "next_cursor": None}
        ),
        **refusals(400, 403, 404, 409),
    },
)
async def match_rules(request: AnyRequest) -> Many[RuleMatchDocument]:
    """Say for an event which active rules of its entity match it, and which part of which condition is false.

    With `rule` the answer is about that rule only, active or not. Nothing is stored and nothing is started."""
    problems = Problems()
    body = object_body(await request.body(), _MATCH_MESSAGE)
    rule = body.pop("rule", None)
    if rule is not None and not isinstance(rule, str):
        problems.add("rule", f"must be the id or key of a rule, not {described(rule)}")
    change = read_change(normalize_names(body, _NAMES, problems), "", problems)
    refuse_if_any(problems, _MATCH_MESSAGE)
    assert change is not None
    return Many(await triggers(request).events.match(change, rule))


@get(
    f"{BASE}/{{rule:str}}/recent-matches",
    tags=TAGS,
    summary="Show which of the last events a rule matches",
    operation_class=Plain,
    responses={
        **answers(
            200,
            Many[RecentEventDocument],
            "The last 50 events of its entity.",
            {"data": [examples.RECENT_EVENT], "next_cursor": None},
        ),
        **refusals(404, 409),
    },
)
async def list_recent_matches(request: AnyRequest, rule: FromPath[str]) -> Many[RecentEventDocument]:
    """Show the last 50 events of a rule's entity, newest first, whether the rule matches each, and why not. The rule
    need not be active."""
    return Many(await triggers(request).events.recent_matches(rule))


@get(
    "/api/v1/entities/{entity:str}/events",
    tags=["events"],
    summary="Show the last events of an entity",
    operation_class=Plain,
    responses={
        **answers(
            200,
            Many[EntityEventDocument],
            "The last 50 events of the entity.",
            {"data": [examples.SAMPLE_EVENT], "next_cursor": None},
        ),
        **refusals(404),
    },
)
async def list_entity_events(request: AnyRequest, entity: FromPath[str]) -> Many[EntityEventDocument]:
    """Show the last 50 events of an entity, newest first, with the records before and after."""
    return Many(await triggers(request).events.recent(entity))


@get(
    f"{BASE}/{{rule:str}}/firings",
    tags=TAGS,
    summary="List what events did to a rule",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(
            200,
            Many[RuleFiringDocument],
            "A page of the list.",
            {"data": [examples.RULE_FIRING], "next_cursor": None},
        ),
        **refusals(400, 404),
    },
)
async def list_rule_firings(request: AnyRequest, rule: FromPath[str]) -> Many[RuleFiringDocument]:
    """List the runs that events started of a rule, and the events that could not start it, newest first. Events that
    do not match are not listed."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit", "cursor"))
    scope, limit = CursorScope("firings of rules", tenant_of(request), rule), values.limit()
    before = values.cursor(lambda text: scope.place(text, _ID_BYTES))
    values.refuse("the list cannot be read")
    found = await triggers(request).events.firings(rule, limit=limit + 1, before=before)
    more = scope.cursor(found[limit - 1][0]) if len(found) > limit else None
    return Many([document for _, document in found[:limit]], more)


ROUTES = [
    send_entity_events,
    match_rules,
    list_recent_matches,
    list_entity_events,
    list_rule_firings,
]
