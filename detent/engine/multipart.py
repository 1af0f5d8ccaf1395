"""`multipart/form-data` (RFC 7578), read strictly: what is not exactly a form is refused, and nothing is nested."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any, Final

from detent.errors import InvalidInput

_LONGEST_HEAD: Final = 8 * 1024
_BOUNDARY: Final = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_PARAMETER: Final = re.compile(r';[ \t]*([A-Za-z0-9_*-]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^;"\s]*)[ \t]*')
_ESCAPED: Final = re.compile(r"\\(.)")


def read_multipart(content_type: str, data: bytes, *, most_parts: int) -> dict[str, Any]:
    """The fields of a form. A file becomes {filename, content_type, size, base64}."""
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
    """Fields by name; one that comes more than once becomes a list."""
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def parameter(described: str, name: str) -> str:
    """A parameter of a header such as Content-Type; empty if it is not there."""
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
            return name, _file(None, kind, content)  # not text, though nobody called it a file
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
