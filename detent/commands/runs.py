"""Looking at runs, and waiting for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from detent.commands.context import CommandContext
from detent.documents.runs import RunDocument
from detent.engine.background import ANY_QUEUE
from detent.instant import Instant, iso
from detent.planner.history import PastAttempt, history
from detent.planner.moves import graph_of
from detent.planner.prepared import Prepared
from detent.planner.why import ReasonKind, sentence, why
from detent.run.journal import Entry, EntryData, Kind, decode_data
from detent.run.state import RunState
from detent.run.status import TERMINAL, Status
from detent.settings import DEFAULT_TENANT
from detent.store.rows import NodeOffer, RunCriteria, RunRow, TimelineCursor, TimelineRow
from detent.views.runs import facts_of_row, fold_row, run_document

EVERY = RunCriteria()


class RunCommands(CommandContext):
    """Nothing here changes anything."""

    async def run(self, run: str, *, tenant: int = DEFAULT_TENANT) -> RunDocument:
        """Build the document of a run."""
        return await self._document(await self.run_row(run, tenant=tenant))

    async def runs(
        self,
        *,
        limit: int,
        where: RunCriteria = EVERY,
        cursor: bytes | None = None,
        oldest_first: bool = False,
        tenant: int = DEFAULT_TENANT,
    ) -> list[RunRow]:
        """Runs by the order they were accepted in, newest first unless asked otherwise."""
        return await self._store.runs(tenant, limit=limit, where=where, cursor=cursor, oldest_first=oldest_first)

    async def count_runs(self, *, where: RunCriteria, limit: int, tenant: int = DEFAULT_TENANT) -> int:
        """How many there are, counted up to `limit`."""
        return await self._store.count_runs(tenant, where=where, limit=limit)

    async def entries(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        """The journal of a run, from a place on."""
        return await self._store.journal(run, after=after, limit=limit)

    async def prepared(self, row: RunRow) -> Prepared:
        """The graph a run runs on."""
        graphs = await self._engine.graphs.get([(row.workflow, row.version)])
        return graphs[row.workflow, row.version][1]

    async def was_one_of_several(self, row: RunRow) -> bool:
        """Whether a run was allowed beside another of its hero."""
        return row.active_key is None and (await self.prepared(row)).graph.one_per_hero

    async def folded(self, row: RunRow) -> tuple[Prepared, RunState]:
        """The graph of a run, and its state by its journal."""
        prepared, tokens = await self.prepared(row), self._engine.tokens
        entries = await self._store.journal(row.id)
        state = fold_row(row, prepared, entries, lambda step: tokens.url(row.id, step))
        return graph_of(prepared, state), state

    async def children(self, runs: Sequence[bytes], *, tenant: int = DEFAULT_TENANT) -> list[RunRow]:
        """The runs that these have started."""
        found: list[RunRow] = []
        for run in runs:
            found += await self._store.runs(tenant, limit=200, where=RunCriteria(parent=run), oldest_first=True)
        return found

    async def _document(self, row: RunRow) -> RunDocument:
        prepared = await self.prepared(row)
        entries = await self._store.journal(row.id)
        callbacks = await self._store.callbacks(row.id)
        tokens, id_ = self._engine.tokens, row.id
        document = run_document(row, prepared, entries, callbacks, lambda step: tokens.url(id_, step))
        if document.status in TERMINAL and row.status not in TERMINAL:
            # It ended between the two reads. Its row was written together with its last entry.
            row = await self._store.run(row.tenant, id_) or row
            document = run_document(row, prepared, entries, callbacks, lambda step: tokens.url(id_, step))
        return document


# Looking at runs as a story: the attempts of one, and everything that happened to one hero.


#: Entries are read a few at a time, until a page has this many bytes.
PAGE_BYTES: Final = 1024 * 1024
_PIECE: Final = 25


class Happenings(NamedTuple):
    """A page of a timeline. `is_last`: there was no more when it was read."""

    found: list[TimelineRow]
    is_last: bool


class HeroCommands(RunCommands):
    """Nothing here changes anything."""

    async def history(self, run: str, *, tenant: int = DEFAULT_TENANT) -> list[PastAttempt]:
        """The attempts of a run that are over, in the order they ended."""
        row = await self.run_row(run, tenant=tenant)
        tokens = self._engine.tokens
        facts = facts_of_row(row, lambda step: tokens.url(row.id, step))
        return history(await self.prepared(row), facts, row.opening, await self._store.journal(row.id))

    async def timeline(
        self, hero: tuple[str, str], *, limit: int, after: TimelineCursor | None = None, tenant: int = DEFAULT_TENANT
    ) -> Happenings:
        """What happened in all runs of a hero behind that place: at most `limit`, and no more than a page may hold
        unless the first alone does."""
        found: list[TimelineRow] = []
        size = 0
        while True:
            asked = min(_PIECE, limit + 1 - len(found))
            piece = await self._store.timeline(tenant, hero, limit=asked, after=after)
            for one in piece:
                size += len(one.entry.data)
                if len(found) == limit or (found and size > PAGE_BYTES):
                    return Happenings(found, is_last=False)
                found.append(one)
            if len(piece) < asked:
                return Happenings(found, is_last=True)
            after = found[-1].place()


# Why a run does not go on: what the planner says of its steps, and what is missing around it.


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

    async def _unserved(self, row: RunRow, offers: list[NodeOffer]) -> list[Obstacle]:
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
        found = [await self._store.last_served(kind, name)]
        if kind == "queue":
            found.append(await self._store.last_served(kind, ANY_QUEUE))
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
