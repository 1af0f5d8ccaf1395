"""The one stream of a page, as Server-Sent Events: counts, inbox, alerts, lists of runs and firings, journals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from litestar import Response, get

from detent.api.context import context_of
from detent.api.filters import read_run_page
from detent.api.openapi.operations import TEXT, header, operation, query, refusals
from detent.api.request import AnyRequest, QueryValues, aliases, commands, grouped, tenant_of
from detent.api.routes.streams import BEGIN, MEDIA_TYPE, STILL_HERE, EventStream, Frames
from detent.commands import Commands
from detent.documents.lists import CountsDocument
from detent.documents.overview import AlertsDocument, InboxDocument
from detent.errors import InvalidInput
from detent.forms.compiled import TriggerType
from detent.ids import ALERT, RUN, TRIGGER, InvalidId, parse, show
from detent.instant import as_datetime
from detent.store.trigger_rows import FiringState
from detent.values.fields import Problems, shown
from detent.views.feeds import Feeds
from detent.views.live import FiringsTopic, LiveHub, RunsTopic, RunTopic, Topic, ValueTopic, read_cursors
from detent.views.readers import LiveRow

MOST_TOPICS: Final = 64
MOST_IDS: Final = 200
_LARGEST_SEQ: Final = 2**31 - 1
_VALUES: Final = ("counts", "inbox", "alerts")
_MESSAGE: Final = "the stream cannot be opened"
_HINT: Final = "write counts, inbox, alerts, runs:FILTER;ids=RUN,RUN, run:RUN@SEQ or firings:FILTER"
#: The types of firings: those of triggers, and the ones that a person fired.
FIRING_TYPES: Final = (*(str(kind) for kind in TriggerType), "manual")


def firing_type(text: str) -> str:
    """Return the type of firings that a query names. Raise ValueError for any other text."""
    if text not in FIRING_TYPES:
        raise ValueError(f"must be one of {', '.join(FIRING_TYPES)}, not {shown(text)}")
    return text


def firing_status(text: str) -> str:
    """Return the status of firings that a query names. Raise ValueError for any other text."""
    try:
        return str(FiringState(text))
    except ValueError:
        raise ValueError(f"must be one of {', '.join(FiringState)}, not {shown(text)}") from None


class FiringFilter(NamedTuple):
    """The firings that a page watches: of one trigger, of a type, with a status."""

    trigger: bytes | None
    kind: str | None
    state: str | None


def read_firing_filter(query: str) -> FiringFilter:
    """Read the filter of a topic. Raise InvalidInput with all problems."""
    values = QueryValues.of_query(query.encode(), aliases("trigger", "type", "status"))
    found = FiringFilter(
        values.one("trigger", lambda text: parse(TRIGGER, text)),
        values.one("type", firing_type),
        values.one("status", firing_status),
    )
    values.refuse(_MESSAGE)
    return found


class StreamSources:
    """What the stream of this process reads, as one caller."""

    def __init__(self, commands: Commands, feeds: Feeds) -> None:
        self._commands, self._feeds = commands, feeds

    async def counts(self) -> CountsDocument:
        return await self._commands.lists.counts()

    async def inbox(self) -> InboxDocument:
        found = await self._commands.inbox.state()
        return InboxDocument(found.count, None if found.soonest is None else as_datetime(found.soonest))

    async def alerts(self) -> AlertsDocument:
        found = await self._commands.alerts.overview()
        newest = None if found.newest is None else show(ALERT, found.newest)
        return AlertsDocument(found.open, found.acknowledged, newest)

    async def newest(self, query: str, *, limit: int) -> list[bytes]:
        page = await read_run_page(self._commands, query.encode())
        found = await self._commands.lists.find(limit=limit, where=page.where)
        return [row.id for row in found.rows]

    async def firings(self, query: str, *, limit: int) -> list[tuple[bytes, str]]:
        where = read_firing_filter(query)
        found = await self._commands.inbox.newest(
            limit=limit, trigger=where.trigger, kind=where.kind, state=where.state
        )
        return [(mark.id, mark.state) for mark in found]

    async def rows(self, ids: Sequence[bytes]) -> dict[bytes, LiveRow]:
        found: dict[bytes, LiveRow] = {}
        for first in range(0, len(ids), MOST_IDS):
            rows = await self._commands.lists.by_ids(ids[first : first + MOST_IDS])
            documents = await self._commands.lists.summaries(rows)
            for row, document in zip(rows, documents, strict=True):
                facts = row._replace(generation=0, stage_epoch=None)
                found[row.id] = LiveRow(
                    (facts, document.stage and document.stage.kind), row.ended_at is not None, document
                )
        return found

    async def status(self, run: bytes) -> str | None:
        return await self._feeds.status(self._commands.caller.tenant, run)


@get(
    "/api/v1/stream",
    tags=["runs"],
    summary="Follow many things in one stream",
    media_type=MEDIA_TYPE,
    operation_class=operation(
        query(
            "topics",
            TEXT,
            f"Up to {MOST_TOPICS} topics with commas between them, each percent-encoded: `counts`, `inbox`, `alerts`, "
            "`runs:FILTER;ids=RUN,RUN` (a filter as in the query of `/runs`, and the runs on screen), `run:RUN@SEQ`, "
            "`firings:FILTER` (by `trigger`, `type` and `status`).",
            "counts,run%3Arun_01k5c1v6p2f7x8y9z0a1b2c3d4%4012",
        ),
        header("Last-Event-ID", "The `id` of the last event; the stream goes on after it.", "-,12"),
    ),
    responses=refusals(400),
    response_description="Server-Sent Events.",
)
async def stream_topics(request: AnyRequest) -> Response[bytes]:
    """Stream events of several topics: `counts`, `inbox` and `alerts` when they have changed; `runs` with the rows on
    screen that have changed, the number of new runs and the rows that were deleted, at most once a second; `firings`
    with the number of new firings and the ids of known ones that have another status; `entries` with new entries of a
    run's journal. The `id` of an event has the cursors of all topics, so `Last-Event-ID` goes on for each of them. A
    comment is sent every 15 s."""
    topics = await read_topics(commands(request), request.scope["query_string"])
    cursors = read_cursors(request.headers.get("last-event-id", ""), len(topics))
    return EventStream(_frames(context_of(request.scope).live(tenant_of(request)), topics, cursors))


async def _frames(hub: LiveHub, topics: Sequence[Topic], cursors: dict[int, str]) -> Frames:
    yield BEGIN
    events = hub.follow(topics, cursors)
    try:
        async for event in events:
            if event is None:
                yield STILL_HERE
            else:
                yield b"id: %b\nevent: %b\ndata: %b\n\n" % (event.cursors.encode(), event.name.encode(), event.data)
    finally:
        await events.aclose()


async def read_topics(commands: Commands, query: bytes) -> list[Topic]:
    """Read the topics of a stream. Raise InvalidInput with all problems."""
    values = QueryValues(grouped(query), Problems())
    texts = [unquote(part) for text in values.many("topics", str) for part in text.split(",") if part]
    topics: list[Topic] = []
    if not texts:
        values.add_problem("topics", f"is missing; {_HINT}")
    if len(texts) > MOST_TOPICS:
        values.add_problem("topics", f"may have at most {MOST_TOPICS} topics, not {len(texts)}")
    for place, text in enumerate(texts[:MOST_TOPICS]):
        try:
            topics.append(await _topic(commands, text))
        except InvalidInput as error:
            for problem in error.problems or ():
                values.add_problem(f"topics[{place}]", f"{problem.field}: {problem.message}")
        except (InvalidId, ValueError) as error:
            values.add_problem(f"topics[{place}]", str(error))
    values.refuse(_MESSAGE)
    return topics


async def _topic(commands: Commands, text: str) -> Topic:
    kind, _, rest = text.partition(":")
    if kind in _VALUES and not rest:
        return ValueTopic(text, kind)
    if kind == "run":
        run, _, seq = rest.partition("@")
        return RunTopic(text, parse(RUN, run), _seq(seq) if seq else 0)
    if kind == "runs":
        filter_, _, ids = rest.partition(";ids=")
        found = [parse(RUN, one) for one in ids.split(",") if one]
        if len(found) > MOST_IDS:
            raise ValueError(f"may name at most {MOST_IDS} runs, not {len(found)}")
        pairs = sorted(parse_qsl(filter_, keep_blank_values=True))
        spelled = urlencode([pair for pair in pairs if pair[0] not in ("limit", "cursor", "sort", "include")])
        await read_run_page(commands, spelled.encode())
        return RunsTopic(text, spelled, tuple(dict.fromkeys(found)))
    if kind == "firings":
        spelled = urlencode(sorted(parse_qsl(rest, keep_blank_values=True)))
        read_firing_filter(spelled)
        return FiringsTopic(text, spelled)
    raise ValueError(f"{shown(text)} is not a topic; {_HINT}")


def _seq(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _LARGEST_SEQ):
        raise ValueError(f"{shown(text)} is not the number of an entry")
    return int(text)


def build_hub(commands: Commands, feeds: Feeds) -> LiveHub:
    """Build the hub of a process: its streams share their readers."""
    return LiveHub(StreamSources(commands, feeds), feeds, commands.caller.tenant)


ROUTES: Final[list[Any]] = [stream_topics]
