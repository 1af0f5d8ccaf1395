"""The test server is a real, durable PostgreSQL, and nobody else's."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import asyncpg
import psutil
import psycopg
import pytest

from tests.servers import binaries
from tests.servers.binaries import NoPostgres
from tests.servers.emptying import ReusedDatabase
from tests.servers.postgres import PostgresServer, is_alive, sweep

pytestmark = pytest.mark.slow


async def test_a_bare_database_is_empty_and_answers(postgres_bare_database: str) -> None:
    connection = await asyncpg.connect(postgres_bare_database)
    try:
        tables = await connection.fetchval("select count(*) from pg_tables where schemaname = 'public'")
        assert tables == 0
    finally:
        await connection.close()


def test_durability_is_what_production_has_by_default(postgres: PostgresServer) -> None:
    assert [postgres.query(f"show {name}") for name in ("fsync", "synchronous_commit", "full_page_writes")] == [
        "on"
    ] * 3


def test_the_server_does_not_run_as_root(postgres: PostgresServer) -> None:
    assert psutil.Process(postgres.pid).uids().effective != 0


def test_what_a_template_holds_is_in_its_copies(postgres: PostgresServer) -> None:
    prepared: list[str] = []

    def prepare(url: str) -> None:
        prepared.append(url)
        postgres.query("create table kept (n int)", database=url.rsplit("/", 1)[1])

    template = postgres.make_template(f"template_{os.getpid()}", prepare)
    assert postgres.make_template(template, prepare) == template
    assert len(prepared) == 1
    copy = postgres.create_database(template=template)
    assert postgres.query("select count(*) from kept", database=copy.rsplit("/", 1)[1]) == "0"
    postgres.drop_database(copy)


def test_what_was_committed_survives_an_immediate_restart_on_the_same_port() -> None:
    with PostgresServer() as server:
        server.query("create table kept (n int)")
        server.query("insert into kept values (7)")
        port, pid = server.port, server.pid
        server.restart_immediately()
        assert server.query("select n from kept") == "7"
        assert server.port == port
        assert server.pid != pid
        assert "not properly shut down" in server.log()


def test_closing_leaves_no_process_and_no_folder() -> None:
    server = PostgresServer()
    server.start()
    pid, folder = server.pid, server.place.folder
    server.close()
    server.close()
    assert not is_alive(pid)
    assert not folder.exists()


def test_a_server_whose_owner_was_killed_is_swept_away() -> None:
    program = "from tests.servers.postgres import *; s = PostgresServer(); s.start(); print(s.pid, s.place.folder)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    pid, folder = done.stdout.split()
    assert is_alive(int(pid))
    sweep()
    assert not is_alive(int(pid))
    assert not Path(folder).exists()


def test_a_server_whose_owner_lives_is_not_swept_away(postgres: PostgresServer) -> None:
    pid = postgres.pid
    from_here = PostgresServer.attach(postgres.place)
    sweep()
    assert from_here.pid == pid


def test_no_programs_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DETENT_TEST_PG_BIN", str(tmp_path))
    with pytest.raises(NoPostgres, match="set DETENT_TEST_PG_BIN"):
        PostgresServer().start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_programs_behind_a_closed_door_are_copied_to_a_readable_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    account = binaries.unprivileged_account()
    install = binaries.find_binaries(account).parent
    closed = tmp_path / "closed"
    shutil.copytree(install, closed / install.parent.name / install.name, symlinks=True)
    libraries = install.parent.with_name(f"{install.parent.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, closed / libraries.name)
    closed.chmod(0o700)
    monkeypatch.setenv("DETENT_TEST_PG_BIN", str(closed / install.parent.name / install.name / "bin"))
    with tempfile.TemporaryDirectory(prefix="detent-open-") as readable:
        Path(readable).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", readable)
        with PostgresServer() as server:
            assert server.place.binaries.is_relative_to(readable)
            assert server.query("select 1") == "1"


def test_the_developers_server_prints_its_address_and_ends_on_sigterm() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.servers.postgres"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) == 0
    assert url.startswith("postgresql://detent@127.0.0.1:")
    assert url.endswith("/detent")


def test_a_database_is_used_again_without_what_the_test_before_left_in_it(
    postgres: PostgresServer, postgres_template: str
) -> None:
    reused = ReusedDatabase(postgres, postgres_template)
    try:
        url = reused.emptied()
        with psycopg.connect(url) as left:
            left.execute("insert into lease (node, until) values (gen_random_uuid(), now())")
            left.execute("create table mine (n int)")
            left.commit()
            assert reused.emptied() == url
            with pytest.raises(psycopg.OperationalError):
                left.execute("select 1")
        with psycopg.connect(url) as connection:
            assert connection.execute("select count(*) from lease").fetchone() == (0,)
            assert connection.execute("select to_regclass('mine')").fetchone() == (None,)
    finally:
        reused.close()


@pytest.mark.parametrize(
    "change", ["drop table lease", "update alembic_version set version_num = 'x'", "create schema beside"]
)
def test_a_database_whose_tables_were_changed_is_replaced(
    postgres: PostgresServer, postgres_template: str, change: str
) -> None:
    reused = ReusedDatabase(postgres, postgres_template)
    try:
        url = reused.emptied()
        with psycopg.connect(url) as connection:
            connection.execute(change)
        assert reused.emptied() != url
    finally:
        reused.close()
