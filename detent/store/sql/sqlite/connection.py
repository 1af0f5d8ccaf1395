"""Access to a SQLite file: one thread that writes, and one that reads."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec
from sqlalchemy import ClauseElement, Dialect
from sqlalchemy.dialects import sqlite

from detent.clock import Clock
from detent.errors import CommitUnknown, StoreBusy, StoreError, StoreFull, StoreInUse
from detent.store.audit import AuditRow, unwritten_audit
from detent.store.sql import schema
from detent.store.sql.access import ADD_AUDIT, Rows, Script, SqlAccess
from detent.store.sql.compiler import Values, compiled, read_sql
from detent.store.sql.schema import REVISION, StoredRevision
from detent.store.sql.sqlite.lock import FileLock

# The database file: how it is opened and brought to the revision this code needs.


BUSY_SECONDS: Final = 5.0
#: The oldest SQLite with JSON operators and strict tables.
OLDEST: Final = (3, 38, 0)

_FLUSH: Final = read_sql(__package__, "flush.sql")


def check_folder(path: Path) -> None:
    """Raise StoreError if the folder of a database file does not exist. Creating it would hide a mistyped name."""
    if not path.parent.is_dir():
        raise StoreError(
            f"cannot open {path}: there is no folder {path.parent.absolute()}; create it or correct the URL"
        )


def connect(path: Path, *, writing: bool) -> sqlite3.Connection:
    """Open a connection for one thread. Only the one that writes may create or change the file."""
    if sqlite3.sqlite_version_info < OLDEST:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: Detent needs 3.38 or newer")
    mode = "rwc" if writing else "ro"
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.Error as error:
        raise StoreError(f"cannot open {path}: {error}") from error
    connection.execute("pragma temp_store = memory")
    connection.execute("pragma cache_size = -12288")  # 12 MB: most writes are new rows, so a small cache is enough
    return connection


def make_durable(connection: sqlite3.Connection) -> None:
    """Set how the file is written."""
    connection.execute("pragma auto_vacuum = incremental")  # has an effect only on a file without tables
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("pragma wal_autocheckpoint = 0")  # the writer checkpoints between flushes


def prepare(connection: sqlite3.Connection) -> None:
    """Make the file durable and bring its tables to the revision this code needs."""
    make_durable(connection)
    stored = stored_revision(connection)
    if schema.is_older(stored):
        migrate(connection, schema.HEAD)
    else:
        schema.require_fit(stored)
    connection.executescript(_FLUSH)


def migrate(connection: sqlite3.Connection, to: str | None = None, *, force: bool = False) -> str:
    """Bring the tables to a revision, by default the newest, as one transaction, and return it."""
    from detent.store.migrations.plan import BASE, plan  # Alembic: only when it is needed

    migrations = plan("sqlite", stored_revision(connection), to, force=force)
    text = ";\n".join(statement for migration in migrations for statement in migration.statements)
    try:
        connection.executescript(f"begin immediate;\n{text};\ncommit;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.rollback()
        raise
    return stored_revision(connection).revision or BASE


def stored_revision(connection: sqlite3.Connection) -> StoredRevision:
    """Return the revision of the tables."""
    if not connection.execute("select 1 from sqlite_master where name = 'alembic_version'").fetchone():
        return StoredRevision(None)
    return StoredRevision.read(connection.execute(REVISION).fetchone())


# A thread that owns one connection and runs one call at a time.


T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
_Item = tuple[Work[Any], "asyncio.AbstractEventLoop | None", "asyncio.Future[Any] | None", float]

_PRIMARY: Final = (1 << 8) - 1  # the low byte of an extended result code


class Worker:
    """A thread that runs calls in the order they came.

    If `writes`, a disk error leaves unknown whether a call was applied."""

    def __init__(self, connection: sqlite3.Connection, *, name: str, writes: bool) -> None:
        self._connection, self._writes = connection, writes
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def call(self, work: Work[T]) -> T:
        """Run `work` with the connection and return its result. Errors of SQLite are translated to ours."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((work, loop, future, time.monotonic()))
        return await future

    def post(self, work: Work[Any]) -> None:
        """Queue `work` without waiting for its result."""
        self._queue.put((work, None, None, time.monotonic()))

    def close(self) -> None:
        """Stop the thread after every queued call has run."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            work, loop, future, asked = item
            result, error = self._attempt(work) if self._is_in_time(asked, future) else (None, _late())
            if loop and future:
                with contextlib.suppress(RuntimeError):  # the caller's loop is closed
                    loop.call_soon_threadsafe(_settle, future, result, error)

    def _is_in_time(self, asked: float, future: asyncio.Future[Any] | None) -> bool:
        """Return whether a call may still start.

        After a long wait for its turn, its caller cannot also wait for the lock."""
        return future is None or not self._writes or time.monotonic() - asked < BUSY_SECONDS

    def _attempt(self, work: Work[Any]) -> tuple[Any, BaseException | None]:
        try:
            return work(self._connection), None
        except Exception as error:  # noqa: BLE001 - the caller gets it
            with contextlib.suppress(sqlite3.Error):
                self._connection.rollback()
            return None, translated(error, writing=self._writes)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def _late() -> StoreBusy:
    return StoreBusy("SQLite: the calls before this one took too long; nothing was written")


def translated(error: Exception, *, writing: bool) -> Exception:
    """Return an error of SQLite as one of our errors."""
    if not isinstance(error, sqlite3.Error):
        return error
    said = StoreError(f"SQLite: {error}")
    match getattr(error, "sqlite_errorcode", 0) & _PRIMARY:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            said = StoreBusy(f"SQLite: {error}")
        case sqlite3.SQLITE_FULL:
            said = StoreFull("SQLite: the disk is full; nothing was written")
        case sqlite3.SQLITE_IOERR if writing:
            # The bytes may still have reached the disk, and count after a restart.
            said = CommitUnknown(f"SQLite: {error}: the disk failed while something was written")
    said.__cause__ = error
    return said


DIALECT: Final[Dialect] = sqlite.dialect(paramstyle="qmark")
Role = Literal["engine", "client"]

#: The log is checkpointed when it has grown by this much.
CHECKPOINT_BYTES: Final = 16 << 20


class SqliteAccess(SqlAccess):
    """Owns the file's lock, its writer and its reader. A client that finds an engine running may only read."""

    def __init__(self, path: Path, clock: Clock, *, role: Role) -> None:
        self.path = path
        self.lock = FileLock(path)
        self._clock = clock
        self._last = 0
        self._log = path.with_name(f"{path.name}-wal")
        self._checkpoint_at = CHECKPOINT_BYTES
        self._writer = self._take(role)
        reading = connect(path, writing=False)
        if self._writer is None:
            self._check(reading)
        self._reader = Worker(reading, name="detent-sqlite-reader", writes=False)

    def _take(self, role: Role) -> Worker | None:
        check_folder(self.path)
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
                # The lock is the lease: every node that was registered before is gone.
                connection.executescript("begin immediate; delete from node; delete from lease; commit;")
        except sqlite3.Error as error:
            self.lock.release()
            raise translated(error, writing=False) from error
        except BaseException:
            self.lock.release()
            raise
        return Worker(connection, name="detent-sqlite-writer", writes=True)

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise SchemaMismatch if the tables belong to an engine with newer code and this code cannot use them."""
        stored = stored_revision(connection)
        try:
            if stored.revision is not None:
                schema.require_fit(stored)
        except BaseException:
            connection.close()
            raise

    def time(self) -> int:
        """Return this machine's time, which never goes back."""
        self._last = max(self._last, self._clock.wall())
        return self._last

    async def now(self) -> int:
        return self.time()

    async def query(self, clause: ClauseElement, values: Values) -> Rows:
        return await self._reader.call(lambda db: _fetch(db, clause, values))

    async def run_transaction(self, begin: Callable[[], Script[T]]) -> T:
        def work(db: sqlite3.Connection) -> T:
            script, rows = begin(), None
            db.execute("begin immediate")
            while True:
                try:
                    clause, values = next(script) if rows is None else script.send(rows)
                except StopIteration as end:
                    db.execute("commit")
                    result: T = end.value
                    return result
                rows = _fetch(db, clause, values)

        return await self.write(work)

    async def change(self, work: Work[T]) -> T:
        """Run one statement that commits by itself. If it returns something and the command is audited, its row is
        written in the same transaction."""
        audit = unwritten_audit()
        if audit is None:
            return await self.write(work)
        row = audit.row()

        def both(db: sqlite3.Connection) -> T:
            db.execute("begin immediate")
            result = work(db)
            if result:
                add_audit(db, row)
            db.execute("commit")
            return result

        result = await self.write(both)
        audit.is_written = bool(result)
        return result

    async def read(self, work: Work[T]) -> T:
        return await self._reader.call(work)

    async def write(self, work: Work[T]) -> T:
        """Run `work` on the connection that writes. `work` commits by itself, or not at all."""
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

    async def close(self) -> None:
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
            return  # another checkpoint ran while this one waited for its turn
        blocked = checkpoint(connection)
        # A reader that stays would make every flush try in vain. So try again only when as much has been added again.
        self._checkpoint_at = (self._log_size() if blocked else 0) + CHECKPOINT_BYTES


def add_audit(db: sqlite3.Connection, row: AuditRow) -> None:
    """Write a row of the audit, unless it exists."""
    _fetch(db, ADD_AUDIT, row._asdict())


def _fetch(db: sqlite3.Connection, clause: ClauseElement, values: Values) -> Rows:
    statement = compiled(clause, DIALECT)
    arguments = [_packed(value) if type(value) is list else value for value in statement.arguments(values)]
    return db.execute(statement.text, arguments).fetchall()


def _packed(values: list[Any]) -> bytes | str:
    """Return a list as one argument (see `InList`): ids concatenated, texts as JSON."""
    if isinstance(values[0], bytes):
        return b"".join(values)
    return msgspec.json.encode(values).decode()


def checkpoint(connection: sqlite3.Connection) -> bool:
    """Write the log back into the file and empty it.

    Return True if a reader blocked it; it never waits for the reader."""
    connection.execute("pragma busy_timeout = 0")
    try:
        row = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    finally:
        connection.execute(f"pragma busy_timeout = {int(BUSY_SECONDS * 1000)}")
    return bool(row[0])
