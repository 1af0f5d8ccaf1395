"""Routes of histories: the attempts of one run, the items of its maps, and the timeline of all runs of one hero."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from detent.api.filters import read_hero_page, read_item_page, read_places_page
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    ITEM_PARAMETERS,
    PAGE_PARAMETERS,
    TEXT,
    answers,
    operation,
    query,
    refusals,
)
from detent.api.request import AnyRequest, CursorScope, commands, tenant_of
from detent.api.routes.runs import places
from detent.documents.answers import Many
from detent.documents.journal import PastAttemptDocument, TimelineEntry
from detent.documents.runs import ItemDocument
from detent.errors import NotFound
from detent.ids import RUN, show
from detent.instant import as_datetime
from detent.planner.history import AttemptState, PastAttempt
from detent.store.list_rows import RUN_STARTED, TimelineRow
from detent.views.entries import entry_document

_LONGEST_MESSAGE: Final = 4_000
_LONGEST_TRACEBACK: Final = 16_000


Timeline = Response[Many[TimelineEntry]]


@get(
    places("/{run:str}/history", below=False),
    tags=["runs"],
    summary="List the attempts of a run",
    operation_class=operation(*PAGE_PARAMETERS),
    responses={
        **answers(200, Many[PastAttemptDocument], "A page of the list.", examples.many(examples.PAST_ATTEMPT)),
        **refusals(400, 404),
    },
)
async def list_run_history(request: AnyRequest, run: FromPath[str]) -> Response[Many[PastAttemptDocument]]:
    """List every attempt that has ended, in the order of the ends, with its outcome. A step that was skipped has a row
    too, and so has the step that a run was at when it was cancelled."""
    rows = await commands(request).runs.history(run)
    scope = CursorScope("history", tenant_of(request), run)
    page = read_places_page(request.scope["query_string"], scope)
    shown = [_attempt(row) for row in rows[page.begin : page.begin + page.limit]]
    behind = page.begin + page.limit
    return Response(Many(shown, scope.cursor(str(behind).encode()) if behind < len(rows) else None))


@get(
    places("/{run:str}/steps/{step:str}/items", below=False),
    tags=["runs"],
    summary="List the items of a map",
    operation_class=operation(*ITEM_PARAMETERS),
    responses={
        **answers(200, Many[ItemDocument], "A page of the list.", examples.many(examples.ITEM)),
        **refusals(400, 404, 409),
    },
)
async def list_run_items(request: AnyRequest, run: FromPath[str], step: FromPath[str]) -> Response[Many[ItemDocument]]:
    """List the items of a step that runs for each item of a list, in their order, with status and result. A page may
    have fewer items than `limit`, also none, although there are more; `next_cursor` is null on the last one."""
    scope = CursorScope("items", tenant_of(request), run, step)
    page = read_item_page(request.scope["query_string"], scope)
    found = await commands(request).items.find(run, step, begin=page.begin, limit=page.limit, status=page.status)
    return Response(Many(found.items, None if found.next is None else scope.cursor(str(found.next).encode())))


_TIMELINE: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "responses": {
        **answers(200, Many[TimelineEntry], "A page of the list.", examples.many(examples.TIMELINE_ENTRY)),
        **refusals(400, 404),
    },
}


@get(
    "/api/v1/heroes/{hero_type:str}/{hero_id:str}/timeline",
    summary="List everything that happened to a hero",
    operation_class=operation(*PAGE_PARAMETERS),
    **_TIMELINE,
)
async def tell_hero_timeline(request: AnyRequest, hero_type: FromPath[str], hero_id: FromPath[str]) -> Timeline:
    """List the journal entries of all runs of a hero in the order of time, with the start of each run."""
    timeline = await _timeline(request, (hero_type, hero_id))
    if not timeline.content.data:
        raise NotFound(f"no run is about {hero_type[:80]} {hero_id[:80]}")
    return timeline


@get(
    "/api/v1/timeline",
    summary="List everything that happened to a hero, named in the query",
    operation_class=operation(query("hero", TEXT, "The hero, `type:id`.", "User:42"), *PAGE_PARAMETERS),
    **_TIMELINE,
)
async def tell_timeline(request: AnyRequest) -> Timeline:
    """List the timeline of a hero whose type or id cannot be part of a path. A hero without runs has an empty list."""
    return await _timeline(request, None)


async def _timeline(request: AnyRequest, hero: tuple[str, str] | None) -> Timeline:
    page = read_hero_page(request.scope["query_string"], tenant_of(request), hero)
    found, is_last = await commands(request).runs.timeline(page.hero, limit=page.limit, after=page.after)
    cursor = None if is_last else page.cursor(found[-1].place())
    return Response(Many([_timeline_entry(one) for one in found], cursor))


def _attempt(row: PastAttempt) -> PastAttemptDocument:
    ended = {f"{state}_at": as_datetime(row.ended_at) if row.state is state else None for state in AttemptState}
    message = None if row.error is None else row.error.message[:_LONGEST_MESSAGE]
    return PastAttemptDocument(
        step=row.step,
        attempt=row.attempt,
        state=row.state,
        outcome=row.outcome,
        scheduled_for=as_datetime(row.scheduled_for),
        started_at=None if row.started_at is None else as_datetime(row.started_at),
        error_message=message,
        error_traceback=_traceback(row),
        **ended,
    )


def _traceback(row: PastAttempt) -> str | None:
    found = None if row.error is None else row.error.traceback
    return None if found is None else found[-_LONGEST_TRACEBACK:]


def _timeline_entry(one: TimelineRow) -> TimelineEntry:
    fields = msgspec.structs.asdict(entry_document(one.entry))
    if one.entry.kind == RUN_STARTED:
        fields["attempt"] = None
    return TimelineEntry(run_id=show(RUN, one.entry.run), workflow=one.workflow_name, **fields)


ROUTES = [list_run_history, list_run_items, tell_hero_timeline, tell_timeline]
