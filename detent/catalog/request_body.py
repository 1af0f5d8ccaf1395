"""Bodies of requests as text: JSON, forms, parts and raw text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote_plus

import msgspec

from detent.catalog.connector import BodyEncoding

_SAFE_IN_FORM: Final = re.compile(r"[A-Za-z0-9_.~ -]*")
_encode: Final = msgspec.json.Encoder().encode

#: Returns the bytes of a body and its content type. The idempotency key makes a boundary, if there is one.
WriteBody = Callable[[Any, str], tuple[bytes, str]]


class InvalidParts(ValueError):
    """A parameter cannot be part of the request. The message names it and does not show its value."""


def scalar(name: str, value: Any) -> str:
    """Return a value as text. Raise InvalidParts if it is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return _encode(value).decode()
    if isinstance(value, dict | list):
        return _encode(value).decode()
    raise InvalidParts(f"{name} must be a text or a number")


def body_writer(encoding: BodyEncoding) -> WriteBody:
    """Return the function that writes bodies in an encoding."""
    return _WRITERS[encoding]


def _write_json(value: Any, key: str) -> tuple[bytes, str]:
    return _encode(value), "application/json"


def _write_raw(value: Any, key: str) -> tuple[bytes, str]:
    return value.encode() if isinstance(value, str) else _encode(value), "text/plain; charset=utf-8"


def _write_form(value: Any, key: str) -> tuple[bytes, str]:
    return _form(_mapping(value)).encode(), "application/x-www-form-urlencoded"


def _write_multipart(value: Any, key: str) -> tuple[bytes, str]:
    boundary = hashlib.sha256(key.encode()).hexdigest()[:32]  # the same at every attempt
    return _multipart(_mapping(value), boundary.encode()), f"multipart/form-data; boundary={boundary}"


_WRITERS: Final[Mapping[BodyEncoding, WriteBody]] = {
    BodyEncoding.JSON: _write_json,
    BodyEncoding.RAW: _write_raw,
    BodyEncoding.FORM: _write_form,
    BodyEncoding.MULTIPART: _write_multipart,
}


@lru_cache(maxsize=1024)
def _form_name(name: str) -> str:
    return quote_plus(name)


def _form_value(text: str) -> str:
    return text.replace(" ", "+") if _SAFE_IN_FORM.fullmatch(text) else quote_plus(text)


def _form(value: Mapping[str, Any]) -> str:
    """Return the text of a form. Most of its values are plain."""
    fields: list[str] = []
    for name, one in value.items():
        kind = type(one)
        if kind is int or (kind is str and one.isalnum() and one.isascii()):
            fields.append(f"{_form_name(name)}={one}")
        elif kind is str:
            fields.append(f"{_form_name(name)}={_form_value(one)}")
        else:
            fields += [f"{_form_name(inner)}={_form_value(text)}" for inner, text in _flat(one, name)]
    return "&".join(fields)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidParts("the body of a form must be an object of names to values")
    return value


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields of a form. An object inside is `a[b]`, a list `a[]`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}[{key}]" if name else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner, f"{name}[]")
    elif value is not None:
        yield name, scalar(name, value)


def _multipart(fields: Mapping[str, Any], boundary: bytes) -> bytes:
    """Return the parts of a form. An object with `filename` and `content` is a file; its content is text, or base64 if
    `encoding` says so."""
    pieces = []
    for name, value in fields.items():
        if value is None:
            continue
        head = f'Content-Disposition: form-data; name="{_quoted(name)}"'
        if isinstance(value, dict) and "content" in value and "filename" in value:
            head += f'; filename="{_quoted(str(value["filename"]))}"'
            head += f"\r\nContent-Type: {_line(str(value.get('content_type') or 'application/octet-stream'))}"
            content = _file_content(name, value)
        else:
            content = scalar(name, value).encode()
        pieces.append(b"--%b\r\n%b\r\n\r\n%b\r\n" % (boundary, head.encode(), content))
    return b"%b--%b--\r\n" % (b"".join(pieces), boundary)


def _file_content(name: str, value: Mapping[str, Any]) -> bytes:
    content = value["content"]
    if not isinstance(content, str):
        return _encode(content)
    if value.get("encoding") != "base64":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except ValueError:
        raise InvalidParts(f"{name}.content is not base64") from None


def _quoted(text: str) -> str:
    return _line(text).replace("\\", "\\\\").replace('"', "%22")


def _line(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", " ", text)
