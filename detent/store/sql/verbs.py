"""The verbs that are the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from detent.run.journal import Entry
from detent.store.protocol import EVERY_RUN
from detent.store.rows import CallbackRow, CallbackState, Happening, Mail, Offer, Place, Receipt, RunFilter, RunRow
from detent.store.sql import statements
from detent.store.sql.reach import Talk
from detent.store.sql.statements_timeline import timeline
from detent.store.sql.verbs_triggers import TriggerVerbs
from detent.store.sql.verbs_workflows import WorkflowVerbs


class ColdVerbs(WorkflowVerbs, TriggerVerbs):
    """Reading for people and doors, workflows and triggers."""

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        rows = await self._read(statements.RUN, {"tenant": tenant, "run": run})
        return _run(rows[0]) if rows else None

    async def runs(
        self,
        tenant: int,
        *,
        limit: int,
        where: RunFilter = EVERY_RUN,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[RunRow]:
        clause = statements.runs(where, cursor=cursor is not None, oldest_first=oldest_first)
        values = {**statements.filter_values(where), "tenant": tenant, "limit": limit, "cursor": cursor}
        return [_run(row) for row in await self._read(clause, values)]

    async def count_runs(self, tenant: int, *, where: RunFilter, limit: int) -> int:
        values = {**statements.filter_values(where), "tenant": tenant, "limit": limit}
        [row] = await self._read(statements.count_runs(where), values)
        return int(row[0])

    async def ended(self, runs: Sequence[bytes]) -> set[bytes]:
        if not runs:
            return set()
        rows = await self._read(statements.OPEN_RUNS_AMONG, {"runs": list(runs)})
        return set(runs) - {row[0] for row in rows}

    async def journal(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        values = {"run": run, "after": after, "limit": limit}
        return [entry(row) for row in await self._read(statements.JOURNAL, values)]

    async def callbacks(self, run: bytes) -> list[CallbackRow]:
        return [CallbackRow(*row) for row in await self._read(statements.CALLBACKS, {"run": run})]

    async def active_run(self, tenant: int, key: str) -> bytes | None:
        rows = await self._read(statements.ACTIVE_RUN, {"tenant": tenant, "key": key})
        return rows[0][0] if rows else None

    async def timeline(
        self, tenant: int, hero: tuple[str, str], *, limit: int, after: Place | None = None
    ) -> list[Happening]:
        values: dict[str, Any] = {"tenant": tenant, "hero_type": hero[0], "hero_id": hero[1], "limit": limit}
        if after is not None:
            values |= dict(zip(("at", "run", "seq"), after, strict=True))
        rows = await self._read(timeline(after=after is not None), values)
        return [Happening(row[0], entry(row[1:])) for row in rows]

    async def kept(self, run: bytes) -> dict[str, bytes]:
        rows = await self._read(statements.KEPT, {"run": run})
        return {step: result.encode() for step, result in rows}

    async def owned(self, node: bytes) -> list[tuple[bytes, int]]:
        return [(row[0], row[1]) for row in await self._read(statements.OWNED, {"node": node})]

    async def offers(self) -> list[Offer]:
        return [_offer(*row) for row in await self._read(statements.OFFERS, {})]

    async def saw(self, names: Sequence[tuple[str, str]]) -> None:
        now, in_order = await self.now(), sorted(set(names))  # two nodes that note the same never wait in a circle

        def note() -> Talk[None]:
            for kind, name in in_order:
                yield statements.SAW, {"kind": kind, "name": name, "now": now}

        await self._talk(note)

    async def last_seen(self, kind: str, name: str) -> int | None:
        rows = await self._read(statements.LAST_SEEN, {"kind": kind, "name": name})
        return int(rows[0][0]) if rows else None

    async def setting(self, name: str, default: str) -> str:
        rows = await self._read(statements.SETTING, {"name": name})
        if not rows:
            await self._write(statements.STORE_SETTING, {"name": name, "value": default})
            rows = await self._read(statements.SETTING, {"name": name})
        return str(rows[0][0])

    async def _refusal(self, run: bytes, step: str, message_id: str | None, now: int) -> tuple[Receipt, bool] | None:
        """Why a callback was not received just now; null if it could be by now."""
        rows = await self._read(statements.CALLBACK, {"run": run, "step": step})
        if not rows:
            return Receipt.NOT_FOUND, False
        state, early, until, first, answer = rows[0]
        if answer is not None and message_id is not None and message_id == first:
            return Receipt(answer), True
        if state == CallbackState.RECEIVED:
            return Receipt.USED, False
        if state == CallbackState.PENDING and not early:
            return Receipt.NOT_ACTIVE, False
        if state == CallbackState.EXPIRED or (until is not None and until <= now):
            return Receipt.EXPIRED, False
        return None


def entry(row: Sequence[Any]) -> Entry:
    """A row of the journal with its text as the bytes that were written."""
    tenant, run, seq, at, kind, step, attempt, outcome, data = row
    return Entry(tenant, run, seq, at, kind, step, attempt, outcome, data.encode())


def mail(row: Sequence[Any]) -> Mail:
    id_, run, generation, kind, step, data, at = row
    return Mail(id_, run, generation, kind, step, data.encode(), at)


def encoded(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def offered(queues: Sequence[str] | None, actions: Sequence[str]) -> str:
    """What a node offers, as its row keeps it."""
    return msgspec.json.encode([None if queues is None else list(queues), list(actions)]).decode()


def _offer(node: bytes, offers: str | None, until: int) -> Offer:
    queues, actions = msgspec.json.decode(offers) if offers else (None, [])
    return Offer(node, None if queues is None else tuple(queues), tuple(actions), until)


def _run(row: Sequence[Any]) -> RunRow:
    made = RunRow(*row)
    changed = {"input": row[7].encode(), "opening": encoded(row[8]), "output": encoded(row[24])}
    return made._replace(**changed)
