"""Starts that somebody else's open transaction is in the way of: another start of the same hero or request id.

Until that transaction has ended nobody can say whether ours may be made. The lane must not wait for it: such starts go
by themselves, with little patience, and between them everything else is written. Which of them it is about is found by
halves. One that is held up again is answered that it may be tried later; its key is remembered for a while, so that the
next of its kind goes this way at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from detent.clock import DatabaseTime
from detent.engine.unit import Unit
from detent.instant import Instant, micros
from detent.store.rows import NewRun

#: How long such a start may wait for another transaction, in seconds; everything else waits with it.
PATIENCE: Final = 0.1
REMEMBERED: Final = 5.0
MOST_REMEMBERED: Final = 10_000

#: Tenant, and what only one run may have.
Key = tuple[int, str, str]


class Group(NamedTuple):
    """Starts that are sent together. `again`: an earlier sending may have made them."""

    units: list[Unit]
    again: bool


class Rivals:
    """Groups of starts that wait for their turn, and the keys that were found taken by an open transaction."""

    def __init__(self, time: DatabaseTime) -> None:
        self._time = time
        self._groups: deque[Group] = deque()
        self._known: dict[Key, Instant] = {}  # until when

    def __bool__(self) -> bool:
        return bool(self._groups)

    def next(self) -> Group:
        return self._groups.popleft()

    def without_known(self, batch: list[Unit]) -> list[Unit]:
        """The batch without those that are known to be held up; they are set aside."""
        if not self._known:
            return batch
        self._forget_old()
        held_up = {unit.run for unit in batch if not self._known.keys().isdisjoint(keys_of(unit.start))}
        for run in held_up:
            self._groups.append(Group([unit for unit in batch if unit.run == run], again=False))
        return [unit for unit in batch if unit.run not in held_up] if held_up else batch

    def set_aside(self, batch: Sequence[Unit], *, again: bool) -> list[Unit]:
        """A flush met a lock: its starts that another may be in the way of are set aside. Gives the others."""
        rivals = {unit.run for unit in batch if keys_of(unit.start)}
        if rivals:
            self._groups.append(Group([unit for unit in batch if unit.run in rivals], again))
        return [unit for unit in batch if unit.run not in rivals]

    def held_up(self, group: Group) -> list[Unit]:
        """A group met a lock again. Gives the units that have to be given up, with all that wait for the same; none if
        the group has several runs: then its halves are tried."""
        units, again = group
        runs = list(dict.fromkeys(unit.run for unit in units))
        if len(runs) > 1:
            half = set(runs[: len(runs) // 2])
            self._groups.appendleft(Group([unit for unit in units if unit.run not in half], again))
            self._groups.appendleft(Group([unit for unit in units if unit.run in half], again))
            return []
        keys = {key for unit in units for key in keys_of(unit.start)}
        self._remember(keys)
        return [*units, *self._take_with(keys)]

    def take_all(self) -> list[Unit]:
        """All that wait, who will not be sent any more."""
        units = [unit for group in self._groups for unit in group.units]
        self._groups.clear()
        return units

    def _take_with(self, keys: set[Key]) -> list[Unit]:
        """Those that wait by themselves for the same."""
        found = [group for group in self._groups if _is_for(group, keys)]
        if found:
            self._groups = deque(group for group in self._groups if not _is_for(group, keys))
        return [unit for group in found for unit in group.units]

    def _remember(self, keys: set[Key]) -> None:
        until = self._time.now() + micros(REMEMBERED)
        for key in keys:
            self._known.pop(key, None)
            self._known[key] = until
        while len(self._known) > MOST_REMEMBERED:
            del self._known[next(iter(self._known))]

    def _forget_old(self) -> None:
        now = self._time.now()
        while self._known:
            oldest = next(iter(self._known))
            if self._known[oldest] > now:
                return
            del self._known[oldest]


def keys_of(start: NewRun | None) -> list[Key]:
    """What no other run may have beside this start."""
    if start is None:
        return []
    named = (("request_id", start.request_id), ("active_key", start.active_key))
    return [(start.tenant, name, value) for name, value in named if value is not None]


def _is_for(group: Group, keys: set[Key]) -> bool:
    return not group.again and len(group.units) == 1 and not keys.isdisjoint(keys_of(group.units[0].start))


__all__ = ["PATIENCE", "Group", "Rivals", "keys_of"]
