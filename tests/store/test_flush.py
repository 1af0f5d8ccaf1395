"""Flushes: everything or nothing, once."""

from typing import Any

import pytest

from detent.errors import StoreError
from detent.ids import new_id
from detent.run.journal import Entry
from detent.store.protocol import Store
from detent.store.rows import Flush, MessageKind, RunCriteria, RunRow
from tests.store.make import HOUR, NOON, Node, activation, callback, end, entries, entry, message, park, start

AWKWARD = [
    b'{"a":"\\u0000","b":"\\ud83d\\ude00"}',
    '{"text":"ein Stück 🧭 Text, عربي, \\"quoted\\" and \\\\ back"}'.encode(),
    b'{"z":1,"a":2,"z":3,"n":1e400000,"f":1.0,"i":10000000000000000000000}',
    b'  { "spaces" : [ 1 , 2 ] }\n',
    b'{"big":"' + b"x" * 262_144 + b'"}',
    b"null",
    b'"just text"',
    b"[" * 500 + b"]" * 500,
]


async def row_of(store: Store, run: bytes) -> RunRow:
    row = await store.run(1, run)
    assert row is not None
    return row


async def test_a_start_comes_back_as_it_was_given(store: Store) -> None:
    node = await Node.register(store)
    given = start(
        owned=True, opening=b'{"skipped":["x"]}', wake_at=NOON + 7, expires_at=NOON + HOUR, queue="slow", priority=-3,
        code='["pay","ship"]', request_id="r-1", request_hash=b"\x00\xff" * 16, hero_type="order", hero_id="42",
        labels='{"team":"blue"}', origin=new_id(), parent=new_id(), status="pending", trigger="webhook",
        origin_kind="retry", fired_by=new_id(),
    )  # fmt: skip
    assert await node.flush(starts=[given])
    row = await row_of(store, given.id)
    for name in set(given._fields) - {"owned", "check", "successor_of"}:
        assert getattr(row, name) == getattr(given, name), name
    assert (row.owner, row.generation, row.ended_at, row.output, row.error) == (node.id, 1, None, None, None)


async def test_a_start_that_is_not_kept_has_no_owner_and_generation_zero(store: Store) -> None:
    node = await Node.register(store)
    run = start()
    await node.flush(starts=[run])
    row = await row_of(store, run.id)
    assert (row.owner, row.generation) == (None, 0)


async def test_entries_come_back_in_order_and_byte_for_byte(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    written = [entry(run, seq, data=data) for seq, data in enumerate(AWKWARD, 1)]
    written.append(Entry(1, run, len(AWKWARD) + 1, NOON, "adopted", None, 0, None, b"{}"))
    assert await node.flush(entries=written[::-1])
    assert await store.journal(1, run) == written
    assert await store.journals([run, new_id()]) == {run: written}


async def test_a_journal_is_read_from_a_place_and_up_to_a_limit(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(entries=entries(run, 6))
    assert [found.seq for found in await store.journal(1, run, after=2, limit=3)] == [3, 4, 5]


async def test_input_and_output_come_back_byte_for_byte(store: Store) -> None:
    node = await Node.register(store)
    for payload in AWKWARD:
        run = await node.started(input=payload, opening=payload)
        await node.flush(ends=[end(run, output=payload, error='{"message":"Größe ∞"}')])
        row = await row_of(store, run)
        assert (row.input, row.opening, row.output) == (payload, payload, payload)
        assert row.error == '{"message":"Größe ∞"}'


@pytest.mark.case("A3")
async def test_a_second_entry_in_the_same_place_is_an_error_and_nothing_of_its_flush_is_written(store: Store) -> None:
    node = await Node.register(store)
    run, other = await node.started(), await node.started()
    await node.flush(entries=entries(run, 2))
    with pytest.raises(StoreError):
        await node.flush(entries=[entry(other), entry(run, 2, data=b'{"other":1}')], ends=[end(other)])
    assert await store.journal(1, other) == []
    assert (await row_of(store, other)).status == "running"
    assert await store.journal(1, run) == entries(run, 2)
    assert await node.flush(entries=[entry(other)])


async def test_a_second_start_of_the_same_run_is_an_error(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    await node.flush(starts=[run])
    with pytest.raises(StoreError):
        await node.flush(starts=[run, start()])
    assert len(await store.runs(1, limit=10)) == 1


async def test_a_flush_that_is_sent_again_leaves_what_is_there(store: Store) -> None:
    node = await Node.register(store)
    run, target = start(owned=True), await node.started()
    parts: dict[str, Any] = {
        "starts": [run],
        "entries": entries(run.id, 3),
        "callbacks": [callback(run.id)],
        "activations": [activation(run.id)],
        "messages": [message(target, run.id, 2)],
    }
    assert await node.flush(**parts)
    raised = await store.raise_epoch(node.id, node.epoch)
    assert raised is not None
    node.epoch = raised
    assert await node.flush(again=True, **parts)
    assert await store.journal(1, run.id) == entries(run.id, 3)
    assert len(await store.mail(node.id, limit=10)) == 1
    assert len(await store.callbacks(1, run.id)) == 1
    assert sorted(await store.owned(node.id)) == sorted([(target, 1), (run.id, 1)])


async def test_a_flush_that_is_sent_again_writes_what_is_missing(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(entries=entries(run, 2))
    assert await node.flush(again=True, entries=[entry(run, 2, data=b'{"late":1}'), entry(run, 3)], ends=[end(run)])
    assert await store.journal(1, run) == entries(run, 3)
    assert (await row_of(store, run)).status == "completed"


async def test_a_message_that_was_consumed_is_not_delivered_by_a_flush_sent_again(store: Store) -> None:
    node = await Node.register(store)
    source, target = await node.started(), await node.started()
    parts: dict[str, Any] = {"entries": entries(source, 1), "messages": [message(target, source, 1)]}
    await node.flush(**parts)
    [mail] = await store.mail(node.id, limit=10)
    await node.flush(consumed=[mail.id])
    assert await node.flush(again=True, **parts)
    assert await store.mail(node.id, limit=10) == []


async def test_a_parked_run_has_no_owner_and_keeps_its_generation(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(parks=[park(run, 1, NOON + HOUR, "paused")])
    row = await row_of(store, run)
    assert (row.owner, row.generation, row.wake_at, row.status) == (None, 1, NOON + HOUR, "paused")


async def test_a_run_parks_in_another_queue_with_another_priority_or_stays_where_it_was(store: Store) -> None:
    node = await Node.register(store)
    moved, kept, fresh = await node.started(), await node.started(), start(owned=True)
    was = await row_of(store, kept)
    in_mail = [park(run, 1, 0)._replace(queue="mail") for run in (moved, fresh.id)]
    parks = [in_mail[0]._replace(priority=7), in_mail[1], park(kept, 1, 0)]
    await node.flush(starts=[fresh], parks=parks)
    rows = [await row_of(store, run) for run in (moved, kept, fresh.id)]
    assert [(row.queue, row.priority) for row in rows] == [
        ("mail", 7),
        (was.queue, was.priority),
        ("mail", was.priority),
    ]
    found = await store.claim(node.id, node.epoch, limit=10, queues=("mail",), serves=(), horizon=0)
    assert found is not None
    assert {run.id for run in found.runs} == {moved, fresh.id}


async def test_a_parked_run_that_was_moved_has_its_new_version_and_needs_its_code(store: Store) -> None:
    node = await Node.register(store)
    moved, kept, fresh = await node.started(), await node.started(), start(owned=True)
    was = await row_of(store, kept)
    parks = [park(run, 1, 0)._replace(version=7, code='["detent/2","pay"]') for run in (moved, fresh.id)]
    await node.flush(starts=[fresh], parks=[*parks, park(kept, 1, 0)])
    rows = [await row_of(store, run) for run in (moved, fresh.id, kept)]
    expected = [(7, '["detent/2","pay"]')] * 2
    assert [(row.version, row.code) for row in rows] == [*expected, (was.version, was.code)]
    found = await store.claim(node.id, node.epoch, limit=10, queues=None, serves=("pay",), horizon=0)
    assert found is not None
    assert [run.id for run in found.runs] == [kept]
    found = await store.claim(node.id, node.epoch, limit=10, queues=None, serves=("detent/2", "pay"), horizon=0)
    assert found is not None
    assert {(run.id, run.version) for run in found.runs} == {(moved, 7), (fresh.id, 7)}


async def test_a_run_that_was_moved_may_stay_with_its_node(store: Store) -> None:
    node = await Node.register(store)
    moved, left = await node.started(), await node.started()
    kept = park(moved, 1, None)._replace(version=7, code='["detent/2"]', kept=True)
    await node.flush(parks=[kept, park(left, 1, None)])
    rows = [await row_of(store, run) for run in (moved, left)]
    assert [(row.owner, row.version, row.generation) for row in rows] == [(node.id, 7, 1), (None, 1, 1)]
    assert await node.flush(ends=[end(moved, 1)])
    assert (await row_of(store, moved)).status == "completed"


async def test_a_park_or_an_end_of_an_old_generation_does_nothing(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(parks=[park(run, 1, 0)])
    await node.claim()
    assert await node.flush(parks=[park(run, 1, NOON, "paused")])
    assert await node.flush(ends=[end(run, 1)])
    row = await row_of(store, run)
    assert (row.owner, row.generation, row.status, row.ended_at) == (node.id, 2, "running", None)


async def test_a_park_or_an_end_by_another_node_does_nothing(store: Store) -> None:
    owner, other = await Node.register(store), await Node.register(store)
    run = await owner.started()
    await other.flush(parks=[park(run)], ends=[end(run)])
    row = await row_of(store, run)
    assert (row.owner, row.status) == (owner.id, "running")


async def test_an_ended_run_never_reopens(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(ends=[end(run, ended_at=NOON + 5, error="first")])
    await node.flush(ends=[end(run, status="failed", ended_at=NOON + 9, error="second")])
    await node.flush(parks=[park(run)])
    row = await row_of(store, run)
    assert (row.status, row.ended_at, row.error, row.owner) == ("completed", NOON + 5, "first", None)
    assert await node.claim() == []


async def test_a_run_that_starts_and_ends_within_one_flush_is_ended(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True)
    await node.flush(
        starts=[run], entries=entries(run.id, 2), callbacks=[callback(run.id)], activations=[activation(run.id)],
        ends=[end(run.id, output=b'{"done":true}')],
    )  # fmt: skip
    row = await row_of(store, run.id)
    assert (row.status, row.owner, row.generation, row.output) == ("completed", None, 1, b'{"done":true}')
    assert (row.wake_at, row.ended_at) == (None, NOON)
    assert [(found.step, found.state) for found in await store.callbacks(1, run.id)] == [("w", "expired")]
    assert await store.owned(node.id) == []


async def test_a_run_that_starts_and_parks_within_one_flush_is_parked(store: Store) -> None:
    node = await Node.register(store)
    run, sleeper = start(owned=True), start(owned=True)
    await node.flush(starts=[run, sleeper], parks=[park(run.id, 1, NOON + 3), park(sleeper.id, 1, None)])
    row, other = await row_of(store, run.id), await row_of(store, sleeper.id)
    assert (row.owner, row.generation, row.wake_at) == (None, 1, NOON + 3)
    assert (other.owner, other.wake_at) == (None, None)


async def test_an_end_drops_the_runs_mail_and_nobody_elses(store: Store) -> None:
    node = await Node.register(store)
    ended, other = await node.started(), await node.started()
    for run in (ended, other):
        assert await store.send(1, run, MessageKind.CANCEL, b"{}")
    await node.flush(ends=[end(ended)])
    assert [mail.run for mail in await store.mail(node.id, limit=10)] == [other]


async def test_an_end_of_an_old_generation_keeps_mail_and_callbacks(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    await node.flush(callbacks=[callback(run)])
    await store.send(1, run, MessageKind.CANCEL, b"{}")
    await node.flush(ends=[end(run, 7)])
    assert len(await store.mail(node.id, limit=10)) == 1
    assert [found.state for found in await store.callbacks(1, run)] == ["pending"]


async def test_a_message_arrives_once_and_consuming_removes_it(store: Store) -> None:
    node = await Node.register(store)
    source, target = await node.started(), await node.started()
    await node.flush(messages=[message(target, source, 1, kind="signal", step="w", data=b'{"\\u0000":1}')])
    await node.flush(messages=[message(target, source, 1, data=b'{"twice":1}')])
    [mail] = await store.mail(node.id, limit=10)
    assert (mail.run, mail.generation, mail.kind, mail.step) == (target, 1, "signal", "w")
    assert mail.data == b'{"\\u0000":1}'
    await node.flush(consumed=[mail.id])
    assert await store.mail(node.id, limit=10) == []


async def test_two_thousand_entries_are_one_flush(store: Store) -> None:
    node = await Node.register(store)
    runs = [start(owned=True) for _ in range(20)]
    await node.flush(starts=runs)
    assert await node.flush(entries=[found for run in runs for found in entries(run.id, 100)])
    journals = await store.journals([run.id for run in runs])
    assert {run: [found.seq for found in journal] for run, journal in journals.items()} == {
        run.id: list(range(1, 101)) for run in runs
    }


async def test_a_thousand_starts_and_ends_are_one_flush(store: Store) -> None:
    node = await Node.register(store)
    old = [start(owned=True) for _ in range(500)]
    await node.flush(starts=old)
    new = [start(owned=True) for _ in range(500)]
    await node.flush(starts=new, ends=[end(run.id) for run in [*old, *new[:250]]])
    assert len(await store.runs(1, limit=2000, where=RunCriteria(statuses=("completed",)))) == 750
    assert len(await store.owned(node.id)) == 250


async def test_a_reply_carries_a_time_the_database_has_reached(store: Store) -> None:
    node = await Node.register(store)
    before = await store.now()
    flushed = await store.flush(node.id, node.epoch, Flush())
    claims = await store.claim(node.id, node.epoch, limit=1, queues=None, serves=[], horizon=0)
    assert flushed is not None
    assert claims is not None
    assert before <= flushed.now <= claims.now <= await store.now()
