"""The rows of entity events, and the verbs of a store for them.

An event says that a record of an entity was created, updated or deleted. Its row is durable before its sender gets an
answer. The process that received it has a head start; after that any node may take it. When all its runs are durable,
the row is deleted, or stays as a sample: the newest events of an entity are stored for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from detent.store.letters import NewLetter

#: How many of the newest events of an entity are stored for people.
SAMPLES: Final = 50


class NewEvent(NamedTuple):
    """An event to store. `data` is its JSON. `dedup` is the id that its sender gave it, `None` if it gave none.

    `record` is the id of the record within its entity, `None` if the event names none."""

    id: bytes
    tenant: int
    entity: str
    operation: str
    record: str | None
    data: bytes
    dedup: str | None = None


class AddedEvent(NamedTuple):
    """What became of an event. `is_new` is false if the store knows it.

    `revision` is that of its entity when it was stored; `None` if there is no such entity."""

    is_new: bool
    revision: int | None


class EventRow(NamedTuple):
    """An event as it is stored. `until` is when a node may take it; `None` for a sample.

    `revision` is that of its entity at the moment the row was read; `None` for a sample, or if there is no entity."""

    id: bytes
    tenant: int
    entity: str
    operation: str
    record: str | None
    data: bytes
    dedup: str | None
    at: int
    until: int | None
    revision: int | None

    def as_new(self) -> NewEvent:
        """Return the event as it was stored first."""
        return NewEvent(self.id, self.tenant, self.entity, self.operation, self.record, self.data, self.dedup)


class EventStore(Protocol):
    """The verbs of entity events."""

    async def add_events(self, events: Sequence[NewEvent], *, head_start: float) -> list[AddedEvent]:
        """Store events in one transaction; no node takes them for `head_start` seconds. Return what became of each.

        The revision is read in the same transaction. So an event that is stored after a rule was saved has at least
        the revision of that save. An event whose `dedup` or id is stored already is left out, samples included."""

    async def take_events(self, *, limit: int, lease: float) -> list[EventRow]:
        """Take up to `limit` events whose time has come, longest due first, for `lease` seconds. They are of every
        tenant that is not suspended.

        No other call returns them meanwhile. Events that another transaction has locked are skipped."""

    async def end_events(self, done: Sequence[bytes], kept: Sequence[bytes], letters: Sequence[NewLetter] = ()) -> None:
        """Delete the events `done`, make samples of the events `kept`, and add dead letters, in one transaction. A
        letter that was added before is left out."""

    async def defer_events(self, events: Sequence[bytes], *, pause: float) -> None:
        """Let events be taken again after `pause` seconds."""

    async def has_older_event(self, event: EventRow | NewEvent) -> bool:
        """Return whether an older event of the same record has not ended."""

    async def samples(self, tenant: int, entity: str, *, limit: int) -> list[EventRow]:
        """Return the newest samples of an entity, newest first."""

    async def prune_samples(self, tenant: int, entity: str, *, keep: int) -> int:
        """Delete all but the newest `keep` samples of an entity. Return how many were deleted."""

    async def count_events(self, *, limit: int) -> int:
        """Count the events of every tenant that have not ended, up to `limit`."""
