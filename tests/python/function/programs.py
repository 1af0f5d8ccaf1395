"""Random durable functions, as trees: steps, sleeps, waits, signals, children, side by side, in races and in time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final

from detent.python.decorators import step
from detent.python.functions import ChildFailed, Run, StepFailed, gather, workflow

#: What it is, a small number that means something else to each, and its parts.
Part = tuple[str, int, tuple["Program", ...]]
Program = tuple[Part, ...]
Played = Callable[[Run, int, tuple[Program, ...]], Awaitable[Any]]

_DEEPEST: Final = 3
_AWAITED_FAILURES: Final = (StepFailed, TimeoutError, ChildFailed, ExceptionGroup)


class GivesIn(Exception):
    """A part of the program failed, and it does not go on."""


def make_program(rng: random.Random, depth: int = 0) -> Program:
    """A random program."""
    parts: list[Part] = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(list(_LEAVES if depth == _DEEPEST else _ALL))
        children = tuple(make_program(rng, depth + 1) for _ in range(_NODES.get(kind, (0,))[0]))
        parts.append((kind, rng.randint(0, 4), children))
    return tuple(parts)


@workflow(name="played", drift="strict", allow_multiple=True)
async def played(run: Run, program: Any) -> Any:
    """Plays the program it is given."""
    try:
        return await _play(run, program)
    except (GivesIn, *_AWAITED_FAILURES) as error:
        return f"gave in: {type(error).__name__}"


async def _play(run: Run, program: Program) -> list[Any]:
    seen: list[Any] = []
    for kind, number, parts in program:
        try:
            seen.append(await _ALL[kind](run, number, parts))
        except _AWAITED_FAILURES as error:
            seen.append(type(error).__name__)
            if number == 4:
                raise GivesIn from None
    return seen


# -- what ends by itself, or by something from outside


@step(inline=True)
def quick(number: int) -> int:
    return number


async def slow(number: int) -> int:
    for _ in range(number * 7):
        await asyncio.sleep(0)
    return number


@step(inline=True)
def bad(number: int) -> int:
    raise ValueError(number)


async def _quick(run: Run, number: int, _: Any) -> Any:
    return await run.step(quick, number)


async def _slow(run: Run, number: int, _: Any) -> Any:
    return await run.step(slow, number)


async def _bad(run: Run, number: int, _: Any) -> Any:
    return await run.step(bad, number, retry=number % 3)


async def _forgotten(run: Run, number: int, _: Any) -> Any:
    for pending in (run.step(slow, number), run.child("other", number=number), run.sleep(number))[: number % 4]:
        assert not pending.done()


async def _sleep(run: Run, number: int, _: Any) -> Any:
    return await run.sleep(number * 5)


async def _timer(run: Run, number: int, _: Any) -> Any:
    return await asyncio.sleep(number)


async def _wait(run: Run, number: int, _: Any) -> Any:
    return await run.wait("w", timeout=number * 5 if number < 3 else None)


async def _callback(run: Run, number: int, _: Any) -> Any:
    await run.callback("w")
    return await run.step(slow, number), await run.wait("w", timeout=30)


async def _callback_alone(run: Run, _: int, __: Any) -> Any:
    return (await run.callback("never")).name


async def _signal(run: Run, number: int, _: Any) -> Any:
    return await run.signal("ab"[number % 2], timeout=number * 5 if number < 3 else None)


async def _child(run: Run, number: int, _: Any) -> Any:
    return await run.child("other", number=number)


async def _now(run: Run, number: int, _: Any) -> Any:
    return [run.now().isoformat() for _ in range(number % 3 + 1)]


# -- what has parts


async def _both(run: Run, number: int, parts: tuple[Program, ...]) -> Any:
    given = await gather(*(_play(run, part) for part in parts), return_exceptions=number % 2 == 1)
    return [type(one).__name__ if isinstance(one, BaseException) else one for one in given]


async def _group(run: Run, _: int, parts: tuple[Program, ...]) -> Any:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_play(run, part)) for part in parts]
    return [task.result() for task in tasks]


async def _race(run: Run, number: int, parts: tuple[Program, ...]) -> Any:
    tasks = [asyncio.create_task(_play(run, part)) for part in parts]
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for other in others if number % 2 else ():
        other.cancel()
    return [_told(task) for task in tasks if task in done]


async def _sleep_race(run: Run, number: int, _: Any) -> Any:
    done, _others = await asyncio.wait([run.sleep(1), run.sleep(number)], return_when=asyncio.FIRST_COMPLETED)
    return len(done)


async def _limited(run: Run, number: int, parts: tuple[Program, ...]) -> Any:
    async with asyncio.timeout(number * 4):
        return await _play(run, parts[0])


async def _shielded(run: Run, number: int, parts: tuple[Program, ...]) -> Any:
    return await asyncio.wait_for(asyncio.shield(_play(run, parts[0])), number * 4)


async def _beside(run: Run, number: int, parts: tuple[Program, ...]) -> Any:
    task = asyncio.create_task(_play(run, parts[0]))
    return await run.step(slow, number), await task


async def _called_off(run: Run, number: int, parts: tuple[Program, ...]) -> Any:
    task = asyncio.create_task(_play(run, parts[0]))
    await run.sleep(number)
    task.cancel()
    await asyncio.wait([task])
    return _told(task)


async def _one_by_one(run: Run, _: int, parts: tuple[Program, ...]) -> Any:
    turn = asyncio.Semaphore(1)

    async def in_turn(part: Program) -> Any:
        async with turn:
            return await _play(run, part)

    return await gather(*map(in_turn, parts))


async def _handed_over(run: Run, number: int, _: Any) -> Any:
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def produce() -> None:
        await queue.put(await run.step(slow, number))

    task = asyncio.create_task(produce())
    given = await queue.get()
    await task
    return given


def _told(task: asyncio.Task[Any]) -> Any:
    if task.cancelled():
        return "cancelled"
    return task.result() if task.exception() is None else type(task.exception()).__name__


_LEAVES: Final[dict[str, Played]] = {
    "quick": _quick,
    "slow": _slow,
    "bad": _bad,
    "forgotten": _forgotten,
    "sleep": _sleep,
    "timer": _timer,
    "wait": _wait,
    "callback": _callback,
    "callback alone": _callback_alone,
    "signal": _signal,
    "child": _child,
    "now": _now,
    "sleep race": _sleep_race,
    "handed over": _handed_over,
}
#: How many parts it has.
_NODES: Final[dict[str, tuple[int, Played]]] = {
    "both": (2, _both),
    "group": (2, _group),
    "race": (2, _race),
    "limited": (1, _limited),
    "shielded": (1, _shielded),
    "beside": (1, _beside),
    "called off": (1, _called_off),
    "one by one": (2, _one_by_one),
}
_ALL: Final[dict[str, Played]] = _LEAVES | {kind: play for kind, (_, play) in _NODES.items()}
