"""Routes that move runs in flight to another version of their workflow."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import FromPath

from detent.api.filters import read_filter
from detent.api.openapi import examples
from detent.api.openapi.operations import BOOLEAN, INTEGER, TEXT, answers, operation, record_schema, refusals, takes
from detent.api.rehearsal import group_document, reason_documents
from detent.api.request import AnyRequest, commands, normalize_names, object_body, read_fields, refuse_if_any
from detent.api.routes.run_control import BULK_NAMES, FILTER, USUAL, bulk_filter
from detent.api.routes.runs import BASES, Workflow, places, run_row
from detent.commands.moves import MOST, MoveCheck, MoveSurvey
from detent.documents.answers import One
from detent.documents.runs import MoveDocument, MovesDocument
from detent.ids import RUN, show
from detent.values.fields import Fields, Problems

_MESSAGE: Final = "the request is invalid"
_LARGEST: Final = 2_000_000_000
_NAMES: Final = Schema(type=OpenAPIType.OBJECT, additional_properties=TEXT)
_MOVE: Final = takes(
    record_schema({"version": INTEGER, "names": _NAMES, "dry_run": BOOLEAN}),
    {"version": 4, "names": {"charge": "pay"}},
)
_MOVES: Final = takes(
    record_schema(
        {
            "version": INTEGER,
            "names": _NAMES,
            "filter": FILTER,
            "dry_run": BOOLEAN,
            "limit": INTEGER,
        },
        required=["filter"],
    ),
    {"version": 4, "filter": {"workflow": "order-processing"}, "dry_run": True},
    required=True,
)


@post(
    places("/{run:str}/move"),
    tags=["runs"],
    summary="Move a run to another version",
    status_code=200,
    operation_class=operation(body=_MOVE),
    responses={
        **answers(200, One[MoveDocument], "The move.", examples.one(examples.MOVE)),
        **refusals(400, 403, 404, 409),
    },
)
async def move_run(request: AnyRequest, run: FromPath[str], workflow: Workflow = None) -> Response[One[MoveDocument]]:
    """Move a run in flight to another version of its workflow, by default the current one. `names` has the new names of
    renamed steps. What has ended stays as it is. Active steps keep their attempts and times. The move is refused, with
    every reason, if the new version could not have led to what the run has done. Attempts in flight end first. With
    `dry_run` nothing is changed."""
    row = await run_row(commands(request), run, workflow)
    fields = await read_fields(request, "version", "names", "dry_run", message=_MESSAGE)
    version, names = _target(fields)
    dry_run = fields.boolean("dry_run", default=False)
    refuse_if_any(fields.problems, _MESSAGE)
    moves = commands(request).moves
    found = await (moves.check if dry_run else moves.move)(row, version, names)
    return Response(One(_move(found, dry_run=dry_run)))


@post(
    [f"{base}/move" for base in BASES],
    tags=["runs"],
    summary="Move many runs to another version",
    status_code=200,
    operation_class=operation(body=_MOVES),
    responses={
        **answers(200, One[MovesDocument], "The runs in groups.", examples.one(examples.MOVES)),
        **refusals(400, 403, 404, 413),
    },
)
async def move_many_runs(request: AnyRequest) -> Response[One[MovesDocument]]:
    """Move the oldest `limit` open runs of a workflow that match `filter`, which must name the workflow. Unless
    `dry_run` is false, only say which runs could be moved and which not, with the reasons, in groups. Each move that is
    sent is checked again by the node of its run. A move that is refused there is an entry `moved` of the run, with the
    status `refused` and the reasons."""
    bound, problems = commands(request), Problems()
    document = object_body(await request.body(), _MESSAGE)
    names_known = {**BULK_NAMES, "version": "version", "names": "names"}
    fields = Fields(normalize_names(document, names_known, problems), "", problems)
    version, names = _target(fields)
    chosen = bulk_filter(fields)
    workflow = chosen.get("workflow")
    if chosen and not isinstance(workflow, str):
        problems.add("filter.workflow", "is missing; runs of one workflow can be moved at a time")
    where = await read_filter(bound, chosen, problems)
    limit = fields.integer("limit", least=1, most=MOST)
    dry_run = fields.boolean("dry_run", default=True)
    refuse_if_any(problems, _MESSAGE)
    target = await bound.moves.target(str(workflow), version, names)
    survey = await bound.moves.survey(where, target, limit=USUAL if limit is None else limit, dry_run=dry_run)
    return Response(One(_moves(survey, dry_run=dry_run)))


def _target(fields: Fields) -> tuple[int | None, dict[str, str]]:
    names: dict[str, Any] = fields.mapping("names") or {}
    for name, mapped in names.items():
        if not isinstance(mapped, str):
            fields.problems.add(f"names.{name[:80]}", "must be the new name of the step")
    return fields.integer("version", least=1, most=_LARGEST), names


def _move(found: MoveCheck, *, dry_run: bool) -> MoveDocument:
    return MoveDocument(
        run_id=show(RUN, found.run),
        was=found.was,
        version=found.version,
        dry_run=dry_run,
        movable=not found.reasons,
        begins=list(found.begins),
        reasons=reason_documents(found.reasons),
        requested=found.requested,
    )


def _moves(survey: MoveSurvey, *, dry_run: bool) -> MovesDocument:
    return MovesDocument(
        version=survey.version,
        dry_run=dry_run,
        matched=survey.matched,
        movable=survey.movable(),
        sent=survey.sent,
        groups=[group_document(group) for group in survey.groups],
        more=survey.more,
    )


ROUTES = [move_run, move_many_runs]
