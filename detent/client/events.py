"""Server-sent events: the frames of a stream, parsed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

#: The media type of a stream.
EVENTS: Final = "text/event-stream"


@dataclass(slots=True)
class StreamMessage:
    """One server-sent event."""

    id: str | None = None
    event: str = "message"
    data: list[str] = field(default_factory=list)


class Parser:
    """Parses the pieces of a stream into server-sent events. It owns the incomplete line and event. Lines end in LF or
    CRLF."""

    def __init__(self) -> None:
        self._rest, self._message = b"", StreamMessage()

    def feed(self, piece: bytes) -> Iterator[StreamMessage]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            text = line.removesuffix(b"\r").decode(errors="replace")
            if text:
                self._take(text)
                continue
            complete, self._message = self._message, StreamMessage()
            if complete.data or complete.event != "message":
                yield complete

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._message.data.append(value)
            case "event":
                self._message.event = value
            case "id":
                self._message.id = value
