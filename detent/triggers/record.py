"""The request and the end of a firing, as stored in its row and read again by its processor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from detent.documents.triggers import FiringRequest
from detent.errors import AlreadyActive, DetentError, InvalidInput, Problem
from detent.expressions import NOW, SEED, Headers, Scope, compile_expression
from detent.instant import Instant, iso
from detent.run.start import StartRequest
from detent.store.trigger_rows import FiringRow
from detent.values.blob import Blob
from detent.values.http_body import SECRET_HEADERS, Payload, read_payload

# Why a firing ended, stored in one column: plain text, or JSON if there is more than a message.


_LONGEST: Final = 2_000
_MOST_PROBLEMS: Final = 20
_BEGIN: Final = '{"code":'


class _Place(msgspec.Struct, array_like=True):
    field: str
    message: str


class FiringReason(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a firing ended. `code` is the kind of reason for programs; `None` if the state of the firing is enough.

    `run` is the active run that blocked the start."""

    code: str | None
    message: str
    problems: list[_Place] = []
    run: str | None = None

    def text(self) -> str:
        """Return the message and all problems as one text for people."""
        return "; ".join([self.message, *(str(problem) for problem in self.found())])

    def found(self) -> list[Problem]:
        return [Problem(place.field, place.message) for place in self.problems]


def reason(code: str, message: str, problems: Iterable[Problem] = ()) -> FiringReason:
    """Return a reason, short enough to be stored."""
    places = [_Place(one.field[:_LONGEST], one.message[:_LONGEST]) for one in list(problems)[:_MOST_PROBLEMS]]
    return FiringReason(code, _clean(message), places)


def reason_of(error: DetentError) -> FiringReason:
    """Return the reason that an error describes."""
    if isinstance(error, AlreadyActive):
        return FiringReason(error.code, _clean(error.message), run=error.run)
    return reason(error.code, error.message, error.problems if isinstance(error, InvalidInput) else ())


def encode_reason(given: FiringReason) -> str:
    """Encode a reason for the firing's row."""
    return msgspec.json.encode(given).decode()


def decode(text: str | None) -> FiringReason | None:
    """Decode a reason from the firing's row. The store's own messages are plain text."""
    if text is None:
        return None
    if text.startswith(_BEGIN):
        return msgspec.json.decode(text, type=FiringReason)
    return FiringReason(None, text)


def _clean(message: str) -> str:
    return message.replace("\x00", "\ufffd")[:_LONGEST]


# Whether a firing starts a run: the trigger's condition, evaluated on what was received.


@dataclass(frozen=True, slots=True)
class Facts:
    """What a condition can read. `event` has type, data and id; it is `None` without an event.

    `at` is when the firing was received, and `firing` its id: what now() and uuid() use.
    """

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    scheduled_at: Instant | None = None
    event: Mapping[str, Any] | None = None
    at: Instant | None = None
    firing: bytes | None = None

    def scope(self) -> Scope:
        headers = Headers(self.headers)
        came = {
            "body": self.body,
            "headers": headers,
            "query": dict(self.query),
            "scheduled_at": None if self.scheduled_at is None else iso(self.scheduled_at),
        }
        short = {"body": self.body, "headers": headers, "query": came["query"]}
        event = None if self.event is None else dict(self.event)
        return {"trigger": came, **short, "event": event, NOW: self.at, SEED: self.firing}


def evaluate(condition: str | None, facts: Facts) -> bool:
    """Return whether a firing passes; without a condition it always does.

    Raise ExpressionError if it cannot be evaluated."""
    return condition is None or compile_expression(condition).test(facts.scope())


class Event(msgspec.Struct, frozen=True):
    """The event that an event trigger received; its data is the body."""

    id: str
    type: str


class FiringPayload(msgspec.Struct, frozen=True, omit_defaults=True):
    """The request of a firing.

    A webhook has `raw`, the received bytes (base64 in JSON); a request that was sent as JSON has `body`. `start_at`,
    `labels`, `hero` and `allow_multiple` are options of its run. `forged`: its signature is invalid."""

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

    def start(self, workflow: str, *, trigger: str, request_id: str | None, fired_by: bytes | None) -> StartRequest:
        """Return the start of the firing's run. Raise InvalidInput if the bytes do not match their headers."""
        payload = self.payload()
        extra: dict[str, Any] = {}
        if payload.encoding is not None:
            extra["encoding"] = payload.encoding
        if self.scheduled_at is not None:
            extra["scheduled_at"] = iso(self.scheduled_at)
        if self.event is not None:
            extra["event"] = {"id": self.event.id, "type": self.event.type}
        return StartRequest(
            workflow,
            payload.body,
            hero=self.hero,
            labels=self.labels,
            headers=self.headers,
            query=self.query,
            extra=extra,
            request_id=request_id,
            start_at=self.start_at,
            allow_multiple=self.allow_multiple,
            trigger=trigger,
            fired_by=fired_by,
        )

    def facts(self, body: Any, at: Instant | None = None, firing: bytes | None = None) -> Facts:
        """Return what a condition can read of it."""
        event = None if self.event is None else {"id": self.event.id, "type": self.event.type, "data": body}
        return Facts(body, self.headers, self.query, self.scheduled_at, event, at, firing)

    def payload(self) -> Payload:
        """Return the decoded body."""
        return Payload(self.body) if self.raw is None else read_payload(self.headers, self.raw)

    def document(self) -> FiringRequest:
        """Build the document of the request; a body that cannot be read is shown as text."""
        try:
            body = self.payload().body
        except InvalidInput:
            body = (self.raw or b"").decode("utf-8", "replace")
        return FiringRequest(method=self.method, query=self.query, headers=self.headers, body=body)


def webhook_request(method: str, headers: Mapping[str, str], query: Mapping[str, str], raw: bytes) -> FiringPayload:
    """Return a request as received, without the headers that carry credentials."""
    kept = {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
    return FiringPayload(method=method, query=dict(query), headers=kept, raw=raw)


def blob_request(request: FiringPayload, blob: Blob) -> FiringPayload:
    """Return a request whose body became a blob."""
    return msgspec.structs.replace(request, raw=None, body=blob.document())


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(FiringPayload)


def encode_request(kept: FiringPayload) -> bytes:
    """Encode a request for the firing's row."""
    return _encoder.encode(kept)


def read_request(data: bytes) -> FiringPayload:
    """Decode an encoded request."""
    return _decoder.decode(data)


def request_of(firing: FiringRow) -> FiringPayload:
    """Decode the request from the firing's row. A firing of a schedule has no request: its body is `{}`."""
    return (
        FiringPayload(body={}, scheduled_at=firing.slot) if firing.request is None else _decoder.decode(firing.request)
    )


def forged(request: FiringPayload) -> FiringPayload:
    """Return the same request, marked as one whose sender is unknown."""
    return msgspec.structs.replace(request, forged=True)
