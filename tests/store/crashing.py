"""Kills writers of a SQLite file at random moments and checks the file after each: `python -m tests.store.crashing`.

Children are forked from one warm process, so that a life takes milliseconds. A child writes a number to a pipe after
each flush that was acknowledged; after its death the file must hold at least those, without a gap, and be sound.
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
from pathlib import Path

from detent.clock import SystemClock
from detent.store.rows import Flush
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.make import entry, start

RUN = bytes(15) + b"\x01"
PAYLOAD = b'{"x":"' + b"y" * 700 + b'"}'


def main(path: Path, lives: int, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged = 0
    for done in range(lives):
        acknowledged = max(acknowledged, _one_life(path, chance, acknowledged))
        _check(path, acknowledged, thorough=done % 25 == 0)
    _check(path, acknowledged, thorough=True)
    sys.stdout.write(json.dumps({"kills": lives, "acknowledged": acknowledged}))


def _one_life(path: Path, chance: random.Random, before: int) -> int:
    """The last number that was acknowledged before the kill."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            asyncio.run(_write(path, writer))
        finally:
            os._exit(1)
    os.close(writer)
    first = os.read(reader, 8)  # it is at work
    signal.sigtimedwait([], chance.random() * 0.03)  # the moment of death is chance, not a signal
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    said = first + b"".join(iter(lambda: os.read(reader, 65536), b""))
    os.close(reader)
    assert first, "a child ended before its first flush"
    whole = len(said) // 8 * 8
    return max(before, int.from_bytes(said[whole - 8 : whole], "big"))


async def _write(path: Path, writer: int) -> None:
    store = SqliteStore(path, SystemClock())
    node = os.urandom(16)
    epoch, _ = await store.register(node, ttl=60)
    if await store.run(1, RUN) is None:
        await store.flush(node, epoch, Flush(starts=[start(id=RUN)]))
    seq = len(await store.journal(1, RUN))
    while True:
        batch = range(seq + 1, seq + 1 + random.choice((1, 1, 5, 40)))
        await store.flush(node, epoch, Flush(entries=[entry(RUN, number, data=PAYLOAD) for number in batch]))
        seq = batch[-1]
        os.write(writer, seq.to_bytes(8, "big"))


def _check(path: Path, acknowledged: int, *, thorough: bool) -> None:
    db = sqlite3.connect(path)
    try:
        count, last = db.execute("select count(*), coalesce(max(seq), 0) from journal").fetchone()
        assert count == last >= acknowledged, (
            f"{acknowledged} were acknowledged, {count} entries up to {last} are there"
        )
        if thorough:
            assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
    finally:
        db.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
