"""The verbs of a node on a SQLite file: flushes, claims and registration."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from detent.clock import Clock
from detent.instant import micros
from detent.run.journal import Entry
from detent.store.heartbeat import Heartbeat, NoHeartbeat
from detent.store.letters import NewLetter
from detent.store.links import NewLink
from detent.store.rows import (
    FORWARDED,
    NO_ID,
    ClaimedRun,
    ClaimResult,
    End,
    Favoured,
    Flush,
    Flushed,
    Mail,
    Message,
    NewRun,
    released_key,
)
from detent.store.sql.compiler import in_order, is_checked, read_sql, successors
from detent.store.sql.sqlite.connection import SqliteAccess, Work, add_audit
from detent.store.sql.verbs import WINDOW, SharedNodeVerbs, encoded, entry, mail, offered

# A flush becomes the arguments of one statement: JSON for small values, one blob for ids and payloads.


_encoder: Final = msgspec.json.Encoder()
_NOTHING: Final = "[]"

Row = tuple[Any, ...]


class Bytes:
    """Blobs side by side. A position counts from 1, as in SQL."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 1

    def place(self, data: bytes | None) -> int | None:
        """Append an id and return its position. `None` has no position, and nothing is appended."""
        if data is None:
            return None
        place = self._size
        self._parts.append(data)
        self._size += len(data)
        return place

    def span(self, data: bytes | None) -> tuple[int | None, int | None]:
        """Append a payload and return its position and its length."""
        return (None, None) if data is None else (self.place(data), len(data))

    def joined(self) -> bytes:
        return b"".join(self._parts)


def flush_arguments(node: bytes, epoch: int, flush: Flush, *, again: bool, checked: bool, now: int) -> list[Any]:
    """Return node, epoch, again, checked, now, bytes, and the lists in the order of the view `flush`."""
    packed = Bytes()
    lists = [
        _json([_start(start, packed, checked) for start in flush.starts]),
        _json(_messages(flush, packed, again=again)),
        _json(_entries(flush.entries, packed)),
        _json([(packed.place(row.run), row.tenant, row.step, int(row.early), row.ask) for row in flush.callbacks]),
        _json([(packed.place(row.run), *row[1:]) for row in flush.last_activations()]),
        _json([(packed.place(run), step) for run, step in flush.expiries]),
        _json([(packed.place(row.run), *row[1:]) for row in flush.parks]),
        _json([_end(end, packed) for end in flush.ends]),
        _json(flush.consumed),
    ]
    return [node, epoch, int(again), len(flush.starts) if checked else 0, now, packed.joined(), *lists]


def ids(values: Sequence[bytes]) -> tuple[str, bytes]:
    """Return ids in a form that a statement can join: a JSON list of their positions, and their bytes."""
    return _json([number * 16 + 1 for number in range(len(values))]), b"".join(values)


def _json(rows: Sequence[Any]) -> str:
    return str(_encoder.encode(rows), "utf-8") if rows else _NOTHING


def _entries(entries: Sequence[Entry], packed: Bytes) -> list[Row]:
    place = packed.place
    return [
        (place(run), place(data), len(data), seq, tenant, at, kind, step, attempt, outcome)
        for tenant, run, seq, at, kind, step, attempt, outcome, data in entries
    ]


def _start(start: NewRun, packed: Bytes, checked: bool) -> Row:
    usual = (
        packed.place(start.id), packed.place(start.workflow), packed.place(start.origin), packed.place(start.parent),
        *packed.span(start.request_hash), *packed.span(start.input), *packed.span(start.opening), int(start.owned),
        start.tenant, start.version, start.status, start.trigger, start.wake_at, start.expires_at, start.queue,
        start.priority, start.code, start.request_id, start.hero_type, start.hero_id, start.labels, start.started_at,
    )  # fmt: skip
    if not checked:
        return usual
    return (
        *usual,
        start.origin_kind,
        packed.place(start.fired_by),
        int(start.check),
        start.active_key,
        start.stage,
        start.stage_step,
        start.principal,
        start.via,
        start.correlation,
    )


def _end(end: End, packed: Bytes) -> Row:
    return (
        packed.place(end.run), end.generation, end.status, end.ended_at, *packed.span(end.output), end.error,
        *packed.span(end.seal),
    )  # fmt: skip


def _messages(flush: Flush, packed: Bytes, *, again: bool) -> list[Row]:
    sent = {(entry.run, entry.seq) for entry in flush.entries} if again and flush.messages else set()
    return [_message(message, packed, (message.source, message.source_seq) in sent) for message in flush.messages]


def _message(message: Message, packed: Bytes, with_entry: bool) -> Row:
    return (
        packed.place(message.run), packed.place(message.source), *packed.span(message.data), message.source_seq,
        message.tenant, message.kind, message.step, int(with_entry),
    )  # fmt: skip


def _link_arguments(links: Sequence[NewLink], now: int) -> dict[str, Any]:
    packed = Bytes()
    rows = [(*link.key, packed.place(link.run), link.step, link.url) for link in links]
    return {"rows": _json(rows), "bytes": packed.joined(), "now": now}


def _letter_arguments(letters: Sequence[NewLetter], now: int) -> list[tuple[Any, ...]]:
    return [(*letter._replace(payload=_text(letter.payload)), now) for letter in letters]  # type: ignore[arg-type]


def _text(data: bytes | None) -> str | None:
    return None if data is None else str(data, "utf-8")


# Claims of links and dead letters are not part of the view `flush`: most flushes have none, and each part costs time.
LINK: Final = """
insert into link (tenant, system, type, id, run, step, url, at)
select value ->> 0, value ->> 1, value ->> 2, value ->> 3, substr(:bytes, value ->> 4, 16), value ->> 5, value ->> 6,
       :now
from json_each(:rows) where true on conflict (tenant, system, type, id) do nothing
returning tenant, system, type, id, run"""
LETTER: Final = f"""
insert into dead_letter (id, tenant, kind, workflow, run, step, source, "trigger", reason, message, payload, attempts,
                         last_error, at, state)
values ({", ".join("?" * 14)}, 'open') on conflict (id) do nothing"""
LOG: Final = f"insert into step_log values ({', '.join('?' * 9)}) on conflict (id) do nothing"
DROP_LOG: Final = "delete from step_log where id = ?"
FLUSH: Final = f"insert into flush values ({', '.join('?' * 15)})"
CLAIM: Final = read_sql(__package__, "claim.sql")
TAKE: Final = """
update run set owner = :node, epoch = epoch + 1, stage = null, stage_step = null
where id in (select substr(:bytes, value, 16) from json_each(:places))
returning id, tenant, workflow, version, status, input, opening, epoch, 0, expires_at, wake_at, queue, priority,
          started_at, parent, hero_type, hero_id, principal, via, correlation"""
REFUSED: Final = "select id from refused"
PASS_KEY: Final = """
update run set active_key = ? where id = ? and tenant = ? and active_key = ? and +owner = ? and ended_at is null"""
FORWARD: Final = f"""
update inbox set run = :successor where run = :run and kind in ({", ".join(f"'{kind}'" for kind in FORWARDED)})
  and exists (select 1 from run where id = :run and +owner = :node and epoch = :generation and ended_at is null)
  and exists (select 1 from node where id = :node and epoch = :epoch)"""
EXPIRED: Final = "select 1 from callback where run = ? and step = ? and state = 'expired'"
RELEASE: Final = """
update run set owner = ?, wake_at = ? where id = ? and owner = ? and epoch = ? and ended_at is null
  and exists (select 1 from node where id = ? and epoch = ?)"""
# A small inbox is the usual case. Then reading from the inbox to the runs is fast, however many runs a node owns.
IS_LITTLE: Final = f"select count(*) < {WINDOW} from (select 1 from inbox limit {WINDOW})"
MAIL: Final = """
select i.id, i.run, r.epoch, i.kind, i.step, i.data, i.at from inbox i cross join run r on r.id = i.run
where r.owner = ? order by i.id limit ?"""
# Else read from the runs to the inbox, however much mail other runs have there.
OWN_MAIL: Final = """
select i.id, i.run, r.epoch, i.kind, i.step, i.data, i.at from run r cross join inbox i on i.run = r.id
where r.owner = ? order by i.id limit ?"""
JOURNALS: Final = """
select j.tenant, j.run, j.seq, j.at, j.kind, j.step, j.attempt, j.outcome, j.data
from json_each(:places) p cross join journal j on j.run = substr(:bytes, p.value, 16)
order by j.run, j.seq"""
GRAPH: Final = """
select w.name, v.graph from workflow_version v join workflow w on w.id = v.workflow
where v.workflow = ? and v.version = ?"""

#: The lease, in seconds, of a node that holds the file's lock. It does not end by time.
FOREVER: Final = 100 * 365 * 86_400.0


class SqliteNodes(SharedNodeVerbs):
    """The verbs of nodes. Only one engine can run, but fence, leases and generations are the same as on a server."""

    _access: SqliteAccess

    def __init__(self, access: SqliteAccess, clock: Clock) -> None:
        super().__init__(access)
        self._clock = clock
        self._walked_to = NO_ID  # the next claim reads the inbox from after this run
        self._favoured = Favoured.BEST  # by the next claim

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        until = self._access.time() + micros(FOREVER)
        self._access.post(lambda db: db.execute("update lease set until = ? where node = ?", (until, node)))
        return NoHeartbeat(self._clock)

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        now, offers = self._access.time(), offered(queues, actions)

        def work(db: sqlite3.Connection) -> None:
            db.execute("begin immediate")
            db.execute("insert into node (id, epoch, offers) values (?, 1, ?)", (node, offers))
            db.execute("insert into lease (node, until) values (?, ?)", (node, now + micros(ttl)))
            db.execute("commit")

        await self._access.write(work)
        return 1, now

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        now = self._access.time()

        def work(db: sqlite3.Connection) -> bool:
            return db.execute("update lease set until = ? where node = ?", (now + micros(ttl), node)).rowcount > 0

        return now if await self._access.write(work) else None

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        def work(db: sqlite3.Connection) -> list[tuple[int]]:
            return db.execute("update node set epoch = epoch + 1 where id = ? returning epoch", (node,)).fetchall()

        rows = await self._access.write(work)
        return rows[0][0] if rows else None

    async def overdue(self) -> list[bytes]:
        now = self._access.time()
        rows = await self._access.read(
            lambda db: db.execute("select node from lease where until < ?", (now,)).fetchall()
        )
        return [row[0] for row in rows]

    async def take_over(self, node: bytes) -> bool:
        now = self._access.time()
        return await self._access.write(lambda db: _remove(db, node, now))

    async def retire(self, node: bytes) -> None:
        await self._access.write(lambda db: _remove(db, node, None))

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        now, checked = self._access.time(), is_checked(flush)
        expiries, successor_starts = list(flush.expiries), successors(flush.starts) if checked else []
        if successor_starts:
            flush = replace(flush, starts=in_order(flush.starts))
        arguments = flush_arguments(node, epoch, flush, again=again, checked=checked, now=now)
        continued = [_forwarding(node, epoch, one) for one in flush.continued()] if flush.ends else []
        links = _link_arguments(flush.sorted_links(), now) if flush.links else None
        letters = _letter_arguments(flush.letters, now)
        logs = [(*row[:-1], str(row.data, "utf-8")) for row in flush.logs]
        has_more = bool(links or letters or flush.audits or logs or flush.dropped_logs)

        def work(db: sqlite3.Connection) -> Flushed | None:
            try:
                db.execute(FLUSH, arguments)
            except sqlite3.IntegrityError as error:
                if str(error) == "fence":
                    return None
                raise
            expired = frozenset(key for key in expiries if db.execute(EXPIRED, key).fetchone())
            refused = frozenset(row[0] for row in db.execute(REFUSED)) if checked else frozenset()
            if letters:
                db.executemany(LETTER, letters)
            for run, row in flush.audits:
                if run not in refused:
                    add_audit(db, row)
            if logs:
                db.executemany(LOG, logs)
            if flush.dropped_logs:
                db.executemany(DROP_LOG, [(id_,) for id_ in flush.dropped_logs])
            if links is None:
                return Flushed(now, expired, refused)
            linked = [(row[:4], row[4]) for row in db.execute(LINK, links).fetchall()]
            return Flushed(now, expired, refused, flush.unlinked(linked))

        if not successor_starts and not continued:
            return await self._access.write((lambda db: _whole(db, work)) if has_more else work)

        def forwarding(db: sqlite3.Connection) -> Flushed | None:
            db.executemany(FORWARD, continued)
            flushed = work(db)
            if flushed is not None and flushed.refused:
                flush.check_successors(flushed.refused)
            return flushed

        return await self._access.write(lambda db: _with_successors(db, node, successor_starts, forwarding))

    async def claim(
        self,
        node: bytes,
        epoch: int,
        *,
        limit: int,
        queues: Collection[str] | None,
        serves: Collection[str],
        horizon: int,
    ) -> ClaimResult | None:
        now = self._access.time()
        values = {
            "node": node,
            "epoch": epoch,
            "limit": limit,
            "queues": None if queues is None else msgspec.json.encode(list(queues)).decode(),
            "serves": msgspec.json.encode(list(serves)).decode(),
            "until": now + horizon,
            "after": self._walked_to,
            "window": max(WINDOW, 2 * limit),
            "favoured": int(self._favoured),
        }
        claimed, walked_to = await self._access.write(lambda db: _claim(db, values))
        self._walked_to = walked_to or NO_ID
        self._favoured = self._favoured.next()
        return None if claimed is None else ClaimResult(now, claimed)

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        return [mail(row) for row in await self._access.read(lambda db: _mail(db, node, limit))]

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        now, given = self._access.time(), list(runs)

        def work(db: sqlite3.Connection) -> None:
            db.execute("begin immediate")
            for run, generation in given:
                db.execute(RELEASE, (NO_ID, now, run, node, generation, node, epoch))
            db.execute("commit")

        await self._access.write(work)

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        places, packed = ids(runs)
        values = {"places": places, "bytes": packed}
        found: dict[bytes, list[Entry]] = {}
        for row in await self._access.read(lambda db: db.execute(JOURNALS, values).fetchall()):
            found.setdefault(row[1], []).append(entry(row))
        return found

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        wanted = list(versions)

        def work(db: sqlite3.Connection) -> dict[tuple[bytes, int], tuple[str, bytes]]:
            rows = ((key, db.execute(GRAPH, key).fetchone()) for key in wanted)
            return {key: (row[0], row[1]) for key, row in rows if row}

        return await self._access.read(work)


def _remove(db: sqlite3.Connection, node: bytes, overdue_at: int | None) -> bool:
    """Remove a node. If `overdue_at` is given, remove it only if its lease had expired by then."""
    db.execute("begin immediate")
    over = (
        overdue_at is None
        or db.execute("select 1 from lease where node = ? and until < ?", (node, overdue_at)).fetchone()
    )
    if over:
        db.execute("delete from node where id = ?", (node,))
        db.execute("delete from lease where node = ?", (node,))
    db.execute("commit")
    return bool(over)


def _whole(db: sqlite3.Connection, flush: Work[Flushed | None]) -> Flushed | None:
    """Flush in one transaction of several statements."""
    db.execute("begin immediate")
    flushed = flush(db)
    db.execute("rollback" if flushed is None else "commit")
    return flushed


def _with_successors(
    db: sqlite3.Connection, node: bytes, successor_starts: Sequence[NewRun], flush: Work[Flushed | None]
) -> Flushed | None:
    """Flush in one transaction, after the keys were handed over to successors.

    If a successor is refused, roll back and flush again without handing over."""
    db.execute("begin immediate")
    for start in successor_starts:
        assert start.successor_of is not None
        db.execute(
            PASS_KEY, (released_key(start.successor_of), start.successor_of, start.tenant, start.active_key, node)
        )
    flushed = flush(db)
    if flushed is not None and flushed.refused.isdisjoint(start.id for start in successor_starts):
        db.execute("commit")
        return flushed
    db.execute("rollback")
    if flushed is None:
        return None
    db.execute("begin immediate")
    flushed = flush(db)
    db.execute("rollback" if flushed is None else "commit")
    return flushed


def _forwarding(node: bytes, epoch: int, end: End) -> dict[str, Any]:
    """Return the arguments of `FORWARD`."""
    return {
        "node": node, "epoch": epoch, "run": end.run, "generation": end.generation, "successor": end.successor,
    }  # fmt: skip


def _mail(db: sqlite3.Connection, node: bytes, limit: int) -> list[Row]:
    statement = MAIL if db.execute(IS_LITTLE).fetchone()[0] else OWN_MAIL
    return db.execute(statement, (node, limit)).fetchall()


def _claim(db: sqlite3.Connection, values: dict[str, Any]) -> tuple[list[ClaimedRun] | None, bytes | None]:
    """Claim runs. Return them, and the last run of the inbox that was read if there are more after it.

    Read first, and write only if there is a run to claim: no other thread writes in between."""
    found = db.execute(CLAIM, values).fetchall()
    walked_to: bytes | None = found[0][1]
    if not found[0][0]:
        return None, walked_to
    adopted = {run: bool(flag) for _, _, run, flag in found if run is not None}
    if not adopted:
        return [], walked_to
    places, packed = ids(list(adopted))
    rows = db.execute(TAKE, {"node": values["node"], "places": places, "bytes": packed}).fetchall()
    taken = {row[0]: _claimed(row) for row in rows}
    return [taken[run]._replace(adopted=flag) for run, flag in adopted.items()], walked_to


def _claimed(row: Sequence[Any]) -> ClaimedRun:
    id_, tenant, workflow, version, status, given, opening, *rest = row
    return ClaimedRun(id_, tenant, workflow, version, status, given.encode(), encoded(opening), *rest)
