"""One node: one registration in the store, from its first heartbeat to its last.

A node that loses its lease, or cannot be sure of it, stops at once and forever. The engine then registers a new node
with a new id. So there is no return from the state "perhaps removed", and no code that could get that return wrong.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from detent.blobs.uses import BlobUses
from detent.engine.background import HintListener, HintSender, Openings, Orphans, Polling, Takeovers, Watchdog
from detent.engine.claims import Claims
from detent.engine.committer import Committer, Fenced
from detent.engine.context import NodeContext
from detent.engine.inbox import Mailbox
from detent.engine.records.links import LinkOwners
from detent.engine.records.logs import StepLogs
from detent.engine.records.seals import Sealer
from detent.engine.runner import Runner
from detent.engine.write import PendingWrite
from detent.errors import Unavailable
from detent.observe.failpoints import reach
from detent.steps.logs.attempt_log import AttemptLog
from detent.store.protocol import Hints
from detent.store.rows import Flushed

#: How many durable writes are handled before other tasks may run. The next flush is under way meanwhile.
SLICE: Final = 128
LEASE_CHECK: Final = 0.2
#: How long a stopping node tries to write that it released its runs, in seconds.
RELEASE: Final = 5.0


class Node:
    """One registration of this process in the store. It owns a committer, a runner, a heartbeat and the pollers."""

    def __init__(self, context: NodeContext, id_: bytes, epoch: int) -> None:
        store, time, tuning = context.store, context.time, context.tuning
        self.id = id_
        self._clock, self._tuning, self._watch = context.clock, tuning, context.watch
        self._heartbeat = store.heartbeat(id_, ttl=tuning.lease, interval=tuning.beat)
        self._logs = StepLogs(
            time=time,
            new_id=context.children.new_id,
            level=tuning.log_level,
            redactors=context.executors.secrets.redactors,
            wake=self._flush_logs,
        )
        self.runner = Runner(
            clock=self._clock,
            time=time,
            tuning=tuning,
            executors=context.executors,
            may_act=self.is_sure,
            children=context.children,
            logs=self._logs,
        )
        self.committer = Committer(
            store, id_, epoch, time=time, tuning=tuning, durable=self._durable, refused=self.runner.refused
        )
        self.committer.logs = self._logs
        if self._watch is not None:
            self._watch.find = self._attempt_of
        if context.seal_key is not None:
            self.committer.sealer = Sealer(store, context.seal_key)
        self.committer.uses = BlobUses(store)
        self.runner.committer = self.committer
        self.runner.nudge = self.nudge
        self.runner.moves.can_run = context.served.has
        mailbox = Mailbox(
            store,
            id_,
            runner=self.runner,
            tuning=tuning,
            graphs=context.graphs,
            contents=context.executors.contents,
        )
        self._mail = Polling(mailbox)
        self._openings = Polling(Openings(store, self.runner))
        self.runner.nudge_openings = self._openings.nudge
        self._link_owners = Polling(LinkOwners(store, self.runner.links))
        self.runner.links.nudge = self._link_owners.nudge
        self._claimer = claims = Claims(context, id_, runner=self.runner, committer=self.committer, mailbox=mailbox)
        self._claims = Polling(claims)
        self._takeovers = Polling(Takeovers(store, id_, tuning=tuning, freed=self._claims.nudge))
        self._watchdog = Polling(
            Watchdog(store, id_, runner=self.runner, committer=self.committer, claims=claims, tuning=tuning)
        )
        self._hinting: list[Polling] = []
        if context.hints is not None:
            self._hint_with(context.hints)
        self._orphans = Polling(Orphans(store, tuning.orphans, sent=self.nudge))
        self._is_doubtful = False
        self._followed: deque[tuple[PendingWrite, Flushed]] = deque()
        self._follow_up = asyncio.Event()

    def is_sure(self) -> bool:
        """Return whether the lease is certainly valid for a while. Only then may an effect begin.

        After one doubt this stays false, even if a late heartbeat succeeds: some work was skipped because of the doubt.
        """
        until = self._heartbeat.confirmed() + self._tuning.lease - self._tuning.margin
        if self._clock.monotonic() >= until or self._heartbeat.lost():
            self._is_doubtful = True
        return not self._is_doubtful

    def outage(self) -> str | None:
        """Return why this node cannot work now, or None."""
        return self.committer.outage() if self.is_sure() else "the database has not renewed the lease of this node"

    async def serve(self, *, claims: bool = True) -> None:
        """Work until cancelled. Raise Fenced when this node was removed, or may have been."""
        self._heartbeat.start()
        loops = [
            self.committer.work,
            self._follow,
            self._mail.work,
            self._openings.work,
            self._link_owners.work,
            self._takeovers.work,
            self._watchdog.work,
            self._keep,
        ]
        if claims:
            loops += [self._claims.work, self._orphans.work]
        loops += [hinting.work for hinting in self._hinting]
        try:
            async with asyncio.TaskGroup() as group:
                for work in loops:
                    group.create_task(self._guard(work))
        except* Fenced:
            raise Fenced from None
        finally:
            self.runner.drop_all()
            self._logs.close()
            self.committer.give_up(Unavailable("the node of this engine has stopped; try again"))
            for write, flushed in self._followed:
                if write.done is not None and not write.done.done():
                    write.done.set_result(flushed)  # durable, although nothing was begun: another node continues it
            await self._heartbeat.stop()

    def _hint_with(self, hints: Hints) -> None:
        """Hint other nodes after flushes for them, and read inbox and claim when another node hints."""
        sender = HintSender(hints)
        sending = Polling(sender)

        def hint() -> None:
            sender.ask()
            sending.nudge()

        self.runner.hint = hint
        self._hinting = [sending, Polling(HintListener(hints, self.nudge))]

    async def _guard(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except Fenced:
            self._is_doubtful = True  # at once, before the other loops have ended
            raise

    async def drain(self) -> None:
        """Begin nothing new, wait for attempts in flight, then release all runs."""
        self.runner.drain()
        reach("inside_drain")
        await self._until_empty(self._tuning.drain)
        self.runner.release()
        await self._until_empty(RELEASE)

    async def _until_empty(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while self._clock.monotonic() < until and not self.is_empty():  # noqa: ASYNC110 - no single event says it
            await asyncio.sleep(0.02)

    def is_empty(self) -> bool:
        runner, claims = self.runner, self._claimer
        if claims.begun != claims.ended:
            return False  # a run that is being claimed would not be released, and another node would adopt it
        return not runner.owned and not runner.releases and self.committer.is_idle() and not self._followed

    def nudge(self) -> None:
        """Read the inbox and claim runs now, without waiting for the next poll."""
        self._mail.nudge()
        self._claims.nudge()

    def _durable(self, writes: list[PendingWrite], flushed: Flushed) -> None:
        if len(writes) <= SLICE and not self._followed:
            for write in writes:
                self.runner.on_durable(write, flushed)
            return
        self._followed.extend((write, flushed) for write in writes)
        self._follow_up.set()

    async def _follow(self) -> None:
        """Run the plans of large flushes in slices, while the next flush is under way."""
        while True:
            await self._follow_up.wait()
            self._follow_up.clear()
            while self._followed:
                for _ in range(min(SLICE, len(self._followed))):
                    self.runner.on_durable(*self._followed.popleft())
                await asyncio.sleep(0)

    def _flush_logs(self) -> None:
        self.committer.wake()

    def _attempt_of(self, task: asyncio.Task[Any] | None, log: AttemptLog | None) -> dict[str, Any] | None:
        """Return what is known of the attempt that a task or a log belongs to. The thread of the watch asks."""
        for run in self.runner.owned.values():
            for index, attempt in run.attempts.items():
                if attempt is task or (log is not None and log.run == run.id):
                    step = run.prepared.graph.steps[index]
                    action = step.config.get("action") or step.config.get("workflow")
                    return {"run": run.id, "step": step.name if log is None else log.step, "action": action}
        return None if log is None else {"run": log.run, "step": log.step, "action": None}

    async def _keep(self) -> None:
        """Report to the heartbeat that the event loop runs, and answer overdue starts.

        Raise Fenced when the lease is in doubt.
        """
        while True:
            self._heartbeat.touch()
            if self._watch is not None:
                self._watch.touch()
            if not self.is_sure():
                raise Fenced
            self.committer.refuse_overdue()
            await asyncio.sleep(LEASE_CHECK)
