"""Overviews over all runs: the inbox of waits, received requests, the grid of a workflow, nodes, queues and storage."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from detent.auth.caller import Caller
from detent.auth.scopes import Scope
from detent.commands.approvals.answers import has_started, may_decide, person_of
from detent.commands.context import CommandContext, CommandPart
from detent.commands.runs import RunCommands
from detent.commands.workflows import WorkflowCommands
from detent.documents.outline import GridDocument
from detent.documents.overview import (
    AskDocument,
    ButtonDocument,
    DecisionDocument,
    NodeDocument,
    QueueDocument,
    StorageDocument,
    WaitItem,
)
from detent.errors import Unavailable
from detent.graph.ask import STARTER, WaitAsk, read_ask, read_decisions
from detent.ids import NODE, made_at, show
from detent.instant import as_datetime, micros
from detent.run.journal import MAP
from detent.store.overview_rows import EntryMark, FiringMark, ReceivedSlice, WaitPlace, WaitRow
from detent.store.rows import RunCriteria, RunRow
from detent.views.grid import grid_document
from detent.views.runs import run_summary
from detent.views.step import cut

#: Counts end here.
MOST_COUNTED: Final = 10_000
MOST_CELLS: Final = 10_000
#: A filter of received requests looks at this many of them at once.
WINDOW: Final = 5_000
#: A page that watches them with a filter looks at this many of the newest ones, again and again.
NEWEST_WINDOW: Final = 500
#: The filter of own waits looks at this many at once.
OWN_WINDOW: Final = 1_000
_MOST_MARKS: Final = 50_000
_LARGEST_INPUT: Final = 4 * 1024
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class InboxAnswer:
    """How many waits are active (counted up to a limit), and the nearest deadline."""

    count: int
    soonest: int | None


class InboxPage(NamedTuple):
    """Some active waits. `last` is the place of the last one, `None` if there are no more behind it."""

    items: list[WaitItem]
    last: WaitPlace | None


class InboxCommands(CommandPart):
    """Reads of the inbox, and of what triggers received."""

    async def find(
        self,
        *,
        limit: int,
        after: WaitPlace | None = None,
        workflow: bytes | None = None,
        hero: tuple[str, str] | None = None,
        own: bool = False,
    ) -> InboxPage:
        """Return the active waits behind a place, the nearest deadline first. With `own`, look at a bounded number of
        them and return those that the caller may decide."""
        count = OWN_WINDOW if own else limit
        waits = await self._store.active_waits(self._tenant, limit=count + 1, after=after, workflow=workflow, hero=hero)
        has_more = len(waits) > count
        shown = waits[:count]
        if own:
            mine = [wait for wait in shown if self._is_own(wait)]
            if len(mine) > limit:
                has_more, mine = True, mine[:limit]
            last = mine[-1].place() if len(mine) == limit else shown[-1].place() if shown else None
            items = [item for item in await self._items(mine) if item.ask is None or item.ask.may_decide]
            return InboxPage(items, last if has_more else None)
        return InboxPage(await self._items(shown), shown[-1].place() if has_more else None)

    def _is_own(self, wait: WaitRow) -> bool:
        """Return whether the caller may decide a wait, if it has not started its run."""
        if not wait.ask:
            return True
        ask = read_ask(wait.ask)
        by, _ = person_of(self._caller)
        has_decided = any(one.by == by for one in read_decisions(wait.decisions))
        return not has_decided and may_decide(self._caller, ask, self._context.now())

    async def _items(self, shown: Sequence[WaitRow]) -> list[WaitItem]:
        rows: dict[bytes, RunRow | None] = {}
        for wait in shown:
            if wait.run not in rows:  # the whole row: what led to the wait is its input
                rows[wait.run] = await self._store.run(self._tenant, wait.run)
        return [await self._item(wait, row) for wait in shown if (row := rows[wait.run]) is not None]

    async def state(self) -> InboxAnswer:
        """Return how many waits are active, and the nearest deadline."""
        count = await self._store.count_waits(self._tenant, limit=MOST_COUNTED)
        first = await self._store.active_waits(self._tenant, limit=1) if count else []
        return InboxAnswer(count, first[0].until if first else None)

    async def received(
        self, *, limit: int, before: bytes | None = None, kind: str | None = None, state: str | None = None
    ) -> ReceivedSlice:
        """Return the firings of all triggers, newest first. With a filter, look at a bounded number of them."""
        return await self._store.received(
            self._tenant, limit=limit, window=WINDOW, before=before, kind=kind, state=state
        )

    async def newest(
        self, *, limit: int, trigger: bytes | None = None, kind: str | None = None, state: str | None = None
    ) -> list[FiringMark]:
        """Return the newest firings of all triggers or of one, without their requests. With a filter, look at a few."""
        return await self._store.newest_firings(
            self._tenant, limit=limit, window=NEWEST_WINDOW, trigger=trigger, kind=kind, state=state
        )

    async def _item(self, wait: WaitRow, row: RunRow) -> WaitItem:
        versions, _ = await self._engine.graphs.load([(row.workflow, row.version)])
        title = None
        for _, prepared in versions.values():
            index = prepared.numbers.get(wait.step)
            title = None if index is None else prepared.graph.steps[index].title
        body = msgspec.json.encode(_decode(row.input).get("body"))
        ask = read_ask(wait.ask) if wait.ask else None
        return WaitItem(
            run=run_summary(row, self._context.now(), {(wait.run, wait.step): wait.until}),
            step=wait.step,
            title=title,
            question=None if ask is None else ask.title,
            created_at=as_datetime(wait.created_at),
            until=None if wait.until is None else as_datetime(wait.until),
            url=self._callback_url(row.id, wait.step),
            input=msgspec.Raw(body) if len(body) <= _LARGEST_INPUT else cut(body),
            ask=None if ask is None else self._ask(wait, ask, row),
        )

    def _ask(self, wait: WaitRow, ask: WaitAsk, row: RunRow) -> AskDocument:
        now, every = self._context.now(), ask.every
        is_starter = ask.not_by == STARTER and has_started(self._caller, row.principal, row.via)
        reminders = ask.reminders(now)
        following = None
        if every is not None and reminders < ask.most:
            following = as_datetime(ask.opened_at + micros(every) * (reminders + 1))
        return AskDocument(
            kind="approval" if ask.is_approval else "webhook",
            text=ask.text,
            data=ask.data,
            form=ask.schema if ask.is_form else None,
            schema=None if ask.is_form else ask.schema,
            buttons=[ButtonDocument(label=one.label, body=one.body) for one in ask.buttons],
            assignees=list(ask.assignees),
            quorum=ask.quorum,
            decisions=[
                DecisionDocument(
                    by=one.by,
                    name=one.name,
                    at=one.at,
                    approved=one.approved,
                    comment=one.comment,
                    answer=one.answer,
                )
                for one in read_decisions(wait.decisions)
            ],
            may_decide=self._caller.may(Scope.EXECUTE) and self._is_own(wait) and not is_starter,
            not_by=ask.not_by,
            on_timeout=ask.on_timeout,
            opened_at=as_datetime(ask.opened_at),
            reminders=reminders,
            next_reminder_at=following,
            escalates_at=None if ask.after is None else as_datetime(ask.opened_at + micros(ask.after)),
            escalates_to=list(ask.to),
            digest=ask.digest(),
        )


class SystemCommands(CommandPart):
    """Reads of nodes, queues, storage and grids."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands, workflows: WorkflowCommands) -> None:
        super().__init__(context, caller)
        self._runs, self._workflows = runs, workflows

    async def tenant_name(self) -> str:
        """Return the name of the caller's tenant."""
        return await self._store.tenant_name(self._tenant) or str(self._tenant)

    async def find_tenant(self, name: str) -> int | None:
        """Return the id of a tenant by name, `None` if it does not exist or is suspended."""
        return await self._context.store.active_tenant(name)

    async def nodes(self) -> list[NodeDocument]:
        """Return the registered nodes, oldest first."""
        whole = self._context.store
        offers, owned, now = await whole.offers(), await whole.owned_counts(), await whole.now()
        try:
            own = self._engine.node
        except Unavailable:
            own = None
        return [
            NodeDocument(
                id=show(NODE, offer.node),
                address=None,
                version=offer.version,
                started_at=as_datetime(made_at(offer.node)),
                lease_until=as_datetime(offer.until),
                alive=offer.until > now,
                queues=None if offer.queues is None else list(offer.queues),
                actions=list(offer.actions),
                owned=owned.get(offer.node, 0),
                slots=self._engine.tuning.slots if own is not None and own.id == offer.node else None,
                busy=own.runner.busy if own is not None and own.id == offer.node else None,
            )
            for offer in sorted(offers, key=lambda offer: offer.node)
        ]

    async def queues(self) -> list[QueueDocument]:
        """Return the queues that have open runs, or that a node serves by name."""
        whole = self._context.store
        now, offers = await whole.now(), await whole.offers()
        waiting = {row.queue: row for row in await whole.queues(now=now, limit=MOST_COUNTED)}
        owned = await whole.owned_queues(limit=MOST_COUNTED)
        served = {queue for offer in offers for queue in offer.queues or ()}
        serves_all = any(offer.queues is None for offer in offers)
        found = []
        for name in sorted({*waiting, *owned, *served}):
            row = waiting.get(name)
            oldest = None if row is None or row.oldest_at is None else as_datetime(row.oldest_at)
            found.append(
                QueueDocument(
                    queue=name,
                    ready=0 if row is None else row.ready,
                    oldest_at=oldest,
                    owned=owned.get(name, 0),
                    sleeping=0 if row is None else row.sleeping,
                    served=serves_all or name in served,
                    capped_at=MOST_COUNTED,
                )
            )
        return found

    async def storage(self) -> StorageDocument:
        """Return what the runs of each workflow take. It is measured at most once an hour; an older measure is returned
        while the next one is made."""
        return await self._context.storage.read(self._tenant)

    async def grid(self, key: str, *, runs: int) -> GridDocument:
        """Return how the steps of a workflow ended in its latest runs, from their journals without data."""
        row = await self._workflows.get(key)
        rows = await self._runs.find(limit=runs, where=RunCriteria(workflow=row.id, without=MAP))
        graph = None
        if row.version:
            versions, _ = await self._engine.graphs.load([(row.id, row.version)])
            graph = next((prepared.graph for _, prepared in versions.values()), None)
        marks = await self._store.entry_marks(self._tenant, [one.id for one in rows], limit=_MOST_MARKS)
        rows = _complete(rows, marks)
        return await asyncio.to_thread(grid_document, graph, rows, marks, MOST_CELLS)


def _complete(rows: list[RunRow], marks: Sequence[EntryMark]) -> list[RunRow]:
    """Return the runs whose entries were all read."""
    if len(marks) < _MOST_MARKS:
        return rows
    return [row for row in rows if row.id < marks[-1].run]
