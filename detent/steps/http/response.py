"""The answer of an http step: how much of it is stored, and the outcome that its status means."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp
import msgspec
from multidict import CIMultiDictProxy

from detent.errors import TooLarge
from detent.instant import SECOND, Instant
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.http.request import HttpRequest
from detent.steps.payloads.blobs import Upload
from detent.values.blob import Blob
from detent.values.limits import (
    HEADER_BYTES_LIMIT,
    HEADER_COUNT_LIMIT,
    LARGEST_INTEGER,
    NESTING_LIMIT,
    SMALLEST_INTEGER,
)

# A body is stored as JSON only if every later reader can parse it.
#
# That is strict JSON in UTF-8, without lone surrogates, NaN, numbers beyond a double, integers beyond 64 bits or
# nesting beyond the limit. Such a text is stored byte for byte, so repeated keys and the spelling of numbers survive.


_AS_ZERO: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * 19
_decode: Final = msgspec.json.Decoder().decode


_NOT_ACCEPTABLE: Final = object()


def is_acceptable_json(raw: bytes) -> bool:
    """Return whether these bytes may be stored unchanged as JSON."""
    return _acceptable_json(raw) is not _NOT_ACCEPTABLE


def _acceptable_json(raw: bytes) -> Any:
    """Return the value of bytes that may be stored unchanged as JSON, and a mark for other bytes."""
    try:
        value = _decode(raw)
    except (ValueError, RecursionError):
        return _NOT_ACCEPTABLE
    # A cheap test shows that most texts are neither deep nor have large numbers. Only the others are walked.
    if raw.count(b"[") + raw.count(b"{") <= NESTING_LIMIT and _LONG_NUMBER not in raw.translate(_AS_ZERO):
        return value
    return value if _is_shallow_and_small(value) else _NOT_ACCEPTABLE


def _is_shallow_and_small(value: Any) -> bool:
    level = [value]
    for depth in range(NESTING_LIMIT + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict | list):
                if depth == NESTING_LIMIT:
                    return False
                below.extend(item.values() if isinstance(item, dict) else item)
            elif isinstance(item, int) and not SMALLEST_INTEGER <= item <= LARGEST_INTEGER:
                return False
        level = below
    return True


LONGEST_RETRY_AFTER: Final = 3600.0


class BadAnswer(ValueError):
    """The server sent something that is not a valid HTTP answer."""


class HttpAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of an http step that expressions read. If `truncated`, the body is the text that fits."""

    status_code: int | None
    headers: Mapping[str, str]
    body: msgspec.Raw | str | None
    truncated: bool = False


_RETRIED_CLIENT_ERRORS: Final = frozenset({408, 425, 429})
_ANSWERS_WITH_RETRY_AFTER: Final = frozenset({429, 503, *range(300, 400)})
encode_answer: Final = msgspec.json.Encoder().encode
NO_ANSWER: Final = encode_answer(HttpAnswer(None, {}, None))


class ReceivedAnswer(msgspec.Struct, frozen=True):
    """The final answer of a request as it arrived. Its parts are built when they are read.

    `raw` is its body, at most `limit` bytes of it. `remark` is for messages, and `wait` is how many seconds the server
    asked for. `blob` is a body that was too large and is stored as a blob.
    """

    request: HttpRequest
    status: int
    raw_headers: CIMultiDictProxy[str]
    raw: bytes
    is_cut: bool
    limit: int
    remark: str
    wait: float | None
    blob: Blob | None = None

    def headers(self) -> dict[str, str]:
        """Return the headers that are stored, by their names in lower case."""
        return _kept_headers(self.raw_headers)

    def stored(self) -> HttpAnswer:
        """Return what a step stores of the answer."""
        raw, headers = self.raw, self.headers()
        if self.blob is not None:
            return HttpAnswer(self.status, headers, msgspec.Raw(msgspec.json.encode(self.blob.document())))
        if not raw:
            return HttpAnswer(self.status, headers, None)
        if not self.is_cut and _acceptable_json(raw) is not _NOT_ACCEPTABLE:
            return HttpAnswer(self.status, headers, msgspec.Raw(raw))
        text, is_cut = _bounded_text(raw, self.is_cut, self.limit)
        return HttpAnswer(self.status, headers, text, is_cut)

    def value(self) -> tuple[Any, bool]:
        """Return the body and whether it was cut. JSON is decoded, and no body is `None`."""
        raw = self.raw
        if not raw:
            return None, False
        value = _NOT_ACCEPTABLE if self.is_cut else _acceptable_json(raw)
        return _bounded_text(raw, self.is_cut, self.limit) if value is _NOT_ACCEPTABLE else (value, False)


async def read_answer(
    request: HttpRequest,
    response: aiohttp.ClientResponse,
    limit: int,
    remark: str,
    wall: Callable[[], Instant],
    save: BeginUpload | None = None,
) -> ReceivedAnswer:
    """Read the answer, but no more of its body than `limit`. If there is more, `save` it as a blob, or close the
    connection. A body that is compressed although the request refuses that is not saved."""
    raw, is_cut = await _read_body(response, limit)
    blob = None
    if is_cut and save is not None and _inflater(response.headers.get("Content-Encoding", "")) is None:
        blob = await _save(raw, response, save)
        is_cut = blob is None
    raw = raw[:limit]
    if is_cut:
        response.close()
    headers = response.headers
    asked = headers.get("Retry-After")
    wait = None if asked is None else retry_after(asked, wall())
    return ReceivedAnswer(request, response.status, headers, raw, is_cut, limit, remark, wait, blob)


def retry_after(value: str, now: Instant) -> float | None:
    """Return the seconds of a Retry-After header (a number, or a date compared with now), at most an hour."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        seconds = float(value[:9])
    else:
        try:
            date = parsedate_to_datetime(value)
            seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now / SECOND
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def outcome_of(answer: HttpAnswer, request: object, remark: str = "", wait: float | None = None) -> Outcome:
    """Return the outcome of a step for a final answer. `request` and `remark` are for messages; `wait` is how many
    seconds the server asked for."""
    status, result = answer.status_code or 0, encode_answer(answer)
    if 200 <= status < 300:
        return Done(result)
    return Fail(
        StepError("http_status", f"{request} answered {status}{remark}"),
        result,
        retry=status >= 500 or status in _RETRIED_CLIENT_ERRORS,
        retry_after=wait if status in _ANSWERS_WITH_RETRY_AFTER else None,
    )


BeginUpload = Callable[[str | None], Awaitable[Upload]]


async def _save(begin: bytes, response: aiohttp.ClientResponse, save: BeginUpload) -> Blob | None:
    """Return the blob of a body whose beginning was read. Return None if it is larger than a blob may be."""
    upload = await save(response.headers.get("Content-Type"))
    try:
        await upload.write(begin)
        while chunk := await response.content.readany():
            await upload.write(chunk)
        return await upload.finish()
    except BaseException as error:
        await upload.abort()
        if isinstance(error, TooLarge):
            return None
        raise


async def _read_body(response: aiohttp.ClientResponse, limit: int) -> tuple[bytes, bool]:
    """Return the decoded body, or what was read when it exceeded the limit, and whether it did."""
    inflate = _inflater(response.headers.get("Content-Encoding", ""))
    kept = bytearray()
    while chunk := await response.content.readany():
        kept += chunk if inflate is None else inflate.feed(chunk, limit + 1 - len(kept))
        if len(kept) > limit:
            return bytes(kept), True
    if inflate is not None:
        inflate.finish()
    return bytes(kept), False


def _inflater(encoding: str) -> _Inflater | None:
    name = encoding.strip().lower()
    return _Inflater(name) if name in {"gzip", "x-gzip", "deflate"} else None


class _Inflater:
    """Decompresses a body that a server compressed although the request refuses that.

    It never returns more bytes than the room that is left.
    """

    _AS_GZIP = zlib.MAX_WBITS | 16
    _AS_ZLIB = zlib.MAX_WBITS
    _AS_RAW = -zlib.MAX_WBITS

    def __init__(self, name: str) -> None:
        self._bits = self._AS_ZLIB if name == "deflate" else self._AS_GZIP
        self._stream = zlib.decompressobj(self._bits)
        self._is_begun = False

    def feed(self, data: bytes, room: int) -> bytes:
        out = b""
        while data and len(out) < room:
            if self._stream.eof:
                if self._bits != self._AS_GZIP:
                    break
                self._stream = zlib.decompressobj(self._bits)
            out += self._decompress(data, room - len(out))
            data = self._stream.unused_data
        return out

    def finish(self) -> None:
        """Raise BadAnswer if the answer ended before its compressed data did."""
        if self._is_begun and not self._stream.eof:
            raise BadAnswer("the compressed answer was cut")

    def _decompress(self, data: bytes, room: int) -> bytes:
        is_first, self._is_begun = not self._is_begun, True
        try:
            return self._stream.decompress(data, room)
        except zlib.error as error:
            # "deflate" means the zlib format, but some servers send raw deflate data.
            if not is_first or self._bits != self._AS_ZLIB:
                raise BadAnswer(f"the compressed answer is damaged: {error}") from None
        self._bits = self._AS_RAW
        self._stream = zlib.decompressobj(self._bits)
        return self._decompress(data, room)


def _bounded_text(raw: bytes, is_cut: bool, limit: int) -> tuple[str, bool]:
    """Return the bytes as text, and whether it was cut.

    Invalid UTF-8 is replaced. That takes more bytes, so the text is measured again.
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(raw, final=not is_cut)
    encoded = text.encode()
    if len(encoded) <= limit:
        return text, is_cut
    return encoded[:limit].decode("utf-8", "ignore"), True


def _kept_headers(headers: CIMultiDictProxy[str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    size = 0
    for name, value in headers.items():
        name = name.lower()
        if not value.isascii():
            value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        size += len(name) + len(value)
        if size > HEADER_BYTES_LIMIT:
            break
        if name in kept:
            kept[name] = f"{kept[name]}, {value}"
        elif len(kept) < HEADER_COUNT_LIMIT:
            kept[name] = value
    return kept
