"""The verbs of commands on PostgreSQL. None changes a run's row, so commands hardly ever block a flush."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from detent.store.audit import AuditRow, unwritten_audit
from detent.store.overview_rows import AskAnswer
from detent.store.rows import Delivery, MessageKind, Receipt
from detent.store.sql.postgres.connection import PoolAccess, Records
from detent.store.sql.verbs import SharedVerbs

DELIVER: Final = """
with hit as (
  update callback
  set state = 'received', message_id = $4, answer = case state when 'active' then 'accepted' else 'early' end
  where run = $1 and step = $2 and (state = 'active' or state = 'pending' and early) and ask is null
    and (until is null or until > coalesce($5, clock_timestamp()))
  returning tenant, answer
),
posted as (
  insert into inbox (tenant, run, kind, step, data, at)
  select tenant, $1, 'callback', $2, $3, clock_timestamp() from hit
)
select answer from hit"""
# Locked rows are skipped. A batch that holds some rows and waits for another could deadlock with a flush that holds
# that row and waits for these.
DELIVER_MANY: Final = """
with locked as (
  select c.run, c.step, c.state, t.data, t.message_id, t.place
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) with ordinality as t(run, step, data, message_id, place)
  join callback c on c.run = t.run and c.step = t.step
  where (c.state = 'active' or c.state = 'pending' and c.early) and c.ask is null
    and (c.until is null or c.until > clock_timestamp())
  for update of c skip locked
),
hit as (
  update callback c
  set state = 'received', message_id = l.message_id,
      answer = case l.state when 'active' then 'accepted' else 'early' end
  from locked l where c.run = l.run and c.step = l.step
  returning c.tenant, c.run, c.step, l.data, l.place, c.answer
),
posted as (
  insert into inbox (tenant, run, kind, step, data, at)
  select tenant, run, 'callback', step, data, clock_timestamp() from hit order by place
)
select place, answer from hit"""
# All callbacks that would end are locked, or none: two answers to different ones would otherwise both be received.
DECIDE: Final = """
with locked as (
  select c.step from callback c
  where c.run = $1 and (c.step = $2 or c.step = any($3::text[])) and c.state in ('pending', 'active')
  for update skip locked
),
hit as (
  update callback c
  set decisions = $4::text, state = case when $5::bool then 'received' else c.state end,
      message_id = case when $5 then $6::text else c.message_id end,
      answer = case when $5 then case c.state when 'active' then 'accepted' else 'early' end else c.answer end
  from locked l
  where c.run = $1 and c.step = $2 and l.step = c.step and (c.state = 'active' or c.state = 'pending' and c.early)
    and (c.until is null or c.until > coalesce($10, clock_timestamp())) and c.decisions is not distinct from $7::text
    and (select count(*) from locked) = (
      select count(*) from callback o
      where o.run = $1 and (o.step = $2 or o.step = any($3::text[])) and o.state in ('pending', 'active')
    )
  returning c.tenant, c.answer
),
closed as (
  update callback c set state = 'expired'
  from hit, locked l where $5 and c.run = $1 and c.step = l.step and c.step = any($3::text[])
),
posted as (
  insert into inbox (tenant, run, kind, step, data, at)
  select tenant, $1, $8::text, $2, $9::text, clock_timestamp() from hit
)
select answer from hit"""
# The lock lasts for this statement: either the flush that ends the run waits for it, or it waits for that flush. So
# every accepted message is found by the flush that ends the run and forwards its mail to a successor.
SEND: Final = """
insert into inbox (tenant, run, kind, data, at)
select tenant, id, $3, $4, clock_timestamp() from run where id = $2 and tenant = $1 and ended_at is null for share
returning id"""
# Locked rows are skipped, as in DELIVER_MANY.
SEND_MANY: Final = """
insert into inbox (tenant, run, kind, data, at)
select tenant, id, $3, $4, clock_timestamp() from run
where id = any($2::uuid[]) and tenant = $1 and ended_at is null for share skip locked
returning run"""


def _note(first: int) -> str:
    """Return the part of a statement that writes a row of the audit if the part `hit` has rows."""
    types = ("uuid", "int", "timestamptz", *("text",) * 10)
    values = ", ".join(f"${first + place}::{type_}" for place, type_ in enumerate(types))
    return (
        f"noted as (insert into audit ({', '.join(AuditRow._fields)}) select {values} from hit limit 1"
        " on conflict (id) do nothing)"
    )


AUDITED_DELIVER: Final = DELIVER.replace("\nselect answer", f",\n{_note(6)}\nselect answer")
AUDITED_DECIDE: Final = DECIDE.replace("\nselect answer", f",\n{_note(11)}\nselect answer")
AUDITED_SEND: Final = f"with hit as ({SEND}), {_note(5)} select id from hit"
AUDITED_SEND_MANY: Final = f"with hit as ({SEND_MANY}), {_note(5)} select run from hit"


class PostgresCommandStore(SharedVerbs):
    """The verbs of commands, on a small pool."""

    def __init__(self, access: PoolAccess) -> None:
        super().__init__(access)
        self._pool = access.pool

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        while True:
            rows = await self._change(DELIVER, AUDITED_DELIVER, run, step, data.decode(), message_id, now)
            if rows:
                return Receipt(rows[0][0]), False
            refusal = await self._refusal(run, step, message_id, now or await self._access.now())
            if refusal:
                return refusal

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        runs, steps, data, message_ids = (list(column) for column in zip(*deliveries, strict=True))
        rows = await self._pool.fetch(DELIVER_MANY, runs, steps, [str(part, "utf-8") for part in data], message_ids)
        answers: list[Receipt | None] = [None] * len(deliveries)
        for position, answer in rows:
            answers[position - 1] = Receipt(answer)
        return answers

    async def decide(self, answer: AskAnswer, *, now: int | None = None) -> Receipt | None:
        rows = await self._change(
            DECIDE,
            AUDITED_DECIDE,
            *(answer.run, answer.step, list(answer.others), answer.decisions, answer.is_final, answer.message_id),
            *(answer.before, str(answer.kind), answer.data.decode(), now),
        )
        if not rows:
            return None
        return Receipt(rows[0][0]) if answer.is_final else Receipt.COUNTED

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        return bool(await self._change(SEND, AUDITED_SEND, tenant, run, str(kind), data.decode()))

    async def send_many(self, tenant: int, runs: Sequence[bytes], kind: MessageKind, data: bytes) -> set[bytes]:
        rows = await self._change(SEND_MANY, AUDITED_SEND_MANY, tenant, list(runs), str(kind), data.decode())
        return {row[0] for row in rows}

    async def _change(self, usual: str, audited: str, *arguments: Any) -> Records:
        """Run a statement that changes rows. If the command is audited, its row is a part of the statement."""
        audit = unwritten_audit()
        if audit is None:
            return await self._pool.fetch(usual, *arguments)
        rows = await self._pool.fetch(audited, *arguments, *audit.row())
        audit.is_written = bool(rows)
        return rows
