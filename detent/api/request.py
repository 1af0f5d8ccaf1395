"""The request kit of the API: commands of the caller, bodies, queries, names in both spellings, cursors.

Readers of single values (`instant_of`, `number_of`, ...) raise ValueError with a message for the caller. `QueryValues`
and `read_fields` collect all problems of a request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl

from litestar import Request

from detent.api.context import caller_of, context_of
from detent.commands import Commands
from detent.errors import InvalidInput, Problem
from detent.ids import InvalidId
from detent.instant import SECOND, Instant
from detent.triggers.commands import TriggerCommands
from detent.values.durations import parse_duration
from detent.values.fields import Fields, Problems, described, inside, shown
from detent.values.json import decode_json
from detent.values.limits import INPUT_LIMIT, LARGEST_VERSION
from detent.views.feeds import Feeds

AnyRequest = Request[Any, Any, Any]
T = TypeVar("T")


def commands(request: AnyRequest) -> Commands:
    """Return the commands, bound to the caller of a request."""
    return caller_of(request.scope).commands


def tenant_of(request: AnyRequest) -> int:
    """Return the tenant of the caller of a request."""
    return caller_of(request.scope).caller.tenant


def triggers(request: AnyRequest) -> TriggerCommands:
    """Return the commands on triggers, bound to the caller of a request."""
    return caller_of(request.scope).triggers


def feeds(request: AnyRequest) -> Feeds:
    """Return the feeds, which know when runs change and end."""
    return context_of(request.scope).feeds


def read_json(data: bytes, *, empty: Any, limit: int = INPUT_LIMIT) -> Any:
    """Return the JSON value in a body of at most `limit` bytes; `empty` if there is none."""
    return decode_json(data, limit) if data and not data.isspace() else empty


def filename_of(request: AnyRequest) -> str | None:
    """Return a file name whose suffix names the syntax of a definition, or `None` if the content type is another."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.endswith(("/yaml", "/x-yaml", "+yaml")):
        return "body.yaml"
    return "body.json" if kind == "application/json" else None


LONGEST_WAIT: Final = 60.0
MOST_ROWS: Final = 200
ROWS: Final = 50
LONGEST_WORD: Final = 200
_MOST_FIELDS: Final = 1_000
_MOST_VALUES: Final = 64
_MARK_BYTES: Final = 9
_EXAMPLE: Final = "2026-02-22T10:00:00Z"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# A "+" that was not escaped in a query is decoded to a blank.
_LOST_PLUS: Final = re.compile(r"(?<=T)(.*) (?=[0-9:]{2,5}$)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def query_pairs(query: bytes) -> list[tuple[str, str]]:
    """Return the names and values of a query string, in order."""
    if not query:
        return []
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        message = f"must be at most {_MOST_FIELDS} names and values in UTF-8"
        raise InvalidInput("the query cannot be read", [Problem("query", message)]) from None


def grouped(query: bytes) -> dict[str, list[str]]:
    """Return the values of a query string by name."""
    found: dict[str, list[str]] = {}
    for name, value in query_pairs(query):
        found.setdefault(name, []).append(value)
    return found


def instant_of(text: str) -> Instant:
    """Read an instant in ISO 8601. A date without a time means midnight in UTC."""
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
    """Read a duration; a bare number counts seconds."""
    try:
        return parse_duration(int(text) if text.isascii() and text.isdigit() and len(text) < 12 else text)
    except InvalidInput as error:
        raise ValueError(error.message) from None


def wait_of(text: str) -> float:
    """Read for how many seconds an answer may be delayed."""
    wait = seconds_of(text)
    if wait > LONGEST_WAIT:
        raise ValueError(f"must be at most {LONGEST_WAIT:g}s")
    return wait


def number_of(text: str, least: int, most: int) -> int:
    """Read a whole number."""
    if text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most:
        return int(text)
    raise ValueError(f"must be a number from {least} to {most}")


def version_of(text: str) -> int | Literal["draft"]:
    """Read a version: a number from 1 on, or `draft`."""
    if text == "draft":
        return "draft"
    try:
        return number_of(text, 1, LARGEST_VERSION)
    except ValueError:
        raise ValueError(f"must be the number of a version, or draft, not {shown(text)}") from None


def flag_of(text: str) -> bool:
    """Read `true` or `false`."""
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise ValueError("must be true or false") from None


def word_of(text: str, most: int = LONGEST_WORD) -> str:
    """Read a text that can be stored and searched for."""
    if not text.strip() or len(text) > most:
        raise ValueError(f"must have 1 to {most} characters")
    if _CONTROL.search(text):
        raise ValueError("has a control character, which is not allowed here")
    return text


def pair_of(text: str) -> tuple[str, str]:
    """Read `key:value`."""
    key, colon, value = text.partition(":")
    if not colon:
        raise ValueError("must be two words with a colon between them, for example customer:42")
    return word_of(key), word_of(value)


Aliases = Mapping[str, str]


def aliases(*names: str, **others: str) -> Aliases:
    """Return our names by every accepted spelling: snake_case, camelCase, and `others`, which map to a name."""
    found = {spelling: name for name in names for spelling in (name, camel_case(name))}
    return found | {spelling: name for other, name in others.items() for spelling in (other, camel_case(other))}


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def normalize_names(document: Mapping[str, Any], known: Aliases, problems: Problems, path: str = "") -> dict[str, Any]:
    """Return the document with our names as keys. An unknown name is a problem, and so is a name in two spellings."""
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


def object_body(data: bytes, message: str, *, limit: int = INPUT_LIMIT) -> dict[str, Any]:
    """Return the JSON object in a body of at most `limit` bytes; an empty body is an empty object."""
    value = read_json(data, empty={}, limit=limit)
    if not isinstance(value, dict):
        given = "a text" if isinstance(value, str) else described(value)  # a text may be a secret
        raise InvalidInput(f"{message}: the body must be a JSON object, not {given}")
    return value


def refuse_if_any(problems: Problems, message: str) -> None:
    """Raise InvalidInput if there are problems."""
    if problems.found:
        raise InvalidInput(message, problems.found)


async def read_fields(request: AnyRequest, *known: str, message: str, required: Collection[str] = ()) -> Fields:
    """Return the fields of a body that is a JSON object. Raise InvalidInput if a field is unknown or missing. The
    handler adds further problems of the fields and refuses them."""
    problems = Problems()
    found = normalize_names(object_body(await request.body(), message), aliases(*known), problems)
    for name in required:
        if found.get(name) is None:
            problems.add(name, "is missing")
    refuse_if_any(problems, message)
    return Fields(found, "", problems)


class QueryValues:
    """The values of a query, or of a filter in a body, by name. It owns the list of their problems."""

    def __init__(self, values: Mapping[str, Sequence[Any]], problems: Problems, prefix: str = "") -> None:
        self.problems = problems
        self.prefix = prefix
        self._values = values

    @classmethod
    def of_query(cls, query: bytes, known: Aliases) -> QueryValues:
        """Read a query string. An unknown name is a problem."""
        problems = Problems()
        return cls(normalize_names(grouped(query), known, problems), problems)

    def one(self, name: str, read: Callable[[str], T]) -> T | None:
        """Return the value of a name that may be given once."""
        found = self.many(name, read)
        if len(self._values.get(name, ())) > 1:
            self.add_problem(name, "is given more than once")
        return found[0] if found else None

    def last(self, name: str, read: Callable[[str], T]) -> T | None:
        """Return the last value of a name and ignore those before it."""
        given = self._values.get(name, ())
        return self._read(name, given[-1], read) if given else None

    def many(self, name: str, read: Callable[[str], T]) -> tuple[T, ...]:
        """Return all values of a name."""
        given = self._values.get(name, ())
        if len(given) > _MOST_VALUES:
            self.add_problem(name, f"is given {len(given)} times; at most {_MOST_VALUES} are allowed")
            return ()
        return tuple(found for value in given if (found := self._read(name, value, read)) is not None)

    def limit(self) -> int:
        """Return how many rows a page has at most."""
        return self.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS

    def cursor(self, read: Callable[[str], T]) -> T | None:
        """Return where a page begins. If there are problems, return `None`: a problem elsewhere can make a good cursor
        look foreign."""
        return None if self.problems.found else self.one("cursor", read)

    def add_problem(self, name: str, message: str) -> None:
        self.problems.add(self.prefix + name, message)

    def refuse(self, message: str) -> None:
        """Raise InvalidInput if there are problems."""
        refuse_if_any(self.problems, message)

    def _read(self, name: str, value: Any, read: Callable[[str], T]) -> T | None:
        if not isinstance(value, str):
            self.add_problem(name, f"must be text, not {described(value)}")
            return None
        try:
            return read(value)
        except InvalidId:
            self.add_problem(name, f"{shown(value)} is not an id")
        except ValueError as error:
            self.add_problem(name, str(error))
        return None


FOREIGN: Final = "is not a cursor of this list; use `next_cursor` of the same query"


class CursorScope:
    """The cursors of one list. `facts` identify it: its name, tenant, filter and order."""

    def __init__(self, *facts: object) -> None:
        self._mark = hashlib.sha256(repr(facts).encode()).digest()[:_MARK_BYTES]

    def cursor(self, place: bytes) -> str:
        """Return the text of a place in the list."""
        return base64.urlsafe_b64encode(self._mark + place).rstrip(b"=").decode()

    def place(self, cursor: str, size: int | None = None) -> bytes:
        """Return the place of a cursor, of `size` bytes. Raise ValueError if it is not a cursor of this list."""
        try:
            raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(FOREIGN) from None
        place = raw[_MARK_BYTES:]
        if raw[:_MARK_BYTES] != self._mark or self.cursor(place) != cursor or size not in (None, len(place)):
            raise ValueError(FOREIGN)
        return place
