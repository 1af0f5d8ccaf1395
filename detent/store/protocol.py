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
from typing import Protocol

from detent.run.journal import Entry
from detent.store.rows import (
    CallbackRow,
    Claims,
    Finding,
    Flush,
    Flushed,
    Mail,
    MessageKind,
    NewVersion,
    Receipt,
    RunRow,
    SavedVersion,
    WorkflowRow,
)


class Heart(Protocol):
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

    def heart(self, node: bytes, *, ttl: float, interval: float) -> Heart:
        """A heart for that registered node, on a connection of its own."""

    async def register(self, node: bytes, *, ttl: float) -> tuple[int, int]:
        """Enter a new node with a lease of `ttl` seconds. Gives (epoch, now). A node id is never used twice."""

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

    async def flush(self, node: bytes, epoch: int, flush: Flush, *, again: bool = False) -> Flushed | None:
        """Write everything, or nothing and null if the fence refuses. `again` repeats a flush whose fate was unknown,
        under a raised epoch: what is there already is left as it is."""

    async def claim(
        self,
        node: bytes,
        epoch: int,
        *,
        limit: int,
        queues: Collection[str] | None,
        serves: Collection[str],
        horizon: int,
    ) -> Claims | None:
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


class DoorStore(Protocol):
    """What the doors (API, command line, triggers) need of a store. None of it touches a run's row."""

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        """Receive a callback: pending or active (and not past its time) to received, and the payload into the inbox, in
        one statement. The flag says that the same `message_id` came before, and the receipt is the first answer.
        `now` is for tests."""

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        """Put a message into the inbox of an open run; false if there is no such run or it has ended."""

    async def save_workflow(self, version: NewVersion, *, replace: bool) -> SavedVersion | None:
        """Create a workflow, or with `replace` give the one of that name a new version. Null if the name is taken."""

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        """By id or by name; deleted ones are not found."""

    async def workflows(self, tenant: int, *, limit: int, after: str | None = None) -> list[WorkflowRow]:
        """By name."""

    async def run(self, tenant: int, run: bytes) -> RunRow | None: ...

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        workflow: bytes | None = None,
        status: str | None = None,
        before: bytes | None = None,
    ) -> list[RunRow]:
        """Newest first."""

    async def journal(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]: ...

    async def callbacks(self, run: bytes) -> list[CallbackRow]: ...


class KeeperStore(Protocol):
    """Keeping the database itself in order."""

    async def now(self) -> int:
        """The database's time."""

    async def setting(self, name: str, default: str) -> str:
        """The stored value of a setting, which is `default` if nobody stored one before; the same for every node."""

    async def prune(self, *, before: int, statuses: Collection[str], limit: int) -> int:
        """Delete up to `limit` runs that ended before then, with all that belongs to them. Gives how many."""

    async def compact(self) -> int:
        """Give the space of deleted runs back to the disk, without blocking the engine. Gives bytes returned."""

    async def tidy(self) -> None:
        """Small regular chores: mail of ended runs, partitions for the weeks to come."""

    async def examine(self) -> list[Finding]:
        """Look for settings that endanger durability, an old schema, a broken file."""

    async def close(self) -> None: ...


class Store(NodeStore, DoorStore, KeeperStore, Protocol):
    """A whole store."""
