"""Upgrades that roll: which code works on which tables, and migrations up and down while nodes work."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import detent
from detent.clock import SystemClock
from detent.errors import SchemaMismatch, StoreBusy, StoreError
from detent.store.factory import migrate_store, open_store, stored_revision
from detent.store.migrations import plan, server
from detent.store.sql import schema
from detent.store.sql.mysql.connection import StatementRefused, Wire
from detent.store.sql.postgres import migration as postgres_migration
from detent.store.sql.postgres.connection import Address
from detent.store.sql.schema import HEAD
from detent.store.url import sqlite_path
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer
from tests.store.make import Node, entry, start
from tests.store.sessions import session, somebody_waits
from tests.store.wires import wire

#: The revisions after this code's own.
FIRST, SECOND, THIRD = (f"{int(HEAD) + number:04}" for number in (1, 2, 3))
#: Migrations that do not exist: one that adds, one that adds an index to a large table, one that removes.
MADE_UP = {
    FIRST: f"""
'''A column. Kind: pre.'''
from alembic import op
from sqlalchemy import Column, Integer

revision, down_revision, oldest_code = "{FIRST}", "{HEAD}", "{HEAD}"


def upgrade():
    op.add_column("run", Column("made_up", Integer))


def downgrade():
    op.drop_column("run", "made_up")
""",
    SECOND: f"""
'''An index. Kind: pre.'''
from alembic import op

revision, down_revision, oldest_code, autocommit = "{SECOND}", "{FIRST}", "{HEAD}", True


def upgrade():
    if op.get_context().dialect.name == "postgresql":  # one that was interrupted is there and is not valid
        op.drop_index("run_made_up", "run", if_exists=True, postgresql_concurrently=True)
    op.create_index("run_made_up", "run", ["made_up"], postgresql_concurrently=True)


def downgrade():
    op.drop_index("run_made_up", "run", postgresql_concurrently=True)
""",
    THIRD: f"""
'''The index again. Kind: post.'''
from alembic import op

revision, down_revision, oldest_code = "{THIRD}", "{SECOND}", "{FIRST}"


def upgrade():
    op.drop_index("run_made_up", "run")


def downgrade():
    op.create_index("run_made_up", "run", ["made_up"])
""",
}

Release = Callable[[str, str], None]


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Release:
    """Be a release of Detent that was made for a revision and knows the migrations up to another."""

    def be(head: str, newest: str) -> None:
        folder = tmp_path / f"made_up_{newest}"
        folder.mkdir(exist_ok=True)
        for revision, text in MADE_UP.items():
            if revision <= newest:
                (folder / f"{revision}_made_up.py").write_text(text)
        monkeypatch.setattr(plan, "FOLDERS", [*FOLDERS, folder])
        monkeypatch.setattr(schema, "HEAD", head)

    return be


FOLDERS = list(plan.FOLDERS)


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """A database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/detent.db"
        return
    made: PostgresServer | MariadbServer = request.getfixturevalue(request.param)
    url = made.create_database()
    yield url
    made.drop_database(url)


@pytest.fixture(params=["postgres", "mariadb"])
async def shared(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """A database on a server, with the tables of this code."""
    made: PostgresServer | MariadbServer = request.getfixturevalue(request.param)
    url = made.create_database()
    await migrate_store(url)
    yield url
    made.drop_database(url)


async def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    if url.startswith("sqlite"):
        db = sqlite3.connect(sqlite_path(url))
        try:
            found = db.execute(sql).fetchall()
            db.commit()
        finally:
            db.close()
        return found
    if url.startswith("postgresql"):
        async with session(url) as connection:
            return [tuple(row) for row in await connection.fetch(sql)]
    async with wire(url) as connection:
        [answer] = await connection.send(sql)
        return list(answer.rows)


async def shape(url: str) -> set[tuple[Any, ...]]:
    """Every column and index there is."""
    if url.startswith("sqlite"):
        return set(
            await rows(
                url,
                'select m.name, c.name, c.type, c."notnull" from sqlite_master m, pragma_table_info(m.name) c'
                " union all select tbl_name, name, sql, 0 from sqlite_master where type = 'index'",
            )
        )
    within = "current_schema()" if url.startswith("postgresql") else "database()"
    columns = await rows(
        url,
        "select table_name, column_name, data_type, is_nullable from information_schema.columns"
        f" where table_schema = {within} and table_name <> 'migration_step'",
    )
    indexes = await rows(
        url,
        "select tablename, indexname, indexdef from pg_indexes where schemaname = current_schema()"
        if url.startswith("postgresql")
        else "select table_name, index_name, column_name, seq_in_index from information_schema.statistics"
        " where table_schema = database() and table_name <> 'migration_step'",
    )
    return {*columns, *indexes}


async def works(url: str) -> None:
    """A node can start here and write."""
    store = await open_store(url, SystemClock())
    try:
        node = await Node.register(store)
        run = await node.started()
        assert await node.flush(entries=[entry(run)])
        await store.retire(node.id)
    finally:
        await store.close()


async def test_tables_go_up_down_and_up_again(database: str, release: Release) -> None:
    assert await migrate_store(database) == HEAD
    first = await shape(database)
    await works(database)
    release(HEAD, SECOND)
    for _ in range(2):
        assert await migrate_store(database) == SECOND
        assert await shape(database) > first
        await works(database)
        assert await migrate_store(database, HEAD, force=True) == HEAD
        assert await shape(database) >= first
        await works(database)
    audited = await rows(database, "select actor, action, detail from audit order by id")
    assert [json.loads(row[2])["to"] for row in audited] == [FIRST, SECOND, FIRST, HEAD] * 2
    assert {one.decode() if isinstance(one, bytes) else one for one, *_ in audited} == {"detent migrate"}
    assert await migrate_store(database, "base", force=True) == "base"
    assert await stored_revision(database) is None
    assert await migrate_store(database, HEAD) == HEAD
    assert await shape(database) == first
    await works(database)


async def test_a_way_down_that_deletes_data_needs_force(database: str, release: Release) -> None:
    release(SECOND, SECOND)
    await migrate_store(database)
    assert await migrate_store(database, FIRST) == FIRST  # only an index
    with pytest.raises(SchemaMismatch, match=rf"made_up.*migrate --to {HEAD} --force"):
        await migrate_store(database, HEAD)
    with pytest.raises(SchemaMismatch, match="--force"):
        await migrate_store(database, "base")
    assert await stored_revision(database) == FIRST


async def test_old_code_starts_again_on_newer_tables_and_new_code_beside_it(database: str, release: Release) -> None:
    await migrate_store(database)
    release(SECOND, SECOND)
    if not database.startswith("sqlite"):  # a file is migrated when it is opened
        with pytest.raises(SchemaMismatch, match=rf"{HEAD}.*needs {SECOND}.*detent migrate"):
            await works(database)
    assert await migrate_store(database) == SECOND
    await works(database)
    release(HEAD, HEAD)
    await works(database)
    assert await migrate_store(database) == SECOND, "nothing is to be done, and nothing is taken back"
    with pytest.raises(SchemaMismatch, match="with the version of Detent that made them"):
        await migrate_store(database, HEAD, force=True)


async def test_code_that_is_too_old_is_refused_with_what_to_do(database: str, release: Release) -> None:
    release(SECOND, THIRD)
    assert await migrate_store(database) == THIRD
    await works(database)
    release(HEAD, HEAD)
    with pytest.raises(SchemaMismatch, match=rf"made for revision {FIRST} or later.*install it.*migrate --to {HEAD}"):
        await open_store(database, SystemClock())
    with pytest.raises(SchemaMismatch, match=f"{FIRST} or later"):
        await migrate_store(database)
    release(SECOND, THIRD)
    assert await migrate_store(database, SECOND) == SECOND
    release(HEAD, HEAD)
    await works(database)


async def test_a_sqlite_file_is_brought_to_what_the_code_needs_and_not_further(
    tmp_path: Path, release: Release
) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    await works(url)
    release(SECOND, THIRD)
    await works(url)
    assert await stored_revision(url) == SECOND


async def test_a_door_that_only_reads_refuses_tables_that_need_newer_code(tmp_path: Path, release: Release) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    release(SECOND, THIRD)
    await migrate_store(url)
    engine = await open_store(url, SystemClock())
    release(HEAD, HEAD)
    with pytest.raises(SchemaMismatch, match="install it"):
        await open_store(url, SystemClock(), role="client")
    await engine.close()


async def test_a_node_that_runs_goes_on_through_a_migration(shared: str, release: Release) -> None:
    store = await open_store(shared, SystemClock())
    node = await Node.register(store, ttl=60)
    run = await node.started()
    parked = start()
    await node.flush(starts=[parked], entries=[entry(run, 1)])
    release(SECOND, SECOND)
    assert await migrate_store(shared) == SECOND
    assert await node.flush(starts=[start(owned=True)], entries=[entry(run, 2)])
    assert [claimed.id for claimed in await node.claim(limit=9)] == [parked.id]
    assert [found.seq for found in await store.journal(1, run)] == [1, 2]
    await store.close()


@detent.workflow
async def asks(run: detent.Run) -> Any:
    return await run.signal("go")


@pytest.mark.slow
async def test_runs_in_flight_outlive_tables_that_go_up_down_and_up_again(database: str, release: Release) -> None:
    await migrate_store(database)
    is_shared = not database.startswith("sqlite")  # a file has one engine, and is migrated when none uses it
    async with detent.node(database, workflows=[asks]):
        runs = [await detent.start(asks) for _ in range(4)]
        release(SECOND, SECOND)
        if is_shared:
            assert await migrate_store(database) == SECOND
        await _answer(runs, 0)
        release(HEAD, HEAD)
    async with detent.node(database, workflows=[asks]):  # old code starts again on tables that are newer
        await _answer(runs, 1)
        if is_shared:
            release(SECOND, SECOND)
            async with detent.node(
                database, workflows=[asks]
            ):  # new code works beside it, and ends before the way down
                runs.append(await detent.start(asks))
            assert await migrate_store(database, HEAD, force=True) == HEAD
            release(HEAD, HEAD)
        runs.append(await detent.start(asks))
        await _answer(runs, 2)
    release(SECOND, SECOND)
    if not is_shared:
        assert await migrate_store(database, SECOND) == SECOND
        assert await migrate_store(database, HEAD, force=True) == HEAD
    assert await migrate_store(database) == SECOND
    async with detent.node(database, workflows=[asks]):
        for number in range(3, len(runs)):
            await _answer(runs, number)
        assert [await run.result(timeout=30) for run in runs] == [*range(len(runs))]
    assert len(await rows(database, "select id from run")) == len(runs)


async def _answer(runs: list[Any], number: int) -> None:
    await runs[number].signal("go", number)
    assert await runs[number].result(timeout=30) == number


async def test_what_older_nodes_need_is_removed_only_when_they_are_gone(shared: str, release: Release) -> None:
    old = await open_store(shared, SystemClock())
    node = await Node.register(old, ttl=60)
    release(SECOND, THIRD)
    assert await migrate_store(shared) == SECOND, "the migration that removes waits"
    with pytest.raises(SchemaMismatch, match=rf"{THIRD}.*older nodes: version .*\(revision {HEAD}\).*detent migrate"):
        await migrate_store(shared, THIRD)
    release(HEAD, HEAD)
    await works(shared)
    await old.retire(node.id)
    release(SECOND, THIRD)
    dead = await Node.register(old, ttl=-1)  # as this code, but its lease is over
    assert await migrate_store(shared) == THIRD
    await old.take_over(dead.id)
    await old.close()


async def test_a_node_that_begins_while_something_is_removed_is_refused(shared: str, release: Release) -> None:
    old = await open_store(shared, SystemClock())
    release(SECOND, THIRD)
    assert await migrate_store(shared) == THIRD
    release(HEAD, HEAD)
    with pytest.raises(SchemaMismatch, match=f"{FIRST} or later"):
        await Node.register(old, ttl=60)
    assert await old.offers() == []
    await old.close()


async def test_a_node_that_registers_while_a_migration_looks_is_seen_by_its_second_look(
    shared: str, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await open_store(shared, SystemClock())
    look = server._nodes  # noqa: SLF001
    registered: list[Node] = []

    async def looked(asked: Any) -> Any:
        found = await look(asked)
        if not registered:
            release(HEAD, THIRD)
            registered.append(await Node.register(old, ttl=60))
            release(SECOND, THIRD)
        return found

    release(SECOND, THIRD)
    await migrate_store(shared, SECOND)
    monkeypatch.setattr(server, "_nodes", looked)
    with pytest.raises(SchemaMismatch, match="older nodes"):
        await migrate_store(shared, THIRD)
    release(HEAD, HEAD)
    await works(shared)
    await old.close()


async def test_the_way_down_waits_for_newer_nodes(shared: str, release: Release) -> None:
    release(SECOND, SECOND)
    await migrate_store(shared)
    store = await open_store(shared, SystemClock())
    node = await Node.register(store, ttl=60)
    with pytest.raises(SchemaMismatch, match=rf"newer nodes need: version .*\(revision {SECOND}\)"):
        await migrate_store(shared, HEAD, force=True)
    await store.retire(node.id)
    assert await migrate_store(shared, HEAD, force=True) == HEAD
    await store.close()


async def test_old_code_that_migrates_by_itself_takes_nothing_back(shared: str, release: Release) -> None:
    release(SECOND, SECOND)
    await migrate_store(shared)
    release(HEAD, SECOND)
    await (await open_store(shared, SystemClock(), migrate=True)).close()
    assert await stored_revision(shared) == SECOND


async def test_a_change_that_waits_for_a_lock_lets_others_pass_and_is_tried_again(
    postgres_database: str, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PAUSE", 0.01)
    monkeypatch.setattr(postgres_migration, "_LOCK_TIMEOUT", "50ms")
    release(FIRST, FIRST)
    attempts = 0
    plain = postgres_migration._Server._transaction  # noqa: SLF001

    async def counted(self: Any, statements: list[str]) -> None:
        nonlocal attempts
        attempts += 1
        await plain(self, statements)

    monkeypatch.setattr(postgres_migration._Server, "_transaction", counted)  # noqa: SLF001
    async with session(postgres_database) as reader:
        async with reader.transaction():
            await reader.fetch("select count(*) from run")
            migrating = asyncio.create_task(migrate_store(postgres_database))
            async with asyncio.timeout(300):
                while attempts < 3:  # noqa: ASYNC110 - what happens inside the server sends no signal
                    await asyncio.sleep(0.01)
        assert await migrating == FIRST


async def test_a_change_that_is_the_victim_of_a_deadlock_is_tried_again(
    postgres_bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PAUSE", 0.01)
    monkeypatch.setattr(postgres_migration, "_LOCK_TIMEOUT", "60s")
    url = postgres_bare_database
    await migrate_store(url, "0010")
    async with session(url) as flush, session(url) as watcher:
        await flush.execute("set deadlock_timeout = '60s'; set lock_timeout = 0; set statement_timeout = 0")
        await watcher.execute(
            "do $$ begin execute format('alter database %I set deadlock_timeout = %L',"
            " current_database(), '4s'); end $$"
        )
        async with flush.transaction():
            await flush.fetch("select count(*) from run")
            migrating = asyncio.create_task(migrate_store(url))
            await somebody_waits(watcher)  # it holds the other tables and waits for this one
            await flush.fetch("select count(*) from workflow")
        assert await migrating == HEAD


async def test_a_change_that_waits_for_a_lock_of_mariadb_is_tried_again(
    mariadb: MariadbServer, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PAUSE", 0.01)
    url = mariadb.create_database()
    await migrate_store(url)
    release(FIRST, FIRST)
    refused = asyncio.Event()
    plain = Wire.send

    async def send(self: Wire, packet: str) -> Any:
        try:
            return await plain(self, packet)
        except StatementRefused:
            refused.set()
            raise

    monkeypatch.setattr(Wire, "send", send)
    async with wire(url) as reader:
        await reader.send("start transaction; select count(*) from run")
        migrating = asyncio.create_task(migrate_store(url))
        async with asyncio.timeout(300):
            await refused.wait()
        await reader.send("rollback")
        assert await migrating == FIRST
    mariadb.drop_database(url)


KILL_THE_INDEX = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and query ilike 'create index concurrently%' and wait_event_type = 'Lock'"""


async def test_an_index_is_made_beside_writers_and_again_after_one_that_died(
    postgres_database: str, release: Release
) -> None:
    release(FIRST, FIRST)
    await migrate_store(postgres_database)
    release(SECOND, SECOND)
    async with session(postgres_database) as writer, session(postgres_database) as killer:
        # The statement waits for the writer; its session ends in the middle and leaves an index that is not valid.
        async with writer.transaction():
            await writer.execute("update run set made_up = 1")
            migrating = asyncio.create_task(migrate_store(postgres_database))
            async with asyncio.timeout(300):
                while not await killer.fetchval(KILL_THE_INDEX):  # noqa: ASYNC110 - a server sends no signal
                    await asyncio.sleep(0.01)
            with pytest.raises(StoreError):
                await migrating
        assert await killer.fetchval("select not indisvalid from pg_index where indexrelid = 'run_made_up'::regclass")
        assert await migrate_store(postgres_database) == SECOND
        assert await killer.fetchval("select indisvalid from pg_index where indexrelid = 'run_made_up'::regclass")


async def test_migrations_at_the_same_time_do_not_wait_for_each_other_in_a_circle(
    postgres_database: str, release: Release
) -> None:
    release(SECOND, SECOND)
    assert await asyncio.gather(*(migrate_store(postgres_database) for _ in range(3))) == [SECOND] * 3


async def test_a_migration_of_another_process_is_waited_for_not_for_ever(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_migration, "_PATIENCE", 0.3)
    async with postgres_migration._only_migration(Address.parse(postgres_database)):  # noqa: SLF001
        with pytest.raises(StoreBusy, match="another process"):
            await migrate_store(postgres_database)


async def test_a_way_down_that_died_anywhere_is_finished_by_the_next(
    mariadb: MariadbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = mariadb.create_database()
    await migrate_store(url)
    plain, died = Wire.send, 0

    class Died(Exception):
        """The process is gone."""

    async def send(self: Wire, packet: str) -> Any:
        nonlocal died
        answers = await plain(self, packet)
        if packet.lower().startswith("drop table") and died % 2 == 0:
            died += 1
            raise Died
        died += packet.lower().startswith("drop table")
        return answers

    monkeypatch.setattr(Wire, "send", send)
    while True:
        try:
            assert await migrate_store(url, "base", force=True) == "base"
            break
        except Died:
            continue
    assert died > 10
    monkeypatch.undo()
    assert await shape(url) == set()
    assert await migrate_store(url) == HEAD
    await works(url)
    mariadb.drop_database(url)
