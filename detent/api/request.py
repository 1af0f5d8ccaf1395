"""What comes in: requests of the framework, and what of them every handler reads."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import Request

from detent.commands import Commands
from detent.errors import InvalidInput, Problem
from detent.instant import SECOND, Instant
from detent.values.durations import parse_duration
from detent.values.fields import Problems, described, inside, shown
from detent.values.json import decode_json
from detent.values.limits import INPUT_LIMIT

AnyRequest = Request[Any, Any, Any]


def commands(request: AnyRequest) -> Commands:
    """Return the commands, bound to the caller of a request."""
    found: Commands = request.app.state["commands"]
    return found


def tenant_of(request: AnyRequest) -> int:
    """Return the tenant of the caller of a request."""
    return commands(request).caller.tenant


def read_json(data: bytes, *, empty: Any) -> Any:
    """The JSON value in a body; `empty` if there is none."""
    return decode_json(data, INPUT_LIMIT) if data and not data.isspace() else empty


def filename_of(request: AnyRequest) -> str | None:
    """A name whose ending says the syntax of a definition, if the content type says it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.endswith(("/yaml", "/x-yaml", "+yaml")):
        return "body.yaml"
    return "body.json" if kind == "application/json" else None


# Query strings, and the values that stand in them: instants, durations, numbers, `key:value` pairs.


LONGEST_WAIT: Final = 60.0
LONGEST_WORD: Final = 200
_MOST_FIELDS: Final = 1_000
_EXAMPLE: Final = "2026-02-22T10:00:00Z"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# In a query a "+" that was not escaped arrives as a blank.
_LOST_PLUS: Final = re.compile(r"(?<=T)(.*) (?=[0-9:]{2,5}$)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def query_pairs(query: bytes) -> list[tuple[str, str]]:
    """The names and values of a query string, in order."""
    if not query:
        return []
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        message = f"must be at most {_MOST_FIELDS} names and values in UTF-8"
        raise InvalidInput("the query cannot be read", [Problem("query", message)]) from None


def grouped(query: bytes) -> dict[str, list[str]]:
    """The values of a query string by name."""
    found: dict[str, list[str]] = {}
    for name, value in query_pairs(query):
        found.setdefault(name, []).append(value)
    return found


def instant_of(text: str) -> Instant:
    """An instant in ISO 8601; a date is its first moment in UTC. ValueError says what is wrong."""
    try:
        found = datetime.fromisoformat(_LOST_PLUS.sub(r"\1+", text))
    except ValueError:
        raise ValueError(f"is not a valid instant in ISO 8601; write for example {_EXAMPLE}") from None
    if found.tzinfo is None:
        if len(text) > len("2026-02-22"):
            raise ValueError(f"has no time zone; write for example {_EXAMPLE}")
        found = found.replace(tzinfo=UTC)
    since = found - _EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def seconds_of(text: str) -> float:
    """A duration; a bare number counts seconds. ValueError says what is wrong."""
    try:
        return parse_duration(int(text) if text.isascii() and text.isdigit() and len(text) < 12 else text)
    except InvalidInput as error:
        raise ValueError(error.message) from None


def wait_of(text: str) -> float:
    """How long an answer may be kept back. ValueError says what is wrong."""
    wait = seconds_of(text)
    if wait > LONGEST_WAIT:
        raise ValueError(f"must be at most {LONGEST_WAIT:g}s")
    return wait


def number_of(text: str, least: int, most: int) -> int:
    """A whole number. ValueError says what is wrong."""
    if text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most:
        return int(text)
    raise ValueError(f"must be a number from {least} to {most}")


def flag_of(text: str) -> bool:
    """`true` or `false`. ValueError says what is wrong."""
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise ValueError("must be true or false") from None


def word_of(text: str, most: int = LONGEST_WORD) -> str:
    """A text that can be kept and looked for. ValueError says what is wrong."""
    if not text.strip() or len(text) > most:
        raise ValueError(f"must have 1 to {most} characters")
    if _CONTROL.search(text):
        raise ValueError("has a control character, which is not allowed here")
    return text


def pair_of(text: str) -> tuple[str, str]:
    """`key:value`. ValueError says what is wrong."""
    key, colon, value = text.partition(":")
    if not colon:
        raise ValueError("must be two words with a colon between them, for example customer:42")
    return word_of(key), word_of(value)


# Names as requests write them. Ours are snake_case; the same name in camelCase is understood everywhere.


Spellings = Mapping[str, str]


def aliases(*names: str, **others: str) -> Spellings:
    """Every spelling of our names, and further names with what they mean."""
    found = {spelling: name for name in names for spelling in (name, camel_case(name))}
    return found | {spelling: name for other, name in others.items() for spelling in (other, camel_case(other))}


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def normalize_names(
    document: Mapping[str, Any], known: Spellings, problems: Problems, path: str = ""
) -> dict[str, Any]:
    """The same under our names. A name that nobody knows, or that is there in two spellings, is a problem."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        ours = known.get(name)
        if ours is None:
            names = sorted(set(known.values()))
            hint = problems.did_you_mean(name, known) or f"; known are {', '.join(names)}"
            problems.add(inside(path, name), f"unknown field {shown(name)}{hint}")
        elif ours in found:
            problems.add(inside(path, name), f"is given twice: {ours!r} is the same field")
        else:
            found[ours] = value
    return found


def object_body(data: bytes, message: str) -> dict[str, Any]:
    """The JSON object in a body; an empty body is an empty one."""
    value = read_json(data, empty={})
    if not isinstance(value, dict):
        raise InvalidInput(f"{message}: the body must be a JSON object, not {described(value)}")
    return value


def refuse_if_any(problems: Problems, message: str) -> None:
    """InvalidInput with everything that is wrong with a request."""
    if problems.found:
        raise InvalidInput(message, problems.found)


# Where the next page of a list begins. A cursor belongs to one list with one filter and one order, and to no other.


_MARK_BYTES: Final = 9
FOREIGN: Final = "is not a cursor of this list; use `next_cursor` of the same query"


class CursorScope:
    """The cursors of one list. `facts` are what makes it this list: its name, tenant, filter and order."""

    def __init__(self, *facts: object) -> None:
        self._mark = hashlib.sha256(repr(facts).encode()).digest()[:_MARK_BYTES]

    def cursor(self, place: bytes) -> str:
        """The text of a place in the list."""
        return base64.urlsafe_b64encode(self._mark + place).rstrip(b"=").decode()

    def place(self, cursor: str, size: int | None = None) -> bytes:
        """The place, of `size` bytes. ValueError if another list gave the cursor, or nobody did."""
        try:
            raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(FOREIGN) from None
        place = raw[_MARK_BYTES:]
        if raw[:_MARK_BYTES] != self._mark or self.cursor(place) != cursor or size not in (None, len(place)):
            raise ValueError(FOREIGN)
        return place
