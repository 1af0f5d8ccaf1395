"""What an engine node does with MariaDB or MySQL: its lease and fence, its flushes, its claims."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from detent.clock import Clock
from detent.instant import micros
from detent.run.journal import Entry
from detent.store.protocol import Heart
from detent.store.rows import NOBODY, ClaimedRun, Claims, Flush, Flushed, Mail
from detent.store.sql.heart import ThreadHeart
from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.claiming import Asked, Candidate, Lane, Trail, chosen, lock, next_lane, next_owner, take
from detent.store.sql.mysql.flush import NOW, SELECT_NOW, Packet, currency, fence, look_for_taken, taken
from detent.store.sql.mysql.heart import MysqlPulse, beat
from detent.store.sql.mysql.link import BEGIN, COMMIT, Link
from detent.store.sql.mysql.literal import any_of, blob, listed, text
from detent.store.sql.mysql.wire import Answer, Wire
from detent.store.sql.verbs import encoded, entry, mail, offered

OVERDUE: Final = f"select node from lease where until < {NOW}"
MAIL: Final = """
select i.id, i.run, r.epoch, i.kind, i.step, i.data, i.at from inbox i force index (primary) straight_join run r
  force index (primary) on r.id = i.run
where r.owner = {node} order by i.id limit {limit:d}"""
RELEASE: Final = """
update run force index (primary) set owner = {nobody}, wake_at = {now}
where {places} and owner = {node} and ended_at is null"""
JOURNALS: Final = """
select tenant, run, seq, at, kind, step, attempt, outcome, data from journal where run in ({runs}) order by run, seq"""
GRAPHS: Final = """
select v.workflow, v.version, w.name, v.graph from workflow_version v join workflow w on w.id = v.workflow
where {places}"""


class MysqlNodes:
    """Two connections of its own: the lane for flushes, the other for claims, mail and loading. A third is opened when
    a flush shall not wait for locks."""

    def __init__(self, address: Address, clock: Clock) -> None:
        self._address, self._clock = address, clock
        self._lane, self._claims = Link(address), Link(address)
        self._hasty = Link(address, patient=False)
        self._registered: dict[bytes, float] = {}
        self._lanes: list[Lane] = []
        self._owners: list[bytes] = []

    def heart(self, node: bytes, *, ttl: float, interval: float) -> Heart:
        sent = self._registered.get(node, self._clock.monotonic())
        return ThreadHeart(
            lambda: MysqlPulse(self._address, node, ttl), clock=self._clock, interval=interval, confirmed=sent
        )

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        sent = self._clock.monotonic()
        *_, now = await self._claims.commit(
            f"insert into node (id, epoch, offers) values ({blob(node)}, 1, {text(offered(queues, actions))})",
            f"insert into lease (node, until) values ({blob(node)}, {NOW} + {micros(ttl):d})",
            SELECT_NOW,
        )
        self._registered[node] = sent
        return 1, now.rows[0][0]

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        beaten, now = await self._claims.send(beat(node, ttl), SELECT_NOW)
        return now.rows[0][0] if beaten.matched else None

    async def raise_epoch(self, node: bytes, epoch: int) -> int | None:
        # An update waits for the share lock of a flush as `for update` does.
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
        fenced, current = fence(node, epoch), currency(flush.starts)
        without = await self._taken(lane, flush)
        choosy = False
        while True:
            packet = Packet(node, flush, again=again, choosy=choosy, without=without)
            checks = [fenced, *([current] if current else []), *packet.inheritance]
            done = await lane.commit_if(checks, packet.statements)
            if not isinstance(done, int):
                break
            if done == 0:
                return None
            if current and done == 1:
                current, choosy = None, True  # some workflow has changed: every start sees for itself
            else:
                without |= packet.heirs  # one of them was refused: all are, and nothing is handed over
        answers = [answer.rows for answer in done]
        return Flushed(answers[-1][0][0], packet.expired(answers), packet.refused(answers))

    async def _taken(self, lane: Link, flush: Flush) -> frozenset[bytes]:
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
    ) -> Claims | None:
        asked = Asked(limit, queues, serves, horizon)

        async def look(wire: Wire) -> tuple[list[Candidate], Answer, int]:
            gone = await self._walk(wire)
            held = f"select 1 from node where id = {blob(node)} and epoch = {epoch:d}"
            *found, here, now = await wire.send_all((*asked.looks(self._lanes, gone), held, SELECT_NOW))
            return chosen([row for answer in found for row in answer.rows], limit * 2), here, now.rows[0][0]

        candidates, here, now = await self._claims.call(look, writing=False)
        if candidates:
            return await self._take(node, epoch, candidates, limit)
        return Claims(now, []) if here.rows else None

    async def mail(self, node: bytes, *, limit: int) -> list[Mail]:
        [found] = await self._claims.send(MAIL.format(node=blob(node), limit=limit), writing=False)
        return [mail(row) for row in found.rows]

    async def release(self, node: bytes, epoch: int, runs: Sequence[tuple[bytes, int]]) -> None:
        if not runs:
            return
        places = any_of(f"id = {blob(run)} and epoch = {generation:d}" for run, generation in runs)
        statement = RELEASE.format(places=places, nobody=blob(NOBODY), now=NOW, node=blob(node))
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
        """Learn which lanes and owners there are; gives the owners that are not registered."""
        lanes, owners = Trail(next_lane, self._lanes), Trail(next_owner, self._owners)
        nodes: set[bytes] = set()
        while True:
            of_lanes, of_owners = lanes.questions(), owners.questions()
            if not of_lanes and not of_owners:
                break
            # The nodes are asked for last: an owner that was seen was registered before, so if it is not among them now
            # it is gone for good.
            *answers, registered = await wire.send_all((*of_lanes, *of_owners, "select id from node"))
            lanes.answer([_first(answer) for answer in answers[: len(of_lanes)]])
            owners.answer([row[0] if (row := _first(answer)) else None for answer in answers[len(of_lanes) :]])
            nodes = {row[0] for row in registered.rows}
        self._lanes, self._owners = list(lanes.values()), list(owners.values())
        return [owner for owner in self._owners if owner not in nodes]

    async def _take(self, node: bytes, epoch: int, candidates: Sequence[Candidate], limit: int) -> Claims | None:
        found = {one.id: one for one in candidates}

        async def work(wire: Wire) -> Claims:
            *_, locked = await wire.send_all((BEGIN, fence(node, epoch), lock(candidates)))
            rows = sorted(locked.rows, key=lambda row: found[row[0]].order())[:limit]
            statements = [take(node, [row[0] for row in rows])] if rows else []
            *_, now, _ = await wire.send_all((*statements, SELECT_NOW, COMMIT))
            return Claims(now.rows[0][0], [_claimed(row, found[row[0]].adopted) for row in rows])

        return await self._claims.fenced(work)

    async def _close_nodes(self) -> None:
        await self._lane.close()
        await self._hasty.close()
        await self._claims.close()


def _first(answer: Answer) -> Any:
    return answer.rows[0] if answer.rows else None


def _removal(node: bytes) -> tuple[str, ...]:
    """Deleting the node's row waits for every flush that holds it. The lease is locked first, everywhere."""
    return f"delete from node where id = {blob(node)}", f"delete from lease where node = {blob(node)}"


def _claimed(row: Sequence[Any], adopted: bool) -> ClaimedRun:
    id_, tenant, workflow, version, status, given, opening, generation, *rest = row
    return ClaimedRun(
        id_, tenant, workflow, version, status, given.encode(), encoded(opening), generation + 1, adopted, *rest
    )
