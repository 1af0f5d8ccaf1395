"""Stores to test: the same fixture gives each of them, without skips."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.sql.mysql.store import MysqlStore
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.sqlite.store import SqliteStore
from tests.servers.emptying import EMPTY, ReusedDatabase
from tests.servers.postgres import PostgresServer
from tests.store.sessions import session

#: Modules whose tests change tables or look at plans, which depend on what was in a table before.
OWN_DATABASE = ("faults_postgres", "migrations", "overview", "plans", "plans_of_lists", "postgres", "retention")


@pytest.fixture
def postgres_database(
    request: pytest.FixtureRequest, postgres: PostgresServer, postgres_template: str, _reused_postgres: ReusedDatabase
) -> Iterator[str]:
    """The address of a database with our tables and nothing in them: of this test's own, or used before."""
    if not request.module.__name__.endswith(tuple(f".test_{name}" for name in OWN_DATABASE)):
        yield _reused_postgres.emptied()
        return
    url = postgres.create_database(template=postgres_template)
    yield url
    postgres.drop_database(url)


@pytest.fixture(params=["memory", "sqlite", "postgres", "mariadb"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store with its tables, for each database in turn."""
    match request.param:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite:///{tmp_path}/detent.db"
        case "mariadb":
            return str(request.getfixturevalue("mariadb_database"))
        case _:
            return str(request.getfixturevalue("shared_database"))


@pytest.fixture(scope="session")
def shared_database(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    """One database for the whole suite: emptying it is much quicker than making another."""
    url = postgres.create_database(template=postgres_template)
    yield url
    postgres.drop_database(url)


async def _empty(url: str) -> None:
    async with session(url) as connection:
        await connection.execute(EMPTY)


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    if store_url.startswith("postgresql"):
        await _empty(store_url)
    opened = await open_store(store_url, SystemClock())
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "detent.db", SystemClock())
    yield opened
    await opened.close()


@pytest.fixture
async def mariadb_store(mariadb_database: str) -> AsyncIterator[MysqlStore]:
    opened = await MysqlStore.open(mariadb_database, SystemClock())
    yield opened
    await opened.close()


@pytest.fixture
async def postgres_store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(postgres_database, SystemClock())
    yield opened
    await opened.close()
