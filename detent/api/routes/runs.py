"""Routes of runs: by their id, under the name `/executions`, and below their workflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath

from detent.api.filters import read_run_page
from detent.api.openapi import examples, view_examples
from detent.api.openapi.operations import (
    ANYTHING,
    INTEGER,
    LOOK_PARAMETERS,
    PAGE_PARAMETERS,
    RUN_PARAMETERS,
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
    commands,
    feeds,
    number_of,
    read_fields,
    refuse_if_any,
    tenant_of,
    wait_of,
    word_of,
)
from detent.api.routes.starts import is_execution
from detent.commands import Commands
from detent.commands.runs import RunReason, reason_documents
from detent.documents.answers import Many, One
from detent.documents.lists import SearchPage
from detent.documents.runs import (
    ActionDocument,
    EvaluationDocument,
    HierarchyDocument,
    ResourceDocument,
    RunDocument,
    RunSummary,
    VerifyDocument,
    WhyDocument,
)
from detent.errors import NotFound
from detent.ids import RUN, parse, show
from detent.instant import as_datetime
from detent.run.status import TERMINAL
from detent.store.rows import RunCriteria, RunRow
from detent.values.fields import shown
from detent.values.limits import INPUT_LIMIT, SOURCE_LIMIT
from detent.views.entries import entry_document
from detent.views.feeds import Feeds
from detent.views.runs import run_summary

LISTS: Final = ("actions", "resources", "events", "children")
INCLUDES: Final = (*LISTS, "context")
_MESSAGE: Final = "the run cannot be shown"
_MOST: Final = 200
_USUAL: Final = 100
_LARGEST_OFFSET: Final = 999_999_999
_MOST_MEMBERS: Final = 1_000
_LONGEST_STEP: Final = 200
_NAMES: Final = aliases("include", "limit", "offset", "wait")


@dataclass(frozen=True, slots=True)
class RunQuery:
    """The query of one run: the lists to include, the part of them to return, and how long to wait for the end."""

    include: frozenset[str]
    limit: int
    offset: int
    wait: float | None


def read_run_query(query: bytes) -> RunQuery:
    """Read the query of one run."""
    values = QueryValues.of_query(query, _NAMES)
    include = {word for words in values.many("include", _words) for word in words}
    for word in sorted(include - set(INCLUDES)):
        values.add_problem("include", f"{shown(word)} is not one of {', '.join(INCLUDES)}")
    limit = values.last("limit", lambda text: number_of(text, 1, _MOST))
    offset = values.last("offset", lambda text: number_of(text, 0, _LARGEST_OFFSET))
    wait = values.last("wait", wait_of)
    values.refuse(_MESSAGE)
    return RunQuery(frozenset(include), limit or _USUAL, offset or 0, wait)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


async def include(commands: Commands, feeds: Feeds, run: bytes, document: RunDocument, look: RunQuery) -> None:
    """Add the requested lists to a document, and what its steps can read. `more` gets the names of the lists that have
    further items."""
    if "context" in look.include:
        document.context = await commands.runs.context(run)
    document.more = []
    for name in LISTS:
        if name not in look.include:
            continue
        found, goes_on = await _list(name, commands, feeds, run, document, look)
        setattr(document, name, found)
        if goes_on:
            document.more.append(name)


async def _list(
    name: str, commands: Commands, feeds: Feeds, run: bytes, document: RunDocument, look: RunQuery
) -> tuple[list[Any], bool]:
    match name:
        case "actions":
            return _cut(_actions(document), look)
        case "events":
            events = await feeds.wait_entries(commands.caller.tenant, run, look.offset, limit=look.limit)
            after = events.entries[-1].seq if events.entries else None
            rest = None if after is None else await feeds.wait_entries(commands.caller.tenant, run, after, limit=1)
            return [entry_document(entry) for entry in events.entries], bool(rest and rest.entries)
        case "children":
            rows, goes_on = await commands.runs.children(run, limit=look.limit, offset=look.offset)
            return [run_summary(row, commands.now()) for row in rows], goes_on
        case _:
            return await commands.runs.resources(run, limit=look.limit, offset=look.offset)


def _cut(items: list[Any], look: RunQuery) -> tuple[list[Any], bool]:
    end = look.offset + look.limit
    return items[look.offset : end], len(items) > end


def _actions(document: RunDocument) -> list[ActionDocument]:
    found = [
        ActionDocument(step=name, type=step.type, **msgspec.structs.asdict(attempt))
        for name, step in document.steps.items()
        for attempt in step.attempts
    ]
    return sorted(found, key=lambda action: (action.finished_at, action.step))


BASES: Final = ("/api/v1/runs", "/api/v1/executions")
BELOW: Final = "/api/v1/workflows/{workflow:str}/runs"
_NOW: Final = answers(200, One[RunDocument], "The run as it is now.", examples.one(examples.RUN))
CONTROLLED: Final[dict[str, Any]] = {
    "tags": ["runs"],
    "status_code": 200,
    "operation_class": Plain,
    "responses": {**_NOW, **refusals(403, 404, 409)},
}

RunAnswer = Response[Any]
Workflow = FromPath[str | None]


def places(rest: str = "", *, below: bool = True) -> list[str]:
    """Return the paths of a route of runs. With `below`, include the path below a workflow."""
    return [f"{base}{rest}" for base in (*BASES, *((BELOW,) if below else ()))]


@get(
    places(),
    tags=["runs"],
    summary="List runs",
    operation_class=operation(*RUN_PARAMETERS),
    responses={
        **answers(200, SearchPage[RunSummary], "A page of the list.", examples.searched(examples.SUMMARY)),
        **refusals(400, 404),
    },
)
async def list_runs(request: AnyRequest, workflow: Workflow = None) -> Response[SearchPage[RunSummary]]:
    """List runs, newest first. Every filter narrows the list; an unknown filter is refused. Names in camelCase, and
    statuses such as `Succeeded`, are accepted too. A filter without an index looks at 50,000 runs at most:
    `searched_until` then says how far, and the next page, after one that may be empty, goes on from there."""
    bound = commands(request)
    return await show_runs(request, None if workflow is None else await _workflow_id(bound, workflow))


async def show_runs(request: AnyRequest, below: bytes | None) -> Response[SearchPage[RunSummary]]:
    """Answer with a page of runs. `below` is the workflow whose list it is."""
    bound = commands(request)
    page = await read_run_page(bound, request.scope["query_string"], below=below)
    found = await bound.lists.find(
        limit=page.limit, where=page.where, cursor=page.cursor, oldest_first=page.oldest_first
    )
    shown = [named(request, one) for one in await bound.lists.summaries(found.rows, progress=page.progress)]
    until = None if found.searched_until is None else as_datetime(found.searched_until)
    return Response(SearchPage(shown, None if found.next is None else page.scope.cursor(found.next), until))


@get(
    places("/{run:str}"),
    tags=["runs"],
    summary="Get a run",
    operation_class=operation(*LOOK_PARAMETERS),
    responses={**_NOW, **refusals(400, 404)},
)
async def get_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Return a run with the state, attempts and result of each step. With `wait` the answer is delayed until the run
    has ended or the time is over."""
    bound, look = commands(request), read_run_query(request.scope["query_string"])
    row = await run_row(bound, run, workflow)
    if look.wait and row.status not in TERMINAL:
        await feeds(request).ended(row.tenant, row.id, look.wait)
        row = await bound.runs.row(run)
    document = await bound.runs.document(row)
    if look.include:
        await include(bound, feeds(request), row.id, document, look)
    return run_answer(request, document)


@post(places("/{run:str}/cancel"), summary="Cancel a run", **CONTROLLED)
async def cancel_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Cancel a run and return it. `cancel_requested` is true if its node has not applied it within two seconds."""
    row = await run_row(commands(request), run, workflow)
    return run_answer(request, await commands(request).control.cancel(row))


@post(places("/{run:str}/pause"), summary="Pause a run", **CONTROLLED)
async def pause_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Pause a run: attempts in flight finish, and no new attempt starts. `pause_requested` is true if its node has not
    applied it yet."""
    row = await run_row(commands(request), run, workflow)
    return run_answer(request, await commands(request).control.pause(row))


@post(places("/{run:str}/resume"), summary="Resume a run", **CONTROLLED)
async def resume_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> RunAnswer:
    """Resume a paused run. `resume_requested` is true if its node has not applied it yet."""
    row = await run_row(commands(request), run, workflow)
    return run_answer(request, await commands(request).control.resume(row))


@get(
    places("/{run:str}/why", below=False),
    tags=["runs"],
    summary="Explain why a run does not go on",
    operation_class=Plain,
    responses={**answers(200, One[WhyDocument], "What blocks the run.", examples.one(examples.WHY)), **refusals(404)},
)
async def explain_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Explain why a run does not go on. The first reason is what blocks it: a callback, a sleep, a retry that is not
    due, a missing node. The steps that wait for it follow. For a run that has ended, explain how it ended."""
    row, status, reasons = await commands(request).runs.why(run)
    return run_answer(request, _why(row, status, reasons))


_EVALUATE: Final = takes(
    record_schema({"expression": TEXT, "template": ANYTHING, "step": TEXT}),
    {"expression": "tasks.charge.body.items.filter(i => i.qty > 0)", "step": "receipt"},
    required=True,
)


@post(
    places("/{run:str}/evaluate", below=False),
    tags=["runs"],
    summary="Try an expression on the data of a run",
    operation_class=operation(body=_EVALUATE),
    status_code=200,
    responses={
        **answers(200, One[EvaluationDocument], "Its value or its error.", examples.one(examples.EVALUATION)),
        **refusals(400, 404, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def evaluate_run(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Evaluate an `expression` (as a condition) or a `template` (any JSON with `{{ }}`) on the data of a run. Nothing
    is changed. With `step` it reads what that step could read before it ended, and `now()` is when it became ready;
    otherwise it reads the whole run. A problem of the expression is part of the answer, with its position."""
    message = "the expression cannot be evaluated"
    fields = await read_fields(request, "expression", "template", "step", message=message)
    is_template = "template" in fields.values
    if is_template is ("expression" in fields.values):
        fields.problems.add("expression", "write either an expression or a template")
    source = fields.values.get("template") if is_template else fields.text("expression", most=SOURCE_LIMIT, lines=True)
    step = fields.text("step", most=_LONGEST_STEP)
    if not is_template and source is None and not fields.problems.found:
        fields.problems.add("expression", "must be text")
    refuse_if_any(fields.problems, message)
    document = await commands(request).runs.evaluate(run, source, is_template=is_template, step=step)
    return run_answer(request, document)


@get(
    places("/{run:str}/hierarchy", below=False),
    tags=["runs"],
    summary="Get the parents and children of a run",
    operation_class=operation(query("limit", INTEGER, "How many runs at most, 1 to 1000; 1000 by default.", 100)),
    responses={
        **answers(200, One[HierarchyDocument], "The tree.", examples.one(examples.HIERARCHY)),
        **refusals(400, 404),
    },
)
async def get_run_hierarchy(request: AnyRequest, run: FromPath[str]) -> RunAnswer:
    """Return the tree of parents and children of a run. Its root is the run that was started first. The pages of a map
    are left out: the runs that they started are in `maps` of the run that has the map."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("limit"))
    limit = values.last("limit", lambda text: number_of(text, 1, _MOST_MEMBERS))
    values.refuse("the tree cannot be shown")
    return run_answer(request, await commands(request).hierarchy.read(run, limit=limit or _MOST_MEMBERS))


_PLACE: Final = msgspec.json.Decoder(tuple[str, str, str])
#: The largest offset that a cursor of the resources of a run can have.
_MOST_LINKED: Final = 10**9


@get(
    "/api/v1/resources",
    tags=["runs"],
    summary="Find the runs that have resources of other systems",
    operation_class=operation(
        query("system", TEXT, "Only resources of this system.", "monday"),
        query("type", TEXT, "Only resources of this type; needs `system`.", "item"),
        query("id", TEXT, "The one with this id; needs `system` and `type`.", "17"),
        query("run", TEXT, "Those of this run, in the order of their links; not together with the others.", None),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[ResourceDocument], "A page of the list.", examples.many(view_examples.RESOURCE)),
        **refusals(400),
    },
)
async def list_resources(request: AnyRequest) -> Many[ResourceDocument]:
    """List the resources of other systems that steps have linked, by system, type and id. Each belongs to one run."""
    known = aliases("system", "type", "id", "run", "limit", "cursor")
    values = QueryValues.of_query(request.scope["query_string"], known)
    run = values.one("run", lambda text: parse(RUN, text))
    system, type_, id_ = (values.one(name, word_of) for name in ("system", "type", "id"))
    if (type_ is not None and system is None) or (id_ is not None and type_ is None):
        name, needed = ("id", "system and type") if id_ is not None else ("type", "system")
        values.add_problem(name, f"can only be used together with {needed}")
    if run is not None and system is not None:
        values.add_problem("run", "cannot be used together with system")
    scope = CursorScope("resources", tenant_of(request), system, type_, id_, run)
    if run is not None:
        limit, offset = (
            values.limit(),
            values.cursor(lambda text: number_of(scope.place(text).decode(), 0, _MOST_LINKED)),
        )
        values.refuse("the list cannot be read")
        begin = offset or 0
        own, goes_on = await commands(request).runs.resources(run, limit=limit, offset=begin)
        return Many(own, scope.cursor(str(begin + limit).encode()) if goes_on else None)
    limit, after = values.limit(), values.cursor(lambda text: _PLACE.decode(scope.place(text)))
    values.refuse("the list cannot be read")
    found = await commands(request).runs.find_resources(
        limit=limit + 1, system=system, type_=type_, id_=id_, after=after
    )
    last = found[limit - 1] if len(found) > limit else None
    more = None if last is None else scope.cursor(msgspec.json.encode((last.system, last.type, last.id)))
    return Many(found[:limit], more)


Shown = TypeVar("Shown", bound=RunSummary | HierarchyDocument | WhyDocument | EvaluationDocument)


def run_answer(request: AnyRequest, document: Shown) -> Response[Any]:
    """Answer with a document of a run."""
    return Response(One(named(request, document)))


def named(request: AnyRequest, document: Shown) -> Shown:
    """Add `execution_id` to a document that was requested below `/executions`."""
    if is_execution(request):
        document.execution_id = document.id if isinstance(document, RunSummary) else document.run_id
    return document


async def run_row(bound: Commands, run: str, workflow: str | None) -> RunRow:
    """Return the row of a run. Raise NotFound if `workflow` names another workflow than that of the run."""
    row = await bound.runs.row(run)
    if workflow is not None and await _workflow_id(bound, workflow) != row.workflow:
        raise NotFound(f"workflow {workflow[:200]!r} has no run {show(RUN, row.id)!r}")
    return row


async def _workflow_id(bound: Commands, key: str) -> bytes:
    """Return the id of a workflow. A deleted workflow is found as long as it has runs."""
    try:
        return (await bound.workflows.get(key)).id
    except NotFound:
        id_ = await bound.workflows.id_of(key)
        if not await bound.runs.find(limit=1, where=RunCriteria(workflow=id_)):
            raise
        return id_


@get(
    places("/{run:str}/verify", below=False),
    tags=["runs"],
    summary="Check the seal of a run",
    operation_class=Plain,
    responses={**answers(200, One[VerifyDocument], "Whether the run was changed after its end."), **refusals(404, 409)},
)
async def verify_run(request: AnyRequest, run: FromPath[str]) -> Response[One[VerifyDocument]]:
    """Say whether a run that has ended is as it was when it was sealed. Runs are sealed with `DETENT_SEAL_RUNS`."""
    found = await commands(request).audit.verify(run)
    state, reason, first, last = found.check
    document = VerifyDocument(
        run_id=show(RUN, found.run), status=str(state), entries=found.entries, reason=reason, first=first, last=last
    )
    return Response(One(document))


def _why(row: RunRow, status: str, reasons: Sequence[RunReason]) -> WhyDocument:
    return WhyDocument(
        run_id=show(RUN, row.id),
        status=status,
        summary=reasons[0].message if reasons else f"The run is {status}.",
        reasons=reason_documents(reasons),
    )


ROUTES = [
    list_runs,
    get_run,
    cancel_run,
    pause_run,
    resume_run,
    explain_run,
    verify_run,
    evaluate_run,
    get_run_hierarchy,
    list_resources,
]
