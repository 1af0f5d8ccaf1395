"""Routes of triggers, their firings and their schedules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from litestar import Response, delete, get, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.params import FromPath

from detent.api.filters import LIST_MESSAGE
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    ANYTHING,
    BOOLEAN,
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
    flag_of,
    instant_of,
    number_of,
    object_body,
    read_fields,
    refuse_if_any,
    tenant_of,
    triggers,
    word_of,
)
from detent.documents.answers import Many, One
from detent.documents.triggers import (
    AppliedTrigger,
    BackfillDocument,
    BackfilledSlot,
    FiringDocument,
    TriggerDocument,
)
from detent.forms.compiled import TriggerType
from detent.ids import FIRING, show
from detent.instant import Instant, as_datetime, iso
from detent.store.trigger_rows import FiringRow, FiringState, TriggerRow
from detent.triggers.commands import MOST_PREVIEWED, Backfilled
from detent.triggers.view import firing_document, trigger_document
from detent.values.fields import Fields

_ID_BYTES: Final = 16
_COUNT: Final = 10
_PAGE: Final = aliases("limit", "cursor")
_TRIGGERS: Final = {
    **_PAGE,
    **aliases("workflow", "type", "enabled", workflow_id="workflow", trigger_type="type", is_enabled="enabled"),
}
_FIRINGS: Final = {**_PAGE, **aliases("state", status="state")}
_PREVIEW: Final = aliases("cron_expression", "timezone", "count")
_KINDS: Final = [kind.value for kind in TriggerType if kind is not TriggerType.API]
_COUNTED: Final = Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=MOST_PREVIEWED, default=_COUNT)

COUNT: Final = query("count", _COUNTED, f"How many at most, 1 to {MOST_PREVIEWED}.", _COUNT)
TRIGGER_PARAMETERS: Final = (
    query("workflow", TEXT, "Only those of this workflow, by id or name.", "order-processing"),
    query("type", Schema(type=OpenAPIType.STRING, enum=_KINDS), "Only those of this type.", "cron"),
    query("enabled", BOOLEAN, "Only those that fire, or only those that are paused.", True),
    *PAGE_PARAMETERS,
)
FIRING_PARAMETERS: Final = (
    query("state", Schema(type=OpenAPIType.STRING, enum=list(map(str, FiringState))), "Only those.", "refused"),
    *PAGE_PARAMETERS,
)
PREVIEW_PARAMETERS: Final = (
    query("cron_expression", TEXT, "Minute, hour, day, month, weekday.", "0 9 * * 1-5"),
    query("timezone", TEXT, "An IANA time zone; UTC by default.", "Europe/Zurich"),
    COUNT,
)


@dataclass(frozen=True, slots=True)
class TriggerPage:
    """A page of triggers: those after an id."""

    workflow: str | None
    kind: str | None
    enabled: bool | None
    limit: int
    after: bytes | None
    scope: CursorScope


@dataclass(frozen=True, slots=True)
class FiringPage:
    """A page of firings: those before an id."""

    state: str | None
    limit: int
    before: bytes | None
    scope: CursorScope


def read_trigger_page(text: bytes, tenant: int) -> TriggerPage:
    """Read the query of a list of triggers."""
    read = QueryValues.of_query(text, _TRIGGERS)
    workflow, kind, enabled = read.one("workflow", word_of), read.one("type", _kind), read.one("enabled", flag_of)
    scope = CursorScope("triggers", tenant, workflow, kind, enabled)
    limit, after = read.limit(), read.cursor(lambda cursor: scope.place(cursor, _ID_BYTES))
    read.refuse(LIST_MESSAGE)
    return TriggerPage(workflow, kind, enabled, limit, after, scope)


def read_firing_page(text: bytes, tenant: int, trigger: str) -> FiringPage:
    """Read the query of a list of firings."""
    read = QueryValues.of_query(text, _FIRINGS)
    state = read.one("state", _state)
    scope = CursorScope("firings", tenant, trigger, state)
    limit, before = read.limit(), read.cursor(lambda cursor: scope.place(cursor, _ID_BYTES))
    read.refuse(LIST_MESSAGE)
    return FiringPage(state, limit, before, scope)


def read_count(text: bytes) -> int:
    """Read how many slots to list."""
    read = QueryValues.of_query(text, aliases("count"))
    count = read.one("count", _count) or _COUNT
    read.refuse("the slots cannot be listed")
    return count


def read_preview(text: bytes) -> tuple[str | None, str | None, int]:
    """Read cron expression, time zone and count."""
    read = QueryValues.of_query(text, _PREVIEW)
    found: tuple[Any, Any] = read.one("cron_expression", str), read.one("timezone", str)
    count = read.one("count", _count) or _COUNT
    read.refuse("the slots cannot be listed")
    return *found, count


def _count(text: str) -> int:
    return number_of(text, 1, MOST_PREVIEWED)


def _kind(text: str) -> str:
    word = {"schedule": "cron"}.get(text.lower(), text.lower())
    if word not in _KINDS:
        raise ValueError(f"must be one of {', '.join(_KINDS)}")
    return word


def _state(text: str) -> str:
    if text not in list(FiringState):
        raise ValueError(f"must be one of {', '.join(FiringState)}")
    return text


BASE: Final = "/api/v1/triggers"
_TAGS: Final = ["triggers"]
_INSTANT: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME)
_OBJECT: Final = Schema(type=OpenAPIType.OBJECT, description="The fields of its type, as in a definition's block.")
_CHANGE: Final = {"config": _OBJECT, "condition": TEXT, "name": TEXT, "note": TEXT, "enabled": BOOLEAN}
_WHOLE: Final = {"workflow": TEXT, "type": TEXT, **_CHANGE}
_EXAMPLE: Final = {
    "workflow": "order-processing",
    "type": "cron",
    "name": "every weekday",
    "config": {"cron_expression": "0 9 * * 1-5", "timezone": "Europe/Zurich", "overlap": "skip"},
}
_NEW: Final = takes(record_schema(_WHOLE, required=["workflow", "type"]), _EXAMPLE, required=True)
_NAMED: Final = takes(record_schema(_WHOLE, required=["workflow", "type", "name"]), _EXAMPLE, required=True)
_CHANGED: Final = takes(
    record_schema({**_CHANGE, "updated_at": _INSTANT}),
    {"condition": "body.amount > 100", "enabled": True},
    required=True,
)
_FIRE: Final = takes(record_schema({"body": ANYTHING}), {"body": {"order_id": 123}})
_NOTE: Final = takes(record_schema({"note": TEXT}), {"note": "the shop is closed"})
_RANGE: Final = takes(
    record_schema({"from": _INSTANT, "to": _INSTANT, "dry_run": BOOLEAN}, required=["from", "to"]),
    {"from": "2026-02-20T00:00:00Z", "to": "2026-02-21T00:00:00Z", "dry_run": True},
    required=True,
)
_SHOWN: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 200,
    "responses": {
        **answers(200, One[TriggerDocument], "The trigger as it is now.", examples.one(examples.TRIGGER)),
        **refusals(400, 403, 404, 409),
    },
}
_FIRED: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 201,
    "responses": {
        **answers(201, One[FiringDocument], "The firing and its result.", examples.one(examples.FIRING)),
        **refusals(400, 403, 404, 409, 413),
    },
}
_SLOTS: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "responses": {
        **answers(200, One[list[str]], "The slots.", {"data": ["2026-02-23T08:00:00Z", "2026-02-24T08:00:00Z"]}),
        **refusals(400, 404),
    },
}


@post(
    BASE,
    tags=_TAGS,
    summary="Create a trigger",
    operation_class=operation(body=_NEW),
    responses={
        **answers(201, One[TriggerDocument], "The trigger was created.", examples.one(examples.TRIGGER)),
        **refusals(400, 403, 404, 413),
    },
)
async def create_trigger(request: AnyRequest) -> Response[One[TriggerDocument]]:
    """Create a trigger of type `cron`, `webhook`, `event` or `manual`. The `url` of a webhook never changes."""
    row = await triggers(request).editor.create(await _object(request, "the trigger cannot be created"))
    return _shown(request, row, status=201)


@put(
    BASE,
    tags=_TAGS,
    summary="Apply a trigger by its name",
    operation_class=operation(body=_NAMED),
    responses={
        **answers(200, One[AppliedTrigger], "The trigger is as the request says.", examples.one(examples.APPLIED)),
        **refusals(400, 403, 404, 409, 413),
    },
)
async def apply_trigger(request: AnyRequest) -> One[AppliedTrigger]:
    """Create the trigger of this name of the workflow, or change it to what is sent: the same request twice does
    nothing more. What is not sent has its default; only `enabled` and `note` stay as they are."""
    change, row = await triggers(request).editor.apply(await _object(request, "the trigger cannot be applied"))
    return One(AppliedTrigger(change, trigger_document(row, triggers(request).base_url)))


@get(
    BASE,
    tags=_TAGS,
    summary="List triggers",
    operation_class=operation(*TRIGGER_PARAMETERS),
    responses={
        **answers(200, Many[TriggerDocument], "A page of the list.", examples.many(examples.TRIGGER)),
        **refusals(400, 404),
    },
)
async def list_triggers(request: AnyRequest) -> Many[TriggerDocument]:
    """List the triggers in the order of their creation, including those that are part of definitions."""
    page = read_trigger_page(request.scope["query_string"], tenant_of(request))
    rows = await triggers(request).editor.find(
        limit=page.limit + 1, after=page.after, workflow=page.workflow, kind=page.kind, enabled=page.enabled
    )
    more = page.scope.cursor(rows[page.limit - 1].id) if len(rows) > page.limit else None
    return Many([trigger_document(row, triggers(request).base_url) for row in rows[: page.limit]], more)


@get(BASE + "/{trigger:str}", summary="Get a trigger", operation_class=Plain, **_SHOWN)
async def get_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Return a trigger. Its secrets are hidden."""
    return _shown(request, await triggers(request).editor.get(trigger))


@put(
    BASE + "/{trigger:str}",
    summary="Change a trigger",
    operation_class=operation(body=_CHANGED),
    **{**_SHOWN, "responses": {**_SHOWN["responses"], **refusals(412, 413)}},
)
async def update_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Change the fields that are sent. With `updated_at`, answer 412 if the trigger has changed since then. A trigger
    that is part of a definition is changed there."""
    row = await triggers(request).editor.update(trigger, await _object(request, "the trigger cannot be changed"))
    return _shown(request, row)


@delete(BASE + "/{trigger:str}", summary="Delete a trigger", operation_class=Plain, **_SHOWN)
async def delete_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Delete a trigger and return it as it was. The runs that it started go on."""
    return _shown(request, await triggers(request).editor.delete(trigger))


@post(BASE + "/{trigger:str}/pause", summary="Pause a trigger", operation_class=operation(body=_NOTE), **_SHOWN)
async def pause_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Pause a trigger: it does not fire until it is resumed. `note` is the reason, for other people."""
    row = await triggers(request).editor.pause(trigger, await _object(request, "the trigger cannot be paused"))
    return _shown(request, row)


@post(BASE + "/{trigger:str}/resume", summary="Resume a trigger", operation_class=Plain, **_SHOWN)
async def resume_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Resume a trigger from now on. Slots that passed during the pause do not fire."""
    return _shown(request, await triggers(request).editor.resume(trigger))


@post(BASE + "/{trigger:str}/fire", summary="Fire a trigger now", operation_class=operation(body=_FIRE), **_FIRED)
async def fire_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[FiringDocument]]:
    """Fire a trigger, also if it is paused. Its condition, the workflow's `trigger_schema` and its overlap policy
    apply."""
    fields = await read_fields(request, "body", message="the trigger cannot be fired")
    return _fired(await triggers(request).firings.fire(trigger, fields.get("body")))


@get(BASE + "/{trigger:str}/next", summary="List the next slots", operation_class=operation(COUNT), **_SLOTS)
async def next_slots_of_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[list[str]]]:
    """List the next slots of a cron trigger, also if it is paused."""
    return _slots(await triggers(request).editor.coming(trigger, read_count(request.scope["query_string"])))


@get(
    "/api/v1/schedules/preview", summary="Preview a schedule", operation_class=operation(*PREVIEW_PARAMETERS), **_SLOTS
)
async def preview_schedule(request: AnyRequest) -> Response[One[list[str]]]:
    """List the next slots of a cron expression in its time zone."""
    return _slots(triggers(request).editor.preview(*read_preview(request.scope["query_string"])))


@post(
    BASE + "/{trigger:str}/backfill",
    tags=_TAGS,
    summary="Fire slots of the past",
    status_code=200,
    operation_class=operation(body=_RANGE),
    responses={
        **answers(200, One[BackfillDocument], "The slots.", examples.one(examples.BACKFILL)),
        **refusals(400, 403, 404),
    },
)
async def backfill_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[BackfillDocument]]:
    """Fire the slots from `from` to `to` that have no firing, at most 1,000. Unless `dry_run` is false, only list
    them."""
    fields = await read_fields(request, "from", "to", "dry_run", message="the range cannot be filled")
    begin, end = _instant(fields, "from"), _instant(fields, "to")
    dry_run = fields.boolean("dry_run", True)
    refuse_if_any(fields.problems, "the range cannot be filled")
    found = await triggers(request).firings.backfill(trigger, begin, end, dry_run=dry_run)
    return Response(One(_backfill(found, dry_run=dry_run)))


@get(
    BASE + "/{trigger:str}/firings",
    tags=_TAGS,
    summary="List the firings of a trigger",
    operation_class=operation(*FIRING_PARAMETERS),
    responses={
        **answers(200, Many[FiringDocument], "A page of the list.", examples.many(examples.FIRING)),
        **refusals(400, 404),
    },
)
async def list_firings(request: AnyRequest, trigger: FromPath[str]) -> Many[FiringDocument]:
    """List the firings of a trigger, newest first, including refused and ignored ones."""
    page = read_firing_page(request.scope["query_string"], tenant_of(request), trigger)
    rows = await triggers(request).firings.find(trigger, limit=page.limit + 1, before=page.before, state=page.state)
    more = page.scope.cursor(rows[page.limit - 1].id) if len(rows) > page.limit else None
    return Many([firing_document(row) for row in rows[: page.limit]], more)


@get(
    BASE + "/{trigger:str}/firings/{firing:str}",
    tags=_TAGS,
    summary="Get a firing",
    operation_class=Plain,
    responses={
        **answers(200, One[FiringDocument], "The firing.", examples.one(examples.WHOLE_FIRING)),
        **refusals(404),
    },
)
async def get_firing(
    request: AnyRequest, trigger: FromPath[str], firing: FromPath[str]
) -> Response[One[FiringDocument]]:
    """Return a firing with the request that it received."""
    row = await triggers(request).firings.get(trigger, firing)
    return Response(One(firing_document(row, whole=True)))


@post(
    BASE + "/{trigger:str}/firings/{firing:str}/replay",
    summary="Replay a firing",
    operation_class=Plain,
    **_FIRED,
)
async def replay_firing(
    request: AnyRequest, trigger: FromPath[str], firing: FromPath[str]
) -> Response[One[FiringDocument]]:
    """Fire again with the request of an earlier firing. A firing that was refused for its signature cannot be
    replayed."""
    return _fired(await triggers(request).firings.replay(trigger, firing))


async def _object(request: AnyRequest, message: str) -> dict[str, Any]:
    return object_body(await request.body(), message)


def _instant(fields: Fields, name: str) -> Instant:
    value = fields.get(name)
    if value is None:
        fields.problems.add(name, "is missing")
    elif not isinstance(value, str):
        fields.wrong(name, "an instant in ISO 8601")
    else:
        try:
            return instant_of(value)
        except ValueError as error:
            fields.problems.add(name, str(error))
    return 0


def _shown(request: AnyRequest, row: TriggerRow, *, status: int = 200) -> Response[One[TriggerDocument]]:
    return Response(One(trigger_document(row, triggers(request).base_url)), status_code=status)


def _backfill(found: Backfilled, *, dry_run: bool) -> BackfillDocument:
    made = [BackfilledSlot(as_datetime(row.slot or 0), show(FIRING, row.id), row.state) for row in found.firings]
    return BackfillDocument(len(found.slots), dry_run, [as_datetime(slot) for slot in found.slots], made)


def _fired(row: FiringRow) -> Response[One[FiringDocument]]:
    return Response(One(firing_document(row)), status_code=201)


def _slots(slots: list[Instant]) -> Response[One[list[str]]]:
    return Response(One([iso(slot) for slot in slots]))


ROUTES = [
    create_trigger,
    apply_trigger,
    list_triggers,
    get_trigger,
    update_trigger,
    delete_trigger,
    pause_trigger,
    resume_trigger,
    fire_trigger,
    next_slots_of_trigger,
    preview_schedule,
    backfill_trigger,
    list_firings,
    get_firing,
    replay_firing,
]
