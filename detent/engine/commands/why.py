"""Why a run does not go on: what the planner says of its steps, and what is missing around it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from detent.engine.commands.ground import DEFAULT_TENANT
from detent.engine.commands.runs import RunCommands
from detent.engine.presence import ANY_QUEUE
from detent.instant import Instant, iso
from detent.planner.reasons import sentence
from detent.planner.why import ReasonKind, why
from detent.run.journal import Entry, EntryData, Kind, decode_data
from detent.run.status import TERMINAL, Status
from detent.store.rows import Offer, RunRow

#: What may begin at once, if only a node took it.
_STARTABLE: Final = frozenset({ReasonKind.READY, ReasonKind.NOT_STARTED})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason, ready to be shown."""

    kind: str
    message: str
    step: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    details: dict[str, Any] | None = None


class WhyCommands(RunCommands):
    """The question an operator asks at night."""

    async def why(self, run: str, *, tenant: int = DEFAULT_TENANT) -> tuple[RunRow, str, list[Obstacle]]:
        """The run, its status, and what keeps it from going on: what blocks first, then what waits for that."""
        row = await self.run_row(run, tenant=tenant)
        prepared, state = await self.folded(row)
        if row.status in TERMINAL and not state.is_over:
            return row, row.status, [_ended_by_engine(row)]
        status = row.status if row.status in TERMINAL else str(state.status)
        now = await self._store.now()
        reasons = why(prepared, state, now, owned=row.owner is not None)
        found = [
            Obstacle(str(one.kind), one.message, one.step, one.since, one.until, dict(one.details)) for one in reasons
        ]
        if status == Status.CANCELLED:
            told = _why_cancelled(await self.entries(row.id))
            found = [replace(one, message=f"{one.message}{told}") for one in found]
        if status in TERMINAL:
            return row, status, found
        is_due = row.wake_at is not None and row.wake_at <= now
        around = await self._around(row, is_due=is_due or any(one.kind in _STARTABLE for one in reasons))
        return row, status, around + found

    async def _around(self, row: RunRow, *, is_due: bool) -> list[Obstacle]:
        """What is missing outside the run; `is_due`: it would go on at once, if only a node took it."""
        offers = await self._store.offers()
        if any(offer.node == row.owner for offer in offers):
            return []
        if all(offer.queues == () for offer in offers):  # doors that start runs and leave them to others
            return [Obstacle("no_node", "No node is at work: nothing goes on until `detent serve` or `worker` runs.")]
        unserved = await self._unserved(row, offers) if is_due or row.owner is not None else []
        if row.owner is None or unserved:
            return unserved
        return [Obstacle("node_lost", "The node that had the run is gone; another one takes it over in a moment.")]

    async def _unserved(self, row: RunRow, offers: list[Offer]) -> list[Obstacle]:
        serving = [offer for offer in offers if offer.queues is None or row.queue in offer.queues]
        if not serving:
            seen = await self._last_seen("queue", row.queue)
            return [Obstacle("queue", f"No node serves its queue '{row.queue}'; {seen}.", details={"queue": row.queue})]
        needed = set(json.loads(row.code)) if row.code else set()
        if any(needed <= set(offer.actions) for offer in serving):
            return []
        missing = sorted(needed - {action for offer in serving for action in offer.actions}) or sorted(needed)
        seen = await self._last_seen("action", missing[0])
        wanted = ", ".join(map(_in_words, missing))
        message = f"No node of its queue '{row.queue}' has the code it needs: {wanted}; {seen}."
        return [Obstacle("code", message, details={"actions": missing})]

    async def _last_seen(self, kind: str, name: str) -> str:
        found = [await self._store.last_seen(kind, name)]
        if kind == "queue":
            found.append(await self._store.last_seen(kind, ANY_QUEUE))
        at = max((one for one in found if one is not None), default=None)
        return "no node ever did" if at is None else f"one was last seen at {iso(at)}"


def _ended_by_engine(row: RunRow) -> Obstacle:
    """A run whose journal does not have its end: it is over all the same, and its row says why."""
    at = "" if row.ended_at is None else f" at {iso(row.ended_at)}"
    why = f" {sentence(row.error)}" if row.error else ""
    message = f"The run is over: it ended {row.status}{at}.{why}"
    return Obstacle(str(ReasonKind.ENDED), message, since=row.ended_at, details={"status": row.status})


def _why_cancelled(entries: Sequence[Entry]) -> str:
    """Who or what cancelled a run, as one more sentence."""
    last = next((entry for entry in reversed(entries) if entry.kind == Kind.CANCELLED), None)
    data = EntryData() if last is None else decode_data(last.data)
    reason = data.by if data.error is None else data.error.message
    if last is None or not reason:
        return ""
    return sentence(f" Step '{last.step}' cancelled it: {reason}" if last.step else f" It was cancelled by {reason}")


def _in_words(code: str) -> str:
    """What a run needs, as people call it."""
    kind, _, name = code.partition(":")
    if kind != "workflow" or not name:
        return f"the action '{code}'"
    name, _, fingerprint = name.partition("@")
    return f"the workflow '{name}'" + (f" with exactly the code {fingerprint}" if fingerprint else "")
