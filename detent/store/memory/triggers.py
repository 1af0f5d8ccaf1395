"""Triggers and firings of the memory store."""

from __future__ import annotations

from collections.abc import Sequence

from detent.instant import micros
from detent.store.letters import NewLetter
from detent.store.memory.tables import MemoryTables, StoredTrigger
from detent.store.trigger_rows import (
    OPEN_FIRINGS,
    SHORTEST_PAUSE,
    FiringRow,
    FiringState,
    NewFiring,
    NewTrigger,
    OverlapRule,
    TriggerRow,
    Turn,
    Verdict,
    is_left_alone,
    pause_in_line,
)


class MemoryTriggers(MemoryTables):
    """The verbs of triggers, with the same guarantees as in a database: every verb is one step."""

    async def add_trigger(self, new: NewTrigger) -> bool:
        saved = self.saved.get(new.workflow)
        if saved is None or saved.deleted_at is not None or saved.new.tenant != new.tenant:
            return False
        now = self.clock.wall()
        self.rules.setdefault(new.id, StoredTrigger(new, now, now))
        return True

    async def trigger(self, tenant: int, trigger: bytes) -> TriggerRow | None:
        rule = self.rules.get(trigger)
        there = rule is not None and rule.new.tenant == tenant and rule.deleted_at is None
        return self._trigger_row(rule) if rule and there else None

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
        found = [
            rule
            for rule in self._living()
            if rule.new.tenant == tenant
            and (after is None or rule.new.id > after)
            and (workflow is None or rule.new.workflow == workflow)
            and (kind is None or rule.new.kind == kind)
            and (enabled is None or rule.new.enabled is enabled)
        ]
        return [self._trigger_row(rule) for rule in sorted(found, key=lambda rule: rule.new.id)[:limit]]

    async def listeners(self, tenant: int, keys: Sequence[str]) -> list[TriggerRow]:
        found = [
            rule
            for rule in self._living()
            if (rule.new.tenant, rule.new.kind, rule.new.enabled) == (tenant, "event", True)
            and rule.new.key in keys
            and self._is_of_active(rule)
        ]
        return [self._trigger_row(rule) for rule in sorted(found, key=lambda rule: rule.new.id)]

    async def change_trigger(self, changed: NewTrigger, *, seen: int) -> bool:
        rule = self.rules.get(changed.id)
        if rule is None or rule.deleted_at is not None or rule.updated_at != seen:
            return False
        if rule.new.tenant != changed.tenant:
            return False
        old = rule.new
        rule.new = changed._replace(tenant=old.tenant, workflow=old.workflow, kind=old.kind, owned=old.owned)
        rule.updated_at = max(self.clock.wall(), seen + 1)
        return True

    async def drop_trigger(self, tenant: int, trigger: bytes) -> bool:
        if await self.trigger(tenant, trigger) is None:
            return False
        self.rules[trigger].deleted_at = self.clock.wall()
        return True

    async def due_triggers(self, *, limit: int) -> list[TriggerRow]:
        now = self.clock.wall()
        due = [
            rule
            for rule in self._living()
            if rule.new.enabled
            and (rule.new.next_at or now + 1) <= now
            and self._is_of_active(rule)
            and not self.is_suspended(rule.new.tenant)
        ]
        due.sort(key=lambda rule: (rule.new.next_at or 0, rule.new.id))
        return [self._trigger_row(rule) for rule in due[:limit]]

    async def take_slots(
        self, tenant: int, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]
    ) -> bool:
        rule = self.rules.get(trigger)
        if (
            rule is None
            or rule.new.tenant != tenant
            or rule.deleted_at is not None
            or rule.new.next_at != seen
            or not rule.new.enabled
        ):
            return False
        rule.new = rule.new._replace(next_at=next_at)
        await self.add_firings(firings)
        return True

    async def add_firings(self, firings: Sequence[NewFiring], *, letters: Sequence[NewLetter] = ()) -> list[FiringRow]:
        rows = [self._add_firing(new) for new in firings]
        added = {row.id for row in rows}
        for letter in letters:
            if letter.id in added:
                self.add_letter(letter)
        return rows

    def _add_firing(self, new: NewFiring) -> FiringRow:
        for row in self.fired.values():
            same_slot = new.slot is not None and row.slot == new.slot
            same_thing = new.dedup is not None and row.dedup == new.dedup
            if row.id == new.id or (row.trigger == new.trigger and (same_slot or same_thing)):
                return row
        row = FiringRow(**new._asdict(), at=self.clock.wall(), until=None, run=None)
        self.fired[new.id] = row
        rule = self.rules.get(new.trigger)
        if rule is not None:
            rule.last_at = row.at
        return row

    async def firing(self, tenant: int, firing: bytes) -> FiringRow | None:
        row = self.fired.get(firing)
        return row if row and row.tenant == tenant else None

    async def firings(
        self, tenant: int, *, trigger: bytes, limit: int, before: bytes | None = None, state: str | None = None
    ) -> list[FiringRow]:
        found = [
            row
            for row in self.fired.values()
            if (row.tenant, row.trigger) == (tenant, trigger)
            and (before is None or row.id < before)
            and (state is None or row.state == state)
        ]
        return sorted(found, key=lambda row: row.id, reverse=True)[:limit]

    async def due_firings(self, *, limit: int) -> list[FiringRow]:
        now = self.clock.wall()
        due = [
            row
            for row in self.fired.values()
            if row.state in OPEN_FIRINGS
            and row.due_at <= now
            and not is_left_alone(row.until, now)
            and not self.is_suspended(row.tenant)
        ]
        return sorted(due, key=lambda row: (row.due_at, row.id))[:limit]

    async def begin_firing(
        self, tenant: int, firing: bytes, *, overlap: OverlapRule, lease: float, most_queued: int
    ) -> Turn:
        now, row = self.clock.wall(), self.fired.get(firing)
        if row is None or row.tenant != tenant or row.state not in OPEN_FIRINGS:
            return Turn(Verdict.OVER)
        is_mine_to_finish = row.state == FiringState.STARTING
        if is_mine_to_finish and is_left_alone(row.until, now):
            return Turn(Verdict.WAIT)
        runs = () if overlap is OverlapRule.ALLOW else self._open_runs(row.trigger)
        if overlap is not OverlapRule.ALLOW and not is_mine_to_finish:
            turn = self._turn(row, overlap, runs, most_queued, now)
            if turn.verdict is not Verdict.GO:
                return turn
        self.fired[firing] = row._replace(state=FiringState.STARTING, until=now + micros(lease))
        if overlap is OverlapRule.QUEUE and self._hurry_next(row, now):
            return Turn(Verdict.GO, runs, SHORTEST_PAUSE)
        return Turn(Verdict.GO, runs)

    def _hurry_next(self, row: FiringRow, now: int) -> bool:
        """Let the next in line be tried soon. Return whether there is one."""
        line = [o for o in self.fired.values() if o.trigger == row.trigger and o.state == FiringState.QUEUED]
        following = min((o for o in line if o.id != row.id), key=lambda o: (o.due_at, o.id), default=None)
        if following is not None:
            self.fired[following.id] = following._replace(until=now + micros(SHORTEST_PAUSE), message=None)
        return following is not None

    def _turn(self, row: FiringRow, overlap: OverlapRule, runs: tuple[bytes, ...], most_queued: int, now: int) -> Turn:
        others = [o for o in self.fired.values() if o.trigger == row.trigger and o.id != row.id]
        if any(o.state == FiringState.STARTING for o in others):
            return Turn(Verdict.WAIT, runs)
        older = overlap is OverlapRule.QUEUE and any(
            o.state in OPEN_FIRINGS and (o.due_at, o.id) < (row.due_at, row.id) and o.due_at <= now for o in others
        )
        if overlap is OverlapRule.CANCEL_PREVIOUS or not (runs or older):
            return Turn(Verdict.GO, runs)
        queued = sum(o.state == FiringState.QUEUED for o in others)
        if overlap is OverlapRule.QUEUE and (row.state == FiringState.QUEUED or queued < most_queued):
            pause = pause_in_line(runs, now, is_first=not older)
            self.fired[row.id] = row._replace(state=FiringState.QUEUED, until=now + micros(pause))
            return Turn(Verdict.QUEUED, runs, 0.0 if older else pause)
        message = "the run before has not ended" if overlap is OverlapRule.SKIP else "too many are queued already"
        self.fired[row.id] = row._replace(state=FiringState.SKIPPED, message=message)
        return Turn(Verdict.SKIPPED, runs)

    def _open_runs(self, trigger: bytes) -> tuple[bytes, ...]:
        return tuple(row.new.id for row in self.table.values() if row.new.fired_by == trigger and row.is_open())

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
        row = self.fired.get(firing)
        if row and row.tenant == tenant and row.state in OPEN_FIRINGS:
            self.fired[firing] = row._replace(state=state, run=run, message=message, until=None)
            if letter is not None:
                self.add_letter(letter)

    async def prune_firings(self, *, before: int, limit: int) -> int:
        old = [row.id for row in self.fired.values() if row.state not in OPEN_FIRINGS and row.at < before][:limit]
        for firing in old:
            del self.fired[firing]
        return len(old)

    def _living(self) -> list[StoredTrigger]:
        return [rule for rule in self.rules.values() if rule.deleted_at is None]

    def _is_of_active(self, rule: StoredTrigger) -> bool:
        saved = self.saved.get(rule.new.workflow)
        return saved is not None and saved.status == "active"

    def _trigger_row(self, rule: StoredTrigger) -> TriggerRow:
        saved = self.saved.get(rule.new.workflow)
        return TriggerRow(
            **rule.new._asdict(),
            workflow_name=saved.new.name if saved else "",
            workflow_enabled=bool(saved and saved.new.enabled),
            last_at=rule.last_at,
            created_at=rule.created_at,
            updated_at=rule.updated_at,
        )
