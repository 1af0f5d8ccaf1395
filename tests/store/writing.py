"""Writes to a SQLite file on a disk that fails, and says how each flush ended: `python -m tests.store.writing`."""

import asyncio
import json
import sys
from pathlib import Path

from detent.clock import SystemClock
from detent.errors import StoreError
from detent.store.rows import Flush
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.crashing import RUN
from tests.store.make import end, entries, entry, start

NODE = bytes(15) + b"\x02"


async def main(path: Path, flushes: int) -> None:
    store = SqliteStore(path, SystemClock())
    epoch, _ = await store.register(NODE, ttl=60)
    await store.flush(NODE, epoch, Flush(starts=[start(id=RUN, owned=True)]))
    for number in range(1, flushes + 1):
        run = start(owned=True)
        flush = Flush(starts=[run], entries=[entry(RUN, number), *entries(run.id, 20)], ends=[end(run.id)])
        try:
            await store.flush(NODE, epoch, flush)
            said: dict[str, object] = {"seq": number, "ok": True}
        except StoreError as error:
            said = {"seq": number, "ok": False, "code": error.code, "message": str(error)}
        sys.stdout.write(json.dumps(said) + "\n")
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
