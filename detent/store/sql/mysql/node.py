"""The verbs of a node on MariaDB or MySQL: lease and fence, flushes, claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from detent.clock import Clock
from detent.errors import SchemaMismatch
from detent.instant import micros
from detent.run.journal import Entry
from detent.store.heartbeat import Heartbeat, ThreadHeartbeat
from detent.store.rows import NO_ID, ClaimedRun, ClaimResult, Favoured, Flush, Flushed, Mail, StartCheck
from detent.store.sql.mysql.connection import (
    BEGIN,
    COMMIT,
    MysqlAccess,
    MysqlConnection,
    MysqlPulse,
    StatementResult,
    Wire,
    beat,
)
from detent.store.sql.mysql.flush import (
    NOW,
    SELECT_NOW,
    Packet,
    any_of,
    blob,
    currency,
    fence,
    listed,
    look_for_taken,
    quote,
    taken,
)
from detent.store.sql.mysql.migration import stored_revision
from detent.store.sql.schema import require_fit
from detent.store.sql.verbs import WINDOW, SharedNodeVerbs, encoded, entry, mail, offered

# How runs that no node is running are found and claimed.
#
# The cost does not grow with sleeping or owned runs. The lanes and the owners are found by hopping from one value of
# the index `run_due` to the next. Then every lane is read from its beginning, where its due runs are. Neither server
# lets an inner query start at a value of an outer one, so each hop is a statement. The values of the last claim are a
# good guess for the present ones, so nearly always all hops fit in one packet.


#: (queue, priority)
Lane = tuple[str, int]
V = TypeVar("V")

_CANDIDATE: Final = "r.id, r.epoch, r.priority, r.wake_at"
TAKEN: Final = """
select id, tenant, workflow, version, status, input, opening, epoch, expires_at, wake_at, queue, priority, started_at,
       parent, hero_type, hero_id, principal, via, correlation
from run force index (primary) where ({places}) and ended_at is null for update skip locked"""


def next_lane(after: Lane | None) -> str:
    """Return a query for the next lane of unowned runs after that one; `None`: the first."""
    beyond = ""
    if after is not None:
        queue, priority = quote(after[0]), after[1]
        beyond = f" and (queue > {queue} or queue = {queue} and priority > {priority:d})"
    return (
        f"select queue, priority from run force index (run_due) where owner is null and ended_at is null{beyond}"
        " order by queue, priority limit 1"
    )


def next_owner(after: bytes | None) -> str:
    """Return a query for the next owner of runs after that one; `None`: the first."""
    beyond = "is not null" if after is None else f"> {blob(after)}"
    return f"select owner from run force index (run_due) where owner {beyond} order by owner limit 1"


class Trail(Generic[V]):
    """The values of an index, found by hopping from each to the next."""

    def __init__(self, question: Callable[[V | None], str], guesses: Sequence[V]) -> None:
        self._question = question
        self._places: list[V | None] = [None, *guesses]
        self._next: dict[V | None, V | None] = {}

    def questions(self) -> list[str]:
        """Return the queries that are needed to continue; none at the end."""
        return [self._question(place) for place in self._places]

    def answer(self, found: Sequence[V | None]) -> None:
        """Record what comes after each value that was asked for."""
        self._next.update(zip(self._places, found, strict=True))
        self._places = []
        last: V | None = None
        for value in self.values():
            last = value
        if last not in self._next:
            self._places = [last]

    def values(self) -> Iterator[V]:
        """Yield the values known so far."""
        value = self._next.get(None)
        while value is not None:
            yield value
            value = self._next.get(value)


class Candidate(NamedTuple):
    """A run that may be claimed if it is still at that generation."""

    id: bytes
    generation: int
    priority: int
    wake_at: int | None
    adopted: bool
    is_due: bool
    has_mail: bool = False

    def order(self) -> tuple[Any, ...]:
        """Return the sort key: higher priority first, then runs without `wake_at`, then the longest due."""
        return -self.priority, self.wake_at is not None, self.wake_at or 0, self.id

    def favour(self, favoured: Favoured) -> int:
        """Return how much the present claim favours the run."""
        match favoured:
            case Favoured.MAILED:
                return 0 if not self.has_mail else 1 if self.is_due else 2
            case Favoured.ORPHANED:
                return int(self.adopted)
            case Favoured.DUE:
                return int(self.is_due)
            case _:
                return 0


class ClaimQuery(NamedTuple):
    """The parameters of a claim."""

    limit: int
    queues: Collection[str] | None
    serves: Collection[str]
    horizon: int

    @property
    def window(self) -> int:
        """Return how many messages and runs of the inbox are read."""
        return max(WINDOW, 2 * self.limit)

    def walk(self, after: bytes) -> str:
        """Return a query for the next runs of the inbox after that one."""
        return (
            f"select run from inbox force index (inbox_run) where run > {blob(after)} group by run order by run"
            f" limit {self.window:d}"
        )

    def looks(self, lanes: Sequence[Lane], owners: Sequence[bytes], after: bytes) -> Iterator[str]:
        """Yield one query per lane, two for mail, and one per owner that is gone.

        Each returns the columns of `Candidate`. Of the inbox they read the newest messages and a part of the
        runs."""
        fits, walked = self._fits(), self.walk(after)
        is_due = f"coalesce(r.wake_at <= {NOW} + {self.horizon:d}, false)"
        for queue, priority in lanes:
            if self.queues is None or queue in self.queues:
                yield (
                    f"select {_CANDIDATE}, false, true, false from run r force index (run_due) where r.owner is null"
                    f" and r.ended_at is null and r.queue = {quote(queue)} and r.priority = {priority:d}"
                    f" and r.wake_at <= {NOW} + {self.horizon:d}{fits} order by r.wake_at limit {self.limit * 2:d}"
                )
        # Join the inbox to the runs first and limit afterwards, or mail of owned runs would starve the others.
        for mailed in (walked, f"select run from inbox force index (primary) order by id desc limit {self.window:d}"):
            yield (
                f"select {_CANDIDATE}, false, {is_due}, true from ({mailed}) m"
                " straight_join run r force index (primary)"
                f" on r.id = m.run where r.owner is null and r.ended_at is null{self._queued()}{fits}"
            )
        for owner in owners:
            yield (
                f"select {_CANDIDATE}, true, {is_due}, false from run r force index (run_due)"
                f" where r.owner = {blob(owner)} and r.ended_at is null{self._queued()}{fits}"
                f" and not exists (select 1 from node where id = {blob(owner)})"
                f" order by r.priority desc, r.wake_at, r.id limit {self.limit * 2:d}"
            )

    def _queued(self) -> str:
        if self.queues is None:
            return ""
        return f" and r.queue in ({listed(self.queues)})" if self.queues else " and false"

    def _fits(self) -> str:
        served = msgspec.json.encode(sorted(self.serves)).decode()
        return f" and (r.code is null or json_contains({quote(served)}, r.code))"


def chosen(found: Sequence[Sequence[Any]], limit: int, favoured: Favoured) -> list[Candidate]:
    """Return the best candidates. A run may have been found by two queries: by the later one if it has mail."""
    best = {candidate.id: candidate for candidate in (Candidate(*row) for row in found)}
    return sorted(best.values(), key=lambda one: (-one.favour(favoured), one.order()))[:limit]


def lock(candidates: Sequence[Candidate]) -> str:
    """Return a statement that locks the candidates that have not changed. Rows locked by another claim are skipped."""
    places = " or ".join(f"id = {blob(one.id)} and epoch = {one.generation:d}" for one in candidates)
    return TAKEN.format(places=places)


def take(node: bytes, runs: Sequence[bytes]) -> str:
    return (
        f"update run force index (primary) set owner = {blob(node)}, epoch = epoch + 1, stage = null, stage_step = null"
        f" where id in ({listed(runs)})"
    )


OVERDUE: Final = f"select node from lease where until < {NOW}"
# A small inbox is the usual case. Then reading from the inbox to the runs is fast, however many runs a node owns.
HEAD: Final = f"select id, run from inbox force index (primary) order by id limit {WINDOW}"
SEEN: Final = f"select count(*) from ({HEAD}) head"
MAIL: Final = f"""
select i.id, i.run, r.epoch, i.kind, i.step, i.data, i.at
from ({HEAD}) head straight_join run r force index (primary) on r.id = head.run
  straight_join inbox i force index (primary) on i.id = head.id
where r.owner = {{node}} order by i.id limit {{limit:d}}"""
# Else read from the runs to the inbox, however much mail other runs have there.
OWN_MAIL: Final = """
select i.id, i.run, r.epoch, i.kind, i.step, i.data, i.at
from run r force index (run_due) straight_join inbox i force index (inbox_run) on i.run = r.id
where r.owner = {node} order by i.id limit {limit:d}"""
RELEASE: Final = """
update run force index (primary) set owner = {no_owner}, wake_at = {now}
where {places} and owner = {node} and ended_at is null"""
JOURNALS: Final = """
select tenant, run, seq, at, kind, step, attempt, outcome, data from journal where run in ({runs}) order by run, seq"""
GRAPHS: Final = """
select v.workflow, v.version, w.name, v.graph from workflow_version v join workflow w on w.id = v.workflow
where {places}"""


class MysqlNodes(SharedNodeVerbs):
    """The verbs of nodes. They have their own connections: the lane for flushes, another for claims, mail and loading.

    A third one is opened for a flush that must not wait for locks."""

    def __init__(self, access: MysqlAccess, clock: Clock) -> None:
        super().__init__(access)
        self._address, self._clock = access.address, clock
        self._lane, self._hasty, self._claims = access.lane, access.hasty, access.claims
        self._registered: dict[bytes, float] = {}
        self._lanes: list[Lane] = []
        self._owners: list[bytes] = []
        self._walked_to = NO_ID  # the next claim reads the inbox from after this run
        self._favoured = Favoured.BEST  # by the next claim

    def heartbeat(self, node: bytes, *, ttl: float, interval: float) -> Heartbeat:
        sent = self._registered.get(node, self._clock.monotonic())
        return ThreadHeartbeat(
            lambda: MysqlPulse(self._address, node, ttl), clock=self._clock, interval=interval, confirmed=sent
        )

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        sent = self._clock.monotonic()
        *_, now = await self._claims.commit(
            f"insert into node (id, epoch, offers) values ({blob(node)}, 1, {quote(offered(queues, actions))})",
            f"insert into lease (node, until) values ({blob(node)}, {NOW} + {micros(ttl):d})",
            SELECT_NOW,
        )
        try:
            # Check only after registering: a migration that did not see this node has stored its `oldest_code` before.
            require_fit(await self._claims.call(stored_revision, writing=False))
        except SchemaMismatch:
            await self.retire(node)
            raise
        self._registered[node] = sent
        return 1, now.rows[0][0]

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        beaten, now = await self._claims.send(beat(node, ttl), SELECT_NOW)
        return now.rows[0][0] if beaten.matched else None

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        # Like `for update`, an update waits for the share lock of a flush.
        changed, raised = await self._lane.commit(
            f"update node set epoch = epoch + 1 where id = {blob(node)}",
            f"select epoch from node where id = {blob(node)} for update",
        )
        return raised.rows[0][0] if changed.matched else None

    async def overdue(self) -> list[bytes]:
        [found] = await self._claims.send(OVERDUE, writing=False)
        return [row[0] for row in found.rows]

    async def take_over(self, node: bytes) -> bool:
        async def work(wire: Wire) -> bool:
            [lease] = await wire.send(f"select 1 from lease where node = {blob(node)} and until < {NOW} for update")
            if not lease.rows:
                return False
            await wire.send_all(_removal(node))
            return True

        return await self._claims.transaction(work)

    async def retire(self, node: bytes) -> None:
        await self._claims.commit(f"select 1 from lease where node = {blob(node)} for update", *_removal(node))

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        lane = self._lane if patience is None else self._hasty
        # One check for all starts of current versions. If a start has another check, every start checks its own.
        choosy = any(start.check > StartCheck.CURRENT for start in flush.starts)
        fenced, current = fence(node, epoch), None if choosy else currency(flush.starts)
        without = await self._taken(lane, flush)
        while True:
            if without:
                flush.check_successors(without)
            packet = Packet(node, flush, again=again, choosy=choosy, without=without)
            checks = [fenced, *([current] if current else []), *packet.inheritance]
            done = await lane.commit_if(checks, packet.statements)
            if not isinstance(done, int):
                break
            if done == 0:
                return None
            if current and done == 1:
                current, choosy = None, True  # a workflow has changed: every start checks its own
            else:
                without |= packet.successors  # one successor was refused: refuse all, hand nothing over
        answers = [answer.rows for answer in done]
        return Flushed(answers[-1][0][0], packet.expired(answers), packet.refused(answers), packet.unlinked(answers))

    async def _taken(self, lane: MysqlConnection, flush: Flush) -> frozenset[bytes]:
        look = look_for_taken(flush.starts)
        if look is None:
            return frozenset()
        [found] = await lane.send(look, writing=False)
        return taken(flush.starts, found.rows)

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
        asked = ClaimQuery(limit, queues, serves, horizon)

        async def look(wire: Wire) -> tuple[list[Candidate], StatementResult, int]:
            gone = await self._walk(wire)
            registered = f"select 1 from node where id = {blob(node)} and epoch = {epoch:d}"
            looks, walked = asked.looks(self._lanes, gone, self._walked_to), asked.walk(self._walked_to)
            last = f"select run from ({walked}) m limit 1 offset {asked.window - 1:d}"
            *found, walked_to, here, now = await wire.send_all((*looks, last, registered, SELECT_NOW))
            self._walked_to = walked_to.rows[0][0] if walked_to.rows else NO_ID
            rows = [row for answer in found for row in answer.rows]
            return chosen(rows, limit * 2, self._favoured), here, now.rows[0][0]

        candidates, here, now = await self._claims.call(look, writing=False)
        self._favoured = self._favoured.next()
        if candidates:
            return await self._take(node, epoch, candidates, limit)
        return ClaimResult(now, []) if here.rows else None

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        asked: dict[str, Any] = {"node": blob(node), "limit": limit}

        async def look(wire: Wire) -> StatementResult:
            seen, found = await wire.send_all((SEEN, MAIL.format(**asked)))
            if seen.rows[0][0] >= WINDOW:
                [found] = await wire.send(OWN_MAIL.format(**asked))
            return found

        return [mail(row) for row in (await self._claims.call(look, writing=False)).rows]

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        if not runs:
            return
        places = any_of(f"id = {blob(run)} and epoch = {generation:d}" for run, generation in runs)
        statement = RELEASE.format(places=places, no_owner=blob(NO_ID), now=NOW, node=blob(node))
        await self._claims.commit_if([fence(node, epoch)], [statement])

    async def journals(self, runs: Sequence[bytes]) -> dict[bytes, list[Entry]]:
        found: dict[bytes, list[Entry]] = {}
        if runs:
            [answer] = await self._claims.send(JOURNALS.format(runs=listed(runs)), writing=False)
            for row in answer.rows:
                found.setdefault(row[1], []).append(entry(row))
        return found

    async def graphs(self, versions: Sequence[tuple[bytes, int]]) -> dict[tuple[bytes, int], tuple[str, bytes]]:
        if not versions:
            return {}
        places = " or ".join(
            f"v.workflow = {blob(workflow)} and v.version = {number:d}" for workflow, number in versions
        )
        [found] = await self._claims.send(GRAPHS.format(places=places), writing=False)
        return {(row[0], row[1]): (row[2], row[3]) for row in found.rows}

    async def _walk(self, wire: Wire) -> list[bytes]:
        """Find the lanes and owners. Return the owners that are not registered."""
        lanes, owners = Trail(next_lane, self._lanes), Trail(next_owner, self._owners)
        nodes: set[bytes] = set()
        while True:
            of_lanes, of_owners = lanes.questions(), owners.questions()
            if not of_lanes and not of_owners:
                break
            # The nodes are read last: an owner that was seen had registered before. If it is not among them now, it is
            # gone for good.
            *answers, registered = await wire.send_all((*of_lanes, *of_owners, "select id from node"))
            lanes.answer([_first(answer) for answer in answers[: len(of_lanes)]])
            owners.answer([row[0] if (row := _first(answer)) else None for answer in answers[len(of_lanes) :]])
            nodes = {row[0] for row in registered.rows}
        self._lanes, self._owners = list(lanes.values()), list(owners.values())
        return [owner for owner in self._owners if owner not in nodes]

    async def _take(self, node: bytes, epoch: int, candidates: Sequence[Candidate], limit: int) -> ClaimResult | None:
        found = {one.id: one for one in candidates}
        places = {one.id: place for place, one in enumerate(candidates)}

        async def work(wire: Wire) -> ClaimResult:
            *_, locked = await wire.send_all((BEGIN, fence(node, epoch), lock(candidates)))
            rows = sorted(locked.rows, key=lambda row: places[row[0]])[:limit]
            rows.sort(key=lambda row: found[row[0]].order())
            statements = [take(node, [row[0] for row in rows])] if rows else []
            *_, now, _ = await wire.send_all((*statements, SELECT_NOW, COMMIT))
            return ClaimResult(now.rows[0][0], [_claimed(row, bool(found[row[0]].adopted)) for row in rows])

        return await self._claims.fenced(work)


def _first(answer: StatementResult) -> Any:
    return answer.rows[0] if answer.rows else None


def _removal(node: bytes) -> tuple[str, ...]:
    """Return the statements that remove a node. The delete waits for every flush that has locked the node's row.

    The lease is locked first, everywhere."""
    return f"delete from node where id = {blob(node)}", f"delete from lease where node = {blob(node)}"


def _claimed(row: Sequence[Any], adopted: bool) -> ClaimedRun:
    id_, tenant, workflow, version, status, given, opening, generation, *rest = row
    return ClaimedRun(
        id_, tenant, workflow, version, status, given.encode(), encoded(opening), generation + 1, adopted, *rest
    )
