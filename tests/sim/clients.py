"""Those outside who start runs, call back, cancel, pause and resume, at good and bad moments."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from detent.errors import StoreError, Unavailable
from detent.graph.model import StepKind
from detent.instant import SECOND
from detent.store.protocol import Store
from detent.store.rows import MessageKind
from tests.sim.loop import Process
from tests.sim.node import SimNode
from tests.sim.programs import Program
from tests.sim.store import NodeClock, connect
from tests.sim.story import Story

if TYPE_CHECKING:
    from tests.sim.world import World


class Clients:
    """They come through doors of their own; the starts go through the nodes'."""

    def __init__(self, world: World) -> None:
        self._world, self._swarm, self._rng = world, world.swarm, world.rng
        self.acknowledged: dict[bytes, None] = {}
        self.asking: dict[int, Process] = {}
        self._asked = 0
        self._payloads = 0

    @property
    def _door(self) -> Store:
        return connect(self._world.database, None, NodeClock(self._world.loop, 0.0, 0.0))

    def begin(self) -> None:
        for _ in range(self._swarm.runs):
            self._world.loop.spawn(None, self._start_some_time())

    async def _start_some_time(self) -> None:
        await asyncio.sleep(self._rng.uniform(0.05, self._swarm.chaos * 0.6))
        program = self._rng.choice(list(self._world.programs.values()))
        alive = [node for node in self._world.nodes if node.is_alive]
        if alive:
            node = self._rng.choice(alive)
            self._world.loop.spawn(node.process, self._start(node, program))

    async def _start(self, node: SimNode, program: Program) -> None:
        self._asked += 1
        number, process = self._asked, node.process
        while True:
            self.asking[number] = process
            try:
                run = await self._world.start(node, program)
            except Unavailable:
                del self.asking[number]
                await asyncio.sleep(1.0)
                if node.process is not process or node.is_stopping:
                    return
            else:
                del self.asking[number]
                self.acknowledged[run] = None
                return

    # -- runs that are there

    def meet(self, story: Story) -> None:
        """A run has begun: decide what will be done to it."""
        for step in story.prepared.steps:
            if step.kind is StepKind.WAIT and self._rng.random() < self._swarm.callbacks:
                self._world.loop.spawn(None, self._call_back(story, step.name))
        if self._rng.random() < self._swarm.controls:
            self._world.loop.spawn(None, self._control(story))

    async def _call_back(self, story: Story, step: str) -> None:
        rng = self._rng
        match rng.choice(("soon", "any", "race", "race", "late")):
            case "soon":
                await asyncio.sleep(rng.uniform(0, 2.0))
            case "any":
                await asyncio.sleep(rng.uniform(0, 30.0))
            case "race":
                await self._until_due(story, step, rng.choice((-0.01, -0.003, 0.001, -0.5, 0.05)))
            case "late":
                await self._until_due(story, step, 3.0)
        message_id = self._message_id()
        await self._send(story, step, message_id)
        while rng.random() < 0.4:
            await asyncio.sleep(rng.choice((0.0, 0.5, 5.0)))
            await self._send(story, step, message_id if rng.random() < 0.5 else self._message_id())

    async def _until_due(self, story: Story, step: str, offset: float) -> None:
        """Wait until the wait's own time is over, give or take."""
        for _ in range(60):
            until = story.waits.get(step)
            if until is not None:
                delay = (until - self._world.clock.wall()) / SECOND + offset
                await asyncio.sleep(max(0.0, min(delay, 60.0)))
                return
            await asyncio.sleep(0.5)

    def _message_id(self) -> str:
        self._payloads += 1
        return f"m{self._payloads}"

    async def _send(self, story: Story, step: str, message_id: str) -> None:
        data = msgspec.json.encode({"body": {"n": self._rng.randrange(100), "id": message_id}, "headers": {}})
        for _ in range(3):
            try:
                await self._door.deliver(story.row.id, step, data=data, message_id=message_id)
            except StoreError:
                await asyncio.sleep(0.2)
            else:
                return

    async def _control(self, story: Story) -> None:
        rng = self._rng
        await asyncio.sleep(rng.uniform(0, 15.0))
        plan = rng.choice(
            (
                (MessageKind.CANCEL,),
                (MessageKind.PAUSE, MessageKind.RESUME),
                (MessageKind.PAUSE, MessageKind.RESUME),
                (MessageKind.PAUSE,),
                (MessageKind.RESUME, MessageKind.CANCEL, MessageKind.CANCEL),
                (MessageKind.PAUSE, MessageKind.CANCEL),
            )
        )
        for kind in plan:
            try:
                await self._door.send(1, story.row.id, kind, b'{"by":"somebody"}')
            except StoreError:
                return
            await asyncio.sleep(rng.choice((0.0, 0.2, 6.0)))
