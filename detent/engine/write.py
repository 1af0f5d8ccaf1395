"""The pending write of one event: the rows of one run that go into the same flush, and the plan to run afterwards."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

import msgspec

from detent.engine.owned_run import OwnedRun
from detent.graph.model import Ending
from detent.observe import emit
from detent.run.initiator import NO_INITIATOR, read_principal
from detent.run.journal import Entry, Kind, decode_data
from detent.run.outcomes import StepError
from detent.run.plan import Plan, StartAttempt
from detent.run.state import Checkpoint
from detent.run.status import Status
from detent.store.audit import AuditRow
from detent.store.letters import NewLetter
from detent.store.rows import Activation, End, Flush, Flushed, Message, NewCallback, NewRun, Park

#: The approximate size of a row without its text.
ROW_BYTES = 100
LONGEST_ERROR: Final = 4_000


class PendingWrite(msgspec.Struct, eq=False):
    """The rows of one event. `done` is the future of a caller that waits for the flush.

    `owned` is None for a run that this node does not own after the flush.
    """

    run: bytes
    owned: OwnedRun | None
    plan: Plan
    size: int
    start: NewRun | None = None
    entries: list[Entry] = []  # entries before the one of the plan
    callbacks: list[NewCallback] = []
    messages: list[Message] = []  # to other runs
    park: Park | None = None
    end: End | None = None
    consumed: tuple[int, ...] = ()  # messages of the inbox
    expiry: int | str | None = None  # a wait step, or a wait of a durable function
    recorded: StartAttempt | None = None  # the attempt whose start this write journals
    done: asyncio.Future[Flushed] | None = None
    tenant: int = 0  # used if neither `owned`, `start` nor the entry has one
    successor: PendingWrite | None = None  # the start of the run that continues the one that ends here
    claim: Any = None  # of resource links, a `records.links.LinkClaim`
    letters: tuple[NewLetter, ...] = ()
    audit: AuditRow | None = None  # of the command that starts the run

    def rows(self) -> int:
        own = 1 + len(self.callbacks) + len(self.entries) + len(self.messages) + len(self.plan.activate)
        if self.claim is not None:
            own += len(self.claim.rows)
        return own if self.successor is None else own + self.successor.rows()

    def of_tenant(self) -> int:
        """Return the tenant that this write counts for when tenants take turns."""
        if self.owned is not None:
            return self.owned.state.facts.tenant
        if self.start is not None:
            return self.start.tenant
        return self.tenant if self.plan.entry is None else self.plan.entry.tenant

    def started(self) -> NewRun | None:
        """Return the run that this write starts: its own, or the successor of the run that ends."""
        return self.start if self.successor is None else self.successor.start

    def add_to(self, flush: Flush) -> None:
        """Add the rows to a flush."""
        plan = self.plan
        if self.successor is not None:
            self.successor.add_to(flush)
        if self.start is not None:
            flush.starts.append(self.start)
        # Most of these are empty in most writes, and this is done for every entry.
        if self.callbacks:
            flush.callbacks.extend(self.callbacks)
        if self.entries:
            flush.entries.extend(self.entries)
        if plan.entry is not None:
            flush.entries.append(plan.entry)
        if plan.activate:
            flush.activations.extend(Activation(self.run, *activated) for activated in plan.activate)
        if plan.closed and self.end is None:
            flush.expiries.extend((self.run, step) for step in plan.closed)
        if self.end is not None:
            flush.ends.append(_that_fits(self.end))
        elif self.park is not None:
            flush.parks.append(self.park)
        if self.messages:
            flush.messages.extend(self.messages)
        if self.consumed:
            flush.consumed.extend(self.consumed)
        if self.expiry is not None and self.owned is not None:
            flush.expiries.append((self.run, self.owned.wait_name(self.expiry)))
        if self.claim is not None:
            flush.links.extend(self.claim.rows)
        if self.letters:
            flush.letters.extend(self.letters)
        if self.audit is not None:
            flush.audits.append((self.run, self.audit))


class Successor(Protocol):
    """A prepared run that can take over from another one."""

    @property
    def id(self) -> bytes: ...

    def build(self, signals: tuple[Checkpoint, ...]) -> PendingWrite:
        """Build the rows of its start. It begins with these signals on record."""


def _that_fits(end: End) -> End:
    """Return the end with an error text that its column accepts.

    The text of a step may contain a NUL, which a text column refuses, or be far too long.
    """
    if end.error is None or (len(end.error) <= LONGEST_ERROR and "\0" not in end.error):
        return end
    return end._replace(error=end.error.replace("\0", "\ufffd")[:LONGEST_ERROR])


# What is reported of rows that are durable: failures in the code of workflows, and the ends of runs.


#: The entries of an attempt after which its step is retried.
_AGAIN: Final = (Kind.RETRY, Kind.BEGAN)
#: The entries of a step that is over, of an operation of a durable function, and of a run that its code cancelled.
_OVER: Final = (Kind.ENDED, Kind.CHECKPOINT, Kind.CANCELLED)
#: Only the end of a traceback is reported, because it shows where the error was raised.
_LONGEST: Final = 2_000


def emit_trouble(run: bytes, entry: Entry) -> None:
    """Report that a step paused its run, that its attempt failed and is retried, or that its code raised and is over.

    Other entries are not decoded.
    """
    if entry.kind == Kind.NOTED:
        _emit_note(run, entry)
        return
    is_over = entry.kind in _OVER and entry.outcome != Ending.SUCCESS
    if entry.step is None or not (is_over or entry.kind == Kind.PAUSED or entry.kind in _AGAIN):
        return
    data = decode_data(entry.data)
    facts = {"step": entry.step, "attempt": entry.attempt, **_error(data.error)}
    if entry.kind == Kind.PAUSED:
        emit("run.paused", run=run, reason=data.by, **facts)
    elif is_over and "traceback" in facts:
        emit("step.raised", run=run, outcome=entry.outcome, **facts)
    elif not is_over and data.error is not None:
        emit("step.retry", run=run, **facts)


def _emit_note(run: bytes, entry: Entry) -> None:
    """Report what happened at a wait that goes on: a reminder, its escalation, or one decision of several."""
    reminder = decode_data(entry.data).reminder
    if reminder is None:
        emit("approval.counted", run=run, step=entry.step)
    elif reminder:
        emit("approval.reminder", run=run, step=entry.step, number=reminder)
    else:
        emit("approval.escalated", run=run, step=entry.step)


def emit_end(end: End, run: OwnedRun | None) -> None:
    """Report that a run has ended. Report a failure as an event of its own too, with who initiated the run."""
    emit("run.ended", run=end.run, status=end.status)
    if end.status in (Status.FAILED, Status.TIMEOUT):
        emit("run.failed", run=end.run, status=end.status, error=end.error, **_initiator(run))


def _initiator(run: OwnedRun | None) -> dict[str, str]:
    initiator = NO_INITIATOR if run is None else run.state.facts.initiator
    found = {} if initiator.principal is None else {"principal": read_principal(initiator.principal).user_id}
    return found if initiator.correlation is None else {**found, "correlation": initiator.correlation}


def _error(error: StepError | None) -> dict[str, Any]:
    if error is None:
        return {}
    trace = {} if error.traceback is None else {"traceback": error.traceback[-_LONGEST:]}
    return {"error": error.message, **trace}


def emit_written(write: PendingWrite) -> None:
    """Tell that the entries of a write are durable, which steps they end in trouble, and which waits they open."""
    for entry in write.entries if write.plan.entry is None else (*write.entries, write.plan.entry):
        emit("entry.written", run=write.run, entry=entry)
        emit_trouble(write.run, entry)
    for step, _, _ in write.plan.activate:
        emit("wait.opened", run=write.run, step=step)
