"""Our own MariaDB starts, crashes, comes back with what was committed, and leaves nothing behind."""

import os
from pathlib import Path

import pytest

from tests.servers.mariadb import FOLDER_PREFIX, MariadbServer, NoMariadb, binary
from tests.servers.postgres import is_alive

pytestmark = pytest.mark.slow


def test_what_was_committed_is_there_after_a_kill_and_nothing_is_left_after_the_end() -> None:
    with MariadbServer() as server:
        name = server.create_database("kept").rsplit("/", 1)[1]
        server.query("create table t (a int) engine = InnoDB; insert into t values (7)", database=name)
        before, folder = server.pid, server.place.folder
        server.restart_immediately()
        after = server.pid
        assert not is_alive(before)
        assert after != before
        assert server.query("select a from t", database=name) == "7"
        assert server.query("select @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite").split() == ["1", "1"]
        assert server.revive() == "", "it is up"
        server.kill()
        assert server.revive() != ""
        after = server.pid
    assert not is_alive(after)
    assert not folder.exists()
    assert folder.name.startswith(FOLDER_PREFIX)


def test_a_server_does_not_run_as_root(mariadb: MariadbServer) -> None:
    assert Path(f"/proc/{mariadb.pid}").stat().st_uid != 0
    assert os.getpid() != mariadb.pid


def test_without_its_programs_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DETENT_TEST_MARIADB_BIN", str(tmp_path))
    with pytest.raises(NoMariadb, match="DETENT_TEST_MARIADB_BIN"):
        binary("mariadbd")
