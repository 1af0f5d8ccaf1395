"""Strict functions: what a function asks for must be what stands on record, in that order.

An operation stands on record only after the function asked for it, and it asked because of what it had been given
before: all of that stands before the operation. So whenever the function rests, it must have asked for everything that
stands before what it is given next; where the record ends, also for everything that was begun. Whether it waits for
that, was given it or gave it up does not matter.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from detent.run.keys import Op
from detent.run.outcomes import StepError

if TYPE_CHECKING:
    from detent.python.function.book import Book

#: What may stand on record though nobody asked for it (a signal is sent, and not every one is taken), and the time, of
#: which a function may be told more often or less.
_FREE: Final = (f"{Op.SIGNAL}:", str(Op.NOW))
_SHOWN: Final = 20


class Drift(Exception):
    """The code does not fit the record."""

    def __init__(self, error: StepError) -> None:
        super().__init__(error.message)
        self.error = error


class Watch:
    """Compares a function with its record."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._checked = 0  # so many records
        self._is_live = False

    def at_rest(self, begun: Iterable[str]) -> None:
        """Raise Drift unless the function asked for everything before what it is given next; or, where it has been
        given all it waits for, for everything."""
        place = self._book.next_place()
        if place is None:
            self.at_the_end(begun)
        else:
            self._check_records(place)

    def at_the_end(self, begun: Iterable[str]) -> None:
        """Raise Drift unless the function asked for everything."""
        self._check_records(len(self._book.records))
        if not self._is_live:
            self._is_live = True  # from here on, only what it asks for is begun
            self._check(begun)

    def _check_records(self, place: int) -> None:
        if self._checked < place:
            self._check(checkpoint.key for checkpoint in self._book.records[self._checked : place])
            self._checked = place

    def _check(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key not in self._book.asked and not key.startswith(_FREE):
                raise Drift(self._error(key))

    def _error(self, record: str) -> StepError:
        recorded = [checkpoint.key for checkpoint in self._book.records]
        asked = list(self._book.asked)
        lines = list(difflib.unified_diff(recorded, asked, "on record", "asked for", lineterm="", n=2))
        message = f"the record has {record!r} next, and the function does not ask for it; it asks for {_listed(asked)}"
        return StepError("drift", message, {"diff": lines[:200], "recorded": recorded[-200:], "asked": asked[-200:]})


def _listed(keys: list[str]) -> str:
    shown = ", ".join(map(repr, keys[-_SHOWN:])) or "nothing"
    return f"..., {shown}" if len(keys) > _SHOWN else shown
