"""Those outside who start runs, call back, cancel, pause and resume, at good and bad moments."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from detent.errors import AlreadyActive, Conflict, NotFound, StoreError, Unavailable
from detent.graph import codec
from detent.graph.model import StepKind
from detent.ids import RUN, parse
from detent.instant import SECOND
from detent.run.start import StartRequest
from detent.run.state import Phase
from detent.store.protocol import Store
from detent.store.rows import MessageKind
from tests.sim.loop import Process
from tests.sim.node import TOKENS, SimNode
from tests.sim.store import NodeClock, connect
from tests.sim.story import Story
from tests.sim.swarm import beside

if TYPE_CHECKING:
    from tests.sim.world import World

#: A start through a node; the text marks the try.
Asked = Callable[[SimNode, str], Awaitable[bytes]]


class Clients:
    """They use store connections of their own; starts go through the nodes."""

    def __init__(self, world: World) -> None:
        self._world, self._swarm, self._rng = world, world.swarm, world.rng
        self.acknowledged: dict[bytes, None] = {}
        self.refused: set[str] = set()  # marks of starts that were answered as not made
        self.asking: dict[int, Process] = {}
        self._requests: dict[tuple[int, str], bytes] = {}  # the run each request id of a tenant was answered with
        self._heroes = beside(world.rng)
        self._movers = beside(world.rng)
        self._asked = 0
        self._payloads = 0

    @property
    def client(self) -> Store:
        return connect(self._world.database, None, NodeClock(self._world.loop, 0.0, 0.0))

    def begin(self) -> None:
        for _ in range(self._swarm.runs):
            self._world.loop.spawn(None, self._start_some_time())
        self._world.loop.spawn(None, self._edit())

    async def _start_some_time(self) -> None:
        await asyncio.sleep(self._rng.uniform(0.05, self._swarm.chaos * 0.6))
        program = self._rng.choice(list(self._world.programs.values()))
        request = self._request(program.name)
        self._through_a_node(lambda node, mark: self._begin(node, program.tenant, request, mark), request.request_id)
        while request.request_id is not None and self._rng.random() < 0.5:
            # The same again, at the same time or later, through any node.
            await asyncio.sleep(self._rng.choice((0.0, 0.0, 0.01, 2.0)))
            self._through_a_node(
                lambda node, mark: self._begin(node, program.tenant, request, mark), request.request_id
            )

    async def _begin(self, node: SimNode, tenant: int, request: StartRequest, mark: str) -> bytes:
        return await self._world.start(node, tenant, msgspec.structs.replace(request, labels={"asked": mark}))

    def _request(self, workflow: str) -> StartRequest:
        rng = self._rng
        request_id = f"request {rng.randrange(3)}" if rng.random() < self._swarm.requests else None
        later = rng.random() < self._swarm.delays
        start_at = self._world.clock.wall() + int(rng.uniform(-2, 20) * SECOND) if later else None
        hero = ("user", str(self._heroes.randrange(2))) if self._heroes.random() < self._swarm.heroes else None
        return StartRequest(workflow, {}, request_id=request_id, start_at=start_at, hero=hero)

    def _through_a_node(self, start: Asked, request_id: str | None) -> None:
        alive = [node for node in self._world.nodes if node.is_alive]
        if alive:
            node = self._rng.choice(alive)
            self._world.loop.spawn(node.process, self._start(node, start, request_id))

    async def _start(self, node: SimNode, start: Asked, request_id: str | None) -> None:
        self._asked += 1
        number, process = self._asked, node.process
        for tries in count():
            self.asking[number] = process
            mark = f"{number}.{tries}"
            try:
                run = await start(node, mark)
            except (Unavailable, StoreError) as error:
                if isinstance(error, Unavailable):
                    self.refused.add(mark)
                del self.asking[number]
                await asyncio.sleep(1.0)
                if node.process is not process or node.is_stopping:
                    return
            except Conflict as error:
                del self.asking[number]
                if isinstance(error, AlreadyActive):
                    self._check_obstacle(error)
                self._world.counters.add(f"start refused: {error.code}")
                return
            else:
                del self.asking[number]
                self._acknowledge(run, request_id)
                return

    def _check_obstacle(self, error: AlreadyActive) -> None:
        """The run that is said to be in the way must be one that can be."""
        row = self._world.database.model.table.get(parse(RUN, error.run))
        if row is None or row.new.active_key is None:
            self._world.fail(f"a start was refused for {error.run}, which holds no key")

    def _acknowledge(self, run: bytes, request_id: str | None) -> None:
        self.acknowledged[run] = None
        if request_id is None:
            return
        tenant = self._world.database.model.table[run].new.tenant
        if self._requests.setdefault((tenant, request_id), run) != run:
            self._world.fail(f"{request_id} was answered with two runs")
        elif len(self.acknowledged) > 1:
            self._world.counters.add("start with a request id")

    async def _edit(self) -> None:
        """Somebody saves workflows again, archives them, and switches them off and on."""
        rng, model = self._rng, self._world.database.model
        while self._swarm.edits and not self._world.is_healed:
            await asyncio.sleep(rng.expovariate(self._swarm.edits / 60))
            program = rng.choice(list(self._world.programs.values()))
            if rng.random() < 0.7:
                await model.save_workflow(program.version(edition=rng.randrange(1_000)), replace=True)
                continue
            self._world.schedules.was_switched_off = True
            if rng.random() < 0.5:
                rules = [rule for rule in model.rules.values() if rule.new.workflow == program.id]
                slots = [(rule.new.id, rule.updated_at, rule.new.next_at) for rule in rules if rule.new.next_at]
                await model.change_status(program.tenant, program.id, "archived")
                await asyncio.sleep(rng.uniform(0.1, 6.0))
                await model.change_status(program.tenant, program.id, "active", slots=slots)
                continue
            await model.enable_workflow(program.tenant, program.id, enabled=False)
            await asyncio.sleep(rng.uniform(0.1, 3.0))
            await model.enable_workflow(program.tenant, program.id, enabled=True)

    # -- runs that are there

    def meet(self, story: Story) -> None:
        """A run has begun: decide what will be done to it."""
        for step in story.prepared.steps:
            if step.kind is StepKind.WAIT and self._rng.random() < self._swarm.callbacks:
                self._world.loop.spawn(None, self._call_back(story, step.name))
        if self._rng.random() < self._swarm.controls:
            self._world.loop.spawn(None, self._control(story))
        if self._movers.random() < self._swarm.moves:
            self._world.loop.spawn(None, self._move(story, self._movers.getrandbits(32)))
        is_after_all = self._world.is_healed and story.row.parent is not None
        if self._rng.random() < self._swarm.agains and story.row.origin is None and not is_after_all:
            self._world.loop.spawn(None, self._do_again(story))

    async def _move(self, story: Story, seed: int) -> None:
        """Move a run to other versions, some of which cannot hold."""
        rng, row = random.Random(seed), story.row
        saved = self._world.database.model.saved[row.workflow]
        for _ in range(rng.choice((1, 2, 4))):
            await asyncio.sleep(rng.uniform(0, 12.0))
            number = max(saved.versions) + 1
            if rng.random() < 0.8:
                graph = self._world.make_version(rng, story.prepared.graph)
                saved.versions[number] = (saved.new._replace(graph=codec.encode(graph), checksum=f"{number}"), 0)
            else:
                number = rng.randint(1, number)  # one that is there, or none
            wish = {"workflow": row.workflow.hex(), "version": number, "code": ["detent/2"], "by": "somebody"}
            with suppress(StoreError):
                await self.client.send(row.tenant, row.id, MessageKind.MOVE, msgspec.json.encode(wish))

    async def _do_again(self, story: Story) -> None:
        """Once the run has ended, retry it or fork it, perhaps twice."""
        rng, run = self._rng, story.row.id
        while story.final is None and not self._world.is_healed:  # noqa: ASYNC110 - people look now and then
            await asyncio.sleep(rng.uniform(0.5, 3.0))
        step = rng.choice((None, rng.choice(story.prepared.steps).name))
        request_id = f"again {int.from_bytes(run, 'big')}"

        async def ask(node: SimNode, _: str) -> bytes:
            try:
                return await self._world.again(node, run, step, request_id)
            except NotFound:
                if step is None or step in story.prepared.numbers:
                    raise
                raise Conflict("the run was moved to a version without that step") from None

        for _ in range(rng.choice((1, 1, 2))):
            self._through_a_node(ask, request_id)

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
        body = {"n": self._rng.randrange(100), "id": message_id}
        data = msgspec.json.encode({"body": body, "headers": {}})
        for _ in range(3):
            alive = [node for node in self._world.nodes if node.is_alive]
            if alive and self._rng.random() < 0.5:
                node = self._rng.choice(alive)
                self._world.loop.spawn(node.process, self._send_through(node, story, step, body, message_id))
                await asyncio.sleep(self._rng.choice((0.0, 0.5)))
                continue
            try:
                await self.client.deliver(story.row.id, step, data=data, message_id=message_id)
            except StoreError:
                await asyncio.sleep(0.2)
            else:
                return

    async def _send_through(
        self, node: SimNode, story: Story, step: str, body: dict[str, Any], message_id: str
    ) -> None:
        """By way of a node, which receives what comes together in one statement."""
        token = TOKENS.token(story.row.id, step)
        with suppress(StoreError):
            await node.commands.callbacks.deliver(token, body=body, headers={}, query={}, message_id=message_id)

    async def _control(self, story: Story) -> None:
        rng = self._rng
        await asyncio.sleep(rng.uniform(0, 15.0))
        if rng.random() < 0.3:
            await self._resolve(story)
            return
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
                await self.client.send(story.row.tenant, story.row.id, kind, b'{"by":"somebody"}')
            except StoreError:
                return
            await asyncio.sleep(rng.choice((0.0, 0.2, 6.0)))

    async def _resolve(self, story: Story) -> None:
        """Somebody looks whether a step is uncertain, and says what became of it."""
        rng = self._rng
        for _ in range(20):
            state = story.state()
            doubts = [index for index, phase in enumerate(state.phase) if phase is Phase.UNCERTAIN]
            if doubts:
                step = story.prepared.steps[rng.choice(doubts)].name
                said = {"step": step, "happened": rng.random() < 0.5, "by": "somebody"}
                with suppress(StoreError):
                    await self.client.send(
                        story.row.tenant, story.row.id, MessageKind.RESOLVE, msgspec.json.encode(said)
                    )
            await asyncio.sleep(rng.uniform(0.5, 3.0))
