"""The two ways to a SQLite file: the one thread that writes, and the one that reads."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final, Literal, TypeVar

from detent.clock import Clock
from detent.errors import StoreInUse
from detent.store.sql.sqlite.file import BUSY_SECONDS, connect, prepare
from detent.store.sql.sqlite.lock import FileLock
from detent.store.sql.sqlite.worker import Work, Worker, translated

T = TypeVar("T")
Role = Literal["engine", "door"]

#: The log is written back into the file when it has grown by this much.
CHECKPOINT_BYTES: Final = 16 << 20


class Access:
    """Holds the file's lock while it may write. A door that finds an engine at work may only read."""

    def __init__(self, path: Path, clock: Clock, *, role: Role) -> None:
        self.path = path
        self.lock = FileLock(path)
        self._clock = clock
        self._last = 0
        self._log = path.with_name(f"{path.name}-wal")
        self._checkpoint_at = CHECKPOINT_BYTES
        self._writer = self._take(role)
        self._reader = Worker(connect(path, writing=False), name="detent-sqlite-reader", writes=False)

    def _take(self, role: Role) -> Worker | None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.lock.take()
        except StoreInUse:
            if role == "engine":
                raise
            return None
        try:
            connection = connect(self.path, writing=True)
            prepare(connection)
            if role == "engine":
                # The lock is the lease: whoever was registered before is gone.
                connection.executescript("begin immediate; delete from node; delete from lease; commit;")
        except sqlite3.Error as error:
            self.lock.release()
            raise translated(error, writing=False) from error
        except BaseException:
            self.lock.release()
            raise
        return Worker(connection, name="detent-sqlite-writer", writes=True)

    def time(self) -> int:
        """This machine's time, which never goes back."""
        self._last = max(self._last, self._clock.wall())
        return self._last

    async def read(self, work: Work[T]) -> T:
        return await self._reader.call(work)

    async def write(self, work: Work[T]) -> T:
        """Run `work` on the connection that writes. It commits by itself, or not at all."""
        if self._writer is None:
            raise self.lock.in_use()
        try:
            return await self._writer.call(work)
        finally:
            if self._log_size() > self._checkpoint_at:
                self._writer.post(self._checkpoint)

    def post(self, work: Work[object]) -> None:
        if self._writer:
            self._writer.post(work)

    def close(self) -> None:
        self._reader.close()
        if self._writer:
            self._writer.close()
        self.lock.release()

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        if self._log_size() <= self._checkpoint_at:
            return  # it was done while this waited for its turn
        blocked = checkpoint(connection)
        # A reader that stays would make every flush try in vain: next when as much has been added again.
        self._checkpoint_at = (self._log_size() if blocked else 0) + CHECKPOINT_BYTES


def checkpoint(connection: sqlite3.Connection) -> bool:
    """Write the log back into the file and empty it. True if a reader was in the way; nobody waits for it."""
    connection.execute("pragma busy_timeout = 0")
    try:
        row = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    finally:
        connection.execute(f"pragma busy_timeout = {int(BUSY_SECONDS * 1000)}")
    return bool(row[0])
