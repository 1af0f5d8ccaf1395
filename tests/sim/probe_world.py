"""A world whose steps ask a probe after a crash: what happened once must not happen again, and the journal is right.

Whether an effect happens is decided when it begins. If its node lives, the answer says so; else only the probe knows.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final

import msgspec

from detent.graph.model import OnCrash, Probe
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from tests.sim.counters import Counters
from tests.sim.effects import Effect
from tests.sim.graph_programs import with_graph
from tests.sim.mutants import NO_MUTANT, Mutant
from tests.sim.node import SimNode
from tests.sim.programs import Program
from tests.sim.swarm import Swarm
from tests.sim.world import World

PROBE: Final = "sim.find"


class ProbeNode(SimNode):
    """A node whose executors answer probes."""

    def boot(self) -> None:
        super().boot()
        world = self._world
        assert isinstance(world, ProbeWorld)
        for executor in self.executors:
            executor.probe = world.probe
            executor.decide = world.decide


class ProbeWorld(World):
    """`run` lives it through and gives what went wrong, or null."""

    def __init__(self, seed: int, counters: Counters, *, mutant: Mutant = NO_MUTANT, tracing: bool = False) -> None:
        calm = replace(mutant, bend=lambda swarm: _dying(mutant.bend(swarm)))
        super().__init__(seed, counters, mutant=calm, tracing=tracing)
        self._chance = random.Random(seed + 1)

    def make_node(self, number: int) -> SimNode:
        return ProbeNode(self, number)

    def shape(self, program: Program) -> Program:
        """The same workflow, whose steps have a probe and no time limit: what is too late may have happened."""
        steps = tuple(
            replace(step, timeout=None, on_crash=OnCrash.PROBE, probe=Probe(PROBE)) if "url" in step.config else step
            for step in program.graph.steps
        )
        return with_graph(program, replace(program.graph, steps=steps))

    def effect(self, call: StepCall, node: bytes, generation: int | None) -> Effect:
        if any(one.happened for one in self.ledger.of(call.run_id, call.step)):
            self.fail(f"{call.step} was tried again although it had happened")
        effect = super().effect(call, node, generation)
        effect.happened = self._chance.random() < 0.7
        return effect

    def decide(self, effect: Effect) -> Outcome | None:
        """What the server answers to a node that lives."""
        if effect.happened:
            return None
        return Fail(StepError("http_status", "the server answered 503"), b'{"status_code":503}')

    def probe(self, call: StepCall) -> Coroutine[Any, Any, Outcome] | None:
        """Answer a probe, or give null if this is the effect itself."""
        return self._look(call) if call.parameters.get("action") == PROBE else None

    async def _look(self, call: StepCall) -> Outcome:
        await asyncio.sleep(self._chance.choice((0.0, 0.05, 2.0)))
        dice = 1.0 if self.is_healed else self._chance.random()
        if dice < 0.1:
            self.counters.add("probe failed")
            return Fail(StepError("connect", "the server does not answer"), retry=dice < 0.08)
        if dice < 0.2:
            self.counters.add("probe could not tell")
            return Done(b'{"output":{"happened":null}}')
        happened = any(one.happened for one in self.ledger.of(call.run_id, call.step))
        self.counters.add("probe saw the effect" if happened else "probe saw no effect")
        return Done(msgspec.json.encode({"output": {"happened": happened, "output": {"n": 1}}}))


def _dying(swarm: Swarm) -> Swarm:
    """Nodes die, and people ask for no more attempts than the journal does."""
    calm = replace(swarm, jumps=0.0, edits=0.0, schedules=0.0, deadly=0.0, moves=0.0, forms=0.0, flows=0.0)
    return replace(calm, crashes=max(8.0, swarm.crashes), hanging=0.5)
