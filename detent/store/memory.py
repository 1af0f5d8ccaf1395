"""The model of a store: dictionaries, with the full semantics of many nodes, epochs and leases.

Every verb is one step without an await inside, so it is atomic. It serves users' tests and `--fast` runs, and it is
what the simulator wraps with faults; the conformance suite holds it to the same truth as the databases.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from detent.clock import Clock
from detent.errors import StoreError
from detent.instant import micros
from detent.run.journal import Entry
from detent.run.status import TERMINAL
from detent.store.heart import TaskHeart
from detent.store.protocol import Heart
from detent.store.rows import (
    NOBODY,
    CallbackRow,
    CallbackState,
    ClaimedRun,
    Claims,
    Finding,
    Flush,
    Flushed,
    Mail,
    MessageKind,
    NewRun,
    NewVersion,
    Receipt,
    RunRow,
    SavedVersion,
    WorkflowRow,
)


@dataclass(slots=True)
class _Run:
    new: NewRun
    owner: bytes | None
    generation: int
    status: str
    wake_at: int | None
    ended_at: int | None = None
    output: bytes | None = None
    error: str | None = None

    def is_open(self) -> bool:
        return self.status not in TERMINAL


@dataclass(slots=True)
class _Callback:
    tenant: int
    early: bool
    created_at: int
    state: CallbackState = CallbackState.PENDING
    until: int | None = None
    message_id: str | None = None
    answer: Receipt | None = None


@dataclass(slots=True)
class _Workflow:
    new: NewVersion
    version: int
    created_at: int
    updated_at: int
    versions: dict[int, NewVersion] = field(default_factory=dict)


class MemoryStore:
    """Keeps everything in this process; gone when it ends."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.nodes: dict[bytes, int] = {}
        self.leases: dict[bytes, int] = {}
        self.table: dict[bytes, _Run] = {}
        self.entries: dict[bytes, dict[int, Entry]] = {}
        self.inbox: dict[int, Mail] = {}
        self.sources: set[tuple[bytes, int]] = set()
        self.waits: dict[tuple[bytes, str], _Callback] = {}
        self.saved: dict[bytes, _Workflow] = {}
        self.settings: dict[str, str] = {}
        self.last_mail = 0

    # -- nodes

    def heart(self, node: bytes, *, ttl: float, interval: float) -> Heart:
        return TaskHeart(self, node, clock=self.clock, ttl=ttl, interval=interval)

    async def register(self, node: bytes, *, ttl: float) -> tuple[int, int]:
        if node in self.nodes:
            raise StoreError(f"node {node.hex()} is registered already")
        now = self.clock.wall()
        self.nodes[node], self.leases[node] = 1, now + micros(ttl)
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

    def _fenced(self, node: bytes, epoch: int) -> bool:
        return self.nodes.get(node) != epoch

    # -- the one write of a node

    async def flush(self, node: bytes, epoch: int, flush: Flush, *, again: bool = False) -> Flushed | None:
        if self._fenced(node, epoch):
            return None
        self._refuse_duplicates(flush, again)
        now = self.clock.wall()
        for start in flush.starts:
            owner = node if start.owned else None
            self.table.setdefault(start.id, _Run(start, owner, int(start.owned), start.status, start.wake_at))
        for callback in flush.callbacks:
            self.waits.setdefault((callback.run, callback.step), _Callback(callback.tenant, callback.early, now))
        for entry in flush.entries:
            self.entries.setdefault(entry.run, {}).setdefault(entry.seq, entry)
        for message in flush.messages:
            if (message.source, message.source_seq) not in self.sources:
                self.sources.add((message.source, message.source_seq))
                self._post(message.run, message.kind, message.step, message.data)
        for mail in flush.consumed:
            self.inbox.pop(mail, None)
        self._change_callbacks(flush)
        self._let_go(node, flush)
        return Flushed(now, frozenset(key for key in flush.expiries if self._is_expired(key)))

    def _refuse_duplicates(self, flush: Flush, again: bool) -> None:
        if again:
            return
        for entry in flush.entries:
            if entry.seq in self.entries.get(entry.run, ()):
                raise StoreError(f"the journal of run {entry.run.hex()} has an entry {entry.seq} already")
        for start in flush.starts:
            if start.id in self.table:
                raise StoreError(f"run {start.id.hex()} exists already")
            if start.request_id is not None and self._has_request(start.tenant, start.request_id):
                raise StoreError(f"request id {start.request_id!r} is taken")

    def _has_request(self, tenant: int, request_id: str) -> bool:
        return any((run.new.tenant, run.new.request_id) == (tenant, request_id) for run in self.table.values())

    def _change_callbacks(self, flush: Flush) -> None:
        for activation in flush.activations:
            callback = self.waits[activation.run, activation.step]
            callback.until = activation.until
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

    def _let_go(self, node: bytes, flush: Flush) -> None:
        for park in flush.parks:
            run = self._mine(node, park.run, park.generation)
            if run:
                run.owner, run.wake_at, run.status = None, park.wake_at, park.status
        for end in flush.ends:
            run = self._mine(node, end.run, end.generation)
            if run:
                run.owner, run.wake_at, run.status = None, None, end.status
                run.ended_at, run.output, run.error = end.ended_at, end.output, end.error
                for mail in [mail.id for mail in self.inbox.values() if mail.run == end.run]:
                    del self.inbox[mail]
                for key in [key for key in self.waits if key[0] == end.run]:
                    self._expire(key)

    def _mine(self, node: bytes, run: bytes, generation: int) -> _Run | None:
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
    ) -> Claims | None:
        if self._fenced(node, epoch):
            return None
        now = self.clock.wall()
        wanted = [run for run in self.table.values() if self._claimable(run, now + horizon, queues, serves)]
        wanted.sort(key=lambda run: (-run.new.priority, run.wake_at or 0, run.new.id))
        claimed = []
        for run in wanted[:limit]:
            adopted = run.owner is not None
            run.owner, run.generation = node, run.generation + 1
            claimed.append(self._claimed(run, adopted))
        return Claims(now, claimed)

    def _claimable(self, run: _Run, until: int, queues: Collection[str] | None, serves: Collection[str]) -> bool:
        if not run.is_open() or (queues is not None and run.new.queue not in queues):
            return False
        if run.new.code is not None and not set(json.loads(run.new.code)) <= set(serves):
            return False
        if run.owner is not None:
            return run.owner not in self.nodes
        return (run.wake_at is not None and run.wake_at <= until) or self._has_mail(run.new.id)

    def _has_mail(self, run: bytes) -> bool:
        return any(mail.run == run for mail in self.inbox.values())

    def _claimed(self, run: _Run, adopted: bool) -> ClaimedRun:
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
                run.owner, run.wake_at = NOBODY, self.clock.wall()

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        return {run: await self.journal(run) for run in runs if run in self.entries}

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        found = {}
        for workflow, version in versions:
            saved = self.saved.get(workflow)
            if saved and version in saved.versions:
                found[workflow, version] = (saved.new.name, saved.versions[version].graph)
        return found

    # -- doors

    def _post(self, run: bytes, kind: str, step: str | None, data: bytes) -> None:
        self.last_mail += 1
        self.inbox[self.last_mail] = Mail(self.last_mail, run, 0, kind, step, data, self.clock.wall())

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        callback = self.waits.get((run, step))
        if callback is None:
            return Receipt.NOT_FOUND, False
        if callback.answer and message_id is not None and callback.message_id == message_id:
            return callback.answer, True
        if callback.state is CallbackState.RECEIVED:
            return Receipt.USED, False
        if callback.state is CallbackState.EXPIRED:
            return Receipt.EXPIRED, False
        if callback.state is CallbackState.PENDING and not callback.early:
            return Receipt.NOT_ACTIVE, False
        if callback.until is not None and callback.until <= (now or self.clock.wall()):
            return Receipt.EXPIRED, False
        answer = Receipt.ACCEPTED if callback.state is CallbackState.ACTIVE else Receipt.EARLY
        callback.state, callback.message_id, callback.answer = CallbackState.RECEIVED, message_id, answer
        self._post(run, MessageKind.CALLBACK, step, data)
        return answer, False

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        row = self.table.get(run)
        if row is None or row.new.tenant != tenant or not row.is_open():
            return False
        self._post(run, kind, None, data)
        return True

    async def save_workflow(self, version: NewVersion, *, replace: bool) -> SavedVersion | None:
        now = self.clock.wall()
        old = self._named(version.tenant, version.name)
        if old is None:
            self.saved[version.id] = _Workflow(version, 1, now, now, {1: version})
            return SavedVersion(version.id, 1, created=True, changed=True)
        if not replace:
            return None
        changed = old.new.checksum != version.checksum
        if changed:
            old.version += 1
            old.versions[old.version] = version
        old.new, old.updated_at = version._replace(id=old.new.id), now
        return SavedVersion(old.new.id, old.version, created=False, changed=changed)

    def _named(self, tenant: int, name: str) -> _Workflow | None:
        return next((w for w in self.saved.values() if (w.new.tenant, w.new.name) == (tenant, name)), None)

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        saved = self._named(tenant, key) if isinstance(key, str) else self.saved.get(key)
        return _workflow_row(saved) if saved and saved.new.tenant == tenant else None

    async def workflows(self, tenant: int, *, limit: int, after: str | None = None) -> list[WorkflowRow]:
        mine = [w for w in self.saved.values() if w.new.tenant == tenant and (after is None or w.new.name > after)]
        return [_workflow_row(w) for w in sorted(mine, key=lambda w: w.new.name)[:limit]]

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        row = self.table.get(run)
        return self._run_row(row) if row and row.new.tenant == tenant else None

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        workflow: bytes | None = None,
        status: str | None = None,
        before: bytes | None = None,
    ) -> list[RunRow]:
        rows = [
            row
            for row in self.table.values()
            if row.new.tenant == tenant
            and (workflow is None or row.new.workflow == workflow)
            and (status is None or row.status == status)
            and (before is None or row.new.id < before)
        ]
        return [self._run_row(row) for row in sorted(rows, key=lambda row: row.new.id, reverse=True)[:limit]]

    def _run_row(self, row: _Run) -> RunRow:
        new = row.new._asdict()
        del new["owned"], new["request_hash"]
        saved = self.saved.get(row.new.workflow)
        changed = {"status": row.status, "wake_at": row.wake_at, "owner": row.owner, "generation": row.generation}
        ended = {"ended_at": row.ended_at, "output": row.output, "error": row.error}
        return RunRow(**{**new, **changed, **ended, "workflow_name": saved.new.name if saved else ""})

    async def journal(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        entries = self.entries.get(run, {})
        return [entries[seq] for seq in sorted(entries) if seq > after][:limit]

    async def callbacks(self, run: bytes) -> list[CallbackRow]:
        return [
            CallbackRow(step, c.state, c.created_at, c.until) for (id_, step), c in self.waits.items() if id_ == run
        ]

    # -- keeping

    async def now(self) -> int:
        return self.clock.wall()

    async def setting(self, name: str, default: str) -> str:
        return self.settings.setdefault(name, default)

    async def prune(self, *, before: int, statuses: Collection[str], limit: int) -> int:
        old = [
            row.new.id
            for row in self.table.values()
            if row.status in statuses and row.ended_at is not None and row.ended_at < before and not row.is_open()
        ][:limit]
        for run in old:
            del self.table[run]
            self.entries.pop(run, None)
            for key in [key for key in self.waits if key[0] == run]:
                del self.waits[key]
        return len(old)

    async def compact(self) -> int:
        return 0

    async def tidy(self) -> None:
        ended = [mail.id for mail in self.inbox.values() if not self._is_run_open(mail.run)]
        for mail in ended:
            del self.inbox[mail]

    def _is_run_open(self, run: bytes) -> bool:
        row = self.table.get(run)
        return row is not None and row.is_open()

    async def examine(self) -> list[Finding]:
        return [Finding("warning", "durability", "a memory store forgets everything when its process ends")]

    async def close(self) -> None:
        return None


def _workflow_row(saved: _Workflow) -> WorkflowRow:
    new = saved.new
    return WorkflowRow(
        id=new.id,
        tenant=new.tenant,
        name=new.name,
        form=new.form,
        description=new.description,
        status="active",
        enabled=new.enabled,
        version=saved.version,
        trigger=new.trigger,
        labels=new.labels,
        created_at=saved.created_at,
        updated_at=saved.updated_at,
        source=new.source,
        graph=new.graph,
    )
