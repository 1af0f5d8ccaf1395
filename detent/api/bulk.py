"""One wish for many runs, chosen by a filter. Without being told otherwise it only counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from litestar import Response, post
from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType

from detent.api import examples
from detent.api.bodies import AnyRequest, commands
from detent.api.filters import read_filter
from detent.api.operations import BOOLEAN, INTEGER, TEXT, answers, operation, record, refusals, takes
from detent.api.runs import BASES, BY
from detent.api.spelling import object_body, our_names, refuse_if_any, spellings
from detent.api.wire import BulkDocument, One, bulk_document
from detent.authoring.fields import Fields, Problems
from detent.engine.commands import Commands
from detent.engine.commands.bulk import MOST, Wish
from detent.store.rows import RunFilter

USUAL: Final = 1_000
_MESSAGE: Final = "the request is not right"
_NAMES: Final = spellings("action", "filter", "all", "dry_run", "limit")
_WORDS: Final = Schema(one_of=[TEXT, Schema(type=OpenAPIType.ARRAY, items=TEXT)])
_FILTER: Final = record(
    {
        **dict.fromkeys(("status", "label"), _WORDS),
        **dict.fromkeys(("workflow", "trigger", "hero", "request_id", "origin"), TEXT),
        **dict.fromkeys(("started_after", "started_before"), TEXT),
    }
)
_BODY: Final = takes(
    record(
        {
            "action": Schema(type=OpenAPIType.STRING, enum=[str(wish) for wish in Wish]),
            "filter": _FILTER,
            "all": BOOLEAN,
            "dry_run": BOOLEAN,
            "limit": INTEGER,
        },
        required=["action", "filter"],
    ),
    {"action": "retry", "filter": {"status": ["failed"], "workflow": "order-processing"}, "dry_run": False},
    required=True,
)


@dataclass(frozen=True, slots=True)
class BulkCall:
    """What is wished, for which runs."""

    wish: Wish
    where: RunFilter
    limit: int
    dry_run: bool


async def read_bulk(doors: Commands, body: bytes) -> BulkCall:
    """The wish in a body, or everything that is wrong with it. A filter must be there, and one that is empty must be
    meant: `all`."""
    problems = Problems()
    fields = Fields(our_names(object_body(body, _MESSAGE), _NAMES, problems), "", problems)
    if fields.get("action") is None:
        problems.add("action", f"is missing; write one of {', '.join(Wish)}")
    wish = fields.choice("action", Wish, Wish.CANCEL)
    where = await read_filter(doors, _filter(fields), problems)
    limit = fields.integer("limit", least=1, most=MOST)
    dry_run = fields.boolean("dry_run", default=True)
    refuse_if_any(problems, _MESSAGE)
    return BulkCall(wish, where, USUAL if limit is None else limit, dry_run)


def _filter(fields: Fields) -> dict[str, Any]:
    everything = fields.boolean("all", default=False)
    found = fields.mapping("filter")
    if fields.get("filter") is None:
        fields.problems.add("filter", 'is missing; write for example {"status": ["failed"]}')
    elif found == {} and not everything:
        fields.problems.add("filter", 'is empty and would mean every run; write "all": true beside it if you mean that')
    elif found and everything:
        fields.problems.add("all", "is only for an empty filter")
    return found or {}


@post(
    [f"{base}/bulk" for base in BASES],
    tags=["runs"],
    summary="Cancel, pause, resume, retry or rerun many runs",
    status_code=200,
    operation_class=operation(body=_BODY),
    responses={
        **answers(200, One[BulkDocument], "What came of it.", examples.one(examples.BULK)),
        **refusals(400, 403, 413),
    },
)
async def change_many_runs(request: AnyRequest) -> Response[One[BulkDocument]]:
    """For the oldest `limit` runs that match `filter`, which has the fields of the list of runs. Unless `dry_run` is
    false nothing is done, and the answer says how many match. Where the filter names no status, those are meant that
    it can be done to. A run is retried or rerun this way once only."""
    doors = commands(request)
    call = await read_bulk(doors, await request.body())
    result = await doors.bulk(call.wish, call.where, by=BY, limit=call.limit, dry_run=call.dry_run)
    return Response(One(bulk_document(result, dry_run=call.dry_run)))


ROUTES = [change_many_runs]
