"""A PostgreSQL whose disk is full: nothing is half written, nothing lost, and it goes on when there is room."""

import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import StoreBusy
from detent.run.journal import Entry
from detent.store.rows import Flush
from detent.store.sql.postgres.store import PostgresStore
from tests.servers.postgres import PostgresServer
from tests.store.make import Node, entry
from tests.store.sessions import session

pytestmark = pytest.mark.slow


def mount(*words: str) -> None:
    done = subprocess.run(["mount", "-t", "tmpfs", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"this test needs to mount a small disk: {done.stderr}"


@pytest.fixture
def small_disk(postgres: PostgresServer) -> Iterator[Path]:
    """A disk of 4 MB that belongs to the server."""
    owner = Path(postgres.query("show data_directory").strip()).stat()
    with tempfile.TemporaryDirectory(prefix="detent-disk-") as folder:
        Path(folder).chmod(0o755)
        disk = Path(folder) / "disk"
        disk.mkdir()
        mount("-o", f"size=4m,uid={owner.st_uid},gid={owner.st_gid},mode=700", "tmpfs", str(disk))
        try:
            yield disk
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=True)


def large(run: bytes, seq: int) -> Entry:
    return entry(run, seq, data=b'{"result":"%b"}' % secrets.token_hex(800).encode())


async def refused(store: PostgresStore, node: Node, batch: list[Entry]) -> str | None:
    """Why the store did not take the entries; null if it did."""
    try:
        assert await store.flush(node.id, node.epoch, Flush(entries=batch))
    except StoreBusy as error:
        return error.message
    return None


@pytest.mark.case("B12")
async def test_a_full_disk_refuses_flushes_whole_and_takes_them_again_when_there_is_room(
    postgres_store: PostgresStore, postgres_database: str, small_disk: Path
) -> None:
    space = f"small_{secrets.token_hex(4)}"
    node = await Node.register(postgres_store)
    run = await node.started()
    async with session(postgres_database) as connection:
        await connection.execute(f"create tablespace {space} location '{small_disk}'")
        week = await connection.fetchval("select tableoid::regclass::text from journal limit 1")
        assert week is None
        await node.flush(entries=[large(run, 1)])
        week = await connection.fetchval("select tableoid::regclass::text from journal limit 1")
        await connection.execute(f"alter table {week} set tablespace {space}")
        acknowledged, batch = 1, [large(run, more) for more in range(2, 52)]
        while (refusal := await refused(postgres_store, node, batch)) is None and acknowledged < 10_000:
            acknowledged += len(batch)
            batch = [large(run, acknowledged + more) for more in range(1, 51)]
        assert "53100" in (refusal or "it was never full")
        assert 1 < acknowledged < 10_000
        assert len(await postgres_store.journal(1, run)) == acknowledged, "a refused flush left a part of itself"
        mount("-o", "remount,size=64m", "tmpfs", str(small_disk))
        assert await postgres_store.flush(node.id, node.epoch, Flush(entries=batch))
        assert [found.seq for found in await postgres_store.journal(1, run)] == list(range(1, acknowledged + 51))
        await connection.execute(f"alter table {week} set tablespace pg_default")
        await connection.execute(f"drop tablespace {space}")
