"""Strict functions: what a function asks for must be what stands on record, in that order.

At every rest of the function the next record must be of something it waits for, and at its end none may be left over.
What can come in before it is asked for (signals, callbacks) and what the function itself gave up do not count.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from detent.run.keys import Op
from detent.run.outcomes import StepError

if TYPE_CHECKING:
    from detent.python.function.book import Book

#: What may stand on record without anybody waiting for it.
_FREE: Final = (f"{Op.SIGNAL}:", f"{Op.ASK}:", f"{Op.WAIT}:", str(Op.NOW))
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
        self._next = 0
        self._is_live = False

    def at_rest(self, begun: Iterable[str]) -> None:
        """Raise Drift unless the next record is of something the function waits for; or, where the record ends, unless
        it asked for everything that was begun."""
        record = self._next_record()
        if record is not None:
            if record not in self._book.waiting and not self._gets_another_before(record):
                raise Drift(self._error(record))
        elif not self._is_live:
            self._is_live = True
            for key in begun:
                if key not in self._book.asked and not key.startswith(_FREE):
                    raise Drift(self._error(key))

    def at_the_end(self) -> None:
        """Raise Drift if something is left over."""
        record = self._next_record()
        if record is not None:
            raise Drift(self._error(record))

    def _gets_another_before(self, record: str) -> bool:
        """Whether an answer or a signal stands on record before that, and the function waits for it."""
        book = self._book
        place, signal = book.places[record], book._signals.first()  # noqa: SLF001 - they belong together
        if signal is not None and signal[0] < place:
            return True
        return any(book.places.get(key, place) < place for key in book.waiting if key.startswith(_FREE))

    def _next_record(self) -> str | None:
        """The key of the first record that the function has not been given yet and should be."""
        records, asked, waiting = self._book.records, self._book.asked, self._book.waiting
        while self._next < len(records):
            key = records[self._next].key
            was_given = key in asked and key not in waiting
            if not (was_given or key.startswith(_FREE) or key in self._book.given_up):
                return key
            if key in waiting and not key.startswith(_FREE):
                return key
            self._next += 1
        return None

    def _error(self, record: str) -> StepError:
        recorded = [checkpoint.key for checkpoint in self._book.records]
        asked = list(self._book.asked)
        lines = list(difflib.unified_diff(recorded, asked, "on record", "asked for", lineterm="", n=2))
        message = f"the record has {record!r} next, and the function does not ask for it; it asks for {_listed(asked)}"
        return StepError("drift", message, {"diff": lines[:200], "recorded": recorded[-200:], "asked": asked[-200:]})


def _listed(keys: list[str]) -> str:
    shown = ", ".join(map(repr, keys[-_SHOWN:])) or "nothing"
    return f"..., {shown}" if len(keys) > _SHOWN else shown
