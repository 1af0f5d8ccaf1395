"""The route that rehearses a draft over runs in flight and finished runs."""

from __future__ import annotations

from typing import Final

from litestar import Response, post
from litestar.params import FromPath

from detent.api.openapi import examples
from detent.api.openapi.operations import DEFINITION, INTEGER, answers, operation, query, refusals
from detent.api.request import AnyRequest, QueryValues, aliases, commands, filename_of, number_of
from detent.api.routes.moves import group_document
from detent.api.routes.workflows import BASE
from detent.commands.rehearsal import MOST_DAYS, RehearsalGroup, RehearsalResult
from detent.documents.answers import One
from detent.documents.rehearsal import (
    DetourDocument,
    FailureDocument,
    ParameterDiffDocument,
    RehearsalDocument,
    RehearsalGroupDocument,
)
from detent.ids import RUN, show
from detent.values.limits import DEFINITION_LIMIT

_EXAMPLES: Final = 5
_USUAL_DAYS: Final = 7
_LARGEST: Final = 2_000_000_000


@post(
    BASE + "/{workflow:str}/rehearse",
    tags=["workflows"],
    summary="Rehearse a draft",
    status_code=200,
    operation_class=operation(
        query("days", INTEGER, "Finished runs of so many days, by default 7.", 7),
        query("version", INTEGER, "Rehearse this version instead of a draft.", 3),
        body=DEFINITION,
    ),
    responses={
        **answers(200, One[RehearsalDocument], "What would happen.", examples.one(examples.REHEARSAL)),
        **refusals(400, 403, 404, 409, 413),
    },
    request_max_body_size=DEFINITION_LIMIT,
)
async def rehearse_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[One[RehearsalDocument]]:
    """Run a definition over the runs in flight and the finished runs of the last days, with their recorded answers.
    Without a body the stored draft is taken, or the `version`. The answer says which runs take the same path, and which
    take another and where. It says which would fail and why, and which rendered parameters would differ. It also says
    which runs in flight could be moved, and why others cannot. No effect is made and nothing is written."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("days", "version"))
    days = values.last("days", lambda text: number_of(text, 0, MOST_DAYS))
    version = values.last("version", lambda text: number_of(text, 1, _LARGEST))
    values.refuse("the request is invalid")
    body = await request.body()
    chosen = _USUAL_DAYS if days is None else days
    found = await commands(request).rehearsals.rehearse(
        workflow, definition=body or None, filename=filename_of(request), version=version, days=chosen
    )
    return Response(One(_document(found, chosen)))


def _document(found: RehearsalResult, days: int) -> RehearsalDocument:
    counts = {"same": 0, "other": 0, "failing": 0}
    for group in found.groups:
        word = "failing" if group.found.failures else "same" if group.is_same() else "other"
        counts[word] += len(group.runs)
    moves = found.moves
    return RehearsalDocument(
        workflow=found.workflow.name,
        version=found.version,
        days=days,
        in_flight=found.in_flight,
        finished=found.finished,
        groups=[_group(group) for group in found.groups],
        matched=0 if moves is None else moves.matched,
        movable=0 if moves is None else moves.movable(),
        moves=[] if moves is None else [group_document(group) for group in moves.groups],
        **counts,
    )


def _group(group: RehearsalGroup) -> RehearsalGroupDocument:
    found = group.found
    return RehearsalGroupDocument(
        runs=len(group.runs),
        in_flight=group.is_open,
        same=group.is_same(),
        detours=[DetourDocument(*detour) for detour in found.detours],
        failures=[FailureDocument(*failure) for failure in found.failures],
        new_steps=list(found.new_steps),
        differences=[ParameterDiffDocument(*diff) for diff in found.diffs],
        examples=[show(RUN, run) for run in group.runs[:_EXAMPLES]],
    )


ROUTES = [rehearse_workflow]
