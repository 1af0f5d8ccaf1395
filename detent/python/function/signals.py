"""The signals of one name are numbered as they come, and those who wait for one take the numbers as they ask.

Somebody who gives up waiting takes no signal with him: his number goes to the one who asked next.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from heapq import heappop, heappush

from detent.python.function.pending import Pending
from detent.run.keys import Op, signal_key


class Signals:
    """Numbers for those who ask."""

    def __init__(self, pending: MutableMapping[str, Pending]) -> None:
        self._pending = pending
        self._last: dict[str, int] = {}
        self._free: dict[str, list[int]] = {}

    def next_key(self, name: str) -> str:
        """The key of the signal that the next one who asks will get."""
        free = self._free.get(name)
        if free:
            return signal_key(name, heappop(free))
        number = self._last[name] = self._last.get(name, 0) + 1
        return signal_key(name, number)

    def give_back(self, left: Pending) -> list[Pending]:
        """One who asked has left: those behind him move up. Gives those that did; the caller knows them by their keys
        from here on."""
        name, free = left.name, _number(left)
        behind = [one for one in self._pending.values() if one.op is Op.SIGNAL and one.name == name]
        moved = sorted((one for one in behind if _number(one) > free), key=_number)
        for one in moved:
            was = _number(one)
            self._pending.pop(one.key)
            one.key, free = signal_key(name, free), was
            self._pending[one.key] = one
        heappush(self._free.setdefault(name, []), free)
        return moved


def _number(pending: Pending) -> int:
    _, _, number = pending.key.partition("#")
    return int(number) if number else 1
