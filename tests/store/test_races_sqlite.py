"""What DESIGN says of SQLite, on a real file: the wrong way beside ours."""

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.make import Node, entries, entry, start

pytestmark = pytest.mark.slow


async def test_many_entries_are_written_by_as_many_statements_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`executemany` has a statement per row, and gives up and takes Python's lock for each: slow beside a busy loop."""
    said: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(*arguments, **options)
        opened.set_trace_callback(said.append)
        return opened

    monkeypatch.setattr(sqlite3, "connect", traced)
    store = SqliteStore(tmp_path / "detent.db", SystemClock())
    node = await Node.register(store)
    run = await node.started()
    said.clear()
    assert await node.flush(entries=entries(run, 1))
    one = len(said)
    assert await node.flush(entries=[entry(run, seq) for seq in range(2, 252)])
    assert len(said) == 2 * one > 0
    await store.close()
    wrong = sqlite3.connect(":memory:", isolation_level=None)
    wrong.execute("create table journal (run blob, seq int, primary key (run, seq)) without rowid")
    said.clear()
    wrong.executemany("insert into journal values (?, ?)", [(run, seq) for seq in range(250)])
    wrong.close()
    assert len(said) >= 250


async def test_a_backup_in_steps_never_ends_beside_a_writer_and_vacuum_into_does(
    sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    node = await Node.register(sqlite_store)
    runs = [start(owned=True) for _ in range(300)]
    await node.flush(starts=runs, entries=[found for run in runs for found in entries(run.id, 10)])
    await sqlite_store.compact()
    ended = asyncio.Event()
    written = threading.Event()

    async def write() -> int:
        seq = 10
        while not ended.is_set():
            seq += 1
            await node.flush(entries=[entry(runs[0].id, seq)])
            written.set()
        return seq

    def in_steps() -> int:
        """Stop the backup when it has begun again three times; 0: it came to its end. A flush comes at each step."""
        source, copy = sqlite3.connect(tmp_path / "detent.db"), sqlite3.connect(tmp_path / "steps.db")
        left, restarts = 1 << 60, 0

        def progress(status: int, remaining: int, total: int) -> None:
            nonlocal left, restarts
            restarts += remaining >= left
            left = remaining
            written.clear()
            written.wait(60)
            if restarts == 3:
                raise TimeoutError

        try:
            source.backup(copy, pages=5, progress=progress)
            return 0
        except TimeoutError:
            return restarts
        finally:
            source.close()
            copy.close()

    def whole() -> int:
        source = sqlite3.connect(tmp_path / "detent.db")
        source.execute("vacuum into ?", (str(tmp_path / "whole.db"),))
        source.close()
        copy = sqlite3.connect(tmp_path / "whole.db")
        assert copy.execute("pragma integrity_check").fetchall() == [("ok",)]
        count = int(copy.execute("select count(*) from journal").fetchone()[0])
        copy.close()
        return count

    writing = asyncio.create_task(write())
    assert await asyncio.to_thread(in_steps) > 0, "the backup in steps should have begun anew"
    copied = await asyncio.wait_for(asyncio.to_thread(whole), 300)
    ended.set()
    last = await writing
    assert 3_000 <= copied <= 3_000 + last
    restored = SqliteStore(tmp_path / "whole.db", SystemClock())
    assert len(await restored.journal(1, runs[1].id)) == 10
    await restored.close()


async def test_readers_see_what_was_acknowledged_at_once(sqlite_store: SqliteStore) -> None:
    node = await Node.register(sqlite_store)
    run = await node.started()
    for seq in range(1, 60):
        await node.flush(entries=[entry(run, seq)])
        assert len(await sqlite_store.journal(1, run)) == seq


async def test_flushes_and_doors_at_the_same_time_do_not_disturb_each_other(sqlite_store: SqliteStore) -> None:
    node = await Node.register(sqlite_store)
    runs = [await node.started() for _ in range(8)]

    async def write(run: bytes) -> None:
        for seq in range(1, 30):
            assert await node.flush(entries=[entry(run, seq)])

    async def read(run: bytes) -> None:
        for _ in range(30):
            seqs = [found.seq for found in await sqlite_store.journal(1, run)]
            assert seqs == list(range(1, len(seqs) + 1))

    await asyncio.gather(*(write(run) for run in runs), *(read(run) for run in runs))
