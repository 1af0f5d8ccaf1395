"""The contract of a store: verbs of the domain, each one transaction.

Safety rests on three guarantees of every store:
- the **fence**: `flush` and `claim` take effect only if (node, epoch) is registered at that moment. Otherwise they
  change nothing and return `None`. They read no clock for it. After `take_over` or `raise_epoch` has returned, nothing
  sent under the old epoch can take effect, however late it arrives.
- the **generation** of a run: every claim raises it. A park or an end changes the run only if owner and generation are
  still those it was written for.
- the **journal's key** (run, seq): a second entry with the same key is an error. With `again=True` it is ignored.

Any method may raise StoreBusy (nothing was applied, call it again), CommitUnknown (it may or may not have been applied)
or StoreError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from detent.run.journal import Entry
from detent.store.audit import AuditStore
from detent.store.auth import KeyStore
from detent.store.blobs.rows import BlobStore
from detent.store.catalog_protocol import CatalogStore
from detent.store.events import EventStore
from detent.store.heartbeat import Heartbeat
from detent.store.identity.people import PersonStore
from detent.store.letters import LetterStore, NewLetter
from detent.store.links import LinkStore
from detent.store.list_rows import (
    FoundWorkflowRow,
    HeroRow,
    MarkSlice,
    Orphan,
    Range,
    RunGroups,
    RunSlice,
    StepCounts,
    TimelineCursor,
    TimelineRow,
)
from detent.store.logs.rows import LogStore
from detent.store.overview_rows import AskAnswer, CallbackFacts, OverviewStore
from detent.store.rows import (
    CallbackRow,
    ClaimResult,
    Delivery,
    DraftRow,
    Finding,
    Flush,
    Flushed,
    Mail,
    MessageKind,
    NewDraft,
    NewVersion,
    NodeOffer,
    Receipt,
    RunCriteria,
    RunRow,
    SavedDraft,
    SavedVersion,
    Unsaved,
    VersionRow,
    WorkflowRow,
)
from detent.store.rule_protocol import ActionTemplateStore, AlertStore, EntityStore, LayoutStore
from detent.store.templates import TemplateStore
from detent.store.tenants import TenantStore
from detent.store.trigger_rows import FiringRow, FiringState, NewFiring, NewTrigger, OverlapRule, TriggerRow, Turn
from detent.store.vault.credentials import VaultStore

EVERY_RUN: Final = RunCriteria()


class NodeStore(Protocol):
    """The verbs that an engine node uses."""

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        """Return a heartbeat for that registered node, on its own connection."""

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        """Register a new node with a lease of `ttl` seconds and its offers. Return (epoch, now).

        A node id is never used twice."""

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        """Extend the lease to now + `ttl`. Return now, or `None` if the node is not registered any more."""

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        """Invalidate everything sent under `epoch`.

        Return the new epoch, or `None` if the node is not registered any more. It waits for a flush of the old epoch
        that is being applied. A second call after a lost reply may raise the epoch once more, which is harmless."""

    async def overdue(self) -> list[bytes]:
        """Return the nodes whose lease has expired."""

    async def take_over(self, node: bytes) -> bool:
        """Remove a node whose lease has expired; its runs become claimable.

        Return False if it is alive or already removed."""

    async def retire(self, node: bytes) -> None:
        """Remove this node after it has drained. Runs that it still owns become claimable."""

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        """Write everything in one transaction, or write nothing and return `None` if the fence refuses.

        `again` repeats a flush whose result was unknown, under a raised epoch: rows inserted before stay as they are.

        One start may be refused without the rest (see `NewRun`). Its callbacks, entries, activations, messages and end
        in the same flush are then left out, and everything else is written. In a repeated flush, a start that the first
        sending inserted counts as inserted. A claim of a link that another claim precedes is not inserted either.

        Raise StoreLocked if another transaction held one of its rows or keys for longer than about `patience` seconds.
        `None` means the store's default."""

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
        """Claim up to `limit` open runs, highest priority first, then the longest due.

        If there are more, claims take turns (`Favoured`): any four of them in a row claim runs that are due, runs with
        mail and runs of dead nodes, however many there are of another sort.

        A run is claimable if it is unowned, and has mail or a `wake_at` at most `horizon` microseconds ahead. It is
        also claimable if its owner is not a registered node. Only runs of these queues count (`None`: all), and only
        runs whose `code` is a subset of `serves`. Each claimed run gets the node as owner, and its generation is
        raised. Rows locked by another claim are skipped. Runs that are not claimable never starve a run with mail."""

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        """Return the messages of the runs this node owns, oldest first."""

    async def owned(self, node: bytes) -> list[tuple[bytes, int]]:
        """Return (run, generation) of every open run this node owns."""

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        """Release runs (with generation) that this node owns in the database but not in memory.

        They are claimable at once. They count as runs of a node that is gone. The claim whose reply was lost may have
        been an adoption, and the next claim must know that."""

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        """Return the journals of these runs, each in order of seq. A run without entries may be missing."""

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        """Return (workflow name, compiled graph) by (workflow, version)."""

    async def archived(self, workflows: Sequence[bytes]) -> set[bytes]:
        """Return which of these workflows are archived."""

    async def closed_waits(self, runs: Sequence[bytes]) -> set[tuple[bytes, str]]:
        """Return (run, step) of every wait of these runs whose callback has expired."""


class CommandStore(Protocol):
    """The verbs that commands (of API, command line, triggers) use. No verb changes a run's row."""

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        """Receive a callback that is pending or active and not past its time, in one statement.

        The callback becomes received and its payload goes into the inbox. The flag is True if the same `message_id`
        came before; the receipt is then the first answer. With an ask: `asks` (see `decide`). `now` is for tests."""

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        """Receive callbacks of different waits as `deliver` does, all in one statement.

        Return `None` for each callback that was not received. The caller then calls `deliver`, which receives it or
        returns the reason. This verb never waits for a lock, so it cannot block a flush."""

    async def callback(self, run: bytes, step: str) -> CallbackFacts | None: ...
    async def decide(self, answer: AskAnswer, *, now: int | None = None) -> Receipt | None:
        """Receive a checked answer, or one decision of several. None: it has changed or is locked, so read it again."""

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        """Put a message into the inbox of an open run. Return False if the run does not exist or has ended.

        A run cannot end between the check and the insert: its end comes first, or its end finds the message."""

    async def send_many(self, tenant: int, runs: Sequence[bytes], kind: MessageKind, data: bytes) -> set[bytes]:
        """Put the same message into the inboxes of open runs as `send` does, in one transaction.

        Return the runs that received it. The caller calls `send` for each of the others, which waits if the run is
        locked. This verb never waits for a lock, so it cannot block a flush."""

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
        """List runs by id, which is the order in which they were accepted.

        The newest come first, those before `cursor`. With `oldest_first` the oldest come first, those after
        `cursor`."""

    async def count_runs(self, tenant: int, *, where: RunCriteria, limit: int) -> int:
        """Count runs, up to `limit`."""

    async def ended(self, tenant: int, runs: Sequence[bytes]) -> set[bytes]:
        """Return which of these runs have ended or do not exist (any more)."""

    async def existing(self, runs: Sequence[bytes]) -> set[bytes]:
        """Return which of these runs of any tenant exist, open or ended. Only the engine uses this."""

    async def offers(self) -> list[NodeOffer]:
        """Return the offers of the registered nodes."""

    async def record_served(self, names: Sequence[tuple[str, str]]) -> None:
        """Record that each of these, as (`queue` or `action`, name), is served now."""

    async def last_served(self, kind: str, name: str) -> int | None:
        """Return when it was served last, or `None` if never."""

    async def journal(self, tenant: int, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]: ...

    async def journals_of(self, tenant: int, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        """Return the journals of these runs, each in order of seq. A run without entries is missing."""

    async def step_ends(self, tenant: int, runs: Sequence[bytes], steps: Sequence[str]) -> list[Entry]:
        """Return the entries of the ends of these steps or operations in these runs, each run in order of seq."""

    async def callbacks(self, tenant: int, run: bytes) -> list[CallbackRow]: ...

    async def active_run(self, tenant: int, key: str) -> bytes | None:
        """Return the open run that has that `active_key`."""

    async def timeline(
        self, tenant: int, hero: tuple[str, str], *, limit: int, after: TimelineCursor | None = None
    ) -> list[TimelineRow]:
        """Return what happened in all runs of a hero, ordered by time, run and seq, after that cursor."""

    async def kept(self, tenant: int, run: bytes) -> dict[str, bytes]:
        """Return the results that steps of this run stored in the user's own transactions, by step."""


class ListStore(Protocol):
    """The verbs of lists, counts and searches. They change nothing, and read no input and no output."""

    async def look_at_runs(
        self,
        tenant: int,
        *,
        limit: int,
        most: int,
        where: RunCriteria = EVERY_RUN,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> RunSlice:
        """List runs as `runs` does, but look at about `most` runs at most, and return the first `limit` that match.

        The cursor of the next slice is the `end` of this one, or the last row if there are `limit` of them."""

    async def mark_runs(
        self, tenant: int, *, limit: int, most: int, where: RunCriteria = EVERY_RUN, cursor: bytes | None = None
    ) -> MarkSlice:
        """Return the marks of runs, newest first, as `look_at_runs` returns rows."""

    async def group_runs(
        self, tenant: int, *, limit: int, most: int, where: RunCriteria, cursor: bytes | None = None
    ) -> RunGroups:
        """Count the runs that `mark_runs` would return, by the values that lists are narrowed by."""

    async def count_open(self, tenant: int, *, limit: int) -> Counter[tuple[bytes, int]]:
        """Count the newest `limit` open runs by workflow and version. Pages of maps are left out of the counts."""

    async def workflow_names(self, tenant: int, workflows: Sequence[bytes]) -> dict[bytes, str]:
        """Return the names of these workflows. A deleted workflow has its name still."""

    async def count_steps(self, tenant: int, runs: Sequence[bytes]) -> dict[bytes, StepCounts]:
        """Count the steps of each run that have an end in its journal. A run without one is left out."""

    async def count_in_ranges(self, tenant: int, what: Range, bounds: Sequence[bytes]) -> list[int]:
        """Count runs with an id in each range [bounds[n], bounds[n + 1])."""

    async def count_failed(self, tenant: int, *, since: int, limit: int) -> int:
        """Count the runs that failed or timed out at `since` or later, up to `limit`."""

    async def stuck(self, tenant: int, *, before: int, limit: int) -> list[bytes]:
        """Return the open runs that no node goes on with, in the order of their ids.

        They were due at `before` or earlier and have no owner, or their owner is not registered."""

    async def hero_types(self, tenant: int, *, limit: int) -> list[str]:
        """Return the types of heroes, sorted."""

    async def heroes(
        self, tenant: int, type_: str, *, prefix: str = "", after: str | None = None, limit: int
    ) -> list[HeroRow]:
        """List the heroes of a type by id, those that begin with `prefix` and come after `after`."""

    async def find_workflows(
        self, tenant: int, *, limit: int, text: str | None = None, after: str | None = None
    ) -> list[FoundWorkflowRow]:
        """List workflows by name, those whose name or title has that text, and that come after `after`."""

    async def find_triggers(self, tenant: int, *, text: str, limit: int) -> list[TriggerRow]:
        """List the triggers whose name has that text, by id."""


class WorkflowStore(Protocol):
    """The verbs of workflows, their versions and their drafts. They are verbs of commands.

    A version with an `entity` is a rule. A verb that would make it current returns NO_ENTITY if there is no such
    entity. Each verb that changes what starts a rule raises the `revision` of its entity (`EntityStore`)."""

    async def save_workflow(
        self,
        version: NewVersion,
        *,
        replace: bool,
        expected: tuple[int, int] | None = None,
        layout: str | None = None,
    ) -> SavedVersion | Unsaved:
        """Create a workflow; with `replace`, give the workflow of that name this version as its current one.

        If a version has the checksum already, that one becomes current. Otherwise a version is added, with the number
        after the greatest one. A workflow with the status `draft` becomes `active`; its draft stays.

        The trigger in the definition replaces the previous one, and has the same id while its kind does not change.
        `expected` is the (version, updated_at) that the caller expects to replace. `layout` changes the layout of the
        workflow in the same transaction (`merge_layout`)."""

    async def activate_version(self, version: NewVersion, number: int) -> SavedVersion | Unsaved:
        """Make a stored version of the workflow `version.id` its current one, with the facts and the trigger given.

        It stays enabled or disabled as it is. Its status `draft` becomes `active`. Return MISSING or ARCHIVED."""

    async def change_status(
        self,
        tenant: int,
        workflow: bytes,
        status: str,
        *,
        slots: Sequence[tuple[bytes, int, int]] = (),
        by: str | None = None,
    ) -> str | None:
        """Archive an active workflow (`archived`), or reactivate an archived one (`active`).

        An archived workflow is disabled, and none of its schedules has a next slot. A reactivated one is enabled.
        `slots` then has (trigger, updated_at, next_at) of its schedules: each gets that slot if it is enabled and has
        not changed since. Return the status before, or `None` if the workflow does not exist. A workflow with the
        status `draft` stays as it is."""

    async def save_draft(
        self, draft: NewDraft, *, expected: int | None = None, unpublished: bool = False, new: bool = False
    ) -> SavedDraft | Unsaved:
        """Save the draft of the workflow of that name. If there is none, create it with the status `draft`.

        With `new`, return TAKEN if there is a workflow of that name. `expected` is the revision of the draft to
        replace, 0 if there must be none (CHANGED otherwise; MISSING if there is no workflow). `unpublished`: return
        PUBLISHED unless the status of the workflow is `draft`."""

    async def draft(self, tenant: int, workflow: bytes) -> DraftRow | None:
        """Return the draft of a workflow."""

    async def drop_draft(self, tenant: int, workflow: bytes, *, expected: int | None = None) -> Unsaved | None:
        """Delete the draft of a workflow that has a version. Return why it was not deleted: MISSING, CHANGED or
        UNPUBLISHED."""

    async def publish_draft(self, version: NewVersion, *, revision: int, activate: bool) -> SavedVersion | Unsaved:
        """Make a version of the draft of the workflow `version.id`, and delete the draft, in one transaction.

        Return CHANGED if the draft's revision is another one, MISSING if there is no draft, ARCHIVED. The version is
        found or added as by `save_workflow`, and becomes current only with `activate`."""

    async def store_draft(self, version: NewVersion, *, revision: int) -> bool:
        """Store the draft of the workflow `version.id` as its version -`revision`, so that it can be run.

        Return False if the draft has another revision by now. A stored draft is deleted with its last run, unless the
        workflow's draft still has its revision."""

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        """Find a workflow by id or by name. Deleted workflows are not found."""

    async def deleted_workflow(self, tenant: int, name: str) -> bytes | None:
        """Return the id of the workflow of that name that was deleted last."""

    async def workflows(
        self,
        tenant: int,
        *,
        limit: int,
        after: str | None = None,
        enabled: bool | None = None,
        status: str | None = None,
        form: str | None = None,
        entity: str | None = None,
    ) -> list[WorkflowRow]:
        """List workflows by name. `entity` is that of a rule."""

    async def versions(self, tenant: int, workflow: bytes, *, drafts: bool = False) -> list[VersionRow]:
        """List the versions of a workflow, newest first; with `drafts`, the drafts that were run instead."""

    async def version(self, tenant: int, workflow: bytes, number: int) -> VersionRow | None:
        """Return one version of a workflow."""

    async def enable_workflow(self, tenant: int, workflow: bytes, *, enabled: bool, by: str | None = None) -> bool:
        """Enable or disable a workflow. Return False if it does not exist."""

    async def delete_workflow(self, tenant: int, workflow: bytes, *, unless_active: bool = False) -> int | Unsaved:
        """Mark a workflow and its triggers as deleted, delete its draft, and free its name. Its runs continue.

        A workflow without any version is removed. Return the time of the deletion, or MISSING. With `unless_active`,
        return ACTIVE for an active workflow."""


class TriggerStore(Protocol):
    """The verbs that triggers use."""

    async def add_trigger(self, new: NewTrigger) -> bool:
        """Add a trigger, unless its id is known, also of one that was deleted. Return False if its workflow does not
        exist."""

    async def trigger(self, tenant: int, trigger: bytes) -> TriggerRow | None:
        """Find a trigger by id. Deleted triggers are not found."""

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
        """List triggers by id."""

    async def listeners(self, tenant: int, keys: Sequence[str]) -> list[TriggerRow]:
        """Return the enabled event triggers that listen to one of these keys and whose workflow exists."""

    async def change_trigger(self, changed: NewTrigger, *, seen: int) -> bool:
        """Write the changeable columns of a trigger, if its `updated_at` is still `seen`. Return whether it was.

        They are name, enabled, config, condition, key, next_at and note."""

    async def drop_trigger(self, tenant: int, trigger: bytes) -> bool:
        """Mark a trigger as deleted. Its firings stay."""

    async def due_triggers(self, *, limit: int) -> list[TriggerRow]:
        """Return the enabled triggers of every tenant whose `next_at` has come, longest due first."""

    async def take_slots(
        self, tenant: int, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]
    ) -> bool:
        """Advance `next_at` from `seen` and add the firings, in one transaction.

        A slot that already has a firing is skipped. Return False and write nothing if another process advanced it
        first."""

    async def add_firings(self, firings: Sequence[NewFiring], *, letters: Sequence[NewLetter] = ()) -> list[FiringRow]:
        """Add firings in one transaction. Return the row of each.

        If the trigger already has a firing with the same slot or `dedup`, that row is returned instead. A dead letter
        has the id of a firing that has ended already, and is added if that firing is."""

    async def firing(self, tenant: int, firing: bytes) -> FiringRow | None: ...

    async def firings(
        self, tenant: int, *, trigger: bytes, limit: int, before: bytes | None = None, state: str | None = None
    ) -> list[FiringRow]:
        """List the firings of a trigger, newest first."""

    async def due_firings(self, *, limit: int) -> list[FiringRow]:
        """Return the open firings of every tenant that are due and that no node is processing, longest due first."""

    async def begin_firing(
        self, tenant: int, firing: bytes, *, overlap: OverlapRule, lease: float, most_queued: int
    ) -> Turn:
        """Claim a firing for `lease` seconds if it is its turn. Return OVER if it has ended.

        While the firing is being processed elsewhere, the answer is WAIT. With ALLOW it is otherwise always its turn.

        With every other rule the transaction excludes all other firings of the trigger, and one that is being processed
        makes this one WAIT. With SKIP an open run of the trigger makes it SKIPPED (written as its end). With QUEUE an
        open run or an older due firing makes it QUEUED: it is tried again within a second, the first in line
        earlier (`pause`). GO lets the next in line be tried soon. It is SKIPPED instead if `most_queued` are queued
        already. With CANCEL_PREVIOUS the open runs are returned with GO."""

    async def end_firing(
        self,
        tenant: int,
        firing: bytes,
        *,
        state: FiringState,
        run: bytes | None,
        message: str | None,
        letter: NewLetter | None = None,
    ) -> None:
        """Write how a firing ended, and its dead letter, in one transaction, unless it has ended already."""

    async def prune_firings(self, *, before: int, limit: int) -> int:
        """Delete up to `limit` ended firings that were received before `before`. Return how many were deleted."""


class MaintenanceStore(Protocol):
    """The verbs that maintain the database itself."""

    async def now(self) -> int:
        """Return the database's time."""

    async def check(self) -> None:
        """Raise StoreError unless the database answers. A store whose heartbeat does not write must write here."""

    async def setting(self, name: str, default: str) -> str:
        """Return the stored value of a setting, the same for every node. The first call stores `default`."""

    async def change_setting(self, name: str, value: str) -> None:
        """Replace the stored value of a setting. A setting that is not stored stays so."""

    async def orphans(self, *, since: int, after: bytes, limit: int) -> list[Orphan]:
        """Return up to `limit` open runs whose parent ended at or after `since` without completing, by id, those after
        `after`. A run with an unread cancel is left out."""

    async def prune(self, *, before: int, statuses: Collection[str], limit: int, spared: Collection[int] = ()) -> int:
        """Delete up to `limit` runs that ended before `before`, with everything that belongs to them. Spare runs whose
        parent is open and those of the tenants in `spared`. Return how many were deleted; after 0 there is nothing to
        delete now. The next call goes on behind the spared runs, and begins again after it has returned 0."""

    async def prune_tenant(self, tenant: int, *, before: int, limit: int) -> int:
        """Delete up to `limit` runs of a tenant that ended before `before`, as `prune` does, whatever their status."""

    async def compact(self) -> int:
        """Free the disk space of deleted runs, without blocking the engine. Return how many bytes were freed."""

    async def tidy(self) -> None:
        """Run small regular chores: create partitions for the coming weeks, and empty the inboxes of ended runs. Mail
        of a continued run is forwarded to the last run of the chain (see `End`). The rest is deleted."""

    async def examine(self) -> list[Finding]:
        """Report settings that endanger durability, an old schema or a broken file."""

    async def close(self) -> None: ...


class Hints(Protocol):
    """How nodes tell each other that there may be mail or work. A hint may be lost: nodes poll anyway."""

    async def send(self) -> None:
        """Send a hint to the other nodes."""

    async def listen(self, heard: Callable[[], None]) -> None:
        """Call `heard` for every hint of another node. Return when the connection is lost."""


class Store(
    NodeStore,
    CommandStore,
    ListStore,
    WorkflowStore,
    EntityStore,
    LayoutStore,
    AlertStore,
    ActionTemplateStore,
    TemplateStore,
    TriggerStore,
    EventStore,
    OverviewStore,
    LinkStore,
    LetterStore,
    LogStore,
    CatalogStore,
    KeyStore,
    AuditStore,
    PersonStore,
    VaultStore,
    BlobStore,
    TenantStore,
    MaintenanceStore,
    Protocol,
):
    """A complete store. `hints` is `None` if its nodes can only poll."""

    hints: Hints | None

    def for_tenant(self, tenant: int) -> Store:
        """Return the store for the commands of one tenant.

        With row security, the database hides the rows of other tenants from its verbs, and refuses to write them.
        Otherwise it is the same store. The engine, its workers and callers without a tenant use the whole store."""
