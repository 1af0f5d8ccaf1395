"""Bodies of requests: small ones in memory, large ones streamed to a blob while they arrive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

from litestar.types import Receive

from detent.errors import InvalidInput, TooLarge
from detent.values.blob import Blob
from detent.values.limits import INPUT_LIMIT


class BodyUpload(Protocol):
    """A large body, while it arrives."""

    async def write(self, data: bytes) -> None: ...
    async def finish(self) -> Blob: ...
    async def abort(self) -> None: ...


#: Begins the blob of a body that is larger than the input of a run. It may raise what the request is answered with.
Begin = Callable[[], Awaitable[BodyUpload]]


class ClientGone(InvalidInput):
    """The client closed the connection before its request was complete. No answer can reach it."""


async def read_body(receive: Receive, begin: Begin | None) -> bytes | Blob:
    """Return the body of a request, or the blob that it was streamed to.

    Raise TooLarge if it exceeds the limit of blobs, or that of inputs if there is no `begin`. Raise ClientGone."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone("the connection was closed before the request was complete")
        part = cast("bytes", message.get("body", b""))
        size += len(part)
        parts.append(part)
        has_more = bool(message.get("more_body", False))
        if size > INPUT_LIMIT:
            if begin is None:
                raise TooLarge("the body is larger than its limit")
            return await _stream(await begin(), receive, parts, has_more=has_more)
        if not has_more:
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _stream(upload: BodyUpload, receive: Receive, parts: list[bytes], *, has_more: bool) -> Blob:
    try:
        for part in parts:
            await upload.write(part)
        parts.clear()
        while has_more:
            message: Mapping[str, Any] = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone("the connection was closed before the request was complete")
            has_more = message.get("more_body", False)
            await upload.write(message.get("body", b""))
        return await upload.finish()
    except BaseException:
        await upload.abort()
        raise
