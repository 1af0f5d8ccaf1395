"""The audit: its verbs, and rows that exist exactly if the change of their command was committed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from detent.errors import StoreError
from detent.ids import new_id
from detent.store.audit import (
    AuditCriteria,
    AuditOutcome,
    AuditRow,
    PendingAudit,
    auditing,
    note_audit,
    unwritten_audit,
)
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.store.rows import MessageKind, Receipt
from tests.store.make import HOUR, NOON, Node, callback, start, version


def row(**given: Any) -> AuditRow:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "at": NOON, "actor": "key ci", "via": "key", "action": "cancel_run", "kind": "run",
        "object": "run_1", "outcome": "done", "reason": None, "address": "10.0.0.7", "correlation": "c-1",
        "detail": '{"count":2}',
    }  # fmt: skip
    return AuditRow(**{**values, **given})


async def test_rows_are_listed_newest_first_by_tenant_and_filter(store: Store) -> None:
    rows = [
        row(),
        row(actor="O'Neil \\ 'x'", action="save_rule", kind="rule", object="r1", at=NOON + HOUR),
        row(outcome="refused", reason="ü", object=None, address=None, correlation=None, detail=None),
        row(tenant=2),
    ]
    await store.add_audits([*rows, rows[0]])
    await store.add_audits(rows[:1])
    mine = [rows[2], rows[1], rows[0]]
    assert await store.audits(1, limit=10) == mine
    assert await store.audits(None, limit=10) == [rows[3], *mine]
    assert await store.audits(1, limit=2) == mine[:2]
    assert await store.audits(1, limit=2, cursor=mine[1].id) == mine[2:]
    for where, found in (
        (AuditCriteria(actor="O'Neil \\ 'x'"), [rows[1]]),
        (AuditCriteria(action="cancel_run", outcome="done"), [rows[0]]),
        (AuditCriteria(kind="rule", object="r1"), [rows[1]]),
        (AuditCriteria(after=NOON + 1), [rows[1]]),
        (AuditCriteria(before=NOON + 1), [rows[2], rows[0]]),
        (AuditCriteria(object="run_2"), []),
    ):
        assert await store.audits(1, limit=10, where=where) == found


async def test_a_row_is_finished_whether_it_exists_or_not(store: Store) -> None:
    made, other = row(), row()
    await store.add_audits([made])
    late = {"object": "run_9", "outcome": "failed", "reason": "not_found", "detail": None}
    await store.finish_audit(made._replace(**late, actor="nobody"))  # type: ignore[arg-type]
    await store.finish_audit(other)
    assert {found.id: found for found in await store.audits(1, limit=10)}.keys() == {made.id, other.id}
    [first] = [found for found in await store.audits(1, limit=10) if found.id == made.id]
    assert (first.object, first.outcome, first.reason, first.detail) == ("run_9", "failed", "not_found", None)


async def test_old_rows_are_pruned_oldest_first(store: Store) -> None:
    rows = [row(at=NOON + number) for number in range(5)]
    await store.add_audits(rows)
    assert await store.prune_audits(NOON + 4, limit=3) == 3
    assert [one.at - NOON for one in await store.audits(1, limit=9)] == [4, 3]
    assert await store.prune_audits(NOON + 4, limit=3) == 1
    assert await store.prune_audits(NOON + 4, limit=3) == 0


@pytest.mark.parametrize("many", [False, True])
async def test_a_message_and_its_row_are_written_together(store: Store, many: bool) -> None:
    node = await Node.register(store)
    run, other = start(), start()
    await node.refused(starts=[run, other])

    async def send(target: bytes) -> bool:
        if many:
            return bool(await store.send_many(1, [target], MessageKind.CANCEL, b"{}"))
        return await store.send(1, target, MessageKind.CANCEL, b"{}")

    nothing = PendingAudit(row())
    with auditing(nothing):
        assert not await send(new_id())
    assert not nothing.is_written
    assert await store.audits(1, limit=10) == []
    if isinstance(store, MemoryStore):
        return  # it writes the row at the end of the command: nothing can come between
    pending = PendingAudit(row())
    with auditing(pending):
        note_audit(why="test")
        assert await send(run.id)
        assert pending.is_written
        assert await send(other.id)
    assert await store.audits(1, limit=10) == [pending.row(AuditOutcome.DONE)]
    assert pending.row().detail == '{"why":"test"}'
    assert await send(run.id), "without an audit"
    assert len(await store.audits(1, limit=10)) == 1


async def test_an_answer_and_its_row_are_written_together(store: Store) -> None:
    if isinstance(store, MemoryStore):
        return  # it writes the row at the end of the command: nothing can come between
    node = await Node.register(store)
    run = start()
    await node.refused(starts=[run], callbacks=[callback(run.id)])
    pending = PendingAudit(row())
    with auditing(pending):
        receipt, _ = await store.deliver(run.id, "w", data=b"{}", message_id=None)
    assert receipt is Receipt.EARLY
    assert await store.audits(1, limit=10) == [pending.row()]
    late = PendingAudit(row())
    with auditing(late):
        receipt, _ = await store.deliver(run.id, "w", data=b"{}", message_id=None)
    assert receipt is not Receipt.EARLY
    assert not late.is_written
    assert len(await store.audits(1, limit=10)) == 1


async def test_a_start_and_its_row_are_written_together_and_a_refused_start_has_none(store: Store) -> None:
    node = await Node.register(store)
    made, first, late = row(), start(request_id="once"), start(request_id="once")
    assert await node.refused(starts=[first], audits=[(first.id, made)]) == frozenset()
    assert await store.audits(1, limit=10) == [made]
    plain, other = start(), row()
    refused = await node.refused(starts=[late, plain], audits=[(late.id, row()), (plain.id, other), (plain.id, made)])
    assert refused == {late.id}
    assert await store.audits(1, limit=10) == [other, made]


async def test_a_save_and_its_row_are_written_together_and_a_read_writes_none(store: Store) -> None:
    if isinstance(store, MemoryStore):
        return  # it writes the row at the end of the command: nothing can come between
    pending = PendingAudit(row())
    with auditing(pending):
        assert await store.run(1, new_id()) is None
        assert unwritten_audit() is pending
        await store.save_workflow(version(), replace=True)
    assert pending.is_written
    assert await store.audits(1, limit=10) == [pending.row()]


@pytest.mark.parametrize("how", ["send", "send_many", "deliver", "start", "save"])
async def test_a_row_that_cannot_be_written_takes_its_change_with_it(store: Store, how: str) -> None:
    if isinstance(store, MemoryStore):
        return
    node = await Node.register(store)
    run, other = start(), start()
    await node.refused(starts=[run], callbacks=[callback(run.id)])
    broken = PendingAudit(row(actor=None))
    changes: dict[str, Callable[[], Awaitable[object]]] = {
        "send": lambda: store.send(1, run.id, MessageKind.CANCEL, b"{}"),
        "send_many": lambda: store.send_many(1, [run.id], MessageKind.CANCEL, b"{}"),
        "deliver": lambda: store.deliver(run.id, "w", data=b"{}", message_id=None),
        "start": lambda: node.refused(starts=[other], audits=[(other.id, broken.row())]),
        "save": lambda: store.save_workflow(version(), replace=True),
    }
    with pytest.raises(StoreError), auditing(broken):
        await changes[how]()
    assert not broken.is_written
    assert await store.audits(1, limit=10) == []
    assert await store.run(1, other.id) is None
    assert await store.workflows(1, limit=10) == []
    await node.claim()
    assert await store.mail(node.id, limit=10) == []
