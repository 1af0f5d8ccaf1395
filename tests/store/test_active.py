"""One open run per active key, and what else a store knows about heroes."""

import sqlite3
from typing import Any

import pytest

from detent.run.journal import Kind
from detent.store.memory.store import MemoryStore
from detent.store.protocol import Store
from detent.store.rows import Flush, MessageKind, RunCriteria
from detent.store.sql.mysql.flush import literal
from tests.store.make import HOUR, NOON, Node, activation, callback, end, entries, entry, message, park, start
from tests.store.sessions import session
from tests.store.wires import wire

KEY = '["Signup","User","42"]'


async def test_an_active_key_is_held_by_one_open_run_within_a_tenant(store: Store) -> None:
    node = await Node.register(store)
    first, late = start(active_key=KEY), start(active_key=KEY)
    others = [start(active_key=KEY, tenant=2), start(active_key=KEY.lower()), start(active_key=KEY + " "), start()]
    assert await node.refused(starts=[first]) == frozenset()
    assert await node.refused(starts=[*others[:2], late, *others[2:]]) == {late.id}
    assert await store.run(1, late.id) is None
    assert [(await store.run(run.tenant, run.id) is not None) for run in [first, *others]] == [True] * 5
    assert await store.active_run(1, KEY) == first.id
    assert await store.active_run(2, KEY) == others[0].id
    assert await store.active_run(3, KEY) is None
    row = await store.run(1, first.id)
    assert row is not None
    assert row.active_key == KEY


async def test_of_two_starts_with_one_active_key_in_a_flush_the_first_is_made(store: Store) -> None:
    node = await Node.register(store)
    late, early = sorted([start(active_key=KEY), start(active_key=KEY)], reverse=True)  # whatever their ids say
    assert await node.refused(starts=[late, start(), early]) == {early.id}
    assert await store.active_run(1, KEY) == late.id


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "timeout"])
async def test_an_active_key_is_free_when_its_run_has_ended(store: Store, status: str) -> None:
    node = await Node.register(store)
    first, second, third = (start(active_key=KEY, owned=True) for _ in range(3))
    await node.refused(starts=[first])
    assert await node.refused(starts=[second]) == {second.id}
    await node.flush(ends=[end(first.id, status=status)])
    assert await store.active_run(1, KEY) is None
    assert await node.refused(starts=[third]) == frozenset()
    assert await store.active_run(1, KEY) == third.id


@pytest.mark.parametrize("status", ["running", "paused"])
async def test_a_parked_run_keeps_its_active_key_through_claims(store: Store, status: str) -> None:
    node = await Node.register(store)
    first, late = start(active_key=KEY, owned=True), start(active_key=KEY)
    await node.refused(starts=[first], parks=[park(first.id, wake_at=NOON - HOUR, status=status)])
    assert await node.refused(starts=[late]) == {late.id}
    [claimed] = await node.claim()
    assert claimed.id == first.id
    assert await node.refused(starts=[late]) == {late.id}
    assert await store.active_run(1, KEY) == first.id


async def test_a_run_that_starts_and_ends_within_one_flush_needs_its_key_too_and_leaves_it_free(store: Store) -> None:
    node = await Node.register(store)
    first, second, third, fourth = (start(active_key=KEY, owned=True) for _ in range(4))
    assert await node.refused(starts=[first], ends=[end(first.id)]) == frozenset()
    assert await store.active_run(1, KEY) is None
    assert await node.refused(starts=[second]) == frozenset()
    assert await node.refused(starts=[third], ends=[end(third.id)]) == {third.id}
    await node.flush(ends=[end(second.id)])
    assert await node.refused(starts=[fourth], ends=[end(fourth.id)]) == frozenset()


async def test_either_of_request_id_and_active_key_refuses_a_start(store: Store) -> None:
    node = await Node.register(store)
    await node.flush(starts=[start(active_key=KEY, request_id="r")])
    runs = [
        start(active_key=KEY, request_id="new"),
        start(active_key="[]", request_id="r"),
        start(active_key=KEY, request_id="r"),
        start(active_key="[]", request_id="other"),
    ]
    assert await node.refused(starts=runs) == {run.id for run in runs[:3]}
    free = start(active_key="[1]", request_id="new")
    assert await node.refused(starts=[free]) == frozenset(), "a refused start keeps nothing taken"


async def test_nothing_of_a_start_whose_key_is_taken_is_written_and_all_of_its_neighbours(store: Store) -> None:
    node = await Node.register(store)
    target = await node.started()
    await node.flush(starts=[start(active_key="taken")])
    good, bad = start(owned=True, active_key="free"), start(owned=True, active_key="taken")
    both = _joined(_whole(bad.id, target), _whole(good.id, target), [bad, good])
    flushed = await store.flush(node.id, node.epoch, Flush(**both))
    assert flushed is not None
    assert (set(flushed.refused), set(flushed.expired)) == ({bad.id}, {(good.id, "v")})
    assert await store.run(1, bad.id) is None
    assert await store.journal(1, bad.id) == []
    assert await store.callbacks(1, bad.id) == []
    assert [found.seq for found in await store.journal(1, good.id)] == [1, 2, 3]
    assert {row.step for row in await store.callbacks(1, good.id)} == {"v", "w"}
    assert [mail.run for mail in await store.mail(node.id, limit=9)] == [target]
    row = await store.run(1, good.id)
    assert row is not None
    assert (row.status, row.active_key) == ("completed", "free")


def _whole(run: bytes, target: bytes) -> dict[str, list[Any]]:
    return {
        "entries": [entry(run, 1, kind=Kind.REUSED), *entries(run, 3)[1:]],
        "callbacks": [callback(run), callback(run, "v")],
        "activations": [activation(run, until=NOON + HOUR)],
        "ends": [end(run)],
        "expiries": [(run, "v")],
        "messages": [message(target, run, 2)],
    }


def _joined(one: dict[str, list[Any]], other: dict[str, list[Any]], starts: list[Any]) -> dict[str, list[Any]]:
    return {"starts": starts, **{name: [*one[name], *other[name]] for name in one}}


@pytest.mark.parametrize("owned", [True, False])
async def test_a_start_with_an_active_key_sent_again_counts_as_made_by_its_first_sending(
    store: Store, owned: bool
) -> None:
    node = await Node.register(store)
    run, late = start(owned=owned, active_key=KEY), start(owned=owned, active_key=KEY)
    parts: dict[str, Any] = {
        "starts": [run, late],
        "entries": [*entries(run.id, 2), *entries(late.id, 2)],
        "callbacks": [callback(run.id)],
    }
    assert await node.refused(**parts) == {late.id}
    raised = await store.raise_epoch(node.id, node.epoch)
    assert raised is not None
    node.epoch = raised
    assert await node.refused(again=True, **parts) == {late.id}
    assert await store.active_run(1, KEY) == run.id
    assert [found.seq for found in await store.journal(1, run.id)] == [1, 2]
    assert await store.journal(1, late.id) == []
    assert await store.run(1, late.id) is None


async def test_a_keyed_start_whose_first_sending_never_arrived_is_made_by_the_second(store: Store) -> None:
    node = await Node.register(store)
    run = start(owned=True, active_key=KEY)
    assert await node.refused(again=True, starts=[run], entries=entries(run.id, 2)) == frozenset()
    assert await store.active_run(1, KEY) == run.id


async def test_five_hundred_keys_of_a_thousand_are_taken(store: Store) -> None:
    node = await Node.register(store)
    await node.flush(starts=[start(active_key=f"k{number}") for number in range(0, 1000, 2)])
    runs = [start(owned=True, active_key=f"k{number}") for number in range(1000)]
    refused = await node.refused(starts=runs, entries=[found for run in runs for found in entries(run.id, 2)])
    assert refused == {run.id for run in runs[::2]}
    assert set(await store.journals([run.id for run in runs])) == {run.id for run in runs[1::2]}


async def test_a_claim_tells_the_hero_of_a_run(store: Store) -> None:
    node = await Node.register(store)
    with_hero, without = start(hero_type="User", hero_id="42"), start()
    await node.flush(starts=[with_hero, without])
    claimed = {run.id: (run.hero_type, run.hero_id) for run in await node.claim()}
    assert claimed == {with_hero.id: ("User", "42"), without.id: (None, None)}


async def test_a_callback_is_made_for_a_run_that_started_before(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    parts: dict[str, Any] = {
        "entries": [entry(run, 1)],
        "callbacks": [callback(run, "approval", early=False)],
        "activations": [activation(run, "approval", until=NOON + HOUR)],
    }
    await node.flush(**parts)
    [row] = await store.callbacks(1, run)
    assert (row.step, row.state, row.until) == ("approval", "active", NOON + HOUR)
    await store.deliver(run, "approval", data=b"{}", message_id="m", now=NOON)
    raised = await store.raise_epoch(node.id, node.epoch)
    assert raised is not None
    node.epoch = raised
    await node.flush(again=True, **parts)
    [row] = await store.callbacks(1, run)
    assert row.state == "received", "what was there already is left as it is"


@pytest.mark.parametrize("kind", ["skip", "reattempt", "finish", "signal", "child"])
async def test_messages_of_every_kind_reach_an_open_run(store: Store, kind: str) -> None:
    node = await Node.register(store)
    run = await node.started()
    assert await store.send(1, run, MessageKind(kind), b'{"by":"me"}')
    assert [(mail.kind, mail.data) for mail in await store.mail(node.id, limit=9)] == [(kind, b'{"by":"me"}')]


async def test_runs_are_found_by_whether_a_node_has_them(store: Store) -> None:
    node = await Node.register(store)
    held = await node.started()
    free = start()
    await node.flush(starts=[free])
    done = await node.started()
    await node.flush(ends=[end(done)])

    async def found(**where: Any) -> set[bytes]:
        rows = await store.runs(1, limit=9, where=RunCriteria(**where))
        assert await store.count_runs(1, where=RunCriteria(**where), limit=9) == len(rows)
        return {row.id for row in rows}

    assert await found(owned=True) == {held}
    assert await found(owned=False) == {free.id, done}
    assert await found(owned=False, statuses=("running",)) == {free.id}
    assert await found(statuses=("running", "completed")) == {held, free.id, done}


async def test_what_a_transaction_of_the_user_kept_is_found_by_step_and_goes_with_its_run(
    store: Store, store_url: str
) -> None:
    node = await Node.register(store)
    runs = [start(owned=True), start(owned=True)]
    await node.flush(starts=runs)
    for run in runs:
        await keep(store, store_url, run.id, "charge", '{"paid":"\\u0000é"}')
        await keep(store, store_url, run.id, "charge#2", "2")
    assert await store.kept(1, runs[0].id) == {"charge": '{"paid":"\\u0000é"}'.encode(), "charge#2": b"2"}
    await node.flush(ends=[end(runs[0].id)])
    assert await store.prune(before=NOON + 1, statuses=["completed"], limit=9) == 1
    assert await store.kept(1, runs[0].id) == {}
    assert len(await store.kept(1, runs[1].id)) == 2


async def keep(store: Store, url: str, run: bytes, step: str, result: str) -> None:
    """Write the result of a step as the user's own transaction does."""
    values = (run, step, 1, result, NOON)
    if isinstance(store, MemoryStore):
        store.results[run, step] = result.encode()
    elif url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as db:
            db.execute("insert into kept (run, step, tenant, result, at) values (?, ?, ?, ?, ?)", values)
        db.close()
    elif url.startswith("mysql"):
        async with wire(url) as connection:
            await connection.send(
                f"insert into kept (run, step, tenant, result, at) values ({', '.join(map(literal, values))})"
            )
    else:
        async with session(url) as connection:
            await connection.execute(
                "insert into kept (run, step, tenant, result, at) values ($1, $2, $3, $4, $5)", *values
            )
