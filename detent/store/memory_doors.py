"""What the doors ask of the memory store, and how it is kept in order."""

from __future__ import annotations

from collections.abc import Collection

from detent.run.journal import Entry
from detent.store.memory_tables import MemoryTables, StoredRun, StoredWorkflow
from detent.store.rows import (
    CallbackRow,
    CallbackState,
    Finding,
    MessageKind,
    NewVersion,
    Receipt,
    RunRow,
    SavedVersion,
    WorkflowRow,
)


class MemoryDoors(MemoryTables):
    """Callbacks, messages, workflows, runs to look at, and retention."""

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
        self.post(run, MessageKind.CALLBACK, step, data)
        return answer, False

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        row = self.table.get(run)
        if row is None or row.new.tenant != tenant or not row.is_open():
            return False
        self.post(run, kind, None, data)
        return True

    async def save_workflow(self, version: NewVersion, *, replace: bool) -> SavedVersion | None:
        now = self.clock.wall()
        old = self._named(version.tenant, version.name)
        if old is None:
            self.saved[version.id] = StoredWorkflow(version, 1, now, now, {1: version})
            return SavedVersion(version.id, 1, created=True, changed=True)
        if not replace:
            return None
        changed = old.new.checksum != version.checksum
        if changed:
            old.version += 1
            old.versions[old.version] = version
        old.new, old.updated_at = version._replace(id=old.new.id), now
        return SavedVersion(old.new.id, old.version, created=False, changed=changed)

    def _named(self, tenant: int, name: str) -> StoredWorkflow | None:
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

    def _run_row(self, row: StoredRun) -> RunRow:
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


def _workflow_row(saved: StoredWorkflow) -> WorkflowRow:
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
