"""Claims: take the runs that are due, have mail, or lost their node, and load them into memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from detent.blobs.places import patiently
from detent.engine.cache import Version
from detent.engine.committer import Committer, Fenced
from detent.engine.context import NodeContext
from detent.engine.inbox import Mailbox
from detent.engine.owned_run import OwnedRun
from detent.engine.release import is_quarantined
from detent.engine.runner import Runner
from detent.errors import CommitUnknown, EngineError, StoreBusy, StoreError, UnknownEntry, UnknownGraph
from detent.instant import micros
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.planner.fold import fold
from detent.planner.moves.code import graph_of
from detent.planner.moves.version import versions_in
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.initiator import Initiator
from detent.run.journal import Entry, family_in, placed_in
from detent.run.state import Phase, RunFacts
from detent.store.rows import ClaimedRun, MessageKind, hero_of
from detent.values.blob import MARK

_STOPS: Final = (MessageKind.CANCEL, MessageKind.FINISH)
#: Seconds until a run whose blobs cannot be read is claimed again.
_DEFERRED: Final = 5.0
#: A wait of a run: the run and the name of the step.
Wait = tuple[bytes, str]


class Claims:
    """The poller that claims runs, one batch at a time, as many as the node has room for."""

    name = "claims"

    def __init__(
        self, context: NodeContext, node: bytes, *, runner: Runner, committer: Committer, mailbox: Mailbox
    ) -> None:
        self._store, self._graphs, self._time = context.store, context.graphs, context.time
        self._tuning, self._served, self._callback_url = context.tuning, context.served, context.callback_url
        self._secrets, self._contents = context.executors.secrets, context.executors.contents
        self._node, self._runner, self._committer, self._mailbox = node, runner, committer, mailbox
        self.begun = self.ended = 0  # polls

    async def poll(self) -> float:
        self.begun += 1
        try:
            return await self._poll()
        finally:
            self.ended += 1

    async def _poll(self) -> float:
        room = min(self._tuning.claim_batch, self._tuning.runnable_limit - self._runner.runnable())
        if room <= 0 or self._committer.is_unsure or self._committer.is_full() or self._runner.is_draining:
            return self._tuning.poll
        epoch = self._committer.epoch
        claims = await self._store.claim(
            self._node,
            epoch,
            limit=room,
            queues=self._tuning.queues,
            serves=self._served.all(),
            horizon=micros(self._tuning.horizon),
        )
        if claims is None:
            if not self._committer.stands_by(epoch):
                return self._tuning.poll  # this node raised its own epoch meanwhile, or is about to
            raise Fenced
        self._time.heard(claims.now)
        if not claims.runs:
            return self._tuning.idle_poll
        reach("after_claim")
        await self._take(claims.runs)
        return 0.0 if len(claims.runs) == room else self._tuning.poll

    async def _take(self, runs: list[ClaimedRun]) -> None:
        journals = await self._store.journals([run.id for run in runs])
        moved = {run.id: versions_in(journals.get(run.id, ())) for run in runs}
        wanted = [(run.workflow, number) for run in runs for number in (run.version, *moved[run.id])]
        graphs, unreadable = await self._graphs.load(wanted)
        closed = await self._closed(runs, graphs)
        contents, unavailable = await self._read_contents(runs, journals, graphs)
        broken: list[tuple[ClaimedRun, list[Entry], Exception]] = []
        for run in runs:
            if run.id in unavailable:
                continue
            entries = journals.get(run.id, [])
            try:
                for number in (run.version, *moved[run.id]):
                    if (run.workflow, number) not in graphs:
                        why = unreadable.get((run.workflow, number))
                        raise why or EngineError(f"version {number} of its workflow is missing")
                name, prepared = graphs[run.workflow, run.version]
                versions = {number: graphs[run.workflow, number][1] for number in moved[run.id]}
                if versions:
                    prepared = versions[moved[run.id][0]]  # the one that it began with
                brought = self._bring_in(run, name, prepared, entries, versions, contents.get(run.id))
                if closed:
                    self._expire_closed(brought, closed)
            except Exception as error:  # noqa: BLE001 - one unreadable run must not stop the claims of the others
                broken.append((run, entries, error))
        try:
            if broken:
                await self._quarantine(broken)
            if unavailable:
                await self._defer(runs, journals, unavailable)
            # Read the mail first: a run that was claimed for its mail has nothing else to do and would be parked again.
            await self._mailbox.poll()
        finally:
            for run in runs:
                owned = self._runner.owned.get(run.id)
                if owned is not None and owned.generation == run.generation:
                    self._runner.go_on(owned)

    async def _read_contents(
        self,
        runs: list[ClaimedRun],
        journals: Mapping[bytes, list[Entry]],
        graphs: Mapping[Version, tuple[str, Prepared]],
    ) -> tuple[dict[bytes, dict[bytes, bytes]], dict[bytes, StoreError]]:
        """Return the content of the blobs that expressions of these runs may read inside, by run, and why that of
        others cannot be read now. Raise StoreError if the database does not answer."""
        found, unavailable = {}, {}
        for run in runs:
            raws = [raw for raw in (run.input, *(one.data for one in journals.get(run.id, ()))) if raw.find(MARK) >= 0]
            graph = graphs.get((run.workflow, run.version)) if raws else None
            try:
                # A database that is busy is asked again. Below, the place of the blobs is away.
                read = partial(self._contents.read, graph[1], run.tenant, raws) if graph else None
                content = None if read is None else await patiently(read)
            except (StoreBusy, CommitUnknown):
                raise  # as if the journals could not be read
            except StoreError as error:
                emit("engine.error", where="content of blobs", run=run.id, error=error.message)
                unavailable[run.id] = error
                continue
            if content is not None:
                found[run.id] = content
        return found, unavailable

    async def _defer(
        self,
        runs: list[ClaimedRun],
        journals: Mapping[bytes, list[Entry]],
        unavailable: Mapping[bytes, StoreError],
    ) -> None:
        """Release the runs whose blobs cannot be read now, so that they are claimed again a little later."""
        mails = await self._mailbox.look()
        for run in runs:
            error = unavailable.get(run.id)
            if error is None:
                continue
            mine = [mail for mail in mails if (mail.run, mail.generation) == (run.id, run.generation)]
            if any(mail.kind == MessageKind.CANCEL for mail in mine):
                self._runner.releases.leave_unreadable(run, journals.get(run.id, []), mine, EngineError(error.outage))
            elif not run.adopted and not mine:
                self._runner.releases.put_back(run, after=_DEFERRED)
            # Else the watchdog releases it: its adoption is not journalled, or its mail would make it due at once.

    async def _closed(self, runs: list[ClaimedRun], graphs: Mapping[Version, tuple[str, Prepared]]) -> set[Wait]:
        """Return the waits of adopted runs whose callbacks are closed: they can receive nothing any more.

        The node that died had closed them because the code of a step stopped the run, which is not in the journal.
        """
        places = {run.id: graphs.get((run.workflow, run.version)) for run in runs if run.adopted}
        waiting = [run for run, graph in places.items() if graph is not None and graph[1].wait_steps]
        found = await self._store.closed_waits(waiting) if waiting else set()
        if not found:
            return found
        # A command that stops the run is still in the inbox: it was not in the journal either. It ends the waits.
        stopped = {mail.run for mail in await self._mailbox.look() if mail.kind in _STOPS}
        return {wait for wait in found if wait[0] not in stopped}

    def _expire_closed(self, run: OwnedRun, closed: set[Wait]) -> None:
        for index, phase in enumerate(run.state.phase):
            if phase is Phase.WAITING and (run.id, run.prepared.steps[index].name) in closed:
                self._runner.handle(run, events.WaitExpired(index))

    def _bring_in(
        self,
        run: ClaimedRun,
        name: str,
        prepared: Prepared,
        entries: list[Entry],
        versions: Mapping[int, Prepared],
        contents: dict[bytes, bytes] | None,
    ) -> OwnedRun:
        facts = RunFacts(
            id=run.id,
            tenant=run.tenant,
            workflow=name,
            input=run.input,
            started_at=run.started_at,
            expires_at=run.expires_at,
            callback_url=lambda step: self._callback_url(run.id, step),
            hero=hero_of(run),
            parent=run.parent,
            workflow_id=run.workflow,
            family=None if run.parent is None else family_in(run.opening),
            unseal=self._secrets.unsealer(run.tenant) if prepared.is_sensitive else None,
            initiator=Initiator(run.principal, run.via, run.correlation),
        )
        if facts.family is not None and facts.family.page is not None:
            prepared = self._graphs.page((run.workflow, run.version), prepared, facts.family.page)
        # The version that a run was moved to may read results that the one before did not.
        state = fold(prepared, facts, run.opening, entries, versions, keeps_results=bool(versions))
        state.blobs = contents
        placed = placed_in(run.opening)
        owned = OwnedRun(run.id, run.generation, graph_of(prepared, state), state, run.status, placed, run.version)
        owned.known = len(state.history)
        owned.opening = run.opening
        # Else the children that it waits for exist: a run is parked when it has started them all.
        owned.unsure = set(state.children if run.adopted else state.unsure.intersection(state.children))
        self._runner.add(owned)
        # A quarantined run had nothing in flight, so its adoption is not recorded, however often it is claimed.
        if run.adopted and not is_quarantined(state.paused_by):
            reach("inside_recovery")
            emit("run.adopted", run=run.id)
            tuning = self._tuning
            self._runner.handle(owned, events.Adopted(self._node.hex(), tuning.poison_after, tuning.poison_delay))
        return owned

    async def _quarantine(self, broken: list[tuple[ClaimedRun, list[Entry], Exception]]) -> None:
        mails = await self._mailbox.look()
        for run, entries, error in broken:
            owned = self._runner.owned.get(run.id)
            if owned is not None:
                self._runner.drop(owned)
            if isinstance(error, UnknownEntry | UnknownGraph):
                if run.adopted:
                    # Its adoption is not journalled. The watchdog releases it, and it still counts as a dead node's.
                    continue
                # A newer version of Detent can read it: park it, so that such a node may claim it.
                self._runner.releases.put_back(run, after=60.0)
            else:
                mine = [mail for mail in mails if (mail.run, mail.generation) == (run.id, run.generation)]
                self._runner.releases.leave_unreadable(run, entries, mine, error)
