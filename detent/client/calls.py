"""Exchanges with a Detent, without any input or output: what to send, when to send it again, how to read the answer.

An exchange is a generator. It yields what it wants done (send this, wait so long, yield that to the caller) and
receives what came of it, or the error. The sync and the async driver (`drivers`) run the same exchanges, so retries,
waits, pages and streams are written once.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from typing import Any, Final, Generic, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from detent.client.errors import ApiError, LimitExceeded, NoConnection, Unavailable, UnexpectedAnswer, refusal
from detent.documents.answers import Many, One
from detent.errors import InvalidInput

# How values are written in URLs and queries.


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
    """Write an instant in ISO 8601, UTC, as Detent does. Raise InvalidInput for a time without a time zone."""
    if isinstance(when, str):
        return when
    if when.tzinfo is None:
        raise InvalidInput(f"{when!r} has no time zone; write for example datetime(..., tzinfo=UTC)")
    return when.astimezone(UTC).isoformat().replace("+00:00", "Z")


def moment(when: When) -> str:
    """Write an instant, or a time from now."""
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
    """Return a text that may be in a header. Raise InvalidInput for any other."""
    if not text.isascii() or not text.isprintable():
        raise InvalidInput(f"{text[:100]!r} cannot be in a header; use printable ASCII characters")
    return text


def given(**values: str | int | bool | None) -> list[tuple[str, str]]:
    """Build a query of what is not `None`."""
    return [(name, _text(value)) for name, value in values.items() if value is not None]


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def repeated(name: str, values: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, value) for value in values]


def server_url(url: str | None) -> str:
    """The address of the server: as given, else DETENT_URL, else that of `detent serve` on this machine."""
    chosen = (url or os.environ.get("DETENT_URL") or "http://127.0.0.1:8080").rstrip("/")
    if not chosen.startswith(("http://", "https://")) or not _has_host(chosen):
        raise InvalidInput(f"{chosen!r} is not an address; write for example http://127.0.0.1:8080")
    return chosen


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
    """One HTTP request. `target` is path and query, encoded. `timeout` is the seconds in which the whole answer comes,
    or for a stream the longest silence. `key` names what the request starts, if the caller gave it no id. A
    transport that can lose an answer sends it as `Idempotency-Key`, so that the request can be sent again."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None
    timeout: float
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; header names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Send:
    """Send this; the answer comes back, or NoConnection is raised."""

    request: Request


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Open a stream. The answer has a body only if it is an error; else `ReadStream` returns it piece by piece. `None`
    comes back if the transport has no streams."""

    request: Request


@dataclass(frozen=True, slots=True)
class ReadStream:
    """Read the next piece of the stream; empty when it has ended."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Yield(Generic[T_co]):
    """Yield this to the caller."""

    items: Sequence[T_co]


Effect = Send | OpenStream | ReadStream | Wait
Exchange = Generator[Effect, Any, T]
StreamExchange = Generator[Effect | Yield[T], Any, None]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of a client. `timeout` is for one request, `patience` for all tries of one call together."""

    timeout: float = 30.0
    patience: float = 30.0
    headers: Mapping[str, str] = field(default_factory=dict)
    now: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def pause(self, tries: int, error: ApiError | NoConnection) -> float:
        """Return the seconds until the next try: what the server asked for, and a random part to spread clients."""
        asked = error.retry_after if isinstance(error, ApiError) else 0.0
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries, 16))
        return asked + longest * (0.5 + 0.5 * self.chance())


class OneAnswer(Protocol[T_co]):
    """A question with one answer."""

    def talk(self, policy: RetryPolicy) -> Exchange[T_co]: ...


class ManyAnswers(Protocol[T_co]):
    """A question whose answers come one by one."""

    def tell(self, policy: RetryPolicy) -> StreamExchange[T_co]: ...


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request and how its answer is read.

    `repeatable`: to send it twice does what sending it once does, so it may be sent again whenever no good answer came.
    Others are sent again only if they certainly did not arrive. `holds`: so long the server may keep the answer back.
    `key`: see `Request`.
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

    def request(self, policy: RetryPolicy) -> Request:
        target = f"{self.path}?{urlencode(self.query)}" if self.query else self.path
        headers = {"Accept": "application/json", **policy.headers, **self.headers}
        return Request(self.method, target, headers, self.body, policy.timeout + self.holds, self.key)

    def talk(self, policy: RetryPolicy) -> Exchange[T]:
        """Send it until an answer counts or patience is over."""
        request, until = self.request(policy), policy.now() + policy.patience
        for tries in count():
            try:
                answer: Answer = yield Send(request)
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

    def _is_worth_another_try(self, error: ApiError | NoConnection) -> bool:
        if isinstance(error, NoConnection):
            return self.repeatable or not error.sent
        return self.repeatable and is_passing(error)


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
    """A list, read page by page as far as the caller wants it."""

    first: Call[Many[T]]

    def tell(self, policy: RetryPolicy) -> StreamExchange[T]:
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
