"""The last that a node writes of a run it gives up: that it is parked, ended, or set aside for a person to look at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from detent.clock import DatabaseTime
from detent.engine import quarantine
from detent.engine.family import end_messages
from detent.engine.held import HeldRun
from detent.engine.locks import when_unlocked
from detent.engine.unit import ROW_BYTES, Unit
from detent.instant import micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.run import events
from detent.run.journal import Entry
from detent.run.plan import Plan, RunEnd
from detent.run.status import Status
from detent.store.rows import ClaimedRun, End, Mail, Park


class Leaving:
    """Knows which runs this node has given up while their rows do not say so yet."""

    def __init__(self, time: DatabaseTime, add: Callable[[Unit], None]) -> None:
        """`add` queues what is to be written."""
        self._time, self._add = time, add
        self._runs: dict[tuple[bytes, int], None] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def knows(self, run: bytes, generation: int) -> bool:
        """Whether there is something to write of the run, in that ownership."""
        return (run, generation) in self._runs

    def park(self, park: Park) -> None:
        """The run waits for its time, or for something to come in."""
        reach("before_park")
        self._write(Unit(park.run, None, Plan(None, [], [], []), ROW_BYTES, park=park))

    def fail(self, held: HeldRun, reason: str) -> None:
        """The run failed by a fault of the engine's own."""
        end = End(held.id, held.generation, str(Status.FAILED), self._time.now(), None, reason)
        told = end_messages(held.state, RunEnd(Status.FAILED, None, reason))
        self._write(Unit(held.id, None, Plan(None, [], [], []), ROW_BYTES, end=end, messages=told), held)

    def put_back(self, run: bytes, generation: int, status: str, *, after: float) -> None:
        """A run that this node cannot work on is due again after that many seconds."""
        self.park(Park(run, generation, self._time.now() + micros(after), status))

    def set_aside(self, held: HeldRun, event: events.Event, message: int | None, error: Exception) -> None:
        """A run that cannot be planned is paused, with the reason in its journal."""
        state = held.state
        is_payload = isinstance(event, events.Received)
        if is_payload and quarantine.is_set_aside(state.paused_by):
            return  # it is paused already, and its payload is not lost
        unit = quarantine.paused(
            held.id,
            held.generation,
            state.facts.tenant,
            state.seq,
            by=quarantine.reason(error),
            now=self._time.now(),
        )
        unit.consumed = () if message is None or is_payload else (message,)
        self._write(unit, held)

    def leave_unreadable(self, run: ClaimedRun, entries: list[Entry], mails: list[Mail], error: Exception) -> None:
        """A claimed run that cannot be read is paused, or cancelled if somebody asked for that."""
        emit("run.quarantined", run=run.id, error=quarantine.reason(error))
        unit = quarantine.unreadable(run, entries, mails, error, self._time.now())
        if unit is not None:
            self._write(unit)

    def has_left(self, unit: Unit) -> None:
        """A unit was written, or cannot be: if it was the last of its run, the run has left."""
        row = unit.park or unit.end
        if row is not None and unit.held is None:
            self._runs.pop((row.run, row.generation), None)

    def _write(self, unit: Unit, held: HeldRun | None = None) -> None:
        """`held`, if an attempt of it may hold a lock on its row: then it is written when it does not any more."""
        row = unit.park or unit.end
        assert row is not None
        self._runs[row.run, row.generation] = None
        if held is None:
            self._add(unit)
        else:
            when_unlocked(held, partial(self._add, unit))
