"""The contract of a store: verbs of the domain, each one transaction.

Safety rests on three things that every store must give:
- the **fence**: `flush` and `claim` do nothing at all, and say so with null, unless (node, epoch) is registered at the
  moment they take effect; they read no clock for it. After `take_over` or `raise_epoch` returned, nothing that was sent
  under the old epoch can take effect any more, however late it arrives.
- the **generation** of a run: claims raise it, and a park or an end touches the run only if owner and generation are
  those it was written for.
- the **journal's key** (run, seq): a second entry in the same place is an error, and with `again=True` is ignored.

Any method may raise StoreBusy (nothing was applied, call again), CommitUnknown (nobody knows) or StoreError.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, Protocol

from detent.run.journal import Entry
from detent.store.rows import (
    CallbackRow,
    ClaimResult,
    Delivery,
    Finding,
    Flush,
    Flushed,
    Mail,
    MessageKind,
    NewVersion,
    NodeOffer,
    Receipt,
    RunCriteria,
    RunRow,
    SavedVersion,
    TimelineCursor,
    TimelineRow,
    Unsaved,
    VersionRow,
    WorkflowRow,
)
from detent.store.trigger_rows import FiringRow, FiringState, NewFiring, NewTrigger, OverlapRule, TriggerRow, Turn

EVERY_RUN: Final = RunCriteria()


class Heartbeat(Protocol):
    """Keeps a node's lease alive beside the engine, where the engine cannot starve it."""

    def start(self) -> None: ...

    def touch(self) -> None:
        """The engine's loop is alive. A heart that is not touched for 30 s stops beating."""

    def confirmed(self) -> float:
        """The monotonic time at which the last confirmed beat was sent."""

    def lost(self) -> bool:
        """Whether the store said that this node is not registered any more."""

    async def stop(self) -> None: ...


class NodeStore(Protocol):
    """What an engine node needs of a store."""

    def heart(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        """A heart for that registered node, on a connection of its own."""

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        """Enter a new node with a lease of `ttl` seconds, and what it offers. Gives (epoch, now). A node id is never
        used twice."""

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        """Prolong the lease to now + ttl. Gives now, or null if the node is not registered any more."""

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        """Make everything sent under `epoch` ineffective and give the new epoch; null if the node is gone.

        It waits for a flush of the old epoch that is being applied; called again after its own reply was lost it
        may raise the epoch once more, which does no harm."""

    async def overdue(self) -> list[bytes]:
        """The nodes whose lease is over."""

    async def take_over(self, node: bytes) -> bool:
        """Remove a node whose lease is over; its runs become claimable. False if it lives or is gone already."""

    async def retire(self, node: bytes) -> None:
        """Remove this node itself, when it has drained. What it still owns becomes claimable."""

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        """Write everything, or nothing and null if the fence refuses. `again` repeats a flush whose fate was unknown,
        under a raised epoch: what is there already is left as it is. A start may be refused alone (see `NewRun`): its
        callbacks, entries, activations, messages and end in the same flush are left out with it, and everything else is
        written. Sent again, a start that the first sending inserted counts as inserted. StoreLocked says that
        another transaction held a row or a key of it for longer than `patience` seconds (null: as usual), about."""

    async def claim(
        self,
        node: bytes,
        epoch: int,
        *,
        limit: int,
        queues: Collection[str] | None,
        serves: Collection[str],
        horizon: int,
    ) -> ClaimResult | None:
        """Take up to `limit` open runs, larger priority first, then the longest due: (a) unowned ones whose `wake_at`
        is at most `horizon` microseconds ahead, or that have mail; (b) those whose owner is not a registered node.
        Only of these queues (null: all), and only runs whose `code` is a subset of `serves`. Each gets the node as
        owner and its generation raised. Rows that another claim holds are passed over. A run with mail is never
        starved by others that are not claimable."""

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        """The messages of the runs this node owns, oldest first."""

    async def owned(self, node: bytes) -> list[tuple[bytes, int]]:
        """(run, generation) of every open run this node owns."""

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        """Give up runs (with generation) that this node owns and does not hold: they are claimable at once, as runs of
        a node that is gone. The claim whose reply was lost may have been an adoption; that must not be forgotten."""

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        """The journals of these runs, each in order of seq; a run without entries may be missing."""

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        """(workflow name, compiled graph) by (workflow, version)."""


class CommandStore(Protocol):
    """What commands (of API, command line, triggers) need of a store. No verb touches a run's row."""

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        """Receive a callback: pending or active (and not past its time) to received, and the payload into the inbox, in
        one statement. The flag says that the same `message_id` came before, and the receipt is the first answer.
        `now` is for tests."""

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        """Receive callbacks of different places as `deliver` does, all in one statement. Null for each that was not
        received: `deliver` says why, or receives it. It waits for nobody, so it can block no flush."""

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        """Put a message into the inbox of an open run; false if there is no such run or it has ended. A run cannot end
        between the two: its end comes before, or finds the message."""

    async def save_workflow(
        self, version: NewVersion, *, replace: bool, expected: tuple[int, int] | None = None
    ) -> SavedVersion | Unsaved:
        """Create a workflow, or with `replace` give the one of that name a new version, and put the trigger of its
        definition in the place of the one before (it keeps its id while its kind stays). `expected` is (version,
        updated_at) of the workflow that is to be replaced."""

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        """By id or by name; deleted ones are not found."""

    async def deleted_workflow(self, tenant: int, name: str) -> bytes | None:
        """Return the id of the workflow of that name that was deleted last."""

    async def workflows(
        self, tenant: int, *, limit: int, after: str | None = None, enabled: bool | None = None
    ) -> list[WorkflowRow]:
        """By name."""

    async def versions(self, tenant: int, workflow: bytes) -> list[VersionRow]:
        """Newest first."""

    async def enable_workflow(self, tenant: int, workflow: bytes, *, enabled: bool) -> bool:
        """False if there is none."""

    async def delete_workflow(self, tenant: int, workflow: bytes) -> int | None:
        """Mark it and its triggers as deleted, and free its name; its runs go on. Gives when; null if there is none."""

    async def run(self, tenant: int, run: bytes) -> RunRow | None: ...

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        where: RunCriteria = EVERY_RUN,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[RunRow]:
        """By id, which is the order in which they were accepted: newest first, those before `cursor`, or oldest first,
        those after it."""

    async def count_runs(self, tenant: int, *, where: RunCriteria, limit: int) -> int:
        """How many there are, counted up to `limit`."""

    async def ended(self, runs: Sequence[bytes]) -> set[bytes]:
        """Which of these have ended, or are not there (any more)."""

    async def offers(self) -> list[NodeOffer]:
        """What the registered nodes can do."""

    async def record_served(self, names: Sequence[tuple[str, str]]) -> None:
        """Note that each of these, as (`queue` or `action`, name), is served now."""

    async def last_served(self, kind: str, name: str) -> int | None:
        """When it was served last; null if never."""

    async def journal(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]: ...

    async def callbacks(self, run: bytes) -> list[CallbackRow]: ...

    async def active_run(self, tenant: int, key: str) -> bytes | None:
        """The open run that holds that `active_key`."""

    async def timeline(
        self, tenant: int, hero: tuple[str, str], *, limit: int, after: TimelineCursor | None = None
    ) -> list[TimelineRow]:
        """What happened in all runs of a hero, by time, run and seq, behind that place."""

    async def kept(self, run: bytes) -> dict[str, bytes]:
        """The results that steps of this run kept in transactions of the user's own, by step."""


class TriggerStore(Protocol):
    """What triggers need of a store."""

    async def add_trigger(self, new: NewTrigger) -> bool:
        """False if its workflow is not there."""

    async def trigger(self, tenant: int, trigger: bytes) -> TriggerRow | None:
        """Deleted ones are not found."""

    async def triggers(
        self,
        tenant: int,
        *,
        limit: int,
        after: bytes | None = None,
        workflow: bytes | None = None,
        kind: str | None = None,
        enabled: bool | None = None,
    ) -> list[TriggerRow]:
        """By id."""

    async def listeners(self, tenant: int, keys: Sequence[str]) -> list[TriggerRow]:
        """The enabled event triggers that listen to one of these, of workflows that are there."""

    async def change_trigger(self, changed: NewTrigger, *, seen: int) -> bool:
        """Write name, enabled, config, condition, key, next_at and note of a trigger, if its `updated_at` is still
        `seen`."""

    async def drop_trigger(self, tenant: int, trigger: bytes) -> bool:
        """Mark it as deleted; its firings stay."""

    async def due_triggers(self, *, limit: int) -> list[TriggerRow]:
        """The enabled ones of every tenant whose `next_at` has come, longest due first."""

    async def take_slots(self, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]) -> bool:
        """Move `next_at` from `seen` on and add the firings, in one transaction; false, and nothing, if somebody did. A
        slot that has a firing already is passed over."""

    async def add_firings(self, firings: Sequence[NewFiring]) -> list[FiringRow]:
        """Add them, in one transaction. Gives for each its row, or the one that was there before with the same slot or
        `dedup` of that trigger."""

    async def firing(self, tenant: int, firing: bytes) -> FiringRow | None: ...

    async def firings(
        self, tenant: int, *, trigger: bytes, limit: int, before: bytes | None = None, state: str | None = None
    ) -> list[FiringRow]:
        """Newest first."""

    async def due_firings(self, *, limit: int) -> list[FiringRow]:
        """Open firings of every tenant whose time has come and that nobody is at, longest due first."""

    async def begin_firing(self, firing: bytes, *, overlap: OverlapRule, lease: float, most_queued: int) -> Turn:
        """Take a firing up for `lease` seconds if it is its turn, in one transaction that no other firing of the same
        trigger can run beside. With ALLOW it always is. Otherwise another one that is being processed makes it WAIT (so
        does, with QUEUE, an older open one), and an open run of the trigger makes it SKIPPED (written as its end), or
        QUEUED (tried again a second later; SKIPPED if `most_queued` are queued already), or with CANCEL_PREVIOUS is
        given with GO."""

    async def end_firing(self, firing: bytes, *, state: FiringState, run: bytes | None, message: str | None) -> None:
        """Write how it ended, unless it has."""

    async def prune_firings(self, *, before: int, limit: int) -> int:
        """Delete up to `limit` firings that ended and came before then. Gives how many."""


class MaintenanceStore(Protocol):
    """Keeping the database itself in order."""

    async def now(self) -> int:
        """The database's time."""

    async def check(self) -> None:
        """Raise StoreError unless the database answers. A store without a heartbeat that writes must write here."""

    async def setting(self, name: str, default: str) -> str:
        """The stored value of a setting, which is `default` if nobody stored one before; the same for every node."""

    async def prune(self, *, before: int, statuses: Collection[str], limit: int) -> int:
        """Delete up to `limit` runs that ended before then, with all that belongs to them. Gives how many."""

    async def compact(self) -> int:
        """Give the space of deleted runs back to the disk, without blocking the engine. Gives bytes returned."""

    async def tidy(self) -> None:
        """Small regular chores: partitions for the weeks to come, and mail of ended runs. Of a run that was continued
        it is forwarded to the last run of the chain (see `End`); the rest is deleted."""

    async def examine(self) -> list[Finding]:
        """Look for settings that endanger durability, an old schema, a broken file."""

    async def close(self) -> None: ...


class Store(NodeStore, CommandStore, TriggerStore, MaintenanceStore, Protocol):
    """A whole store."""
