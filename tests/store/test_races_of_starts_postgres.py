"""Races on a real PostgreSQL between nodes that start the same, take the same slot, or begin firings of one trigger."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import asyncpg
import pytest

from detent.clock import SystemClock
from detent.ids import new_id
from detent.store.rows import Flush, NewRun, SavedVersion
from detent.store.sql.postgres.connection import Connection
from detent.store.sql.postgres.flush import CHECKED_USUAL, usual_columns
from detent.store.sql.postgres.store import PostgresStore
from detent.store.trigger_rows import FiringState, NewTrigger, OverlapRule, Verdict
from tests.store.make import HOUR, NOON, Node, entries, firing, start, trigger, version
from tests.store.sessions import session, somebody_waits

pytestmark = pytest.mark.slow

MANY = 200
LONG_AGO = NOON - 5000 * HOUR


@pytest.fixture
async def second_store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(postgres_database, SystemClock())
    yield opened
    await opened.close()


def starts(round_: int, order: Sequence[int]) -> list[NewRun]:
    return [start(owned=True, request_id=f"{round_}-{number:03}") for number in order]


def as_given(runs: list[NewRun]) -> list[list[object]]:
    """The arguments of a flush of these starts without putting them in order."""
    columns = usual_columns(Flush(starts=runs), checked=True)
    places = [columns[0].index(run.id) for run in runs]
    return [[column[place] for place in places] if column else column for column in columns]


async def test_request_ids_in_the_order_they_came_deadlock_two_nodes(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    nodes = [await Node.register(postgres_store) for _ in range(2)]
    async with session(postgres_database) as one, session(postgres_database) as two:
        deadlocks = 0
        for round_ in range(40):
            orders = (range(MANY), range(MANY)[::-1])
            sent = [
                connection.fetch(CHECKED_USUAL[False], node.id, 1, *as_given(starts(round_, order)))
                for connection, node, order in zip((one, two), nodes, orders, strict=True)
            ]
            outcomes = await asyncio.gather(*sent, return_exceptions=True)
            deadlocks += any(isinstance(outcome, asyncpg.DeadlockDetectedError) for outcome in outcomes)
            if deadlocks:
                return
    pytest.fail("the wrong order should have made a deadlock")


@pytest.mark.case("B4")
async def test_nodes_that_flush_the_same_request_ids_in_opposite_orders_make_each_run_once(
    postgres_store: PostgresStore, second_store: PostgresStore
) -> None:
    one, two = await Node.register(postgres_store), await Node.register(second_store)
    made: Counter[str] = Counter()
    both = 0
    for round_ in range(40):
        sent = [starts(round_, range(MANY)), starts(round_, range(MANY)[::-1])]
        refused = await asyncio.gather(
            *(
                node.refused(starts=runs, entries=[found for run in runs for found in entries(run.id, 1)])
                for node, runs in zip((one, two), sent, strict=True)
            )
        )
        for runs, without in zip(sent, refused, strict=True):
            made.update(str(run.request_id) for run in runs if run.id not in without)
            both += bool(without)
            kept = set(await postgres_store.journals([run.id for run in runs]))
            assert kept == {run.id for run in runs} - without
    assert both > 0, "the nodes should have met"
    assert len(made) == 40 * MANY
    assert set(made.values()) == {1}


async def test_a_start_waits_for_another_of_its_request_id_and_is_made_if_that_is_not(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node, other = await Node.register(postgres_store), await Node.register(postgres_store)
    async with session(postgres_database) as watcher, session(postgres_database) as held:
        for is_committed in (True, False):
            request_id = f"r-{is_committed}"
            transaction = held.transaction()
            await transaction.start()
            await flush_in(held, other, start(request_id=request_id))
            run = start(owned=True, request_id=request_id)
            flushing = asyncio.create_task(node.refused(starts=[run], entries=entries(run.id, 2)))
            await somebody_waits(watcher)
            await (transaction.commit() if is_committed else transaction.rollback())
            assert bool(await flushing) == is_committed
            assert len(await postgres_store.journal(1, run.id)) == (0 if is_committed else 2)


async def flush_in(connection: Connection, node: Node, run: NewRun) -> None:
    await connection.fetch(CHECKED_USUAL[False], node.id, 1, *usual_columns(Flush(starts=[run]), checked=True))


async def a_trigger(store: PostgresStore, next_at: int | None = None) -> NewTrigger:
    saved = await store.save_workflow(version(new_id().hex()), replace=False)
    assert isinstance(saved, SavedVersion)
    new = trigger(saved.id, next_at=next_at)
    assert await store.add_trigger(new)
    return new


@pytest.mark.case("C8")
async def test_two_nodes_take_the_same_slot_a_thousand_times_and_one_has_it(
    postgres_store: PostgresStore, second_store: PostgresStore
) -> None:
    new = await a_trigger(postgres_store, LONG_AGO)
    winners: Counter[int] = Counter()

    async def take(place: int, store: PostgresStore, slot: int) -> bool:
        won = await store.take_slots(1, new.id, seen=slot, next_at=slot + 1, firings=[firing(new, slot=slot)])
        winners[place] += won
        return won

    for slot in range(LONG_AGO, LONG_AGO + 1000):
        sides = [take(0, postgres_store, slot), take(1, second_store, slot)]
        assert sum(await asyncio.gather(*(sides if slot % 2 else sides[::-1]))) == 1
    assert min(winners[0], winners[1]) > 0, "each of them should have won sometimes"
    rows = await postgres_store.firings(1, trigger=new.id, limit=2000)
    assert sorted(row.slot or 0 for row in rows) == list(range(LONG_AGO, LONG_AGO + 1000))


async def test_looking_for_open_runs_without_the_triggers_lock_lets_two_firings_go(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    look = "select 1 from firing where trigger = $1 and id <> $2 and state = 'starting'"
    go = "update firing set state = 'starting', until = now() + interval '1 minute' where id = $1"
    new = await a_trigger(postgres_store)
    ids = [row.id for row in await postgres_store.add_firings([firing(new), firing(new)])]
    async with session(postgres_database) as one, session(postgres_database) as two:
        transactions = [one.transaction(), two.transaction()]
        for transaction in transactions:
            await transaction.start()
        for connection, id_ in zip((one, two), ids, strict=True):
            assert await connection.fetch(look, new.id, id_) == [], "the wrong way sees nobody at work"
        for connection, id_ in zip((one, two), ids, strict=True):
            await connection.execute(go, id_)
        for transaction in transactions:
            await transaction.commit()
    rows = await postgres_store.firings(1, trigger=new.id, limit=9)
    assert [row.state for row in rows] == ["starting", "starting"]


@pytest.mark.parametrize("overlap", [OverlapRule.SKIP, OverlapRule.CANCEL_PREVIOUS])
async def test_of_two_firings_that_begin_at_once_on_two_nodes_exactly_one_goes(
    postgres_store: PostgresStore, second_store: PostgresStore, overlap: OverlapRule
) -> None:
    new = await a_trigger(postgres_store)
    for round_ in range(100):
        ids = [row.id for row in await postgres_store.add_firings([firing(new), firing(new)])]
        stores = (postgres_store, second_store) if round_ % 2 else (second_store, postgres_store)
        turns = await asyncio.gather(
            *(
                store.begin_firing(1, id_, overlap=overlap, lease=60, most_queued=5)
                for store, id_ in zip(stores, ids, strict=True)
            )
        )
        assert sorted(turn.verdict for turn in turns) == [Verdict.GO, Verdict.WAIT]
        for id_ in ids:
            await postgres_store.end_firing(1, id_, state=FiringState.IGNORED, run=None, message=None)


async def test_a_firing_that_began_while_another_started_its_run_sees_that_run(
    postgres_store: PostgresStore, second_store: PostgresStore
) -> None:
    """The run is there before the firing's end is, so whoever comes next sees one of the two."""
    node = await Node.register(postgres_store)
    for _ in range(30):
        new = await a_trigger(postgres_store)
        first, second = [row.id for row in await postgres_store.add_firings([firing(new), firing(new)])]
        turn = await postgres_store.begin_firing(1, first, overlap=OverlapRule.SKIP, lease=60, most_queued=5)
        assert turn.verdict is Verdict.GO

        async def process(new: NewTrigger = new, first: bytes = first) -> None:
            run = start(owned=True, fired_by=new.id, request_id=first.hex())
            assert await node.refused(starts=[run]) == frozenset()
            await postgres_store.end_firing(1, first, state=FiringState.STARTED, run=run.id, message=None)

        async def wait(second: bytes = second) -> Verdict:
            while True:
                turn = await second_store.begin_firing(1, second, overlap=OverlapRule.SKIP, lease=60, most_queued=5)
                if turn.verdict is not Verdict.WAIT:
                    return turn.verdict

        said, _ = await asyncio.gather(wait(), process())
        assert said is Verdict.SKIPPED


async def test_firings_that_two_nodes_add_in_opposite_orders_are_added_once(
    postgres_store: PostgresStore, second_store: PostgresStore
) -> None:
    triggers = [await a_trigger(postgres_store) for _ in range(5)]
    for round_ in range(20):
        sent = [firing(new, dedup=f"{round_}-{number}") for new in triggers for number in range(5)]
        again = [new._replace(id=new_id()) for new in reversed(sent)]
        one, two = await asyncio.gather(postgres_store.add_firings(sent), second_store.add_firings(again))
        assert [row.id for row in one] == [row.id for row in reversed(two)]


async def test_a_workflow_that_is_deleted_while_a_trigger_is_added_keeps_none(
    postgres_store: PostgresStore, second_store: PostgresStore
) -> None:
    for _ in range(50):
        saved = await postgres_store.save_workflow(version(new_id().hex()), replace=False)
        assert isinstance(saved, SavedVersion)
        await asyncio.gather(postgres_store.add_trigger(trigger(saved.id)), second_store.delete_workflow(1, saved.id))
        assert await postgres_store.triggers(1, limit=9, workflow=saved.id) == []
