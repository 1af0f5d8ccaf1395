"""Step logs: rows that go with a flush, are read in their order, and are deleted with their run, on every store."""

from typing import Any

from detent.ids import first_id, new_id
from detent.instant import SECOND
from detent.store.logs.rows import LogKind, LogRow
from detent.store.protocol import Store
from tests.store.make import Node, end, entry, start


def row(run: bytes, **given: Any) -> LogRow:
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "kind": str(LogKind.LINES), "step": "charge", "attempt": 1, "first": 0, "size": 1,
        "data": '[[1,20,"shop","it\'s \\\\ né"]]'.encode(),
    }  # fmt: skip
    return LogRow(run=run, **{**values, **given})


async def test_rows_go_with_a_flush_and_are_read_in_order_by_step_and_attempt(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    first, second, third = row(run), row(run, attempt=2, first=1), row(run, step="mail")
    progress, other = row(run, kind=str(LogKind.PROGRESS)), row(run, tenant=2)
    # With nothing else, with entries, and with a start that is checked: each is another statement on a server.
    assert await node.flush(logs=[first])
    assert await node.flush(logs=[second, progress], entries=[entry(run)])
    assert await node.flush(logs=[third, other], starts=[start(request_id="r1")])
    assert await store.log_rows(1, run, limit=9) == [first, second, third]
    assert await store.log_rows(1, run, limit=1, after=first.id) == [second]
    assert await store.log_rows(1, run, limit=9, step="charge", attempt=2) == [second]
    assert await store.log_rows(1, run, limit=9, kind=LogKind.PROGRESS) == [progress]
    assert await store.log_rows(2, run, limit=9) == [other]


async def test_a_repeated_flush_writes_a_row_once_and_a_later_one_drops_it(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    old, new = row(run), row(run, first=1)
    assert await node.flush(logs=[old])
    assert await node.flush(logs=[old], entries=[entry(run)], again=True)
    assert await node.flush(logs=[new], dropped_logs=[old.id])
    assert await store.log_rows(1, run, limit=9) == [new]


async def test_a_node_that_is_gone_writes_and_drops_no_row(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    kept = row(run)
    assert await node.flush(logs=[kept])
    await store.retire(node.id)
    assert not await node.flush(logs=[row(run)], dropped_logs=[kept.id])
    assert await store.log_rows(1, run, limit=9) == [kept]


async def test_rows_are_deleted_with_their_run_and_before_it_by_their_age(store: Store) -> None:
    node = await Node.register(store)
    run, other = await node.started(), await node.started()
    assert await node.flush(logs=[row(run), row(other), row(other)], ends=[end(run)])
    now = await store.now()
    assert await store.prune(before=now + SECOND, statuses=["completed"], limit=9) == 1
    assert await store.log_rows(1, run, limit=9) == []
    assert len(await store.log_rows(1, other, limit=9)) == 2
    assert await store.prune_logs(before=first_id(now - 3600 * SECOND), limit=9) == 0
    assert await store.prune_logs(before=first_id(now + 3600 * SECOND), limit=1) == 1
    assert await store.prune_logs(before=first_id(now + 3600 * SECOND), limit=9) == 1
    assert await store.log_rows(1, other, limit=9) == []
