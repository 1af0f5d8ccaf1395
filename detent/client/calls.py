"""Exchanges with a Detent, without I/O: what to send, when to retry, how to read the answer.

An exchange is a generator. It yields effects (send this, wait so long, yield that to the caller) and receives the
result or the error of each. The sync and the async driver (`drivers`) run the same exchanges, so retries, waits, pages
and streams are written once.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from detent.client.errors import ApiError, LimitExceeded, NoConnection, Unavailable, UnexpectedAnswer, refusal
from detent.client.events import EVENTS, Parser
from detent.documents.answers import Many, One
from detent.errors import InvalidInput

API: Final = "/api/v1"

Seconds = float | timedelta
When = datetime | timedelta | str


def url_path(*parts: str) -> str:
    """Build a path below the API; each part is escaped."""
    return "/".join([API, *(quote(part, safe="") for part in parts)])


def seconds(span: Seconds) -> float:
    return span.total_seconds() if isinstance(span, timedelta) else float(span)


def duration(span: Seconds) -> str:
    return f"{max(0, round(seconds(span) * 1000))}ms"


def instant(when: datetime | str) -> str:
    """Format an instant in ISO 8601, UTC, as Detent does. Raise InvalidInput for a time without a time zone."""
    if isinstance(when, str):
        return when
    if when.tzinfo is None:
        raise InvalidInput(f"{when!r} has no time zone; write for example datetime(..., tzinfo=UTC)")
    return when.astimezone(UTC).isoformat().replace("+00:00", "Z")


def moment(when: When) -> str:
    """Format an instant, or a time from now."""
    return duration(when) if isinstance(when, timedelta) else instant(when)


def pairs(labels: Mapping[str, str]) -> list[str]:
    return [_pair(key, value) for key, value in labels.items()]


def hero_text(hero: tuple[str, str] | str) -> str:
    return hero if isinstance(hero, str) else _pair(*hero)


def _pair(key: str, value: str) -> str:
    if ":" in key:
        raise InvalidInput(f"{key!r} has a colon, and would be read as {key.partition(':')[0]!r}")
    return f"{key}:{value}"


def header_text(text: str) -> str:
    """Return the text if it is valid in a header. Raise InvalidInput if it is not."""
    if not text.isascii() or not text.isprintable():
        raise InvalidInput(f"{text[:100]!r} cannot be in a header; use printable ASCII characters")
    return text


def given(**values: str | int | bool | None) -> list[tuple[str, str]]:
    """Build a query of the values that are not `None`."""
    return [(name, _text(value)) for name, value in values.items() if value is not None]


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def repeated(name: str, values: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, value) for value in values]


def server_url(url: str | None) -> str:
    """Return the address of the server: `url`, else DETENT_URL, else that of `detent serve` on this machine."""
    chosen = (url or os.environ.get("DETENT_URL") or "http://127.0.0.1:8080").rstrip("/")
    if not chosen.startswith(("http://", "https://")) or not _has_host(chosen):
        raise InvalidInput(f"{chosen!r} is not a valid address; write for example http://127.0.0.1:8080")
    return chosen


class ServerAddress(NamedTuple):
    """The address of the process that has a database file, and the key for it."""

    url: str
    key: str | None


def _has_host(url: str) -> bool:
    """Whether a URL names a host, and a port that can be one if it names a port."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
PAGE: Final = 100

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `target` is path and query, encoded. `timeout` is the limit in seconds for the complete answer,
    or the longest silence of a stream. `key` identifies a start for which the caller has no request id. A transport
    that can lose an answer sends it as `Idempotency-Key`, so that the request can be sent again."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None
    timeout: float
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Send:
    """The effect that sends a request. Its result is the answer; NoConnection is raised into the exchange."""

    request: Request


@dataclass(frozen=True, slots=True)
class OpenStream:
    """The effect that opens a stream. Its result is the answer, with a body only if it is an error: `ReadStream` reads
    the body otherwise. The result is `None` if the transport has no streams."""

    request: Request


@dataclass(frozen=True, slots=True)
class ReadStream:
    """The effect that reads the next piece of the stream. Its result is empty when the stream has ended."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The effect that waits for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Yield(Generic[T_co]):
    """The effect that yields items to the caller."""

    items: Sequence[T_co]


Effect = Send | OpenStream | ReadStream | Wait
Exchange = Generator[Effect, Any, T]
StreamExchange = Generator[Effect | Yield[T], Any, None]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of a client in seconds: `timeout` for one request, `patience` for all tries of one call together."""

    timeout: float = 30.0
    patience: float = 30.0
    headers: Mapping[str, str] = field(default_factory=dict)
    now: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def pause(self, tries: int, error: ApiError | NoConnection) -> float:
        """Return the seconds until the next try: `Retry-After` of the server, and a random part to spread clients."""
        asked = error.retry_after if isinstance(error, ApiError) else 0.0
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries, 16))
        return asked + longest * (0.5 + 0.5 * self.chance())


class OneAnswer(Protocol[T_co]):
    """An operation with one answer. `talk` returns its exchange."""

    def talk(self, policy: RetryPolicy) -> Exchange[T_co]: ...


class ManyAnswers(Protocol[T_co]):
    """An operation that yields answers one by one. `stream` returns its exchange."""

    def stream(self, policy: RetryPolicy) -> StreamExchange[T_co]: ...


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how to read its answer.

    `repeatable`: sending it twice has the same effect as sending it once, so it is retried after every passing error.
    Other requests are retried only if they certainly did not arrive. `holds`: for so many seconds the server may delay
    the answer. `key`: see `Request`. `progress` hears the JSON of each progress event. The answer is then a stream,
    over a transport that has streams.
    """

    method: str
    path: str
    read: Callable[[Answer], T]
    query: Query = ()
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    holds: float = 0.0
    key: str | None = None
    progress: Callable[[str], object] | None = None

    def request(self, policy: RetryPolicy) -> Request:
        target = f"{self.path}?{urlencode(self.query)}" if self.query else self.path
        headers = {"Accept": "application/json", **policy.headers, **self.headers}
        return Request(self.method, target, headers, self.body, policy.timeout + self.holds, self.key)

    def talk(self, policy: RetryPolicy) -> Exchange[T]:
        """Send the request. Retry until an answer is final or the patience is over."""
        request, until = self.request(policy), policy.now() + policy.patience
        for tries in count():
            try:
                answer = yield from self._answer(request)
                error = refusal(answer.status, answer.headers, answer.body)
                if error is None:
                    return _read(self.read, answer)
                raise error
            except (ApiError, NoConnection) as problem:
                pause = policy.pause(tries, problem)
                if not self._is_worth_another_try(problem) or policy.now() + pause > until:
                    raise
            yield Wait(pause)
        raise AssertionError("tries are counted without end")

    def _answer(self, request: Request) -> Exchange[Answer]:
        if self.progress is not None:
            headers = {**request.headers, "Accept": EVENTS}
            opened: Answer | None = yield OpenStream(replace(request, headers=headers))
            if opened is not None:
                return (yield from _read_progress(opened, self.progress))
        answer: Answer = yield Send(request)
        return answer

    def _is_worth_another_try(self, error: ApiError | NoConnection) -> bool:
        if isinstance(error, NoConnection):
            return self.repeatable or not error.sent
        return self.repeatable and is_passing(error)


def _read_progress(opened: Answer, progress: Callable[[str], object]) -> Exchange[Answer]:
    """Read a stream of progress to its end. Return the answer that is its last event. An answer that is not such a
    stream is read as it is."""
    if opened.status != 200 or not opened.headers.get("content-type", "").startswith(EVENTS):
        pieces = [opened.body]
        while opened.status == 200 and (piece := (yield ReadStream())):
            pieces.append(piece)
        return replace(opened, body=b"".join(pieces))
    parser = Parser()
    while True:
        piece = yield ReadStream()
        if not piece:
            raise NoConnection("the stream ended before the answer", sent=True)
        for message in parser.feed(piece):
            data = "\n".join(message.data)
            match message.event:
                case "progress":
                    progress(data)
                case "result":
                    return replace(opened, body=data.encode())
                case "error":
                    return replace(opened, status=_status.decode(data).status, body=data.encode())


class _Status(msgspec.Struct):
    status: int


_status: Final = msgspec.json.Decoder(_Status)


def is_passing(error: ApiError) -> bool:
    """Return whether the same request may succeed a little later."""
    return isinstance(error, Unavailable | LimitExceeded)


def _read(read: Callable[[Answer], T], answer: Answer) -> T:
    try:
        return read(answer)
    except msgspec.MsgspecError as error:
        raise UnexpectedAnswer(f"the answer cannot be read: {error}", status=answer.status) from None


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """A list that is read page by page, only as far as the caller iterates."""

    first: Call[Many[T]]

    def stream(self, policy: RetryPolicy) -> StreamExchange[T]:
        cursor: str | None = None
        while True:
            page = yield from self._call(cursor).talk(policy)
            yield Yield(page.data)
            cursor = page.next_cursor
            if cursor is None:
                return

    def _call(self, cursor: str | None) -> Call[Many[T]]:
        more = () if cursor is None else (("cursor", cursor),)
        return Call("GET", self.first.path, self.first.read, query=(*self.first.query, *more))


def one(kind: type[T]) -> Callable[[Answer], T]:
    """Return a reader of `{"data": ...}`."""
    envelope = _decoder(One[kind])  # type: ignore[valid-type]

    def read(answer: Answer) -> T:
        document: One[T] = envelope.decode(answer.body)
        return document.data

    return read


def page(kind: type[T]) -> Callable[[Answer], Many[T]]:
    """Return a reader of `{"data": [...], "next_cursor": ...}`."""
    return bare(Many[kind])  # type: ignore[valid-type]


def bare(kind: type[T]) -> Callable[[Answer], T]:
    """Return a reader of a document without an envelope."""
    any_kind: Any = kind
    decoder = _decoder(any_kind)

    def read(answer: Answer) -> T:
        document: T = decoder.decode(answer.body)
        return document

    return read


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def json_body(value: Any) -> bytes:
    """Encode a JSON value."""
    return msgspec.json.encode(value)


JSON: Final[Mapping[str, str]] = {"Content-Type": "application/json"}
