"""The request of an HTTP step as it is written: url, method, headers, body."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from detent.authoring.fields import Fields, inside, shown
from detent.authoring.header_names import is_header_name

REQUEST_FIELDS: Final = ("url", "method", "headers", "body")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
MOST_HEADERS: Final = 64
LARGEST_HEADERS: Final = 16 * 1024
_LONGEST_URL: Final = 8_192
_HEADER_BREAK: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# These say how the message is cut into bytes; whoever sends it must set them.
_OURS: Final = frozenset({"connection", "content-length", "transfer-encoding", "upgrade"})


def read_request(fields: Fields, default_method: str) -> dict[str, Any]:
    """The config of an HTTP step: all four keys, headers and body as written."""
    return {
        "url": _url(fields),
        "method": _method(fields, default_method),
        "headers": _headers(fields),
        "body": fields.get("body"),
    }


def _url(fields: Fields) -> str:
    if fields.get("url") is None:
        fields.problems.add(fields.at("url"), "is missing")
    url = fields.text("url", most=_LONGEST_URL) or ""
    if not url or url.startswith("{{"):
        return url
    if not url.lower().startswith(("http://", "https://")):
        fields.problems.add(fields.at("url"), f"{shown(url)} must begin with http:// or https://")
    elif "{{" not in url and (message := _constant_url_problem(url)):
        fields.problems.add(fields.at("url"), f"{shown(url)} {message}")
    return url


def _constant_url_problem(url: str) -> str | None:
    if re.search(r"\s", url):
        return "has a blank in it; write %20"
    try:
        parts = urlsplit(url)
        return None if parts.hostname and parts.port != 0 else "names no host"
    except ValueError as error:
        return f"is not a URL: {error}"


def _method(fields: Fields, default: str) -> str:
    value = fields.get("method")
    if value is None:
        return default
    if not isinstance(value, str):
        fields.wrong("method", f"one of {', '.join(METHODS)}")
    elif value.upper() in METHODS:
        return value.upper()
    else:
        hint = fields.problems.did_you_mean(value, METHODS)
        fields.problems.add(fields.at("method"), f"{shown(value)} is not one of {', '.join(METHODS)}{hint}")
    return default


def _headers(fields: Fields) -> dict[str, str]:
    headers = fields.mapping("headers") or {}
    path = fields.at("headers")
    if len(headers) > MOST_HEADERS:
        fields.problems.add(path, f"has {len(headers)} headers; at most {MOST_HEADERS} are allowed")
        return {}
    seen: dict[str, str] = {}
    for name, value in headers.items():
        message = _header_problem(name, value) or _taken(name, seen)
        if message:
            fields.problems.add(inside(path, name), message)
    size = sum(len(name.encode()) + len(str(value).encode()) for name, value in headers.items())
    if size > LARGEST_HEADERS:
        fields.problems.add(path, f"has {size} bytes; at most {LARGEST_HEADERS} are allowed")
    return headers


def _taken(name: str, seen: dict[str, str]) -> str | None:
    """Header names are the same in any case."""
    first = seen.setdefault(name.lower(), name)
    return None if first == name else f"is the same header as {first!r}"


def _header_problem(name: str, value: object) -> str | None:
    if not is_header_name(name):
        return f"{shown(name)} cannot be the name of a header"
    if name.lower() in _OURS:
        return "is set by Detent and cannot be written"
    if not isinstance(value, str):
        return f'the value of a header must be text; write "{value}"' if is_scalar(value) else "must be text"
    if _HEADER_BREAK.search(value):
        return "has a control character, which is not allowed in a header"
    return None


def is_scalar(value: object) -> bool:
    return isinstance(value, bool | int | float)
