"""Row security on PostgreSQL: the database itself keeps the tenants apart for the commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy import bindparam, delete, func, select, text, update

from detent.clock import SystemClock
from detent.errors import InvalidInput, SchemaMismatch, StoreError
from detent.ids import new_id
from detent.store.factory import migrate_store, open_store
from detent.store.rows import MessageKind
from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.postgres.connection import Address, PoolAccess, PostgresConnection
from detent.store.sql.postgres.row_security import ROLE, owner_of, protected_tables
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.schema import run
from tests.servers.postgres import PostgresServer
from tests.store.make import Node, entry, start
from tests.store.pooler import Pooler
from tests.store.sessions import session

MINE, THEIRS = 2, 3
#: Statements that forget their condition on the tenant.
EVERY_RUN = select(run.c.id)
CHANGE = update(run).where(run.c.id == bindparam("run")).values({run.c.status: bindparam("new")}).returning(run.c.id)
DELETE = delete(run).where(run.c.id == bindparam("run")).returning(run.c.id)
ADD = InsertIfAbsent(
    text("insert into kept (run, step, tenant, result, at) values (:run, :step, :tenant, :result, :at)"), "run"
)


@pytest.fixture(scope="module")
def secured(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    """A database whose tables are under row security."""
    url = postgres.create_database(template=postgres_template)
    asyncio.run(migrate_store(url, row_security=True))
    yield url
    postgres.drop_database(url)


class Two:
    """A store with one run of each of two tenants."""

    def __init__(self, store: PostgresStore) -> None:
        self.store = store
        self.runs: dict[int, bytes] = {}

    async def fill(self) -> None:
        node = await Node.register(self.store)
        for tenant in (MINE, THEIRS):
            new = start(tenant=tenant)
            await node.flush(starts=[new], entries=[entry(new.id, tenant=tenant)])
            self.runs[tenant] = new.id
        await self.store.retire(node.id)

    def access(self, tenant: int | None) -> PoolAccess:
        assert self.store.access.restricted is not None
        pool = self.store.access.restricted
        return PoolAccess(pool if tenant is None else pool.for_tenant(tenant))


@pytest.fixture
async def two(secured: str) -> AsyncIterator[Two]:
    store = await open_store(secured, SystemClock(), row_security=True)
    assert isinstance(store, PostgresStore)
    made = Two(store)
    await made.fill()
    yield made
    await store.close()


async def test_a_statement_that_forgets_the_tenant_finds_the_rows_of_one_tenant(two: Two) -> None:
    for tenant in (MINE, THEIRS, MINE):
        found = {row[0] for row in await two.access(tenant).query(EVERY_RUN, {})}
        assert two.runs[tenant] in found
        assert not found & {one for other, one in two.runs.items() if other != tenant}


async def test_a_session_that_names_no_tenant_finds_nothing(two: Two) -> None:
    assert await two.access(MINE).query(EVERY_RUN, {}) != []
    for table in protected_tables():
        assert await two.access(None).query(select(func.count()).select_from(text(f'"{table}"')), {}) == [(0,)]


async def test_a_statement_cannot_change_or_delete_a_row_of_another_tenant(two: Two) -> None:
    mine = two.access(MINE)
    for clause in (CHANGE, DELETE):
        assert await mine.execute(clause, {"run": two.runs[THEIRS], "new": "failed"}) == []
    row = await two.store.run(THEIRS, two.runs[THEIRS])
    assert row is not None
    assert row.status == "running"
    assert await mine.execute(CHANGE, {"run": two.runs[MINE], "new": "running"}) == [(two.runs[MINE],)]


async def test_a_statement_cannot_insert_a_row_of_another_tenant(two: Two) -> None:
    values = {"run": two.runs[MINE], "step": "s", "result": "1", "at": 0}
    with pytest.raises(StoreError, match="row-level security"):
        await two.access(MINE).execute(ADD, {**values, "tenant": THEIRS})
    await two.access(MINE).execute(ADD, {**values, "tenant": MINE})


async def test_commands_of_a_tenant_find_their_own_rows_and_the_engine_finds_all(two: Two) -> None:
    mine, run_of = two.store.for_tenant(MINE), two.runs
    assert await mine.run(MINE, run_of[MINE]) is not None
    assert [one.seq for one in await mine.journal(MINE, run_of[MINE])] == [1], "the journal has partitions"
    assert await mine.send(MINE, run_of[MINE], MessageKind.CANCEL, b"{}")
    # Code that asks for another tenant than its own finds nothing either.
    assert await mine.run(THEIRS, run_of[THEIRS]) is None
    assert await mine.journal(THEIRS, run_of[THEIRS]) == []
    assert not await mine.send(THEIRS, run_of[THEIRS], MessageKind.CANCEL, b"{}")
    assert await two.store.existing([*run_of.values()]) == {*run_of.values()}
    assert two.store.for_tenant(MINE) is mine


async def test_a_failed_transaction_does_not_change_whose_rows_a_session_sees(two: Two) -> None:
    with pytest.raises(StoreError):
        await two.access(MINE).execute(text("select 1 / 0 from run"), {})
    for tenant in (THEIRS, MINE):
        found = {row[0] for row in await two.access(tenant).query(EVERY_RUN, {})}
        assert not found & {one for other, one in two.runs.items() if other != tenant}


async def test_a_connection_that_was_lost_does_not_show_the_rows_of_its_last_tenant(two: Two, secured: str) -> None:
    connection = PostgresConnection(Address.parse(secured).for_role(ROLE))
    connection.tenant = MINE
    seen = "select distinct tenant from run"
    assert [row[0] for row in await connection.fetch(seen)] == [MINE]
    await connection.close()
    assert [row[0] for row in await connection.fetch(seen)] == [MINE]
    connection.tenant = None
    assert await connection.fetch(seen) == []
    await connection.close()


async def test_behind_a_pooler_each_transaction_names_its_tenant(
    two: Two, secured: str, postgres: PostgresServer
) -> None:
    async with Pooler(postgres.port) as pooler:
        url = f"{secured.replace(f':{postgres.port}/', f':{pooler.port}/')}?pooling=transaction"
        store = await open_store(url, SystemClock(), row_security=True)
        for tenant in (MINE, THEIRS):
            mine = store.for_tenant(tenant)
            assert await mine.run(tenant, two.runs[tenant]) is not None
            other = THEIRS if tenant == MINE else MINE
            assert await mine.run(other, two.runs[other]) is None
        assert await store.existing([*two.runs.values()]) == {*two.runs.values()}
        await store.close()


async def test_a_login_that_does_not_own_the_tables_can_be_the_engine(two: Two, secured: str) -> None:
    name = f"plain_{new_id().hex()[:12]}"
    async with session(secured) as admin:
        await admin.execute(f"create role {name} login noinherit in role {ROLE}")
        await admin.execute(f"grant select, insert, update, delete on all tables in schema public to {name}")
    try:
        url = secured.replace("detent@", f"{name}@")
        store = await open_store(url, SystemClock(), row_security=True)
        assert await store.existing([*two.runs.values()]) == {*two.runs.values()}
        assert await store.for_tenant(MINE).run(THEIRS, two.runs[THEIRS]) is None
        await store.close()
        async with session(secured) as admin:
            await admin.execute(f"alter role {name} inherit")
            await admin.execute(f"grant {ROLE} to {name} with inherit true")
        with pytest.raises(SchemaMismatch, match="inherit false"):
            await open_store(url, SystemClock(), row_security=True)
        async with session(secured) as admin:
            await admin.execute(f"revoke {ROLE} from {name}")
        with pytest.raises(SchemaMismatch, match=f"grant {ROLE} to {name}"):
            await open_store(url, SystemClock(), row_security=True)
    finally:
        async with session(secured) as admin:
            await admin.execute(f"drop owned by {name}; drop role {name}")


async def test_a_database_without_policies_is_refused_until_it_is_migrated(postgres_bare_database: str) -> None:
    url = postgres_bare_database
    await migrate_store(url)
    with pytest.raises(SchemaMismatch, match="DETENT_ROW_SECURITY=true"):
        await open_store(url, SystemClock(), row_security=True)
    for _ in range(2):
        await migrate_store(url, row_security=True)
    store = await open_store(url, SystemClock(), row_security=True)
    await store.close()
    async with session(url) as admin:
        await admin.execute("alter table kept disable row level security")
    with pytest.raises(SchemaMismatch, match="no row security: kept"):
        await open_store(url, SystemClock(), row_security=True)


async def test_a_login_that_may_not_create_the_role_is_told_the_statements(
    postgres_bare_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    role, login = f"absent_{new_id().hex()[:12]}", f"plain_{new_id().hex()[:12]}"
    monkeypatch.setattr("detent.store.sql.postgres.row_security.ROLE", role)
    url = postgres_bare_database.replace("detent@", f"{login}@")
    async with session(postgres_bare_database) as admin:
        await admin.execute(f"create role {login} login; grant all on schema public to {login}")
        try:
            with pytest.raises(StoreError, match=f"create role {role} nologin; grant {role} to {login}"):
                await migrate_store(url, row_security=True)
        finally:
            await admin.execute(f"drop owned by {login} cascade; drop role {login}")


@pytest.mark.parametrize("url", ["memory://", "sqlite:///detent.db", "mysql://detent@127.0.0.1:1/detent"])
async def test_another_database_refuses_row_security(url: str) -> None:
    for refused in (open_store(url, SystemClock(), row_security=True), migrate_store(url, row_security=True)):
        with pytest.raises(InvalidInput) as caught:
            await refused
        [problem] = caught.value.problems
        assert (problem.field, "needs PostgreSQL" in problem.message) == ("DETENT_ROW_SECURITY", True)


def test_every_table_with_rows_of_tenants_is_protected() -> None:
    assert {owner_of(table) for table in protected_tables() if table != "tenant"} == {"tenant"}
    assert {"run", "journal", "api_key", "secret", "audit", "tenant"} <= set(protected_tables())
