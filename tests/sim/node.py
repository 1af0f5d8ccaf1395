"""One engine in the simulated world: a process that boots, works, dies, stands still and comes back."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from detent.auth.caller import Caller, local_caller
from detent.commands import Commands, EngineCommands
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.graph.model import StepKind
from detent.run.call import StepCall
from detent.steps.protocol import StepExecutor
from detent.triggers.processor import Processor
from detent.triggers.worker import TriggerWork
from tests.sim.effects import Effect, SimExecutor
from tests.sim.loop import Process
from tests.sim.store import NodeClock, connect

if TYPE_CHECKING:
    from tests.sim.world import World

TOKENS = CallbackTokens("simulated", "http://sim")


class SimNode:
    """One place in the cluster; each boot is a new process with a new engine."""

    def __init__(self, world: World, number: int) -> None:
        self._world, self.number = world, number
        self._boots = 0
        self.is_stopping = False
        self.boot()

    def boot(self) -> None:
        """Start a new process here."""
        world, rng = self._world, self._world.rng
        self._boots += 1
        self.is_stopping = False
        self.process = Process(f"node {self.number}.{self._boots}")
        clock = NodeClock(world.loop, world.swarm.skew * rng.uniform(-1, 1), rng.uniform(0, 1e6))
        self.executors = [self._executor(kind, rng) for kind in (StepKind.HTTP, StepKind.ACTION)]
        self.engine = Engine(
            connect(world.database, self.process, clock),
            clock=clock,
            tokens=TOKENS,
            executors={executor.kind: cast(StepExecutor, executor) for executor in self.executors},
            tuning=world.swarm.tuning,
            new_id=world.new_id,
            seal_key=world.seal_key,
            seals=world.seal_key is not None,
        )
        self._all_commands = commands = EngineCommands(self.engine)
        self.commands = commands.for_caller(local_caller("test"))
        store = self.engine.store
        processor = Processor(commands, store)
        self.work = TriggerWork(store, processor, now=self.engine.time.now, clock=clock, new_id=world.new_id)
        world.loop.spawn(self.process, world.start_engine(self))

    def commands_of(self, tenant: int) -> Commands:
        """The commands of this node, as a caller of that tenant."""
        return self._all_commands.for_caller(Caller(tenant, "test"))

    @property
    def is_alive(self) -> bool:
        return not self.process.is_dead

    def node_id(self) -> bytes | None:
        node = self.engine._node
        return None if node is None else node.id

    def crash(self) -> None:
        """The process is gone at this instant, with everything it had in memory."""
        self.process.is_dead = True
        self.process.stashed.clear()

    def _executor(self, kind: StepKind, rng: random.Random) -> SimExecutor:
        world = self._world
        executor = SimExecutor(
            kind,
            rng,
            world.swarm,
            begins=self._begins(),
            kill=self._kill,
            is_deadly=world.is_deadly,
            count=world.counters.add,
            moves=world.flow.moves,
            wish=world.flow.wish,
        )
        executor.is_healed = world.is_healed
        world.executors.append(executor)
        return executor

    def _begins(self) -> Callable[[StepCall], Effect]:
        def begins(call: StepCall) -> Effect:
            node = self.engine._node
            run = None if node is None else node.runner.owned.get(call.run_id)
            return self._world.effect(call, node.id if node else b"", run.generation if run else None)

        return begins

    def _kill(self) -> None:
        self._world.kill(self)
