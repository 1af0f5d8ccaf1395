"""Flow control in simulated worlds: steps that skip, pause, finish or move their run, and people who ask for the same.

All of it is drawn beside the rest of the world, so that worlds without it are what they were.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import msgspec

from detent.errors import StoreError
from detent.graph import codec
from detent.graph.model import Edge, Ending, FailurePolicy, Graph, OnCrash, Retry, Step, StepKind
from detent.planner.prepared import prepare
from detent.run.call import StepCall
from detent.run.outcomes import Cancel, Finish, Move, Outcome, Pause, Reattempt, Skip, StepError
from detent.store.rows import MessageKind
from tests.sim.programs import Program
from tests.sim.story import Story
from tests.sim.swarm import beside

if TYPE_CHECKING:
    from tests.sim.world import World

GOES_ON = frozenset({Ending.SUCCESS, Ending.SKIPPED})
MOST_MOVES = 3


def make_chain(rng: Random, names: list[str]) -> Graph:
    """What a workflow of Python steps becomes."""
    steps = tuple(
        Step(
            name,
            rng.choice((StepKind.HTTP, StepKind.ACTION)),
            {"url": "http://sim"},
            retry=Retry(rng.choice((1, 1, 2)), delay=0.2),
            delay=rng.choice((None, None, None, 0.5, 4.0)),
            timeout=rng.choice((None, 5.0)),
            on_crash=rng.choice((OnCrash.RETRY, OnCrash.RETRY, OnCrash.RETRY, OnCrash.FAIL, OnCrash.ASK)),
        )
        for name in names
    )
    edges = tuple(Edge(one, other, GOES_ON) for one, other in pairwise(names))
    return Graph(
        steps, edges, on_failure=FailurePolicy.PAUSE, max_duration=rng.choice((None, 300.0)), one_per_hero=True
    )


def _is_chain(graph: Graph) -> bool:
    return graph.on_failure is FailurePolicy.PAUSE and all(step.name[0] in "cn" for step in graph.steps)


class Flow:
    """The wishes of steps and of people."""

    def __init__(self, world: World) -> None:
        self._world, self._rng = world, beside(world.rng)
        self._moves: dict[bytes, int] = {}

    def chain(self, program: Program) -> Program:
        """Perhaps a chain in its place."""
        if not self._happens(0.5):
            return program
        raw = codec.encode(make_chain(self._rng, [f"c{number}" for number in range(self._rng.randint(1, 5))]))
        return Program(program.id, program.name, codec.decode(raw), raw, prepare(codec.decode(raw)), program.tenant)

    def _happens(self, chance: float = 1.0) -> bool:
        flows = self._world.swarm.flows
        return flows > 0 and not self._world.is_healed and self._rng.random() < flows * chance

    # -- steps

    def moves(self, call: StepCall) -> Move | None:
        """Somebody has changed the code of a chain before this step began."""
        story = self._world.checks.stories.get(call.run_id)
        if story is None or not _is_chain(story.prepared.graph) or not self._happens(0.5):
            return None
        count = self._moves.get(call.run_id, 0)
        raw = codec.encode(self._changed(story.prepared.graph))
        if count == MOST_MOVES or raw == codec.encode(story.prepared.graph):
            return None
        self._moves[call.run_id] = count + 1
        return Move(raw)

    def _changed(self, graph: Graph) -> Graph:
        names = [step.name for step in graph.steps]
        for _ in range(self._rng.randint(1, 3)):
            match self._rng.randrange(3):
                case 0 if len(names) > 1:
                    names.pop(self._rng.randrange(len(names)))
                case 1:
                    fresh = f"n{self._rng.randrange(4)}"
                    names += [fresh] if fresh not in names else []
                case _:
                    self._rng.shuffle(names)
        return make_chain(self._rng, names)

    def wish(self) -> Outcome | None:
        """What a step asks for beside success and failure."""
        if not self._happens():
            return None
        error = self._rng.choice((None, StepError("exception", "ValueError: no")))
        match self._rng.randrange(10):
            case 0 | 1 | 2:
                return Skip(error, self._rng.choice((b"{}", b'{"state":{}}')))
            case 3 | 4 | 5:
                return Reattempt(self._rng.choice((0.0, 0.3, 4.0)), error)
            case 6 | 7:
                return Pause("its own code", error)
            case 8:
                return Finish(b'{"output":"finished"}')
            case _:
                return Cancel("its own code", error)

    # -- people

    def meet(self, story: Story) -> None:
        """A run has begun: perhaps somebody steers it."""
        while self._happens():
            self._world.loop.spawn(None, self._steer(story))

    async def _steer(self, story: Story) -> None:
        await asyncio.sleep(self._rng.uniform(0, 20.0))
        client = self._world.clients.client
        for _ in range(self._rng.choice((1, 1, 2))):
            step = self._rng.choice((None, self._rng.choice(story.prepared.steps).name, self._at(story)))
            kind, more = self._rng.choice(
                (
                    (MessageKind.SKIP, {}),
                    (MessageKind.SKIP, {}),
                    (MessageKind.REATTEMPT, {"wait": self._rng.choice((0.0, 0.0, 2.0))}),
                    (MessageKind.REATTEMPT, {"wait": 0.0}),
                    (MessageKind.FINISH, {}),
                )
            )
            said = {"step": step, "by": "somebody", **more} if kind is not MessageKind.FINISH else {"by": "somebody"}
            try:
                await client.send(story.row.tenant, story.row.id, kind, msgspec.json.encode(said))
            except StoreError:
                return
            await asyncio.sleep(self._rng.choice((0.0, 0.01, 3.0)))

    def _at(self, story: Story) -> str | None:
        """A step that is in flight, as far as somebody outside can tell."""
        open_ = [step.name for step in story.prepared.steps if step.name not in story.closed]
        return next((name for name in open_ if self._world.ledger.of(story.row.id, name)), None)
