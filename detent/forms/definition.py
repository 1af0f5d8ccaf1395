"""Read the text of a definition as a document: strict JSON or YAML 1.2, with the position of every error."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final, Literal

from detent.errors import InvalidDefinition, Problem
from detent.values.json import (
    DEEPEST,
    LARGEST_INTEGER,
    SMALLEST_INTEGER,
    decode_text,
    is_deeper,
    parse_json,
    refused,
)
from detent.values.limits import DEFINITION_LIMIT
from detent.values.yaml import load_yaml

Syntax = Literal["json", "yaml"]
_SUFFIXES: Final[dict[str, Syntax]] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
_MOST_FOREIGN_VALUES: Final = 2_000_000
_NEEDS: Final = "a definition is a mapping with a name and tasks"
_JSON_START: Final = re.compile(r"\s*[\[{]")


def read_definition(data: bytes | str, *, filename: str | None = None, syntax: Syntax | None = None) -> dict[str, Any]:
    """Return the document of a definition of a workflow."""
    return read_document(data, filename=filename, syntax=syntax)


def read_document(
    data: bytes | str, *, filename: str | None = None, syntax: Syntax | None = None, needs: str = _NEEDS
) -> dict[str, Any]:
    """Return a document: a mapping of plain JSON values. `needs` says what it should be. Raise InvalidDefinition.

    The syntax is the given one, else that of the file's name. Otherwise the first character of the text decides."""
    text = _text(data, DEFINITION_LIMIT)
    if _syntax(text, filename, syntax) == "json":
        document = parse_json(text, InvalidDefinition)
    else:
        document = load_yaml(text, depth=DEEPEST)
    return checked_document(document, needs)


def read_foreign_document(data: bytes | str, *, filename: str | None, needs: str, limit: int) -> dict[str, Any]:
    """Return a document of at most `limit` bytes that was written for other programs. Its numbers may be larger than
    ours, and its keys may be numbers. Raise InvalidDefinition."""
    text = _text(data, limit)
    if _syntax(text, filename, None) == "json":
        document = parse_json(text, InvalidDefinition)
    else:
        document = load_yaml(text, depth=DEEPEST, most=_MOST_FOREIGN_VALUES, is_foreign=True)
    if not isinstance(document, dict):
        raise refused(f"{needs}; this is not a mapping", InvalidDefinition)
    return document


def checked_document(document: object, needs: str = _NEEDS) -> dict[str, Any]:
    """Check a document that was not read from text by the same rules: a mapping of plain JSON values."""
    if not isinstance(document, dict):
        kind = "empty" if document is None else f"a {type(document).__name__}"
        raise refused(f"{needs}; this is {kind}", InvalidDefinition)
    if is_deeper(document, DEEPEST):
        raise refused(f"nested deeper than {DEEPEST} levels", InvalidDefinition)
    if not _is_plain(document):
        raise InvalidDefinition(problems=list(_value_problems(document)))
    return document


def _text(data: bytes | str, limit: int) -> str:
    try:
        encoded = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError:
        raise refused("half a character (a lone surrogate) is not text", InvalidDefinition) from None
    if len(encoded) > limit:
        message = f"a definition has at most {limit} bytes; this one has {len(encoded)}"
        raise refused(message, InvalidDefinition)
    text = decode_text(encoded, InvalidDefinition)
    if "\x00" in text:
        raise refused("a NUL character is not text", InvalidDefinition)
    return text


def _syntax(text: str, filename: str | None, syntax: Syntax | None) -> Syntax:
    by_name = _SUFFIXES.get(PurePath(filename).suffix.lower()) if filename else None
    return syntax or by_name or ("json" if _JSON_START.match(text) else "yaml")


def _is_plain(document: dict[str, Any]) -> bool:
    """Return whether a document has no value problem. Almost all have none, and this builds no path."""
    pending: list[Any] = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if not all(isinstance(key, str) and _text_problem(key) is None for key in value):
                return False
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        elif _scalar_problem(value) is not None:
            return False
    return True


def _value_problems(document: dict[str, Any]) -> Iterator[Problem]:
    """Yield, with its path, every value that does not fit into JSON, a 64 bit number or a text column."""
    pending: list[tuple[str, Any]] = [("", document)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            for key, child in value.items():
                if message := _text_problem(key) if isinstance(key, str) else "must be text":
                    yield Problem(path, f"the key {key!r}: {message}")
                pending.append((f"{path}.{key}" if path else str(key), child))
        elif isinstance(value, list):
            pending.extend((f"{path}[{number}]", child) for number, child in enumerate(value))
        elif message := _scalar_problem(value):
            yield Problem(path, message)


def _scalar_problem(value: object) -> str | None:
    match value:
        case None | bool():
            return None
        case int():
            fits = SMALLEST_INTEGER <= value <= LARGEST_INTEGER
            return None if fits else "this number does not fit in 64 bits; write it as text"
        case float():
            return None if math.isfinite(value) else "this is not a number that JSON can hold"
        case str():
            return _text_problem(value)
        case _:
            return f"JSON has no {type(value).__name__}"


def _text_problem(value: str) -> str | None:
    if "\x00" in value:
        return "a NUL character is not text"
    # Most text is ASCII and needs no further check.
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        return "half a character (a lone surrogate) is not text"
    return None
