"""What a disk, another process or a kill can do to a SQLite file: nothing acknowledged is lost or half applied."""

import asyncio
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.errors import SchemaMismatch, StoreBusy, StoreError, StoreInUse
from detent.store.factory import migrate_store, stored_revision
from detent.store.rows import Flush, MessageKind
from detent.store.sql.schema import HEAD
from detent.store.sql.sqlite.connection import BUSY_SECONDS, CHECKPOINT_BYTES
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.make import Node, end, entries, entry, start, version

pytestmark = pytest.mark.slow

HOLD = """
import asyncio, sys
from detent.clock import SystemClock
from detent.store.sql.sqlite.store import SqliteStore
async def main():
    store = SqliteStore(sys.argv[1], SystemClock())
    store.announce("http://127.0.0.1:8642", "dl_key", "http://127.0.0.1:8642")
    print("held", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


def written_under(faults: list[str], path: Path, flushes: int) -> list[dict[str, object]]:
    """How each flush ended while strace made system calls fail."""
    strace = shutil.which("strace")
    assert strace, "this test makes a disk fail with strace: apt-get install strace"
    command = [strace, "-f", "-qqq", "-o", "/dev/null", *faults]
    command += [sys.executable, "-m", "tests.store.writing", str(path), str(flushes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def entries_in(path: Path) -> tuple[set[int], int]:
    """The numbers of the entries of the one run, and how many runs have ended whole."""
    db = sqlite3.connect(path)
    try:
        assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
        seqs = {row[0] for row in db.execute("select seq from journal where run = ?", (bytes(15) + b"\x01",))}
        whole = db.execute(
            """select count(*) from run where ended_at is not null
               and 20 = (select count(*) from journal where journal.run = run.id)"""
        ).fetchone()[0]
        return seqs, int(whole)
    finally:
        db.close()


def test_b12_a_full_disk_refuses_flushes_whole_and_takes_them_again_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "full.db"
    faults = ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC:when=400..440"]
    said = written_under(faults, path, 60)
    failed = [line for line in said if not line["ok"]]
    assert failed, "the disk never was full"
    assert all(line["code"] == "store_busy" for line in failed)
    assert all("disk is full" in str(line["message"]) for line in failed)
    assert said[-1]["ok"], "it works again when there is room"
    acknowledged = {line["seq"] for line in said if line["ok"]}
    assert entries_in(path) == (acknowledged, len(acknowledged))


def test_b13_a_flush_whose_sync_failed_is_never_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    faults = ["-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO:when=40..48"]
    said = written_under(faults, path, 60)
    failed = [line for line in said if not line["ok"]]
    assert failed, "no sync failed"
    assert all(line["code"] == "commit_unknown" for line in failed), failed
    acknowledged = {line["seq"] for line in said if line["ok"]}
    seqs, _ = entries_in(path)
    assert acknowledged <= seqs


def test_b14_forty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.store.crashing", str(tmp_path / "killed.db"), "40", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["kills"] == 40
    assert result["acknowledged"] >= 40, "each of them had written something"


async def test_b15_an_outside_reader_does_not_hold_up_flushes_and_the_log_shrinks_when_it_ends(
    sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    path = tmp_path / "detent.db"
    node = await Node.register(sqlite_store)
    run = await node.started()
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("begin")
    reader.execute("select count(*) from journal").fetchone()
    payload = b'"' + b"z" * 262_144 + b'"'
    for seq in range(1, CHECKPOINT_BYTES // len(payload) * 2):
        # A flush that waits for the reader is refused in the end: the reader goes on.
        assert await node.flush(entries=[entry(run, seq, data=payload)])
    log = path.with_name("detent.db-wal")
    assert log.stat().st_size > CHECKPOINT_BYTES
    reader.execute("commit")
    reader.close()
    await sqlite_store.compact()
    assert log.stat().st_size == 0


async def test_b15_a_lock_held_for_a_moment_is_waited_for(sqlite_store: SqliteStore, tmp_path: Path) -> None:
    node = await Node.register(sqlite_store)
    run = await node.started()
    locker = sqlite3.connect(tmp_path / "detent.db", isolation_level=None, check_same_thread=False)
    locker.execute("begin immediate")
    release = threading.Timer(0.4, locker.execute, ["rollback"])
    release.start()
    assert await node.flush(entries=entries(run, 3))
    release.join()
    locker.close()


async def test_b15_a_lock_that_is_never_given_up_is_busy_and_nothing_is_written(
    sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    node = await Node.register(sqlite_store)
    run = await node.started()
    locker = sqlite3.connect(tmp_path / "detent.db", isolation_level=None)
    locker.execute("begin immediate")
    with pytest.raises(StoreBusy):
        await node.flush(entries=entries(run, 3))
    locker.execute("rollback")
    locker.close()
    assert await sqlite_store.journal(1, run) == []
    assert await node.flush(entries=entries(run, 3))


async def test_b15_calls_that_wait_behind_others_for_a_lock_are_refused_without_waiting_for_it_in_turn(
    sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    locker = sqlite3.connect(tmp_path / "detent.db", isolation_level=None)
    locker.execute("begin immediate")
    calls = (sqlite_store.send(1, bytes(16), MessageKind.CANCEL, b"{}") for _ in range(6))
    async with asyncio.timeout(5 * BUSY_SECONDS):  # in turn it would be six times
        answers = await asyncio.gather(*calls, return_exceptions=True)
    locker.execute("rollback")
    locker.close()
    assert [type(answer) for answer in answers] == [StoreBusy] * 6
    assert await sqlite_store.send(1, bytes(16), MessageKind.CANCEL, b"{}") is False


async def test_b16_a_second_engine_is_refused_and_told_who_has_the_file(tmp_path: Path) -> None:
    path = tmp_path / "detent.db"
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs on this loop
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdout is not None
        assert engine.stdout.readline() == "held\n"
        with pytest.raises(StoreInUse, match=rf"pid {engine.pid} and answers at http://127\.0\.0\.1:8642") as caught:
            SqliteStore(path, SystemClock())
        assert (caught.value.pid, caught.value.url) == (engine.pid, "http://127.0.0.1:8642")
        client = SqliteStore(path, SystemClock(), role="client")
        assert await client.workflows(1, limit=10) == []
        for write in (
            client.save_workflow(version(), replace=True),
            client.send(1, bytes(16), MessageKind.CANCEL, b"{}"),
        ):
            with pytest.raises(StoreInUse):
                await write
        await client.close()
        engine.send_signal(signal.SIGKILL)
        engine.wait()
    after = SqliteStore(path, SystemClock())
    await after.close()


async def test_b16_a_second_engine_in_the_same_process_is_refused_too(
    sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    with pytest.raises(StoreInUse):
        SqliteStore(tmp_path / "detent.db", SystemClock())


async def test_a_door_takes_the_lock_itself_when_no_engine_lives(tmp_path: Path) -> None:
    path = tmp_path / "detent.db"
    client = SqliteStore(path, SystemClock(), role="client")
    assert await client.save_workflow(version(), replace=False) is not None
    with pytest.raises(StoreInUse):
        SqliteStore(path, SystemClock())
    await client.close()
    engine = SqliteStore(path, SystemClock())
    assert len(await engine.workflows(1, limit=10)) == 1
    await engine.close()


@pytest.mark.case("A12")
async def test_a_new_engine_finds_the_nodes_of_the_last_one_gone_and_adopts_their_runs(tmp_path: Path) -> None:
    """A12: the lock is the lease, so whoever was registered before is dead."""
    path = tmp_path / "detent.db"
    first = SqliteStore(path, SystemClock())
    old = await Node.register(first, ttl=3600)
    run = await old.started()
    await first.close()
    second = SqliteStore(path, SystemClock())
    assert await second.flush(old.id, old.epoch, Flush()) is None
    [claimed] = await (await Node.register(second)).claim()
    assert (claimed.id, claimed.adopted, claimed.generation) == (run, True, 2)
    await second.close()


async def test_the_lease_of_a_node_with_a_heart_does_not_end_by_time(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "detent.db", SystemClock())
    node = await Node.register(store, ttl=0.05)
    heartbeat = store.heartbeat(node.id, ttl=0.05, interval=0.01)
    heartbeat.start()
    await asyncio.sleep(0.1)
    assert await store.overdue() == []
    assert not heartbeat.lost()
    await heartbeat.stop()
    await store.close()


async def test_time_never_goes_back_when_the_machines_clock_does(tmp_path: Path) -> None:
    class Stepping(SystemClock):
        times = iter([5_000, 4_000, 9_000, 1_000])

        def wall(self) -> int:
            return next(self.times, 1_000)

    store = SqliteStore(tmp_path / "detent.db", Stepping())
    assert [await store.now() for _ in range(5)] == [5_000, 5_000, 9_000, 9_000, 9_000]
    await store.close()


async def test_b20_doctor_warns_of_a_library_with_the_log_fault_and_of_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "detent.db"
    store = SqliteStore(path, SystemClock())
    node = await Node.register(store)
    for _ in range(20):
        run = start(owned=True)
        await node.flush(starts=[run], entries=entries(run.id, 50), ends=[end(run.id)])
    await store.compact()
    findings = {finding.subject: finding for finding in await store.examine()}
    assert findings["durability"].level == findings["integrity"].level == findings["schema"].level == "ok"
    assert ("version" in findings) == (sqlite3.sqlite_version_info < (3, 51, 3))
    await store.close()
    with path.open("r+b") as file:
        file.seek(4096 * 12)
        file.write(b"\xff" * 4096 * 6)
    damaged = SqliteStore(path, SystemClock())
    try:
        levels = {finding.subject: finding.level for finding in await damaged.examine()}
        assert levels["integrity"] == "error"
    finally:
        await damaged.close()


async def test_b22_a_file_of_a_newer_detent_is_refused_and_an_old_or_empty_one_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "detent.db"
    url = f"sqlite:///{path}"
    assert await stored_revision(url) is None
    assert await migrate_store(url) == HEAD
    assert await stored_revision(url) == HEAD
    db = sqlite3.connect(path)
    db.execute("update alembic_version set version_num = '9999'")
    db.commit()
    await SqliteStore(path, SystemClock()).close()
    db.execute("update setting set value = '9000' where name = 'oldest_code'")
    db.commit()
    db.close()
    with pytest.raises(SchemaMismatch, match="newer"):
        SqliteStore(path, SystemClock())
    with pytest.raises(SchemaMismatch, match="newer"):
        await migrate_store(url)


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database\n" * 400)
    with pytest.raises(StoreError, match="not a database"):
        SqliteStore(path, SystemClock())
    with pytest.raises(StoreError):
        SqliteStore(tmp_path, SystemClock())
