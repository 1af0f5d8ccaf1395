"""Routes that follow a run: its journal and its log, as a stream of Server-Sent Events or a list with long polling."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath
from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, Receive, Scope, Send

from detent.api.errors import answer_of
from detent.api.openapi.operations import INTEGER, TEXT, answers, header, operation, query, refusals
from detent.api.request import (
    AnyRequest,
    QueryValues,
    commands,
    feeds,
    grouped,
    number_of,
    tenant_of,
    wait_of,
    word_of,
)
from detent.api.server.policy_guard import admit_request
from detent.commands.logs.step_logs import MOST_LINES, LogCommands, LogFilter
from detent.documents.answers import Many, One, as_json
from detent.documents.journal import EntryDocument, LogAnswer
from detent.errors import Forbidden, NotFound, StoreError, Unauthenticated, Unavailable
from detent.ids import RUN, InvalidId, parse, show
from detent.run.journal import Entry
from detent.steps.logs.attempt_log import LEVELS
from detent.values.fields import Problems
from detent.views.entries import entry_json
from detent.views.feeds import MOST_ENTRIES, Feeds
from detent.views.logs import BEGINNING, LogCursor, parse_cursor

MEDIA_TYPE: Final = "text/event-stream"
# A proxy must neither cache a stream nor buffer it.
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

T = TypeVar("T", bound=msgspec.Struct)
Frames = AsyncGenerator[bytes, None]
#: Hears the progress of some work, as a document.
Report = Callable[[msgspec.Struct], None]


def frame(data: bytes, *, event: str, id_: int | str | None = None) -> bytes:
    """Encode one event. `data` is a single line."""
    place = b"" if id_ is None else b"id: %b\n" % str(id_).encode()
    return b"%bevent: %b\ndata: %b\n\n" % (place, event.encode(), data)


class EventStream(Response[bytes]):
    """A response that sends frames one by one. It builds the next frame only after the client has read the one before,
    and none after the client has disconnected. The caller is identified again every second: the stream ends when it
    may not read it any more."""

    def __init__(self, frames: Frames) -> None:
        super().__init__(b"", media_type=MEDIA_TYPE, headers=_HEADERS)
        self._frames = frames

    def to_asgi_response(self, app: None, request: Request[Any, Any, Any], **given: Any) -> ASGIResponse:  # type: ignore[override]
        return _Streaming(self._frames, request.scope, headers=_HEADERS, media_type=MEDIA_TYPE)


class _Streaming(ASGIResponse):
    _should_set_content_length = False

    def __init__(self, frames: Frames, scope: Scope, **given: Any) -> None:
        super().__init__(**given)
        self._frames = frames
        self._scope = scope

    async def send_body(self, send: Send, receive: Receive) -> None:
        sending = asyncio.create_task(self._send(send))
        endings = [asyncio.create_task(_left(receive)), asyncio.create_task(_lost_rights(self._scope))]
        try:
            await asyncio.wait([sending, *endings], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for ending in endings:
                ending.cancel()
            if not sending.done():
                sending.cancel()
            await asyncio.gather(sending, *endings, return_exceptions=True)
        if not sending.cancelled():
            sending.result()
        elif not endings[0].done() or endings[0].cancelled():
            await send(_body(b"", more=False))  # the client is still there

    async def _send(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:
            async for piece in frames:
                await send(_body(piece, more=True))
        await send(_body(b"", more=False))


def _body(piece: bytes, *, more: bool) -> HTTPResponseBodyEvent:
    return {"type": "http.response.body", "body": piece, "more_body": more}


async def _left(receive: Receive) -> None:
    """Wait until the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _lost_rights(scope: Scope) -> None:
    """Wait until the caller of a stream may not read it any more: its key was revoked or its session has ended."""
    while True:
        await asyncio.sleep(_RIGHTS_PAUSE)
        try:
            await admit_request(scope)
        except (Unauthenticated, Forbidden):
            return
        except (StoreError, Unavailable):
            continue  # it is not known; ask again


BASES: Final = ("/api/v1/runs", "/api/v1/executions")
HEARTBEAT: Final = 15.0
_AWAY_PAUSE: Final = 1.0
#: Seconds between two checks of a stream's caller. Most of them only look into the cache of identities.
_RIGHTS_PAUSE: Final = 1.0
_ENTRIES: Final = 50
_MESSAGE: Final = "the events cannot be read"
_LARGEST_SEQ: Final = 2**31 - 1
_NO_LOG: Final = "the log cannot be read"
_LONGEST_STEP: Final = 1_000
#: Seconds between two looks at a log that is streamed.
_LOG_PERIOD: Final = 1.0
BEGIN: Final = b"retry: 1000\n\n"
STILL_HERE: Final = b": still here\n\n"
_AFTER: Final = query("after", INTEGER, "The `seq` of the last known entry; later entries are returned.", 12)
_encoder = msgspec.json.Encoder()


@get(
    [f"{base}/{{run:str}}/stream" for base in BASES],
    tags=["runs"],
    summary="Follow a run live",
    media_type=MEDIA_TYPE,
    operation_class=operation(_AFTER, header("Last-Event-ID", "The same, as browsers send it by themselves.", "12")),
    responses=refusals(400, 404),
    response_description="Server-Sent Events.",
)
async def stream_run(request: AnyRequest, run: FromPath[str]) -> Response[bytes]:
    """Stream the journal as Server-Sent Events: an `entry` for each entry, with its `seq` as `id`. The last event is an
    `end` with the run's status. After a lost connection, `Last-Event-ID` (or `after`) continues after that entry."""
    text = request.headers.get("last-event-id")
    values = QueryValues({"Last-Event-ID": [text]}, Problems()) if text else _query(request)
    after = values.last("Last-Event-ID" if text else "after", _seq) or 0
    values.refuse(_MESSAGE)
    return EventStream(_frames(feeds(request), tenant_of(request), await _run(request, run), after))


@get(
    [f"{base}/{{run:str}}/events" for base in BASES],
    tags=["runs"],
    summary="List the events of a run",
    operation_class=operation(
        _AFTER,
        query("limit", INTEGER, f"How many at most, 1 to {MOST_ENTRIES}.", _ENTRIES),
        query("wait", TEXT, "How long to wait for the first entry, up to 60s.", "30s"),
    ),
    responses={**answers(200, Many[EntryDocument], "A page of the journal."), **refusals(400, 404)},
)
async def list_run_events(request: AnyRequest, run: FromPath[str]) -> Response[dict[str, Any]]:
    """List the entries of the journal in order: those `after` an entry, at most `limit`. With `wait` (a duration up to
    60s) the answer is delayed until there is an entry or the run has ended. `next_cursor` is the `after` of the next
    request. It is null when the run has ended and this was the last entry."""
    values = _query(request)
    after = values.last("after", _seq) or 0
    limit = values.last("limit", lambda text: number_of(text, 1, MOST_ENTRIES)) or _ENTRIES
    wait = values.last("wait", wait_of) or 0.0
    values.refuse(_MESSAGE)
    found = await feeds(request).wait_entries(tenant_of(request), await _run(request, run), after, wait, limit=limit)
    last = found.entries[-1].seq if found.entries else after
    data = [msgspec.Raw(entry_json(entry)) for entry in found.entries]
    return Response({"data": data, "next_cursor": None if found.is_all else str(last)})


_LINES: Final = 200
_STEP: Final = query("step", TEXT, "Only lines of this step.", "charge")
_ATTEMPT: Final = query("attempt", INTEGER, "Only lines of this attempt.", 1)
_LEVEL: Final = query("level", TEXT, "Only lines of this level or above: debug, info, warning or error.", "warning")
_BEHIND: Final = query("after", TEXT, "The `next_cursor` of the page before; later lines are returned.", "")


@get(
    [f"{base}/{{run:str}}/logs" for base in BASES],
    tags=["runs"],
    summary="List what the steps of a run have logged",
    operation_class=operation(
        _BEHIND,
        query("limit", INTEGER, f"How many at most, 1 to {MOST_LINES}.", _LINES),
        query("wait", TEXT, "How long to wait for the first line, up to 60s.", "30s"),
        _STEP,
        _ATTEMPT,
        _LEVEL,
    ),
    responses={**answers(200, LogAnswer, "A page of the log."), **refusals(400, 404)},
)
async def list_run_logs(request: AnyRequest, run: FromPath[str]) -> Response[LogAnswer]:
    """List the lines that the steps of a run have logged, oldest first: those `after` a cursor, at most `limit`.
    Of each attempt the newest 64 KB are stored. With `wait` (a duration up to 60s) the answer is delayed until there is
    a line or the run has ended. `next_cursor` is the `after` of the next request. It is null when the run has ended and
    this was the last line. `progress` is how far the attempts in flight are that have reported it."""
    values = _query(request)
    after = values.last("after", parse_cursor) or BEGINNING
    limit = values.last("limit", lambda text: number_of(text, 1, MOST_LINES)) or _LINES
    wait = values.last("wait", wait_of) or 0.0
    where = _log_filter(values)
    values.refuse(_NO_LOG)
    logs = commands(request).logs
    known = await logs.run(run)
    page = await logs.page(known, after=after, limit=limit, where=where, wait=wait)
    if page.is_all:
        return Response(LogAnswer(data=page.lines, next_cursor=None))
    return Response(LogAnswer(data=page.lines, next_cursor=str(page.cursor), progress=await logs.progress(known)))


@get(
    [f"{base}/{{run:str}}/logs/stream" for base in BASES],
    tags=["runs"],
    summary="Follow what the steps of a run log",
    media_type=MEDIA_TYPE,
    operation_class=operation(
        _BEHIND, header("Last-Event-ID", "The same, as browsers send it by themselves.", ""), _STEP, _ATTEMPT, _LEVEL
    ),
    responses=refusals(400, 404),
    response_description="Server-Sent Events.",
)
async def stream_run_logs(request: AnyRequest, run: FromPath[str]) -> Response[bytes]:
    """Stream the log as Server-Sent Events: `lines` with a list of lines, about once a second, and `progress` with how
    far the attempts in flight are, when that changes. The last event is an `end` with the run's status. After a lost
    connection, `Last-Event-ID` (or `after`) continues behind the last line."""
    values = _query(request)
    where = _log_filter(values)
    after = values.last("after", parse_cursor) or BEGINNING
    if text := request.headers.get("last-event-id"):
        seen = QueryValues({"Last-Event-ID": [text]}, values.problems)
        after = seen.last("Last-Event-ID", parse_cursor) or after
    values.refuse(_NO_LOG)
    logs = commands(request).logs
    known = await logs.run(run)
    return EventStream(_log_frames(logs, feeds(request), tenant_of(request), known, after, where))


def _log_filter(values: QueryValues) -> LogFilter:
    level = values.last("level", _level)
    attempt = values.last("attempt", lambda text: number_of(text, 1, _LARGEST_SEQ))
    step = values.last("step", lambda text: word_of(text, _LONGEST_STEP))
    return LogFilter(step, attempt, level or 0)


def _level(text: str) -> int:
    if text not in LEVELS:
        raise ValueError(f"must be {', '.join(LEVELS)}, not {text[:80]!r}")
    return LEVELS[text]


async def _log_frames(
    logs: LogCommands, feeds: Feeds, tenant: int, run: bytes, after: LogCursor, where: LogFilter
) -> Frames:
    yield BEGIN
    shown: bytes | None = None
    quiet = 0.0
    while True:
        try:
            page = await logs.page(run, after=after, limit=_LINES, where=where)
            progress = _encoder.encode([] if page.is_all else await logs.progress(run))
        except StoreError:
            await asyncio.sleep(_AWAY_PAUSE)
            continue
        after = page.cursor
        if page.lines:
            yield frame(_encoder.encode(page.lines), event="lines", id_=str(after))
        if progress != shown and not (shown is None and progress == b"[]"):
            shown = progress
            yield frame(progress, event="progress")
        if page.is_all:
            break
        quiet = 0.0 if page.lines else quiet + _LOG_PERIOD
        if quiet >= HEARTBEAT:
            quiet = 0.0
            yield STILL_HERE
        if len(page.lines) < _LINES:
            await asyncio.sleep(_LOG_PERIOD)
    end = {"run_id": show(RUN, run), "status": await _final_status(feeds, tenant, run)}
    yield frame(_encoder.encode(end), event="end")


async def answer_with_progress(
    request: AnyRequest, work: Callable[[Report | None], Coroutine[Any, Any, T]]
) -> Response[Any]:
    """Answer with the document that `work` returns. A client that accepts a stream receives `progress` events while it
    works, as often as it can read them, then a `result` or an `error`. An error before the first report is an answer
    like any other. `work` is cancelled if the client disconnects from the stream."""
    if MEDIA_TYPE not in request.headers.get("accept", ""):
        return Response(One(await work(None)))
    feed = _ProgressFeed(work)
    await feed.begun()
    return EventStream(feed.frames(request.method, request.url.path))


class _ProgressFeed:
    """Work in a task of its own, and its latest report that was not sent yet."""

    def __init__(self, work: Callable[[Report | None], Coroutine[Any, Any, Any]]) -> None:
        self._report: Any = None
        self._news = asyncio.Event()
        self._task = asyncio.create_task(work(self._hear))
        self._task.add_done_callback(lambda _: self._news.set())

    def _hear(self, report: Any) -> None:
        self._report = report
        self._news.set()

    async def begun(self) -> None:
        """Wait for the first report or the end. Raise the error of work that failed before it reported anything."""
        try:
            await self._news.wait()
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if self._task.done() and self._report is None:
            self._task.result()

    async def frames(self, method: str, path: str) -> Frames:
        try:
            yield BEGIN
            while not self._task.done() or self._report is not None:
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await self._news.wait()
                except TimeoutError:
                    yield STILL_HERE
                self._news.clear()
                report, self._report = self._report, None
                if report is not None:
                    yield frame(_encoder.encode(report), event="progress")
            yield self._end(method, path)
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _end(self, method: str, path: str) -> bytes:
        error = self._task.exception()
        if error is None:
            return frame(_encoder.encode(One(self._task.result())), event="result")
        if not isinstance(error, Exception):
            raise error
        refused = answer_of(error, method, path)
        document = {"status": refused.status_code, **as_json(refused.content)}
        return frame(_encoder.encode(document), event="error")


async def _frames(feeds: Feeds, tenant: int, run: bytes, after: int) -> Frames:
    yield BEGIN
    with feeds.reader(tenant, run, after=after) as reader:
        while not reader.is_done:
            entry = await reader.next(HEARTBEAT)
            if entry is not None:
                yield _shown(entry)
            elif not reader.is_done:
                yield STILL_HERE
        has_ended = reader.has_ended
    if has_ended:
        end = {"run_id": show(RUN, run), "status": await _final_status(feeds, tenant, run)}
        yield frame(_encoder.encode(end), event="end")


@lru_cache(maxsize=16)
def _shown(entry: Entry) -> bytes:
    """Encode an entry. The result is cached: readers of a run read the same entries at about the same time."""
    return frame(entry_json(entry), event="entry", id_=entry.seq)


async def _final_status(feeds: Feeds, tenant: int, run: bytes) -> str | None:
    """Return the last status of a run, or `None` if the run was deleted. Retry while the database fails."""
    while True:
        try:
            return await feeds.status(tenant, run)
        except StoreError:
            await asyncio.sleep(_AWAY_PAUSE)


async def _run(request: AnyRequest, text: str) -> bytes:
    try:
        run = parse(RUN, text)
    except InvalidId:
        run = b""
    if not run or await feeds(request).status(tenant_of(request), run) is None:
        raise NotFound(f"there is no run {text[:80]!r}")
    return run


def _query(request: AnyRequest) -> QueryValues:
    """Return the values of the query. Unknown names are ignored: clients of event streams may add their own."""
    return QueryValues(grouped(request.scope["query_string"]), Problems())


def _seq(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _LARGEST_SEQ):
        raise ValueError("must be the number of an entry")
    return int(text)


ROUTES = [stream_run, list_run_events, list_run_logs, stream_run_logs]
