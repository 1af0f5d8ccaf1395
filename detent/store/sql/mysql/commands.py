"""The verbs of commands on MariaDB or MySQL. None changes a run's row, so commands hardly ever block a flush."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from detent.store.audit import PendingAudit, unwritten_audit
from detent.store.overview_rows import AskAnswer
from detent.store.rows import Delivery, MessageKind, Receipt
from detent.store.sql.mysql.connection import BEGIN, COMMIT, MysqlAccess, Wire
from detent.store.sql.mysql.flush import NOW, audit_insert, blob, data, listed, number, quote
from detent.store.sql.verbs import SharedVerbs

#: At most this many runs are in the list of one statement.
MOST_RUNS: Final = 500
#: The `from` clause of a row that is inserted if the statement before has changed something.
_IF_CHANGED: Final = "from dual where row_count() > 0"
_OPEN: Final = "(state = 'active' or state = 'pending' and early) and ask is null"
# Assignments run from left to right, so the answer is computed from the old state.
RECEIVE: Final = """
update callback
set answer = if(state = 'active', 'accepted', 'early'), message_id = {message_id}, state = 'received'
where run = {run} and step = {step} and {is_open} and (until is null or until > {now})"""
# `row_count` refers to the previous statement: if nothing was received, nothing is posted.
POST: Final = """
insert into inbox (tenant, run, kind, step, data, at)
select tenant, run, 'callback', step, {data}, {now} from callback
where run = {run} and step = {step} and row_count() > 0"""
ANSWER: Final = "select answer from callback where run = {run} and step = {step} and row_count() > 0"
# Locked rows are skipped. A batch that holds some rows and waits for another could deadlock with a flush that holds
# that row and waits for these.
LOCK_MANY: Final = """
select run, step, tenant, state from callback
where ({places}) and {is_open} and (until is null or until > {now}) for update skip locked"""
# The rows exist and are locked, so none is inserted.
RECEIVE_MANY: Final = """
insert into callback (run, step, tenant, state, early, created_at, message_id, answer) values {rows}
on duplicate key update state = values(state), message_id = values(message_id), answer = values(answer)"""
POST_MANY: Final = "insert into inbox (tenant, run, kind, step, data, at) values {rows}"
# All callbacks that would end are locked, or none: two answers to different ones would otherwise both be received.
LOCK_OPEN: Final = """
select step, tenant, state, early, decisions, until is null or until > {now} from callback
where run = {run} and step in ({steps}) and state in ('pending', 'active') for update skip locked"""
COUNT_OPEN: Final = """
select count(*) from callback where run = {run} and step in ({steps}) and state in ('pending', 'active')"""
DECIDE: Final = """
update callback set decisions = {decisions}{received} where run = {run} and step = {step}"""
CLOSE_OTHERS: Final = """
update callback set state = 'expired'
where run = {run} and step in ({others}) and state in ('pending', 'active')"""
# The lock lasts for this statement: either the flush that ends the run waits for it, or it waits for that flush. So
# every accepted message is found by the flush that ends the run and forwards its mail to a successor.
SEND: Final = """
insert into inbox (tenant, run, kind, data, at)
select tenant, id, {kind}, {data}, {now} from run force index (primary)
where id = {run} and tenant = {tenant:d} and ended_at is null lock in share mode"""
# Locked rows are skipped, as in LOCK_MANY.
LOCK_RUNS: Final = """
select id from run force index (primary)
where id in ({runs}) and tenant = {tenant:d} and ended_at is null for update skip locked"""
SEND_MANY: Final = """
insert into inbox (tenant, run, kind, data, at)
select tenant, id, {kind}, {data}, {now} from run force index (primary)
where id in ({runs}) and tenant = {tenant:d}"""


class MysqlCommandStore(SharedVerbs):
    """The verbs of commands, on a small pool."""

    def __init__(self, access: MysqlAccess) -> None:
        super().__init__(access)
        self._pool = access.pool

    async def deliver(
        self, run: bytes, step: str, *, data: bytes, message_id: str | None, now: int | None = None
    ) -> tuple[Receipt, bool]:
        audit = unwritten_audit()
        statements = _delivery(Delivery(run, step, data, message_id), now, audit)
        while True:
            *_, answer = await self._pool.commit(*statements)
            if answer.rows:
                if audit is not None:
                    audit.is_written = True
                return Receipt(answer.rows[0][0]), False
            refusal = await self._refusal(run, step, message_id, now or await self._access.now())
            if refusal:
                return refusal

    async def deliver_many(self, deliveries: Sequence[Delivery]) -> list[Receipt | None]:
        places = " or ".join(f"run = {blob(one.run)} and step = {quote(one.step)}" for one in deliveries)
        locking = LOCK_MANY.format(places=places, is_open=_OPEN, now=NOW)

        async def work(wire: Wire) -> dict[tuple[bytes, str], Receipt]:
            _, locked = await wire.send_all((BEGIN, locking))
            found = {(run, step): (tenant, state) for run, step, tenant, state in locked.rows}
            received = [(one, *found[one.run, one.step]) for one in deliveries if (one.run, one.step) in found]
            await wire.send_all((*_receipts(received), COMMIT))
            return {(one.run, one.step): _receipt(state) for one, _, state in received}

        async with self._pool.connection() as connection:
            answers = await connection.call(work)
        return [answers.get((one.run, one.step)) for one in deliveries]

    async def decide(self, answer: AskAnswer, *, now: int | None = None) -> Receipt | None:
        audit, run = unwritten_audit(), blob(answer.run)
        steps = listed((answer.step, *answer.others))
        locking = LOCK_OPEN.format(run=run, steps=steps, now=NOW if now is None else number(now))

        async def work(wire: Wire) -> Receipt | None:
            _, locked, counted = await wire.send_all((BEGIN, locking, COUNT_OPEN.format(run=run, steps=steps)))
            rows = {row[0]: row[1:] for row in locked.rows}
            own = rows.get(answer.step)
            is_open = own is not None and (own[1] == "active" or bool(own[2])) and bool(own[4])
            if own is None or not is_open or own[3] != answer.before or len(rows) != int(counted.rows[0][0]):
                await wire.send(COMMIT)
                return None
            statements = _decision(answer, own[0], _receipt(own[1]))
            noted = () if audit is None else (audit_insert(audit.row(), "from dual"),)
            await wire.send_all((*statements, *noted, COMMIT))
            return _receipt(own[1]) if answer.is_final else Receipt.COUNTED

        async with self._pool.connection() as connection:
            receipt = await connection.call(work)
        if audit is not None:
            audit.is_written = receipt is not None
        return receipt

    async def send(self, tenant: int, run: bytes, kind: MessageKind, data: bytes) -> bool:
        sending = SEND.format(kind=quote(str(kind)), data=_text(data), now=NOW, run=blob(run), tenant=tenant)
        audit = unwritten_audit()
        if audit is None:
            [answer] = await self._pool.send(sending)
        else:
            answer, _ = await self._pool.commit(sending, audit_insert(audit.row(), _IF_CHANGED))
            audit.is_written = answer.matched > 0
        return answer.matched > 0

    async def send_many(self, tenant: int, runs: Sequence[bytes], kind: MessageKind, data: bytes) -> set[bytes]:
        locking = [LOCK_RUNS.format(runs=listed(some), tenant=tenant) for some in _in_parts(runs)]
        message = {"kind": quote(str(kind)), "data": _text(data), "now": NOW}

        async def work(wire: Wire) -> set[bytes]:
            _, *locked = await wire.send_all((BEGIN, *locking))
            found = [row[0] for answer in locked for row in answer.rows]
            posts = [SEND_MANY.format(runs=listed(some), tenant=tenant, **message) for some in _in_parts(found)]
            if audit is not None and found:
                posts.append(audit_insert(audit.row(), "from dual"))
            await wire.send_all((*posts, COMMIT))
            return set(found)

        audit = unwritten_audit()
        async with self._pool.connection() as connection:
            sent = await connection.call(work)
        if audit is not None:
            audit.is_written = bool(sent)
        return sent


def _in_parts(runs: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield some runs at a time: MariaDB rewrites a list of 1,000 values as a subquery."""
    for first in range(0, len(runs), MOST_RUNS):
        yield runs[first : first + MOST_RUNS]


_text = data  # `deliver` has an argument named `data`


def _delivery(one: Delivery, now: int | None, audit: PendingAudit | None) -> tuple[str, ...]:
    key = {"run": blob(one.run), "step": quote(one.step)}
    moment = NOW if now is None else number(now)
    receive = RECEIVE.format(message_id=quote(one.message_id), is_open=_OPEN, now=moment, **key)
    post, answer = POST.format(data=_text(one.data), now=NOW, **key), ANSWER.format(**key)
    if audit is None:
        return receive, post, answer
    # The answer is read between two statements that change rows, and `row_count` refers to the last of them.
    hit = "@detent_received > 0"
    noted = audit_insert(audit.row(), f"from dual where {hit}")
    return (
        receive,
        "set @detent_received = row_count()",
        post.replace("row_count() > 0", hit),
        noted,
        answer.replace("row_count() > 0", hit),
    )


def _decision(answer: AskAnswer, tenant: int, receipt: Receipt) -> list[str]:
    """Return the statements that store an answer whose callbacks are locked."""
    run, step = blob(answer.run), quote(answer.step)
    received = ""
    if answer.is_final:
        received = f", answer = {quote(receipt)}, message_id = {quote(answer.message_id)}, state = 'received'"
    statements = [DECIDE.format(decisions=quote(answer.decisions), received=received, run=run, step=step)]
    if answer.is_final and answer.others:
        statements.append(CLOSE_OTHERS.format(run=run, others=listed(answer.others)))
    message = f"({tenant:d},{run},{quote(str(answer.kind))},{step},{_text(answer.data)},{NOW})"
    return [*statements, POST_MANY.format(rows=message)]


def _receipt(state: str) -> Receipt:
    return Receipt.ACCEPTED if state == "active" else Receipt.EARLY


def _receipts(received: Sequence[tuple[Delivery, int, str]]) -> list[str]:
    if not received:
        return []
    callbacks = ",".join(
        f"({blob(one.run)},{quote(one.step)},{tenant:d},'received',1,0,{quote(one.message_id)},{quote(_receipt(state))})"
        for one, tenant, state in received
    )
    messages = ",".join(
        f"({tenant:d},{blob(one.run)},'callback',{quote(one.step)},{_text(one.data)},{NOW})"
        for one, tenant, _ in received
    )
    return [RECEIVE_MANY.format(rows=callbacks), POST_MANY.format(rows=messages)]
