"""One node: one registration in the store, from its first beat to its last.

A node that loses its lease, or cannot be sure of it, stops at once and for good; the engine then begins a new one under
a new id. So there is no way back from "perhaps gone", and nothing to get wrong about it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from detent.engine.background import Polling, Takeovers, Watchdog
from detent.engine.claims import Claims
from detent.engine.committer import Committer, Fenced
from detent.engine.context import NodeContext
from detent.engine.inbox import Mailbox
from detent.engine.runner import Runner
from detent.engine.write import PendingWrite
from detent.errors import Unavailable
from detent.observe.failpoints import reach
from detent.store.rows import Flushed

#: So many units are followed up before others get the loop; the next flush is on its way meanwhile.
SLICE: Final = 128
LEASE_CHECK: Final = 0.2
#: How long a node that stops tries to write that it gave up its runs, in seconds.
RELEASE: Final = 5.0


class Node:
    """Composes committer, runner and pollers around one registration."""

    def __init__(self, equipment: NodeContext, id_: bytes, epoch: int) -> None:
        store, time, tuning = equipment.store, equipment.time, equipment.tuning
        self.id = id_
        self._clock, self._tuning = equipment.clock, tuning
        self._heart = store.heart(id_, ttl=tuning.lease, interval=tuning.beat)
        self.runner = Runner(
            clock=self._clock,
            time=time,
            tuning=tuning,
            executors=equipment.executors,
            may_act=self.is_sure,
            family=equipment.family,
        )
        self.committer = Committer(
            store, id_, epoch, time=time, tuning=tuning, durable=self._durable, refused=self.runner.refused
        )
        self.runner.committer = self.committer
        mailbox = Mailbox(store, id_, runner=self.runner, tuning=tuning)
        self._mail = Polling(mailbox)
        self._claimer = claims = Claims(equipment, id_, runner=self.runner, committer=self.committer, mailbox=mailbox)
        self._claims = Polling(claims)
        self._takeovers = Polling(Takeovers(store, id_, tuning=tuning, freed=self._claims.nudge))
        self._watchdog = Polling(
            Watchdog(store, id_, runner=self.runner, committer=self.committer, claims=claims, tuning=tuning)
        )
        self._is_doubtful = False
        self._followed: deque[tuple[PendingWrite, Flushed]] = deque()
        self._follow_up = asyncio.Event()

    def is_sure(self) -> bool:
        """Whether the lease certainly holds for a while: only then may anything be done in the outside world.

        There is no way back from a doubt, even if a late beat would end it: something was left undone because of it."""
        until = self._heart.confirmed() + self._tuning.lease - self._tuning.margin
        if self._clock.monotonic() >= until or self._heart.lost():
            self._is_doubtful = True
        return not self._is_doubtful

    def outage(self) -> str | None:
        """Say why this node cannot do its work now, or return None."""
        return self.committer.outage() if self.is_sure() else "the database has not renewed the lease of this node"

    async def serve(self, *, claims: bool = True) -> None:
        """Work until cancelled. Raises Fenced when this node is gone or cannot be sure that it is not."""
        self._heart.start()
        loops = [
            self.committer.work,
            self._follow,
            self._mail.work,
            self._takeovers.work,
            self._watchdog.work,
            self._keep,
        ]
        if claims:
            loops.append(self._claims.work)
        try:
            async with asyncio.TaskGroup() as group:
                for work in loops:
                    group.create_task(self._guard(work))
        except* Fenced:
            raise Fenced from None
        finally:
            self.runner.drop_all()
            self.committer.give_up(Unavailable("the engine has lost its place in the cluster; try again"))
            for unit, flushed in self._followed:
                if unit.done is not None and not unit.done.done():
                    unit.done.set_result(flushed)  # durable, though nothing was begun: another node goes on with it
            await self._heart.stop()

    async def _guard(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except Fenced:
            self._is_doubtful = True  # at once, and not when all loops have ended
            raise

    async def drain(self) -> None:
        """Begin nothing new, wait for what is in flight, give everything up."""
        self.runner.drain()
        reach("inside_drain")
        await self._until_empty(self._tuning.drain)
        self.runner.release()
        await self._until_empty(RELEASE)

    async def _until_empty(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while self._clock.monotonic() < until and not self.is_empty():  # noqa: ASYNC110 - empty is no single event
            await asyncio.sleep(0.02)

    def is_empty(self) -> bool:
        runner, claims = self.runner, self._claimer
        if claims.begun != claims.ended:
            return False  # a run that is being claimed would be left behind, and adopted
        return not runner.held and not runner.leaving and self.committer.is_idle() and not self._followed

    def nudge(self) -> None:
        """Something may have come: look now."""
        self._mail.nudge()
        self._claims.nudge()

    def _durable(self, units: list[PendingWrite], flushed: Flushed) -> None:
        if len(units) <= SLICE and not self._followed:
            for unit in units:
                self.runner.on_durable(unit, flushed)
            return
        self._followed.extend((unit, flushed) for unit in units)
        self._follow_up.set()

    async def _follow(self) -> None:
        """Carry out the plans of large flushes slice by slice, while the next flush is on its way."""
        while True:
            await self._follow_up.wait()
            self._follow_up.clear()
            while self._followed:
                for _ in range(min(SLICE, len(self._followed))):
                    self.runner.on_durable(*self._followed.popleft())
                await asyncio.sleep(0)

    async def _keep(self) -> None:
        """Tell the heart that the loop lives, and stop when the lease is in doubt. Answer starts that wait too long."""
        while True:
            self._heart.touch()
            if not self.is_sure():
                raise Fenced
            self.committer.refuse_overdue()
            await asyncio.sleep(LEASE_CHECK)
