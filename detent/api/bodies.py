"""What comes in: bodies, headers and cursors, read strictly and within their limits."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import Request

from detent.authoring.documents import decode_json
from detent.engine.commands import INPUT_LIMIT, Commands
from detent.errors import InvalidInput, Problem

MOST_HEADERS: Final = 64
HEADER_BYTES: Final = 16 * 1024
LONGEST_MESSAGE_ID: Final = 255
_MOST_FIELDS: Final = 1_000
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


async def callback_body(request: AnyRequest) -> Any:
    """The payload of a callback: JSON, a form, or text. Null if there is none."""
    data = await request.body()
    if not data.strip():
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded" and data.strip()[:1] not in b'{["':
        return _form(data)
    if kind.startswith("text/") and kind != "text/json":
        return _text(data)
    return decode_json(data, INPUT_LIMIT)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the body is not UTF-8") from None


def _form(data: bytes) -> dict[str, Any]:
    """A field that comes more than once becomes a list."""
    try:
        pairs = parse_qsl(_text(data), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise InvalidInput(f"the form cannot be read: {error}") from None
    found: dict[str, Any] = {}
    for name, value in pairs:
        known = found.get(name)
        found[name] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
    return found


def headers_of(request: AnyRequest) -> Mapping[str, str]:
    """The headers, if they are not too many or too long."""
    return read_headers(request.scope["headers"])


def read_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The same of the headers as they came."""
    raw = list(headers)
    if len(raw) > MOST_HEADERS or sum(len(name) + len(value) for name, value in raw) > HEADER_BYTES:
        raise InvalidInput(f"at most {MOST_HEADERS} headers with {HEADER_BYTES} bytes in all are taken")
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}


def message_id(headers: Mapping[str, str]) -> str | None:
    """What tells two sendings of one callback from two callbacks."""
    found = headers.get("webhook-id") or headers.get("idempotency-key")
    if found and len(found) > LONGEST_MESSAGE_ID:
        raise InvalidInput(f"a webhook-id or Idempotency-Key has at most {LONGEST_MESSAGE_ID} characters")
    return found or None


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
