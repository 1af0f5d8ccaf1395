"""The outside world that steps act on: it keeps a ledger of every effect, and answers, fails, hangs or kills."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import msgspec

from detent.graph.model import Step, StepKind
from detent.planner.context import SMALL
from detent.run.call import StepCall
from detent.run.links import Link
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.protocol import Needs
from tests.sim.swarm import Swarm


@dataclass(slots=True)
class Effect:
    """One attempt as the outside world saw it. `is_stray`: its node had lost the run, and could not know. `parks`: how
    often the run had been given up by then. `same`: what now() and uuid() were. `happened`: only a probe can see that
    if the node dies."""

    key: str
    attempt: int
    node: bytes
    same: str = ""
    outcome: Outcome | None = None
    is_stray: bool = False
    is_over: bool = False
    parks: int = 0
    happened: bool = False


class Ledger:
    """Every effect, by run and step, in the order of arrival."""

    def __init__(self) -> None:
        self.effects: dict[tuple[bytes, str], list[Effect]] = {}

    def of(self, run: bytes, step: str) -> list[Effect]:
        return self.effects.setdefault((run, step), [])

    def attempt(self, run: bytes, step: str, number: int) -> Effect | None:
        """The attempt of that number, by a node that owned the run."""
        return next((one for one in self.of(run, step) if one.attempt == number and not one.is_stray), None)


class SimExecutor:
    """Carries out one kind of step for one process. `begins` looks at each effect, `kill` ends the process."""

    def __init__(
        self,
        kind: StepKind,
        rng: random.Random,
        swarm: Swarm,
        *,
        begins: Callable[[StepCall], Effect],
        kill: Callable[[], None],
        is_deadly: Callable[[StepCall], bool],
        count: Callable[[str], None],
        moves: Callable[[StepCall], Outcome | None],
        wish: Callable[[], Outcome | None],
    ) -> None:
        self.kind = kind
        self._moves, self._wish = moves, wish
        self._rng, self._swarm = rng, swarm
        self._begins, self._kill, self._is_deadly = begins, kill, is_deadly
        self._count = count
        self.links: Callable[[], tuple[Link, ...]] = tuple  # what a success names
        self.probe: Callable[[StepCall], Coroutine[Any, Any, Outcome] | None] = lambda call: None
        self.decide: Callable[[Effect], Outcome | None] = lambda effect: None  # what is answered to an effect
        self.is_healed = False
        self.works: list[Coroutine[Any, Any, Outcome]] = []

    def needs(self, step: Step) -> Needs:
        return Needs.NOTHING

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        moved = self._moves(call)
        if moved is not None:
            return moved  # and nothing was begun
        answer = self.probe(call)
        if answer is not None:
            self.works.append(answer)
            return answer
        effect = self._begins(call)
        if self._is_deadly(call):
            self._kill()
        elif self.kind is StepKind.ACTION and self._rng.random() < 0.5:
            effect.outcome = self._answer(effect)
            effect.is_over = True
            return effect.outcome
        work = self._work(effect)
        self.works.append(work)
        return work

    async def _work(self, effect: Effect) -> Outcome:
        dice = 1.0 if self.is_healed else self._rng.random()
        lengths = (2.0, 9.0, 30.0) if dice < self._swarm.hanging else (0.001, 0.05, 0.5, 2.0)
        try:
            await asyncio.sleep(self._rng.choice(lengths))
        except asyncio.CancelledError:
            self._count("attempt in flight was stopped")
            raise
        finally:
            effect.is_over = True
        effect.outcome = self._answer(effect)
        if isinstance(effect.outcome, Fail) and effect.outcome.large is None and self._rng.random() < 0.2:
            self._break()
        return effect.outcome

    def _break(self) -> None:
        """What executors must not do, and some will."""
        if self._rng.random() < 0.5:
            raise asyncio.CancelledError
        raise ValueError("an executor that raises")

    def _answer(self, effect: Effect) -> Outcome:
        wish = self.decide(effect) or self._wish()
        if wish is not None:
            return wish
        if not self.is_healed and not effect.happened and self._rng.random() < self._swarm.failing:
            return Fail(
                StepError("http_status", "the server answered 503"),
                b'{"status_code":503}',
                retry=self._rng.random() < 0.8,
                retry_after=self._rng.choice((None, None, 3.0)),
            )
        n = self._rng.randrange(1_000_000)
        body = {"n": n} if n % 8 else {"n": n, "large": "x" * SMALL}  # so that results leave memory
        return Done(msgspec.json.encode({"status_code": 200, "headers": {}, "body": body}), self.links())

    async def close(self) -> None:
        return None
