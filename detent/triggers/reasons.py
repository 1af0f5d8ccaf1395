"""Why a firing ended as it did, in the one column there is for it: plain text, or JSON if there is more to say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from detent.errors import AlreadyActive, DetentError, InvalidInput, Problem

_LONGEST: Final = 2_000
_MOST_PROBLEMS: Final = 20
_BEGIN: Final = '{"code":'


class _Place(msgspec.Struct, array_like=True):
    field: str
    message: str


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """`code` tells programs which kind of reason it is; null if the state of the firing says it all. `run` is the one
    that was in the way."""

    code: str | None
    message: str
    problems: list[_Place] = []
    run: str | None = None

    def text(self) -> str:
        """For people."""
        return "; ".join([self.message, *(str(problem) for problem in self.found())])

    def found(self) -> list[Problem]:
        return [Problem(place.field, place.message) for place in self.problems]


def reason(code: str, message: str, problems: Iterable[Problem] = ()) -> Reason:
    """A reason, short enough to be kept."""
    places = [_Place(one.field[:_LONGEST], one.message[:_LONGEST]) for one in list(problems)[:_MOST_PROBLEMS]]
    return Reason(code, _clean(message), places)


def reason_of(error: DetentError) -> Reason:
    """The reason that an error is."""
    if isinstance(error, AlreadyActive):
        return Reason(error.code, _clean(error.message), run=error.run)
    return reason(error.code, error.message, error.problems if isinstance(error, InvalidInput) else ())


def encode(given: Reason) -> str:
    """For the firing's row."""
    return msgspec.json.encode(given).decode()


def decode(text: str | None) -> Reason | None:
    """From the firing's row. The store's own messages are plain text."""
    if text is None:
        return None
    if text.startswith(_BEGIN):
        return msgspec.json.decode(text, type=Reason)
    return Reason(None, text)


def _clean(message: str) -> str:
    return message.replace("\x00", "\ufffd")[:_LONGEST]
