"""Stuck runs: the findings of `doctor` about runs that no node continues, each with the command that helps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from typing import Final

from detent.ids import RUN, show
from detent.instant import SECOND, Instant
from detent.run.journal import Kind
from detent.run.status import OPEN, Status
from detent.store.protocol import Store
from detent.store.rows import Finding, NodeOffer, RunCriteria, RunRow

#: A run that has been due for this long is stuck: no node has claimed it.
LATE: Final = 3600 * SECOND
#: A run that has been paused for this many days was probably forgotten.
FORGOTTEN_DAYS: Final = 7
#: How many open runs and how many paused runs are checked, the oldest first.
LOOKED_AT: Final = 2_000
PAUSED_LOOKED_AT: Final = 200
_PAGE: Final = 200


async def stuck_runs(store: Store, tenant: int) -> list[Finding]:
    """Return the problems of the oldest open runs. Return one finding `ok` if there are none."""
    now, offers = await store.now(), await store.offers()
    late = [row async for row in _oldest(store, tenant, RunCriteria(statuses=_OPEN, owned=False)) if _is_late(row, now)]
    lost = [
        row async for row in _oldest(store, tenant, RunCriteria(statuses=_OPEN, owned=True)) if _is_lost(row, offers)
    ]
    found = [*_not_taken(late, offers), *_lost(lost), *await _forgotten(store, tenant, now)]
    return found or [Finding("ok", "runs", "none is stuck")]


_OPEN: Final = tuple(sorted(OPEN))


async def _oldest(store: Store, tenant: int, where: RunCriteria) -> AsyncIterator[RunRow]:
    cursor, seen = None, 0
    while seen < LOOKED_AT:
        rows = await store.runs(tenant, limit=_PAGE, where=where, cursor=cursor, oldest_first=True)
        for row in rows:
            yield row
        seen += len(rows)
        if len(rows) < _PAGE:
            return
        cursor = rows[-1].id


def _is_late(row: RunRow, now: Instant) -> bool:
    return row.wake_at is not None and row.wake_at <= now - LATE


def _is_lost(row: RunRow, offers: Iterable[NodeOffer]) -> bool:
    return all(offer.node != row.owner for offer in offers)


def _needs(row: RunRow) -> tuple[str, ...]:
    return tuple(json.loads(row.code)) if row.code else ()


def _not_taken(rows: list[RunRow], offers: list[NodeOffer]) -> list[Finding]:
    """Return one finding for each cause why due runs are not claimed."""
    causes = Counter(_cause(row, offers) for row in rows)
    return [Finding("warning", "runs", f"{_many(count)} for more than 1 h: {cause}") for cause, count in causes.items()]


def _cause(row: RunRow, offers: list[NodeOffer]) -> str:
    if all(offer.queues == () for offer in offers):
        return "no node is at work; start one with `detent serve`"
    serving = [offer for offer in offers if offer.queues is None or row.queue in offer.queues]
    if not serving:
        return f"no node serves the queue '{row.queue}'; start one with `detent worker --queues {row.queue}`"
    needs = set(_needs(row))
    if not any(needs <= set(offer.actions) for offer in serving):
        missing = ", ".join(sorted(needs - {one for offer in serving for one in offer.actions}) or sorted(needs))
        return f"no node of queue '{row.queue}' has {missing}; start one with `detent worker MODULE` that brings it"
    return f"nodes serve it but have not claimed it; see `detent runs why {show(RUN, row.id)}`"


def _many(count: int) -> str:
    return "1 run has been due" if count == 1 else f"{count:,} runs have been due"


def _lost(rows: list[RunRow]) -> list[Finding]:
    if not rows:
        return []
    queues = ", ".join(sorted({row.queue for row in rows}))
    whose = "1 run belongs" if len(rows) == 1 else f"{len(rows):,} runs belong"
    message = f"{whose} to a node that is gone (queue {queues}); a node that serves it takes over: `detent worker`"
    return [Finding("warning", "runs", message)]


async def _forgotten(store: Store, tenant: int, now: Instant) -> list[Finding]:
    where = RunCriteria(statuses=(Status.PAUSED,), started_before=now - FORGOTTEN_DAYS * 86400 * SECOND)
    rows = await store.runs(tenant, limit=PAUSED_LOOKED_AT, where=where, oldest_first=True)
    old = [row for row in rows if await _paused_at(store, row) <= now - FORGOTTEN_DAYS * 86400 * SECOND]
    if not old:
        return []
    run = show(RUN, old[0].id)
    paused = "1 run has been paused" if len(old) == 1 else f"{len(old):,} runs have been paused"
    message = (
        f"{paused} for more than {FORGOTTEN_DAYS} days; see `detent runs list --status paused`, then "
        f"`detent runs why {run}`, and `detent runs resume|skip|cancel {run}`"
    )
    return [Finding("warning", "runs", message)]


async def _paused_at(store: Store, row: RunRow) -> Instant:
    """Return when the run was last paused. An adoption counts too: it pauses a run with an uncertain step."""
    entries = await store.journal(row.tenant, row.id)
    stops = (Kind.PAUSED, Kind.ADOPTED)
    return max((entry.at for entry in entries if entry.kind in stops), default=row.started_at)
