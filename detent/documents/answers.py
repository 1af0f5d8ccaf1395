"""Answers around documents: envelopes, problems of fields and health."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

import msgspec

T = TypeVar("T")

#: Any JSON value.
Json = Any
#: Writes `null` into a field that is left out of the JSON while it is `None`.
NULL: Final[Any] = msgspec.Raw(b"null")


def as_json(document: msgspec.Struct) -> dict[str, Json]:
    """Return a document as the JSON object that users see."""
    plain: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(document))
    return plain


class One(msgspec.Struct, Generic[T]):
    """One document."""

    data: T


class Many(msgspec.Struct, Generic[T]):
    """A page of a list; `next_cursor` is null on the last page."""

    data: list[T]
    next_cursor: str | None = None


class Health(msgspec.Struct):
    """The health of the server: `ok`."""

    status: str


class FieldProblem(msgspec.Struct):
    """What is wrong with one field."""

    field: str
    message: str
