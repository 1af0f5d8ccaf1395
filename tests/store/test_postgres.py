"""What only PostgreSQL has: plans, hearts in threads, restarts."""

import asyncio
import json
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.errors import CommitUnknown, StoreBusy
from detent.ids import new_id
from detent.store.heartbeat import STANDSTILL
from detent.store.rows import Flush, MessageKind
from detent.store.sql.postgres.connection import Address, connect
from detent.store.sql.postgres.flush import FLUSH, USUAL, flush_columns, usual_columns
from detent.store.sql.postgres.node import CLAIM, MAIL, OWN_MAIL
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.verbs import WINDOW
from tests.servers.postgres import PostgresServer
from tests.store.make import Node, end, entries, entry, park, start
from tests.store.sessions import eventually, session

pytestmark = pytest.mark.slow

MANY_SLEEP = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, wake_at, started_at)
select gen_random_uuid(), 1, $1, 1, 'running', 'api', '{}', 1, case g % 2 when 0 then 'a' else 'b' end, g % 3,
       now() + interval '1 day' + g * interval '1 ms', now() from generate_series(1, 60000) g"""
MANY_OWNED = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, owner, started_at)
select gen_random_uuid(), 1, $1, 1, 'running', 'api', '{}', 1, 'a', 0, $2, now() from generate_series(1, 20000) g"""


MAILED = 2_000
MANY_ENDED = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at, ended_at)
select gen_random_uuid(), 1, $1, 1, 'completed', 'api', '{}', 1, 'a', 0, now(), now()
from generate_series(1, 50000) g"""
MANY_WAIT = f"""
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at)
select gen_random_uuid(), 1, $1, 1, 'running', 'api', '{{}}', 1, 'a', 0, now() from generate_series(1, {MAILED}) g"""
MAIL_FOR_ALL = """
insert into inbox (tenant, run, kind, step, data, at)
select 1, id, 'callback', 'w', '{}', now() from run where ended_at is null"""


class Moving(SystemClock):
    """A clock whose monotonic time a test can push forward."""

    def __init__(self) -> None:
        super().__init__()
        self.pushed = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.pushed


def scans(plan: dict[str, Any]) -> list[tuple[str, float]]:
    """Every scan of a table in a plan, with the rows it touched."""
    touched = (plan.get("Actual Rows", 0) + plan.get("Rows Removed by Filter", 0)) * plan.get("Actual Loops", 0)
    own = [(plan["Node Type"], touched)] if "Relation Name" in plan else []
    return own + [found for part in plan.get("Plans", []) for found in scans(part)]


async def test_e9_the_cost_of_a_poll_does_not_grow_with_sleeping_or_owned_runs(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node, busy = await Node.register(postgres_store), await Node.register(postgres_store)
    due = start(queue="b")
    await node.flush(starts=[due])
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        await connection.execute(MANY_SLEEP, new_id())
        await connection.execute(MANY_OWNED, new_id(), busy.id)
    looking = await connect(Address.parse(postgres_database).for_lookups())
    try:
        claim = (node.id, 1, 50, None, "[]", 1.0, bytes(16), WINDOW, 1)
        for statement, values in ((CLAIM, claim), (MAIL, (node.id, 50)), (OWN_MAIL, (node.id, 50))):
            text = await looking.fetchval(f"explain (analyze, format json) {statement}", *values)
            found = scans(json.loads(text)[0]["Plan"])
            assert sum(touched for _, touched in found) < 60, found
            assert not [kind for kind, _ in found if kind in ("Seq Scan", "Bitmap Heap Scan")], found
    finally:
        await looking.close()
    assert [run for run, _ in await postgres_store.owned(node.id)] == [due.id]


async def test_a_claim_goes_from_each_message_straight_to_its_run(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        await connection.execute(MANY_ENDED, new_id())
        await connection.execute("vacuum analyze run, inbox")  # what the planner knows is of a quiet time
        await connection.execute(MANY_WAIT, new_id())
        await connection.execute(MAIL_FOR_ALL)
    looking = await connect(Address.parse(postgres_database).for_lookups())
    try:
        plan = await looking.fetchval(
            f"explain (analyze, format json) {CLAIM}", node.id, 1, 50, None, "[]", 1.0, bytes(16), WINDOW, 1
        )
    finally:
        await looking.close()
    found = scans(json.loads(plan)[0]["Plan"])
    assert sum(touched for _, touched in found) < 4 * MAILED, found


MUCH_MAIL = """
insert into inbox (tenant, run, kind, step, data, at)
select 1, id, 'signal', null, '{}', now() from run where ended_at is null and (owner = $1 or queue = 'elsewhere')"""
ELSEWHERE = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at)
select gen_random_uuid(), 1, $1, 1, 'running', 'api', '{}', 1, 'elsewhere', 0, now() from generate_series(1, 20000) g"""


@pytest.mark.parametrize("analyzed", [False, True])
async def test_polls_do_not_read_the_mail_of_runs_that_are_not_for_this_node(
    postgres_store: PostgresStore, postgres_database: str, analyzed: bool
) -> None:
    node, busy = await Node.register(postgres_store), await Node.register(postgres_store)
    mine, free = await node.started(), start(wake_at=None)
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        await connection.execute(MANY_OWNED, new_id(), busy.id)
        await connection.execute(ELSEWHERE, new_id())
        await connection.execute(MUCH_MAIL, busy.id)
        await node.flush(starts=[free])
        for run in (mine, free.id):
            await postgres_store.send(1, run, MessageKind.SIGNAL, b"{}")
        if analyzed:
            await connection.execute("vacuum analyze run, inbox")
    looking = await connect(Address.parse(postgres_database).for_lookups())
    claim = (node.id, 1, 50, ["default"], "[]", 1.0, bytes(16), WINDOW, 1)
    try:
        for statement, values in ((CLAIM, claim), (MAIL, (node.id, 50)), (OWN_MAIL, (node.id, 50))):
            text = await looking.fetchval(f"explain (analyze, format json) {statement}", *values)
            found = scans(json.loads(text)[0]["Plan"])
            assert sum(touched for _, touched in found) < 5 * WINDOW, found
    finally:
        await looking.close()
    assert [mail.run for mail in await postgres_store.mail(node.id, limit=10) if mail.run == mine] == [mine]


async def test_a_flush_and_a_look_at_the_mail_do_not_walk_through_all_that_a_node_owns(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    parked, ended = await node.started(), await node.started()
    await postgres_store.send(1, parked, MessageKind.PAUSE, b"{}")
    async with session(postgres_database) as connection:
        await connection.execute(MANY_OWNED, new_id(), node.id)
    flush = flush_columns(Flush(parks=[park(parked)], ends=[end(ended)]), again=False)
    usual = usual_columns(Flush(ends=[end(ended)]))
    looking = await connect(Address.parse(postgres_database).for_lookups())
    try:
        asked = ((USUAL[False], (node.id, 1, *usual)), (FLUSH[False], (node.id, 1, *flush)), (MAIL, (node.id, 50)))
        for statement, values in asked:
            text = await looking.fetchval(f"explain (analyze, format json) {statement}", *values)
            found = scans(json.loads(text)[0]["Plan"])
            assert sum(touched for _, touched in found) < 60, found
    finally:
        await looking.close()


@pytest.mark.parametrize("analyzed", [False, True])
async def test_the_index_of_open_runs_is_for_lists_and_not_for_flushes(
    postgres_store: PostgresStore, postgres_database: str, analyzed: bool
) -> None:
    """A flush that read it would walk through all open runs, and through those that ended since the last vacuum."""
    node = await Node.register(postgres_store)
    runs = [await node.started() for _ in range(5)]
    async with session(postgres_database) as connection:
        if analyzed:
            await connection.execute("analyze run")
    many = [*runs, *(new_id() for _ in range(300))]
    usual = usual_columns(Flush(ends=[end(run) for run in many]))
    flush = flush_columns(Flush(parks=[park(run) for run in many]), again=False)
    looking = await connect(Address.parse(postgres_database).for_lookups())
    try:
        for statement, values in ((USUAL[False], usual), (FLUSH[False], flush)):
            text = await looking.fetchval(f"explain (format json) {statement}", node.id, 1, *values)
            assert "run_open" not in text
    finally:
        await looking.close()


async def test_a_heart_that_is_not_touched_stops_beating(postgres_database: str) -> None:
    clock = Moving()
    store = await PostgresStore.open(postgres_database, clock)
    node = await Node.register(store, ttl=0.3)
    heartbeat = store.heartbeat(node.id, ttl=0.3, interval=0.02)
    heartbeat.start()
    before = heartbeat.confirmed()

    async def beats() -> bool:
        return heartbeat.confirmed() > before

    await eventually(beats, "the heart does not beat")
    clock.pushed = STANDSTILL + 1

    async def is_overdue() -> bool:
        return await store.overdue() == [node.id]

    await eventually(is_overdue, "the heart beats although nobody touches it")
    heartbeat.touch()

    async def is_alive() -> bool:
        return await store.overdue() == []

    await eventually(is_alive, "the heart does not beat again")
    await heartbeat.stop()
    await store.close()


async def test_a_heart_says_that_its_node_was_taken_over(postgres_store: PostgresStore) -> None:
    node = await Node.register(postgres_store, ttl=-1)
    assert await postgres_store.take_over(node.id)
    heartbeat = postgres_store.heartbeat(node.id, ttl=5, interval=0.02)
    heartbeat.start()

    async def is_lost() -> bool:
        return heartbeat.lost()

    await eventually(is_lost, "nobody told the heart")
    await heartbeat.stop()


@pytest.mark.case("A8")
async def test_a_heart_beats_while_the_engines_loop_is_blocked(postgres_store: PostgresStore) -> None:
    node = await Node.register(postgres_store, ttl=30)
    heartbeat = postgres_store.heartbeat(node.id, ttl=30, interval=0.05)
    heartbeat.start()
    before = heartbeat.confirmed()
    end = SystemClock().monotonic() + 300.0
    while heartbeat.confirmed() <= before + 0.5 and SystemClock().monotonic() < end:
        sum(range(1000))  # a step that keeps the loop for itself
    assert heartbeat.confirmed() > before + 0.5
    assert await postgres_store.overdue() == []
    await heartbeat.stop()


async def test_b1_a_store_outlives_crashes_of_its_server_and_loses_nothing() -> None:
    with PostgresServer() as server:
        store = await PostgresStore.open(server.create_database(), SystemClock(), migrated=True)
        node = await Node.register(store, ttl=60)
        run = await node.started()
        acknowledged = 0
        ended = asyncio.Event()

        async def write() -> int:
            nonlocal acknowledged
            doubts = 0
            while not ended.is_set():
                try:
                    await node.flush(again=True, entries=[entry(run, acknowledged + 1)])
                    acknowledged += 1
                except (CommitUnknown, StoreBusy):
                    doubts += 1
                    await asyncio.sleep(0.01)
            return doubts

        writing = asyncio.create_task(write())
        for _ in range(2):
            seen = acknowledged

            async def goes_on(seen: int = seen) -> bool:
                return acknowledged > seen + 3

            await eventually(goes_on, "nothing is written")
            await asyncio.to_thread(server.restart_immediately)
        ended.set()
        assert await writing > 0
        seqs = [found.seq for found in await store.journal(1, run)]
        assert seqs[:acknowledged] == list(range(1, acknowledged + 1))
        await store.close()


async def test_journals_of_many_runs_are_read_in_one_go(postgres_store: PostgresStore) -> None:
    node = await Node.register(postgres_store)
    runs = [start(owned=True) for _ in range(300)]
    await node.flush(starts=runs, entries=[found for run in runs for found in entries(run.id, 3)])
    journals = await postgres_store.journals([run.id for run in runs])
    assert all(journals[run.id] == entries(run.id, 3) for run in runs)
