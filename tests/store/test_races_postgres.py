"""Races on a real PostgreSQL. Each test shows the wrong way breaking, and ours holding, in the same interleaving."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from detent.errors import StoreBusy
from detent.ids import new_id
from detent.store.rows import Flush, MessageKind, Receipt
from detent.store.sql.postgres.commands import DELIVER
from detent.store.sql.postgres.connection import Connection
from detent.store.sql.postgres.node import CLAIM
from detent.store.sql.postgres.store import PostgresStore
from tests.store.make import HOUR, NOON, Node, activation, callback, end, entries, entry, park, start
from tests.store.sessions import eventually, session, somebody_waits

pytestmark = pytest.mark.slow

FENCE = "select 1 from node where id = $1 and epoch = $2 for key share"
LATE_ENTRY = """insert into journal (tenant, run, seq, at, kind, attempt, data)
                values (1, $1, $2, clock_timestamp(), 'ended', 1, '{}')"""
LATE_START = """insert into run (id, tenant, workflow, version, status, trigger, input, owner, epoch, queue,
                                 priority, started_at)
                values ($1, 1, $1, 1, 'running', 'api', '{}', $2, 1, 'default', 0, clock_timestamp())"""


@pytest.fixture
async def watcher(postgres_database: str) -> AsyncIterator[Connection]:
    async with session(postgres_database) as connection:
        yield connection


@pytest.fixture
async def other(postgres_database: str) -> AsyncIterator[Connection]:
    async with session(postgres_database) as connection:
        yield connection


async def is_over(connection: Connection, node: bytes) -> bool:
    over: bool = await connection.fetchval("select until < clock_timestamp() from lease where node = $1", node)
    return over


@pytest.mark.case("A6")
async def test_a_clock_in_the_fence_lets_a_zombie_write_after_its_takeover(
    postgres_store: PostgresStore, postgres_database: str, watcher: Connection, other: Connection
) -> None:
    by_clock = """with fence as (select 1 from lease where node = $1 and until > now() for share)
                  insert into journal (tenant, run, seq, at, kind, attempt, data)
                  select 1, $2, 1, now(), 'ended', 1, '{}' from fence returning 1"""
    node, rescuer = await Node.register(postgres_store, ttl=60), await Node.register(postgres_store)
    run = await node.started()
    migration = other.transaction()
    await migration.start()
    await other.execute("lock table journal in access exclusive mode")
    async with session(postgres_database) as zombie:
        wrong = asyncio.create_task(zombie.fetch(by_clock, node.id, run))
        ours = asyncio.create_task(node.flush(entries=[entry(run, 2)]))
        await somebody_waits(watcher, 2)
        await watcher.execute("update lease set until = clock_timestamp() where node = $1", node.id)
        await eventually(lambda: is_over(watcher, node.id), "the lease goes on")
        lease = await watcher.fetchval("select until from lease where node = $1", node.id)
        assert await postgres_store.take_over(node.id)
        assert [claimed.id for claimed in await rescuer.claim()] == [run]
        await watcher.execute("insert into lease values ($1, $2)", node.id, lease)  # a fence by clock lets it lie
        await migration.rollback()
        assert len(await wrong) == 1, "the wrong fence should have let it through"
        assert await ours is False
    assert [found.seq for found in await postgres_store.journal(1, run)] == [1]


async def test_a_takeover_as_one_statement_strands_what_it_waited_for(
    postgres_store: PostgresStore, postgres_database: str, watcher: Connection, other: Connection
) -> None:
    as_one = """with gone as (delete from node using lease where id = $1 and lease.node = id
                              and until < clock_timestamp() returning id),
                 adopted as (update run set owner = $2 from gone where owner = gone.id returning run.id)
                select id from adopted"""
    rescuer = await Node.register(postgres_store)

    async def take_over_during_a_flush(dead: Node, wrong: bool) -> bytes:
        """A flush that starts a run is under way while the node is taken over. Gives the run."""
        run = new_id()
        flush = other.transaction()
        await flush.start()
        await other.fetch(FENCE, dead.id, dead.epoch)
        await other.execute(LATE_START, run, dead.id)
        async with session(postgres_database) as taker:
            taking = asyncio.create_task(
                taker.fetch(as_one, dead.id, rescuer.id) if wrong else postgres_store.take_over(dead.id)
            )
            await somebody_waits(watcher)
            await flush.commit()
            assert await taking == ([] if wrong else True)
        return run

    stranded = await take_over_during_a_flush(await Node.register(postgres_store, ttl=-1), wrong=True)
    row = await postgres_store.run(1, stranded)
    assert row is not None
    assert row.owner != rescuer.id, "the wrong takeover should have missed it"
    saved = await take_over_during_a_flush(await Node.register(postgres_store, ttl=-1), wrong=False)
    assert {run.id for run in await rescuer.claim() if run.adopted} == {stranded, saved}


async def test_raising_the_epoch_without_for_update_passes_by_a_flush_under_way(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    node = await Node.register(postgres_store)
    run = await node.started()
    flush = other.transaction()
    await flush.start()
    await other.fetch(FENCE, node.id, 1)
    raised = await asyncio.wait_for(
        watcher.fetchval("update node set epoch = epoch + 1 where id = $1 returning epoch", node.id), 1
    )
    assert raised == 2, "the wrong way should not have waited"
    await other.execute(LATE_ENTRY, run, 1)
    await flush.commit()
    assert len(await postgres_store.journal(1, run)) == 1, "and a write of epoch 1 came after epoch 2 was given out"

    flush = other.transaction()
    await flush.start()
    await other.fetch(FENCE, node.id, 2)
    raising = asyncio.create_task(postgres_store.raise_epoch(node.id, 2))
    await somebody_waits(watcher)
    await other.execute(LATE_ENTRY, run, 2)
    assert not raising.done()
    await flush.commit()
    assert await raising == 3
    assert len(await postgres_store.journal(1, run)) == 2
    assert await postgres_store.flush(node.id, 2, Flush(entries=[entry(run, 3)])) is None


async def test_a_heartbeat_in_the_row_of_the_fence_waits_behind_a_flush(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    await watcher.execute("create table both_in_one (id uuid primary key, epoch int, until timestamptz)")
    node = await Node.register(postgres_store)
    await watcher.execute("insert into both_in_one values ($1, 1, now())", node.id)
    flush = other.transaction()
    await flush.start()
    await other.fetch("select 1 from both_in_one where id = $1 and until is not null for share", node.id)
    await other.fetch(FENCE, node.id, 1)
    await watcher.execute("set lock_timeout = '200ms'")
    with pytest.raises(asyncpg.LockNotAvailableError):
        await watcher.execute("update both_in_one set until = now() where id = $1", node.id)
    raising = asyncio.create_task(postgres_store.raise_epoch(node.id, 1))
    await somebody_waits(watcher)
    assert await asyncio.wait_for(postgres_store.beat(node.id, ttl=5), 300) is not None
    await flush.rollback()
    assert await raising == 2


async def test_reading_back_after_a_lost_reply_is_a_race_without_a_new_epoch(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    """B2: the client gave up, the server still works on the flush."""
    node = await Node.register(postgres_store)
    run = await node.started()
    lost = other.transaction()
    await lost.start()
    await other.fetch(FENCE, node.id, 1)
    await other.execute(LATE_ENTRY, run, 1)
    assert await postgres_store.journal(1, run) == [], "reading back says that it was not applied"
    raising = asyncio.create_task(postgres_store.raise_epoch(node.id, 1))
    await somebody_waits(watcher)
    await lost.commit()
    assert len(await postgres_store.journal(1, run)) == 1, "and then it was"
    raised = await raising
    assert raised == 2
    node.epoch = raised
    assert await node.flush(again=True, entries=entries(run, 2))
    assert [found.seq for found in await postgres_store.journal(1, run)] == [1, 2]
    assert await postgres_store.flush(node.id, 1, Flush(entries=[entry(run, 3)])) is None


async def test_a_wake_up_flag_on_the_run_is_lost_between_looking_and_parking(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    node = await Node.register(postgres_store)
    run = await node.started()
    await node.flush(callbacks=[callback(run)])
    sending = other.transaction()
    await sending.start()
    assert await other.fetch(DELIVER, run, "w", "{}", None, None)
    woken = await other.fetch("update run set wake_at = now() where id = $1 and owner is null returning id", run)
    assert woken == [], "the wrong sender wakes only runs that are parked already"
    assert await postgres_store.mail(node.id, limit=1) == [], "and the owner sees no mail yet"
    await node.flush(parks=[park(run, 1, await postgres_store.now() + HOUR)])
    await sending.commit()
    due = await watcher.fetch("select id from run where owner is null and wake_at <= clock_timestamp()")
    assert due == [], "so a claim that looks at the flag sleeps for an hour"
    assert [claimed.id for claimed in await node.claim()] == [run]


async def test_a_sender_that_touches_the_run_deadlocks_with_its_end(
    postgres_store: PostgresStore, postgres_database: str, watcher: Connection, other: Connection
) -> None:
    node = await Node.register(postgres_store)
    wrong, ours = await node.started(), await node.started()
    await node.flush(callbacks=[callback(wrong), callback(ours)], activations=[activation(wrong), activation(ours)])
    async with session(postgres_database) as flusher:
        for connection in (other, flusher):
            await connection.execute("set deadlock_timeout = '50ms'")
        flush, sending = flusher.transaction(), other.transaction()
        await flush.start()
        await sending.start()
        await other.execute("update callback set state = 'received' where run = $1", wrong)
        await flusher.execute("update run set status = 'completed' where id = $1", wrong)
        ringing = asyncio.create_task(other.execute("update run set wake_at = now() where id = $1", wrong))
        await somebody_waits(watcher)
        closing = flusher.execute("update callback set state = 'expired' where run = $1", wrong)
        outcomes = await asyncio.gather(closing, ringing, return_exceptions=True)
        assert any(isinstance(outcome, asyncpg.DeadlockDetectedError) for outcome in outcomes)
        await flush.rollback()
        await sending.rollback()
    sending = other.transaction()
    await sending.start()
    assert await other.fetchval(DELIVER, ours, "w", "{}", None, None) == Receipt.ACCEPTED
    ending = asyncio.create_task(node.flush(ends=[end(ours)]))
    await somebody_waits(watcher)
    await sending.commit()
    assert await ending
    assert [row.state for row in await postgres_store.callbacks(1, ours)] == ["received"]


async def test_jsonb_gives_back_other_bytes_than_were_written(
    postgres_store: PostgresStore, watcher: Connection
) -> None:
    written = '{"status":1,"id":2,"a":{"zz":1,"b":2},"n":1e2,"d":1,"d":2}'
    assert await watcher.fetchval("select $1::text::jsonb::text", written) != written
    for refused in ('{"x":1e400000}', '{"x":"\\u0000"}'):
        with pytest.raises(asyncpg.PostgresError):
            await watcher.fetchval("select $1::text::jsonb::text", refused)
    node = await Node.register(postgres_store)
    run = await node.started()
    texts = [written.encode(), b'{"x":1e400000}', b'{"x":"\\u0000"}']
    await node.flush(entries=[entry(run, seq, data=data) for seq, data in enumerate(texts, 1)])
    assert [found.data for found in await postgres_store.journal(1, run)] == texts


async def test_an_unfenced_claim_gives_runs_to_a_node_that_is_gone(
    postgres_store: PostgresStore, watcher: Connection
) -> None:
    node = await Node.register(postgres_store, ttl=-1)
    await node.flush(starts=[start(), start()])
    await postgres_store.take_over(node.id)
    # An array is read once. A plan may read a subquery of `in` once for each row, and it would skip what it has locked.
    unfenced = """update run set owner = $1, epoch = epoch + 1 where id = any(array
                  (select id from run where owner is null limit 1 for update skip locked)) returning id"""
    assert len(await watcher.fetch(unfenced, node.id)) == 1, "the wrong claim takes a run for a dead node"
    assert await postgres_store.claim(node.id, node.epoch, limit=9, queues=None, serves=[], horizon=0) is None
    assert len(await postgres_store.owned(node.id)) == 1


async def test_a_claim_with_an_old_snapshot_does_not_steal_from_a_node_that_registered_since(
    postgres_store: PostgresStore, postgres_database: str, watcher: Connection, other: Connection
) -> None:
    """A10: in that snapshot the run's new owner is not registered yet, so it looks dead."""
    without_generation = CLAIM.replace("on r.id = c.id and r.epoch = c.epoch", "on r.id = c.id")
    assert without_generation != CLAIM

    async def claim_late(statement: str) -> tuple[bytes, int, int]:
        """Claims with a snapshot from before another node registered and claimed. Gives run, claimed, owners."""
        dead, late = await Node.register(postgres_store, ttl=-1), await Node.register(postgres_store)
        run = await dead.started()
        await postgres_store.take_over(dead.id)
        holding = other.transaction()
        await holding.start()
        await other.fetch("select 1 from node where id = $1 for update", late.id)
        async with session(postgres_database) as claimer:
            claiming = asyncio.create_task(claimer.fetch(statement, late.id, 1, 10, None, "[]", 0.0, bytes(16), 500, 0))
            await somebody_waits(watcher)
            quick = await Node.register(postgres_store)
            assert [claimed.id for claimed in await quick.claim()] == [run]
            await holding.commit()
            stolen = [row["id"] for row in await claiming if row["id"] is not None]
        await quick.flush(ends=[end(run, 2)])
        for node in (late, quick):
            await postgres_store.retire(node.id)
        return run, len(stolen), len(await postgres_store.owned(late.id))

    run, stolen, _ = await claim_late(without_generation)
    assert stolen == 1, "the wrong claim steals the run"
    await watcher.execute("delete from run where id = $1", run)
    run, stolen, kept = await claim_late(CLAIM)
    assert (stolen, kept) == (0, 0)


@pytest.mark.case("A10")
async def test_a_rescuer_with_a_stale_list_does_not_remove_a_node_that_beat_since(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    """A10: the heartbeat is under way while the rescuer waits for its row."""
    node = await Node.register(postgres_store, ttl=-1)
    assert await postgres_store.overdue() == [node.id]
    beating = other.transaction()
    await beating.start()
    await other.execute("update lease set until = clock_timestamp() + interval '1 minute' where node = $1", node.id)
    taking = asyncio.create_task(postgres_store.take_over(node.id))
    await somebody_waits(watcher)
    await beating.commit()
    assert await taking is False
    assert await node.flush()
    assert await watcher.fetchval("select count(*) from node where id = any($1::uuid[])", [node.id]) == 1


async def test_mail_of_owned_runs_starves_a_claim_that_limits_before_it_joins(
    postgres_store: PostgresStore, watcher: Connection
) -> None:
    node, busy = await Node.register(postgres_store), await Node.register(postgres_store)
    owned = [await busy.started() for _ in range(5)]
    waiting = start(wake_at=None)
    await node.flush(starts=[waiting])
    for run in [*owned, waiting.id]:
        await postgres_store.send(1, run, MessageKind.CANCEL, b"{}")
    first = """select id from run where owner is null and ended_at is null
               and id in (select run from inbox order by id limit 3)"""
    assert await watcher.fetch(first) == []
    assert [run.id for run in await node.claim(limit=3)] == [waiting.id]


@pytest.mark.case("A3")
async def test_an_insert_and_an_update_of_the_same_run_in_one_statement_lose_the_update(
    postgres_store: PostgresStore, watcher: Connection
) -> None:
    wrong = """with started as (
                 insert into run (id, tenant, workflow, version, status, trigger, input, owner, epoch, queue,
                                  priority, started_at)
                 values ($1, 1, $1, 1, 'running', 'api', '{}', $2, 1, 'default', 0, now())),
               ended as (update run set status = 'completed', owner = null where id = $1 returning id)
               select count(*) from ended"""
    node = await Node.register(postgres_store)
    lost = new_id()
    assert await watcher.fetchval(wrong, lost, node.id) == 0
    assert [run for run, _ in await postgres_store.owned(node.id)] == [lost]
    run = start(owned=True)
    await node.flush(starts=[run], ends=[end(run.id)])
    row = await postgres_store.run(1, run.id)
    assert row is not None
    assert (row.status, row.ended_at) == ("completed", NOON)


async def test_an_outsiders_open_transaction_delays_one_flush_and_nothing_else(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    """B4: the flush gives up by its lock timeout, whole; the heartbeat and other flushes do not notice."""
    node = await Node.register(postgres_store)
    outside = other.transaction()
    await outside.start()
    await other.execute(LATE_START, new_id(), None)
    await other.execute("update run set request_id = 'taken', epoch = 0")
    colliding = start(owned=True, request_id="taken")
    neighbour = start(owned=True)
    flushing = asyncio.create_task(node.flush(starts=[colliding, neighbour]))
    await somebody_waits(watcher)
    assert await asyncio.wait_for(postgres_store.beat(node.id, ttl=5), 300) is not None
    with pytest.raises(StoreBusy):
        await asyncio.wait_for(flushing, 300)
    assert await postgres_store.run(1, neighbour.id) is None, "nothing of it was applied"
    await outside.rollback()
    assert await node.flush(starts=[colliding, neighbour])


async def test_messages_that_race_with_parking_are_all_consumed(postgres_store: PostgresStore) -> None:
    """Three nodes claim, read and park; four senders write. Nothing is lost and nothing is seen twice."""
    nodes = [await Node.register(postgres_store) for _ in range(3)]
    runs = [start(wake_at=None) for _ in range(30)]
    await nodes[0].flush(starts=runs)
    sent = 400
    seen: list[int] = []

    async def send(offset: int) -> None:
        for number in range(offset, sent, 4):
            run = runs[number * 7 % len(runs)]
            assert await postgres_store.send(1, run.id, MessageKind.PAUSE, b"%d" % number)

    async def work(node: Node) -> None:
        while len(seen) < sent:
            held = {run.id: run.generation for run in await node.claim(limit=10)}
            mail = await postgres_store.mail(node.id, limit=100) if held else []
            await node.flush(
                consumed=[found.id for found in mail],
                parks=[park(run, generation, None) for run, generation in held.items()],
            )
            seen.extend(int(found.data) for found in mail)

    async with asyncio.timeout(300):
        await asyncio.gather(*(send(offset) for offset in range(4)), *(work(node) for node in nodes))
    assert sorted(seen) == list(range(sent))


async def test_a_payload_and_a_timeout_at_the_same_moment_have_one_winner(
    postgres_store: PostgresStore, watcher: Connection, other: Connection
) -> None:
    """The expiry waits for the sender's row and then sees what it wrote."""
    node = await Node.register(postgres_store)
    run = await node.started()
    await node.flush(callbacks=[callback(run)], activations=[activation(run)])
    sending = other.transaction()
    await sending.start()
    assert await other.fetchval(DELIVER, run, "w", "{}", "m", None) == Receipt.ACCEPTED
    expiring = asyncio.create_task(node.expire((run, "w")))
    await somebody_waits(watcher)
    await sending.commit()
    assert await expiring == frozenset()
