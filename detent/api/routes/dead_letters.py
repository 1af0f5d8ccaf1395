"""Routes of dead letters: list, read, requeue and purge, one by one or by a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from litestar import Response, delete, get, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.filters import LIST_MESSAGE
from detent.api.openapi import examples, view_examples
from detent.api.openapi.operations import (
    BOOLEAN,
    INTEGER,
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
    commands,
    instant_of,
    normalize_names,
    object_body,
    refuse_if_any,
    tenant_of,
    triggers,
    word_of,
)
from detent.documents.answers import Many, One
from detent.documents.letters import BulkLettersDocument, LetterDocument, RefusedLetter
from detent.errors import NotFound
from detent.ids import FIRING, LETTER, RUN, TRIGGER, WORKFLOW, parse, show
from detent.instant import as_datetime
from detent.store.letters import NO_WORKFLOW, LetterCriteria, LetterKind, LetterRow, LetterState
from detent.triggers.dead_letters import MOST, BulkLetters, LetterAction
from detent.values.fields import Fields, Problems, shown

BASE: Final = "/api/v1/dead-letters"
_TAGS: Final = ["dead letters"]
_ID_BYTES: Final = 16
_MESSAGE: Final = "the dead letters cannot be changed"
_USUAL: Final = 1_000
_FILTER: Final = aliases("kind", "reason", "state", "workflow", "run", "before")
_PAGE: Final = {**_FILTER, **aliases("limit", "cursor")}
_BULK: Final = aliases("action", "filter", "all", "dry_run", "limit")
_KINDS: Final = Schema(type=OpenAPIType.STRING, enum=list(map(str, LetterKind)))
_STATES: Final = Schema(type=OpenAPIType.STRING, enum=list(map(str, LetterState)))
_NOW: Final = answers(200, One[LetterDocument], "The dead letter.", examples.one(view_examples.LETTER))


@get(
    BASE,
    tags=_TAGS,
    summary="List dead letters",
    operation_class=operation(
        query("kind", _KINDS, "Only those about this.", "step"),
        query("reason", TEXT, "Only those with this reason.", "poison"),
        query("state", _STATES, "Only open ones, or only those that were requeued.", "open"),
        query("workflow", TEXT, "Only those of this workflow, by id or name.", "order-processing"),
        query("run", TEXT, "Only those of this run.", view_examples.LETTER["run_id"]),
        query("before", TEXT, "Only those that were written before this instant.", "2026-02-23T00:00:00Z"),
        *PAGE_PARAMETERS,
    ),
    responses={
        **answers(200, Many[LetterDocument], "A page of the list.", examples.many(view_examples.LETTER)),
        **refusals(400),
    },
)
async def list_dead_letters(request: AnyRequest) -> Many[LetterDocument]:
    """List what Detent gave up, newest first: steps that killed their nodes, runs that it cannot read or plan, and
    firings and events that cannot start a run."""
    values = QueryValues.of_query(request.scope["query_string"], _PAGE)
    where = await _criteria(request, values)
    scope = CursorScope("dead letters", tenant_of(request), *sorted(where.given().items()))
    limit, cursor = values.limit(), values.cursor(lambda text: scope.place(text, _ID_BYTES))
    values.refuse(LIST_MESSAGE)
    rows = await triggers(request).letters.find(limit=limit + 1, where=where, cursor=cursor)
    more = scope.cursor(rows[limit - 1].id) if len(rows) > limit else None
    return Many([_document(row) for row in rows[:limit]], more)


@get(
    BASE + "/{letter:str}",
    tags=_TAGS,
    summary="Get a dead letter",
    operation_class=Plain,
    responses={**_NOW, **refusals(404)},
)
async def get_dead_letter(request: AnyRequest, letter: FromPath[str]) -> Response[One[LetterDocument]]:
    """Return a dead letter with its payload."""
    return Response(One(_document(await triggers(request).letters.get(letter), whole=True)))


@post(
    BASE + "/{letter:str}/requeue",
    tags=_TAGS,
    summary="Requeue a dead letter",
    status_code=200,
    operation_class=Plain,
    responses={**_NOW, **refusals(403, 404, 409)},
)
async def requeue_dead_letter(request: AnyRequest, letter: FromPath[str]) -> Response[One[LetterDocument]]:
    """Try again what was given up, once: retry the run of a step, resume a run, or fire again with the request of a
    firing, or start the rule of an entity event. `result` is the run or the firing that comes of it."""
    return Response(One(_document(await triggers(request).letters.requeue(letter))))


@delete(
    BASE + "/{letter:str}",
    tags=_TAGS,
    summary="Purge a dead letter",
    status_code=200,
    operation_class=Plain,
    responses={**_NOW, **refusals(403, 404)},
)
async def purge_dead_letter(request: AnyRequest, letter: FromPath[str]) -> Response[One[LetterDocument]]:
    """Delete a dead letter and return it as it was. Its run or its firing stays as it is."""
    return Response(One(_document(await triggers(request).letters.purge(letter))))


_BODY: Final = takes(
    record_schema(
        {
            "action": Schema(type=OpenAPIType.STRING, enum=list(map(str, LetterAction))),
            "filter": record_schema(
                {**dict.fromkeys(("kind", "reason", "state", "workflow", "run", "before"), TEXT)},
            ),
            "all": BOOLEAN,
            "dry_run": BOOLEAN,
            "limit": INTEGER,
        },
        required=["action", "filter"],
    ),
    {"action": "requeue", "filter": {"kind": "step", "workflow": "order-processing"}, "dry_run": False},
    required=True,
)


@post(
    BASE + "/bulk",
    tags=_TAGS,
    summary="Requeue or purge many dead letters",
    status_code=200,
    operation_class=operation(body=_BODY),
    responses={
        **answers(200, One[BulkLettersDocument], "The result.", examples.one(view_examples.BULK_LETTERS)),
        **refusals(400, 403, 413),
    },
)
async def change_many_dead_letters(request: AnyRequest) -> Response[One[BulkLettersDocument]]:
    """Requeue or purge the oldest `limit` dead letters that match `filter`, which has the fields of the list. Unless
    `dry_run` is false, only count them. An empty filter needs `all`."""
    problems = Problems()
    fields = Fields(normalize_names(object_body(await request.body(), _MESSAGE), _BULK, problems), "", problems)
    if fields.get("action") is None:
        problems.add("action", f"is missing; write one of {', '.join(LetterAction)}")
    action = fields.choice("action", LetterAction, LetterAction.REQUEUE)
    where = await _criteria(request, _filter(fields))
    limit = fields.integer("limit", least=1, most=MOST)
    dry_run = fields.boolean("dry_run", default=True)
    if action is LetterAction.REQUEUE and where.state not in (None, LetterState.OPEN):
        problems.add("filter.state", "must be open: the others were requeued")
    refuse_if_any(problems, _MESSAGE)
    found = await triggers(request).letters.apply(action, where, limit=limit or _USUAL, dry_run=dry_run)
    return Response(One(_bulk(found, dry_run=dry_run)))


def _filter(fields: Fields) -> QueryValues:
    """Return the filter of a request for many dead letters. It is required; an empty one needs `all`."""
    everything, found = fields.boolean("all", default=False), fields.mapping("filter")
    if fields.get("filter") is None:
        fields.problems.add("filter", 'is missing; write for example {"kind": "step"}')
    elif found == {} and not everything:
        fields.problems.add(
            "filter", 'is empty and would mean every dead letter; write "all": true beside it if you mean that'
        )
    elif found and everything:
        fields.problems.add("all", "is only for an empty filter")
    given: Mapping[str, Any] = normalize_names(found or {}, _FILTER, fields.problems, "filter")
    return QueryValues({name: [value] for name, value in given.items()}, fields.problems, "filter.")


async def _criteria(request: AnyRequest, values: QueryValues) -> LetterCriteria:
    key = values.one("workflow", word_of)
    workflow = None
    if key is not None:
        try:
            workflow = await commands(request).workflows.id_of(key)
        except NotFound as error:
            values.add_problem("workflow", error.message)
    return LetterCriteria(
        kind=values.one("kind", lambda text: _word(text, LetterKind)),
        reason=values.one("reason", word_of),
        state=values.one("state", lambda text: _word(text, LetterState)),
        workflow=workflow,
        run=values.one("run", lambda text: parse(RUN, text)),
        before=values.one("before", instant_of),
    )


def _word(text: str, words: type[LetterKind] | type[LetterState]) -> str:
    if text not in list(words):
        raise ValueError(f"must be one of {', '.join(words)}, not {shown(text)}")
    return text


def _document(row: LetterRow, *, whole: bool = False) -> LetterDocument:
    return LetterDocument(
        id=show(LETTER, row.id),
        kind=row.kind,
        state=row.state,
        workflow_id=None if row.workflow == NO_WORKFLOW else show(WORKFLOW, row.workflow),
        workflow=row.workflow_name,
        run_id=None if row.run is None else show(RUN, row.run),
        step=row.step,
        firing_id=None if row.source is None else show(FIRING, row.source),
        trigger_id=None if row.trigger is None else show(TRIGGER, row.trigger),
        reason=row.reason,
        message=row.message,
        attempts=row.attempts,
        last_error=row.last_error,
        written_at=as_datetime(row.at),
        settled_at=None if row.settled_at is None else as_datetime(row.settled_at),
        settled_by=row.settled_by,
        result=row.result,
        payload=msgspec.Raw(row.payload or b"null") if whole else msgspec.UNSET,
    )


def _bulk(found: BulkLetters, *, dry_run: bool) -> BulkLettersDocument:
    refused = [RefusedLetter(show(LETTER, letter), message) for letter, message in found.refused]
    return BulkLettersDocument(str(found.action), found.matched, dry_run, len(found.done), refused, found.more)


ROUTES: Final[list[Any]] = [
    list_dead_letters,
    get_dead_letter,
    requeue_dead_letter,
    purge_dead_letter,
    change_many_dead_letters,
]
