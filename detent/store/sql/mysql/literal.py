"""Values as SQL text. The driver has no arguments that travel apart from a packet of several statements.

A text with a backslash goes as hexadecimal digits, so that it means the same in every `sql_mode`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")

PART: Final = 50


def text(value: str | None) -> str:
    """A text or null, in the connection's utf8mb4."""
    if value is None:
        return "null"
    if "\\" in value:
        return f"_utf8mb4 x'{value.encode().hex()}'"
    return "'" + value.replace("'", "''") + "'"


def data(value: bytes | None) -> str:
    """JSON bytes or null, as text."""
    return "null" if value is None else text(str(value, "utf-8"))


def blob(value: bytes | None) -> str:
    """Bytes or null: an id, a hash."""
    return "null" if value is None else f"x'{value.hex()}'"


def number(value: int | None) -> str:
    return "null" if value is None else str(int(value))


def literal(value: Any) -> str:
    """Any of them; a list becomes what stands between the parentheses of `in (...)`."""
    match value:
        case None:
            return "null"
        case bool() | int():
            return str(int(value))
        case bytes():
            return blob(value)
        case str():
            return text(value)
        case list():
            return listed(value)
    raise TypeError(f"{type(value).__name__} is no value of the database")


def listed(values: Iterable[Any]) -> str:
    return ",".join(map(literal, values))


def filled(statement: str, values: Sequence[Any]) -> str:
    """A statement with `%s` in place of each value."""
    return statement % tuple(map(literal, values))


def any_of(places: Iterable[str]) -> str:
    """A condition that is true in each of these places."""
    return "(" + " or ".join(places) + ")"


def by_place(places: Sequence[str], values: Sequence[str]) -> str:
    """The value that belongs to a row, told by which of the places it is in."""
    if len(set(values)) == 1:
        return values[0]
    arms = (f"when {place} then {value}" for place, value in zip(places, values, strict=True))
    return f"case {' '.join(arms)} end"


def in_parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """A few rows at a time: the cost of `by_place` grows with the square."""
    for start in range(0, len(rows), PART):
        yield rows[start : start + PART]
