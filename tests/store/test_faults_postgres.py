"""What PostgreSQL and the wire to it can do to a store: nothing is half applied, and every doubt is said."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from detent.clock import SystemClock
from detent.errors import CommitUnknown, SchemaMismatch, StoreBusy, StoreError
from detent.store.rows import Flush, MessageKind
from detent.store.sql.postgres.connection import Address
from detent.store.sql.postgres.migration import migrate
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.schema import HEAD
from tests.servers.postgres import PostgresServer
from tests.servers.proxy import BlackHole, CutBefore, CutReplyAfter, FaultProxy
from tests.store.make import Node, end, entries, entry, start
from tests.store.pooler import Pooler
from tests.store.sessions import eventually, session

pytestmark = pytest.mark.slow

KILL_OTHERS = """select count(pg_terminate_backend(pid)) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid()"""


@pytest.fixture
async def proxy(postgres: PostgresServer) -> AsyncIterator[FaultProxy]:
    async with FaultProxy("127.0.0.1", postgres.port) as opened:
        yield opened


@pytest.fixture
async def far(proxy: FaultProxy, postgres_database: str) -> AsyncIterator[PostgresStore]:
    """A store that reaches its database through the proxy."""
    opened = await PostgresStore.open(proxy.url(postgres_database), SystemClock())
    yield opened
    proxy.heal()
    await opened.close()


async def test_b2_a_commit_whose_reply_is_lost_is_unknown_and_sending_it_again_applies_it_once(
    far: PostgresStore, proxy: FaultProxy
) -> None:
    node = await Node.register(far)
    run, target = await node.started(), await node.started()
    await node.flush(entries=[entry(run)])
    proxy.fault = CutReplyAfter(b"the-lost-one")
    lost = Flush(entries=[entry(run, 2, step="the-lost-one")], ends=[end(target)])
    with pytest.raises(CommitUnknown):
        await far.flush(node.id, node.epoch, lost)
    raised = await far.raise_epoch(node.id, node.epoch)
    assert raised == 2
    assert [found.seq for found in await far.journal(1, run)] == [1, 2], "it had been applied"
    assert await far.flush(node.id, 2, lost, again=True) is not None
    assert [found.seq for found in await far.journal(1, run)] == [1, 2]
    assert await far.flush(node.id, 1, Flush(entries=[entry(run, 3)])) is None


async def test_b3_a_commit_that_never_arrived_is_unknown_and_sending_it_again_applies_it(
    far: PostgresStore, proxy: FaultProxy
) -> None:
    node = await Node.register(far)
    run = await node.started()
    await node.flush(entries=[entry(run)])
    proxy.fault = CutBefore(b"the-lost-one")
    lost = Flush(entries=[entry(run, 2, step="the-lost-one")])
    with pytest.raises(CommitUnknown):
        await far.flush(node.id, node.epoch, lost)
    raised = await far.raise_epoch(node.id, node.epoch)
    assert raised is not None
    assert [found.seq for found in await far.journal(1, run)] == [1], "it had not been applied"
    assert await far.flush(node.id, raised, lost, again=True) is not None
    assert [found.seq for found in await far.journal(1, run)] == [1, 2]


async def test_a_read_whose_connection_breaks_is_busy_and_not_in_doubt(far: PostgresStore, proxy: FaultProxy) -> None:
    node = await Node.register(far)
    run = await node.started()
    await far.run(1, run)
    proxy.fault = CutBefore(run)
    with pytest.raises(StoreBusy):
        await far.run(1, run)
    assert await far.run(1, run) is not None


async def test_b5_a_store_outlives_the_killing_of_all_its_connections(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    run = await node.started()
    heartbeat = postgres_store.heartbeat(node.id, ttl=5, interval=0.1)
    heartbeat.start()
    ended = asyncio.Event()
    outcomes: list[str] = []

    async def kill() -> None:
        async with session(postgres_database) as killer:
            for _ in range(15):
                await killer.fetch(KILL_OTHERS)
                await asyncio.sleep(0.1)
        ended.set()

    async def write() -> None:
        seq = 1
        while not ended.is_set():
            try:
                flushed = await node.flush(again=True, entries=[entry(run, seq)])
                outcomes.append("ok" if flushed else "refused")
                seq += flushed
            except (CommitUnknown, StoreBusy) as error:
                outcomes.append(type(error).__name__)
            await asyncio.sleep(0.003)

    async def read() -> None:
        while not ended.is_set():
            try:
                await postgres_store.workflows(1, limit=1)
            except StoreBusy:
                outcomes.append("read again")
            await asyncio.sleep(0.003)

    async with asyncio.timeout(300):
        await asyncio.gather(kill(), write(), read())
    assert "ok" in outcomes
    assert set(outcomes) & {"CommitUnknown", "StoreBusy", "read again"}
    confirmed = heartbeat.confirmed()
    async with asyncio.timeout(300):
        while heartbeat.confirmed() <= confirmed:  # noqa: ASYNC110 - it beats in a thread of its own
            await asyncio.sleep(0.05)
    assert not heartbeat.lost()
    await heartbeat.stop()
    written = outcomes.count("ok")
    assert [found.seq for found in await postgres_store.journal(1, run)][:written] == list(range(1, written + 1))


async def test_b6_a_primary_that_became_read_only_is_left_for_the_new_one(
    postgres: PostgresServer, postgres_database: str, proxy: FaultProxy, far: PostgresStore
) -> None:
    name, url = postgres_database.rsplit("/", 1)[1], proxy.url(postgres_database)
    node = await Node.register(far)
    run = await node.started()
    with PostgresServer() as old:
        old_url = old.create_database(name)
        await migrate(Address.parse(old_url))
        proxy.switch("127.0.0.1", old.port)
        moved = await PostgresStore.open(url, SystemClock())
        elsewhere = await Node.register(moved)
        assert await elsewhere.flush()
        old.query("alter system set default_transaction_read_only = on")
        old.query("select pg_reload_conf()")
        proxy.switch("127.0.0.1", postgres.port)  # new connections reach the new primary, the old one stays open
        flushed = None
        refusals = []
        async with asyncio.timeout(300):
            while flushed is None:  # the old primary has read its new configuration when it refuses
                try:
                    flushed = await moved.flush(node.id, node.epoch, Flush(entries=[entry(run)]))
                except StoreBusy as error:
                    refusals.append(str(error))
        assert any("read-only" in refusal for refusal in refusals), refusals
        assert old.query("select count(*) from journal", database=name) == "0"
        await moved.close()
    assert len(await far.journal(1, run)) == 1


async def test_b7_a_database_that_swallows_everything_is_given_up(far: PostgresStore, proxy: FaultProxy) -> None:
    node = await Node.register(far)
    run = await node.started()
    await far.run(1, run)
    heartbeat = far.heartbeat(node.id, ttl=1.5, interval=0.1)
    heartbeat.start()
    proxy.fault = BlackHole()
    began = time.monotonic()

    async def write() -> None:
        with pytest.raises(CommitUnknown):
            await node.flush(entries=entries(run, 1))

    async def read() -> None:
        with pytest.raises(StoreBusy):
            await far.run(1, run)

    async def takes_over() -> None:
        with pytest.raises(CommitUnknown):
            await far.take_over(node.id)

    async with asyncio.timeout(300):
        await asyncio.gather(write(), read(), takes_over())
    assert heartbeat.confirmed() < began + 0.5, "no beat is taken for confirmed"
    with pytest.raises(StoreBusy):
        await far.raise_epoch(node.id, node.epoch)  # not even a connection is to be had
    proxy.heal()
    assert await far.raise_epoch(node.id, node.epoch) == 2
    await heartbeat.stop()


async def test_b8_commands_that_exhaust_the_pool_neither_stop_flushes_nor_deadlock(postgres_database: str) -> None:
    store = await PostgresStore.open(postgres_database, SystemClock(), pool_size=2)
    node = await Node.register(store)
    run = await node.started()
    async with session(postgres_database) as slow, asyncio.timeout(300):
        held = slow.transaction()
        await held.start()
        await slow.execute("lock table setting in access exclusive mode")
        commands = [asyncio.create_task(store.setting(f"s{number}", "x")) for number in range(40)]
        await asyncio.sleep(0.1)
        assert await node.flush(entries=entries(run, 2))
        assert await store.beat(node.id, ttl=300) is not None
        await held.rollback()
        outcomes = await asyncio.gather(*commands, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} <= {str, StoreBusy}
    assert any(outcome == "x" for outcome in outcomes)
    assert await store.setting("after", "y") == "y"
    await store.close()


async def test_b9_nobody_stays_idle_in_a_transaction(postgres_store: PostgresStore, postgres_database: str) -> None:
    node = await Node.register(postgres_store)
    run = await node.started()
    async with session(postgres_database) as watcher:
        for number in range(1, 40):
            await node.flush(entries=[entry(run, number)])
            await node.claim()
            await postgres_store.send(1, run, MessageKind.PAUSE, b"{}")
            await postgres_store.take_over(node.id)
            idle = await watcher.fetch(
                "select query from pg_stat_activity where datname = current_database() and state like 'idle in%'"
            )
            assert idle == []


async def test_b10_a_store_works_through_a_pooler_that_changes_the_session_with_every_transaction(
    postgres: PostgresServer, postgres_database: str
) -> None:
    async with Pooler(postgres.port) as pooler:
        url = postgres_database.replace(f":{postgres.port}/", f":{pooler.port}/")
        store = await PostgresStore.open(f"{url}?pooling=transaction", SystemClock())
        node = await Node.register(store, ttl=5)
        heartbeat = store.heartbeat(node.id, ttl=5, interval=0.05)
        heartbeat.start()
        began = heartbeat.confirmed()
        for number in range(1, 6):
            run = start(owned=True)
            assert await node.flush(starts=[run], entries=entries(run.id, number))
            assert await node.flush(entries=[entry(run.id, 99)], ends=[end(run.id)] if number % 2 else [])
            assert await store.send(1, run.id, MessageKind.CANCEL, b"{}") is (number % 2 == 0)
            await node.claim()
        assert len(await store.mail(node.id, limit=10)) == 2
        assert await store.raise_epoch(node.id, 1) == 2
        assert not await store.take_over(node.id)
        assert await store.setting("a", "b") == "b"
        assert await store.examine()
        await store.tidy()

        async def beats() -> bool:
            return heartbeat.confirmed() > began

        await eventually(beats, "the heart does not beat through the pooler")
        assert pooler.switches > 20
        await heartbeat.stop()
        await store.close()


async def test_b10_the_same_pooler_breaks_a_store_that_keeps_prepared_statements_in_its_session(
    postgres: PostgresServer, postgres_database: str
) -> None:
    async def work(url: str) -> None:
        store = await PostgresStore.open(url, SystemClock())
        try:
            node = await Node.register(store)
            for _ in range(4):
                await node.flush()
        finally:
            await store.close()

    async with Pooler(postgres.port) as pooler:
        url = postgres_database.replace(f":{postgres.port}/", f":{pooler.port}/")
        with pytest.raises(StoreError):
            await work(url)


async def test_b20_settings_that_endanger_durability_are_errors_for_doctor() -> None:
    with PostgresServer(settings={"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}) as unsafe:
        store = await PostgresStore.open(unsafe.create_database(), SystemClock(), migrated=True)
        findings = await store.examine()
        await store.close()
    errors = [finding.message for finding in findings if finding.level == "error"]
    assert len(errors) == 3
    assert all("is off" in message for message in errors)


async def test_doctor_names_a_clock_that_differs_from_the_databases(
    postgres_database: str,
) -> None:
    skewed = await PostgresStore.open(postgres_database, SystemClock(skew=3600))
    findings = await skewed.examine()
    await skewed.close()
    [clock] = [finding for finding in findings if finding.subject == "clock"]
    assert clock.level == "warning"
    assert "3600" in clock.message


async def test_b22_tables_that_are_missing_or_newer_are_refused_with_the_command_to_run(
    postgres: PostgresServer,
) -> None:
    url = postgres.create_database()
    with pytest.raises(SchemaMismatch, match="detent migrate"):
        await PostgresStore.open(url, SystemClock())
    assert await migrate(Address.parse(url)) == HEAD
    await (await PostgresStore.open(url, SystemClock())).close()
    async with session(url) as connection:
        await connection.execute("update alembic_version set version_num = '9999'")
        await (await PostgresStore.open(url, SystemClock())).close()
        await connection.execute("update setting set value = '9000' where name = 'oldest_code'")
    with pytest.raises(SchemaMismatch, match="newer"):
        await PostgresStore.open(url, SystemClock())
    with pytest.raises(SchemaMismatch, match="newer"):
        await migrate(Address.parse(url))
    async with session(url) as connection:
        await connection.execute("update alembic_version set version_num = '0000'")
    with pytest.raises(SchemaMismatch, match="detent migrate"):
        await PostgresStore.open(url, SystemClock())
    postgres.drop_database(url)


async def test_nodes_that_migrate_at_the_same_time_migrate_once(postgres: PostgresServer) -> None:
    url = postgres.create_database()
    done = await asyncio.gather(*(migrate(Address.parse(url)) for _ in range(3)))
    assert done == [HEAD] * 3
    postgres.drop_database(url)


async def test_a_database_that_is_not_there_is_busy_and_a_wrong_name_is_an_error(postgres: PostgresServer) -> None:
    with pytest.raises(StoreBusy):
        await PostgresStore.open("postgresql://detent@127.0.0.1:9/none", SystemClock())
    with pytest.raises(StoreError, match="does not exist"):
        await PostgresStore.open(postgres.url("no_such_database"), SystemClock())
