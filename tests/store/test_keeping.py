"""Keeping a database in order: retention, chores, what doctor says."""

from detent.clock import SystemClock
from detent.instant import SECOND
from detent.store.protocol import Store
from detent.store.rows import MessageKind
from tests.store.make import HOUR, NOON, Node, callback, end, entries, start


async def test_prune_deletes_old_runs_of_those_statuses_with_all_that_belongs_to_them(store: Store) -> None:
    node = await Node.register(store)
    old, young, failed, going = [start(owned=True) for _ in range(4)]
    everything = [old, young, failed, going]
    await node.flush(
        starts=everything, entries=[found for run in everything for found in entries(run.id, 3)],
        callbacks=[callback(run.id) for run in everything],
    )  # fmt: skip
    await node.flush(
        ends=[
            end(old.id, ended_at=NOON - HOUR), end(young.id, ended_at=NOON),
            end(failed.id, status="failed", ended_at=NOON - HOUR),
        ]
    )  # fmt: skip
    assert await store.prune(before=NOON, statuses=["completed", "cancelled"], limit=100) == 1
    assert {row.id for row in await store.runs(1, limit=10)} == {young.id, failed.id, going.id}
    assert await store.journal(1, old.id) == []
    assert await store.callbacks(1, old.id) == []
    assert len(await store.journal(1, going.id)) == 3
    assert await store.prune(before=NOON + 1, statuses=["completed", "failed", "running"], limit=100) == 2
    assert [row.id for row in await store.runs(1, limit=10)] == [going.id]


async def test_prune_goes_in_batches_until_nothing_is_left(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(25)]
    await node.flush(starts=runs, ends=[end(run.id) for run in runs])
    counts = [await store.prune(before=NOON + 1, statuses=["completed"], limit=10) for _ in range(4)]
    assert counts == [10, 10, 5, 0]


async def test_tidy_leaves_the_mail_of_open_runs(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await store.send(1, run, MessageKind.CANCEL, b"{}")
    await store.tidy()
    await store.tidy()
    assert len(await store.mail(node.id, limit=10)) == 1


async def test_compact_does_no_harm(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(entries=entries(run, 5))
    assert await store.compact() >= 0
    assert await store.journal(1, run) == entries(run, 5)
    assert await node.flush(ends=[end(run)])


async def test_the_time_is_the_databases_and_never_goes_back(store: Store) -> None:
    times = [await store.now() for _ in range(5)]
    assert times == sorted(times)
    assert abs(times[0] - SystemClock().wall()) < 60 * SECOND


async def test_doctor_finds_no_error_in_a_healthy_store(store: Store) -> None:
    findings = await store.examine()
    assert findings
    assert {finding.level for finding in findings} <= {"ok", "warning"}
    assert all(finding.subject and finding.message for finding in findings)
