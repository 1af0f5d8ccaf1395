"""Routes of triggers, their firings and their schedules."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, delete, get, post, put
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.params import FromPath

from detent.api import examples
from detent.api import trigger_documents as documents
from detent.api.bodies import AnyRequest
from detent.api.operations import ANYTHING, BOOLEAN, TEXT, Plain, answers, operation, record, refusals, takes
from detent.api.queries import instant_of
from detent.api.spelling import object_body, our_names, refuse_if_any, spellings
from detent.api.trigger_documents import BackfillDocument, FiringDocument, TriggerDocument, firing_shown, trigger_shown
from detent.api.trigger_pages import (
    COUNT,
    FIRING_PARAMETERS,
    PREVIEW_PARAMETERS,
    TRIGGER_PARAMETERS,
    read_count,
    read_firing_page,
    read_preview,
    read_trigger_page,
)
from detent.api.wire import Many, One
from detent.authoring.fields import Fields, Problems
from detent.instant import Instant, iso
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers.commands import TriggerCommands

BASE: Final = "/api/v1/triggers"
_TAGS: Final = ["triggers"]
_INSTANT: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME)
_OBJECT: Final = Schema(type=OpenAPIType.OBJECT, description="The fields of its type, as in a definition's block.")
_CHANGE: Final = {"config": _OBJECT, "condition": TEXT, "name": TEXT, "note": TEXT, "enabled": BOOLEAN}
_NEW: Final = takes(
    record({"workflow": TEXT, "type": TEXT, **_CHANGE}, required=["workflow", "type"]),
    {
        "workflow": "order-processing",
        "type": "cron",
        "name": "every weekday",
        "config": {"cron_expression": "0 9 * * 1-5", "timezone": "Europe/Zurich", "overlap": "skip"},
    },
    required=True,
)
_CHANGED: Final = takes(
    record({**_CHANGE, "updated_at": _INSTANT}), {"condition": "body.amount > 100", "enabled": True}, required=True
)
_FIRE: Final = takes(record({"body": ANYTHING}), {"body": {"order_id": 123}})
_NOTE: Final = takes(record({"note": TEXT}), {"note": "the shop is closed"})
_RANGE: Final = takes(
    record({"from": _INSTANT, "to": _INSTANT, "dry_run": BOOLEAN}, required=["from", "to"]),
    {"from": "2026-02-20T00:00:00Z", "to": "2026-02-21T00:00:00Z", "dry_run": True},
    required=True,
)
_SHOWN: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 200,
    "responses": {
        **answers(200, One[TriggerDocument], "The trigger as it is now.", examples.one(documents.TRIGGER_EXAMPLE)),
        **refusals(400, 403, 404, 409),
    },
}
_FIRED: Final[dict[str, Any]] = {
    "tags": _TAGS,
    "status_code": 201,
    "responses": {
        **answers(
            201, One[FiringDocument], "The firing, and what became of it.", examples.one(documents.FIRING_EXAMPLE)
        ),
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


def triggers(request: AnyRequest) -> TriggerCommands:
    """What every handler here calls."""
    found: TriggerCommands = request.app.state["triggers"]
    return found


@post(
    BASE,
    tags=_TAGS,
    summary="Create a trigger",
    operation_class=operation(body=_NEW),
    responses={
        **answers(201, One[TriggerDocument], "It is there.", examples.one(documents.TRIGGER_EXAMPLE)),
        **refusals(400, 403, 404, 413),
    },
)
async def create_trigger(request: AnyRequest) -> Response[One[TriggerDocument]]:
    """`cron`, `webhook`, `event` or `manual`. The `url` of a webhook never changes."""
    row = await triggers(request).create(await _object(request, "the trigger cannot be made"))
    return _shown(request, row, status=201)


@get(
    BASE,
    tags=_TAGS,
    summary="List triggers",
    operation_class=operation(*TRIGGER_PARAMETERS),
    responses={
        **answers(200, Many[TriggerDocument], "A page of the list.", examples.many(documents.TRIGGER_EXAMPLE)),
        **refusals(400, 404),
    },
)
async def list_triggers(request: AnyRequest) -> Many[TriggerDocument]:
    """In the order they were made; those that stand in definitions too."""
    page = read_trigger_page(request.scope["query_string"])
    rows = await triggers(request).triggers(
        limit=page.limit + 1, after=page.after, workflow=page.workflow, kind=page.kind, enabled=page.enabled
    )
    more = page.scope.cursor(rows[page.limit - 1].id) if len(rows) > page.limit else None
    return Many([trigger_shown(row, triggers(request).base_url) for row in rows[: page.limit]], more)


@get(BASE + "/{trigger:str}", summary="Get a trigger", operation_class=Plain, **_SHOWN)
async def get_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Its secrets are not shown."""
    return _shown(request, await triggers(request).trigger(trigger))


@put(
    BASE + "/{trigger:str}",
    summary="Change a trigger",
    operation_class=operation(body=_CHANGED),
    **{**_SHOWN, "responses": {**_SHOWN["responses"], **refusals(412, 413)}},
)
async def update_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """What is sent is changed, the rest stays. With `updated_at` it must be the state that was read. A trigger that
    stands in a definition is changed there."""
    row = await triggers(request).update(trigger, await _object(request, "the trigger cannot be changed"))
    return _shown(request, row)


@delete(BASE + "/{trigger:str}", summary="Delete a trigger", operation_class=Plain, **_SHOWN)
async def delete_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """Answers with what it was. The runs it started go on."""
    return _shown(request, await triggers(request).delete(trigger))


@post(BASE + "/{trigger:str}/pause", summary="Pause a trigger", operation_class=operation(body=_NOTE), **_SHOWN)
async def pause_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """It fires no more until it is resumed; `note` tells others why."""
    row = await triggers(request).pause(trigger, await _object(request, "the trigger cannot be paused"))
    return _shown(request, row)


@post(BASE + "/{trigger:str}/resume", summary="Resume a trigger", operation_class=Plain, **_SHOWN)
async def resume_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[TriggerDocument]]:
    """It fires again from now on; slots that passed meanwhile stay passed."""
    return _shown(request, await triggers(request).resume(trigger))


@post(BASE + "/{trigger:str}/fire", summary="Fire a trigger now", operation_class=operation(body=_FIRE), **_FIRED)
async def fire_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[FiringDocument]]:
    """Paused or not. Its condition, the workflow's `trigger_schema` and its overlap policy count."""
    problems = Problems()
    fields = our_names(await _object(request, "the trigger cannot be fired"), spellings("body"), problems)
    refuse_if_any(problems, "the trigger cannot be fired")
    return _fired(await triggers(request).fire(trigger, fields.get("body")))


@get(BASE + "/{trigger:str}/next", summary="Tell the next slots", operation_class=operation(COUNT), **_SLOTS)
async def next_slots_of_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[list[str]]]:
    """When a cron trigger fires next, or would if it were not paused."""
    return _slots(await triggers(request).coming(trigger, read_count(request.scope["query_string"])))


@get(
    "/api/v1/schedules/preview", summary="Preview a schedule", operation_class=operation(*PREVIEW_PARAMETERS), **_SLOTS
)
async def preview_schedule(request: AnyRequest) -> Response[One[list[str]]]:
    """When a cron expression would fire, in its time zone."""
    return _slots(triggers(request).preview(*read_preview(request.scope["query_string"])))


@post(
    BASE + "/{trigger:str}/backfill",
    tags=_TAGS,
    summary="Fire slots of the past",
    status_code=200,
    operation_class=operation(body=_RANGE),
    responses={
        **answers(200, One[BackfillDocument], "The slots.", examples.one(documents.BACKFILL_EXAMPLE)),
        **refusals(400, 403, 404),
    },
)
async def backfill_trigger(request: AnyRequest, trigger: FromPath[str]) -> Response[One[BackfillDocument]]:
    """The slots from `from` to `to` that have no firing, at most 1,000. They are only told unless `dry_run` is
    false."""
    problems = Problems()
    sent = await _object(request, "the range cannot be filled")
    fields = Fields(our_names(sent, spellings("from", "to", "dry_run"), problems), "", problems)
    begin, end = _instant(fields, "from"), _instant(fields, "to")
    dry_run = fields.boolean("dry_run", True)
    refuse_if_any(problems, "the range cannot be filled")
    found = await triggers(request).backfill(trigger, begin, end, dry_run=dry_run)
    return Response(One(documents.backfill_shown(found, dry_run=dry_run)))


@get(
    BASE + "/{trigger:str}/firings",
    tags=_TAGS,
    summary="List what fired a trigger",
    operation_class=operation(*FIRING_PARAMETERS),
    responses={
        **answers(200, Many[FiringDocument], "A page of the list.", examples.many(documents.FIRING_EXAMPLE)),
        **refusals(400, 404),
    },
)
async def list_firings(request: AnyRequest, trigger: FromPath[str]) -> Many[FiringDocument]:
    """Newest first; refused and ignored ones too."""
    page = read_firing_page(request.scope["query_string"], trigger)
    rows = await triggers(request).firings(trigger, limit=page.limit + 1, before=page.before, state=page.state)
    more = page.scope.cursor(rows[page.limit - 1].id) if len(rows) > page.limit else None
    return Many([firing_shown(row) for row in rows[: page.limit]], more)


@get(
    BASE + "/{trigger:str}/firings/{firing:str}",
    tags=_TAGS,
    summary="Get a firing",
    operation_class=Plain,
    responses={
        **answers(200, One[FiringDocument], "With what was received.", examples.one(documents.WHOLE_FIRING_EXAMPLE)),
        **refusals(404),
    },
)
async def get_firing(
    request: AnyRequest, trigger: FromPath[str], firing: FromPath[str]
) -> Response[One[FiringDocument]]:
    """With what was received."""
    row = await triggers(request).firing(trigger, firing)
    return Response(One(firing_shown(row, whole=True)))


@post(
    BASE + "/{trigger:str}/firings/{firing:str}/replay",
    summary="Do again what a firing did",
    operation_class=Plain,
    **_FIRED,
)
async def replay_firing(
    request: AnyRequest, trigger: FromPath[str], firing: FromPath[str]
) -> Response[One[FiringDocument]]:
    """A new firing with what was received then. One that was refused for its signature cannot be replayed."""
    return _fired(await triggers(request).replay(trigger, firing))


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
    return Response(One(trigger_shown(row, triggers(request).base_url)), status_code=status)


def _fired(row: FiringRow) -> Response[One[FiringDocument]]:
    return Response(One(firing_shown(row)), status_code=201)


def _slots(slots: list[Instant]) -> Response[One[list[str]]]:
    return Response(One([iso(slot) for slot in slots]))


ROUTES = [
    create_trigger,
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
