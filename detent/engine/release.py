"""The last that a node writes of a run it gives up: that it is parked, ended, or set aside for a person to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from detent.clock import DatabaseTime
from detent.engine.children import end_messages, to_parent
from detent.engine.owned_run import OwnedRun, when_unlocked
from detent.engine.write import ROW_BYTES, PendingWrite
from detent.instant import Instant, micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.run import events
from detent.run.journal import Entry, EntryData, Kind, decode_data, encode_data
from detent.run.plan import Plan, RunEnd
from detent.run.status import Status
from detent.steps.user_code import describe
from detent.store.rows import ClaimedRun, End, Mail, MessageKind, Park

# Runs that cannot be read or planned: paused with the reason in their journal, so that a person can look at them.
#
# Such a run holds up nobody and is not tried in a circle. A resume tries it once more, a cancel ends it. A callback
# that was accepted for it stays in its inbox; since mail makes a run due, it is then not parked but left owned and
# unheld, and the watchdog gives it back after a while.


_MARK: Final = "detent ("
_LONGEST: Final = 1_000


def reason(error: Exception) -> str:
    """Why, as it stands in the journal."""
    return f"{_MARK}{describe(error)})"[:_LONGEST]


def is_quarantined(paused_by: str | None) -> bool:
    """Whether it was the engine that paused a run, because it could not go on with it."""
    return paused_by is not None and paused_by.startswith(_MARK)


def paused(run: bytes, generation: int, tenant: int, seq: int, *, by: str, now: Instant) -> PendingWrite:
    """The rows that pause a run after its entry `seq`, whatever its status was."""
    entry = Entry(tenant, run, seq + 1, now, Kind.PAUSED, None, 0, None, encode_data(EntryData(by=by)))
    return PendingWrite(
        run, None, Plan(entry, [], [], []), ROW_BYTES, park=Park(run, generation, None, str(Status.PAUSED))
    )


def unreadable(
    run: ClaimedRun, entries: Sequence[Entry], mails: Sequence[Mail], error: Exception, now: Instant
) -> PendingWrite | None:
    """What is to be written of a claimed run that cannot be read, with its mail; null if that was written before."""
    seq = entries[-1].seq if entries else 0
    if any(mail.kind == MessageKind.CANCEL for mail in mails):
        entry = Entry(run.tenant, run.id, seq + 1, now, Kind.CANCELLED, None, 0, None, encode_data(EntryData()))
        end = End(run.id, run.generation, str(Status.CANCELLED), now, None, reason(error))
        unit = PendingWrite(run.id, None, Plan(entry, [], [], []), ROW_BYTES, end=end)
        if run.parent is not None:
            cancelled = RunEnd(Status.CANCELLED, None, end.error)
            unit.messages.append(to_parent(run.tenant, run.parent, run.id, seq + 1, cancelled))
        return unit
    read = tuple(mail.id for mail in mails if mail.kind != MessageKind.CALLBACK)
    if not read and run.status == Status.PAUSED and entries and _says_why(entries[-1]):
        return None
    unit = paused(run.id, run.generation, run.tenant, seq, by=reason(error), now=now)
    unit.consumed = read
    return unit


def _says_why(entry: Entry) -> bool:
    return entry.kind == Kind.PAUSED and is_quarantined(decode_data(entry.data).by)


class RunRelease:
    """Knows which runs this node has given up while their rows do not say so yet."""

    def __init__(self, time: DatabaseTime, add: Callable[[PendingWrite], None]) -> None:
        """`add` queues what is to be written."""
        self._time, self._add = time, add
        self._runs: dict[tuple[bytes, int], None] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def knows(self, run: bytes, generation: int) -> bool:
        """Whether there is something to write of the run, in that ownership."""
        return (run, generation) in self._runs

    def park(self, park: Park, held: OwnedRun | None = None) -> None:
        """The run waits for its time, or for something to come in."""
        reach("before_park")
        self._write(PendingWrite(park.run, None, Plan(None, [], [], []), ROW_BYTES, park=park), held)

    def fail(self, held: OwnedRun, reason: str) -> None:
        """The run failed by a fault of the engine's own."""
        end = End(held.id, held.generation, str(Status.FAILED), self._time.now(), None, reason)
        told = end_messages(held.state, RunEnd(Status.FAILED, None, reason))
        self._write(PendingWrite(held.id, None, Plan(None, [], [], []), ROW_BYTES, end=end, messages=told), held)

    def put_back(self, run: bytes, generation: int, status: str, *, after: float) -> None:
        """A run that this node cannot work on is due again after that many seconds."""
        self.park(Park(run, generation, self._time.now() + micros(after), status))

    def set_aside(self, held: OwnedRun, event: events.Event, message: int | None, error: Exception) -> None:
        """A run that cannot be planned is paused, with the reason in its journal."""
        state = held.state
        is_payload = isinstance(event, events.Received)
        if is_payload and is_quarantined(state.paused_by):
            return  # it is paused already, and its payload is not lost
        unit = paused(
            held.id,
            held.generation,
            state.facts.tenant,
            state.seq,
            by=reason(error),
            now=self._time.now(),
        )
        unit.consumed = () if message is None or is_payload else (message,)
        self._write(unit, held)

    def leave_unreadable(self, run: ClaimedRun, entries: list[Entry], mails: list[Mail], error: Exception) -> None:
        """A claimed run that cannot be read is paused, or cancelled if somebody asked for that."""
        emit("run.quarantined", run=run.id, error=reason(error))
        unit = unreadable(run, entries, mails, error, self._time.now())
        if unit is not None:
            self._write(unit)

    def has_left(self, unit: PendingWrite) -> None:
        """A unit was written, or cannot be: if it was the last of its run, the run has left."""
        row = unit.park or unit.end
        if row is not None and unit.held is None:
            self._runs.pop((row.run, row.generation), None)

    def _write(self, unit: PendingWrite, held: OwnedRun | None = None) -> None:
        """`held`, if an attempt of it may hold a lock on its row: then it is written when it does not any more."""
        row = unit.park or unit.end
        assert row is not None
        self._runs[row.run, row.generation] = None
        if held is None:
            self._add(unit)
        else:
            when_unlocked(held, partial(self._add, unit))
