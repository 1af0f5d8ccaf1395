"""Routes over many runs: histogram, counts, facets, searches, heroes, and the statistics of workflows."""

from __future__ import annotations

from typing import Final

import msgspec
from litestar import Response, get
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.params import FromPath

from detent.api.filters import LIST_MESSAGE, MOST_BUCKETS, read_run_window
from detent.api.openapi import examples
from detent.api.openapi.operations import (
    PAGE_PARAMETERS,
    RUN_FILTER,
    TEXT,
    Plain,
    answers,
    operation,
    query,
    refusals,
)
from detent.api.request import AnyRequest, CursorScope, QueryValues, aliases, commands, number_of, tenant_of, word_of
from detent.api.routes.runs import places
from detent.documents.answers import Many, One
from detent.documents.lists import (
    CountsDocument,
    FacetsDocument,
    HeroSummary,
    HistogramDocument,
    SearchDocument,
    WorkflowStats,
)

_INSTANT: Final = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.DATE_TIME)
_MOST_FOUND: Final = 50
_FOUND: Final = 8
_MOST_DAYS: Final = 90
_DAYS: Final = 7
_RANGE: Final = (
    query("from", _INSTANT, "From this instant on; 24 hours before `to` by default.", "2026-02-22T00:00:00Z"),
    query("to", _INSTANT, "Until this instant; now by default.", "2026-02-23T00:00:00Z"),
)
_NAMES: Final = Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.STRING))
_PERIOD: Final = query(
    "days",
    Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=_MOST_DAYS, default=_DAYS),
    "Count the runs of so many days.",
    _DAYS,
)


@get(
    places("/histogram", below=False),
    tags=["runs"],
    summary="Count runs by time and state",
    operation_class=operation(
        *_RANGE,
        query(
            "buckets",
            Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=MOST_BUCKETS, default=96),
            f"Into how many parts the time is cut, 1 to {MOST_BUCKETS}.",
            96,
        ),
        *RUN_FILTER,
    ),
    responses={
        **answers(200, One[HistogramDocument], "The counts.", examples.one(examples.HISTOGRAM)),
        **refusals(400, 404),
    },
)
async def read_run_histogram(request: AnyRequest) -> Response[One[HistogramDocument]]:
    """Return how many runs were accepted when, and what has become of them. Slots of schedules that are still to come
    are counted too, unless a filter other than `workflow` is given. With such a filter 50,000 runs are looked at, the
    newest first; `searched_until` says how far."""
    bound = commands(request)
    window = await read_run_window(bound, request.scope["query_string"], most_buckets=MOST_BUCKETS)
    return Response(One(await bound.lists.histogram(window.where, window.begin, window.end, window.buckets)))


@get(
    places("/counts", below=False),
    tags=["runs"],
    summary="Count the runs of the saved views",
    operation_class=Plain,
    responses={**answers(200, One[CountsDocument], "The counts.", examples.one(examples.COUNTS)), **refusals()},
)
async def read_run_counts(request: AnyRequest) -> Response[One[CountsDocument]]:
    """Return how many runs each saved view has, each counted up to 10,000."""
    return Response(One(await commands(request).lists.counts()))


@get(
    places("/facets", below=False),
    tags=["runs"],
    summary="Count runs by workflow, trigger, status and label",
    operation_class=operation(*_RANGE, *RUN_FILTER),
    responses={
        **answers(200, One[FacetsDocument], "The values.", examples.one(examples.FACETS)),
        **refusals(400, 404),
    },
)
async def read_run_facets(request: AnyRequest) -> Response[One[FacetsDocument]]:
    """Return the values by which the runs of a filter can be narrowed, the 20 most frequent of each kind. At most the
    newest 10,000 runs are counted, and a filter without an index looks at 50,000 at most; `sampled` says that there are
    more, and `searched_until` how far back they were counted."""
    bound = commands(request)
    window = await read_run_window(bound, request.scope["query_string"])
    return Response(One(await bound.lists.facets(window.narrowed())))


@get(
    "/api/v1/search",
    tags=["runs"],
    summary="Find what a text names",
    operation_class=operation(
        query("q", TEXT, "A name, an id, a request id or a hero such as `order:123`.", "order-7"),
        query(
            "limit",
            Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=_MOST_FOUND, default=_FOUND),
            "How many of each kind at most.",
            _FOUND,
        ),
    ),
    responses={
        **answers(200, One[SearchDocument], "What was found.", examples.one(examples.SEARCH)),
        **refusals(400),
    },
)
async def search(request: AnyRequest) -> Response[One[SearchDocument]]:
    """Return workflows and triggers with the text in their name, runs with exactly that id, request id or hero, and
    heroes whose id begins with it. It looks at indexes only: `GET /runs?text=` searches more places."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("q", "limit"))
    text = values.one("q", word_of)
    limit = values.one("limit", lambda given: number_of(given, 1, _MOST_FOUND)) or _FOUND
    if text is None and not values.problems.found:
        values.add_problem("q", "is missing; write for example q=order-7")
    values.refuse("nothing can be searched for")
    return Response(One(await commands(request).search.search((text or "").strip(), limit=limit)))


@get(
    "/api/v1/heroes",
    tags=["runs"],
    summary="List heroes",
    operation_class=operation(
        query("type", TEXT, "Only heroes of this type.", "order"),
        query("prefix", TEXT, "Only heroes whose id begins with this.", "12"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[HeroSummary], "A page of the list.", examples.many(examples.HERO)),
        **refusals(400),
    },
)
async def list_heroes(request: AnyRequest) -> Response[Many[HeroSummary]]:
    """List the business objects that runs are about, by type and id, each with its number of runs and the newest."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("type", "prefix", "limit", "cursor"))
    type_, prefix = values.one("type", word_of), values.one("prefix", word_of)
    scope = CursorScope("heroes", tenant_of(request), type_, prefix)
    limit = values.limit()
    after = values.cursor(lambda text: msgspec.json.decode(scope.place(text), type=tuple[str, str]))
    values.refuse(LIST_MESSAGE)
    found = await commands(request).search.heroes(type_, prefix=prefix or "", after=after, limit=limit)
    more = None if found.next is None else scope.cursor(msgspec.json.encode(found.next))
    return Response(Many(found.heroes, more))


@get(
    "/api/v1/stats",
    tags=["workflows"],
    summary="List the statistics of workflows",
    operation_class=operation(
        query("workflow", _NAMES, "Only these workflows, by name; unknown ones are left out.", ["order-processing"]),
        _PERIOD,
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[WorkflowStats], "A page of the list.", examples.many(examples.STATS)),
        **refusals(400),
    },
)
async def list_workflow_stats(request: AnyRequest) -> Response[Many[WorkflowStats]]:
    """List how the runs of each workflow went, by name: the last 30 runs, the rate of success, and how long they
    took."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("days", "workflow", "limit", "cursor"))
    days = values.one("days", _days) or _DAYS
    names = values.many("workflow", word_of)
    scope = CursorScope("stats", tenant_of(request), days)
    limit = values.limit()
    after = values.cursor(lambda text: word_of(scope.place(text).decode()))
    values.refuse(LIST_MESSAGE)
    if names:
        return Response(Many(await commands(request).search.stats_of_names(names, days=days)))
    found, last = await commands(request).search.stats(days=days, limit=limit, after=after)
    return Response(Many(found, None if last is None else scope.cursor(last.encode())))


@get(
    "/api/v1/workflows/{workflow:str}/stats",
    tags=["workflows"],
    summary="Get the statistics of a workflow",
    operation_class=operation(_PERIOD),
    responses={
        **answers(200, One[WorkflowStats], "The statistics.", examples.one(examples.STATS)),
        **refusals(400, 404),
    },
)
async def get_workflow_stats(request: AnyRequest, workflow: FromPath[str]) -> Response[One[WorkflowStats]]:
    """Return how the runs of a workflow went."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("days"))
    days = values.one("days", _days) or _DAYS
    values.refuse("the statistics cannot be read")
    row = await commands(request).workflows.get(workflow)
    return Response(One(await commands(request).search.stats_of(row.id, row.name, days=days)))


def _days(text: str) -> int:
    return number_of(text, 1, _MOST_DAYS)


ROUTES = [
    read_run_histogram,
    read_run_counts,
    read_run_facets,
    search,
    list_heroes,
    list_workflow_stats,
    get_workflow_stats,
]
