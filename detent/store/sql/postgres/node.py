"""The verbs of a node on PostgreSQL: lease and fence, flushes, claims."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import asyncpg
import msgspec

from detent.clock import Clock
from detent.errors import SchemaMismatch, StoreError
from detent.instant import SECOND
from detent.run.journal import Entry
from detent.store.heartbeat import Heartbeat, ThreadHeartbeat
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
    NewRun,
    released_key,
)
from detent.store.sql.compiler import is_checked, read_sql, successors
from detent.store.sql.postgres.connection import Connection, PostgresAccess, PostgresPulse, Records
from detent.store.sql.postgres.flush import (
    APPEND,
    CHECKED_FLUSH,
    CHECKED_MORE,
    CHECKED_USUAL,
    FLUSH,
    LINKED,
    LOGGED,
    MORE,
    USUAL,
    entry_columns,
    flush_columns,
    has_logs,
    has_more,
    is_plain,
    is_usual,
    linked_columns,
    logged_columns,
    more_columns,
    only_entries,
    only_linked,
    usual_columns,
)
from detent.store.sql.postgres.migration import stored_revision
from detent.store.sql.schema import require_fit
from detent.store.sql.verbs import WINDOW, SharedNodeVerbs, encoded, entry, mail, offered

CLAIM: Final = read_sql(__package__, "claim.sql")

REGISTER: Final = """
with registered as (insert into node (id, epoch, offers) values ($1, 1, $3) returning epoch),
 leased as (insert into lease (node, until) values ($1, clock_timestamp() + make_interval(secs => $2)))
select epoch, clock_timestamp() from registered"""
BEAT: Final = """
update lease set until = clock_timestamp() + make_interval(secs => $2) where node = $1 returning clock_timestamp()"""
OVERDUE: Final = "select node from lease where until < clock_timestamp()"
RETIRE: Final = "with gone as (delete from lease where node = $1) delete from node where id = $1"

# An update of a column that is not a key would not wait for a flush's key share lock. Only `for update` waits.
LOCK_NODE: Final = "select 1 from node where id = $1 for update"
RAISE_EPOCH: Final = "update node set epoch = epoch + 1 where id = $1 returning epoch"
LOCK_LEASE: Final = "select 1 from lease where node = $1 and until < clock_timestamp() for update"
REMOVE_NODE: Final = "delete from node where id = $1"
REMOVE_LEASE: Final = "delete from lease where node = $1"

PASS_KEY: Final = """
with fence as (select 1 from node where id = $1 and epoch = $2 for key share)
update run r set active_key = t.spent
from fence, unnest($3::uuid[], $4::int[], $5::text[], $6::text[]) as t(run, tenant, key, spent)
where r.id = t.run and r.tenant = t.tenant and r.active_key = t.key
  and r.owner is not distinct from $1 and r.ended_at is null"""
# Lock the runs first. Then forward their mail in a separate statement, which sees what was written during the wait.
LOCK_CONTINUED: Final = """
with fence as (select 1 from node where id = $1 and epoch = $2 for key share)
select r.id from fence, unnest($3::uuid[], $4::int[]) as t(run, generation) join run r on r.id = t.run
where r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null
order by r.id for no key update of r"""
FORWARD: Final = """
update inbox i set run = t.successor from unnest($1::uuid[], $2::uuid[]) as t(run, successor)
where i.run = t.run and i.kind = any($3::text[])"""
RELEASE: Final = """
with fence as (select 1 from node where id = $1 and epoch = $2 for key share)
update run r set owner = $5, wake_at = clock_timestamp()
from fence, unnest($3::uuid[], $4::int[]) as t(run, generation)
where r.id = t.run and r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null"""
# A small inbox is the usual case. Then reading from the inbox to the runs is fast, however many runs a node owns.
MAIL: Final = f"""
with head as materialized (select id, run from inbox order by id limit {WINDOW}),
own as (
  select head.id, owned.epoch from head cross join lateral (
    select epoch from run r where r.id = head.run and r.owner is not distinct from $1 offset 0
  ) owned
  order by head.id limit $2
)
select (select count(*) from head) as seen, i.id, i.run, own.epoch, i.kind, i.step, i.data, i.at
from (select 1) always left join own on true left join inbox i on i.id = own.id
order by i.id"""
# Else read from the runs to the inbox, however much mail other runs have there. Without `+ 0` the planner may read the
# whole inbox in the order of its key, for each run.
OWN_MAIL: Final = """
select i.id, i.run, r.epoch, i.kind, i.step, i.data, i.at
from run r cross join lateral (
  select * from inbox i where i.run = r.id order by i.id + 0 limit $2
) i
where r.owner = $1
order by i.id limit $2"""
JOURNALS: Final = """
select tenant, run, seq, at, kind, step, attempt, outcome, data from journal where run = any($1::uuid[])
order by run, seq"""
GRAPHS: Final = """
select v.workflow, v.version, w.name, v.graph from unnest($1::uuid[], $2::int[]) as t(workflow, version)
join workflow_version v on v.workflow = t.workflow and v.version = t.version join workflow w on w.id = v.workflow"""


class PostgresNodes(SharedNodeVerbs):
    """The verbs of nodes. They have two connections: the lane for flushes, the other for claims, mail and loading."""

    def __init__(self, access: PostgresAccess, clock: Clock) -> None:
        super().__init__(access)
        self._address, self._clock = access.address, clock
        self._lane, self._claims = access.lane, access.claims
        self._registered: dict[bytes, float] = {}
        self._walked_to = NO_ID  # the next claim reads the inbox from after this run
        self._favoured = Favoured.BEST  # by the next claim

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        sent = self._registered.get(node, self._clock.monotonic())
        return ThreadHeartbeat(
            lambda: PostgresPulse(self._address, node, ttl), clock=self._clock, interval=interval, confirmed=sent
        )

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        sent = self._clock.monotonic()
        [row] = await self._claims.fetch(REGISTER, node, ttl, offered(queues, actions))
        try:
            # Check only after registering: a migration that did not see this node has stored its `oldest_code` before.
            require_fit(await self._claims.call(stored_revision, writing=False))
        except SchemaMismatch:
            await self.retire(node)
            raise
        self._registered[node] = sent
        return row[0], row[1]

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        rows = await self._claims.fetch(BEAT, node, ttl)
        return rows[0][0] if rows else None

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        async def work(connection: Connection) -> int | None:
            await connection.fetch(LOCK_NODE, node)
            raised: int | None = await connection.fetchval(RAISE_EPOCH, node)
            return raised

        return await self._lane.transaction(work)

    async def overdue(self) -> list[bytes]:
        return [row[0] for row in await self._claims.fetch(OVERDUE, writing=False)]

    async def take_over(self, node: bytes) -> bool:
        # Separate statements: in a single one, the later parts would see the rows as they were before it waited for a
        # flush.
        async def work(connection: Connection) -> bool:
            if not await connection.fetch(LOCK_LEASE, node):
                return False
            await connection.fetch(LOCK_NODE, node)
            await connection.execute(REMOVE_NODE, node)
            await connection.execute(REMOVE_LEASE, node)
            return True

        return await self._claims.transaction(work)

    async def retire(self, node: bytes) -> None:
        await self._claims.fetch(RETIRE, node)

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        if only_entries(flush):
            [row] = await self._sent(patience, APPEND[again], node, epoch, *entry_columns(flush.entries))
            return Flushed(row[1], frozenset()) if row[0] else None
        if flush.links and only_linked(flush):
            [row] = await self._sent(patience, LINKED[again], node, epoch, *linked_columns(flush))
            return _flushed(flush, row) if row["held"] else None
        checked = is_checked(flush)
        if is_usual(flush):
            statement, columns = (CHECKED_USUAL if checked else USUAL), usual_columns(flush, checked=checked)
        elif not checked and is_plain(flush) and not has_more(flush):
            statement, columns = LOGGED, logged_columns(flush)
        elif has_more(flush) or has_logs(flush):
            statement = CHECKED_MORE if checked else MORE
            columns = more_columns(flush, again=again, checked=checked)
        else:
            statement = CHECKED_FLUSH if checked else FLUSH
            columns = flush_columns(flush, again=again, checked=checked)
        successor_starts = successors(flush.starts) if checked else []
        continued = flush.continued() if flush.ends else []
        if successor_starts or continued:
            [row] = await self._sent_with_successors(
                patience, successor_starts, continued, statement[again], node, epoch, *columns
            )
        else:
            [row] = await self._sent(patience, statement[again], node, epoch, *columns)
        return _flushed(flush, row) if row["held"] else None

    async def _sent(self, patience: float | None, statement: str, *arguments: Any) -> Records:
        if patience is None:
            return await self._lane.fetch(statement, *arguments)

        async def work(connection: Connection) -> Records:
            await connection.execute(_patience(patience))
            return await connection.fetch(statement, *arguments)

        return await self._lane.transaction(work)

    async def _sent_with_successors(
        self,
        patience: float | None,
        successor_starts: Sequence[NewRun],
        continued: Sequence[End],
        statement: str,
        *arguments: Any,
    ) -> Records:
        """Hand over the keys to successors and forward mail first: one statement cannot do that in a fixed order.

        If a successor is refused, send the flush without handing over keys."""
        node, epoch, *_ = arguments

        async def work(connection: Connection) -> Records:
            if patience is not None:
                await connection.execute(_patience(patience))
            if continued:
                await _forward(connection, node, epoch, continued)
            if successor_starts:
                handed = zip(
                    *((one.successor_of, one.tenant, one.active_key, _spent(one)) for one in successor_starts),
                    strict=True,
                )
                await connection.fetch(PASS_KEY, node, epoch, *(list(column) for column in handed))
            rows = await connection.fetch(statement, *arguments)
            refused = frozenset(rows[0].get("refused", ())) if rows[0]["held"] else frozenset()
            for one in continued:
                if one.successor in refused:
                    raise StoreError(f"run {one.run.hex()} cannot end: its successor was refused")
            if not refused.isdisjoint(start.id for start in successor_starts):
                raise _NotInherited
            return rows

        try:
            return await self._lane.transaction(work)
        except _NotInherited:
            if continued:  # their mail is still to be forwarded
                return await self._sent_with_successors(patience, (), continued, statement, *arguments)
            return await self._sent(patience, statement, *arguments)

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
        chosen = None if queues is None else list(queues)
        served = msgspec.json.encode(sorted(serves)).decode()
        window = max(WINDOW, 2 * limit)
        asked = (node, epoch, limit, chosen, served, horizon / SECOND, self._walked_to, window, int(self._favoured))
        rows = await self._claims.fetch(CLAIM, *asked)
        if not rows[0][0]:
            return None
        self._walked_to = rows[0][2] or NO_ID
        self._favoured = self._favoured.next()
        return ClaimResult(rows[0][1], [_claimed(tuple(row)) for row in rows if row[3] is not None])

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        rows = await self._claims.fetch(MAIL, node, limit, writing=False)
        if rows[0][0] < WINDOW:
            return [mail(tuple(row)[1:]) for row in rows if row[1] is not None]
        return [mail(tuple(row)) for row in await self._claims.fetch(OWN_MAIL, node, limit, writing=False)]

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        released, generations = [run for run, _ in runs], [generation for _, generation in runs]
        await self._claims.fetch(RELEASE, node, epoch, released, generations, NO_ID)

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        found: dict[bytes, list[Entry]] = {}
        for row in await self._claims.fetch(JOURNALS, list(runs), writing=False):
            found.setdefault(row[1], []).append(entry(tuple(row)))
        return found

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        workflows, numbers = [workflow for workflow, _ in versions], [version for _, version in versions]
        rows = await self._claims.fetch(GRAPHS, workflows, numbers, writing=False)
        return {(row[0], row[1]): (row[2], row[3]) for row in rows}


class _NotInherited(Exception):
    """A successor was refused: the key stays with its run."""


async def _forward(connection: Connection, node: bytes, epoch: int, continued: Sequence[End]) -> None:
    """Forward the mail of those runs that this node owns."""
    runs, generations = [one.run for one in continued], [one.generation for one in continued]
    mine = {row[0] for row in await connection.fetch(LOCK_CONTINUED, node, epoch, runs, generations)}
    ending = [one for one in continued if one.run in mine]
    successors = [one.successor for one in ending]
    await connection.fetch(FORWARD, [one.run for one in ending], successors, [str(kind) for kind in FORWARDED])


def _spent(start: NewRun) -> str:
    assert start.successor_of is not None
    return released_key(start.successor_of)


def _patience(seconds: float) -> str:
    return f"set local lock_timeout = {max(1, round(seconds * 1000)):d}"


def _flushed(flush: Flush, row: asyncpg.Record) -> Flushed:
    refused: frozenset[bytes] = frozenset(row.get("refused", ()))
    expired: frozenset[tuple[bytes, str]] = frozenset()
    if flush.expiries:
        made = {(callback.run, callback.step) for callback in flush.callbacks if callback.run not in refused}
        known = {*made, *zip(row["expired_runs"], row["expired_steps"], strict=True)}
        expired = frozenset(key for key in flush.expiries if key in known)
    if not flush.links:
        return Flushed(row["now"], expired, refused)
    names = ("linked_tenants", "linked_systems", "linked_types", "linked_ids")
    keys = zip(*(row[name] for name in names), strict=True)
    return Flushed(row["now"], expired, refused, flush.unlinked(list(zip(keys, row["linked_runs"], strict=True))))


def _claimed(row: Sequence[Any]) -> ClaimedRun:
    _, _, _, id_, tenant, workflow, version, status, given, opening, *rest = row
    if given is None:
        raise StoreError("a claimed run has no input")
    return ClaimedRun(id_, tenant, workflow, version, status, given.encode(), encoded(opening), *rest)
