"""The verbs of entity events, the same on every SQL database. PostgreSQL and MySQL have faster ones for some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, func, select, text, update

from detent.instant import micros
from detent.store.events import AddedEvent, EventRow, EventStore, NewEvent
from detent.store.letters import NewLetter
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.compiler import InList, InsertIfAbsent
from detent.store.sql.events.table import event
from detent.store.sql.letter_verbs import ADD_LETTER, letter_values
from detent.store.sql.rule_schema import entity
from detent.store.sql.schema import tenant
from detent.store.trigger_rows import FARTHEST

_COLUMNS: Final = tuple(event.c[name] for name in EventRow._fields[:-1])
_NEW: Final = text(
    """insert into event (id, tenant, entity, operation, record, data, dedup, at, until)
       values (:id, :tenant, :entity, :operation, :record, :data, :dedup, :now, :until)"""
)
ADD: Final = InsertIfAbsent(_NEW)
REVISION: Final = select(entity.c.revision).where(
    entity.c.tenant == bindparam("tenant"), entity.c.name == bindparam("entity")
)


#: Events of a suspended tenant wait until it is resumed.
_AWAKE: Final = event.c.tenant.not_in(select(tenant.c.id).where(tenant.c.status == text("'suspended'")))


def _due(*when: Any) -> Select[Any]:
    query = select(event.c.id).where(*when, _AWAKE).order_by(event.c.until, event.c.id).limit(bindparam("limit"))
    return query.with_for_update(skip_locked=True)


DUE: Final = _due(event.c.until <= bindparam("now"))
#: Events that were taken while the clock of the database was wrong.
FAR: Final = _due(event.c.until > bindparam("farthest"))
LET: Final = (
    update(event)
    .where(InList(event.c.id, "ids", ids=True), event.c.until.is_not(None))
    .values({event.c.until: bindparam("new_until")})
)
TAKEN: Final = (
    select(*_COLUMNS, entity.c.revision)
    .select_from(event.outerjoin(entity, (entity.c.tenant == event.c.tenant) & (entity.c.name == event.c.entity)))
    .where(InList(event.c.id, "ids", ids=True))
    .order_by(event.c.id)
)
DROP: Final = delete(event).where(InList(event.c.id, "ids", ids=True))
KEEP: Final = update(event).where(InList(event.c.id, "ids", ids=True)).values({event.c.until: None})
_OF_ENTITY: Final = (event.c.tenant == bindparam("tenant"), event.c.entity == bindparam("entity"))
OLDER: Final = (
    select(event.c.id)
    .where(
        *_OF_ENTITY,
        event.c.record == bindparam("record"),
        event.c.id < bindparam("id"),
        event.c.until.is_not(None),
    )
    .limit(1)
)
SAMPLES: Final = (
    select(*_COLUMNS).where(*_OF_ENTITY, event.c.until.is_(None)).order_by(event.c.id.desc()).limit(bindparam("limit"))
)
OLDEST_KEPT: Final = (
    select(event.c.id)
    .where(*_OF_ENTITY, event.c.until.is_(None))
    .order_by(event.c.id.desc())
    .limit(1)
    .offset(bindparam("place"))
)
PRUNE: Final = (
    delete(event).where(*_OF_ENTITY, event.c.until.is_(None), event.c.id <= bindparam("last")).returning(event.c.id)
)
COUNT: Final = select(func.count()).select_from(
    select(event.c.id).where(event.c.until.is_not(None)).limit(bindparam("limit")).subquery("found")
)


class EventVerbs(EventStore):
    """The verbs of entity events."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def add_events(self, events: Sequence[NewEvent], *, head_start: float) -> list[AddedEvent]:
        now = await self._access.now()
        times = {"now": now, "until": now + micros(head_start)}

        def add() -> Script[list[AddedEvent]]:
            added: dict[bytes, bool] = {}
            for new in in_order(events):
                added[new.id] = bool((yield ADD, {**new._asdict(), "data": new.data.decode(), **times}))
            revisions: dict[tuple[int, str], int | None] = {}
            for owner, name in sorted({(new.tenant, new.entity) for new in events}):
                rows = yield REVISION, {"tenant": owner, "entity": name}
                revisions[owner, name] = rows[0][0] if rows else None
            return [AddedEvent(added[new.id], revisions[new.tenant, new.entity]) for new in events]

        return await self._access.run_script(add)

    async def take_events(self, *, limit: int, lease: float) -> list[EventRow]:
        now = await self._access.now()
        values = {"now": now, "farthest": now + FARTHEST, "limit": limit}
        if not (await self._access.query(ANY_DUE, values)):
            return []

        def take() -> Script[list[EventRow]]:
            found = yield DUE, values
            if not found:
                found = yield FAR, values
            if not found:
                return []
            ids = [row[0] for row in found]
            yield LET, {"ids": ids, "new_until": now + micros(lease)}
            return [event_row(row) for row in (yield TAKEN, {"ids": ids})]

        return await self._access.run_script(take)

    async def end_events(self, done: Sequence[bytes], kept: Sequence[bytes], letters: Sequence[NewLetter] = ()) -> None:
        now = await self._access.now() if letters else 0

        def end() -> Script[None]:
            if done:
                yield DROP, {"ids": sorted(done)}
            if kept:
                yield KEEP, {"ids": sorted(kept)}
            for letter in letters:
                yield ADD_LETTER, letter_values(letter, now)

        if done or kept or letters:
            await self._access.run_script(end)

    async def defer_events(self, events: Sequence[bytes], *, pause: float) -> None:
        if events:
            until = await self._access.now() + micros(pause)
            await self._access.execute(LET, {"ids": sorted(events), "new_until": until})

    async def has_older_event(self, event: EventRow | NewEvent) -> bool:
        asked = {"tenant": event.tenant, "entity": event.entity, "record": event.record, "id": event.id}
        return bool(await self._access.query(OLDER, asked))

    async def samples(self, tenant: int, entity: str, *, limit: int) -> list[EventRow]:
        rows = await self._access.search(SAMPLES, {"tenant": tenant, "entity": entity, "limit": limit})
        return [event_row((*row, None)) for row in rows]

    async def prune_samples(self, tenant: int, entity: str, *, keep: int) -> int:
        of_entity = {"tenant": tenant, "entity": entity}
        last = await self._access.query(OLDEST_KEPT, {**of_entity, "place": keep})
        if not last:
            return 0
        return len(await self._access.execute(PRUNE, {**of_entity, "last": last[0][0]}))

    async def count_events(self, *, limit: int) -> int:
        [row] = await self._access.query(COUNT, {"limit": limit})
        return int(row[0])


#: Whether there is anything to take, so that a poll that finds nothing writes nothing.
ANY_DUE: Final = (
    select(event.c.id).where((event.c.until <= bindparam("now")) | (event.c.until > bindparam("farthest"))).limit(1)
)


def in_order(events: Sequence[NewEvent]) -> list[NewEvent]:
    """Return the events in one fixed order, so that two processes that add the same events cannot deadlock.

    Of two with the same given id, the older one comes first."""
    return sorted(events, key=lambda new: (new.tenant, new.dedup or "", new.id))


def event_row(row: Sequence[Any]) -> EventRow:
    """Build the row of an event from its columns and the revision of its entity."""
    made = EventRow(*row)
    return made._replace(data=row[5].encode())
