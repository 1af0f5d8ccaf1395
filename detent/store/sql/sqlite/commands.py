"""The verbs of commands on a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from detent.store.audit import AuditRow, unwritten_audit
from detent.store.overview_rows import AskAnswer
from detent.store.rows import Delivery, MessageKind, Receipt
from detent.store.sql.compiler import Values
from detent.store.sql.sqlite.connection import SqliteAccess, add_audit
from detent.store.sql.sqlite.node import Bytes, ids
from detent.store.sql.verbs import SharedVerbs

RECEIVE: Final = """
update callback
set state = 'received', message_id = :message_id, answer = iif(state = 'active', 'accepted', 'early')
where run = :run and step = :step and (state = 'active' or state = 'pending' and early)
  and ask is null and (until is null or until > :now)
returning tenant, answer"""
POST: Final = """
insert into inbox (tenant, run, kind, step, data, at) values (:tenant, :run, 'callback', :step, :data, :at)"""
RECEIVE_MANY: Final = """
update callback
set state = 'received', message_id = given.value ->> 2, answer = iif(state = 'active', 'accepted', 'early')
from json_each(:rows) given
where run = substr(:bytes, given.value ->> 0, 16) and step = given.value ->> 1
  and (state = 'active' or state = 'pending' and early) and ask is null and (until is null or until > :now)
returning run, step, answer"""
POST_MANY: Final = """
insert into inbox (tenant, run, kind, step, data, at)
select c.tenant, c.run, 'callback', c.step, cast(substr(:bytes, given.value ->> 2, given.value ->> 3) as text), :now
from json_each(:rows) given
join callback c on c.run = substr(:bytes, given.value ->> 0, 16) and c.step = given.value ->> 1
order by given.key"""
DECIDE: Final = """
update callback
set decisions = :decisions, state = iif(:is_final, 'received', state),
    message_id = iif(:is_final, :message_id, message_id),
    answer = iif(:is_final, iif(state = 'active', 'accepted', 'early'), answer)
where run = :run and step = :step and (state = 'active' or state = 'pending' and early)
  and (until is null or until > :now) and decisions is :before
returning tenant, answer"""
CLOSE_OTHERS: Final = """
update callback set state = 'expired'
where run = :run and step in (select value from json_each(:others)) and state in ('pending', 'active')"""
POST_CHECKED: Final = """
insert into inbox (tenant, run, kind, step, data, at) values (:tenant, :run, :kind, :step, :data, :at)"""
SEND: Final = """
insert into inbox (tenant, run, kind, data, at)
select tenant, id, :kind, :data, :at from run where id = :run and tenant = :tenant and ended_at is null"""

SEND_MANY: Final = """
insert into inbox (tenant, run, kind, data, at)
select r.tenant, r.id, :kind, :data, :at
from json_each(:rows) given cross join run r on r.id = substr(:bytes, given.value, 16)
where r.tenant = :tenant and r.ended_at is null
returning run"""


class SqliteCommandStore(SharedVerbs):
    """The verbs of commands. They read on the reader's thread and write on the writer's."""

    _access: SqliteAccess

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        at = self._access.time()
        values = {"run": run, "step": step, "message_id": message_id, "now": now or at, "at": at, "data": data.decode()}
        audit = unwritten_audit()
        row = None if audit is None else audit.row()
        while True:
            answer = await self._access.write(lambda db: _receive(db, values, row))
            if answer:
                if audit is not None:
                    audit.is_written = True
                return Receipt(answer), False
            refusal = await self._refusal(run, step, message_id, now or at)
            if refusal:
                return refusal

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        now, given = self._access.time(), list(deliveries)
        answers = await self._access.write(lambda db: _receive_many(db, given, now))
        return [Receipt(answers[one.run, one.step]) if (one.run, one.step) in answers else None for one in given]

    async def decide(self, answer: AskAnswer, *, now: int | None = None) -> Receipt | None:
        at, audit = self._access.time(), unwritten_audit()
        values: Values = {
            **answer._asdict(),
            "data": answer.data.decode(),
            "others": msgspec.json.encode(answer.others).decode(),
            "is_final": int(answer.is_final),
            "kind": str(answer.kind),
            "now": now or at,
            "at": at,
        }
        row = None if audit is None else audit.row()
        hit = await self._access.write(lambda db: _decide(db, values, row))
        if hit is None:
            return None
        if audit is not None:
            audit.is_written = True
        return Receipt(hit) if answer.is_final else Receipt.COUNTED

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        values = {"tenant": tenant, "run": run, "kind": str(kind), "data": data.decode(), "at": self._access.time()}
        return await self._access.change(lambda db: db.execute(SEND, values).rowcount > 0)

    async def send_many(self, tenant: int, runs: Sequence[bytes], kind: MessageKind, data: bytes) -> set[bytes]:
        rows, packed = ids(runs)
        values = {"tenant": tenant, "kind": str(kind), "data": data.decode(), "at": self._access.time()}
        given = {**values, "rows": rows, "bytes": packed}
        return await self._access.change(lambda db: {row[0] for row in db.execute(SEND_MANY, given).fetchall()})


def _receive(db: sqlite3.Connection, values: Values, audit: AuditRow | None) -> str | None:
    db.execute("begin immediate")
    row = db.execute(RECEIVE, values).fetchall()
    if row:
        db.execute(POST, {**values, "tenant": row[0][0]})
        if audit is not None:
            add_audit(db, audit)
    db.execute("commit")
    return row[0][1] if row else None


def _decide(db: sqlite3.Connection, values: Values, audit: AuditRow | None) -> str | None:
    """Return the answer of a callback that was received, empty if this is one decision of several, None if neither."""
    db.execute("begin immediate")
    row = db.execute(DECIDE, values).fetchall()
    if row:
        db.execute(POST_CHECKED, {**values, "tenant": row[0][0]})
        if values["is_final"]:
            db.execute(CLOSE_OTHERS, values)
        if audit is not None:
            add_audit(db, audit)
    db.execute("commit")
    return (row[0][1] or "") if row else None


def _receive_many(db: sqlite3.Connection, given: list[Delivery], now: int) -> dict[tuple[bytes, str], str]:
    """Return the answers of the callbacks that were received, by (run, step)."""
    packed = Bytes()
    rows = [(packed.place(one.run), one.step, one.message_id) for one in given]
    db.execute("begin immediate")
    values = {"rows": msgspec.json.encode(rows).decode(), "bytes": packed.joined(), "now": now}
    answers = {(run, step): answer for run, step, answer in db.execute(RECEIVE_MANY, values).fetchall()}
    packed = Bytes()
    posted = [
        (packed.place(one.run), one.step, *packed.span(one.data)) for one in given if (one.run, one.step) in answers
    ]
    db.execute(POST_MANY, {"rows": msgspec.json.encode(posted).decode(), "bytes": packed.joined(), "now": now})
    db.execute("commit")
    return answers
