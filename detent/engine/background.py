"""Background loops of a node: takeovers, the watchdog, orphans, retention and presence. `Polling` runs each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from detent.clock import Clock
from detent.engine.children.family import cancel_data, is_detached
from detent.engine.claims import Claims
from detent.engine.committer import Committer, Fenced
from detent.engine.runner import Runner
from detent.engine.tuning import Tuning
from detent.errors import StoreError
from detent.ids import first_id
from detent.instant import SECOND, micros
from detent.observe import emit
from detent.run.journal import family_in
from detent.store.audit import AuditStore
from detent.store.auth import KeyStore
from detent.store.letters import LetterStore
from detent.store.logs.rows import LogStore
from detent.store.protocol import CommandStore, Hints, MaintenanceStore, NodeStore, Store
from detent.store.rows import NO_ID, MessageKind
from detent.store.rule_protocol import AlertStore
from detent.store.secrets import SecretStore
from detent.store.tenants import TenantStore
from detent.tenants.registry import UNCONFINED, TenantRegistry
from detent.vault.secrets import SecretOpener


class Poller(Protocol):
    """A job that runs repeatedly."""

    name: str

    async def poll(self) -> float:
        """Process one batch. Return the seconds until the next one is due."""


class Polling:
    """The loop that runs one poller forever. After a store error it reports the error and retries.

    `nudge` ends the current pause.
    """

    def __init__(self, poller: Poller, *, after_trouble: float = 0.5) -> None:
        self._poller = poller
        self._after_trouble = after_trouble
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        self._nudged.set()

    async def work(self) -> None:
        while True:
            self._nudged.clear()
            try:
                pause = await self._poller.poll()
            except Fenced:
                raise
            except StoreError as error:
                emit("engine.error", where=self._poller.name, error=error.message)
                pause = self._after_trouble
            _stop_if_cancelled()
            if pause > 0:
                await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._nudged.wait()
        except TimeoutError:
            return


def _stop_if_cancelled() -> None:
    """Raise CancelledError if this task was cancelled.

    Code that a poll calls may swallow the cancellation, with or without an error. asyncio does not send it again, so
    shutdown would hang.
    """
    this = asyncio.current_task()
    if this is not None and this.cancelling():
        raise asyncio.CancelledError


# Retention: delete runs that ended long ago, one batch at a time, and return their disk space.


BATCH: Final = 500
PAUSE: Final = 0.05  # between two batches, so that flushes are not delayed
IDLE: Final = 3600.0  # of a poller that is nudged
RETENTION_INTERVAL: Final = 60.0
_DAY: Final = 86_400
COMPACT_INTERVAL: Final = 3600.0


class RetentionStore(MaintenanceStore, LetterStore, AlertStore, AuditStore, LogStore, Protocol):
    """The verbs that retention needs."""


class Retention:
    """The poller that deletes old runs, dead letters and resolved alerts. `keep` has pairs of (status, seconds that
    such runs are stored), `letters`, `alerts`, `audits` and `logs` are how many seconds dead letters, resolved alerts,
    rows of the audit and lines of steps are stored. `tenants` has the tenants whose runs are stored for another number
    of days.

    Without such numbers it deletes no run, and calls `tidy` of the store.
    """

    name = "retention"

    def __init__(
        self,
        store: RetentionStore,
        clock: Clock,
        keep: Sequence[tuple[str, int]],
        letters: int | None = None,
        alerts: int | None = None,
        audits: int | None = None,
        logs: int | None = None,
        *,
        tenants: TenantRegistry = UNCONFINED,
    ) -> None:
        self._tenants = tenants
        self._store, self._clock, self._keep, self._letters = store, clock, tuple(keep), letters
        self._alerts = alerts
        self._audits = audits
        self._logs = logs
        self._deleted = 0  # runs, since the last compaction
        self._compacted: float | None = None

    async def poll(self) -> float:
        now = await self._store.now()
        # First: a log is the largest part of a run, and the least needed.
        if (
            self._logs is not None
            and await self._store.prune_logs(before=first_id(now - micros(self._logs)), limit=BATCH) == BATCH
        ):
            return PAUSE
        own = self._tenants.retentions()
        spared = [tenant for tenant, _ in own]
        for status, seconds in self._keep:
            before = now - micros(seconds)
            count = await self._store.prune(before=before, statuses=[status], limit=BATCH, spared=spared)
            self._deleted += count
            if count:
                emit("retention.pruned", status=status, runs=count)
                return PAUSE
        for tenant, days in own:
            count = await self._store.prune_tenant(tenant, before=now - micros(days * _DAY), limit=BATCH)
            self._deleted += count
            if count:
                emit("retention.pruned", tenant=tenant, runs=count)
                return PAUSE
        if self._letters is not None:
            before = now - micros(self._letters)
            if await self._store.prune_letters(before=before, limit=BATCH) == BATCH:
                return PAUSE
        if self._alerts is not None:
            before = now - micros(self._alerts)
            if await self._store.prune_alerts(before=before, limit=BATCH) == BATCH:
                return PAUSE
        if (
            self._audits is not None
            and await self._store.prune_audits(now - micros(self._audits), limit=BATCH) == BATCH
        ):
            return PAUSE
        await self._compact_if_worth()
        await self._store.tidy()
        return RETENTION_INTERVAL

    async def _compact_if_worth(self) -> None:
        now = self._clock.monotonic()
        if self._deleted and (self._compacted is None or now - self._compacted >= COMPACT_INTERVAL):
            self._deleted, self._compacted = 0, now
            await self._store.compact()


# Presence: record regularly what this node serves, so that a view can show when a queue or action was last served.


PRESENCE_INTERVAL: Final = 30.0
ANY_QUEUE: Final = "*"


class Presence:
    """The poller that records the queues and actions of this node. `queues=None` means every queue."""

    name = "presence"

    def __init__(self, store: CommandStore, *, queues: Sequence[str] | None, actions: Sequence[str]) -> None:
        served = [("queue", queue) for queue in ((ANY_QUEUE,) if queues is None else queues)]
        self._store, self._served = store, [*served, *(("action", action) for action in actions)]

    async def poll(self) -> float:
        await self._store.record_served(self._served)
        return PRESENCE_INTERVAL


# Orphans: cancel the children of parents that ended without completing. Their cancels may not have reached them all.


#: The setting that stores when the last two looks began, the newer one first.
ORPHANS_SEEN: Final = "orphans_seen"
#: A look covers this many seconds before the last one: an end is decided before it is written.
OVERLAP: Final = 60.0


class Orphans:
    """The poller that cancels open runs whose parent has ended without completing.

    It looks at the rows of runs only, so no order of events escapes it. The nodes share the time of the last look. So
    they look once per interval together, and after a downtime the first look covers all of it.
    """

    name = "orphans"

    def __init__(self, store: Store, interval: float, *, sent: Callable[[], None]) -> None:
        """`sent` is called after messages were sent, because they may be for runs of this node."""
        self._store, self._interval, self._sent = store, interval, sent

    async def poll(self) -> float:
        now = await self._store.now()
        seen = await self._store.setting(ORPHANS_SEEN, f"{now} {now}")
        last, before = map(int, seen.split())
        pause = self._interval - (now - last) / SECOND
        if 0 < pause < self._interval:
            return pause  # another node has looked
        # From the look before the last: the database's clock may have stepped between the end of a run and its flush.
        if await self._cancel(min(last, before, now) - micros(OVERLAP)):
            self._sent()
        await self._store.change_setting(ORPHANS_SEEN, f"{now} {last}")
        return self._interval

    async def _cancel(self, since: int) -> int:
        """Cancel the orphans whose parent ended since then. Return how many messages were sent."""
        count, after = 0, NO_ID
        while True:
            found = await self._store.orphans(since=since, after=after, limit=BATCH)
            for orphan in found:
                if is_detached(family_in(orphan.opening)):
                    continue
                data = cancel_data(orphan.parent, orphan.status)
                count += await self._store.send(orphan.tenant, orphan.run, MessageKind.CANCEL, data)
            if len(found) < BATCH:
                return count
            after = found[-1].run


# Hints: tell other nodes that there may be mail or work, so that they need not wait for their next poll.


#: At most one hint in so many seconds is sent: a hint makes every other node claim.
HINT_PAUSE: Final = 0.05
#: After the connection was lost, listen again after so many seconds.
LISTEN_AGAIN: Final = 1.0


class HintSender:
    """The poller that sends hints, many at once as one. `ask` asks for one."""

    name = "hint sender"

    def __init__(self, hints: Hints) -> None:
        self._hints = hints
        self._is_asked = False

    def ask(self) -> None:
        self._is_asked = True

    async def poll(self) -> float:
        if not self._is_asked:
            return IDLE
        self._is_asked = False
        await self._hints.send()
        await asyncio.sleep(HINT_PAUSE)
        return 0.0 if self._is_asked else IDLE


class HintListener:
    """The poller that listens to the hints of other nodes."""

    name = "hint listener"

    def __init__(self, hints: Hints, heard: Callable[[], None]) -> None:
        self._hints, self._heard = hints, heard

    async def poll(self) -> float:
        await self._hints.listen(self._heard)
        return LISTEN_AGAIN


class Takeovers:
    """The poller that removes nodes whose lease has expired. Other nodes then claim their runs."""

    name = "takeovers"

    def __init__(self, store: NodeStore, node: bytes, *, tuning: Tuning, freed: Callable[[], None]) -> None:
        """`freed` is called after a takeover, because the runs of that node can be claimed now."""
        self._store, self._node, self._tuning, self._freed = store, node, tuning, freed

    async def poll(self) -> float:
        for node in await self._store.overdue():
            if node != self._node and await self._store.take_over(node):
                emit("node.taken_over", node=node)
                self._freed()
        return min(self._tuning.lease / 10, 1.0)


class Watchdog:
    """The poller that releases runs which this node owns in the store but does not have in memory.

    This happens when the reply to a claim is lost. A run is released only if nothing about it can still be under way.
    It must have been loose in an earlier poll with the same generation. Every claim sent before that poll must have
    ended. No write of it may be pending.
    """

    name = "watchdog"

    def __init__(
        self,
        store: NodeStore,
        node: bytes,
        *,
        runner: Runner,
        committer: Committer,
        claims: Claims,
        tuning: Tuning,
    ) -> None:
        self._store, self._node, self._runner, self._claims = store, node, runner, claims
        self._committer, self._tuning = committer, tuning
        self._suspects: dict[tuple[bytes, int], int] = {}  # number of claims begun when it was first seen

    async def poll(self) -> float:
        owned = await self._store.owned(self._node)
        sent = self._claims.begun
        loose = {key: self._suspects.get(key, sent) for key in owned if not self._runner.knows(*key)}
        lost = [key for key, claim in loose.items() if key in self._suspects and claim <= self._claims.ended]
        self._suspects = loose
        if lost and not self._committer.is_unsure:
            await self._store.release(self._node, self._committer.epoch, lost)
        return self._tuning.watch


# Openings: begin the postponed runs whose time has come, and cancel those whose workflow is archived by then. A parked
# run is claimed a little ahead of its time. So the claim is too early to ask: an archive in between must count.


class Openings:
    """The poller that opens postponed runs. The runner nudges it, and it asks for all that are due at once."""

    name = "openings"

    def __init__(self, store: NodeStore, runner: Runner) -> None:
        self._store, self._runner = store, runner

    async def poll(self) -> float:
        runs = list(self._runner.opening.values())
        if not runs:
            return IDLE
        archived = await self._store.archived(sorted({run.state.facts.workflow_id for run in runs}))
        for run in runs:
            self._runner.open(run, is_archived=run.state.facts.workflow_id in archived)
        return 0.0


# Tenants that other processes change: within two seconds this node counts with their new limits.


class TenantSource(KeyStore, TenantStore, Protocol):
    """The verbs that the watch of tenants needs."""


class TenantWatch:
    """Reads the limits of tenants when the stamp of identities has changed."""

    name = "tenants"

    def __init__(self, store: TenantSource, tenants: TenantRegistry) -> None:
        self._store = store
        self._tenants = tenants
        self._stamp: str | None = None

    async def poll(self) -> float:
        """Look once. Return the seconds until the next look."""
        stamp = await self._store.auth_stamp()
        if stamp != self._stamp:
            rows = await self._store.limited_tenants()
            self._tenants.replace((row.id, row.name, row.settings) for row in rows)
            self._stamp = stamp
        return _TENANT_PAUSE


_TENANT_PAUSE: Final = 1.0


# Secrets that other processes set: this node redacts them too.


_SECRET_PAGE: Final = 500
_SECRET_PAUSE: Final = 1.0
#: A transaction may commit later than another one that has begun after it.
_OVERLAP: Final = 10 * SECOND
#: Beyond this many, a process redacts the secrets that it has opened itself.
_MOST_SECRETS: Final = 20_000


class SecretWatch:
    """Reads the secrets of all tenants that were changed, every second. A value that was learned is redacted."""

    name = "secrets"

    def __init__(self, store: SecretStore, secrets: SecretOpener) -> None:
        self._store = store
        self._secrets = secrets
        self._since: int = 0
        self._known: dict[tuple[int, str], int] = {}

    async def read_all(self) -> None:
        """Learn every secret there is."""
        while await self.poll() == 0.0:
            pass

    async def poll(self) -> float:
        """Learn what has changed. Return the pause before the next look, in seconds."""
        rows = await self._store.changed_secrets(self._since, limit=_SECRET_PAGE)
        new = [row for row in rows if self._known.get((row.tenant, row.name)) != row.version]
        if len(self._known) < _MOST_SECRETS:
            self._secrets.learn(new)
            self._known.update({(row.tenant, row.name): row.version for row in new})
        if len(rows) < _SECRET_PAGE:
            self._since = max(self._since, rows[-1].updated_at - _OVERLAP) if rows else self._since
            return _SECRET_PAUSE
        # A full page that ends at the instant where it begins would be read for ever.
        self._since = max(rows[-1].updated_at, self._since + 1)
        return 0.0
