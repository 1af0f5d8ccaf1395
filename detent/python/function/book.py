"""What a durable function has asked for, and what is on record of it.

An operation has a key: its name, and how often that was asked for. So code may be moved, added and removed between
steps, and what was done is found again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush

from detent.instant import SECOND
from detent.python.durations import in_seconds
from detent.python.function.leaving import Leaving
from detent.python.function.loop import FunctionLoop
from detent.python.function.pending import Pending
from detent.python.function.signals import Signals
from detent.run.keys import Op
from detent.run.state import Checkpoint


class Book:
    """`left` is called with an operation that the function does not wait for any more."""

    def __init__(self, started_at: int, left: Callable[[Pending], None], *, keeps_asked: bool) -> None:
        self.loop = FunctionLoop(  # type: ignore[abstract]  # the rest is refused
            started_at / SECOND, self._timer_was_set, self._timer_was_called_off
        )
        self._left, self._keeps_asked = left, keeps_asked
        self.records: list[Checkpoint] = []
        self.places: dict[str, int] = {}  # of the records, by key
        self.waiting: dict[str, Pending] = {}  # by key: asked for, and not ended
        self.asked: dict[str, None] = {}  # every key, in order, if they are kept
        self.fresh: list[Pending] = []  # asked for, nothing done about it yet
        self.to_open: list[str] = []  # places of callbacks
        self.decided: list[Checkpoint] = []  # what the function was told at once and is not on record
        self.leaving: Leaving | None = None  # once the function has said how its run ends
        self._due: list[tuple[int, int, Pending]] = []  # on record and asked for, by place in the journal
        self._signals = Signals()
        self._timers: dict[int, Pending] = {}  # by the identity of their handle
        self._counts: dict[str, int] = {}
        self._numbers = 0

    def close(self) -> None:
        """Take the function down. What it does not wait for any more matters to nobody."""
        self.loop.close()
        self.leaving = None
        self._left = _tell_nobody

    # -- the record

    def add(self, checkpoint: Checkpoint) -> Pending | None:
        """This is on record now. Gives the operation that it ends, if the function waits for it."""
        key = checkpoint.key
        if key in self.places:
            return None
        place = self.places[key] = len(self.records)
        self.records.append(checkpoint)
        if key.startswith(Op.SIGNAL):
            self._signals.came(key, place)
        pending = self.waiting.get(key)
        if pending is not None:
            heappush(self._due, (place, pending.number, pending))
        return pending

    def next_place(self) -> int | None:
        """Where in the journal that stands which the function is given next."""
        due, signal = self._still_due(), self._signals.first()
        if signal is None:
            return due[0][0] if due else None
        return min(signal[0], due[0][0]) if due else signal[0]

    def next_ended(self) -> tuple[Pending, Checkpoint] | None:
        """Of the operations that the function waits for, the one that ended first by the journal."""
        due, signal = self._still_due(), self._signals.first()
        if signal is not None and (not due or signal[0] < due[0][0]):
            place, pending = signal
            self._signals.take(pending)
        elif due:
            place, _, pending = heappop(due)
        else:
            return None
        self._is_over(pending)
        return pending, self.records[place]

    def _still_due(self) -> list[tuple[int, int, Pending]]:
        """What is due, without what the function gave up at its head."""
        due, waiting = self._due, self.waiting
        while due and waiting.get(due[0][2].key) is not due[0][2]:
            heappop(due)
        return due

    def _is_over(self, pending: Pending) -> None:
        del self.waiting[pending.key]
        if pending.op is Op.ASK:
            self._signals.left(pending)
        elif pending.handle is not None:
            self._timers.pop(id(pending.handle), None)

    def is_open(self, pending: Pending) -> bool:
        """Whether the function waits for it, and it has not ended."""
        return self.waiting.get(pending.key) is pending and pending.key not in self.places

    # -- what the function asks for

    def next_key(self, base: str) -> str:
        """The key of the next operation of that name."""
        count = self._counts[base] = self._counts.get(base, 0) + 1
        return base if count == 1 else f"{base}#{count}"

    def ask(self, op: Op, key: str) -> Pending:
        """A new operation of that key. `let_go` lets it begin."""
        self._numbers += 1
        return Pending(self.loop, op, key, self._numbers, self._is_given_up)

    def let_go(self, pending: Pending) -> Pending:
        """It is complete: from here on it may end."""
        if self.loop.is_closing:
            return pending  # it will never come
        if self.leaving is not None:
            self.leaving.asked_for_more()
        key = pending.key
        self.waiting[key] = pending
        if pending.op is Op.ASK:
            self._signals.asked(pending)
        if self._keeps_asked:
            self.asked[key] = None
        place = self.places.get(key)
        if place is None:
            self.fresh.append(pending)
        else:
            heappush(self._due, (place, pending.number, pending))
        return pending

    def open(self, key: str) -> None:
        """The place of a callback is to be there."""
        if self.loop.is_closing:
            return
        self.to_open.append(key)
        if self._keeps_asked:
            self.asked[key] = None

    def _is_given_up(self, pending: Pending) -> None:
        if self.waiting.get(pending.key) is not pending:
            return
        self._is_over(pending)
        self._left(pending)

    def _timer_was_set(self, handle: asyncio.TimerHandle) -> None:
        seconds = in_seconds(max(0.0, handle.when() - self.loop.now))
        pending = self.ask(Op.TIMER, self.next_key(Op.TIMER.value))
        pending.handle, pending.seconds = handle, seconds
        self._timers[id(handle)] = self.let_go(pending)

    def _timer_was_called_off(self, handle: asyncio.TimerHandle) -> None:
        pending = self._timers.pop(id(handle), None)
        if pending is not None:
            pending.cancel()


def _tell_nobody(_: Pending) -> None:
    """It does not matter any more."""
