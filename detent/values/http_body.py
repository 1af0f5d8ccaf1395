"""The body of a request as JSON values, read only from its headers and its bytes, without a framework.

JSON stays JSON, a form becomes an object, and text becomes text. Everything else becomes base64, with `encoding` beside
it. Nothing is decompressed: a small body cannot become a large one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from detent.errors import InvalidInput, TooLarge
from detent.values.json import decode_json
from detent.values.limits import ID_LIMIT, INPUT_LIMIT

# `multipart/form-data` (RFC 7578), read strictly: everything that is not exactly a form is refused, and nesting too.


_LONGEST_HEAD: Final = 8 * 1024
_BOUNDARY: Final = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_PARAMETER: Final = re.compile(r';[ \t]*([A-Za-z0-9_*-]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^;"\s]*)[ \t]*')
_ESCAPED: Final = re.compile(r"\\(.)")


def read_multipart(content_type: str, data: bytes, *, most_parts: int) -> dict[str, Any]:
    """Return the fields of a form.

    A file becomes {filename, content_type, size, base64}. Raise InvalidInput otherwise."""
    boundary = parameter(content_type, "boundary")
    if not _BOUNDARY.fullmatch(boundary):
        raise InvalidInput("the form cannot be read: its Content-Type names no boundary")
    mark = b"\r\n--" + boundary.encode("ascii")
    whole = b"\r\n" + data
    if whole.count(mark) > most_parts + 1:
        raise InvalidInput(f"a form has at most {most_parts} fields")
    preamble, *parts = whole.split(mark)
    if not parts or preamble or not parts[-1].startswith(b"--") or parts[-1][2:].strip():
        raise InvalidInput("the form cannot be read: it does not begin and end with its boundary")
    return gathered(_field(part) for part in parts[:-1])


def gathered(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return fields by name; one that comes more than once becomes a list."""
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def parameter(described: str, name: str) -> str:
    """Return a parameter of a header such as Content-Type, or an empty text if it is missing."""
    for key, value in _PARAMETER.findall(described):
        if key.lower() == name:
            return _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
    return ""


def _field(part: bytes) -> tuple[str, Any]:
    head, blank, content = part.partition(b"\r\n\r\n")
    if not blank or not head.startswith(b"\r\n") or len(head) > _LONGEST_HEAD:
        raise InvalidInput("the form cannot be read: a part of it has no headers")
    headers = _headers(head[2:])
    disposition = headers.get("content-disposition", "")
    name = parameter(disposition, "name")
    if disposition.partition(";")[0].strip().lower() != "form-data" or not name:
        raise InvalidInput("the form cannot be read: a part of it has no name")
    kind = headers.get("content-type")
    if not re.search(r";[ \t]*filename[ \t]*=", disposition, re.IGNORECASE):
        try:
            return name, content.decode()
        except UnicodeDecodeError:
            return name, _file(None, kind, content)  # not text, although the part has no file name
    return name, _file(parameter(disposition, "filename"), kind, content)


def _headers(head: bytes) -> dict[str, str]:
    try:
        lines = head.decode().split("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput("the form cannot be read: the headers of a part are not UTF-8") from None
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _file(filename: str | None, kind: str | None, content: bytes) -> dict[str, Any]:
    return {
        "filename": filename,
        "content_type": kind or "application/octet-stream",
        "size": len(content),
        "base64": base64.b64encode(content).decode("ascii"),
    }


# Names of HTTP headers.


#: Headers that carry credentials are never stored.
SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def is_header_name(text: str) -> bool:
    """Return whether a text may be the name of a header, in any case."""
    return _HEADER_NAME.fullmatch(text) is not None


MOST_HEADERS: Final = 64
HEADER_BYTES: Final = 16 * 1024
MOST_FIELDS: Final = 1_000
BASE64: Final = "base64"

_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"})


class Payload(NamedTuple):
    """A body as stored. `encoding` is set if it is stored in another form than it was sent."""

    body: Any
    encoding: str | None = None


def read_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers; one that comes more than once is joined by commas.

    Raise InvalidInput if there are too many."""
    raw = list(headers)
    if len(raw) > MOST_HEADERS or sum(len(name) + len(value) for name, value in raw) > HEADER_BYTES:
        raise InvalidInput(f"at most {MOST_HEADERS} headers with {HEADER_BYTES} bytes in all are accepted")
    # Spaces around a value are not part of it, and a proxy may remove them.
    found = {name.decode("latin-1"): value.strip(b" \t").decode("latin-1") for name, value in raw}
    return found if len(found) == len(raw) else _joined(raw)


def _joined(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.strip(b" \t").decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def read_query(raw: bytes) -> dict[str, str]:
    """Return the parameters of an address; of one that comes more than once the first counts."""
    if not raw:
        return {}
    try:
        pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise InvalidInput(f"an address has at most {MOST_FIELDS} parameters") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name, value)
    return found


def read_message_id(headers: Mapping[str, str]) -> str | None:
    """Return the id that is equal in repeated sendings of one callback, or `None`."""
    found = headers.get("webhook-id") or headers.get("idempotency-key")
    if found and len(found) > ID_LIMIT:
        raise InvalidInput(f"a webhook-id or Idempotency-Key has at most {ID_LIMIT} characters")
    return found or None


def refuse_coding(headers: Mapping[str, str]) -> None:
    """Raise InvalidInput if a body is compressed."""
    coding = headers.get("content-encoding", "")
    if coding.strip().lower() not in {"", "identity"}:
        raise InvalidInput(f"Content-Encoding {coding[:40]!r} is not supported; send the body uncompressed")


def read_payload(headers: Mapping[str, str], data: bytes) -> Payload:
    """Return the body of a callback or a webhook; it is `None` if there is none.

    Raise InvalidInput if the body does not match its type, and TooLarge if it is too long."""
    refuse_coding(headers)
    if len(data) > INPUT_LIMIT:
        raise TooLarge(f"the body has {len(data)} bytes; at most {INPUT_LIMIT} are allowed")
    if not data.strip():
        return Payload(None)
    described = headers.get("content-type", "")
    kind = described.partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json") or kind == "text/json":
        return Payload(decode_json(data, INPUT_LIMIT))
    if kind == "application/x-www-form-urlencoded":
        return Payload(_form(data))
    if kind == "multipart/form-data":
        return Payload(read_multipart(described, data, most_parts=MOST_FIELDS))
    if kind.startswith("text/") or kind == "application/xml" or kind.endswith("+xml"):
        return _text(data, described)
    return _anything(data)


def _form(data: bytes) -> Any:
    """Return the fields of a form; one that comes more than once becomes a list.

    Tools that default to this type also send JSON under it."""
    if data.lstrip()[:1] in b'{["':
        return decode_json(data, INPUT_LIMIT)
    try:
        text = data.decode("utf-8-sig")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise InvalidInput(f"the form cannot be read: {error}") from None
    return gathered(pairs)


def _text(data: bytes, described: str) -> Payload:
    """Return text in the character set that the type names, else the bytes."""
    charset = parameter(described, "charset").lower() or "utf-8"
    try:
        if charset in _CHARSETS:
            return Payload(data.decode("utf-8-sig" if charset in {"utf-8", "utf8"} else charset))
    except UnicodeDecodeError:
        pass
    return _raw(data)


def _anything(data: bytes) -> Payload:
    """Return JSON if it is JSON, else text if it is text, else the bytes."""
    try:
        return Payload(decode_json(data, INPUT_LIMIT))
    except InvalidInput:
        return _text(data, "")


def _raw(data: bytes) -> Payload:
    return Payload(base64.b64encode(data).decode("ascii"), BASE64)
