"""The body of a request from outside, read as what it is: JSON, a form, text, or bytes."""

from __future__ import annotations

import base64
from typing import Any, Final
from urllib.parse import parse_qsl

from detent.authoring.documents import decode_json
from detent.engine.commands import INPUT_LIMIT
from detent.errors import InvalidInput, TooLarge

_MOST_FIELDS: Final = 1_000
_FORM: Final = "application/x-www-form-urlencoded"
#: What a sender says that does not care to say anything.
_UNSAID: Final = frozenset({"", _FORM, "*/*"})


def read_payload(data: bytes, content_type: str) -> Any:
    """JSON whenever it is said to be or looks like it; else a form as a mapping, text as text, and anything else as
    `{"content_type", "base64"}`. Null if there is nothing. InvalidInput if it is not what it is said to be."""
    if len(data) > INPUT_LIMIT:
        raise TooLarge(f"the body has {len(data)} bytes; at most {INPUT_LIMIT} are allowed")
    if not data.strip():
        return None
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _FORM and data.strip()[:1] not in b'{["':
        return _form(data)
    if kind in _UNSAID or kind.endswith(("/json", "+json")):
        return decode_json(data, INPUT_LIMIT)
    if kind.startswith("text/") or kind.endswith(("/xml", "+xml", "/yaml", "/x-yaml")):
        return _text(data)
    return _json_or_bytes(data, kind)


def _json_or_bytes(data: bytes, kind: str) -> Any:
    """Many senders have JSON and call it `application/octet-stream` or worse."""
    if data.strip()[:1] in b'{["':
        try:
            return decode_json(data, INPUT_LIMIT)
        except InvalidInput:
            pass
    return {"content_type": kind, "base64": base64.b64encode(data).decode()}


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
