"""Races on a real MariaDB. Each test shows the wrong way breaking, and ours holding, in the same interleaving."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from detent.clock import SystemClock
from detent.errors import StoreBusy, StoreLocked
from detent.ids import new_id
from detent.store.rows import Delivery, Flush, MessageKind, Receipt
from detent.store.sql.mysql.connection import StatementRefused, Wire
from detent.store.sql.mysql.flush import NOW, blob, fence
from detent.store.sql.mysql.node import MysqlNodes
from detent.store.sql.mysql.store import MysqlStore
from tests.store.make import HOUR, Node, activation, callback, end, entries, entry, park, start
from tests.store.sessions import eventually
from tests.store.wires import somebody_waits, value, wire

pytestmark = pytest.mark.slow


@pytest.fixture
async def watcher(mariadb_database: str) -> AsyncIterator[Wire]:
    async with wire(mariadb_database) as connection:
        yield connection


@pytest.fixture
async def other(mariadb_database: str) -> AsyncIterator[Wire]:
    async with wire(mariadb_database) as connection:
        yield connection


def late_entry(run: bytes, seq: int) -> str:
    values = f"1, {blob(run)}, {seq}, 0, 'ended', 1, '{{}}'"
    return f"insert into journal (tenant, run, seq, at, kind, attempt, data) values ({values})"


def late_start(run: bytes, owner: bytes) -> str:
    return f"""insert into run (id, tenant, workflow, version, status, "trigger", input, owner, epoch, queue, priority,
                                started_at)
               values ({blob(run)}, 1, {blob(run)}, 1, 'running', 'api', '{{}}', {blob(owner)}, 1, 'default', 0, 0)"""


@pytest.mark.case("A6")
async def test_a_clock_in_the_fence_lets_a_zombie_write_after_its_takeover(
    mariadb_store: MysqlStore, mariadb_database: str, watcher: Wire, other: Wire
) -> None:
    node, rescuer = await Node.register(mariadb_store, ttl=60), await Node.register(mariadb_store)
    run = await node.started()
    by_clock = f"""insert into journal (tenant, run, seq, at, kind, attempt, data)
                   select 1, {blob(run)}, 1, 0, 'ended', 1, '{{}}' from lease
                   where node = {blob(node.id)} and until > {NOW} lock in share mode"""

    async def is_over() -> bool:
        return bool(await value(watcher, f"select until < {NOW} from lease where node = {blob(node.id)}"))

    # Somebody holds the lease's row: what the wrong fence reads of the clock is old when it gets it.
    await other.send(f"start transaction; select 1 from lease where node = {blob(node.id)} for update")
    async with wire(mariadb_database) as zombie:
        wrong = asyncio.create_task(zombie.send(by_clock))
        await somebody_waits(watcher)
        await other.send(f"update lease set until = {NOW} where node = {blob(node.id)}; commit")
        await eventually(is_over, "the lease goes on")
        assert (await wrong)[0].matched == 1, "the wrong fence should have let it through"
    assert await mariadb_store.take_over(node.id)
    assert [claimed.id for claimed in await rescuer.claim()] == [run]
    assert await node.flush(entries=[entry(run, 2)]) is False
    assert [found.seq for found in await mariadb_store.journal(1, run)] == [1]


async def test_a_takeover_waits_for_a_flush_under_way_and_takes_what_it_started(
    mariadb_store: MysqlStore, watcher: Wire, other: Wire
) -> None:
    dead, rescuer, run = await Node.register(mariadb_store, ttl=-1), await Node.register(mariadb_store), new_id()
    await other.send_all(("start transaction", fence(dead.id, dead.epoch), late_start(run, dead.id)))
    taking = asyncio.create_task(mariadb_store.take_over(dead.id))
    await somebody_waits(watcher)
    assert not taking.done()
    await other.send("commit")
    assert await taking
    assert [(claimed.id, claimed.adopted) for claimed in await rescuer.claim()] == [(run, True)]
    assert await dead.flush(entries=[entry(run)]) is False


async def test_a_flush_that_waited_for_a_takeover_writes_nothing(
    mariadb_store: MysqlStore, watcher: Wire, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    run = await node.started()
    await other.send(f"start transaction; delete from node where id = {blob(node.id)}")
    late = asyncio.create_task(node.flush(starts=[start(owned=True)], entries=entries(run, 3)))
    await somebody_waits(watcher)
    await other.send("commit")
    assert await late is False
    assert await mariadb_store.journal(1, run) == []
    assert len(await mariadb_store.runs(1, limit=9)) == 1


async def test_b2_an_epoch_is_raised_only_after_a_flush_of_the_old_one(
    mariadb_store: MysqlStore, watcher: Wire, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    run = await node.started()
    await other.send_all(("start transaction", fence(node.id, 1), late_entry(run, 1)))
    assert await mariadb_store.journal(1, run) == [], "reading back says that it was not applied"
    raising = asyncio.create_task(mariadb_store.raise_epoch(node.id, 1))
    await somebody_waits(watcher)
    assert not raising.done()
    await other.send("commit")
    assert await raising == 2
    node.epoch = 2
    assert await node.flush(again=True, entries=entries(run, 2))
    assert [found.seq for found in await mariadb_store.journal(1, run)] == [1, 2]
    assert await mariadb_store.flush(node.id, 1, Flush(entries=[entry(run, 3)])) is None


async def test_a_heartbeat_does_not_wait_for_a_flush(mariadb_store: MysqlStore, other: Wire) -> None:
    node = await Node.register(mariadb_store)
    await other.send_all(("start transaction", fence(node.id, 1)))
    assert await asyncio.wait_for(mariadb_store.beat(node.id, ttl=5), 300) is not None
    await other.send("rollback")


@pytest.mark.case("B4")
async def test_b4_a_lock_timeout_leaves_half_a_flush_unless_everything_is_rolled_back(
    mariadb_store: MysqlStore, mariadb_database: str, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    run, held = await node.started(), await node.started()
    await other.send(f"start transaction; select 1 from run where id = {blob(held)} for update")
    async with wire(mariadb_database) as wrong:
        await wrong.send("set session innodb_lock_wait_timeout = 1")
        with pytest.raises(StatementRefused, match="1205"):
            await wrong.send_all(
                ("start transaction", late_entry(run, 1), f"update run set epoch = 7 where id = {blob(held)}")
            )
        await wrong.send("commit")
    assert len(await mariadb_store.journal(1, run)) == 1, "the wrong way should have left its first half"

    with pytest.raises(StoreBusy, match="1205"):
        await node.flush(entries=[entry(run, 2)], ends=[end(held)])
    await node.flush(entries=[entry(run, 3)])  # on the same connection: what it began is not there any more
    assert [found.seq for found in await mariadb_store.journal(1, run)] == [1, 3]
    await other.send("rollback")


@pytest.mark.case("B4")
async def test_b4_the_victim_of_a_deadlock_has_written_nothing_and_may_try_again(
    mariadb_store: MysqlStore, watcher: Wire, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    runs = sorted([await node.started() for _ in range(2)])
    await node.flush(callbacks=[callback(run) for run in runs], activations=[activation(run) for run in runs])
    await other.send_all(
        (
            "start transaction",
            f"update callback set message_id = 'x' where run = {blob(runs[1])}",
            *(late_entry(new_id(), seq) for seq in range(1, 40)),  # the server ends the one that has written less
        )
    )
    flush = Flush(expiries=[(runs[0], "w"), (runs[1], "w")])
    flushing = asyncio.create_task(mariadb_store.flush(node.id, node.epoch, flush))
    await somebody_waits(watcher)
    await other.send(f"update callback set message_id = 'x' where run = {blob(runs[0])}")
    with pytest.raises(StoreBusy, match="1213"):
        await flushing
    await other.send("rollback")
    assert [row.state for run in runs for row in await mariadb_store.callbacks(1, run)] == ["active", "active"]
    assert await mariadb_store.flush(node.id, node.epoch, flush) is not None


@pytest.mark.case("B17")
async def test_b17_reading_then_writing_loses_an_update_and_a_generation_does_not(
    mariadb_store: MysqlStore, mariadb_database: str, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    run = await node.started()
    async with wire(mariadb_database) as one:
        for connection in (one, other):
            await connection.send("set session transaction isolation level repeatable read; start transaction")
        seen = [await value(connection, f"select epoch from run where id = {blob(run)}") for connection in (one, other)]
        for connection, epoch in zip((one, other), seen, strict=True):
            await connection.send(f"update run set epoch = {int(str(epoch)) + 1} where id = {blob(run)}; commit")
        assert await value(one, f"select epoch from run where id = {blob(run)}") == 2, "one of two increments is lost"
    assert await node.flush(parks=[park(run, 1)])
    row = await mariadb_store.run(1, run)
    assert row is not None
    assert row.owner == node.id, "a park of an old generation touches nothing"


@pytest.mark.case("A5")
async def test_a5_two_nodes_that_claim_at_once_share_the_runs(mariadb_store: MysqlStore, mariadb_database: str) -> None:
    starter = await Node.register(mariadb_store)
    runs = [new_id() for _ in range(200)]
    await starter.flush(starts=[start(id=run) for run in runs])
    stores = [MysqlStore(mariadb_database, SystemClock()) for _ in range(4)]
    nodes = [await Node.register(store) for store in stores]
    taken: list[bytes] = []
    while len(taken) < len(runs):
        found = await asyncio.gather(*(node.claim(limit=20) for node in nodes))
        taken += [run.id for batch in found for run in batch]
    assert sorted(taken) == sorted(runs), "each run was taken once"
    for store in stores:
        await store.close()


async def test_a_claim_passes_over_what_another_one_holds(mariadb_store: MysqlStore, other: Wire) -> None:
    node = await Node.register(mariadb_store)
    held, free = start(), start()
    await node.flush(starts=[held, free])
    await other.send(f"start transaction; select 1 from run where id = {blob(held.id)} for update")
    assert [run.id for run in await asyncio.wait_for(node.claim(), 300)] == [free.id]
    await other.send("rollback")
    assert [run.id for run in await node.claim()] == [held.id]


async def test_a_run_that_was_claimed_after_it_was_found_is_left_alone(
    mariadb_store: MysqlStore, mariadb_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking and taking, another node claims it and parks it again: the generation tells."""
    node, quicker = await Node.register(mariadb_store), await Node.register(mariadb_store)
    run = start()
    await node.flush(starts=[run])
    rival = MysqlStore(mariadb_database, SystemClock())
    quicker.store = rival
    take = MysqlNodes._take  # noqa: SLF001

    async def after_the_other(self: MysqlNodes, *arguments: object) -> object:
        monkeypatch.setattr(MysqlNodes, "_take", take)
        assert [claimed.id for claimed in await quicker.claim()] == [run.id]
        await quicker.flush(parks=[park(run.id, 1, await rival.now() + HOUR)])
        return await take(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(MysqlNodes, "_take", after_the_other)
    assert await node.claim() == []
    await rival.close()


async def test_a_batch_of_callbacks_waits_for_nobody(mariadb_store: MysqlStore, other: Wire) -> None:
    node = await Node.register(mariadb_store)
    runs = [await node.started() for _ in range(2)]
    await node.flush(callbacks=[callback(run) for run in runs], activations=[activation(run) for run in runs])
    await other.send(f"start transaction; update callback set state = 'expired' where run = {blob(runs[1])}")
    async with asyncio.timeout(300):
        answers = await mariadb_store.deliver_many([Delivery(run, "w", b"{}", None) for run in runs])
    assert answers == [Receipt.ACCEPTED, None]
    await other.send("commit")
    assert (await mariadb_store.deliver(runs[1], "w", data=b"{}", message_id=None))[0] is Receipt.EXPIRED


async def test_a_message_to_many_runs_passes_by_a_run_that_a_flush_has_locked(
    mariadb_store: MysqlStore, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    runs = [await node.started() for _ in range(2)]
    await other.send(f"start transaction; update run set wake_at = 1 where id = {blob(runs[1])}")
    async with asyncio.timeout(300):
        assert await mariadb_store.send_many(1, runs, MessageKind.MOVE, b"{}") == {runs[0]}
    await other.send("rollback")
    assert await mariadb_store.send(1, runs[1], MessageKind.MOVE, b"{}")


@pytest.mark.parametrize("unique", [{"active_key": "k"}, {"request_id": "k"}])
async def test_a_start_whose_key_is_taken_does_not_wait_for_who_holds_the_row_of_that_run(
    mariadb_store: MysqlStore, other: Wire, unique: dict[str, str]
) -> None:
    node = await Node.register(mariadb_store)
    run = await node.started(**unique)
    await other.send(f"start transaction; select 1 from run where id = {blob(run)} lock in share mode")
    late, free = start(owned=True, **unique), start(owned=True)
    async with asyncio.timeout(300):
        flushed = await mariadb_store.flush(
            node.id, node.epoch, Flush(starts=[late, free], entries=entries(late.id, 1))
        )
    assert flushed is not None
    assert flushed.refused == {late.id}
    await other.send("rollback")


async def test_a_flush_without_patience_is_told_at_once_that_a_key_is_being_taken(
    mariadb_store: MysqlStore, other: Wire
) -> None:
    node = await Node.register(mariadb_store)
    mine, theirs = start(active_key="k"), new_id()
    await other.send("start transaction")
    await other.send(late_start(theirs, node.id))
    await other.send(f"update run set active_key = 'k' where id = {blob(theirs)}")
    with pytest.raises(StoreLocked):
        async with asyncio.timeout(300):
            await mariadb_store.flush(node.id, node.epoch, Flush(starts=[mine]), patience=0.1)
    await other.send("rollback")
    flushed = await mariadb_store.flush(node.id, node.epoch, Flush(starts=[mine]), patience=0.1)
    assert flushed is not None
    assert not flushed.refused
