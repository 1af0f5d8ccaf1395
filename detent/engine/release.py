"""The last write of a node for a run that it releases: the run is parked, ended, or quarantined for a user to check."""

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

# Quarantined runs: they cannot be read or planned, and are paused with the reason in their journal for a user to check.
#
# A quarantined run blocks no other run and is not retried in a loop. A resume retries it once, a cancel ends it. A
# callback that was accepted for it stays in its inbox. Mail makes a run due, so such a run is not parked again. It
# stays owned but is not in memory, and the watchdog releases it after a while.


_MARK: Final = "detent ("
_LONGEST: Final = 1_000


def reason(error: Exception) -> str:
    """Return the reason of a quarantine as it is written to the journal."""
    return f"{_MARK}{describe(error)})"[:_LONGEST]


def is_quarantined(paused_by: str | None) -> bool:
    """Return whether the engine itself paused the run, because it could not read or plan it."""
    return paused_by is not None and paused_by.startswith(_MARK)


def paused(run: bytes, generation: int, tenant: int, seq: int, *, by: str, now: Instant) -> PendingWrite:
    """Build the rows that pause a run after its entry `seq`, whatever its status was."""
    entry = Entry(tenant, run, seq + 1, now, Kind.PAUSED, None, 0, None, encode_data(EntryData(by=by)))
    return PendingWrite(
        run, None, Plan(entry, [], [], []), ROW_BYTES, park=Park(run, generation, None, str(Status.PAUSED))
    )


def unreadable(
    run: ClaimedRun, entries: Sequence[Entry], mails: Sequence[Mail], error: Exception, now: Instant
) -> PendingWrite | None:
    """Build the write that pauses a claimed run which cannot be read, or cancels it if its mail asks for that.

    Return None if the run is paused with the reason already.
    """
    seq = entries[-1].seq if entries else 0
    if any(mail.kind == MessageKind.CANCEL for mail in mails):
        entry = Entry(run.tenant, run.id, seq + 1, now, Kind.CANCELLED, None, 0, None, encode_data(EntryData()))
        end = End(run.id, run.generation, str(Status.CANCELLED), now, None, reason(error))
        write = PendingWrite(run.id, None, Plan(entry, [], [], []), ROW_BYTES, end=end)
        if run.parent is not None:
            cancelled = RunEnd(Status.CANCELLED, None, end.error)
            write.messages.append(to_parent(run.tenant, run.parent, run.id, seq + 1, cancelled))
        return write
    read = tuple(mail.id for mail in mails if mail.kind != MessageKind.CALLBACK)
    if not read and run.status == Status.PAUSED and entries and _says_why(entries[-1]):
        return None
    write = paused(run.id, run.generation, run.tenant, seq, by=reason(error), now=now)
    write.consumed = read
    return write


def _says_why(entry: Entry) -> bool:
    return entry.kind == Kind.PAUSED and is_quarantined(decode_data(entry.data).by)


class RunRelease:
    """The runs that this node has released while their rows still show it as the owner."""

    def __init__(self, time: DatabaseTime, add: Callable[[PendingWrite], None]) -> None:
        """`add` queues a write."""
        self._time, self._add = time, add
        self._runs: dict[tuple[bytes, int], None] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def knows(self, run: bytes, generation: int) -> bool:
        """Return whether a last write of the run with that generation is still due."""
        return (run, generation) in self._runs

    def park(self, park: Park, tenant: int, run: OwnedRun | None = None) -> None:
        """Write that the run waits until its time or until mail arrives."""
        reach("before_park")
        self._write(PendingWrite(park.run, None, Plan(None, [], [], []), ROW_BYTES, park=park, tenant=tenant), run)

    def leave(self, write: PendingWrite, run: OwnedRun) -> None:
        """Queue the last write of a run that this node releases."""
        reach("before_park")
        self._write(write, run)

    def fail(self, run: OwnedRun, reason: str) -> None:
        """Write that the run failed because of an error in the engine itself."""
        end = End(run.id, run.generation, str(Status.FAILED), self._time.now(), None, reason)
        messages = end_messages(run.state, RunEnd(Status.FAILED, None, reason))
        write = PendingWrite(run.id, None, Plan(None, [], [], []), ROW_BYTES, end=end, messages=messages)
        write.tenant = run.state.facts.tenant
        self._write(write, run)

    def put_back(self, run: ClaimedRun, *, after: float) -> None:
        """Park a run that this node cannot work on. It is due again after that many seconds."""
        self.park(Park(run.id, run.generation, self._time.now() + micros(after), run.status), run.tenant)

    def quarantine(self, run: OwnedRun, event: events.Event, message: int | None, error: Exception) -> None:
        """Quarantine a run that cannot be planned: pause it, with the reason in its journal."""
        state = run.state
        is_payload = isinstance(event, events.Received)
        if is_payload and is_quarantined(state.paused_by):
            return  # the run is paused already, and the payload stays in its inbox
        write = paused(
            run.id,
            run.generation,
            state.facts.tenant,
            state.seq,
            by=reason(error),
            now=self._time.now(),
        )
        write.consumed = () if message is None or is_payload else (message,)
        self._write(write, run)

    def leave_unreadable(self, run: ClaimedRun, entries: list[Entry], mails: list[Mail], error: Exception) -> None:
        """Quarantine a claimed run that cannot be read, or cancel it if its mail has a cancel."""
        emit("run.quarantined", run=run.id, error=reason(error))
        write = unreadable(run, entries, mails, error, self._time.now())
        if write is not None:
            self._write(write)

    def has_left(self, write: PendingWrite) -> None:
        """Forget the run of a last write, after it was written or rejected."""
        row = write.park or write.end
        if row is not None and write.owned is None:
            self._runs.pop((row.run, row.generation), None)

    def _write(self, write: PendingWrite, run: OwnedRun | None = None) -> None:
        """Queue the last write of a run. With `run`, wait until no attempt holds a lock on the run's row."""
        row = write.park or write.end
        assert row is not None
        self._runs[row.run, row.generation] = None
        if run is None:
            self._add(write)
        else:
            when_unlocked(run, partial(self._add, write))
