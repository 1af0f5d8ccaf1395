"""Stores to test: the same fixture gives each of them, without skips."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.sql.mysql.store import MysqlStore
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.schema import metadata
from detent.store.sql.sqlite.store import SqliteStore
from tests.servers.postgres import PostgresServer
from tests.store.sessions import session


@pytest.fixture
def postgres_database(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    """The address of a database of this test's own, with our tables: tests here change them, and look at plans."""
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
        for table in metadata.tables:
            if table != "tenant":
                await connection.execute(f"delete from {table}")


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
