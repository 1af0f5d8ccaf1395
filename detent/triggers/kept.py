"""What fired a trigger, as it is kept with its firing and read again by whoever processes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from detent.engine.commands import Given
from detent.engine.commands.ground import SECRET_HEADERS
from detent.engine.payloads import Payload, read_payload
from detent.errors import InvalidInput
from detent.instant import Instant, iso
from detent.store.trigger_rows import FiringRow
from detent.triggers.conditions import Facts


class Event(msgspec.Struct, frozen=True):
    """What an event trigger heard; its data is the body."""

    id: str
    type: str


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """The request of a firing. A webhook has `raw`, the bytes as they came (JSON holds them as base64); what was sent
    as JSON has `body`. `start_at`, `labels`, `hero` and `allow_multiple` say how its run is started.
    `forged`: its signature is not good."""

    method: str | None = None
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    raw: bytes | None = None
    body: Any = None
    event: Event | None = None
    scheduled_at: Instant | None = None
    start_at: Instant | None = None
    labels: dict[str, str] = {}
    hero: tuple[str, str] | None = None
    allow_multiple: bool = False
    forged: bool = False

    def given(self) -> Given:
        """What the run is started with, or InvalidInput if the bytes cannot be read as what they claim to be."""
        payload = self.payload()
        extra: dict[str, Any] = {}
        if payload.encoding is not None:
            extra["encoding"] = payload.encoding
        if self.scheduled_at is not None:
            extra["scheduled_at"] = iso(self.scheduled_at)
        if self.event is not None:
            extra["event"] = {"id": self.event.id, "type": self.event.type}
        return Given(payload.body, self.headers, self.query, extra)

    def facts(self, body: Any) -> Facts:
        """What a condition reads of it."""
        event = None if self.event is None else {"id": self.event.id, "type": self.event.type, "data": body}
        return Facts(body, self.headers, self.query, self.scheduled_at, event)

    def payload(self) -> Payload:
        """The body as it was meant."""
        return Payload(self.body) if self.raw is None else read_payload(self.headers, self.raw)

    def document(self) -> dict[str, Any]:
        """The request as people see it; a body that cannot be read is shown as text."""
        try:
            body = self.payload().body
        except InvalidInput:
            body = (self.raw or b"").decode("utf-8", "replace")
        return {"method": self.method, "query": self.query, "headers": self.headers, "body": body}


def webhook_request(method: str, headers: Mapping[str, str], query: Mapping[str, str], raw: bytes) -> Kept:
    """A request as it came, without what it carries of credentials."""
    kept = {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
    return Kept(method=method, query=dict(query), headers=kept, raw=raw)


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Kept)


def encode(kept: Kept) -> bytes:
    """For the firing's row."""
    return _encoder.encode(kept)


def request_of(firing: FiringRow) -> Kept:
    """From the firing's row. What was due by its schedule has no request: its body is `{}`."""
    return Kept(body={}, scheduled_at=firing.slot) if firing.request is None else _decoder.decode(firing.request)


def forged(request: Kept) -> Kept:
    """The same request, marked as one whose sender is not known."""
    return msgspec.structs.replace(request, forged=True)
