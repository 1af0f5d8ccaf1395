"""The verbs of commands on the memory store, and its maintenance."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from detent.run.journal import NO_DATA, Entry
from detent.run.status import UNCOMPLETED, Status
from detent.store.memory.tables import MemoryTables, StoredRun, StoredTrigger, StoredWorkflow
from detent.store.protocol import EVERY_RUN
from detent.store.rows import (
    CONTINUED,
    FORWARDED,
    RUN_STARTED,
    CallbackRow,
    CallbackState,
    Delivery,
    Finding,
    MessageKind,
    NewVersion,
    NodeOffer,
    Orphan,
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
from detent.store.trigger_rows import NewTrigger


class MemoryCommandStore(MemoryTables):
    """The verbs of commands and of maintenance: callbacks, messages, workflows, reading runs, retention."""

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

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        answers: list[Receipt | None] = []
        for run, step, data, message_id in deliveries:
            callback = self.waits.get((run, step))
            is_new = callback is not None and callback.state is not CallbackState.RECEIVED
            receipt, _ = await self.deliver(run, step, data=data, message_id=message_id)
            answers.append(receipt if is_new and receipt in (Receipt.ACCEPTED, Receipt.EARLY) else None)
        return answers

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        row = self.table.get(run)
        if row is None or row.new.tenant != tenant or not row.is_open():
            return False
        self.post(run, kind, None, data)
        return True

    async def save_workflow(
        self, version: NewVersion, *, replace: bool, expected: tuple[int, int] | None = None
    ) -> SavedVersion | Unsaved:
        now = self.clock.wall()
        old = self._named(version.tenant, version.name)
        if old is None:
            if expected is not None:
                return Unsaved.MISSING
            self.saved[version.id] = StoredWorkflow(version, 1, now, now, {1: (version, now)})
            self._own_trigger(version.id, version.owned_trigger, now)
            return SavedVersion(version.id, 1, created=True, changed=True)
        if not replace:
            return Unsaved.TAKEN
        if expected is not None and expected != (old.version, old.updated_at):
            return Unsaved.CHANGED
        changed = old.new.checksum != version.checksum
        if changed:
            old.version += 1
            old.versions[old.version] = (version, now)
        old.new, old.updated_at = version._replace(id=old.new.id), max(now, old.updated_at + 1)
        self._own_trigger(old.new.id, version.owned_trigger, now)
        return SavedVersion(old.new.id, old.version, created=False, changed=changed)

    def _own_trigger(self, workflow: bytes, new: NewTrigger | None, now: int) -> None:
        """Replace the trigger of a definition with its new one."""
        old = next(
            (t for t in self.rules.values() if t.new.workflow == workflow and t.new.owned and not t.deleted_at), None
        )
        if old is not None and new is not None and old.new.kind == new.kind:
            # A user may have paused the trigger: it stays paused. An unchanged schedule continues from its next slot.
            next_at = old.new.next_at if old.new.config == new.config or not old.new.enabled else new.next_at
            old.new = new._replace(
                id=old.new.id, workflow=workflow, enabled=old.new.enabled, note=old.new.note, next_at=next_at
            )
            old.updated_at = max(now, old.updated_at + 1)
            return
        if old is not None:
            old.deleted_at = now
        if new is not None:
            self.rules[new.id] = StoredTrigger(new._replace(workflow=workflow), now, now)

    def _named(self, tenant: int, name: str) -> StoredWorkflow | None:
        found = (w for w in self.saved.values() if (w.new.tenant, w.new.name) == (tenant, name) and not w.deleted_at)
        return next(found, None)

    def _there(self, tenant: int, workflow: bytes) -> StoredWorkflow | None:
        saved = self.saved.get(workflow)
        return saved if saved and saved.new.tenant == tenant and saved.deleted_at is None else None

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        saved = self._named(tenant, key) if isinstance(key, str) else self._there(tenant, key)
        return _workflow_row(saved) if saved else None

    async def deleted_workflow(self, tenant: int, name: str) -> bytes | None:
        mine = (w for w in self.saved.values() if (w.new.tenant, w.new.name) == (tenant, name))
        deleted = [(w.deleted_at, w.new.id) for w in mine if w.deleted_at is not None]
        return max(deleted)[1] if deleted else None

    async def workflows(
        self, tenant: int, *, limit: int, after: str | None = None, enabled: bool | None = None
    ) -> list[WorkflowRow]:
        mine = [
            w
            for w in self.saved.values()
            if w.new.tenant == tenant
            and w.deleted_at is None
            and (after is None or w.new.name > after)
            and (enabled is None or w.new.enabled is enabled)
        ]
        return [_workflow_row(w) for w in sorted(mine, key=lambda w: w.new.name)[:limit]]

    async def versions(self, tenant: int, workflow: bytes) -> list[VersionRow]:
        saved = self._there(tenant, workflow)
        made = sorted(saved.versions.items(), reverse=True) if saved else []
        return [VersionRow(number, new.checksum, at, new.source) for number, (new, at) in made]

    async def enable_workflow(self, tenant: int, workflow: bytes, *, enabled: bool) -> bool:
        saved = self._there(tenant, workflow)
        if saved is None:
            return False
        saved.new = saved.new._replace(enabled=enabled)
        saved.updated_at = max(self.clock.wall(), saved.updated_at + 1)
        return True

    async def delete_workflow(self, tenant: int, workflow: bytes) -> int | None:
        saved = self._there(tenant, workflow)
        if saved is None:
            return None
        saved.deleted_at = now = self.clock.wall()
        for trigger in self.rules.values():
            if trigger.new.workflow == workflow and trigger.deleted_at is None:
                trigger.deleted_at = now
        return now

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        row = self.table.get(run)
        return self._run_row(row) if row and row.new.tenant == tenant else None

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        where: RunCriteria = EVERY_RUN,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[RunRow]:
        rows = sorted(self._filtered(tenant, where), key=lambda row: row.new.id, reverse=not oldest_first)
        if cursor is not None:
            rows = [row for row in rows if (row.new.id > cursor if oldest_first else row.new.id < cursor)]
        return [self._run_row(row) for row in rows[:limit]]

    async def count_runs(self, tenant: int, *, where: RunCriteria, limit: int) -> int:
        return min(limit, len(self._filtered(tenant, where)))

    def _filtered(self, tenant: int, where: RunCriteria) -> list[StoredRun]:
        return [row for row in self.table.values() if row.new.tenant == tenant and _is_meant(row, where)]

    async def ended(self, runs: Sequence[bytes]) -> set[bytes]:
        return {run for run in runs if not self._is_run_open(run)}

    async def existing(self, runs: Sequence[bytes]) -> set[bytes]:
        return {run for run in runs if run in self.table}

    async def offers(self) -> list[NodeOffer]:
        return [offer._replace(until=self.leases[node]) for node, offer in self.offered.items() if node in self.leases]

    async def record_served(self, names: Sequence[tuple[str, str]]) -> None:
        self.seen.update(dict.fromkeys(names, self.clock.wall()))

    async def last_served(self, kind: str, name: str) -> int | None:
        return self.seen.get((kind, name))

    def _run_row(self, row: StoredRun) -> RunRow:
        new = row.new._asdict()
        del new["owned"], new["current"], new["successor_of"]
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

    async def active_run(self, tenant: int, key: str) -> bytes | None:
        return self.holder(tenant, key)

    async def timeline(
        self, tenant: int, hero: tuple[str, str], *, limit: int, after: TimelineCursor | None = None
    ) -> list[TimelineRow]:
        found = []
        for row in self._filtered(tenant, RunCriteria(hero_type=hero[0], hero_id=hero[1])):
            shown = self._run_row(row)
            entries = list(self.entries.get(row.new.id, {}).values())
            if _has_begun(shown):
                begun = Entry(tenant, row.new.id, 0, row.new.started_at, RUN_STARTED, None, 0, None, NO_DATA)
                entries.append(begun)
            found += [TimelineRow(shown.workflow_name, entry) for entry in entries]
        found.sort(key=TimelineRow.place)
        return [one for one in found if after is None or one.place() > after][:limit]

    async def kept(self, run: bytes) -> dict[str, bytes]:
        return {step: result for (id_, step), result in self.results.items() if id_ == run}

    # -- maintenance

    async def now(self) -> int:
        return self.clock.wall()

    async def check(self) -> None:
        return None

    async def setting(self, name: str, default: str) -> str:
        return self.settings.setdefault(name, default)

    async def change_setting(self, name: str, value: str) -> None:
        if name in self.settings:
            self.settings[name] = value

    async def orphans(self, *, since: int, after: bytes, limit: int) -> list[Orphan]:
        cancelled = {mail.run for mail in self.inbox.values() if mail.kind == MessageKind.CANCEL}
        found = [
            Orphan(row.new.tenant, run, row.new.opening, parent.new.id, parent.status)
            for run, row in sorted(self.table.items())
            if row.is_open()
            and (parent := self.table.get(row.new.parent or b"")) is not None
            and parent.status in UNCOMPLETED
            and (parent.ended_at or 0) >= since
            and run > after
            and run not in cancelled
        ]
        return found[:limit]

    async def prune(self, *, before: int, statuses: Collection[str], limit: int) -> int:
        old = [
            row.new.id
            for row in self.table.values()
            if row.status in statuses
            and row.ended_at is not None
            and row.ended_at < before
            and not row.is_open()
            and not self._is_run_open(row.new.parent or b"")
        ][:limit]
        for run in old:
            del self.table[run]
            self.entries.pop(run, None)
            for rows in (self.waits, self.results):
                for key in [key for key in rows if key[0] == run]:
                    del rows[key]
        return len(old)

    async def compact(self) -> int:
        return 0

    async def tidy(self) -> None:
        late = [mail for mail in self.inbox.values() if not self._is_run_open(mail.run)]
        following = {row.new.origin: id_ for id_, row in self.table.items() if row.new.origin_kind == CONTINUED}
        for mail in late:
            run: bytes | None = mail.run
            while run is not None and not self._is_run_open(run):
                run = following.get(run) if mail.kind in FORWARDED else None
            if run is None:
                del self.inbox[mail.id]
            else:
                self.inbox[mail.id] = mail._replace(run=run)

    def _is_run_open(self, run: bytes) -> bool:
        row = self.table.get(run)
        return row is not None and row.is_open()

    async def examine(self) -> list[Finding]:
        return [Finding("warning", "durability", "a memory store forgets everything when its process ends")]

    async def close(self) -> None:
        return None


def _has_begun(row: RunRow) -> bool:
    """Return whether a run has begun: it does not wait for its start time, and did not end before that time."""
    if row.ended_at is not None:
        return row.ended_at >= row.started_at
    return row.status != Status.PENDING or row.owner is not None


def _is_meant(row: StoredRun, where: RunCriteria) -> bool:
    new = row.new
    plain = ("workflow", "trigger", "fired_by", "hero_type", "hero_id", "request_id", "origin", "parent")
    given = where.given()
    if any(getattr(new, name) != given[name] for name in plain if name in given):
        return False
    labels = json.loads(new.labels) if new.labels else {}
    return (
        (not where.statuses or row.status in where.statuses)
        and all(labels.get(key) == value for key, value in where.labels)
        and (where.started_after is None or new.started_at >= where.started_after)
        and (where.started_before is None or new.started_at < where.started_before)
        and (where.owned is None or where.owned == (row.owner is not None))
    )


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
