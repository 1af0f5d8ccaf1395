"""A world of workflows whose steps are child runs, beside everything that may happen in the others."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from detent.engine.children.maps import MapWork
from detent.engine.owned_run import OwnedRun
from detent.graph.model import Graph, StepKind
from detent.ids import RUN, show
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from detent.steps.child_step import ChildExecutor
from tests.sim.campaign import run_campaign
from tests.sim.child_programs import make_family, relay_program
from tests.sim.counters import Counters
from tests.sim.effects import SimExecutor
from tests.sim.function_world import FunctionNode
from tests.sim.graph_programs import with_graph
from tests.sim.loop import close
from tests.sim.map_programs import make_map_version, with_maps
from tests.sim.mutants import NO_MUTANT, Mutant
from tests.sim.node import SimNode
from tests.sim.programs import Program
from tests.sim.store import finished
from tests.sim.story import Story
from tests.sim.world import World

#: A look for orphans, a late cancel that is forwarded, the lease of a dead node and its takeover take less.
PATIENCE = 150.0
#: Seconds between two times that late mail is forwarded or dropped.
TIDY = 20.0


class _Starter(ChildExecutor):
    """The real executor. Its coroutines are closed with the world, also if their process died before they began."""

    def __init__(self) -> None:
        self.works: list[Coroutine[Any, Any, Outcome]] = []

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        work = super().begin(call)
        if asyncio.iscoroutine(work):
            self.works.append(work)
        return work


class ChildNode(FunctionNode):
    """A node that also runs the durable function of this world."""

    def boot(self) -> None:
        super().boot()
        executors: Any = self.engine._executors
        starter = executors[StepKind.SUBWORKFLOW] = _Starter()
        self._world.executors.append(cast(SimExecutor, starter))


class ChildWorld(World):
    """`run` lives it through and gives what went wrong, or null."""

    def __init__(self, seed: int, counters: Counters, *, mutant: Mutant = NO_MUTANT, tracing: bool = False) -> None:
        super().__init__(seed, counters, mutant=mutant, tracing=tracing)
        self.swarm = replace(self.swarm, tenants=1, schedules=0.0)
        self._open_since: dict[bytes, float] = {}

    def _make_programs(self) -> Iterator[Program]:
        program, version = relay_program(self.new_id())
        finished(self.database.model.save_workflow(version, replace=False))
        yield from self._make_family()
        # Nobody but a step starts it, so it is not among the programs of the clients.
        self.checks.know(program)
        self.loop.spawn(None, self._look_after_children())

    def _make_family(self) -> Iterator[Program]:
        return make_family(self.rng, self.new_id, self.shape)

    def make_node(self, number: int) -> SimNode:
        return ChildNode(self, number)

    def awaits_child(self, story: Story) -> bool:
        return self.checks.children.is_awaited(story.row.id) or self.checks.maps.is_awaited(story.row.id)

    def drop_late_mail(self) -> None:
        self.database.perform("tidy", (), {})

    async def _look_after_children(self) -> None:
        """Late mail is forwarded or dropped; and no child goes on for long that no step waits for."""
        while True:
            await asyncio.sleep(TIDY)
            self.drop_late_mail()
            outlived = [*self.checks.children.outlived(), *self.checks.maps.outlived()]
            for run in outlived if self.is_healed else ():
                since = self._open_since.setdefault(run, self.loop.time())
                if self.loop.time() > since + PATIENCE:
                    self.fail(f"{show(RUN, run)} goes on although no step waits for it")


class MapWorld(ChildWorld):
    """A world of such workflows in which some steps are maps."""

    #: Runs that are due go before runs that only have mail. With few slots, many pages keep the latter waiting.
    patience = 4 * World.patience

    def run(self) -> str | None:
        """Live it through. Attempts of maps are closed with the world, also if their process died before they began."""
        attempt, works = MapWork.attempt, list[Coroutine[Any, Any, Outcome]]()

        def begin(self: MapWork, run: OwnedRun, index: int) -> Coroutine[Any, Any, Outcome]:
            works.append(attempt(self, run, index))
            return works[-1]

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(MapWork, "attempt", begin)
            broken = super().run()
        for work in works:
            close(work)
        return broken

    def _make_family(self) -> Iterator[Program]:
        for program in super()._make_family():
            yield with_graph(program, with_maps(self._forms, program.graph))

    def make_version(self, rng: random.Random, graph: Graph) -> Graph:
        return make_map_version(rng, super().make_version(rng, graph))


def child_campaign(
    seeds: Iterable[int],
    *,
    mutant: Mutant = NO_MUTANT,
    counters: Counters | None = None,
    world: type[ChildWorld] = ChildWorld,
) -> tuple[str | None, int | None]:
    """Live through the worlds of these seeds; return the first rule that was broken, and in which world."""
    found = run_campaign(seeds, mutant=mutant, world=world, counters=counters)
    return found.broken, found.seed
