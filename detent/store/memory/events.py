"""Entity events of the memory store."""

from __future__ import annotations

from collections.abc import Sequence

from detent.instant import micros
from detent.store.events import AddedEvent, EventRow, NewEvent
from detent.store.letters import NewLetter
from detent.store.memory.tables import MemoryTables
from detent.store.trigger_rows import is_left_alone


class MemoryEvents(MemoryTables):
    """The verbs of entity events: every verb is one step."""

    async def add_events(self, events: Sequence[NewEvent], *, head_start: float) -> list[AddedEvent]:
        now = self.clock.wall()
        known: set[tuple[int, str | None]] = {
            (row.tenant, row.dedup) for row in self.events.values() if row.dedup is not None
        }
        added: dict[bytes, bool] = {}
        for new in events:
            key = (new.tenant, new.dedup)
            added[new.id] = new.id not in self.events and key not in known
            if added[new.id]:
                self.events[new.id] = EventRow(*new, at=now, until=now + micros(head_start), revision=None)
                if new.dedup is not None:
                    known.add(key)
        return [AddedEvent(added[new.id], self._revision(new.tenant, new.entity)) for new in events]

    async def take_events(self, *, limit: int, lease: float) -> list[EventRow]:
        now = self.clock.wall()
        due = [
            row
            for row in self.events.values()
            if row.until is not None and not is_left_alone(row.until, now) and not self.is_suspended(row.tenant)
        ]
        taken = sorted(due, key=lambda row: (row.until or 0, row.id))[:limit]
        for row in taken:
            self.events[row.id] = row._replace(until=now + micros(lease))
        found = sorted(self.events[row.id] for row in taken)
        return [row._replace(revision=self._revision(row.tenant, row.entity)) for row in found]

    async def end_events(self, done: Sequence[bytes], kept: Sequence[bytes], letters: Sequence[NewLetter] = ()) -> None:
        for letter in letters:
            self.add_letter(letter)
        for event in done:
            self.events.pop(event, None)
        for event in kept:
            if event in self.events:
                self.events[event] = self.events[event]._replace(until=None)

    async def defer_events(self, events: Sequence[bytes], *, pause: float) -> None:
        until = self.clock.wall() + micros(pause)
        for event in events:
            row = self.events.get(event)
            if row is not None and row.until is not None:
                self.events[event] = row._replace(until=until)

    async def has_older_event(self, event: EventRow | NewEvent) -> bool:
        place = (event.tenant, event.entity, event.record)
        return any(
            row.until is not None and row.id < event.id and (row.tenant, row.entity, row.record) == place
            for row in self.events.values()
        )

    async def samples(self, tenant: int, entity: str, *, limit: int) -> list[EventRow]:
        return self._samples(tenant, entity)[:limit]

    async def prune_samples(self, tenant: int, entity: str, *, keep: int) -> int:
        dropped = self._samples(tenant, entity)[keep:]
        for row in dropped:
            del self.events[row.id]
        return len(dropped)

    async def count_events(self, *, limit: int) -> int:
        return min(limit, sum(row.until is not None for row in self.events.values()))

    def _samples(self, tenant: int, entity: str) -> list[EventRow]:
        mine = (row for row in self.events.values() if (row.tenant, row.entity) == (tenant, entity))
        return sorted((row for row in mine if row.until is None), key=lambda row: row.id, reverse=True)

    def _revision(self, tenant: int, entity: str) -> int | None:
        found = self.entities_by_name.get((tenant, entity))
        return None if found is None else found.revision
