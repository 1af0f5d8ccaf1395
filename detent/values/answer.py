"""The answer of a run to the caller of its webhook: status, headers and body, and what they may be.

Webhooks have the same origin as the web page. So an answer can have only the headers of a list: none that frames the
message, sets a cookie, or changes what a browser allows. The route adds a policy that lets no script run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from detent.errors import Problem
from detent.values.fields import described, inside, shown
from detent.values.http_body import is_header_name
from detent.values.limits import BODY_LIMIT

#: The action that answers. Its output is the answer.
RESPOND: Final = "core.respond"
FIRST_STATUS: Final = 200
LAST_STATUS: Final = 599
MOST_HEADERS: Final = 20
LONGEST_VALUE: Final = 2_000
#: The headers that an answer can have, besides those that begin with `x-`.
HEADERS: Final = frozenset(
    {
        *("allow", "cache-control", "content-disposition", "content-language", "content-type", "etag", "expires"),
        *("last-modified", "location", "retry-after", "vary"),
    }
)
_OWN_PREFIX: Final = "x-"
#: Headers that begin with `x-` and tell a browser or a proxy what to do.
_STEERING: Final = (
    *("x-accel-", "x-sendfile", "x-lighttpd-", "x-content-", "x-webkit-", "x-frame-", "x-xss-", "x-forwarded-"),
    *("x-permitted-", "x-dns-", "x-download-", "x-powered-", "x-ua-", "x-original-", "x-rewrite-"),
)
_VALUE: Final = re.compile(r"[\x20-\x7e]*")
#: Statuses whose answers have no body.
_EMPTY: Final = frozenset({204, 205, 304})
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"

_encode = msgspec.json.Encoder().encode


class RunAnswer(NamedTuple):
    """An answer as it is sent."""

    status: int
    headers: dict[str, str]
    content: bytes


def status_problem(status: object) -> str | None:
    """Return what is wrong with a status, or `None`."""
    if isinstance(status, int) and not isinstance(status, bool) and FIRST_STATUS <= status <= LAST_STATUS:
        return None
    given = str(status) if isinstance(status, int | float) else described(status)
    return f"must be a number from {FIRST_STATUS} to {LAST_STATUS}, not {given[:40]}"


def header_problem(name: str, value: object) -> str | None:
    """Return what is wrong with a header of an answer, or `None`."""
    if not is_header_name(name):
        return f"{shown(name)} cannot be the name of a header"
    lower = name.lower()
    if lower not in HEADERS and (not lower.startswith(_OWN_PREFIX) or lower.startswith(_STEERING)):
        known = ", ".join(sorted(HEADERS))
        return f"an answer cannot have the header {shown(name)}; it can have {known}, and names of yours with x-"
    if not isinstance(value, str | int | float):
        return f"the value of a header must be text, not {described(value)}"
    if len(str(value)) > LONGEST_VALUE or not _VALUE.fullmatch(str(value)):
        return f"the value of a header has at most {LONGEST_VALUE} printable ASCII characters"
    return None


def answer_problems(status: object, headers: Mapping[str, Any], body: Any) -> list[Problem]:
    """Return everything that is wrong with an answer."""
    found = [Problem("status", wrong)] if (wrong := status_problem(status)) else []
    if len(headers) > MOST_HEADERS:
        return [*found, Problem("headers", f"has {len(headers)} headers; at most {MOST_HEADERS} are allowed")]
    names: set[str] = set()
    for name, value in headers.items():
        wrong = header_problem(name, value)
        if wrong is None and name.lower() in names:
            wrong = "is given twice"
        names.add(name.lower())
        if wrong is not None:
            found.append(Problem(inside("headers", name), wrong))
    if found:
        return found
    if status in _EMPTY and body is not None:
        return [Problem("body", f"an answer with status {status} has no body; leave it out")]
    kind = _content_type(headers)
    if not isinstance(body, str | None) and kind is not None and not _is_json(kind):
        message = f"a body of type {shown(kind)} must be text, not {described(body)}"
        return [Problem("body", f"{message}; write text, or leave out the content-type for JSON")]
    size = len(_content(kind, body))
    if size > BODY_LIMIT:
        return [Problem("body", f"has {size} bytes; at most {BODY_LIMIT} are allowed")]
    return []


def build_answer(status: int, headers: Mapping[str, str | float], body: Any) -> RunAnswer:
    """Return an answer without problems as it is sent. A body that is not text is JSON."""
    sent = {name.lower(): str(value) for name, value in headers.items()}
    if body is not None and "content-type" not in sent:
        sent["content-type"] = _TEXT if isinstance(body, str) else _JSON
    return RunAnswer(status, sent, _content(_content_type(headers), body))


def _content_type(headers: Mapping[str, Any]) -> str | None:
    return next((str(value) for name, value in headers.items() if name.lower() == "content-type"), None)


def _is_json(kind: str) -> bool:
    plain = kind.partition(";")[0].strip().lower()
    return plain == _JSON or plain.endswith("+json")


def _content(kind: str | None, body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str) and (kind is None or not _is_json(kind)):
        return body.encode()
    return _encode(body)
