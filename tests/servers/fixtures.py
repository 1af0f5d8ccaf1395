"""The fixtures `postgres`, `mariadb` and their databases, one server of each for a whole test session.

With several pytest workers the first that needs a server starts it, the others find it, and the controlling process
stops it at the end. There is no skip: where none can be started, every test that needs it fails.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.store.factory import migrate_store
from tests.servers.emptying import ReusedDatabase, empty
from tests.servers.locks import exclusive
from tests.servers.mariadb import MariadbServer
from tests.servers.mariadb import Place as MariadbPlace
from tests.servers.postgres import Place, PostgresServer

SHARED = "DETENT_TEST_SHARED"
ENOUGH_MEMORY = 4 * 2**30


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    """A running PostgreSQL shared by the session: make databases in it, never stop it (start your own for that)."""
    shared = Path(os.environ[SHARED])
    with exclusive(shared / "postgres"):
        note = shared / "postgres.json"
        if not note.exists():
            server = PostgresServer(owner=int((shared / "owner").read_text()))
            server.start()
            note.write_text(server.place.to_json())
            report = f"PostgreSQL {server.version} started in {server.seconds_to_start:.1f} s"
            (shared / "postgres.report").write_text(f"{report} from {server.place.binaries}")
    return PostgresServer.attach(Place.from_json(note.read_text()))


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer) -> str:
    """A database with our tables, to be copied."""
    return postgres.make_template("detent_tables", lambda url: asyncio.run(migrate_store(url)))


@pytest.fixture(scope="session")
def _reused_postgres(postgres: PostgresServer, postgres_template: str) -> Iterator[ReusedDatabase]:
    reused = ReusedDatabase(postgres, postgres_template)
    yield reused
    reused.close()


@pytest.fixture
def postgres_database(_reused_postgres: ReusedDatabase) -> str:
    """The address of a database with our tables and nothing in them. One serves all tests of a worker, one after the
    other, for as long as they change only rows."""
    return _reused_postgres.emptied()


@pytest.fixture
def postgres_bare_database(postgres: PostgresServer) -> Iterator[str]:
    """The address of a database of this test's own, without tables."""
    url = postgres.create_database()
    yield url
    postgres.drop_database(url)


@pytest.fixture(scope="session")
def mariadb() -> MariadbServer:
    """A running MariaDB shared by the session: make databases in it, never stop it (start your own for that)."""
    shared = Path(os.environ[SHARED])
    with exclusive(shared / "mariadb"):
        note = shared / "mariadb.json"
        if not note.exists():
            server = MariadbServer(owner=int((shared / "owner").read_text()))
            server.start()
            note.write_text(server.place.to_json())
            report = f"MariaDB {server.version} started in {server.seconds_to_start:.1f} s"
            (shared / "mariadb.report").write_text(report)
    return MariadbServer.attach(MariadbPlace.from_json(note.read_text()))


@pytest.fixture(scope="session")
def _migrated_mariadb(mariadb: MariadbServer) -> Iterator[str]:
    url = mariadb.create_database()
    asyncio.run(migrate_store(url))
    yield url
    mariadb.drop_database(url)


@pytest.fixture
def mariadb_database(_migrated_mariadb: str) -> str:
    """The address of a database with our tables and nothing in them. One serves all tests of a worker, one after the
    other: emptying it is much quicker than making another."""
    asyncio.run(empty(_migrated_mariadb))
    return _migrated_mariadb


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whatever needs the server is slow: by its fixtures, or as one of several stores a test is run on."""
    if not isinstance(item, pytest.Function):
        return
    stores = item.callspec.params.values() if hasattr(item, "callspec") else ()
    servers = {"postgres", "mariadb"}
    if servers & set(item.fixturenames) or any(store in servers for store in stores if isinstance(store, str)):
        item.add_marker(pytest.mark.slow)


def _is_controller(config: pytest.Config) -> bool:
    return not hasattr(config, "workerinput")


def _use_memory() -> None:
    """Put temporary files in memory where there is enough. Databases spend half of their time on syncs of the disk, and
    a sync that no test can observe proves nothing: only a crash of the whole machine would."""
    memory = Path("/dev/shm")
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK | os.X_OK):
        return
    if shutil.disk_usage(memory).free >= ENOUGH_MEMORY and not os.statvfs(memory).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None  # it is looked up again


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if _is_controller(config):
        _use_memory()
        shared = Path(tempfile.mkdtemp(prefix="detent-tests-"))
        (shared / "owner").write_text(str(os.getpid()))
        os.environ[SHARED] = str(shared)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _is_controller(config):
        shared = Path(os.environ.pop(SHARED))
        note = shared / "postgres.json"
        if note.exists():
            PostgresServer.attach(Place.from_json(note.read_text())).close()
        note = shared / "mariadb.json"
        if note.exists():
            MariadbServer.attach(MariadbPlace.from_json(note.read_text())).close()
        shutil.rmtree(shared, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in sorted(Path(os.environ[SHARED]).glob("*.report")):
        terminalreporter.write_line(report.read_text())
