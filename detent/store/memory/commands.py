"""The verbs of commands on the memory store, and its maintenance."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence

from detent.run.journal import NO_DATA, Entry, Kind
from detent.run.stage import stage_kind
from detent.run.status import UNCOMPLETED, Status
from detent.store.list_rows import RUN_STARTED, Orphan, TimelineCursor, TimelineRow
from detent.store.memory.tables import MemoryTables, StoredRun
from detent.store.overview_rows import AskAnswer, CallbackFacts
from detent.store.protocol import EVERY_RUN
from detent.store.rows import (
    CONTINUED,
    FORWARDED,
    CallbackRow,
    CallbackState,
    Delivery,
    Finding,
    MessageKind,
    NodeOffer,
    Receipt,
    RunCriteria,
    RunRow,
)


class MemoryCommandStore(MemoryTables):
    """The verbs of commands and of maintenance: callbacks, messages, reading runs, retention."""

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
        if callback.ask is not None:
            return Receipt.ASKS, False
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

    async def callback(self, run: bytes, step: str) -> CallbackFacts | None:
        one = self.waits.get((run, step))
        if one is None:
            return None
        answer = None if one.answer is None else str(one.answer)
        return CallbackFacts(
            one.tenant, one.state, one.early, one.until, one.message_id, answer, one.ask, one.decisions
        )

    async def decide(self, answer: AskAnswer, *, now: int | None = None) -> Receipt | None:
        found, one = await self.callback(answer.run, answer.step), self.waits.get((answer.run, answer.step))
        if found is None or one is None or found.refusal(now or self.clock.wall()) is not None:
            return None
        if one.decisions != answer.before:
            return None
        one.decisions = answer.decisions
        receipt = Receipt.COUNTED
        if answer.is_final:
            receipt = Receipt.ACCEPTED if one.state is CallbackState.ACTIVE else Receipt.EARLY
            one.state, one.message_id, one.answer = CallbackState.RECEIVED, answer.message_id, receipt
            for step in answer.others:
                other = self.waits.get((answer.run, step))
                if other is not None and other.state in (CallbackState.PENDING, CallbackState.ACTIVE):
                    other.state = CallbackState.EXPIRED
        self.post(answer.run, answer.kind, answer.step, answer.data)
        return receipt

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        return self._send(tenant, run, kind, data)

    async def send_many(self, tenant: int, runs: Sequence[bytes], kind: MessageKind, data: bytes) -> set[bytes]:
        return {run for run in runs if self._send(tenant, run, kind, data)}

    def _send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        row = self.table.get(run)
        if row is None or row.new.tenant != tenant or not row.is_open():
            return False
        self.post(run, kind, None, data)
        return True

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
        return [
            row
            for row in self.table.values()
            if row.new.tenant == tenant and _is_meant(row, where) and _has_text(row, self._name_of(row), where)
        ]

    def _name_of(self, row: StoredRun) -> str:
        saved = self.saved.get(row.new.workflow)
        return saved.new.name if saved else ""

    async def ended(self, tenant: int, runs: Sequence[bytes]) -> set[bytes]:
        return {run for run in runs if not self._is_run_open(run) or self.table[run].new.tenant != tenant}

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
        del new["owned"], new["check"], new["successor_of"]
        changed = {"status": row.status, "wake_at": row.wake_at, "owner": row.owner, "generation": row.generation}
        changed["stage_epoch"] = row.stage_epoch
        ended = {"ended_at": row.ended_at, "output": row.output, "error": row.error, "seal": row.seal}
        return RunRow(**{**new, **changed, **ended, "workflow_name": self._name_of(row)})

    async def journal(self, tenant: int, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        entries = [entry for entry in self.sorted_entries(run) if entry.tenant == tenant and entry.seq > after]
        return entries[:limit]

    async def journals_of(self, tenant: int, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        found = {run: await self.journal(tenant, run) for run in runs}
        return {run: entries for run, entries in found.items() if entries}

    async def step_ends(self, tenant: int, runs: Sequence[bytes], steps: Sequence[str]) -> list[Entry]:
        return [
            entry
            for run in sorted(set(runs))
            for entry in await self.journal(tenant, run)
            if entry.step in steps and entry.kind in (Kind.ENDED, Kind.CHECKPOINT)
        ]

    async def callbacks(self, tenant: int, run: bytes) -> list[CallbackRow]:
        return [
            CallbackRow(step, one.state, one.created_at, one.until, one.ask, one.decisions)
            for (id_, step), one in self.waits.items()
            if id_ == run and one.tenant == tenant
        ]

    async def closed_waits(self, runs: Sequence[bytes]) -> set[tuple[bytes, str]]:
        return {place for place, one in self.waits.items() if place[0] in runs and one.state == CallbackState.EXPIRED}

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

    async def kept(self, tenant: int, run: bytes) -> dict[str, bytes]:
        if run not in self.table or self.table[run].new.tenant != tenant:
            return {}
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

    async def prune(self, *, before: int, statuses: Collection[str], limit: int, spared: Collection[int] = ()) -> int:
        return self._prune(
            lambda row: row.status in statuses and row.new.tenant not in spared, before=before, limit=limit
        )

    async def prune_tenant(self, tenant: int, *, before: int, limit: int) -> int:
        return self._prune(lambda row: row.new.tenant == tenant, before=before, limit=limit)

    def _prune(self, wanted: Callable[[StoredRun], bool], *, before: int, limit: int) -> int:
        old = [
            row.new.id
            for row in self.table.values()
            if wanted(row)
            and row.ended_at is not None
            and row.ended_at < before
            and not row.is_open()
            and not self._is_run_open(row.new.parent or b"")
        ][:limit]
        for run in old:
            row = self.table.pop(run)
            if row.new.version < 0:
                self._drop_stored_draft(row.new.workflow, row.new.version)
            self.entries.pop(run, None)
            self.drop_links(run)
            for log in [log.id for log in self.logs.values() if log.run == run]:
                del self.logs[log]
            for rows in (self.waits, self.results):
                for key in [key for key in rows if key[0] == run]:
                    del rows[key]
        return len(old)

    def _drop_stored_draft(self, workflow: bytes, version: int) -> None:
        """Delete a draft that was run if no run needs it any more, unless it may be run again."""
        saved = self.saved.get(workflow)
        used = any((row.new.workflow, row.new.version) == (workflow, version) for row in self.table.values())
        if saved is not None and not used and (saved.draft is None or saved.draft.revision != -version):
            saved.versions.pop(version, None)

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


def _is_as_listed(row: StoredRun, where: RunCriteria) -> bool:
    """Return whether a run meets the criteria that only lists have."""
    new = row.new
    if where.stages and (row.ended_at is not None or _stage(row, where.now or 0) not in where.stages):
        return False
    return (
        (where.version is None or new.version == where.version)
        and (not where.ids or new.id in where.ids)
        and (where.first is None or new.id >= where.first)
        and (where.last is None or new.id < where.last)
        and (where.ended_after is None or (row.ended_at is not None and row.ended_at >= where.ended_after))
        and (where.error is None or where.error.lower() in (row.error or "").lower())
    )


def _stage(row: StoredRun, now: int) -> str:
    return stage_kind(
        status=row.status,
        owned=row.owner is not None,
        wake_at=row.wake_at,
        stage=row.new.stage,
        is_current=row.stage_epoch == row.generation,
        now=now,
    )


def _has_text(row: StoredRun, name: str, where: RunCriteria) -> bool:
    if where.text is None:
        return True
    new, wanted = row.new, where.text.lower()
    labels = json.loads(new.labels) if new.labels else {}
    places = (name, new.hero_id, row.error, new.request_id, new.stage_step, *map(str, labels.values()))
    if where.id_end is not None and new.id.hex().endswith(where.id_end):
        return True
    return any(wanted in place.lower() for place in places if place)


def _is_meant(row: StoredRun, where: RunCriteria) -> bool:
    new = row.new
    plain = ("workflow", "trigger", "fired_by", "hero_type", "hero_id", "request_id", "origin", "parent")
    given = where.given()
    if any(getattr(new, name) != given[name] for name in plain if name in given):
        return False
    labels = json.loads(new.labels) if new.labels else {}
    return (
        _is_as_listed(row, where)
        and (not where.statuses or row.status in where.statuses)
        and all(labels.get(key) == value for key, value in where.labels)
        and (where.started_after is None or new.started_at >= where.started_after)
        and (where.started_before is None or new.started_at < where.started_before)
        and (where.owned is None or where.owned == (row.owner is not None))
        and (where.without is None or new.trigger != where.without)
    )
