"""What MariaDB and the wire to it can do to a store: nothing is half applied, and every doubt is said."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from detent.clock import SystemClock
from detent.errors import CommitUnknown, SchemaMismatch, StoreBusy, StoreError
from detent.ids import new_id
from detent.store.factory import migrate_store, open_store, stored_revision
from detent.store.rows import Flush, MessageKind, RunCriteria
from detent.store.sql.mysql.connection import Address, MysqlConnection, Wire
from detent.store.sql.mysql.maintenance import judged
from detent.store.sql.mysql.migration import migrate
from detent.store.sql.mysql.store import MysqlStore
from detent.store.sql.schema import HEAD, metadata
from tests.servers.mariadb import MariadbServer
from tests.servers.proxy import BlackHole, CutBefore, CutReplyAfter, FaultProxy
from tests.store.make import Node, end, entries, entry, start, version
from tests.store.wires import value, wire

pytestmark = pytest.mark.slow


@pytest.fixture
async def proxy(mariadb: MariadbServer) -> AsyncIterator[FaultProxy]:
    async with FaultProxy("127.0.0.1", mariadb.port) as opened:
        yield opened


@pytest.fixture
async def far(proxy: FaultProxy, mariadb_database: str) -> AsyncIterator[MysqlStore]:
    """A store that reaches its database through the proxy."""
    opened = await MysqlStore.open(proxy.url(mariadb_database), SystemClock())
    yield opened
    proxy.heal()
    await opened.close()


@pytest.mark.case("B2")
async def test_b2_a_commit_whose_reply_is_lost_is_unknown_and_sending_it_again_applies_it_once(
    far: MysqlStore, proxy: FaultProxy
) -> None:
    node = await Node.register(far)
    run, target = await node.started(), await node.started()
    await node.flush(entries=[entry(run)])
    proxy.fault = CutReplyAfter(b"the-lost-one")
    lost = Flush(entries=[entry(run, 2, step="the-lost-one")], ends=[end(target)])
    with pytest.raises(CommitUnknown):
        await far.flush(node.id, node.epoch, lost)
    assert await far.raise_epoch(node.id, node.epoch) == 2
    assert [found.seq for found in await far.journal(1, run)] == [1, 2], "it had been applied"
    assert await far.flush(node.id, 2, lost, again=True) is not None
    assert [found.seq for found in await far.journal(1, run)] == [1, 2]
    assert await far.flush(node.id, 1, Flush(entries=[entry(run, 3)])) is None


@pytest.mark.case("B3")
async def test_b3_a_commit_that_never_arrived_is_unknown_and_sending_it_again_applies_it(
    far: MysqlStore, proxy: FaultProxy
) -> None:
    node = await Node.register(far)
    run = await node.started()
    proxy.fault = CutBefore(b"the-lost-one")
    lost = Flush(entries=[entry(run, 1, step="the-lost-one")])
    with pytest.raises(CommitUnknown):
        await far.flush(node.id, node.epoch, lost)
    raised = await far.raise_epoch(node.id, node.epoch)
    assert raised is not None
    assert await far.journal(1, run) == [], "it had not been applied"
    assert await far.flush(node.id, raised, lost, again=True) is not None
    assert [found.seq for found in await far.journal(1, run)] == [1]


@pytest.mark.case("B7")
async def test_b7_a_database_that_swallows_everything_is_given_up(far: MysqlStore, proxy: FaultProxy) -> None:
    node = await Node.register(far)
    run = await node.started()
    await far.run(1, run)
    proxy.fault = BlackHole()

    async def write() -> None:
        with pytest.raises(CommitUnknown):
            await node.flush(entries=entries(run, 1))

    async def read() -> None:
        with pytest.raises(StoreBusy):
            await far.run(1, run)

    async with asyncio.timeout(300):
        await asyncio.gather(write(), read())
    proxy.heal()
    proxy.cut_all()
    assert await far.run(1, run) is not None


@pytest.mark.case("B5")
async def test_b5_a_store_outlives_the_killing_of_all_its_connections(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    node = await Node.register(mariadb_store)
    run = await node.started()
    heartbeat = mariadb_store.heartbeat(node.id, ttl=5, interval=0.05)
    heartbeat.start()
    written, seq = [], 1
    async with wire(mariadb_database) as killer:
        for _ in range(10):
            own = "select id from information_schema.processlist where db = database() and id <> connection_id()"
            for row in (await killer.send(own))[0].rows:
                await killer.send(f"kill {row[0]}")
            try:
                if await node.flush(again=True, entries=[entry(run, seq)]):
                    written.append(seq)
                    seq += 1
            except (StoreBusy, CommitUnknown):
                await asyncio.sleep(0.01)
    assert await node.flush(again=True, entries=[entry(run, seq)])
    assert [found.seq for found in await mariadb_store.journal(1, run)] == [*written, seq]
    assert not heartbeat.lost()
    await heartbeat.stop()


async def test_what_a_killed_server_acknowledged_is_there_when_it_is_back() -> None:
    with MariadbServer() as server:
        url = server.create_database("crash")
        await migrate_store(url)
        store = await open_store(url, SystemClock())
        node = await Node.register(store)
        run = await node.started()
        acknowledged = []
        for seq in range(1, 21):
            assert await node.flush(entries=[entry(run, seq)])
            acknowledged.append(seq)
        await asyncio.to_thread(server.restart_immediately)
        assert [found.seq for found in await store.journal(1, run)] == acknowledged
        assert await node.flush(entries=[entry(run, 21)]), "and the store finds it by itself"
        await store.close()


@pytest.mark.case("B18")
@pytest.mark.parametrize("asked", ["abc", "AbC ", "ABC", "AbC\x00", "Abc\u0327"])
async def test_b18_names_that_differ_in_case_or_in_spaces_are_different(mariadb_store: MysqlStore, asked: str) -> None:
    node = await Node.register(mariadb_store)
    await mariadb_store.save_workflow(version("AbC"), replace=False)
    names = dict.fromkeys(("request_id", "hero_type", "hero_id", "active_key", "queue"), "AbC")
    given = start(**names, labels='{"AbC":"AbC"}')
    assert await node.refused(starts=[given]) == frozenset()
    assert await mariadb_store.workflow(1, asked) is None
    assert await mariadb_store.active_run(1, asked) is None
    for where in (
        RunCriteria(request_id=asked),
        RunCriteria(hero_type=asked),
        RunCriteria(hero_id=asked),
        RunCriteria(labels=((asked, "AbC"),)),
        RunCriteria(labels=(("AbC", asked),)),
    ):
        assert await mariadb_store.runs(1, limit=9, where=where) == [], where
    assert await node.claim(queues=[asked]) == []
    other = start(request_id=asked, active_key=asked)
    assert await node.refused(starts=[other]) == frozenset(), "it is another request, and another key"
    assert await node.refused(starts=[start(request_id="AbC")]), "and this one is the same"
    assert len(await node.claim(queues=["AbC"])) == 1


async def test_b18_a_table_with_the_usual_collation_would_take_them_for_the_same(mariadb_database: str) -> None:
    async with wire(mariadb_database) as connection:
        await connection.send("create temporary table usual (name varchar(20) character set ascii collate ascii_bin)")
        await connection.send("insert into usual values ('AbC')")
        assert await value(connection, "select count(*) from usual where name = 'AbC  '") == 1


@pytest.mark.case("B19")
async def test_b19_what_is_too_large_for_a_packet_is_refused_before_it_is_sent(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    node = await Node.register(mariadb_store)
    run = await node.started()
    async with wire(mariadb_database) as connection:
        before = await value(connection, "select connection_id()")
        largest = connection.largest
        with pytest.raises(StoreError, match="max_allowed_packet"):
            await connection.send(f"select '{'x' * largest}'")
        assert await value(connection, "select connection_id()") == before, "the connection survives"
    large = entry(run, 2, data=b'"' + b"x" * largest + b'"')
    with pytest.raises(StoreError, match="max_allowed_packet"):
        await node.flush(entries=[entry(run, 1), large])
    assert await mariadb_store.journal(1, run) == [], "nothing of it was written"
    assert await node.flush(entries=[entry(run, 1)])


@pytest.mark.case("B19")
async def test_b19_a_flush_larger_than_a_packet_goes_in_several_as_one_transaction() -> None:
    with MariadbServer(settings={"max-allowed-packet": "1M"}) as server:
        url = server.create_database("small")
        await migrate_store(url)
        store = await open_store(url, SystemClock())
        node = await Node.register(store)
        runs = [start(owned=True, input=b'"' + b"x" * 200_000 + b'"') for _ in range(3)]
        data = b'{"result":"' + b"y" * 200_000 + b'"}'
        await node.flush(starts=runs[:1])
        assert await node.flush(starts=runs[1:], entries=[entry(runs[0].id, 1, data=data)])
        assert [found.data for found in await store.journal(1, runs[0].id)] == [data]
        found = await store.examine()
        assert any(one.level == "warning" and one.subject == "packets" for one in found)
        await store.close()


async def test_texts_of_every_kind_come_back_as_they_were(mariadb_store: MysqlStore) -> None:
    node = await Node.register(mariadb_store)
    awkward = [
        "it's",
        "back\\slash",
        "\\'",
        '"',
        "%s %d {0} {run}",
        "é🎉\u200b",
        "'; drop table run; --",
        "a;b",
        "\u2028",
    ]
    run = await node.started()
    written = [entry(run, seq, step=text, data=text.encode()) for seq, text in enumerate(awkward, 1)]
    await node.flush(entries=written)
    assert await mariadb_store.journal(1, run) == written


@pytest.mark.case("J3")
@pytest.mark.parametrize("noted", [False, True])
async def test_j3_a_migration_that_died_anywhere_is_finished_by_the_next(mariadb: MariadbServer, noted: bool) -> None:
    """After every single statement of every migration: once with the note of it written, once without."""
    url = mariadb.create_database()
    address = Address.parse(url)
    try:
        died = 0
        while True:
            left = _Dying(died, noted)
            try:
                await left.migrate(address)
                break
            except _Died:
                died += 7 if died else 1  # not after every one, to be quick: seven and the number of steps are coprime
        assert died > 7
        assert await migrate(address) == HEAD
        async with wire(url) as connection:
            for table in metadata.tables:
                # A migration notes each time that it moved the revision, and one that died may have done so.
                most = died if table == "audit" else 1
                assert await value(connection, f'select count(*) from "{table}"') in range(most + 1), table
            assert await value(connection, "select count(*) from tenant") == 1
        store = await open_store(url, SystemClock())
        node = await Node.register(store)
        assert await node.flush(starts=[start(owned=True)])
        await store.close()
    finally:
        mariadb.drop_database(url)


CHANGES = ("create table ", "create unique", "create index", "alter", "insert into tenant")


class _Died(Exception):
    """The process is gone."""


class _Dying:
    """A migration whose process ends after so many statements that change tables."""

    def __init__(self, most: int, noted: bool) -> None:
        self.left, self.noted = most, noted

    async def migrate(self, address: Address) -> None:
        plain = Wire.send
        patch = pytest.MonkeyPatch()

        async def send(wire_: Wire, packet: str) -> object:
            is_step = packet.lower().startswith(CHANGES) and "migration_step" not in packet
            is_note = packet.startswith("update migration_step")
            if is_step and self.left == 0:
                raise _Died
            if is_note and self.left == 0 and not self.noted:
                raise _Died
            answers = await plain(wire_, packet)
            self.left -= is_step
            return answers

        patch.setattr(Wire, "send", send)
        try:
            await migrate(address)
        finally:
            patch.undo()


async def test_migrating_twice_at_once_makes_the_tables_once(mariadb: MariadbServer) -> None:
    url = mariadb.create_database()
    try:
        assert await asyncio.gather(*(migrate_store(url) for _ in range(3))) == [HEAD] * 3
        assert await stored_revision(url) == HEAD
    finally:
        mariadb.drop_database(url)


@pytest.mark.case("B22")
async def test_b22_tables_of_another_revision_are_refused_with_the_command(mariadb: MariadbServer) -> None:
    url = mariadb.create_database()
    try:
        with pytest.raises(SchemaMismatch, match="detent migrate"):
            await open_store(url, SystemClock())
        assert await migrate_store(url) == HEAD
        await (await open_store(url, SystemClock())).close()
        async with wire(url) as connection:
            await connection.send("update alembic_version set version_num = '9999'")
            await (await open_store(url, SystemClock())).close()
            await connection.send("update setting set value = '9000' where name = 'oldest_code'")
        with pytest.raises(SchemaMismatch, match="newer"):
            await open_store(url, SystemClock())
        with pytest.raises(SchemaMismatch, match="newer"):
            await migrate_store(url)
        async with wire(url) as connection:
            await connection.send("update alembic_version set version_num = '0000'")
        with pytest.raises(SchemaMismatch, match="detent migrate"):
            await open_store(url, SystemClock())
    finally:
        mariadb.drop_database(url)


async def test_what_keeps_us_out_is_said_plainly(mariadb: MariadbServer) -> None:
    base = f"127.0.0.1:{mariadb.port}"
    for url, said in (
        (f"mysql://detent@{base}/nowhere", "no database 'nowhere'"),
        (f"mysql://nobody:wrong@{base}/x", "does not allow the user 'nobody' to log in"),
        (f"mysql://detent@{base}/x?charset=latin1", "utf8mb4"),
        (f"mysql://detent@{base}/x?autocommit=1", "unknown options: autocommit"),
        (f"mysql://detent@{base}", "names no database"),
    ):
        with pytest.raises(StoreError, match=said):
            await open_store(url, SystemClock())
    with pytest.raises(StoreBusy, match=r"127\.0\.0\.1:9"):
        await open_store("mariadb://detent@127.0.0.1:9/x", SystemClock())


async def test_a_socket_may_stand_in_place_of_a_host(mariadb: MariadbServer, mariadb_database: str) -> None:
    name = mariadb_database.rsplit("/", 1)[1]
    store = await open_store(f"mariadb://detent@localhost/{name}?unix_socket={mariadb.socket}", SystemClock())
    assert await store.now() > 0
    await store.close()


async def test_b6_a_server_that_became_read_only_is_left_and_found_again() -> None:
    with MariadbServer() as server:
        url = server.create_database("calm")
        await migrate_store(url)
        server.query("create user plain@'127.0.0.1'; grant all on calm.* to plain@'127.0.0.1'")
        plain = MysqlStore(url.replace("detent@", "plain@"), SystemClock())
        node = await Node.register(plain)
        run = await node.started()
        server.query("set global read_only = 1")
        with pytest.raises(StoreBusy, match=r"read.only"):
            await plain.flush(node.id, 1, Flush(entries=[entry(run)]))
        with pytest.raises(StoreBusy, match="read only"):
            await plain.flush(node.id, 1, Flush(entries=[entry(run)]))
        server.query("set global read_only = 0")
        assert await plain.flush(node.id, 1, Flush(entries=[entry(run)])) is not None
        await plain.close()


@pytest.mark.case("B20")
@pytest.mark.parametrize(
    ("settings", "level", "said"),
    [
        ({"innodb_flush_log_at_trx_commit": "2"}, "error", "innodb_flush_log_at_trx_commit is 2"),
        ({"innodb_flush_log_at_trx_commit": "0"}, "error", "innodb_flush_log_at_trx_commit is 0"),
        ({"log_bin": "ON", "sync_binlog": "0"}, "warning", "sync_binlog is 0"),
        ({"innodb_doublewrite": "OFF"}, "warning", "innodb_doublewrite"),
        ({"wsrep_on": "ON"}, "error", "Galera"),
        ({"max_allowed_packet": "1048576"}, "warning", "max_allowed_packet"),
    ],
)
def test_b20_settings_that_endanger_durability_are_reported(settings: dict[str, str], level: str, said: str) -> None:
    assert any(one.level == level and said in one.message for one in judged(settings))
    assert not any(said in one.message for one in judged({}))


@pytest.mark.case("B20")
async def test_b20_a_real_server_is_looked_through(mariadb_store: MysqlStore, mariadb: MariadbServer) -> None:
    found = await mariadb_store.examine()
    assert {one.subject for one in found} == {"durability", "version", "schema", "clock"}
    assert {one.level for one in found} == {"ok"}
    mariadb.query("set global innodb_flush_log_at_trx_commit = 2")
    try:
        assert any(one.level == "error" and "is 2" in one.message for one in await mariadb_store.examine())
    finally:
        mariadb.query("set global innodb_flush_log_at_trx_commit = 1")


async def test_tables_of_an_engine_without_transactions_are_reported(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    async with wire(mariadb_database) as connection:
        await connection.send("create table odd (a int) engine = MyISAM")
        try:
            assert any("odd" in one.message and one.level == "error" for one in await mariadb_store.examine())
        finally:
            await connection.send("drop table odd")


async def test_space_of_deleted_runs_is_given_back(mariadb_store: MysqlStore) -> None:
    node = await Node.register(mariadb_store)
    big = b'"' + b"z" * 50_000 + b'"'
    runs = [start(owned=True) for _ in range(20)]
    await node.flush(starts=runs)
    for run in runs:
        await node.flush(entries=[entry(run.id, seq, data=big) for seq in range(1, 21)])
    await node.flush(ends=[end(run.id) for run in runs])
    assert await mariadb_store.prune(before=2**60, statuses=["completed"], limit=100) == 20
    returned = 0
    for _ in range(50):  # the server purges what was deleted when it comes to it
        returned += await mariadb_store.compact()
        if returned:
            break
        await asyncio.sleep(0.1)
    assert returned > 10 << 20
    assert await node.flush(starts=[start(owned=True)])


async def test_a_message_to_a_run_that_does_not_exist_is_not_kept(mariadb_store: MysqlStore) -> None:
    assert not await mariadb_store.send(1, new_id(), MessageKind.CANCEL, b"{}")


async def test_a_link_that_is_in_use_makes_the_next_call_wait(mariadb_database: str) -> None:
    link = MysqlConnection(Address.parse(mariadb_database))
    first, second = await asyncio.gather(link.send("select sleep(0.1), 1"), link.send("select 2"))
    assert (first[0].rows[0][1], second[0].rows[0][0]) == (1, 2)
    await link.close()
