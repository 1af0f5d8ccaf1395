"""Maintenance of a SQLite file: retention, space, and the findings of `doctor`."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from detent.run.status import UNCOMPLETED
from detent.store.list_rows import Orphan
from detent.store.rows import CONTINUED, FORWARDED, Finding, MessageKind
from detent.store.sql.schema import StoredRevision, describe
from detent.store.sql.sqlite.connection import (
    CHECKPOINT_BYTES,
    SqliteAccess,
    check_folder,
    checkpoint,
    connect,
    make_durable,
    migrate,
    stored_revision,
)
from detent.store.sql.sqlite.lock import FileLock
from detent.store.sql.verbs import PruneScope, PruneWindow, RunPlace, SharedMaintenance, orphan

# What needs a file without an engine: reading its revision, migrating it.


def migrate_file(path: Path, to: str | None = None, *, force: bool = False) -> str:
    """Bring the tables of a file to a revision, by default the newest.

    Raise StoreInUse while an engine has the file."""
    check_folder(path)
    lock = FileLock(path)
    lock.take()
    try:
        connection = connect(path, writing=True)
        try:
            make_durable(connection)
            return migrate(connection, to, force=force)
        finally:
            connection.close()
    finally:
        lock.release()


def file_revision(path: Path) -> StoredRevision:
    """Return the revision of a file's tables."""
    if not path.exists():
        return StoredRevision(None)
    connection = connect(path, writing=False)
    try:
        return stored_revision(connection)
    finally:
        connection.close()


OLD: Final = """
create temp table if not exists old (id blob primary key);
delete from old;"""
WINDOW: Final = """
select r.id, r.ended_at, r.workflow, r.version,
  exists (select 1 from run p where p.id = r.parent and p.ended_at is null), r.tenant
from run r indexed by run_ended
where r.status = :status and r.ended_at < :before and r.ended_at >= :ended_at and (r.ended_at > :ended_at or r.id > :id)
order by r.ended_at, r.id limit :size"""
WINDOW_OF_TENANT: Final = """
select r.id, r.ended_at, r.workflow, r.version,
  exists (select 1 from run p where p.id = r.parent and p.ended_at is null), r.tenant
from run r indexed by run_tenant
where r.tenant = :tenant and r.id > :id and r.id < :below and r.ended_at < :before
order by r.id limit :size"""
BELONGING: Final = (
    *((table, "run") for table in ("journal", "callback", "inbox", "kept", "link", "reservation", "step_log")),
    ("run", "id"),
)
#: `cross join` and `indexed by`: without statistics SQLite would follow the order and read every run.
ORPHANS: Final = f"""
select c.tenant, c.id, c.opening, p.id, p.status
from run p indexed by run_ended cross join run c indexed by run_parent on c.parent = p.id
where p.status in ({", ".join(f"'{status}'" for status in sorted(UNCOMPLETED))}) and p.ended_at >= ?
  and c.ended_at is null and c.id > ?
  and not exists (select 1 from inbox i where i.run = c.id and i.kind = '{MessageKind.CANCEL}')
order by c.id limit ?"""
#: Only this thread writes, so forwarded mail cannot become late again before the rest is deleted.
FORWARD_LATE: Final = f"""
update inbox set run = successor.id
from run successor
where inbox.kind in ({", ".join(f"'{kind}'" for kind in FORWARDED)})
  and successor.origin = inbox.run and successor.origin_kind = '{CONTINUED}'
  and not exists (select 1 from run where id = inbox.run and ended_at is null)"""
#: Before this version, two connections that write and checkpoint can lose data of the log.
RESET_FIXED: Final = (3, 51, 3)
SLICE_PAGES: Final = 256
_FULL: Final = 2


class SqliteMaintenance(SharedMaintenance):
    """The maintenance of a file. Long work runs in small slices, so that flushes run in between."""

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self._file = access

    async def check(self) -> None:
        # This writes and syncs a page although nothing changes. So a full disk is found before a start fails because of
        # it.
        await self._file.write(lambda db: db.execute("update alembic_version set version_num = version_num"))

    async def _prune_window(self, scope: PruneScope, before: int, behind: RunPlace, size: int) -> PruneWindow:
        asked: dict[str, Any] = {"before": before, "id": behind[1], "size": size}
        if scope.tenant is None:
            asked |= {"status": scope.status, "ended_at": behind[0]}
            return await self._file.write(lambda db: _prune(db, WINDOW, asked, scope.spared))
        asked |= {"tenant": scope.tenant, "below": scope.below}
        return await self._file.write(lambda db: _prune(db, WINDOW_OF_TENANT, asked))

    async def orphans(self, *, since: int, after: bytes, limit: int) -> list[Orphan]:
        rows = await self._file.read(lambda db: db.execute(ORPHANS, (since, after, limit)).fetchall())
        return [orphan(row) for row in rows]

    async def tidy(self) -> None:
        def work(db: sqlite3.Connection) -> None:
            while db.execute(FORWARD_LATE).rowcount:
                pass  # to the next run of the chain
            db.execute("delete from inbox where run not in (select id from run where ended_at is null)")

        await self._file.write(work)

    async def compact(self) -> int:
        before = await self._file.write(_size_after_checkpoint)
        while await self._file.write(_vacuum_slice):
            pass
        return before - await self._file.write(_size_after_checkpoint)

    async def examine(self) -> list[Finding]:
        log = self._file.path.with_name(f"{self._file.path.name}-wal")
        log_bytes = log.stat().st_size if log.exists() else 0
        findings = await self._file.read(_examine)
        if self._file.lock.held:
            findings.append(await self._file.write(_durability))
        if log_bytes > 4 * CHECKPOINT_BYTES:
            problem = f"the log has grown to {log_bytes >> 20} MB: some process reads the file and does not end"
            findings.append(Finding("warning", "log", problem))
        return findings


def _prune(db: sqlite3.Connection, window: str, asked: dict[str, Any], spared: Collection[int] = ()) -> PruneWindow:
    found = db.execute(window, asked).fetchall()  # only this thread writes
    rows = [row for row in found if not row[4] and row[5] not in spared]
    old = [(row[0],) for row in rows]
    if old:
        db.executescript(OLD)
        db.execute("begin immediate")
        db.executemany("insert into old values (?)", old)
        for table, column in BELONGING:
            db.execute(f"delete from {table} where {column} in (select id from old)")
        db.execute("commit")
    last = (found[-1][1], found[-1][0]) if len(found) == asked["size"] else None
    return PruneWindow(len(old), last, [(row[2], row[3]) for row in rows if row[3] < 0])


def _size_after_checkpoint(db: sqlite3.Connection) -> int:
    checkpoint(db)
    pages, size = db.execute("pragma page_count").fetchone()[0], db.execute("pragma page_size").fetchone()[0]
    return int(pages) * int(size)


def _vacuum_slice(db: sqlite3.Connection) -> bool:
    """Free a few pages. Return True if there are more."""
    free = int(db.execute("pragma freelist_count").fetchone()[0])
    if free == 0:
        return False
    # A script runs to its end; `execute` would stop after the first page.
    db.executescript(f"pragma incremental_vacuum({SLICE_PAGES})")
    return free > int(db.execute("pragma freelist_count").fetchone()[0]) > 0


def _durability(db: sqlite3.Connection) -> Finding:
    mode = db.execute("pragma journal_mode").fetchone()[0]
    if int(db.execute("pragma synchronous").fetchone()[0]) < _FULL:
        return Finding("error", "durability", "synchronous is not FULL: a power cut can lose acknowledged writes")
    if mode != "wal":
        return Finding(
            "error", "durability", f"journal_mode is {mode}: the file must be on a local disk that allows WAL"
        )
    return Finding("ok", "durability", "write-ahead log with synchronous=FULL")


def _examine(db: sqlite3.Connection) -> list[Finding]:
    findings = []
    if sqlite3.sqlite_version_info < RESET_FIXED:
        fault = f"SQLite {sqlite3.sqlite_version} has a fault in its log (fixed in 3.51.3)"
        findings.append(Finding("warning", "version", f"{fault}: let no other program write to the file"))
    findings.append(describe(stored_revision(db)))
    checked = db.execute("pragma quick_check(1)").fetchone()[0]
    sound = Finding("ok", "integrity", "the file is sound")
    findings.append(sound if checked == "ok" else Finding("error", "integrity", f"the file is damaged: {checked}"))
    if not int(db.execute("pragma auto_vacuum").fetchone()[0]):
        findings.append(Finding("warning", "space", "the file does not shrink; run VACUUM once with auto_vacuum on"))
    return findings
