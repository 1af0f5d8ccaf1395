"""Routes over all runs: the inbox of waits and its answers, received requests, nodes, queues, storage, grids, and who
asks."""

from __future__ import annotations

import struct
from typing import Any, Final

from litestar import Response, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.context import prefix_of
from detent.api.errors import refuse_callback
from detent.api.filters import LIST_MESSAGE
from detent.api.openapi import examples, view_examples
from detent.api.openapi.operations import (
    INTEGER,
    PAGE_PARAMETERS,
    TEXT,
    Plain,
    TakesAnything,
    answers,
    operation,
    query,
    refusals,
)
from detent.api.request import (
    MOST_ROWS,
    AnyRequest,
    CursorScope,
    QueryValues,
    aliases,
    commands,
    number_of,
    pair_of,
    tenant_of,
    word_of,
)
from detent.api.routes.callbacks import STATUS, TAKEN
from detent.api.routes.identity.logins import own_session
from detent.api.routes.runs import places
from detent.api.routes.topics import FIRING_TYPES, MOST_TOPICS, firing_status, firing_type
from detent.api.routes.workflows import BASE
from detent.auth.scopes import role_of
from detent.documents.answers import Many, One
from detent.documents.outline import GridDocument
from detent.documents.overview import (
    CallerDocument,
    LimitsDocument,
    MeDocument,
    NodeDocument,
    QueueDocument,
    ReceivedDocument,
    ReceivedPage,
    StorageDocument,
    WaitItem,
)
from detent.documents.runs import CallbackReceipt, PrincipalDocument
from detent.errors import InvalidInput, NotFound
from detent.ids import WORKFLOW, made_at, show
from detent.instant import as_datetime
from detent.store.overview_rows import ReceivedRow, WaitPlace
from detent.triggers.view import firing_fields
from detent.values.http_body import read_headers, read_message_id, read_payload, read_query
from detent.values.limits import DEFINITION_LIMIT, INPUT_LIMIT
from detent.version import VERSION

_SYSTEM: Final = ["system"]
_ID_BYTES: Final = 16
_NO_DEADLINE: Final = -(2**63)
_PLACE: Final = struct.Struct(">q16s")
_MOST_RUNS: Final = 100
_RUNS: Final = 50
#: What this server has beside the core, for pages that show only what exists.
FEATURES: Final = (
    "catalog",
    "dead_letters",
    "graph",
    "inbox",
    "resources",
    "rules",
    "stream",
    "templates",
    "time_travel",
)


@get(
    "/api/v1/waits",
    tags=["runs"],
    summary="List active waits",
    operation_class=operation(
        query("workflow", TEXT, "Only waits of this workflow, by id or name.", "order-processing"),
        query("hero", TEXT, "Only waits of runs about this, `type:id`.", "order:123"),
        query("for", Schema(type=OpenAPIType.STRING, enum=["me"]), "Only waits that the caller may decide.", "me"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[WaitItem], "A page of the list.", examples.many(view_examples.WAIT)),
        **refusals(400),
    },
)
async def list_waits(request: AnyRequest) -> Many[WaitItem]:
    """List the waits that are active in all runs, the nearest deadline first; those without one come last."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("workflow", "hero", "for", "limit", "cursor"))
    key, hero = values.one("workflow", word_of), values.one("hero", pair_of)
    workflow = await _workflow(request, key, values)
    own = values.one("for", _me) is not None
    scope = CursorScope("waits", tenant_of(request), key, hero, *(("me",) if own else ()))
    limit, after = values.limit(), values.cursor(lambda text: _wait_place(scope.place(text)))
    values.refuse(LIST_MESSAGE)
    page = await commands(request).inbox.find(limit=limit, after=after, workflow=workflow, hero=hero, own=own)
    return Many(page.items, None if page.last is None else scope.cursor(_packed(page.last)))


def _me(text: str) -> str:
    if text != "me":
        raise InvalidInput('must be "me"')
    return text


async def _workflow(request: AnyRequest, key: str | None, values: QueryValues) -> bytes | None:
    if key is None:
        return None
    try:
        return await commands(request).workflows.id_of(key)
    except NotFound as error:
        values.add_problem("workflow", error.message)
        return None


def _packed(place: WaitPlace) -> bytes:
    until, run, step = place
    return _PLACE.pack(_NO_DEADLINE if until is None else until, run) + step.encode()


def _wait_place(packed: bytes) -> WaitPlace:
    until, run = _PLACE.unpack(packed[: _PLACE.size])
    return None if until == _NO_DEADLINE else until, run, packed[_PLACE.size :].decode()


@post(
    places("/{run:str}/steps/{step:str}/answer", below=False),
    tags=["runs"],
    summary="Answer a wait step of a run",
    status_code=200,
    operation_class=TakesAnything,
    responses={
        **answers(200, One[CallbackReceipt], "The step has received its answer."),
        **answers(202, One[CallbackReceipt], "Stored until the step is active, or one decision of several."),
        **refusals(400, 403, 404, 409, 410, 413),
    },
    request_max_body_size=INPUT_LIMIT,
)
async def answer_run_step(request: AnyRequest, run: FromPath[str], step: FromPath[str]) -> Response[Any]:
    """Answer a wait step by its run and its name instead of by its token. Everything else is as with `/wh/{token}`: the
    body becomes the step's `body`, the answer is durable and counts once."""
    headers = read_headers(request.scope["headers"])
    payload = read_payload(headers, await request.body())
    receipt, _, name = await commands(request).callbacks.answer(
        run,
        step,
        body=payload.body,
        encoding=payload.encoding,
        headers=headers,
        query=read_query(request.scope["query_string"]),
        message_id=read_message_id(headers),
    )
    if receipt not in TAKEN:
        return refuse_callback(receipt, step)
    return Response(One(CallbackReceipt(TAKEN[receipt], name)), status_code=STATUS[receipt])


@get(
    "/api/v1/firings",
    tags=["triggers"],
    summary="List the firings of all triggers",
    operation_class=operation(
        query(
            "type", Schema(type=OpenAPIType.STRING, enum=list(FIRING_TYPES)), "Only firings of this type.", "webhook"
        ),
        query("status", TEXT, "Only firings with this status, such as `started` or `refused`.", "refused"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, ReceivedPage, "A page of the list.", view_examples.RECEIVED_PAGE),
        **refusals(400),
    },
)
async def list_all_firings(request: AnyRequest) -> ReceivedPage:
    """List what all triggers received, newest first, including refused and ignored requests. With a filter, an answer
    looks at a bounded number of firings: `searched_until` says how far back, and the cursor goes on."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("type", "status", "limit", "cursor"))
    kind, state = values.one("type", firing_type), values.one("status", firing_status)
    scope = CursorScope("received", tenant_of(request), kind, state)
    limit, before = values.limit(), values.cursor(lambda text: scope.place(text, _ID_BYTES))
    values.refuse(LIST_MESSAGE)
    found = await commands(request).inbox.received(limit=limit, before=before, kind=kind, state=state)
    is_short = len(found.rows) < limit and found.end is not None
    return ReceivedPage(
        data=[_received(row) for row in found.rows],
        next_cursor=None if found.end is None else scope.cursor(found.end),
        searched_until=as_datetime(made_at(found.end)) if is_short and found.end is not None else None,
    )


def _received(row: ReceivedRow) -> ReceivedDocument:
    workflow = show(WORKFLOW, row.firing.workflow)
    return ReceivedDocument(
        **firing_fields(row.firing), workflow_id=workflow, workflow=row.workflow_name, trigger_name=row.trigger_name
    )


@get(
    "/api/v1/nodes",
    tags=_SYSTEM,
    summary="List nodes",
    operation_class=Plain,
    responses={**answers(200, One[list[NodeDocument]], "The nodes.", {"data": [view_examples.NODE]}), **refusals()},
)
async def list_nodes(request: AnyRequest) -> Response[One[list[NodeDocument]]]:
    """List the registered nodes: what they serve, how many runs they own, and whether their lease is valid."""
    return Response(One(await commands(request).system.nodes()))


@get(
    "/api/v1/queues",
    tags=_SYSTEM,
    summary="List queues",
    operation_class=Plain,
    responses={**answers(200, One[list[QueueDocument]], "The queues.", {"data": [view_examples.QUEUE]}), **refusals()},
)
async def list_queues(request: AnyRequest) -> Response[One[list[QueueDocument]]]:
    """List the queues that have open runs or that a node serves, with the number of runs that wait for a node."""
    return Response(One(await commands(request).system.queues()))


@get(
    "/api/v1/storage",
    tags=_SYSTEM,
    summary="Get what the database stores",
    operation_class=Plain,
    responses={**answers(200, One[StorageDocument], "Bytes.", examples.one(view_examples.STORAGE)), **refusals()},
)
async def get_storage(request: AnyRequest) -> Response[One[StorageDocument]]:
    """Return the size of the database, and what the runs of each workflow take. It is measured at most once an hour."""
    return Response(One(await commands(request).system.storage()))


@get(
    BASE + "/{workflow:str}/grid",
    tags=["workflows"],
    summary="Get the grid of a workflow",
    operation_class=operation(query("runs", INTEGER, f"How many runs, 1 to {_MOST_RUNS}.", _RUNS)),
    responses={
        **answers(200, One[GridDocument], "The grid.", examples.one(view_examples.GRID)),
        **refusals(400, 404),
    },
)
async def get_workflow_grid(request: AnyRequest, workflow: FromPath[str]) -> Response[One[GridDocument]]:
    """Return how each step ended in the latest runs, newest first; at most 10,000 cells."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("runs"))
    runs = values.one("runs", lambda text: number_of(text, 1, _MOST_RUNS)) or _RUNS
    values.refuse("the grid cannot be shown")
    return Response(One(await commands(request).system.grid(workflow, runs=runs)))


@get(
    "/api/v1/me",
    tags=_SYSTEM,
    summary="Get who asks, and what this server is",
    operation_class=Plain,
    responses={**answers(200, One[MeDocument], "The caller.", examples.one(view_examples.ME)), **refusals()},
)
async def get_me(request: AnyRequest) -> Response[One[MeDocument]]:
    """Return the caller with its role or scopes, the time and version of the server, its limits and its features."""
    bound = commands(request)
    caller, principal = bound.caller, bound.caller.principal
    session = await own_session(request)
    ends = [end for end in (caller.expires_at, None if session is None else session.expires_at) if end is not None]
    return Response(
        One(
            MeDocument(
                caller=CallerDocument(
                    name=caller.name,
                    tenant=await bound.system.tenant_name(),
                    display_name=None if principal is None else principal.display_name,
                    email=None if principal is None else principal.email,
                ),
                role=caller.role or role_of(caller.scopes),
                scopes=sorted(caller.scopes),
                workflows=None if caller.workflows is None else sorted(caller.workflows),
                via=caller.via,
                principal=None
                if principal is None
                else PrincipalDocument(principal.user_id, principal.display_name, principal.email),
                expires_at=None if not ends else as_datetime(min(ends)),
                authenticated=caller.via != "loose",
                server_time=as_datetime(bound.now()),
                version=VERSION,
                base_path=f"{prefix_of(request.scope)}/",
                limits=LimitsDocument(
                    input_bytes=INPUT_LIMIT,
                    definition_bytes=DEFINITION_LIMIT,
                    list_limit=MOST_ROWS,
                    topics=MOST_TOPICS,
                ),
                features=list(FEATURES),
            )
        )
    )


ROUTES: Final[list[Any]] = [
    list_waits,
    answer_run_step,
    list_all_firings,
    list_nodes,
    list_queues,
    get_storage,
    get_workflow_grid,
    get_me,
]
