"""Overviews over all runs: waits, received requests, entries without data, queues and bytes, on every store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.ids import new_id
from detent.store.protocol import Store
from detent.store.rows import NO_ID, SavedVersion
from detent.store.sql import overview_statements as statements
from detent.store.sql.compiler import compiled
from detent.store.sql.postgres.connection import Address, connect
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.sqlite.connection import DIALECT as SQLITE
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.make import (
    HOUR,
    NOON,
    Node,
    activation,
    callback,
    end,
    entries,
    entry,
    firing,
    start,
    trigger,
    version,
)
from tests.store.sessions import session
from tests.store.test_plans import touched


async def waiting(node: Node, until: int | None, step: str = "w", **given: object) -> bytes:
    """A run with an active wait."""
    run = start(owned=True, **given)
    assert await node.flush(
        starts=[run], callbacks=[callback(run.id, step)], activations=[activation(run.id, step, until)]
    )
    return run.id


async def test_waits_come_with_the_nearest_deadline_first_and_those_without_one_last(store: Store) -> None:
    node = await Node.register(store)
    late, never, soon, same = [
        await waiting(node, until) for until in (NOON + 2 * HOUR, None, NOON + HOUR, NOON + 2 * HOUR)
    ]
    other = await waiting(node, None, "v")
    closed = await waiting(node, NOON)
    await store.deliver(closed, "w", data=b"{}", message_id=None, now=NOON - 1)
    pending = start(owned=True)
    await node.flush(starts=[pending], callbacks=[callback(pending.id)])
    rows = await store.active_waits(1, limit=10)
    assert [row.run for row in rows] == [soon, late, same, never, other]
    assert [row.until for row in rows] == [NOON + HOUR, NOON + 2 * HOUR, NOON + 2 * HOUR, None, None]
    assert await store.active_waits(2, limit=10) == []
    for size in (1, 2, 3):
        seen: list[bytes] = []
        after = None
        while page := await store.active_waits(1, limit=size, after=after):
            seen += [row.run for row in page]
            after = page[-1].place()
        assert seen == [soon, late, same, never, other]
    assert [await store.count_waits(1, limit=limit) for limit in (3, 10)] == [3, 5]
    found = await store.deadlines(1, [never, soon, closed, pending.id])
    assert found == {(never, "w"): None, (soon, "w"): NOON + HOUR}
    assert (await store.deadlines(2, [soon]), await store.deadlines(1, [])) == ({}, {})


async def test_waits_are_narrowed_by_workflow_and_hero(store: Store) -> None:
    node, workflow = await Node.register(store), new_id()
    mine = await waiting(node, NOON, workflow=workflow, hero_type="order", hero_id="1")
    await waiting(node, NOON)
    for narrow in ({"workflow": workflow}, {"hero": ("order", "1")}, {"workflow": workflow, "hero": ("order", "1")}):
        assert [row.run for row in await store.active_waits(1, limit=5, **narrow)] == [mine]
    assert await store.active_waits(1, limit=5, hero=("order", "2")) == []


async def test_firings_of_all_triggers_are_listed_with_their_names_and_a_filter_says_how_far_it_looked(
    store: Store,
) -> None:
    saved = await store.save_workflow(version(), replace=True)
    assert isinstance(saved, SavedVersion)
    one, two = trigger(saved.id, name="daily"), trigger(saved.id, kind="webhook")
    await store.add_trigger(one)
    await store.add_trigger(two)
    ids = []
    for number in range(6):
        new = firing(one if number % 3 else two, state="refused" if number == 0 else "due", request=b"{}")
        await store.add_firings([new])
        ids.append(new.id)
    whole = await store.received(1, limit=10, window=100)
    assert [row.firing.id for row in whole.rows] == ids[::-1]
    assert whole.end is None
    assert [(row.workflow_name, row.trigger_name) for row in whole.rows[:3]] == [
        ("orders", "daily"), ("orders", "daily"), ("orders", None)
    ]  # fmt: skip
    first = await store.received(1, limit=2, window=100)
    assert first.end == ids[4]
    rest = await store.received(1, limit=10, window=100, before=first.end)
    assert [row.firing.id for row in rest.rows] == ids[3::-1]
    rare = await store.received(1, limit=2, window=3, state="refused")
    assert (rare.rows, rare.end) == ([], ids[3])
    found = await store.received(1, limit=2, window=3, state="refused", before=rare.end)
    assert [row.firing.id for row in found.rows] == [ids[0]]
    assert [row.firing.id for row in (await store.received(1, limit=9, window=9, kind="webhook")).rows] == [
        ids[3], ids[0]
    ]  # fmt: skip
    assert (await store.received(2, limit=9, window=9)).rows == []
    assert await store.newest_firings(1, limit=2, window=100) == [(ids[5], "due"), (ids[4], "due")]
    assert await store.newest_firings(1, limit=9, window=100, trigger=two.id) == [(ids[3], "due"), (ids[0], "refused")]
    assert await store.newest_firings(1, limit=9, window=100, kind="webhook", state="refused") == [(ids[0], "refused")]
    assert await store.newest_firings(1, limit=9, window=5, state="refused") == [], "the window ends before it"
    assert await store.newest_firings(1, limit=9, window=2, trigger=two.id, state="refused") == [(ids[0], "refused")]
    assert await store.newest_firings(2, limit=9, window=9) == []
    await store.drop_trigger(1, one.id)
    await store.delete_workflow(1, saved.id)
    assert len((await store.received(1, limit=10, window=100)).rows) == 6


async def test_entries_are_read_without_their_data(store: Store) -> None:
    node = await Node.register(store)
    runs = sorted([await node.started(), await node.started()])
    await node.flush(entries=[*entries(runs[1], 2), entry(runs[0], 1), entry(runs[0], 2, step=None, kind="paused")])
    marks = await store.entry_marks(1, [*runs, new_id()], limit=10)
    assert [(mark.run, mark.step, mark.outcome, mark.attempt) for mark in marks] == [
        (runs[0], "s1", "success", 1),
        (runs[1], "s1", "success", 1),
        (runs[1], "s1", "success", 1),
    ]
    assert marks[0].at == NOON + 1
    assert len(await store.entry_marks(1, runs, limit=2)) == 2
    assert await store.entry_marks(1, [], limit=2) == []


async def test_queues_and_nodes_are_counted(store: Store) -> None:
    node = await Node.register(store)
    await node.started(queue="a")
    await node.started(queue="b")
    now = await store.now()
    waits = [
        start(queue="a", wake_at=now - HOUR, status="running"),
        start(queue="a", wake_at=now - 2 * HOUR, priority=-5),
        start(queue="a", wake_at=now + HOUR),
        start(queue="a", wake_at=None),
        start(queue="c", wake_at=now + HOUR),
    ]
    await node.flush(starts=waits)
    assert await store.owned_counts() == {node.id: 2}
    assert await store.owned_queues(limit=10) == {"a": 1, "b": 1}
    assert [tuple(row) for row in await store.queues(now=now, limit=100)] == [
        ("a", 2, 2, now - 2 * HOUR), ("c", 0, 1, None)
    ]  # fmt: skip
    assert (await store.queues(now=now, limit=1))[0][:3] == ("a", 1, 1)


async def test_bytes_are_measured_in_slices_by_workflow(store: Store) -> None:
    node, workflows = await Node.register(store), [new_id(), new_id()]
    runs = [await node.started(workflow=workflows[number % 2]) for number in range(5)]
    await node.flush(entries=entries(runs[0], 3), ends=[end(runs[0])])
    total: dict[bytes, list[int]] = {}
    after, rounds = None, 0
    while True:
        found = await store.stored_bytes(1, after=after, limit=2)
        rounds += 1
        for row in found.found:
            sums = total.setdefault(row.workflow, [0, 0, 0])
            total[row.workflow] = [
                have + more for have, more in zip(sums, (row.runs, row.journal_rows, row.bytes), strict=True)
            ]
        if found.end is None:
            break
        after = found.end
    assert rounds == 3
    body, output, data = len('{"body":{}}'), len('{"o":1}'), len('{"result":1}')
    assert total == {workflows[0]: [3, 3, 3 * body + output + 3 * data], workflows[1]: [2, 0, 2 * body]}
    size = await store.database_bytes()
    assert size is None or size > 0


@pytest.mark.parametrize(
    ("clause", "index"),
    [
        (statements.waits(timed=True, after=True, workflow=False, hero=False), "callback_active"),
        (statements.waits(timed=False, after=True, workflow=False, hero=False), "callback_active"),
        (statements.COUNT_WAITS, "callback_active"),
        (statements.received(before=True, kind=False, state=True), "firing_tenant"),
        (statements.end_of_window(before=True), "firing_tenant"),
        (statements.NEXT_QUEUE, "run_due"),
        (statements.LANE, "run_due"),
        (statements.OWNED_COUNTS, "run_owner"),
        (statements.JOURNAL_BYTES, "run_tenant"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_overview_uses_its_index_and_sorts_nothing(tmp_path: Path, clause: object, index: str) -> None:
    path = tmp_path / "plan.db"
    await SqliteStore(path, SystemClock()).close()
    statement = compiled(clause, SQLITE)
    values = dict.fromkeys(statement.names, 1)
    with sqlite3.connect(path) as file:
        plan = [row[3] for row in file.execute(f"explain query plan {statement.text}", statement.arguments(values))]
    assert any(index in line for line in plan), plan
    assert not any(line.startswith("SCAN run") and "USING" not in line for line in plan), plan
    is_whole = "until is null" in statement.text.lower() or "window" in statement.names
    if index in ("callback_active", "firing_tenant") and not is_whole:
        assert not any("FOR ORDER BY" in line and "LAST" not in line for line in plan), plan


MANY_WAITS = """
insert into callback (run, step, tenant, state, early, until, created_at)
select gen_random_uuid(), 'w', 1, case g % 1000 when 0 then 'active' else 'received' end, true,
       now() + g * interval '1 s', now() from generate_series(1, 20000) g"""
MANY_FIRINGS = """
insert into firing (id, tenant, trigger, workflow, kind, state, due_at, at)
select gen_random_uuid(), 1, $1, $1, 'webhook', 'started', now(), now() from generate_series(1, 20000) g"""
MANY_SLEEPERS = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at, wake_at)
select gen_random_uuid(), 1, $1, 1, 'running', 'api', '{}', 1, case g % 2 when 0 then 'a' else 'b' end, 0, now(),
       now() + g * interval '1 h' from generate_series(1, 20000) g"""


@pytest.mark.slow
async def test_on_postgresql_an_overview_looks_at_few_rows_beside_many(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    id_ = new_id()
    async with session(postgres_database) as connection:
        await connection.execute(MANY_WAITS)
        await connection.execute(MANY_FIRINGS, id_)
        await connection.execute(MANY_SLEEPERS, id_)
        await connection.execute("analyze")
    now = await postgres_store.now()
    place = {"until": now, "run": NO_ID, "step": "", "queue": "", "priority": -1, "now": now, "limit": 10}
    values = {
        "tenant": 1,
        "before": b"\xff" * 16,
        "window": 500,
        "skipped": 499,
        "state": "refused",
        "ids": [new_id()],
        **place,
    }
    connection = await connect(Address.parse(postgres_database).for_lookups())
    try:
        for clause, most in (
            (statements.waits(timed=True, after=True, workflow=False, hero=False), 30),
            (statements.waits(timed=False, after=False, workflow=False, hero=False), 30),
            (statements.COUNT_WAITS, 30),
            (statements.received(before=True, kind=False, state=False), 60),
            (statements.received(before=True, kind=False, state=True), 1_100),
            (statements.end_of_window(before=True), 600),
            (statements.NEXT_QUEUE, 10),
            (statements.FIRINGS, 10),
        ):
            rows, _ = await touched(connection, clause, values)
            assert rows <= most, (rows, str(clause))
        rows, _ = await touched(connection, statements.LANE, {**values, "queue": "a", "priority": 0})
        assert rows <= 60
    finally:
        await connection.close()
    assert [row.queue for row in await postgres_store.queues(now=now, limit=100)] == ["a", "b"]
