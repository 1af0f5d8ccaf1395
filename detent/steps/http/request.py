"""The request of an http step. All values from templates are checked here, once, before a connection is opened.

The URL is parsed once. The same parsed value is checked, connected to and sent, so that no two parsers can read it
differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final, Protocol

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy, istr
from yarl import URL

from detent.run.call import BoundSecret, StepCall
from detent.run.state import RunFacts
from detent.steps.acting_user import acting_user_headers
from detent.values.blob import KEY, Blob, read_blob
from detent.values.limits import HEADER_BYTES_LIMIT, HEADER_COUNT_LIMIT
from detent.version import VERSION

METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
FOLLOWING_METHODS: Final = frozenset({"GET", "HEAD"})
LONGEST_URL: Final = 8192
_MOST_PARTS: Final = 100

_KEY_HEADER: Final = istr("Idempotency-Key")
_CONTENT_TYPE: Final = istr("Content-Type")
_ATTEMPT_HEADER: Final = istr("Detent-Attempt")
_ENCODING_HEADER: Final = istr("Accept-Encoding")
#: Headers that each request has its own value of, unless its action writes them.
_LATER: Final = frozenset({"idempotency-key", "content-type"})
_USER_AGENT: Final = f"detent/{VERSION}"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_HEADER: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_IN_URL: Final = re.compile(
    "[\x00-\x20\x7f-\xa0\\\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff]"
)
_HOST: Final = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")
_NUMERIC_END: Final = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.?")

# Headers of the connection and of the engine, which a step cannot set.
_NOT_SETTABLE: Final = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "detent-attempt",
    }
)
# Only these headers are sent to another origin after a redirect: any other header may contain a secret.
_SAFE_ELSEWHERE: Final = frozenset(
    {"accept", "accept-language", "accept-encoding", "user-agent", "idempotency-key", "detent-attempt"}
)


class InvalidHttpRequest(ValueError):
    """The request is invalid and cannot be sent. A retry would not change that."""


class HttpTarget(msgspec.Struct, frozen=True):
    """The target of a request. `host` is in its ASCII form, which is resolved and connected to."""

    url: URL
    host: str
    port: int


class BlobBody(msgspec.Struct, frozen=True):
    """A body that is streamed when the request is sent: one blob, or the parts of a form with blobs among them."""

    blob: Blob | None
    parts: Mapping[str, Any] | None = None

    def blobs(self) -> list[Blob]:
        """Return the blobs in it."""
        if self.blob is not None:
            return [self.blob]
        return [found for value in (self.parts or {}).values() if (found := read_blob(value)) is not None]


class HttpRequest(msgspec.Struct, frozen=True):
    """One hop, ready to be sent. `bound` are secrets in it that not every host may receive."""

    method: str
    target: HttpTarget
    headers: CIMultiDict[str]
    body: bytes | BlobBody | None
    bound: tuple[BoundSecret, ...] = ()

    def __str__(self) -> str:
        """Return the method and the URL for messages, without the query, which may contain secrets."""
        return f"{self.method} {self.target.url.with_query(None).with_fragment(None)}"

    def redirected(self, location: str, status: int) -> HttpRequest:
        """Return the request that follows a redirect. Raise InvalidHttpRequest if its location is not valid."""
        if _NOT_IN_URL.search(location):
            raise InvalidHttpRequest("the redirect's location is not a valid address")
        link = _read_url(location)
        if link.scheme and not link.raw_host:
            raise InvalidHttpRequest("the redirect's location names no host")
        target = parse_target(str(self.target.url.join(link)))
        if target.url.origin() == self.target.url.origin():
            return msgspec.structs.replace(self, target=target, body=None if status == 303 else self.body)
        kept = CIMultiDict((name, value) for name, value in self.headers.items() if name.lower() in _SAFE_ELSEWHERE)
        return msgspec.structs.replace(self, target=target, headers=kept, body=None)


def build_request(call: StepCall) -> HttpRequest:
    """Return the request of a call's parameters `url method headers body`. Raise InvalidHttpRequest."""
    parameters = call.parameters
    if not isinstance(parameters, Mapping):
        raise InvalidHttpRequest("an http step needs a url")
    headers = CIMultiDict(
        {"User-Agent": f"detent/{VERSION}", "Idempotency-Key": call.idempotency_key},
    )
    if call.view is not None:
        headers.update(acting_headers(call.view.facts))
    _add_headers(headers, parameters.get("headers"))
    headers["Detent-Attempt"] = str(call.attempt)
    headers["Accept-Encoding"] = "identity"
    parts = parameters.get("parts")
    body = _encode_body(parameters.get("body"), headers) if parts is None else _read_parts(parts, headers)
    return HttpRequest(_method(parameters.get("method")), _target(parameters.get("url")), headers, body, call.bound)


def acting_headers(run: RunFacts) -> CIMultiDictProxy[str]:
    """Return the headers that say for whom a run acts."""
    return _acting_headers(run.id, run.input)


@lru_cache(maxsize=256)
def _acting_headers(run: bytes, raw: bytes) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(acting_user_headers(run, raw)))


class PreparedRequest(Protocol):
    """A request whose body is written already."""

    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, Any]: ...
    @property
    def body(self) -> bytes | None: ...
    @property
    def content_type(self) -> str | None: ...


class SharedHeaders:
    """The headers that the requests of an action have in common, merged and checked once.

    `connection` are those of its connection, which need no check. `constant` are those of its manifest, if they are
    the same in all requests.
    """

    def __init__(self, connection: Mapping[str, str], constant: Mapping[str, Any] | None = None) -> None:
        self._headers = CIMultiDict({"User-Agent": _USER_AGENT, **connection, _ENCODING_HEADER: "identity"})
        self._merged: object = None
        if constant is None or any(name.lower() in _LATER for name in constant):
            return
        merged = self._headers.copy()
        with suppress(InvalidHttpRequest):  # the request raises it
            _add_headers(merged, constant)
            merged[_ENCODING_HEADER] = "identity"
            self._headers = merged
            self._merged = constant

    def build(
        self, prepared: PreparedRequest, key: str, attempt: int, checked: CIMultiDictProxy[str] | None = None
    ) -> HttpRequest:
        """Return a request that an action has written.

        `checked` are more headers that need no check; they do not replace others. Raise InvalidHttpRequest."""
        if checked is None:
            headers = self._headers.copy()
        else:
            headers = checked.copy()
            headers.update(self._headers)
        headers[_KEY_HEADER] = key
        if prepared.content_type is not None:
            headers[_CONTENT_TYPE] = prepared.content_type
        if prepared.headers and prepared.headers is not self._merged:
            _add_headers(headers, prepared.headers)
            headers[_ENCODING_HEADER] = "identity"
        headers[_ATTEMPT_HEADER] = str(attempt)
        return HttpRequest(prepared.method, parse_target(prepared.url), headers, prepared.body)


def build_prepared(prepared: PreparedRequest, key: str, attempt: int) -> HttpRequest:
    """Return a request that is written already, of no connection. Raise InvalidHttpRequest."""
    return _NO_CONNECTION.build(prepared, key, attempt)


@lru_cache(maxsize=512)
def parse_target(text: str) -> HttpTarget:
    """Return the parsed and canonical URL. Raise InvalidHttpRequest if a step cannot call it."""
    if len(text) > LONGEST_URL:
        raise InvalidHttpRequest(f"the url is longer than {LONGEST_URL} characters")
    if _NOT_IN_URL.search(text):
        raise InvalidHttpRequest("the url has a space, a backslash or a control character in it")
    url = _read_url(text)
    if url.scheme not in {"http", "https"}:
        raise InvalidHttpRequest("the url must begin with http:// or https://")
    host, port = url.raw_host, url.port
    if not host or port is None or not url.absolute:
        raise InvalidHttpRequest("the url names no host")
    authority = re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]
    if "@" in authority:
        raise InvalidHttpRequest("the url has a user or password in it; send an Authorization header instead")
    if port == 0:
        raise InvalidHttpRequest("the url has port 0")
    if "[" in authority and ":" not in host:
        raise InvalidHttpRequest("the url has brackets around a host that is not an IPv6 address")
    _check_host(host)
    return HttpTarget(url, host, port)


def _read_url(text: str) -> URL:
    try:
        return URL(text)
    except Exception as error:  # noqa: BLE001 - for some texts (`http://[]@`) the parser raises unexpected errors
        raise InvalidHttpRequest(f"the url cannot be read: {error}") from None


def _check_host(host: str) -> None:
    """Raise InvalidHttpRequest for unusual spellings of an address: `127.1`, `0x7f.1`, `2130706433` and zones."""
    try:
        if ":" in host:
            if IPv6Address(host).scope_id is not None:
                raise InvalidHttpRequest("the url's address has a zone in it")
            return
        if _NUMERIC_END.fullmatch(host):
            IPv4Address(host)
            return
    except ValueError:
        raise InvalidHttpRequest(f"the url's host {host[:80]!r} is not a plainly written address") from None
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise InvalidHttpRequest(f"the url's host {host[:80]!r} is not a valid host name")


def _target(url: object) -> HttpTarget:
    if not isinstance(url, str) or not url:
        raise InvalidHttpRequest("an http step needs a url")
    return parse_target(url)


def _method(method: object) -> str:
    if method is None:
        return "POST"
    name = method.upper() if isinstance(method, str) else ""
    if name not in METHODS:
        raise InvalidHttpRequest(f"the method must be one of {', '.join(sorted(METHODS))}")
    return name


def _add_headers(headers: CIMultiDict[str], given: object) -> None:
    """Add the headers of the step. A header that is `null` is not sent."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InvalidHttpRequest("headers must be an object of names to values")
    if len(given) > HEADER_COUNT_LIMIT:
        raise InvalidHttpRequest(f"a request may have at most {HEADER_COUNT_LIMIT} headers")
    size = 0
    for name, value in given.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidHttpRequest(f"{str(name)[:80]!r} is not a valid header name")
        if name.lower() in _NOT_SETTABLE:
            raise InvalidHttpRequest(f"the header {name} cannot be set by a step")
        if value is not None:
            headers[name] = text = _header_value(name, value)
            size += len(name) + len(text.encode())
    if size > HEADER_BYTES_LIMIT:
        raise InvalidHttpRequest(f"the headers of a request may take at most {HEADER_BYTES_LIMIT // 1024} KB")


def _header_value(name: str, value: object) -> str:
    if isinstance(value, str):
        if _NOT_IN_HEADER.search(value):
            raise InvalidHttpRequest(f"the value of header {name} has a control character in it")
        return value.strip()
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    raise InvalidHttpRequest(f"the value of header {name} must be a text or a number")


_NO_CONNECTION: Final = SharedHeaders({})


def _read_parts(parts: Any, headers: CIMultiDict[str]) -> BlobBody:
    """Return the body of a form. Its client writes the Content-Type, which has the boundary."""
    if not isinstance(parts, Mapping) or not parts:
        raise InvalidHttpRequest("parts must be an object of names to texts, numbers, objects or blobs")
    if len(parts) > _MOST_PARTS:
        raise InvalidHttpRequest(f"a form has at most {_MOST_PARTS} parts, not {len(parts)}")
    if "Content-Type" in headers:
        raise InvalidHttpRequest("a request with parts is multipart/form-data; remove its Content-Type header")
    return BlobBody(None, parts)


def _encode_body(body: Any, headers: CIMultiDict[str]) -> bytes | BlobBody | None:
    """Return the bytes of a body: a text unchanged, a blob as its content, anything else as JSON, and no body for
    `null`."""
    if body is None:
        return None
    if type(body) is dict and KEY in body and (blob := read_blob(body)) is not None:
        headers.setdefault("Content-Type", blob.type)
        return BlobBody(blob)
    try:
        if isinstance(body, str):
            headers.setdefault("Content-Type", "text/plain; charset=utf-8")
            return body.encode()
        headers.setdefault("Content-Type", "application/json")
        return msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidHttpRequest(f"the body cannot be sent: {error}") from None
