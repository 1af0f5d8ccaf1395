"""Rows that somebody else's open transaction is in the way of: each is tried again after a while, and the others go on.

Rows that are about the same stay in their order: those behind a row that is held up wait until it is not any more.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import Final, NamedTuple

from detent.instant import Instant, micros
from detent.outbox.table import BATCH, Waiting

#: At most this many wait here: they are named in every question for the next rows.
MOST: Final = 1_000
#: At most this many are tried again at a time, since each that is held up once more takes a moment.
AT_ONCE: Final = 5
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 10.0


class _Front(NamedTuple):
    """A row that was tried: when it is tried again, and after which pause in seconds that is."""

    until: Instant
    pause: float


class HeldUpRows:
    """Rows by their number, and what they are about."""

    def __init__(self) -> None:
        self._fronts: dict[int, _Front] = {}
        self._behind: dict[int, int] = {}  # the front that a row waits for
        self._about: dict[Hashable, int] = {}  # the front that is about it
        self._due: Sequence[int] = ()

    def not_now(self, now: Instant) -> Sequence[int]:
        """Those that are not to be read yet."""
        self._due = sorted(seq for seq, front in self._fronts.items() if front.until <= now)[:AT_ONCE]
        return [*(seq for seq in self._fronts if seq not in self._due), *self._behind]

    def were_read(self, rows: Sequence[Waiting]) -> None:
        """These are there: one that was to be among them and is not is gone."""
        found = {row.seq for row in rows}
        is_all = len(rows) < BATCH
        for seq in self._due:
            if seq not in found and (is_all or seq < rows[-1].seq):
                self.forget(seq)

    def is_behind(self, seq: int, about: Set[Hashable]) -> bool:
        """Whether another row that is held up is about the same."""
        return self._front(seq, about) != seq

    def add(self, seq: int, about: Set[Hashable], now: Instant) -> bool:
        """The row is held up, perhaps once more, or stands behind one that is. False if there is no room for it."""
        known = self._fronts.get(seq)
        if known is None and len(self._fronts) + len(self._behind) >= MOST:
            return False
        front = self._front(seq, about)
        if front != seq:
            self._behind[seq] = front
            return True
        pause = FIRST_PAUSE if known is None else min(LONGEST_PAUSE, known.pause * 2)
        self._fronts[seq] = _Front(now + micros(pause), pause)
        self._about.update(dict.fromkeys(about, seq))
        return True

    def _front(self, seq: int, about: Set[Hashable]) -> int:
        return next((self._about[what] for what in about if what in self._about), seq)

    def forget(self, seq: int) -> None:
        """The row is held up no more, nor are those behind it."""
        if self._fronts.pop(seq, None) is not None:
            self._about = {what: front for what, front in self._about.items() if front != seq}
            self._behind = {row: front for row, front in self._behind.items() if front != seq}
