"""A request as it will be sent: everything templates filled in is checked here, once, before anything is dialled.

The address is parsed one time and that parsed value is what is checked, connected to and sent, so no two parsers can
read it differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final

import msgspec
from multidict import CIMultiDict
from yarl import URL

from detent.run.call import StepCall
from detent.values.limits import HEADER_BYTES_LIMIT, HEADER_COUNT_LIMIT
from detent.version import VERSION

METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
FOLLOWING_METHODS: Final = frozenset({"GET", "HEAD"})
LONGEST_URL: Final = 8192

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_HEADER: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_IN_URL: Final = re.compile(
    "[\x00-\x20\x7f-\xa0\\\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff]"
)
_HOST: Final = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")
_NUMERIC_END: Final = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.?")

# What belongs to one connection is not the author's to set; what belongs to the engine neither.
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
# A redirect to another origin carries these and nothing else: any other header may hold a secret.
_SAFE_ELSEWHERE: Final = frozenset(
    {"accept", "accept-language", "accept-encoding", "user-agent", "idempotency-key", "detent-attempt"}
)


class InvalidHttpRequest(ValueError):
    """The request cannot be sent as it is written; another attempt would not change that."""


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """Where a request goes: `host` in its ASCII form, as it is resolved and connected to."""

    url: URL
    host: str
    port: int

    @property
    def shown(self) -> str:
        """The address for messages, without its query, which may hold secrets."""
        return str(self.url.with_query(None).with_fragment(None))


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One hop, ready to be sent."""

    method: str
    target: HttpTarget
    headers: CIMultiDict[str]
    body: bytes | None

    def redirected(self, location: str, status: int) -> HttpRequest:
        """The request that follows a redirect; InvalidRequest if that leads to no address a step may ask."""
        if _NOT_IN_URL.search(location):
            raise InvalidHttpRequest("the redirect's location is not a valid address")
        link = _read_url(location)
        if link.scheme and not link.raw_host:
            raise InvalidHttpRequest("the redirect's location names no host")
        target = parse_target(str(self.target.url.join(link)))
        if target.url.origin() == self.target.url.origin():
            return replace(self, target=target, body=None if status == 303 else self.body)
        kept = CIMultiDict((name, value) for name, value in self.headers.items() if name.lower() in _SAFE_ELSEWHERE)
        return replace(self, target=target, headers=kept, body=None)


def build_request(call: StepCall) -> HttpRequest:
    """The request of a call's parameters `url method headers body`; InvalidRequest says what is wrong with them."""
    parameters = call.parameters
    if not isinstance(parameters, Mapping):
        raise InvalidHttpRequest("an http step needs a url")
    headers = CIMultiDict(
        {"User-Agent": f"detent/{VERSION}", "Idempotency-Key": call.idempotency_key},
    )
    _add_headers(headers, parameters.get("headers"))
    headers["Detent-Attempt"] = str(call.attempt)
    headers["Accept-Encoding"] = "identity"
    body = _encode_body(parameters.get("body"), headers)
    return HttpRequest(_method(parameters.get("method")), _target(parameters.get("url")), headers, body)


@lru_cache(maxsize=512)
def parse_target(text: str) -> HttpTarget:
    """The address, parsed once and canonical; InvalidRequest if a step cannot ask it."""
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
        raise InvalidHttpRequest("the url has brackets around what is no IPv6 address")
    _check_host(host)
    return HttpTarget(url, host, port)


def _read_url(text: str) -> URL:
    try:
        return URL(text)
    except Exception as error:  # noqa: BLE001 - the parser fails on some texts in ways of its own (`http://[]@`)
        raise InvalidHttpRequest(f"the url cannot be read: {error}") from None


def _check_host(host: str) -> None:
    """One spelling per address: `127.1`, `0x7f.1`, `2130706433` and zones are refused."""
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
    """Add what the author wrote. A header that is null is not sent."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InvalidHttpRequest("headers must be an object of names to values")
    if len(given) > HEADER_COUNT_LIMIT:
        raise InvalidHttpRequest(f"a request may have {HEADER_COUNT_LIMIT} headers")
    size = 0
    for name, value in given.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidHttpRequest(f"{str(name)[:80]!r} is no header name")
        if name.lower() in _NOT_SETTABLE:
            raise InvalidHttpRequest(f"the header {name} cannot be set by a step")
        if value is not None:
            headers[name] = text = _header_value(name, value)
            size += len(name) + len(text.encode())
    if size > HEADER_BYTES_LIMIT:
        raise InvalidHttpRequest(f"the headers of a request may take {HEADER_BYTES_LIMIT // 1024} KB")


def _header_value(name: str, value: object) -> str:
    if isinstance(value, str):
        if _NOT_IN_HEADER.search(value):
            raise InvalidHttpRequest(f"the value of header {name} has a control character in it")
        return value.strip()
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    raise InvalidHttpRequest(f"the value of header {name} must be a text or a number")


def _encode_body(body: Any, headers: CIMultiDict[str]) -> bytes | None:
    """A text is sent as it is, anything else as JSON, null not at all."""
    if body is None:
        return None
    try:
        if isinstance(body, str):
            headers.setdefault("Content-Type", "text/plain; charset=utf-8")
            return body.encode()
        headers.setdefault("Content-Type", "application/json")
        return msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidHttpRequest(f"the body cannot be sent: {error}") from None
