"""Server-Sent Events: an answer that goes on until there is nothing more to say or nobody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, Receive, Send

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
