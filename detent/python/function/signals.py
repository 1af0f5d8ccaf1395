"""The signals of a run: numbered as they come, and given to those who wait for one in the order they ask.

Which of them gets which is decided only when it is his turn: somebody who gives up waiting, or whose time is over,
takes no signal with him.
"""

from __future__ import annotations

from collections import deque

from detent.python.function.pending import Pending
from detent.run.keys import name_of


class Signals:
    """`places` are those of the signals in the journal."""

    def __init__(self) -> None:
        self._came: dict[str, deque[int]] = {}
        self._asked: dict[str, dict[str, Pending]] = {}

    def came(self, key: str, place: int) -> None:
        """A signal is on record."""
        self._came.setdefault(name_of(key), deque()).append(place)

    def asked(self, pending: Pending) -> None:
        """Somebody waits for one."""
        self._asked.setdefault(name_of(pending.key), {})[pending.key] = pending

    def left(self, pending: Pending) -> None:
        """He does not any more."""
        self._asked.get(name_of(pending.key), {}).pop(pending.key, None)

    def first(self) -> tuple[int, Pending] | None:
        """The signal that came first of those for which somebody waits, and who gets it."""
        best: tuple[int, Pending] | None = None
        for name, places in self._came.items():
            waiting = self._asked.get(name)
            if places and waiting and (best is None or places[0] < best[0]):
                best = places[0], next(iter(waiting.values()))
        return best

    def take(self, pending: Pending) -> None:
        """He gets the first of that name."""
        self._came[name_of(pending.key)].popleft()
