"""Runs that cannot be read or planned: paused with the reason in their journal, so that a person can look at them.

Such a run holds up nobody and is not tried in a circle. A resume tries it once more, a cancel ends it. A callback that
was accepted for it stays in its inbox; since mail makes a run due, it is then not parked but left owned and unheld, and
the watchdog gives it back after a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.engine.family import to_parent
from detent.engine.unit import ROW_BYTES, Unit
from detent.instant import Instant
from detent.run.journal import Entry, EntryData, Kind, decode_data, encode_data
from detent.run.plan import Plan, RunEnd
from detent.run.status import Status
from detent.steps.failures import told_of
from detent.store.rows import ClaimedRun, End, Mail, MessageKind, Park

_MARK: Final = "detent ("
_LONGEST: Final = 1_000


def reason(error: Exception) -> str:
    """Why, as it stands in the journal."""
    return f"{_MARK}{told_of(error)})"[:_LONGEST]


def is_set_aside(paused_by: str | None) -> bool:
    """Whether it was the engine that paused a run, because it could not go on with it."""
    return paused_by is not None and paused_by.startswith(_MARK)


def paused(run: bytes, generation: int, tenant: int, seq: int, *, by: str, now: Instant) -> Unit:
    """The rows that pause a run after its entry `seq`, whatever its status was."""
    entry = Entry(tenant, run, seq + 1, now, Kind.PAUSED, None, 0, None, encode_data(EntryData(by=by)))
    return Unit(run, None, Plan(entry, [], [], []), ROW_BYTES, park=Park(run, generation, None, str(Status.PAUSED)))


def unreadable(
    run: ClaimedRun, entries: Sequence[Entry], mails: Sequence[Mail], error: Exception, now: Instant
) -> Unit | None:
    """What is to be written of a claimed run that cannot be read, with its mail; null if that was written before."""
    seq = entries[-1].seq if entries else 0
    if any(mail.kind == MessageKind.CANCEL for mail in mails):
        entry = Entry(run.tenant, run.id, seq + 1, now, Kind.CANCELLED, None, 0, None, encode_data(EntryData()))
        end = End(run.id, run.generation, str(Status.CANCELLED), now, None, reason(error))
        unit = Unit(run.id, None, Plan(entry, [], [], []), ROW_BYTES, end=end)
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
    return entry.kind == Kind.PAUSED and is_set_aside(decode_data(entry.data).by)
