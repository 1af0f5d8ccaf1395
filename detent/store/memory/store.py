"""The model of a store: dictionaries, with the full semantics of many nodes, epochs and leases.

Every verb is one step without an await inside, so it is atomic. It serves users' tests and `--fast` runs, and the
simulator wraps it with faults. The conformance suite checks it against the same contract as the databases.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from detent.errors import StoreError
from detent.instant import micros
from detent.run.journal import Entry
from detent.store.heartbeat import Heartbeat, TaskHeartbeat
from detent.store.memory.audit import MemoryAudit
from detent.store.memory.blobs import MemoryBlobs
from detent.store.memory.catalog import MemoryCatalog
from detent.store.memory.credentials import MemoryCredentials
from detent.store.memory.events import MemoryEvents
from detent.store.memory.links import MemoryLetters, MemoryLinks
from detent.store.memory.lists import MemoryLists
from detent.store.memory.logs import MemoryLogs
from detent.store.memory.overview import MemoryOverview
from detent.store.memory.people import MemoryPeople
from detent.store.memory.rules import MemoryRules
from detent.store.memory.secrets import MemorySecrets
from detent.store.memory.tables import StoredCallback, StoredRun
from detent.store.memory.templates import MemoryTemplates
from detent.store.memory.tenants import MemoryTenants
from detent.store.memory.workflows import MemoryWorkflows
from detent.store.rows import (
    FORWARDED,
    NO_ID,
    CallbackState,
    ClaimedRun,
    ClaimResult,
    Favoured,
    Flush,
    Flushed,
    Mail,
    NewRun,
    NodeOffer,
    StartCheck,
    released_key,
)
from detent.version import VERSION


class MemoryStore(
    MemoryLists,
    MemoryWorkflows,
    MemoryEvents,
    MemoryRules,
    MemoryTemplates,
    MemoryOverview,
    MemoryLinks,
    MemoryLetters,
    MemoryLogs,
    MemoryCatalog,
    MemoryAudit,
    MemorySecrets,
    MemoryPeople,
    MemoryCredentials,
    MemoryBlobs,
    MemoryTenants,
):
    """A store in this process. Its data is lost when the process ends."""

    def for_tenant(self, tenant: int) -> MemoryStore:
        return self

    # -- nodes

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        return TaskHeartbeat(self, node, clock=self.clock, ttl=ttl, interval=interval)

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        if node in self.nodes:
            raise StoreError(f"node {node.hex()} is registered already")
        now = self.clock.wall()
        self.nodes[node], self.leases[node] = 1, now + micros(ttl)
        self.offered[node] = NodeOffer(node, None if queues is None else tuple(queues), tuple(actions), 0, VERSION)
        return 1, now

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        if node not in self.leases:
            return None
        now = self.clock.wall()
        self.leases[node] = now + micros(ttl)
        return now

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        if node not in self.nodes:
            return None
        self.nodes[node] += 1
        return self.nodes[node]

    async def overdue(self) -> list[bytes]:
        now = self.clock.wall()
        return [node for node, until in self.leases.items() if until < now]

    async def take_over(self, node: bytes) -> bool:
        until = self.leases.get(node)
        if until is None or until >= self.clock.wall():
            return False
        await self.retire(node)
        return True

    async def retire(self, node: bytes) -> None:
        self.nodes.pop(node, None)
        self.leases.pop(node, None)
        self.offered.pop(node, None)

    def _fenced(self, node: bytes, epoch: int) -> bool:
        return self.nodes.get(node) != epoch

    # -- the one write of a node

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        if self._fenced(node, epoch):
            return None
        flush, refused = self._without_refused(node, flush)
        if refused:
            flush.check_successors(refused)
        self._refuse_duplicates(flush, again)
        now = self.clock.wall()
        for start in flush.starts:
            if self._inherits(node, start):
                self._pass_key(start)
            owner = node if start.owned else None
            self.table.setdefault(start.id, _stored(start, owner))
        for callback in flush.callbacks:
            new = StoredCallback(callback.tenant, callback.early, now, ask=callback.ask)
            self.waits.setdefault((callback.run, callback.step), new)
        for entry in flush.entries:
            self.entries.setdefault(entry.run, {}).setdefault(entry.seq, entry)
        for message in flush.messages:
            if (message.source, message.source_seq) not in self.sources:
                self.sources.add((message.source, message.source_seq))
                self.post(message.run, message.kind, message.step, message.data)
        for mail in flush.consumed:
            self.inbox.pop(mail, None)
        self._change_callbacks(flush)
        self._release_runs(node, flush)
        for letter in flush.letters:
            self.add_letter(letter)
        for _, row in flush.audits:
            self.audit_rows.setdefault(row.id, row)
        if flush.logs or flush.dropped_logs:
            self.change_logs(flush)
        expired = frozenset(key for key in flush.expiries if self._is_expired(key))
        return Flushed(now, expired, refused, self._claim_links(flush, now) if flush.links else frozenset())

    def _without_refused(self, node: bytes, flush: Flush) -> tuple[Flush, frozenset[bytes]]:
        """Return the flush without the refused starts and everything that belongs to them."""
        refused: set[bytes] = set()
        asked: set[tuple[int, str, str]] = set()
        for start in flush.starts:
            if start.id in self.table:
                continue  # the first sending inserted it
            unique = {
                (start.tenant, name, value)
                for name, value in (("request_id", start.request_id), ("active_key", start.active_key))
                if value is not None
            }
            has_active = self._is_active(start) and not self._inherits(node, start)
            taken = not asked.isdisjoint(unique) or self._has_request(start) or has_active
            if taken or not self._is_startable(start):
                refused.add(start.id)
            else:
                asked |= unique
        if not refused:
            return flush, frozenset()
        kept = Flush(
            starts=[start for start in flush.starts if start.id not in refused],
            callbacks=[row for row in flush.callbacks if row.run not in refused],
            entries=[entry for entry in flush.entries if entry.run not in refused],
            activations=[row for row in flush.activations if row.run not in refused],
            parks=flush.parks,
            ends=[end for end in flush.ends if end.run not in refused],
            expiries=flush.expiries,
            messages=[message for message in flush.messages if message.source not in refused],
            consumed=flush.consumed,
            links=flush.links,
            letters=flush.letters,
            audits=[(run, row) for run, row in flush.audits if run not in refused],
            logs=flush.logs,
            dropped_logs=flush.dropped_logs,
        )
        return kept, frozenset(refused)

    def _is_startable(self, start: NewRun) -> bool:
        """Return whether the check of a start passes."""
        if start.check is StartCheck.NONE:
            return True
        saved = self.saved.get(start.workflow)
        if saved is None or saved.deleted_at is not None:
            return False
        if start.check is not StartCheck.STORED and not (saved.new.enabled and saved.status == "active"):
            return False
        return saved.version == start.version if start.check is StartCheck.CURRENT else start.version in saved.versions

    def _refuse_duplicates(self, flush: Flush, again: bool) -> None:
        if again:
            return
        for entry in flush.entries:
            if entry.seq in self.entries.get(entry.run, ()):
                raise StoreError(f"the journal of run {entry.run.hex()} has an entry {entry.seq} already")
        for start in flush.starts:
            if start.id in self.table:
                raise StoreError(f"run {start.id.hex()} exists already")
        for callback in flush.callbacks:
            if (callback.run, callback.step) in self.waits:
                raise StoreError(f"run {callback.run.hex()} has a callback {callback.step!r} already")

    def _has_request(self, start: NewRun) -> bool:
        if start.request_id is None:
            return False
        wanted = (start.tenant, start.request_id)
        return any((run.new.tenant, run.new.request_id) == wanted for run in self.table.values())

    def _is_active(self, start: NewRun) -> bool:
        return start.active_key is not None and self.holder(start.tenant, start.active_key) is not None

    def _inherits(self, node: bytes, start: NewRun) -> bool:
        """Return whether the run that has the key of this start passes it on to the start."""
        row = None if start.successor_of is None else self.table.get(start.successor_of)
        if row is None or start.active_key is None or not row.is_open() or row.owner != node:
            return False
        return (row.new.tenant, row.new.active_key) == (start.tenant, start.active_key)

    def _pass_key(self, start: NewRun) -> None:
        assert start.successor_of is not None
        row = self.table[start.successor_of]
        row.new = row.new._replace(active_key=released_key(start.successor_of))

    def _change_callbacks(self, flush: Flush) -> None:
        for activation in flush.activations:
            callback = self.waits[activation.run, activation.step]
            callback.until = activation.until
            callback.ask = callback.ask if activation.ask is None else activation.ask
            if callback.state is CallbackState.PENDING:
                callback.state = CallbackState.ACTIVE
        for key in flush.expiries:
            self._expire(key)

    def _expire(self, key: tuple[bytes, str]) -> None:
        callback = self.waits.get(key)
        if callback and callback.state in (CallbackState.PENDING, CallbackState.ACTIVE):
            callback.state = CallbackState.EXPIRED

    def _is_expired(self, key: tuple[bytes, str]) -> bool:
        callback = self.waits.get(key)
        return callback is not None and callback.state is CallbackState.EXPIRED

    def _release_runs(self, node: bytes, flush: Flush) -> None:
        for park in flush.parks:
            run = self._mine(node, park.run, park.generation)
            if run:
                run.owner = node if park.kept else None
                run.wake_at, run.status = park.wake_at, park.status
                queue = run.new.queue if park.queue is None else park.queue
                priority = run.new.priority if park.priority is None else park.priority
                version = run.new.version if park.version is None else park.version
                code = run.new.code if park.code is None else park.code
                run.new = run.new._replace(
                    queue=queue,
                    priority=priority,
                    version=version,
                    code=code,
                    stage=park.stage,
                    stage_step=park.stage_step,
                )
                run.stage_epoch = run.generation
        for end in flush.ends:
            run = self._mine(node, end.run, end.generation)
            if run:
                run.owner, run.wake_at, run.status = None, None, end.status
                run.ended_at, run.output, run.error = end.ended_at, end.output, end.error
                run.seal = end.seal
                self._forward_or_drop(end.run, end.successor)
                for key in [key for key in self.waits if key[0] == end.run]:
                    self._expire(key)

    def _forward_or_drop(self, run: bytes, successor: bytes | None) -> None:
        """Empty the inbox of a run that has ended."""
        for mail in [mail for mail in self.inbox.values() if mail.run == run]:
            if successor is not None and mail.kind in FORWARDED:
                self.inbox[mail.id] = mail._replace(run=successor)
            else:
                del self.inbox[mail.id]

    def _mine(self, node: bytes, run: bytes, generation: int) -> StoredRun | None:
        row = self.table.get(run)
        return row if row and row.is_open() and (row.owner, row.generation) == (node, generation) else None

    # -- claiming and loading

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
        if self._fenced(node, epoch):
            return None
        now = self.clock.wall()
        wanted = [run for run in self.table.values() if self._claimable(run, now + horizon, queues, serves)]
        wanted.sort(key=_claim_order)
        if len(wanted) > limit:
            wanted.sort(key=lambda run: self._favour(run, now + horizon), reverse=True)
        self.favoured = self.favoured.next()
        claimed = []
        for run in sorted(wanted[:limit], key=_claim_order):
            adopted = run.owner is not None
            run.owner, run.generation = node, run.generation + 1
            run.new = run.new._replace(stage=None, stage_step=None)
            claimed.append(self._claimed(run, adopted))
        return ClaimResult(now, claimed)

    def _claimable(self, run: StoredRun, until: int, queues: Collection[str] | None, serves: Collection[str]) -> bool:
        if not run.is_open() or (queues is not None and run.new.queue not in queues):
            return False
        if run.new.code is not None and not set(json.loads(run.new.code)) <= set(serves):
            return False
        if run.owner is not None:
            return run.owner not in self.nodes
        return (run.wake_at is not None and run.wake_at <= until) or self._has_mail(run.new.id)

    def _favour(self, run: StoredRun, until: int) -> int:
        """Return how much the present claim favours a run."""
        is_due = run.wake_at is not None and run.wake_at <= until
        match self.favoured:
            case Favoured.MAILED:
                return 0 if not self._has_mail(run.new.id) else 1 if is_due else 2
            case Favoured.ORPHANED:
                return int(run.owner is not None)
            case Favoured.DUE:
                return int(is_due)
            case _:
                return 0

    def _has_mail(self, run: bytes) -> bool:
        return any(mail.run == run for mail in self.inbox.values())

    def _claimed(self, run: StoredRun, adopted: bool) -> ClaimedRun:
        new = run.new
        return ClaimedRun(
            id=new.id,
            tenant=new.tenant,
            workflow=new.workflow,
            version=new.version,
            status=run.status,
            input=new.input,
            opening=new.opening,
            generation=run.generation,
            adopted=adopted,
            expires_at=new.expires_at,
            wake_at=run.wake_at,
            queue=new.queue,
            priority=new.priority,
            started_at=new.started_at,
            parent=new.parent,
            hero_type=new.hero_type,
            hero_id=new.hero_id,
            principal=new.principal,
            via=new.via,
            correlation=new.correlation,
        )

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        found: list[Mail] = []
        for mail in self.inbox.values():
            run = self.table.get(mail.run)
            if run and run.owner == node and len(found) < limit:
                found.append(mail._replace(generation=run.generation))
        return found

    async def owned(self, node: bytes) -> list[tuple[bytes, int]]:
        return [(run.new.id, run.generation) for run in self.table.values() if run.owner == node and run.is_open()]

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        if self._fenced(node, epoch):
            return
        for id_, generation in runs:
            run = self._mine(node, id_, generation)
            if run:
                run.owner, run.wake_at = NO_ID, self.clock.wall()

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        return {run: self.sorted_entries(run) for run in runs if run in self.entries}

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        found = {}
        for workflow, version in versions:
            saved = self.saved.get(workflow)
            if saved and version in saved.versions:
                found[workflow, version] = (saved.new.name, saved.versions[version][0].graph)
        return found


def _stored(start: NewRun, owner: bytes | None) -> StoredRun:
    generation = int(start.owned)
    return StoredRun(start, owner, generation, start.status, start.wake_at, stage_epoch=generation)


def _claim_order(run: StoredRun) -> tuple[int, int, bytes]:
    return -run.new.priority, run.wake_at or 0, run.new.id
