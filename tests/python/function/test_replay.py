"""Random functions, crashed at random moments: what one attempt saw, the next one sees again, in the same order."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from detent.graph.model import Ending
from detent.python.decorators import step
from detent.python.functions import ChildFailed, Run, StepContext, StepFailed, WaitTimeout, gather, workflow
from detent.run.outcomes import Done, Suspend
from detent.run.state import Checkpoint
from tests.python.function.ports import Port, Stage

Program = tuple[Any, ...]

leaves = st.one_of(
    st.tuples(st.just("step"), st.integers(0, 3)),
    st.tuples(st.just("thread"), st.integers(0, 3)),
    st.tuples(st.just("async"), st.integers(0, 3)),
    st.tuples(st.just("flaky"), st.integers(0, 2)),
    st.tuples(st.just("failing")),
    st.tuples(st.just("sleep"), st.sampled_from([1, 5, 3600])),
    st.tuples(st.just("asleep"), st.sampled_from([1, 3600])),
    st.tuples(st.just("wait"), st.sampled_from([None, 5, 3600])),
    st.tuples(st.just("signal"), st.sampled_from(["a", "b"]), st.sampled_from([None, 5, 3600])),
    st.tuples(st.just("child")),
    st.tuples(st.just("now")),
    st.tuples(st.just("random")),
)
programs = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("seq"), st.lists(inner, max_size=4)),
        st.tuples(st.just("par"), st.lists(inner, max_size=4)),
        st.tuples(st.just("group"), st.lists(inner, max_size=3)),
        st.tuples(st.just("limit"), st.sampled_from([2, 4000]), inner),
        st.tuples(st.just("first"), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=12,
)


@dataclass
class World:
    """What the function saw in each attempt, and the effects it had."""

    seen: list[list[Any]] = field(default_factory=list)
    effects: dict[str, set[tuple[str, Any]]] = field(default_factory=dict)


WORLD = World()


def _effect(context: StepContext, what: Any) -> None:
    WORLD.effects.setdefault(context.step, set()).add((context.idempotency_key, what))


@step(inline=True)
def inline(number: int, context: StepContext) -> int:
    _effect(context, number)
    return number


def thread(number: int, context: StepContext) -> int:
    _effect(context, number)
    return number


async def on_loop(number: int, context: StepContext) -> int:
    _effect(context, number)
    for _ in range(number):
        await asyncio.sleep(0)
    return number


@step(inline=True)
def flaky(fails: int, context: StepContext) -> int:
    _effect(context, fails)
    if context.attempt <= fails:
        raise ValueError("not yet")
    return context.attempt


@step(inline=True)
def failing(context: StepContext) -> int:
    raise ValueError("never")


async def play(run: Run, program: Program) -> Any:
    value = await _play(run, program)
    if program[0] not in ("seq", "par", "group", "limit", "first"):
        WORLD.seen[-1].append((program[0], value))
    return value


async def _play(run: Run, program: Program) -> Any:
    match program:
        case ("step", number):
            return await run.step(inline, number)
        case ("thread", number):
            return await run.step(thread, number)
        case ("async", number):
            return await run.step(on_loop, number)
        case ("flaky", fails):
            return await run.step(flaky, fails, retry=fails)
        case ("failing",):
            try:
                return await run.step(failing)
            except StepFailed as failed:
                return failed.key
        case ("sleep", seconds):
            return await run.sleep(seconds)
        case ("asleep", seconds):
            return await asyncio.sleep(seconds)
        case ("wait", timeout):
            try:
                return await run.wait("question", timeout)
            except WaitTimeout:
                return "no answer"
        case ("signal", name, timeout):
            try:
                return await run.signal(name, timeout)
            except WaitTimeout:
                return "no signal"
        case ("child",):
            try:
                return await run.child("other", {"a": 1})
            except ChildFailed:
                return "failed"
        case ("now",):
            return run.now().isoformat()
        case ("random",):
            return run.random()
    return await _compose(run, program)


async def _compose(run: Run, program: Program) -> Any:
    match program:
        case ("seq", parts):
            return [await play(run, part) for part in parts]
        case ("par", parts):
            return await gather(*(play(run, part) for part in parts))
        case ("group", parts):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(play(run, part)) for part in parts]
            return [task.result() for task in tasks]
        case ("limit", seconds, inner):
            try:
                async with asyncio.timeout(seconds):
                    return await play(run, inner)
            except TimeoutError:
                return "out of time"
        case ("first", parts):
            tasks = [asyncio.create_task(play(run, part)) for part in parts]
            done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in left:
                task.cancel()
            await asyncio.wait(tasks)
            return sorted(repr(task.result()) for task in done)
    raise AssertionError(program)


def _world_acts(stage: Stage, chance: random.Random) -> None:
    """Something comes in for a function that waits for it, or before it does."""
    record = stage.record
    for key in list(record.places):
        if key in record.operations and chance.random() < 0.7:
            record.add(Checkpoint(key, Ending.SUCCESS, b'{"body":"yes"}', None, 0))
    for key in list(record.children):
        good = chance.random() < 0.7
        record.add(Checkpoint(key, Ending.SUCCESS if good else Ending.FAILED, b'{"output":7}', None, 0))
    for name in ("a", "b"):
        if chance.random() < 0.7:
            record.send(name, len(record.order))


async def _perform(program: Program, seed: int) -> None:
    global WORLD  # noqa: PLW0603 - the functions that are called have no other way to tell
    WORLD = World()
    chance = random.Random(seed)

    @workflow(name="random_program")
    async def random_program(run: Run) -> Any:
        WORLD.seen.append([])
        return await play(run, program)

    stage = Stage(random_program)
    for _ in range(400):
        crash = stage.record.writes + chance.randrange(6) if chance.random() < 0.5 else None
        port = Port(stage.record, delay=lambda: chance.randrange(1, 4), crash_after=crash)
        outcome = await stage.attempt(port)
        before = WORLD.seen[-2] if len(WORLD.seen) > 1 else []
        assert WORLD.seen[-1][: len(before)] == before, "an attempt did not see what the one before it saw"
        if isinstance(outcome, Done):
            break
        if isinstance(outcome, Suspend):
            stage.record.now = max(stage.record.now, outcome.until or 0)
            _world_acts(stage, chance)
        assert outcome is None or isinstance(outcome, Suspend), outcome
    else:
        raise AssertionError("it never ends")
    keys = stage.record.route()
    assert len(keys) == len(set(keys))
    assert all(len(effects) == 1 for effects in WORLD.effects.values()), WORLD.effects
    whole = WORLD.seen[-1]
    assert await stage.attempt() == outcome
    assert WORLD.seen[-1] == whole


@pytest.mark.case("F17")
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs, seed=st.integers(0, 10_000))
@example(program=("par", [("limit", 2, ("signal", "a", None)), ("seq", [("sleep", 5), ("signal", "a", None)])]), seed=3)
def test_a_function_that_is_crashed_takes_the_same_way_again(program: Program, seed: int) -> None:
    asyncio.run(_perform(program, seed))
