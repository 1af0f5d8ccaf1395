"""Random durable functions: steps with effects, sleeps, waits, signals, children, side by side and with time limits."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from detent.python.decorators import step
from detent.python.functions import ChildFailed, Run, StepContext, StepFailed, WaitTimeout, gather, workflow

if TYPE_CHECKING:
    from tests.sim.function_world import FunctionWorld

Part = tuple[Any, ...]

#: The world whose functions run, last: code that is called by nobody who could say which finds it here.
WORLDS: list[FunctionWorld] = []
NAMES = ("a", "b")


def make_part(rng: random.Random, depth: int = 3) -> Part:
    """A random function, as a tree."""
    if depth and rng.random() < 0.75:
        kind = rng.choice(("seq", "seq", "par", "par", "limit", "group"))
        if kind == "limit":
            return (kind, rng.choice((1.0, 6.0)), make_part(rng, depth - 1))
        return (kind, [make_part(rng, depth - 1) for _ in range(rng.randint(1, 3))])
    match rng.randrange(10):
        case 0:
            return ("sleep", rng.choice((0.2, 3.0, 15.0)))
        case 1:
            return ("wait", rng.choice((None, 2.0, 20.0)))
        case 2 | 3:
            return ("signal", rng.choice(NAMES), rng.choice((None, 2.0, 20.0)))
        case 4:
            return ("flaky", rng.randint(0, 2))
        case 5:
            return ("child", *_child(rng))
        case 6:
            return ("now",)
        case _:
            return ("slow" if rng.random() < 0.5 else "quick", rng.randrange(100))


def _child(rng: random.Random) -> tuple[Part, int]:
    """What a child plays, and how often it goes on as a new run. It may take longer than its parent."""
    match rng.randrange(3):
        case 0:
            return ("quick", rng.randrange(1000)), 0
        case 1:
            return ("sleep", 45.0), 0
        case _:
            return ("sleep", rng.choice((1.0, 20.0))), 2


@step(inline=True)
def quick(number: int, context: StepContext) -> int:
    WORLDS[-1].effect_of(context, number)
    return number


async def slow(number: int, context: StepContext) -> int:
    world = WORLDS[-1]
    world.effect_of(context, number)
    await asyncio.sleep(world.rng.choice((0.0, 0.1, 1.0)))
    return number


@step(inline=True)
def flaky(fails: int, context: StepContext) -> int:
    WORLDS[-1].effect_of(context, fails)
    if context.attempt <= fails:
        raise ValueError("not yet")
    return fails


@workflow(name="simulated", drift="strict", on_exception="fail", allow_multiple=True)
async def simulated(run: Run, part: Any) -> Any:
    """Plays the tree it is given."""
    player = _Player(run)
    return await player.play(part)


@workflow(name="looping", drift="strict", on_exception="fail")
async def looping(run: Run, part: Any, rounds: int) -> Any:
    """Plays it again and again, each time as a new run."""
    given = await _Player(run).play(part)
    if rounds > 0:
        run.continue_as_new(part, rounds - 1)
    return given


@workflow(name="collecting", drift="strict", on_exception="fail", allow_multiple=True)
async def collecting(run: Run, seen: list[int]) -> list[int]:
    """Takes two signals, works for a while, and goes on as a new run. One below zero is the last."""
    WORLDS[-1].begin_attempt(run.id)
    for _ in range(2):
        number = await run.signal("item")
        if number < 0:
            return seen
        seen = [*seen, number]
    await run.step(slow, len(seen))
    return run.continue_as_new(seen)


FUNCTIONS = {function.name: function for function in (simulated, looping, collecting)}


class _Player:
    """What one attempt of a function sees is told to the world, one thing after the other."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._seen = WORLDS[-1].begin_attempt(run.id)

    async def play(self, part: Any) -> Any:
        kind, *given = part
        match kind:
            case "seq":
                return [await self.play(one) for one in given[0]]
            case "par":
                return list(await gather(*(self.play(one) for one in given[0])))
            case "group":
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self.play(one)) for one in given[0]]
                return [task.result() for task in tasks]
            case "limit":
                try:
                    async with asyncio.timeout(given[0]):
                        return await self.play(given[1])
                except TimeoutError:
                    return "out of time"
            case "now":
                self._run.now()  # which is told at once, and durable before anything can rest on it
                return self._see("@now", "now")
        return await self._operate(kind, *given)

    async def _operate(self, kind: str, *given: Any) -> Any:
        pending = self._ask(kind, *given)
        try:
            value = await pending
        except (StepFailed, WaitTimeout, ChildFailed) as error:
            value = type(error).__name__
        if kind != "signal" or value == "WaitTimeout":
            WORLDS[-1].check_durable(self._run.id, pending.key)
        return self._see(pending.key, value)

    def _ask(self, kind: str, *given: Any) -> Any:
        run = self._run
        match kind:
            case "quick":
                return run.step(quick, given[0])
            case "slow":
                return run.step(slow, given[0])
            case "flaky":
                return run.step(flaky, given[0], retry=given[0])
            case "sleep":
                return run.sleep(given[0])
            case "wait":
                return run.wait("question", given[0])
            case "signal":
                return run.signal(given[0], given[1])
        part, rounds = given
        return run.child(looping, part, rounds) if rounds else run.child(simulated, part)

    def _see(self, key: str, value: Any) -> Any:
        WORLDS[-1].saw(self._run.id, self._seen, (key, value))
        return value
