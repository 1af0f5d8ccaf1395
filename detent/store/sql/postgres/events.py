"""The verbs of entity events on PostgreSQL that are one statement each, because every event needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.instant import SECOND
from detent.store.events import AddedEvent, EventRow, NewEvent
from detent.store.sql.events.verbs import EventVerbs, event_row, in_order
from detent.store.sql.postgres.connection import PoolAccess
from detent.store.trigger_rows import FARTHEST

# The whole statement has one snapshot, taken after the event arrived. So the revision is not older than a save that was
# answered before.
ADD: Final = """
with given as (
  select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
  with ordinality as t(id, tenant, entity, operation, record, data, dedup, place)
),
made as (
  insert into event (id, tenant, entity, operation, record, data, dedup, at, until)
  select id, tenant, entity, operation, record, data, dedup, now(), now() + make_interval(secs => $8)
  from given order by place
  on conflict do nothing
  returning id
)
select g.id, m.id is not null, n.revision
from given g left join made m on m.id = g.id left join entity n on n.tenant = g.tenant and n.name = g.entity"""
# `now()` can be looked up in an index, `clock_timestamp()` cannot. The statement is its own transaction.
TAKE: Final = """
with due as (
  select id from event where until <= now()
    and tenant not in (select id from tenant where status = 'suspended')
  order by until, id limit $1 for update skip locked
),
taken as (
  update event e set until = now() + make_interval(secs => $2) from due where e.id = due.id
  returning e.id, e.tenant, e.entity, e.operation, e.record, e.data, e.dedup, e.at, e.until
)
select t.*, n.revision
from taken t left join entity n on n.tenant = t.tenant and n.name = t.entity order by t.id"""
_FAR: Final = f"until > now() + interval '{FARTHEST // SECOND} seconds'"
TAKE_FAR: Final = TAKE.replace("until <= now()", _FAR)
#: Of so many calls that find nothing due, one looks for events that were taken while the clock was wrong.
FAR_EVERY: Final = 50


class PostgresEventVerbs(EventVerbs):
    """The verbs of entity events on PostgreSQL."""

    _access: PoolAccess
    _idle = 0  # calls of `take_events` that found nothing

    async def add_events(self, events: Sequence[NewEvent], *, head_start: float) -> list[AddedEvent]:
        columns = zip(*((*new[:5], str(new.data, "utf-8"), new.dedup) for new in in_order(events)), strict=True)
        rows = await self._access.pool.fetch(ADD, *(list(column) for column in columns), head_start)
        added = {id_: AddedEvent(is_new, revision) for id_, is_new, revision in rows}
        return [added[new.id] for new in events]

    async def take_events(self, *, limit: int, lease: float) -> list[EventRow]:
        rows = await self._access.pool.fetch(TAKE, limit, lease)
        if not rows:
            self._idle += 1
            if self._idle % FAR_EVERY == 1:
                rows = await self._access.pool.fetch(TAKE_FAR, limit, lease)
        return [event_row(tuple(row)) for row in rows]
