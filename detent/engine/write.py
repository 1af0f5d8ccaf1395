"""The pending write of one event: the rows of one run that go into the same flush, and the plan to run afterwards."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

import msgspec

from detent.engine.owned_run import OwnedRun
from detent.run.journal import Entry
from detent.run.plan import Plan, StartAttempt
from detent.run.state import Checkpoint
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

    def rows(self) -> int:
        own = 1 + len(self.callbacks) + len(self.entries) + len(self.messages) + len(self.plan.activate)
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
        flush.callbacks.extend(self.callbacks)
        flush.entries.extend(self.entries)
        if plan.entry is not None:
            flush.entries.append(plan.entry)
        for step, until in plan.activate:
            flush.activations.append(Activation(self.run, step, until))
        if plan.closed and self.end is None:
            flush.expiries.extend((self.run, step) for step in plan.closed)
        if self.end is not None:
            flush.ends.append(_that_fits(self.end))
        elif self.park is not None:
            flush.parks.append(self.park)
        flush.messages.extend(self.messages)
        flush.consumed.extend(self.consumed)
        if self.expiry is not None and self.owned is not None:
            flush.expiries.append((self.run, self.owned.wait_name(self.expiry)))


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
