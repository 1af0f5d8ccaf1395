"""The route that rehearses a draft over runs in flight and finished runs."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, post
from litestar.params import FromPath

from detent.api.openapi import examples
from detent.api.openapi.operations import DEFINITION, INTEGER, answers, operation, query, refusals
from detent.api.rehearsal import rehearsal_document
from detent.api.request import AnyRequest, QueryValues, aliases, commands, filename_of, number_of
from detent.api.routes.streams import Report, answer_with_progress
from detent.api.routes.workflows import BASE
from detent.commands.rehearsal import MOST_DAYS, USUAL_DAYS, Progress, RehearsalRequest
from detent.documents.answers import One
from detent.documents.rehearsal import RehearsalDocument, RehearsalProgressDocument
from detent.values.limits import DEFINITION_LIMIT

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
async def rehearse_workflow(request: AnyRequest, workflow: FromPath[str]) -> Response[Any]:
    """Run a definition over the runs in flight and the finished runs of the last days, with their recorded answers.
    Without a body the stored draft is taken, or the `version`. The answer says which runs take the same path, and which
    take another and where. It says which would fail and why, and which rendered parameters would differ. It also says
    which runs in flight could be moved, and why others cannot. No effect is made and nothing is written.

    With `Accept: text/event-stream` the answer is a stream of Server-Sent Events: `progress` with `stage`, `done` and
    `total`, then a `result` with the same document, or an `error` with its `status`."""
    values = QueryValues.of_query(request.scope["query_string"], aliases("days", "version"))
    days = values.last("days", days_of)
    version = values.last("version", lambda text: number_of(text, 1, _LARGEST))
    values.refuse("the request is invalid")
    body = await request.body()
    bound, filename = commands(request).rehearsals, filename_of(request)

    async def work(report: Report | None) -> RehearsalDocument:
        asked = RehearsalRequest(USUAL_DAYS if days is None else days, progress=progress_of(report))
        found = await bound.rehearse(workflow, asked, definition=body or None, filename=filename, version=version)
        return rehearsal_document(found)

    return await answer_with_progress(request, work)


def days_of(text: str) -> int:
    """Read for how many days finished runs are rehearsed."""
    return number_of(text, 0, MOST_DAYS)


def progress_of(report: Report | None) -> Progress | None:
    """Return what hears the progress of a rehearsal and reports it as a document."""
    return None if report is None else lambda progress: report(RehearsalProgressDocument(*progress))


ROUTES = [rehearse_workflow]
