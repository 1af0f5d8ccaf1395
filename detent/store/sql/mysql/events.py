"""Entity events on MariaDB or MySQL: a batch is stored in one packet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.instant import micros
from detent.store.events import AddedEvent, NewEvent
from detent.store.sql.events.verbs import EventVerbs, in_order
from detent.store.sql.mysql.connection import BEGIN, COMMIT, DOUBLED, ROLLBACK, MysqlAccess, StatementRefused, Wire
from detent.store.sql.mysql.flush import NOW, blob, data, quote

ADD: Final = "insert into event (id, tenant, entity, operation, record, data, dedup, at, until) values {rows}"
REVISIONS: Final = "select tenant, name, revision from entity where {places}"


class MysqlEventVerbs(EventVerbs):
    """The verbs of entity events on MariaDB or MySQL."""

    _access: MysqlAccess

    async def add_events(self, events: Sequence[NewEvent], *, head_start: float) -> list[AddedEvent]:
        until = f"{NOW} + {micros(head_start):d}"
        rows = ",".join(
            f"({blob(new.id)},{new.tenant:d},{quote(new.entity)},{quote(new.operation)},{quote(new.record)},"
            f"{data(new.data)},{quote(new.dedup)},{NOW},{until})"
            for new in in_order(events)
        )
        entities = sorted({(new.tenant, new.entity) for new in events})
        places = " or ".join(f"tenant = {tenant:d} and name = {quote(name)}" for tenant, name in entities)

        async def work(wire: Wire) -> dict[tuple[int, str], int] | None:
            try:
                *_, found, _ = await wire.send_all(
                    (BEGIN, ADD.format(rows=rows), REVISIONS.format(places=places), COMMIT)
                )
            except StatementRefused as refusal:
                if refusal.code != DOUBLED:
                    raise
                await wire.send(ROLLBACK)
                return None
            return {(tenant, name): revision for tenant, name, revision in found.rows}

        async with self._access.pool.connection() as connection:
            revisions = await connection.call(work)
        if revisions is None:  # some are known: add them one by one
            return await super().add_events(events, head_start=head_start)
        return [AddedEvent(True, revisions.get((new.tenant, new.entity))) for new in events]
