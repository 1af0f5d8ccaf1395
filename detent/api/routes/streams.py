"""Routes that follow a run: its journal as a stream, and as a list that can wait for what is to come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache
from typing import Any, Final

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath
from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, Receive, Send

from detent.api.openapi.operations import INTEGER, TEXT, answers, header, operation, query, refusals
from detent.api.request import AnyRequest
from detent.documents.answers import Many
from detent.documents.journal import EntryDocument
from detent.errors import InvalidInput, NotFound, Problem, StoreError
from detent.ids import RUN, InvalidId, parse, show
from detent.run.journal import Entry
from detent.settings import DEFAULT_TENANT
from detent.values.durations import parse_duration
from detent.views.feeds import MOST_ENTRIES, Feeds
from detent.views.runs import entry_json

# Server-Sent Events: an answer that goes on until there is nothing more to say or nobody listens.


MEDIA_TYPE: Final = "text/event-stream"
# A proxy must neither keep a stream nor gather it.
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Frames = AsyncGenerator[bytes, None]


def frame(data: bytes, *, event: str, id_: int | None = None) -> bytes:
    """One event. `data` is a single line."""
    place = b"" if id_ is None else b"id: %d\n" % id_
    return b"%bevent: %b\ndata: %b\n\n" % (place, event.encode(), data)


class EventStream(Response[bytes]):
    """Sends frames one by one: the next is made when the one before was taken, and none when the other end is gone."""

    def __init__(self, frames: Frames) -> None:
        super().__init__(b"", media_type=MEDIA_TYPE, headers=_HEADERS)
        self._frames = frames

    def to_asgi_response(self, app: None, request: Request[Any, Any, Any], **given: Any) -> ASGIResponse:  # type: ignore[override]
        return _Streaming(self._frames, headers=_HEADERS, media_type=MEDIA_TYPE)


class _Streaming(ASGIResponse):
    _should_set_content_length = False

    def __init__(self, frames: Frames, **given: Any) -> None:
        super().__init__(**given)
        self._frames = frames

    async def send_body(self, send: Send, receive: Receive) -> None:
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not sending.done():
                sending.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:
            async for piece in frames:
                await send(_body(piece, more=True))
        await send(_body(b"", more=False))


def _body(piece: bytes, *, more: bool) -> HTTPResponseBodyEvent:
    return {"type": "http.response.body", "body": piece, "more_body": more}


async def _left(receive: Receive) -> None:
    """Wait until the other end is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


BASES: Final = ("/api/v1/runs", "/api/v1/executions")
HEARTBEAT: Final = 15.0
LONGEST_WAIT: Final = 60.0
_AWAY_PAUSE: Final = 1.0
_ENTRIES: Final = 50
_LARGEST_SEQ: Final = 2**31 - 1
_BEGIN: Final = b"retry: 1000\n\n"
_STILL_HERE: Final = b": still here\n\n"
_AFTER: Final = query("after", INTEGER, "The `seq` of the last entry that is known; those behind it are given.", 12)
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
    """Server-Sent Events: an `entry` for each entry of the journal, with its `seq` as `id`, and at last an `end` with
    the run's status. After a lost connection, `Last-Event-ID` (or `after`) goes on behind that entry."""
    text = request.headers.get("last-event-id")
    after = _number("Last-Event-ID", text) if text else _after(request)
    return EventStream(_frames(_feeds(request), await _run(request, run), after))


@get(
    [f"{base}/{{run:str}}/events" for base in BASES],
    tags=["runs"],
    summary="List the events of a run",
    operation_class=operation(
        _AFTER,
        query("limit", INTEGER, f"How many at most, 1 to {MOST_ENTRIES}.", _ENTRIES),
        query("wait", TEXT, "How long to wait for the first, up to 60s.", "30s"),
    ),
    responses={**answers(200, Many[EntryDocument], "A page of the journal."), **refusals(400, 404)},
)
async def list_run_events(request: AnyRequest, run: FromPath[str]) -> Response[dict[str, Any]]:
    """The entries of the journal in order: those `after` an entry, `limit` at most. With `wait` (a duration up to 60s)
    it answers when there is one, or the run has ended. `next_cursor` is what to give as `after` next, and null when the
    run has ended and all was given."""
    after, limit, wait = _after(request), _limit(request), _wait(request)
    found = await _feeds(request).wait_entries(await _run(request, run), after, wait, limit=limit)
    last = found.entries[-1].seq if found.entries else after
    data = [msgspec.Raw(entry_json(entry)) for entry in found.entries]
    return Response({"data": data, "next_cursor": None if found.is_all else str(last)})


async def _frames(feeds: Feeds, run: bytes, after: int) -> Frames:
    yield _BEGIN
    with feeds.reader(run, after=after) as reader:
        while not reader.is_done:
            entry = await reader.next(HEARTBEAT)
            if entry is not None:
                yield _shown(entry)
            elif not reader.is_done:
                yield _STILL_HERE
        has_ended = reader.has_ended
    if has_ended:
        end = {"run_id": show(RUN, run), "status": await _final_status(feeds, run)}
        yield frame(_encoder.encode(end), event="end")


@lru_cache(maxsize=16)
def _shown(entry: Entry) -> bytes:
    """Kept for a moment: the readers of a run want the same one after the other."""
    return frame(entry_json(entry), event="entry", id_=entry.seq)


async def _final_status(feeds: Feeds, run: bytes) -> str | None:
    """Null if the run was deleted since."""
    while True:
        try:
            return await feeds.status(DEFAULT_TENANT, run)
        except StoreError:
            await asyncio.sleep(_AWAY_PAUSE)


def _feeds(request: AnyRequest) -> Feeds:
    found: Feeds = request.app.state["feeds"]
    return found


async def _run(request: AnyRequest, text: str) -> bytes:
    try:
        run = parse(RUN, text)
    except InvalidId:
        run = b""
    if not run or await _feeds(request).status(DEFAULT_TENANT, run) is None:
        raise NotFound(f"there is no run {text[:80]!r}")
    return run


def _after(request: AnyRequest) -> int:
    return _number("after", request.query_params.get("after", "0"))


def _limit(request: AnyRequest) -> int:
    limit = _number("limit", request.query_params.get("limit", str(_ENTRIES)))
    if not 0 < limit <= MOST_ENTRIES:
        raise _refused("limit", f"must be a number from 1 to {MOST_ENTRIES}")
    return limit


def _wait(request: AnyRequest) -> float:
    try:
        wait = parse_duration(request.query_params.get("wait", "0s"))
    except InvalidInput as error:
        raise _refused("wait", error.message) from None
    if wait > LONGEST_WAIT:
        raise _refused("wait", f"must be at most {LONGEST_WAIT:g}s")
    return wait


def _number(field: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= _LARGEST_SEQ):
        raise _refused(field, "must be the number of an entry" if field != "limit" else "must be a number")
    return int(text)


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput("the events cannot be read", [Problem(field, message)])


ROUTES = [stream_run, list_run_events]
