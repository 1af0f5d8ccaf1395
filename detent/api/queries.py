"""Query strings, and the values that stand in them: instants, durations, numbers, `key:value` pairs."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl

from detent.authoring.durations import parse_duration
from detent.errors import InvalidInput, Problem
from detent.instant import SECOND, Instant

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
        raise ValueError(f"is no instant in ISO 8601; write for example {_EXAMPLE}") from None
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
