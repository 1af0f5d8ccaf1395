"""What comes in: bodies, headers and cursors, read strictly and within their limits."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from litestar import Request

from detent.api.payloads import read_headers
from detent.authoring.documents import decode_json
from detent.engine.commands import INPUT_LIMIT, Commands
from detent.errors import InvalidInput, Problem

_MOST_ROWS: Final = 200
_ROWS: Final = 50

AnyRequest = Request[Any, Any, Any]


def commands(request: AnyRequest) -> Commands:
    """What every handler calls."""
    found: Commands = request.app.state["commands"]
    return found


async def json_body(request: AnyRequest, *, empty: Any) -> Any:
    """The body as JSON, whatever its content type says; `empty` if there is none."""
    return read_json(await request.body(), empty=empty)


def read_json(data: bytes, *, empty: Any) -> Any:
    """The JSON value in a body; `empty` if there is none."""
    return decode_json(data, INPUT_LIMIT) if data and not data.isspace() else empty


def headers_of(request: AnyRequest) -> Mapping[str, str]:
    """The headers, if they are not too many or too long."""
    return read_headers(request.scope["headers"])


def filename_of(request: AnyRequest) -> str | None:
    """A name whose ending says the syntax of a definition, if the content type says it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.endswith(("/yaml", "/x-yaml", "+yaml")):
        return "body.yaml"
    return "body.json" if kind == "application/json" else None


def page_of(request: AnyRequest) -> tuple[int, bytes | None]:
    """`limit` and `cursor` of a list."""
    text = request.query_params.get("limit", str(_ROWS))
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 0 < int(text) <= _MOST_ROWS):
        raise InvalidInput("the list cannot be read", [Problem("limit", f"must be a number from 1 to {_MOST_ROWS}")])
    cursor = request.query_params.get("cursor")
    if cursor is None:
        return int(text), None
    try:
        return int(text), base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("the list cannot be read", [Problem("cursor", "is none that this list gave")]) from None


def cursor_of(raw: bytes) -> str:
    """Where the next page begins."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
