"""What the doors do with a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import ClauseElement, Dialect
from sqlalchemy.dialects import sqlite

from detent.store.rows import Delivery, MessageKind, Receipt
from detent.store.sql.access import Rows, Script
from detent.store.sql.compiler import Values, compiled
from detent.store.sql.sqlite.connection import Access
from detent.store.sql.sqlite.node import Bytes
from detent.store.sql.verbs import SharedVerbs

T = TypeVar("T")

DIALECT: Final[Dialect] = sqlite.dialect(paramstyle="qmark")

RECEIVE: Final = """
update callback
set state = 'received', message_id = :message_id, answer = iif(state = 'active', 'accepted', 'early')
where run = :run and step = :step and (state = 'active' or state = 'pending' and early)
  and (until is null or until > :now)
returning tenant, answer"""
POST: Final = """
insert into inbox (tenant, run, kind, step, data, at) values (:tenant, :run, 'callback', :step, :data, :at)"""
RECEIVE_MANY: Final = """
update callback
set state = 'received', message_id = given.value ->> 2, answer = iif(state = 'active', 'accepted', 'early')
from json_each(:rows) given
where run = substr(:bytes, given.value ->> 0, 16) and step = given.value ->> 1
  and (state = 'active' or state = 'pending' and early) and (until is null or until > :now)
returning run, step, answer"""
POST_MANY: Final = """
insert into inbox (tenant, run, kind, step, data, at)
select c.tenant, c.run, 'callback', c.step, cast(substr(:bytes, given.value ->> 2, given.value ->> 3) as text), :now
from json_each(:rows) given
join callback c on c.run = substr(:bytes, given.value ->> 0, 16) and c.step = given.value ->> 1
order by given.key"""
SEND: Final = """
insert into inbox (tenant, run, kind, data, at)
select tenant, id, :kind, :data, :at from run where id = :run and tenant = :tenant and ended_at is null"""


class SqliteCommandStore(SharedVerbs):
    """Reads on the reader's thread, writes on the writer's."""

    def __init__(self, access: Access) -> None:
        self._doors = access

    async def now(self) -> int:
        return self._doors.time()

    async def check(self) -> None:
        # A page is written and synced although nothing changes, so that a full disk is found before a start finds it.
        await self._doors.write(lambda db: db.execute("update alembic_version set version_num = version_num"))

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        at = self._doors.time()
        values = {"run": run, "step": step, "message_id": message_id, "now": now or at, "at": at, "data": data.decode()}
        while True:
            answer = await self._doors.write(lambda db: _receive(db, values))
            if answer:
                return Receipt(answer), False
            refusal = await self._refusal(run, step, message_id, now or at)
            if refusal:
                return refusal

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        now, given = self._doors.time(), list(deliveries)
        answers = await self._doors.write(lambda db: _receive_many(db, given, now))
        return [Receipt(answers[one.run, one.step]) if (one.run, one.step) in answers else None for one in given]

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        values = {"tenant": tenant, "run": run, "kind": str(kind), "data": data.decode(), "at": self._doors.time()}
        return await self._doors.write(lambda db: db.execute(SEND, values).rowcount > 0)

    async def _read(self, clause: ClauseElement, values: Values) -> Rows:
        return await self._doors.read(lambda db: _fetch(db, clause, values))

    async def _talk(self, begin: Callable[[], Script[T]]) -> T:
        def work(db: sqlite3.Connection) -> T:
            talk, rows = begin(), None
            db.execute("begin immediate")
            while True:
                try:
                    clause, values = next(talk) if rows is None else talk.send(rows)
                except StopIteration as end:
                    db.execute("commit")
                    result: T = end.value
                    return result
                rows = _fetch(db, clause, values)

        return await self._doors.write(work)


def _fetch(db: sqlite3.Connection, clause: ClauseElement, values: Values) -> Rows:
    statement = compiled(clause, DIALECT)
    arguments = [_packed(value) if type(value) is list else value for value in statement.arguments(values)]
    return db.execute(statement.text, arguments).fetchall()


def _packed(values: list[Any]) -> bytes | str:
    """A list as one argument (see `Among`): ids side by side, texts as JSON."""
    if isinstance(values[0], bytes):
        return b"".join(values)
    return msgspec.json.encode(values).decode()


def _receive(db: sqlite3.Connection, values: Values) -> str | None:
    db.execute("begin immediate")
    row = db.execute(RECEIVE, values).fetchall()
    if row:
        db.execute(POST, {**values, "tenant": row[0][0]})
    db.execute("commit")
    return row[0][1] if row else None


def _receive_many(db: sqlite3.Connection, given: list[Delivery], now: int) -> dict[tuple[bytes, str], str]:
    """The answers of those that were received, by place."""
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
